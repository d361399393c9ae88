package explore

import (
	"sync/atomic"
	"testing"
)

// split is the design that the word replaces: the time and the sequence in two atomics.
type split struct {
	time atomic.Uint64
	seq  atomic.Uint64
}

// next returns a time and a sequence number within it.
func (g *split) next(now uint64) (time, seq uint64) {
	last := g.time.Load()
	if now > last {
		g.time.Store(now)
		g.seq.Store(0)
		return now, 0
	}
	return last, g.seq.Add(1)
}

// splitModel has callers that ignore sequences beyond the end, since the fault does not need these
// sequences.
func splitModel(callers, made int) *Model {
	g := new(split)
	return &Model{
		Shared: g, Watch: distinct, Format: format,
		Programs: []Program{{Name: "next", Actors: callers, Calls: made, Call: func() Outcome {
			time, seq := g.next(Choose("reads the clock:", ticks...))
			return Outcome{First: time<<bits + seq, Run: 1}
		}}},
	}
}

// A time and a sequence in two atomics issue an ID twice.
func TestTwoAtomicsGiveADuplicate(t *testing.T) {
	fails(t, splitModel(2, 1), "issued twice")
}
