package sno

// SequenceMin returns the lower bound of the sequence pool of this generator.
func (g *Generator) SequenceMin() uint16 { return uint16(g.min) }

// SequenceMax returns the upper bound of the sequence pool of this generator.
func (g *Generator) SequenceMax() uint16 { return uint16(g.max) }

// Cap returns the total capacity of the Generator: the IDs of a time unit.
//
// To get its current capacity (e.g. number of possible additional IDs in the current timeframe),
// simply:
//
//	spare := generator.Cap() - generator.Len()
//
// The result will always be non-negative.
func (g *Generator) Cap() int {
	if g.max == 0 { // NewGenerator did not make it
		return 0
	}
	return int(g.max-g.min) + 1
}

// Len returns the number of IDs generated in the current timeframe.
func (g *Generator) Len() int {
	last, current := g.current()
	if !current {
		return 0
	}
	return int(min(last&sequence, g.max)-g.min) + 1
}

// Sequence returns the current sequence the Generator is at.
//
// This does *not* mean that if one were to call New() right now, the generated ID will
// necessarily get this sequence, as other things may happen before.
//
// If the next call to New() would result in a reset of the sequence, SequenceMin is
// returned instead of the current internal sequence.
//
// If the generator is currently overflowing, the sequence returned will be higher than
// the generator's SequenceMax by the number of calls that wait.
func (g *Generator) Sequence() uint32 {
	last, current := g.current()
	if !current {
		return uint32(g.min)
	}
	return g.overflowed(last)
}

// overflowed returns the sequence of the last word, plus the number of waiters once the sequence is
// used up.
func (g *Generator) overflowed(last uint64) uint32 {
	seq := last & sequence
	if seq >= g.max {
		seq = g.max + uint64(g.queue.Len())
	}
	return uint32(seq)
}

// current returns the last word, and reports whether the word is of the time unit of the clock.
func (g *Generator) current() (last uint64, current bool) {
	last = g.word.Last()
	u, ok := unitOf(g.clock.Now())
	return last, ok && u == unitIn(last) && u > 0
}
