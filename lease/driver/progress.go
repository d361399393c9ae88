package driver

import "sync/atomic"

// Progress is the highest number of changes that a store is known to have made, for stores that count their
// changes. A store whose number is lower than [Progress.Seen] was when the request began has lost changes: see
// [Latch]. The zero value has seen no change.
type Progress struct{ seen atomic.Uint64 }

// Seen returns the highest number so far.
func (p *Progress) Seen() uint64 { return p.seen.Load() }

// Advance notes a number. A number below the highest one changes nothing.
func (p *Progress) Advance(n uint64) {
	for seen := p.seen.Load(); n > seen && !p.seen.CompareAndSwap(seen, n); seen = p.seen.Load() {
	}
}
