package sno_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/sno"
)

// A clock that panics, or ends the goroutine that reads it, does so to that caller alone: a
// server that recovers from panics goes on making IDs.
func TestClockThatPanics(t *testing.T) {
	for name, end := range map[string]func(){"panic": func() { panic("no time") }, "Goexit": runtime.Goexit} {
		for _, back := range []int64{0, -10} { // the unit is used up; the clock is in an unsafe time
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
					if len(ids) != 3 {
						t.Fatalf("the others have %d IDs", len(ids))
					}
					got := []sno.ID{<-ids, <-ids, <-ids} // as they were scheduled
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
