package explore

import (
	"fmt"
	"testing"

	"github.com/firn-id/firn/internal/engine/tally"
	"github.com/firn-id/firn/internal/engine/words"
	"github.com/firn-id/firn/internal/testing/services"
)

// tallied is the memory of a word with its count.
type tallied struct {
	words.Word
	Count tally.Count
}

// The cells of the count follow those of the word.
const (
	madeCell = fenceCell + 1 + iota
	shownCell
)

// beginTallied makes an ID of the clock's tick as a mint does. A tick starts with its first word, or
// leaves out two words. If late, the caller leaves out the words only after the tick has begun.
func beginTallied(m *tallied, late bool, ticks ...uint64) func() Outcome {
	return func() Outcome {
		floor := Choose("reads the clock:", ticks...) << roomy
		start := Choose("chooses the start", 0, 2)
		if start > 0 && !late {
			m.Count.Drop(start)
		}
		word, last, verdict := m.Advance(floor, start, 1, floor+limit)
		switch {
		case verdict == words.Issued && m.Count.Changed(word, last):
			if late {
				m.Count.Drop(start)
			}
			m.Count.Ended(last)
		case start > 0 && !late:
			m.Count.Add(start)
		}
		o := outcome(word, last, verdict)
		o.Again = false
		return o
	}
}

// passTallied leaves out the ticks before one of two ticks, as a lease does after a gap. Nothing was
// issued in the last of the ticks that are left out.
func passTallied(m *tallied) func() Outcome {
	return func() Outcome {
		m.Count.Drop(limit)
		floor := Choose("passes over", 2, 3)<<roomy + limit
		if last, passed := m.Pass(floor); passed {
			m.Count.Ended(last)
		} else {
			m.Count.Add(limit)
		}
		return Outcome{}
	}
}

// leaveTallied leaves out the rest of the present tick, as a mint does when the values of a tick have
// ended.
func leaveTallied(m *tallied) func() Outcome {
	return func() Outcome {
		m.Count.Drop(limit)
		floor := m.Last()&^roomyMask + limit
		if last, passed := m.Pass(floor); passed {
			m.Count.Add(m.Count.Used(last))
		} else {
			m.Count.Add(limit)
		}
		return Outcome{}
	}
}

func readTallied(m *tallied) func() Outcome {
	return func() Outcome {
		m.Count.Read(m.Last)
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
func tallyModel(late bool, second string, readers int) *Model {
	m := new(tallied)
	c := &m.Count
	c.Lay(roomy, 0, limit-1)
	programs := map[string]Program{
		"Step":  {Name: "Step", Actors: 1, Calls: 2, Call: trying(stepping(&m.Word))},
		"Pass":  {Name: "Pass", Actors: 1, Calls: 1, Call: passTallied(m)},
		"Leave": {Name: "Leave", Actors: 1, Calls: 1, Call: leaveTallied(m)},
		"Seal": {Name: "Seal", Actors: 1, Calls: 1, Call: func() Outcome {
			c.Sealing()
			c.Sealed(m.Seal(1))
			return Outcome{}
		}},
	}
	ticks := []uint64{1, 2}
	if second == "Pass" {
		ticks = []uint64{1, 4}
	}
	return &Model{
		Shared: m, Setup: func() { m.Raise(1 << 20); c.Drop(1) }, Watch: neverMore,
		Programs: []Program{
			{Name: "Advance", Actors: 1, Calls: 4 - readers, Call: beginTallied(m, late, ticks...)},
			programs[second],
			{Name: "Read", Actors: readers, Calls: 3 - readers, Call: readTallied(m), Restarts: true},
		},
	}
}

// Readings only rise, and are never above the number of issued words: while ticks begin and end, while
// callers add words and ticks are left out, and while the word is sealed.
func TestTally(t *testing.T) {
	services.Full(t)
	for _, second := range []string{"Step", "Pass", "Leave", "Seal"} {
		t.Run(second, func(t *testing.T) { holds(t, tallyModel(false, second, 1)) })
	}
	t.Run("two readers", func(t *testing.T) { holds(t, tallyModel(false, "Step", 2)) })
}

// A caller that leaves out the first words of a tick only after the tick has begun is at fault.
func TestWordsLeftOutLate(t *testing.T) {
	fails(t, tallyModel(true, "Step", 1), "a reading of")
}
