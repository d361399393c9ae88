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
type hanging struct{ until atomic.Pointer[time.Time] }

func newHanging(p *Pool) *hanging {
	h := new(hanging)
	p.store = &hooked{Store: p.store, around: func(c call) error {
		if until := h.until.Load(); until != nil {
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
