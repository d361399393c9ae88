// Package split is the design that the word replaces: the time and the sequence in two atomics.
// With one caller the design is correct for any clock. The search must find the fault with two
// callers.
package split

import "github.com/firn-id/firn/dev/explore/atomic"

// Generator draws from two atomics.
type Generator struct {
	time atomic.Uint64
	seq  atomic.Uint64
}

// Next returns a time and a sequence number within it.
func (g *Generator) Next(now uint64) (time, seq uint64) {
	last := g.time.Load()
	if now > last {
		g.time.Store(now)
		g.seq.Store(0)
		return now, 0
	}
	return last, g.seq.Add(1)
}
