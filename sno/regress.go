package sno

import (
	"github.com/firn-id/firn/internal/tick"
)

// goBack is try for a clock that seems to have gone back.
//
// IDs are made on two time lines, which the tick-tock bit tells apart. Each is used in
// increasing order up to the unit at which it was last left, and safe holds that of the
// line that is not in use. So a clock that goes back behind the last word finds the other
// line unused if it stays above safe: then the bit changes, and the line that is left is
// safe up to the last word. Otherwise both lines have used the clock's unit, and there is
// no ID to be had until the clock is where one of them is free: past safe, or at the last
// word again.
//
// The clock is read without the lock: it can be a program's own and take a Snapshot. If the last word
// still is the same under the lock, neither the line nor safe has changed since.
func (g *Generator) goBack(n int) (word uint64, run int, r refusal) {
	for verdict := tick.Lost; verdict == tick.Lost; {
		// Another caller may have read its clock later than this one and been quicker.
		// Only a reading taken after its word was seen shows that the clock went back.
		last := g.word.Last()
		if !g.read(&r) {
			return 0, 0, r
		}
		word, run, verdict = g.turn(last, n, &r)
	}
	return word, run, r
}

// turn issues a run of up to n words on one line or the other, at the time that r was read, or says in r
// why it cannot. The word last was seen before that. If it is no longer the last word, the verdict is Lost.
func (g *Generator) turn(last uint64, n int, r *refusal) (word uint64, run int, verdict tick.Verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.word.Last() != last {
		return 0, 0, tick.Lost
	}
	word, run, r.kind = g.follow(last, r.unit, n)
	back := r.kind == unsafeTime
	if back && r.unit > g.safe {
		word, run, r.kind = ^last&tickTock|r.unit<<unitShift|g.min, min(n, g.Cap()), none
		g.lasts.Store(0) // the unit of the other line was longer, if anything
		g.turns.Add(1)
	}
	if r.kind != none {
		r.from = g.freeFrom(last)
		if g.fence.Sealed() { // there is no waiting for that
			r.kind = fenced
		}
		return 0, 0, tick.Spent
	}
	switch verdict = g.word.Replace(last, word+uint64(run-1)); verdict {
	case tick.Issued:
		if back {
			g.safe = unitIn(last)
			g.drifts++
		}
		g.went(*r)
	case tick.Fenced:
		r.kind = g.noWord()
		return 0, 0, verdict
	}
	return word, run, verdict
}

// freeFrom returns the first unit in which a clock that is in an unsafe time finds either
// line free. mu is held.
func (g *Generator) freeFrom(last uint64) uint64 {
	from := unitIn(last)
	if last&sequence >= g.max {
		from++
	}
	return min(from, g.safe+1)
}
