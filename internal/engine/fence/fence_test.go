package fence

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// A word is the word of a generator, as a fence sees it. It records the calls of the fence. At each
// call it looks at the fence, as a caller with a word of this moment does.
type word struct {
	f      *Fence
	next   uint64 // the first tick without a minted word
	fence  uint64 // the first tick that is not allowed
	told   []string
	looked func()
}

func (w *word) look(what string, tick uint64) {
	w.told = append(w.told, fmt.Sprint(what, tick))
	if w.looked != nil {
		w.looked()
	}
}

func (w *word) PassTo(from uint64) {
	w.next = max(w.next, from)
	w.look("pass ", from)
}

func (w *word) RaiseTo(until uint64) {
	w.look("raise ", until)
	w.fence = until
}

func (w *word) SealTick() uint64 {
	w.fence = 0
	w.look("seal ", w.next)
	return w.next
}

// A caller at any moment finds the right worker for each tick. The fence leaves out the ticks of a
// gap, then makes the worker known, then allows the ticks.
func TestOrder(t *testing.T) {
	var f Fence
	f.Fix(1)
	w := &word{f: &f}
	f.Refuse(nil)
	f.Extend(w, 7, 100, 200)
	enter(t, &f, w, 100)

	at := func(tick, worker uint64) {
		t.Helper()
		if got := f.Worker(tick); got != worker {
			t.Errorf("after %v tick %d is worker %d's, not %d's", w.told, tick, got, worker)
		}
	}
	w.told = nil
	w.looked = func() {
		if f.Sealed() { // Sealed must take no lock that a Word needs
			t.Error("it is sealed")
		}
		switch last := w.told[len(w.told)-1]; last {
		case "pass 300": // ticks before 200 are still allowed, and later ticks are not
			at(199, 7)
			if w.fence > 200 {
				t.Errorf("the fence is at %d before the ticks from 200 to 300 were left out", w.fence)
			}
		case "raise 400": // ticks from 300 on are allowed from now on
			at(199, 7)
			at(300, 8)
			at(399, 8)
			if w.next < 300 {
				t.Errorf("the fence is raised while tick %d, which is nobody's, may be minted in", w.next)
			}
		case "raise 500": // the same without a gap
			at(399, 8)
			at(400, 9)
			at(499, 9)
		default:
			t.Errorf("%v", w.told)
		}
	}
	f.Extend(w, 8, 300, 400)
	if len(w.told) > 0 {
		t.Errorf("nobody is at 300 yet: %v", w.told)
	}
	enter(t, &f, w, 399)
	f.Extend(w, 9, 350, 500) // the ticks before 400 belong to the worker before
	if want := []string{"pass 300", "raise 400", "raise 500"}; !slices.Equal(w.told, want) {
		t.Errorf("%v, not %v", w.told, want)
	}
	for tick, worker := range map[uint64]uint64{100: 7, 199: 7, 300: 8, 399: 8, 400: 9, 499: 9} {
		at(tick, worker)
	}
}

// enter enters the interval ahead, as the first caller in the interval does.
func enter(t *testing.T, f *Fence, w *word, tick uint64) {
	t.Helper()
	if _, again := f.Enter(w, tick); !again {
		t.Fatalf("tick %d is not entered", tick)
	}
}

// The interval ahead waits for a caller. A grant from its end on extends the interval ahead, and any
// other grant replaces it.
func TestAhead(t *testing.T) {
	var f Fence
	f.Fix(1)
	w := &word{f: &f}
	check := func(told []string, tick, begins uint64, again bool) {
		t.Helper()
		w.told = nil
		if b, a := f.Enter(w, tick); b != begins || a != again || !slices.Equal(w.told, told) {
			t.Errorf("a caller at %d: %d, %v, %v; want %d, %v, %v", tick, b, a, w.told, begins, again, told)
		}
	}
	check(nil, 50, 0, false)
	f.Extend(w, 7, 100, 200)
	f.Extend(w, 7, 200, 250)
	check(nil, 99, 100, false)
	check(nil, 250, 0, false)
	check([]string{"pass 100", "raise 250"}, 249, 0, true)
	check(nil, 249, 0, true) // the second caller tries again as well
	check(nil, 250, 0, false)

	f.Extend(w, 7, 1000, 1100)
	f.Extend(w, 8, 1100, 1200) // another worker's interval does not continue it
	check(nil, 1050, 1100, false)
	f.Extend(w, 8, 1300, 1400)
	check(nil, 1150, 1300, false)
	testkit.Same(t, f.Withdraw(), 250)
	check(nil, 1350, 0, false)
	f.Extend(w, 8, 1000, 1100)
	w.told = nil
	f.Extend(w, 9, 200, 300) // continues the ticks before
	if want := []string{"raise 300"}; !slices.Equal(w.told, want) || f.Worker(249) != 7 || f.Worker(250) != 9 {
		t.Errorf("%v; tick 249 is worker %d's, 250 %d's", w.told, f.Worker(249), f.Worker(250))
	}
	check(nil, 1050, 0, false)
	f.Extend(w, 9, 400, 500)
	enter(t, &f, w, 400)
	testkit.Same(t, f.Withdraw(), 500)
	f.Extend(w, 9, 600, 700)
	f.Seal(w, errors.New("why"))
	check(nil, 650, 0, false)
	check(nil, 350, 0, false) // the tick was granted, and no tick is any more
}

// An empty interval changes nothing, and neither does any interval after Seal.
func TestNothing(t *testing.T) {
	var f Fence
	f.Fix(1)
	w := &word{f: &f}
	why := errors.New("why")
	f.Extend(w, 7, 100, 200)
	enter(t, &f, w, 100)
	f.Refuse(why)
	w.told = nil
	f.Extend(w, 8, 150, 200)
	f.Extend(w, 8, 200, 200)
	if len(w.told) > 0 || f.Waits() || !errors.Is(f.Err("x"), why) {
		t.Errorf("%v, waits: %v, %v", w.told, f.Waits(), f.Err("x"))
	}
	if end := f.Seal(w, why); end != 100 || !f.Sealed() {
		t.Errorf("sealed at %d", end)
	}
	w.told = nil
	f.Extend(w, 8, 200, 300)
	f.Refuse(errors.New("another"))
	if end := f.Seal(w, nil); end != 100 || len(w.told) > 0 || f.Waits() || !errors.Is(f.Err("x"), why) {
		t.Errorf("after the end: %d, %v, waits: %v, %v", end, w.told, f.Waits(), f.Err("x"))
	}
	testkit.Same(t, f.Withdraw(), 100)
}

// Delay lets callers wait, for as long as nothing else is said. Each order takes the place of the one
// before, and nothing takes the place of Seal.
func TestDelay(t *testing.T) {
	var f Fence
	f.Fix(1)
	w := &word{f: &f}
	why, refused := errors.New("why"), errors.New("refused")
	check := func(what string, delayed, err error) {
		t.Helper()
		if got := f.Delayed(); got != delayed {
			t.Errorf("%s: delayed: %v", what, got)
		}
		if got := f.Err("x"); !errors.Is(got, err) {
			t.Errorf("%s: %v", what, got)
		}
	}
	f.Refuse(nil)
	check("a new generator", nil, iderr.ErrFenced)
	f.Delay(why)
	check("delayed", why, why)
	if f.Waits() || f.granted(0) {
		t.Error("a word may come in the next tick")
	}
	f.Delay(nil)
	check("delayed without an error", iderr.ErrFenced, iderr.ErrFenced)
	f.Refuse(refused)
	check("refused", nil, refused)
	f.Delay(why)
	f.Extend(w, 7, 100, 100)
	check("after an empty interval", why, why)
	f.Extend(w, 7, 100, 200)
	check("granted", nil, iderr.ErrFenced)
	if !f.Waits() {
		t.Error("no caller waits for the next interval")
	}
	f.Delay(why)
	f.Seal(w, refused)
	f.Delay(why)
	check("sealed", nil, refused)
}
