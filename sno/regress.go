package sno

import (
	"github.com/firn-id/firn/internal/engine/words"
)

// goBack is try for a clock that seems to have gone back.
//
// IDs are made on two time lines, one for each setting of the tick-tock bit. Each line is used in
// increasing order, up to the unit of its last word. safe has that unit for the line that is not in
// use. A clock that goes back behind the last word but stays after safe finds the other line
// unused: then the bit changes, and safe becomes the unit of the last word. A clock that goes back
// to safe or further is in a time that both lines have used. Then there is no ID until the clock is
// after safe, or at the last word again.
//
// The clock is read without the lock, because a program's own clock can take a Snapshot. If the
// last word is still the same under the lock, neither the line nor safe has changed since.
func (g *Generator) goBack(n int) (word uint64, run int, r refusal) {
	for verdict := words.Lost; verdict == words.Lost; {
		// Another caller may have read the clock later, and been faster. Only a reading from after
		// the last word was seen shows that the clock went back.
		last := g.word.Last()
		if !g.read(&r) {
			return 0, 0, r
		}
		word, run, verdict = g.turn(last, n, &r)
	}
	return word, run, r
}

// turn issues a run of up to n words on either time line at the time of r, or sets r.kind to the
// reason for no word. The caller has seen the word last before reading the clock. If last is no
// longer the last word, the verdict is Lost.
func (g *Generator) turn(last uint64, n int, r *refusal) (word uint64, run int, verdict words.Verdict) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.word.Last() != last {
		return 0, 0, words.Lost
	}
	word, run, r.kind = g.follow(last, r.unit, n)
	back := r.kind == unsafeTime
	if back {
		g.tally.Behind(last)
	}
	if back && r.unit > g.safe {
		word, run, r.kind = ^last&tickTock|r.unit<<unitShift|g.min, min(n, g.Cap()), none
		g.lasts.Store(0) // lasts is of the other line
		g.turns.Add(1)
	}
	if r.kind != none {
		r.from = g.freeFrom(last)
		if g.fence.Sealed() { // for good: no wait helps
			r.kind = fenced
		}
		return 0, 0, words.Exhausted
	}
	switch verdict = g.word.Replace(last, word+uint64(run-1)); verdict {
	case words.Issued:
		if back {
			g.safe = unitIn(last)
			g.drifts++
		}
		g.went(*r, word, last)
	case words.Fenced:
		r.kind = g.noWord()
		return 0, 0, verdict
	}
	return word, run, verdict
}

// freeFrom returns the first unit at which a clock in an unsafe time finds a free line. mu is held.
func (g *Generator) freeFrom(last uint64) uint64 {
	from := unitIn(last)
	if last&sequence >= g.max {
		from++
	}
	return min(from, g.safe+1)
}
