package lease

import (
	"math"
	"sync/atomic"
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

// What a lease tells can be read at any time, also under the race detector. No call waits for a request,
// and what is told fits together: no time is left without a worker, nor after the interval.
func TestReadAtAnyTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asking, during atomic.Int32
		clock, troubled := newTestClock(), newTroubled(driver.ErrUnavailable)
		slow := &hooked{Store: troubled, around: func(c call) error {
			asking.Add(1)
			defer asking.Add(-1)
			time.Sleep(300 * time.Millisecond)
			return c.do(c.ctx)
		}}
		_, l, _ := background(t, slow, clock, Config{Create: true})
		over := make(chan bool)
		for range 2 {
			go func() {
				for {
					select {
					case <-over:
						return
					case <-time.After(time.Millisecond):
					}
					if asking.Load() > 0 {
						during.Add(1)
					}
					began := time.Now()
					s, until, worker, pool, left := l.Stats(), l.Until(), l.Worker(), l.Pool(), l.Left()
					l.Err()
					if took := time.Since(began); took > 0 {
						t.Errorf("it took %v to read", took)
					}
					if s.Left > max(until.Sub(clock.now()), 0) || s.Left > 0 && worker < 0 || worker >= 0 && pool == nil || left > 10*time.Second {
						t.Errorf("%+v, and %v, with worker %d until %v, a pool: %v", s, left, worker, until, pool != nil)
					}
				}
			}()
		}
		time.Sleep(2 * time.Second)
		troubled.mend()
		time.Sleep(20 * time.Second)
		if l.Left() == 0 {
			t.Error("no time is left")
		}
		testkit.OK(t, l.Close())
		time.Sleep(time.Second)
		close(over)
		if n := during.Load(); n < 100 {
			t.Errorf("it was read %d times during a request", n)
		}
	})
}
