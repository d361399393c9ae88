package lease

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// hanging makes the calls of a store wait until a time, whatever their contexts are. The store does
// the calls in the end.
type hanging struct {
	until        atomic.Pointer[time.Time]
	inside, most atomic.Int32 // the calls that wait, and the most at once
}

func newHanging(p *Pool) *hanging {
	h := new(hanging)
	p.store = &hooked{Store: p.store, around: func(c call) error {
		if until := h.until.Load(); until != nil && time.Until(*until) > 0 {
			inside := h.inside.Add(1)
			defer h.inside.Add(-1)
			for most := h.most.Load(); inside > most && !h.most.CompareAndSwap(most, inside); most = h.most.Load() {
			}
			time.Sleep(time.Until(*until))
		}
		return c.do(c.ctx)
	}}
	return h
}

func (h *hanging) hang(d time.Duration) {
	until := time.Now().Add(d)
	h.until.Store(&until)
}

// Whatever the store does, a lease raises Failing in time, and callers get an error at the end of
// the interval.
func TestStoreHangs(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"usual": 0, "as long as the window": 3 * time.Second} {
		for _, heeds := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
					stuck, silent := new(hanging), new(atomic.Bool)
					hang := func(d time.Duration) { stuck.hang(d) }
					if !heeds {
						stuck = newHanging(p)
					} else {
						p.store = &hooked{Store: p.store, around: func(c call) error {
							if c.op != "list" && silent.Load() {
								<-c.ctx.Done()
								return errors.Join(driver.ErrUnavailable, c.ctx.Err())
							}
							return c.do(c.ctx)
						}}
						hang = func(d time.Duration) {
							silent.Store(true)
							time.AfterFunc(d, func() { silent.Store(false) })
						}
					}
					g, l, log := keep(t, p, clock, Config{Window: 3 * time.Second, Timeout: timeout})
					time.Sleep(5 * time.Second)
					hang(12 * time.Second)
					began, until := clock.now(), l.Until()
					for {
						if _, err := g.Next(t.Context()); err != nil {
							if late := clock.now().Sub(until); !errors.Is(err, ErrLeaseExpired) || !errors.Is(err, driver.ErrUnavailable) || late > 2*patience {
								t.Errorf("%v after the end: %v", late, err)
							}
							break
						}
						if clock.now().After(until) {
							t.Fatal("it mints beyond its times")
						}
						time.Sleep(time.Millisecond)
					}
					synctest.Wait()
					if e := log.last(t, Expired); !e.Until.Equal(until) {
						t.Errorf("expired: %+v", e)
					}
					if timeout == 0 {
						if e := log.last(t, Failing); !errors.Is(e.Err, driver.ErrUnavailable) {
							t.Errorf("failing: %+v", e)
						}
					}
					time.Sleep(13*time.Second + timeout - clock.now().Sub(began)) // a request may have been made just before
					mints(t, g, l)
					if n := stuck.most.Load(); n > 1 || n == 0 && !heeds {
						t.Errorf("%d requests hung at once", n)
					}
				})
			})
		}
	}
}

// Close does not wait for a hanging store, and neither does Start.
func TestCloseStoreHangs(t *testing.T) {
	for _, under := range []bool{false, true} { // with a request under way
		synctest.Test(t, func(t *testing.T) {
			clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
			store := newHanging(p)
			g, l, _ := keep(t, p, clock, Config{Window: 3 * time.Second})
			time.Sleep(5 * time.Second)
			store.hang(time.Minute)
			if under {
				time.Sleep(1500 * time.Millisecond)
			}
			began := time.Now()
			closed := make(chan error)
			go func() { closed <- l.Close() }()
			synctest.Wait()
			testkit.Is(t, testkit.Err(g.TryNext()), ErrClosed, "while it is closed")
			err := <-closed
			if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "is free from "+timeText(l.Until())) {
				t.Errorf("Close: %v", err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("Close took %v", took)
			}
			for _, c := range []struct {
				least time.Duration // a second more is too much
				start func() (*Lease, error)
			}{
				{0, func() (*Lease, error) { return try(t, p, clock, Config{Window: 3 * time.Second}) }},
				{3 * time.Second, func() (*Lease, error) {
					return Start(t.Context(), p.store, generator(t, clock), Config{Pool: "p", Timeout: 3 * time.Second})
				}},
			} {
				began = time.Now()
				_, err := c.start()
				if took := time.Since(began); !errors.Is(err, driver.ErrUnavailable) || took < c.least || took > c.least+time.Second {
					t.Errorf("Start took %v: %v", took, err)
				}
			}
			time.Sleep(time.Minute) // the requests come to their end
		})
	}
}

// A lease finds the late change of an abandoned request.
func TestHangsAndChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		store := newHanging(p)
		g, l, log := keep(t, p, clock, Config{Window: 3 * time.Second})
		for range 20 {
			time.Sleep(1700 * time.Millisecond)
			store.hang(1900 * time.Millisecond)
			time.Sleep(2 * time.Second)
			mints(t, g, l)
		}
		if got := log.kinds(); strings.Contains(got, "lost") || strings.Contains(got, "expired") || !strings.Contains(got, "failing") {
			t.Errorf("events: %s", got)
		}
		store.hang(500 * time.Millisecond)
		testkit.OK(t, l.Close())
	})
}
