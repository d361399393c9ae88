package explore

import (
	"fmt"
	"testing"

	tally "github.com/firn-id/firn/dev/explore/simtally"
	"github.com/firn-id/firn/dev/explore/simtally/mutants"
	words "github.com/firn-id/firn/dev/explore/simwords"
	"github.com/firn-id/firn/internal/testing/services"
)

// counter is the count of package tally, or a count with a fault.
type counter interface {
	Lay(shift uint, least, most uint64)
	Changed(word, last uint64) bool
	Used(word uint64) uint64
	Drop(n uint64)
	Add(n uint64)
	Ended(last uint64)
	Sealing()
	Sealed(last uint64)
	Read(last func() uint64) uint64
}

// tallied is the memory of a word with its count.
type tallied[C any] struct {
	words.Word
	Count C
}

// The cells of the count follow those of the word.
const (
	madeCell = fenceCell + 1 + iota
	shownCell
)

// beginTallied makes an ID of the clock's tick as a mint does. A tick starts with its first word, or
// leaves out two words. If late, the caller leaves out the words only after the tick has begun.
func beginTallied(w *words.Word, c counter, late bool, ticks ...uint64) func() Outcome {
	return func() Outcome {
		floor := Choose("reads the clock:", ticks...) << roomy
		start := Choose("chooses the start", 0, 2)
		if start > 0 && !late {
			c.Drop(start)
		}
		word, last, verdict := w.Advance(floor, start, 1, floor+limit)
		switch {
		case verdict == words.Issued && c.Changed(word, last):
			if late {
				c.Drop(start)
			}
			c.Ended(last)
		case start > 0 && !late:
			c.Add(start)
		}
		o := outcome(word, last, verdict)
		o.Again = false
		return o
	}
}

// passTallied leaves out the ticks before one of two ticks, as a lease does after a gap. Nothing was
// issued in the last of the ticks that are left out.
func passTallied(w *words.Word, c counter) func() Outcome {
	return func() Outcome {
		c.Drop(limit)
		floor := Choose("passes over", 2, 3)<<roomy + limit
		if last, passed := w.Pass(floor); passed {
			c.Ended(last)
		} else {
			c.Add(limit)
		}
		return Outcome{}
	}
}

// leaveTallied leaves out the rest of the present tick, as a mint does when the values of a tick have
// ended.
func leaveTallied(w *words.Word, c counter) func() Outcome {
	return func() Outcome {
		c.Drop(limit)
		floor := w.Last()&^roomyMask + limit
		if last, passed := w.Pass(floor); passed {
			c.Add(c.Used(last))
		} else {
			c.Add(limit)
		}
		return Outcome{}
	}
}

func readTallied(w *words.Word, c counter) func() Outcome {
	return func() Outcome {
		c.Read(w.Last)
		return Outcome{}
	}
}

// neverMore checks that no reading is above the number of issued words, or goes back. The ghost is the
// number of issued words. Advance issues a word if it changes the word, and Step if the sequence has
// not ended; all other changes issue nothing.
func neverMore(ghost uint32, e Event) (uint32, string) {
	before, after := e.Old[stateCell], e.New[stateCell]
	if before != after && (e.Program == "Advance" || e.Program == "Step" && after == before+1 && after&roomyMask < limit) {
		ghost++
	}
	switch shown := e.New[shownCell]; {
	case shown > uint64(ghost):
		return ghost, fmt.Sprintf("a reading of %d, and %d were issued", shown, ghost)
	case shown < e.Old[shownCell]:
		return ghost, fmt.Sprintf("a reading of %d after %d", shown, e.Old[shownCell])
	}
	return ghost, ""
}

// tallyModel has a caller that begins ticks, a caller that leaves out ticks or makes IDs of the present
// tick, and readers.
func tallyModel[C any](m *tallied[C], c counter, late bool, second string, readers int) *Model {
	w := &m.Word
	c.Lay(roomy, 0, limit-1)
	programs := map[string]Program{
		"Step":  {Name: "Step", Actors: 1, Calls: 2, Call: trying(stepping(w))},
		"Pass":  {Name: "Pass", Actors: 1, Calls: 1, Call: passTallied(w, c)},
		"Leave": {Name: "Leave", Actors: 1, Calls: 1, Call: leaveTallied(w, c)},
		"Seal": {Name: "Seal", Actors: 1, Calls: 1, Call: func() Outcome {
			c.Sealing()
			c.Sealed(w.Seal(1))
			return Outcome{}
		}},
	}
	ticks := []uint64{1, 2}
	if second == "Pass" {
		ticks = []uint64{1, 4}
	}
	return &Model{
		Shared: m, Setup: func() { w.Raise(1 << 20); c.Drop(1) }, Watch: neverMore,
		Programs: []Program{
			{Name: "Advance", Actors: 1, Calls: 3, Call: beginTallied(w, c, late, ticks...)},
			programs[second],
			{Name: "Read", Actors: readers, Calls: 3 - readers, Call: readTallied(w, c)},
		},
	}
}

// Readings only rise, and are never above the number of issued words: while ticks begin and end, while
// callers add words and ticks are left out, and while the word is sealed.
func TestTally(t *testing.T) {
	services.Full(t)
	for _, second := range []string{"Step", "Pass", "Leave", "Seal"} {
		t.Run(second, func(t *testing.T) {
			m := new(tallied[tally.Count])
			holds(t, tallyModel(m, &m.Count, false, second, 1))
		})
	}
}

// Each fault of a count is found. A caller that leaves out the first words of a tick only after the tick
// has begun is at fault, too.
func TestTallyMutants(t *testing.T) {
	for i, v := range []struct {
		second  string
		readers int
	}{{"Step", 1}, {"Step", 1}, {"Leave", 1}, {"Step", 2}, {"Step", 1}, {"Seal", 1}} {
		t.Run(mutants.Faults[i], func(t *testing.T) {
			m := new(tallied[mutants.Count])
			m.Count.Fault = mutants.Faults[i]
			fails(t, tallyModel(m, &m.Count, false, v.second, v.readers), "a reading of")
		})
	}
	t.Run("words left out late", func(t *testing.T) {
		m := new(tallied[tally.Count])
		fails(t, tallyModel(m, &m.Count, true, "Step", 1), "a reading of")
	})
}
