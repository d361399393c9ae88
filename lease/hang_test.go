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

// Close does not wait for a hanging store, and neither does Start.
func TestCloseStoreHangs(t *testing.T) {
	for _, under := range []bool{false, true} { // with a request under way
		synctest.Test(t, func(t *testing.T) {
			clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
			var until atomic.Pointer[time.Time] // to which calls wait, whatever their contexts are; they are then done
			p.store = &hooked{Store: p.store, around: func(c call) error {
				if until := until.Load(); until != nil {
					time.Sleep(time.Until(*until))
				}
				return c.do(c.ctx)
			}}
			g, l, _ := keep(t, p, clock, Config{Window: 3 * time.Second})
			time.Sleep(5 * time.Second)
			end := time.Now().Add(time.Minute)
			until.Store(&end)
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
