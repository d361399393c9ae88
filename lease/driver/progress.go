package driver

import "sync/atomic"

// Progress holds the highest number of changes reported by a store, for stores with a count of
// changes. If an answer has a lower number than [Progress.Seen] had before the request, the store
// has lost changes: see [Latch]. The zero value has seen no change.
type Progress struct{ seen atomic.Uint64 }

// Seen returns the highest number so far.
func (p *Progress) Seen() uint64 { return p.seen.Load() }

// Advance notes a number. A number below the highest one changes nothing.
func (p *Progress) Advance(n uint64) {
	for seen := p.seen.Load(); n > seen && !p.seen.CompareAndSwap(seen, n); seen = p.seen.Load() {
	}
}
