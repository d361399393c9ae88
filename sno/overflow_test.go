package sno_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// overflowing returns a generator with a pool of 4 and its channel, in a bubble at the start of unit 1000.
func overflowing(t *testing.T, room int) (*sno.Generator, chan *sno.SequenceOverflowNotification) {
	intoEpoch()
	c := make(chan *sno.SequenceOverflowNotification, room)
	g := testkit.Must(sno.NewGenerator(&sno.GeneratorSnapshot{SequenceMin: 6, SequenceMax: 9}, c))
	return g, c
}

func wantNotified(t *testing.T, c chan *sno.SequenceOverflowNotification, now time.Time, count, ticks uint32) {
	t.Helper()
	select {
	case n := <-c:
		if !n.Now.Equal(now) || n.Count != count || n.Ticks != ticks {
			t.Errorf("notification of %v, count %d, tick %d; want %v, %d, %d", n.Now.UTC(), n.Count, n.Ticks, now, count, ticks)
		}
	default:
		t.Errorf("no notification, want one of %v", now)
	}
}

func wantSilence(t *testing.T, c chan *sno.SequenceOverflowNotification) {
	t.Helper()
	select {
	case n := <-c:
		t.Errorf("notification of %v, count %d, tick %d", n.Now.UTC(), n.Count, n.Ticks)
	default:
	}
}

// A burst has a notification for each unit, with the number of waiting calls.
func TestOverflow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := overflowing(t, 100)
		for range 4 {
			g.New(0)
		}
		if _, err := g.TryNext(0); err == nil {
			t.Error("an ID beyond the pool")
		}
		wantSilence(t, c) // no call waits
		for range 14 {
			go g.New(0)
			synctest.Wait()
		}
		wantNotified(t, c, at(1000), 1, 1) // for the first call only
		wantSilence(t, c)
		time.Sleep(sno.TimeUnit - 1)
		synctest.Wait()
		wantSilence(t, c)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		wantNotified(t, c, at(1001), 10, 5)
		wantSilence(t, c)
		time.Sleep(sno.TimeUnit)
		synctest.Wait()
		wantNotified(t, c, at(1002), 6, 9)
		time.Sleep(sno.TimeUnit)
		synctest.Wait()
		wantNotified(t, c, at(1003), 2, 13)
		time.Sleep(sno.TimeUnit)
		synctest.Wait()
		wantSilence(t, c) // the overflow is over: the unit has two IDs left

		// The next overflow counts from 1.
		time.Sleep(10*sno.TimeUnit + 3*time.Millisecond)
		for range 6 {
			go g.New(0)
			synctest.Wait()
		}
		wantNotified(t, c, at(1014).Add(3*time.Millisecond), 1, 1)
		time.Sleep(sno.TimeUnit)
		synctest.Wait()
		wantSilence(t, c)
	})
}

// A receiver that is not ready misses notifications, and holds up no call.
func TestOverflowUnread(t *testing.T) {
	for _, room := range []int{0, 1} {
		synctest.Test(t, func(t *testing.T) {
			g, c := overflowing(t, room)
			start := time.Now()
			for range 4*50 + 1 {
				g.New(0)
			}
			testkit.Same(t, time.Since(start), 50*sno.TimeUnit)
			if room > 0 {
				wantNotified(t, c, at(1000), 1, 1)
			}
			wantSilence(t, c)

			got := make(chan *sno.SequenceOverflowNotification)
			go func() { got <- <-c }()
			synctest.Wait()
			go func() {
				for range 5 {
					g.New(0)
				}
			}()
			if n := <-got; n.Count != 1 {
				t.Errorf("count %d", n.Count)
			}
			time.Sleep(time.Second)
		})
	}
}

// A wait for the clock is not an overflow.
func TestOverflowIsNotUnsafeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		c := make(chan *sno.SequenceOverflowNotification, 10)
		var clock offsetClock
		g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}, Overflow: c, Clock: clock.now})
		g.New(0)
		clock.offset.Add(-int64(100 * time.Millisecond))
		g.New(0)
		time.Sleep(200 * time.Millisecond)
		g.New(0)
		clock.offset.Add(-int64(150 * time.Millisecond))
		go g.New(0)
		synctest.Wait()
		wantState(t, g, 0, 0)
		time.Sleep(time.Second)
		wantSilence(t, c)
	})
}

// Waiting without a break is one overflow, also if a busy machine or a clock set forward loses a unit.
func TestOverflowOverLostUnits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		intoEpoch()
		c := make(chan *sno.SequenceOverflowNotification, 10)
		var clock offsetClock
		g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}, Overflow: c, Clock: clock.now})
		for range 12 {
			go g.New(0)
			synctest.Wait()
		}
		wantNotified(t, c, at(1000), 1, 1)
		clock.offset.Store(int64(3 * sno.TimeUnit))
		time.Sleep(sno.TimeUnit)
		synctest.Wait()
		n := <-c
		if unit := n.Now.Sub(epoch) / sno.TimeUnit; unit != 1004 || n.Count != 4 || n.Ticks != uint32(n.Now.Sub(at(1000))/time.Millisecond)+1 {
			t.Errorf("notification of unit %d, count %d, tick %d", unit, n.Count, n.Ticks)
		}
		time.Sleep(time.Second)
	})
}

// A closed channel gets no notification, and costs no ID.
func TestOverflowClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, c := overflowing(t, 1)
		close(c)
		seen := map[sno.ID]bool{}
		for i := range 20 {
			id := g.New(0)
			if want(t, id, 1000+int64(i)/4, 0, 6+uint16(i)%4); seen[id] {
				t.Errorf("%v came twice", id)
			}
			seen[id] = true
		}
	})
}
