package explore

import (
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/engine/words"
)

// The tests run in a program that was built with the overlay, and that they build first.
func TestMain(m *testing.M) {
	if simulate() {
		os.Exit(m.Run())
	}
	err := again()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		os.Exit(exit.ExitCode())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// again runs this program's tests in a program with the overlay.
func again() error {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	file, err := overlay(dir)
	if err != nil {
		return err
	}
	program := filepath.Join(dir, "explore.test")
	build := exec.Command("go", "test", "-c", "-overlay", file, "-o", program, ".")
	tests := exec.Command(program, os.Args[1:]...)
	for _, c := range []*exec.Cmd{build, tests} {
		c.Stdout, c.Stderr = os.Stdout, os.Stderr
		if err := c.Run(); err != nil {
			return err
		}
	}
	return nil
}

// The sequence has 2 bits and the clock shows the ticks 1 to 3. With so few, ticks are exhausted
// and callers meet in one tick.
//
// Each reading may be any of the ticks, independent of the readings before. The search tries all
// rows of readings. Every clock of three ticks gives one of these rows, also if the clock goes
// forward or back between any two steps.
const bits = 2

var ticks = []uint64{1, 2, 3}

// The cells of a word.
const (
	stateCell = iota
	fenceCell
)

// format writes a word as time/sequence.
func format(w uint64) string { return fmt.Sprintf("%d/%d", w>>bits, w&(1<<bits-1)) }

// advancing makes one ID as a format does. It reads the clock once, and the ID is of the clock's
// tick. A caller without an ID tries again with a new reading.
func advancing(w *words.Word) func() Outcome {
	return func() Outcome {
		floor := Choose("reads the clock:", ticks...) << bits
		return outcome(w.Advance(floor, 0, 1, floor+1<<bits))
	}
}

// carrying lets the sequence run over into the next tick, and steps by 1 or 2.
func carrying(w *words.Word) func() Outcome {
	return func() Outcome {
		floor := Choose("reads the clock:", ticks...) << bits
		step := Choose("draws the step", 1, 2)
		return outcome(w.Advance(floor, 0, step, 8<<bits))
	}
}

// starting chooses the first sequence of a tick: at random, or to continue the sequence of an earlier
// tick, of which the caller may have an old look.
func starting(w *words.Word) func() Outcome {
	return func() Outcome {
		floor := Choose("reads the clock:", ticks...) << bits
		start := Choose("chooses the start", 0, 1, 2)
		return outcome(w.Advance(floor, start, 1, floor+1<<bits))
	}
}

// reserving takes runs of up to 2.
func reserving(w *words.Word) func() Outcome {
	return func() Outcome {
		floor := Choose("reads the clock:", ticks...) << bits
		first, run, _, verdict := w.Reserve(floor, 0, floor+1<<bits, 2)
		if verdict != words.Issued {
			return Outcome{Again: true}
		}
		return Outcome{First: first, Run: run}
	}
}

func outcome(w, _ uint64, verdict words.Verdict) Outcome {
	if verdict != words.Issued {
		return Outcome{Again: true}
	}
	return Outcome{First: w, Run: 1}
}

// raising moves the fence to one of several words.
func raising(w *words.Word, fences ...uint64) func() Outcome {
	return func() Outcome {
		w.Raise(Choose("raises the fence to", fences...))
		return Outcome{}
	}
}

// passing leaves out the words below one of several floors.
func passing(w *words.Word, floors ...uint64) func() Outcome {
	return func() Outcome {
		w.Pass(Choose("passes to", floors...))
		return Outcome{}
	}
}

// Words for Step have a wider field for the sequence: 5 sequences in 4 bits.
const (
	roomy     = 4
	roomyMask = 1<<roomy - 1
	limit     = 5
)

// stepping makes one ID of the word's tick.
func stepping(w *words.Word) func() Outcome { return overdrawing(w, limit, roomyMask) }

// overdrawing is stepping with limit words in a tick, in the field of mask.
func overdrawing(w *words.Word, limit, mask uint64) func() Outcome {
	return func() Outcome {
		next, ok := w.Step(limit, mask)
		if !ok {
			w.Trim(limit, mask)
			return Outcome{Again: true}
		}
		return Outcome{First: next, Run: 1}
	}
}

// beginning makes one ID of the clock's tick, in the wider field.
func beginning(w *words.Word) func() Outcome {
	return func() Outcome {
		floor := Choose("reads the clock:", 1, 2) << roomy
		return outcome(w.Advance(floor, 0, 1, floor+limit))
	}
}

// rising checks three promises. The word never falls, no ID is beyond the word, and each ID has a
// valid sequence and is made once. The ghost has a bit for each ID. All sequences in the room count
// as the last sequence of the tick. Together with afterAll, rising checks order as well: a call's
// ID is greater than the IDs of all calls that ended before.
func rising(ghost uint32, e Event) (uint32, string) {
	last := func(state uint64) uint64 { return state&^roomyMask | min(state&roomyMask, limit-1) }
	if last(e.New[stateCell]) < last(e.Old[stateCell]) {
		return ghost, fmt.Sprintf("the word fell from %#x to %#x", e.Old[stateCell], e.New[stateCell])
	}
	for w := e.First; w < e.First+uint64(e.Run); w++ {
		bit := uint32(1) << (w>>roomy*limit + min(w&roomyMask, limit-1))
		switch {
		case w > e.New[stateCell]:
			return ghost, fmt.Sprintf("%#x was issued, which is beyond the word", w)
		case w&roomyMask >= limit:
			return ghost, fmt.Sprintf("%#x was issued, whose sequence is past its end", w)
		case ghost&bit != 0:
			return ghost, fmt.Sprintf("%#x was issued twice", w)
		}
		ghost |= bit
	}
	return ghost, ""
}

// A narrow is a layout of words for Step with little room above the sequence.
type narrow struct{ bits, limit uint64 }

func (n narrow) mask() uint64 { return 1<<n.bits - 1 }

// beginningNarrow makes one ID of the clock's tick.
func beginningNarrow(w *words.Word, n narrow) func() Outcome {
	return func() Outcome {
		floor := Choose("reads the clock:", 2, 3) << n.bits
		return outcome(w.Advance(floor, 0, 1, floor+n.limit))
	}
}

// watch checks that each ID is made once and has a valid sequence. Only the program Advance, which
// reads the clock, may change the time. The sequence may be beyond its end by at most the number of
// callers of Step. The ghost has a bit for each ID.
func (n narrow) watch(callers uint64) func(uint32, Event) (uint32, string) {
	return func(ghost uint32, e Event) (uint32, string) {
		before, after := e.Old[stateCell], e.New[stateCell]
		if before>>n.bits != after>>n.bits && e.Program != "Advance" {
			return ghost, fmt.Sprintf("%s carried into the time, from %#x to %#x", e.Program, before, after)
		}
		if seq := after & n.mask(); seq > n.limit-1+callers {
			return ghost, fmt.Sprintf("the sequence is %d, with %d callers beyond %d", seq, callers, n.limit-1)
		}
		if e.Run == 0 {
			return ghost, ""
		}
		bit := uint32(1) << (e.First>>n.bits*n.limit + min(e.First&n.mask(), n.limit-1))
		switch {
		case e.First&n.mask() >= n.limit:
			return ghost, fmt.Sprintf("%#x was issued, whose sequence is past its end", e.First)
		case ghost&bit != 0:
			return ghost, fmt.Sprintf("%#x was issued twice", e.First)
		}
		return ghost | bit, ""
	}
}

// afterAll checks that the words of a call are greater than the first state loaded by the call.
func afterAll(steps []Step, o Outcome) string {
	for _, s := range steps {
		if s.Cell == "state" && s.Method == "Load" {
			if o.Run > 0 && o.First <= s.Result {
				return fmt.Sprintf("%#x was issued by a call that found the word at %#x", o.First, s.Result)
			}
			break
		}
	}
	return ""
}

// sealing ends the word. Its outcome has the last word, so that Watch sees the end of Seal.
func sealing(w *words.Word) func() Outcome {
	return func() Outcome { return Outcome{First: w.Seal(1), Run: 1} }
}

// sealed checks that nothing is issued after Seal has returned, and that no word issued is greater
// than the result of Seal. The ghost is the greatest word issued, and a bit that is set after Seal.
func sealed(ghost uint32, e Event) (uint32, string) {
	const over = 1 << 31
	switch {
	case e.Run == 0:
	case e.Program == "Seal":
		if last := ghost &^ over; uint64(last) > e.First {
			return ghost, fmt.Sprintf("%s was issued, and the seal was put on %s", format(uint64(last)), format(e.First))
		}
		ghost |= over
	case ghost&over != 0:
		return ghost, format(e.First) + " was issued after the seal"
	default:
		ghost = max(ghost, uint32(e.First)+uint32(e.Run)-1)
	}
	return ghost, ""
}

// increasing checks that every word issued is greater than all words before. This is stronger than
// distinct, and cheaper: the ghost is the greatest word issued. Without a fault, the greatest word
// issued is the state.
func increasing(greatest uint32, e Event) (uint32, string) {
	if e.Run == 0 {
		return greatest, ""
	}
	if e.First <= uint64(greatest) {
		return greatest, fmt.Sprintf("%s was issued after %s", format(e.First), format(uint64(greatest)))
	}
	return uint32(e.First) + uint32(e.Run) - 1, ""
}

// distinct checks that no word is issued twice, for code that keeps no order. The ghost has a bit
// for every word issued.
func distinct(before uint32, e Event) (uint32, string) {
	for w := e.First; w < e.First+uint64(e.Run); w++ {
		bit := uint32(1) << w
		if before&bit != 0 {
			return before, format(w) + " was issued twice"
		}
		before |= bit
	}
	return before, ""
}

// fenced checks two promises. The fence never falls, and each word is below the fence at the moment
// of its issue. The word is then also below the highest fence ever raised.
func fenced(ghost uint32, e Event) (uint32, string) {
	if e.New[fenceCell] < e.Old[fenceCell] {
		return ghost, fmt.Sprintf("the fence fell from %s to %s", format(e.Old[fenceCell]), format(e.New[fenceCell]))
	}
	if e.Run > 0 {
		if last := e.First + uint64(e.Run) - 1; last >= e.New[fenceCell] {
			return ghost, fmt.Sprintf("%s was issued past the fence at %s", format(last), format(e.New[fenceCell]))
		}
	}
	return ghost, ""
}

func both(a, b func(uint32, Event) (uint32, string)) func(uint32, Event) (uint32, string) {
	return func(ghost uint32, e Event) (uint32, string) {
		if _, violation := b(ghost, e); violation != "" {
			return ghost, violation
		}
		return a(ghost, e)
	}
}

// belowSeenFence checks that each call has itself seen a fence above all its words.
func belowSeenFence(steps []Step, o Outcome) string {
	var seen uint64
	for _, s := range steps {
		if s.Cell == "fence" {
			seen = max(seen, s.Result)
		}
	}
	if o.Run > 0 && o.First+uint64(o.Run)-1 >= seen {
		return fmt.Sprintf("%s was issued by a call that saw no fence above %s", format(o.First), format(seen))
	}
	return ""
}

// holds searches a model that must have no violation. It checks that the search was not empty:
// callers lost swaps, and callers completed all calls.
func holds(t *testing.T, m *Model) Report {
	t.Helper()
	r := m.Search()
	t.Logf("%d states, %d transitions; %d lost swaps, %d calls made again, %d ends",
		r.States, r.Transitions, r.Lost, r.Again, r.Ends)
	if r.Violation != "" {
		t.Fatalf("%s:\n%s", r.Violation, strings.Join(r.Trace, "\n"))
	}
	if r.Lost == 0 || r.Ends == 0 {
		t.Error("no caller lost a swap, or the callers never came to their end")
	}
	return r
}

// fails searches a model that must have a violation, and logs the path to the violation.
func fails(t *testing.T, m *Model, want string) {
	t.Helper()
	r := m.Search()
	t.Logf("found in %d states: %s\n%s", r.States, r.Violation, strings.Join(r.Trace, "\n"))
	if !strings.Contains(r.Violation, want) {
		t.Errorf("the search found %q, not %q", r.Violation, want)
	}
}
