package sno

import (
	"context"
	"encoding/binary"
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/words"
)

// A word has, from its highest bit on: a bit that stays 0, 39 bits of time, the tick-tock bit, and
// 23 bits of sequence. The first bit keeps all words below the open fence. The time above all other
// bits lets a fence bound the time alone. The sequence needs 16 bits; the rest is room for
// additions.
//
// The words of one setting of the tick-tock bit only increase, so no word is issued twice: see
// goBack. Only sequences past the end of a unit repeat; see words.Word.Trim.
const (
	unitShift = 24
	lineShift = 23 // a unit with the tick-tock bit
	tickTock  = 1 << lineShift
	sequence  = 1<<23 - 1

	sealMark = 1 << 63
)

// unitIn returns the time unit of a word.
func unitIn(word uint64) uint64 { return word >> unitShift & MaxTimestamp }

// put sets id to the ID of a word, in place: a copy of ten bytes that were written in two parts
// costs as much as the rest of Next.
func (g *Generator) put(id *ID, word uint64, meta byte) {
	unit := unitIn(word)
	binary.BigEndian.PutUint64(id[:8], (unit<<1|word>>23&1)<<24|uint64(meta)<<16|g.fence.Worker(unit))
	binary.BigEndian.PutUint16(id[8:], uint16(word))
}

// fast issues a word in the common case: no caller stands in the queue, the unit of the last word is not
// over, and the next word is below the end of the sequence and below the fence.
func (g *Generator) fast() (uint64, bool) {
	d := clock.Deadline(g.lasts.Load())
	if g.queue.Busy() || !d.AheadByCycles() && !d.AheadBySystem() {
		return 0, false
	}
	word, ok := g.word.Step(g.max+1, sequence)
	if !ok {
		g.missed(word)
		return 0, false
	}
	return word, true
}

// missed ends a failed Step of the word.
func (g *Generator) missed(word uint64) {
	g.word.Trim(g.max+1, sequence)
	g.tally.Missed(word)
}

// fastRun is fast for a run of up to n words.
func (g *Generator) fastRun(n int) (uint64, int, bool) {
	if g.queue.Busy() || !clock.Deadline(g.lasts.Load()).Ahead() {
		return 0, 0, false
	}
	for {
		last := g.word.Last()
		run := min(n, int(g.max)-int(last&sequence))
		if run < 1 {
			return 0, 0, false
		}
		switch g.word.Replace(last, last+uint64(run)) {
		case words.Issued:
			return last + 1, run, true
		case words.Fenced:
			return 0, 0, false
		}
	}
}

// next is Next for a caller without a word from fast.
func (g *Generator) next(ctx context.Context) (uint64, error) {
	if !g.queue.Busy() {
		if word, _, r := g.try(1); r.kind == none {
			return word, nil
		}
	}
	word, _, err := g.stand(ctx, 1)
	return word, err
}

// stand waits in the queue for a run of up to n words.
func (g *Generator) stand(ctx context.Context, n int) (uint64, int, error) {
	g.tally.Wait()
	return g.queue.Stand(ctx, n, (*source)(g))
}

// tryRun is TryNext for a run of up to n words, and for a caller without words from fast or fastRun.
func (g *Generator) tryRun(n int) (uint64, int, error) {
	if g.queue.Busy() {
		return 0, 0, g.err(g.beside())
	}
	word, run, r := g.try(n)
	if r.kind != none {
		return 0, 0, g.err(r)
	}
	return word, run, nil
}

// some fills the beginning of dst with a run of IDs of one time unit. It returns the word of the
// first ID and the number of IDs.
func (g *Generator) some(ctx context.Context, meta byte, dst []ID) (uint64, int, error) {
	word, run, ok := g.fastRun(len(dst))
	if !ok && !g.queue.Busy() {
		var r refusal
		word, run, r = g.try(len(dst))
		ok = r.kind == none
	}
	if !ok {
		var err error
		if word, run, err = g.stand(ctx, len(dst)); err != nil {
			return 0, 0, err
		}
	}
	g.putRun(dst[:run], word, meta)
	return word, run, nil
}

// putRun sets dst to the IDs of consecutive words of one time unit.
func (g *Generator) putRun(dst []ID, word uint64, meta byte) {
	var id ID
	g.put(&id, word, meta)
	for i := range dst {
		dst[i] = id
		binary.BigEndian.PutUint16(dst[i][8:], uint16(word)+uint16(i))
	}
}

// try issues a run of up to n words at the time of the clock, or says why there is no word.
func (g *Generator) try(n int) (word uint64, run int, r refusal) {
	if word, run, r = g.within(n); r.kind != fenced {
		return word, run, r
	}
	begins, again := g.fence.Enter((*behindFence)(g), r.unit)
	if again {
		if word, run, r = g.within(n); r.kind != fenced {
			return word, run, r
		}
	}
	r.from = begins
	return 0, 0, r
}

// within is try for the grants that the generator has entered.
func (g *Generator) within(n int) (word uint64, run int, r refusal) {
	turns := g.turns.Load()
	if !g.read(&r) {
		return 0, 0, r
	}
	for {
		last := g.word.Last()
		if now := g.turns.Load(); now != turns {
			// The tick-tock bit has changed, perhaps after this caller read the clock. With the
			// old reading the new time line would enter units that the other line has used.
			turns = now
			if !g.read(&r) {
				return 0, 0, r
			}
			continue
		}
		if word, run, r.kind = g.follow(last, r.unit, n); r.kind != none {
			break
		}
		switch g.word.Replace(last, word+uint64(run-1)) {
		case words.Issued:
			g.went(r, word, last)
			return word, run, r
		case words.Fenced:
			r.kind = g.noWord()
			return 0, 0, r
		}
	}
	switch r.kind {
	case unsafeTime:
		return g.goBack(n)
	case exhausted:
		g.tally.Exhausted(r.unit << 1)
	}
	return 0, 0, r
}

// read reads the clock into r, and reports whether the time is in range.
func (g *Generator) read(r *refusal) (ok bool) {
	r.kind = none
	r.time, r.mark = g.clock.Mark()
	r.unit, ok = unitOf(r.time)
	if !ok || r.unit == 0 {
		r.kind = outOfRange
	}
	return r.kind == none
}

// follow returns the run of up to n words after the last word on its time line. If there is no
// word, the unit is used up, or is before the unit of the last word.
func (g *Generator) follow(last, unit uint64, n int) (word uint64, run int, kind refusalKind) {
	seq := last & sequence
	switch lastUnit := unitIn(last); {
	case unit > lastUnit:
		return last&tickTock | unit<<unitShift | g.min, min(n, g.Cap()), none
	case unit < lastUnit:
		return 0, 0, unsafeTime
	case seq >= g.max:
		return 0, 0, exhausted
	}
	return last + 1, min(n, int(g.max-seq)), none
}

// went notes that a word of the unit of the reading r was issued, and has replaced the word last.
func (g *Generator) went(r refusal, word, last uint64) {
	if g.tally.Changed(word, last) {
		g.tally.Turn(last, word, 0)
	}
	g.lasts.Store(uint64(r.mark.In(TimeUnit - time.Duration(r.time.Nanosecond())%TimeUnit)))
}
