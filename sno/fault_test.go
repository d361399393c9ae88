package sno_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// A clock that panics, or ends the goroutine of a caller, ends only this caller. The other calls go on.
func TestClockThatPanics(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("no time") }, "Goexit": runtime.Goexit} {
		for _, back := range []int64{0, -10} { // an exhausted unit; an unsafe time
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := newHands(1000)
					var broken atomic.Bool
					g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3, WallSafe: 995}, Clock: func() time.Time {
						if broken.CompareAndSwap(true, false) {
							end()
						}
						return h.read()
					}})
					for range 4 {
						mustTry(t, g)
					}
					h.set(1000 + back)
					ids := make(chan sno.ID, 10)
					ended := make(chan any, 10)
					for range 4 {
						go func() {
							defer func() { ended <- recover() }()
							ids <- g.New(0)
						}()
						synctest.Wait()
					}
					broken.Store(true)
					time.Sleep(20 * time.Millisecond)
					synctest.Wait()
					if len(ended) != 1 || len(ids) != 0 {
						t.Fatalf("%d callers have ended, with %d IDs", len(ended), len(ids))
					}
					if p := <-ended; (p != nil) != (name == "panic") {
						t.Errorf("a caller ended with the panic %v", p)
					}
					h.set(1001)
					time.Sleep(20 * time.Millisecond)
					synctest.Wait()
					testkit.Same(t, len(ids), 3)
					got := []sno.ID{<-ids, <-ids, <-ids} // in any order
					sno.Sort(got)
					for i, id := range got {
						want(t, id, 1001, 0, uint16(i))
					}
					want(t, mustTry(t, g), 1001, 0, 3)
				})
			})
		}
	}
}

// A clock may take a snapshot of its generator in each kind of reading: for an ID, after a regression, for an
// error, and for another snapshot.
func TestClockThatTakesSnapshots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHands(1000)
		var g *sno.Generator
		var taken []sno.GeneratorSnapshot
		g = newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: 3}, Clock: func() time.Time {
			if g != nil {
				taken = append(taken, g.Snapshot())
			}
			return h.read()
		}})
		// snapshots checks the snapshots since the last check. A snapshot within another has no time of its own.
		snapshots := func(what string, now, hi, safe int64) {
			t.Helper()
			own := 0
			for _, s := range taken {
				if s.Now == now {
					own++
				} else if s.Now != hi {
					t.Errorf("%s: the time is %d", what, s.Now)
				}
				if s.WallHi != hi || s.WallSafe != safe {
					t.Errorf("%s: %+v", what, s)
				}
			}
			if own == 0 {
				t.Errorf("%s: no snapshot has the clock's time", what)
			}
			taken = nil
		}
		want(t, mustTry(t, g), 1000, 0, 0)
		snapshots("the first ID", 1000, 0, 0)
		h.set(999)
		want(t, mustTry(t, g), 999, 1, 0)
		snapshots("the clock went back", 999, 1000, 0)
		h.set(998)
		_, err := g.TryNext(0)
		wantBackwards(t, err, sno.TimeUnit)
		snapshots("the clock went back again", 998, 999, 1000)
		go g.New(0)
		synctest.Wait()
		taken = nil
		_, err = g.TryNext(0)
		wantBackwards(t, err, sno.TimeUnit)
		snapshots("beside a waiting call", 998, 999, 1000)
		if s := g.Snapshot(); s.Now != 998 || s.WallHi != 999 || s.Drifts != 1 {
			t.Errorf("%+v", s)
		}
		h.set(1001)
		time.Sleep(20 * time.Millisecond)
	})
}
