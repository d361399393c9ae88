package lease

import (
	"context"
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

// hanging is a hanging store: the store ignores contexts, and does the requests in the end.
type hanging struct {
	driver.Store
	until        atomic.Pointer[time.Time]
	inside, most atomic.Int32
}

func (h *hanging) hang(d time.Duration) {
	until := time.Now().Add(d)
	h.until.Store(&until)
}

func (h *hanging) wait() {
	until := h.until.Load()
	if until == nil || time.Until(*until) <= 0 {
		return
	}
	inside := h.inside.Add(1)
	defer h.inside.Add(-1)
	for most := h.most.Load(); inside > most && !h.most.CompareAndSwap(most, inside); most = h.most.Load() {
	}
	time.Sleep(time.Until(*until))
}

func (h *hanging) Get(ctx context.Context, key string) (driver.Entry, error) {
	h.wait()
	return h.Store.Get(ctx, key)
}

func (h *hanging) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	h.wait()
	return h.Store.List(ctx, prefix)
}

func (h *hanging) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	h.wait()
	return h.Store.Put(ctx, key, value, rev)
}

// silent is a store without answers while down is set. The store heeds contexts.
type silent struct {
	driver.Store
	down atomic.Bool
}

func (s *silent) Get(ctx context.Context, key string) (driver.Entry, error) {
	if s.down.Load() {
		<-ctx.Done()
		return driver.Entry{}, errors.Join(driver.ErrUnavailable, ctx.Err())
	}
	return s.Store.Get(ctx, key)
}

func (s *silent) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if s.down.Load() {
		<-ctx.Done()
		return driver.None, errors.Join(driver.ErrUnavailable, ctx.Err())
	}
	return s.Store.Put(ctx, key, value, rev)
}

// Whatever the store does, a lease raises Failing in time, and callers get an error at the end of
// the interval.
func TestStoreHangs(t *testing.T) {
	for name, timeout := range map[string]time.Duration{"usual": 0, "as long as the window": 3 * time.Second} {
		for _, heeds := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
					stuck, mutes := &hanging{Store: p.store}, &silent{Store: p.store}
					hang := func(d time.Duration) { stuck.hang(d) }
					if p.store = stuck; heeds {
						p.store = mutes
						hang = func(d time.Duration) {
							mutes.down.Store(true)
							time.AfterFunc(d, func() { mutes.down.Store(false) })
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
			store := &hanging{Store: p.store}
			p.store = store
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
			if !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), "comes free at "+timeText(l.Until())) {
				t.Errorf("Close: %v", err)
			}
			if took := time.Since(began); took > time.Second {
				t.Errorf("Close took %v", took)
			}
			began = time.Now()
			_, err = p.start(t.Context(), generator(t, clock).ForLease(), Config{Window: 3 * time.Second, clock: clock.now})
			if took := time.Since(began); !errors.Is(err, driver.ErrUnavailable) || took > time.Second {
				t.Errorf("Start took %v: %v", took, err)
			}
			time.Sleep(time.Minute) // the requests come to their end
		})
	}
}

// A lease finds the late change of an abandoned request.
func TestHangsAndChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		store := &hanging{Store: p.store}
		p.store = store
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
