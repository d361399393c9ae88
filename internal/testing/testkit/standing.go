package testkit

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
)

// StandingTime makes a number of calls of TryNext while time stands still, in a bubble of
// testing/synctest. The tick has its IDs, and all further calls find the tick exhausted. The next
// tick is not affected.
func (g Generation[T]) StandingTime(t *testing.T, calls int) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(g.now()))
		gen := g.newGenerator(t, nil, 0)
		now := time.Now()
		const callers = 4
		var made [callers]int
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() {
				for range calls / callers {
					id, err := gen.TryNext()
					if err == nil && g.Time(id).Equal(g.tick(now)) {
						made[i]++
					} else if !errors.Is(err, iderr.ErrExhausted) {
						t.Errorf("%v of %v, %v: it is %v", id, g.Time(id), err, now)
						return
					}
				}
			})
		}
		all.Wait()
		sum := 0
		for _, n := range made {
			sum += n
		}
		if sum < g.Least || sum > g.Most {
			t.Errorf("%d IDs, want %d to %d", sum, g.Least, g.Most)
		}
		time.Sleep(g.Unit)
		g.must(t, now.Add(g.Unit))(gen.TryNext())
	})
}
