package lease

import (
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// Stats are right before the first grant, with a lease, without the store, and after Close.
func TestStats(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), newTroubled(driver.ErrUnavailable)
		g, l, _ := background(t, store, clock, Config{Create: true})
		within := func(what string, left, most time.Duration) {
			t.Helper()
			s := l.Stats()
			if s.Left < left || s.Left > most || s.Left != l.Left() {
				t.Errorf("%s: %v left", what, s.Left)
			}
			if ends := g.ExpiresAt().Sub(clock.now()); s.Remaining != ends {
				t.Errorf("%s: %v remain, not %v", what, s.Remaining, ends)
			}
		}
		within("without a worker", 0, 0)
		store.mend()
		time.Sleep(time.Minute)
		within("working", 6900*time.Millisecond, 10*time.Second)
		renewals := l.Stats().Renewals
		if renewals < 15 || renewals > 22 {
			t.Errorf("%d renewals", renewals)
		}
		failures := l.Stats().Failures
		store.fail(driver.ErrUnavailable)
		time.Sleep(5 * time.Second)
		within("without the store", 1, 5*time.Second)
		time.Sleep(6 * time.Second)
		within("expired", 0, 0)
		if s := l.Stats(); s.Renewals > renewals+1 || s.Failures < failures+10 {
			t.Errorf("%+v", s)
		}
		store.mend()
		time.Sleep(10 * time.Second)
		within("working", 6900*time.Millisecond, 10*time.Second)
		clock.step(-time.Second)
		time.Sleep(time.Second)
		testkit.OK(t, l.Close())
		within("closed", 0, 0)
		l.wanted.ExpiresAt = time.Time{}
		testkit.Same(t, l.Stats().Remaining, time.Duration(math.MaxInt64))
	})
}

// Metrics may read a lease at any time.
func TestReadAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), newTroubled(driver.ErrUnavailable)
		_, l, _ := background(t, store, clock, Config{Create: true})
		over := make(chan bool)
		for range 2 {
			go func() {
				for {
					select {
					case <-over:
						return
					case <-time.After(time.Millisecond):
						l.Stats()
						l.Worker()
						l.Until()
						l.Err()
						l.Pool()
					}
				}
			}()
		}
		time.Sleep(2 * time.Second)
		store.mend()
		time.Sleep(20 * time.Second)
		l.Close()
		time.Sleep(time.Second)
		close(over)
	})
}
