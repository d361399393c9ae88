package testkit

import (
	"testing"
	"time"
)

// usageOfTick checks what a generator says of its first tick, which is exhausted.
func (g Generation[T]) usageOfTick(t *testing.T, gen Generator[T], ids int) {
	t.Helper()
	u := gen.Usage()
	if u.IDs != uint64(ids) || u.Exhausted != 1 || u.Second != 0 || u.Worst <= 0 || u.Waits+u.ClockSteps != 0 {
		t.Errorf("after %d IDs of one tick: %+v", ids, u)
	}
	// A tick that starts at a random number has between half and twice of the mean, if the start leaves
	// half of the sequence.
	if share := float64(g.Unit) / float64(time.Second); g.Least >= g.Most/2 && (u.Worst > 2*share || u.Worst < share/2) {
		t.Errorf("one tick has a share of %v, and a second has %v ticks", u.Worst, 1/share)
	}
}

// usageLater checks what a generator says in the seconds after its IDs, and of a clock that goes back.
func (g Generation[T]) usageLater(t *testing.T, gen Generator[T], clock *Clock) {
	t.Helper()
	before := gen.Usage()
	clock.Set(clock.Now().Truncate(time.Second))
	for second, want := range []float64{before.Worst, 0} {
		clock.Step(time.Second)
		if u := gen.Usage(); u.Second != want || u.Worst != before.Worst || u.IDs != before.IDs {
			t.Errorf("%d s later: %+v after %+v, want a share of %v", second+1, u, before, want)
		}
	}
	OK(t, Err(gen.TryNext()))
	clock.Step(-2 * max(g.Unit, time.Millisecond))
	for range 3 {
		gen.TryNext()
	}
	if u := gen.Usage(); u.ClockSteps != 1 {
		t.Errorf("after a step back: %+v", u)
	}
}
