package sno

import (
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
)

// refusal says why there is no word. A refusal becomes an error only for a caller that sees the
// error.
type refusal struct {
	kind refusalKind
	time time.Time  // of the clock
	mark clock.Mark // of the same moment
	unit uint64     // of the clock
	from uint64     // unsafeTime: the first unit with a word; fenced: the start of the next grant, or 0
}

type refusalKind uint8

const (
	none refusalKind = iota
	exhausted
	unsafeTime
	outOfRange
	fenced
	notReady
)

// err returns the error of a refusal.
func (g *Generator) err(r refusal) error {
	switch r.kind {
	case exhausted:
		return errExhausted
	case unsafeTime:
		return &iderr.ClockError{Format: format, By: r.untilSafe()}
	case outOfRange:
		if g.fence.Sealed() { // for good, whatever the time
			return g.fence.Err(format)
		}
		return &iderr.TimeError{Format: format, Time: r.time, First: timeOf(1), Last: timeOf(MaxTimestamp)}
	case fenced:
		if r.from > r.unit {
			return g.fence.ErrBefore(format, timeOf(r.from), r.time)
		}
		return g.fence.Err(format)
	}
	return iderr.ErrNotReady
}

// untilSafe returns the time until the clock leaves the unsafe time, or enters the next grant.
func (r refusal) untilSafe() time.Duration { return timeOf(r.from).Sub(r.time) }

// noWord returns the reason for a fenced word: a lease, or a generator that NewGenerator did not
// make.
func (g *Generator) noWord() refusalKind {
	if g.max == 0 {
		return notReady
	}
	return fenced
}

// beside returns why a caller outside the queue gets no word: words belong to waiters first, or the
// clock is in an unsafe time for all callers.
func (g *Generator) beside() (r refusal) {
	last := g.word.Last()
	if !g.read(&r) {
		return r
	}
	if !g.word.Allows(r.unit << unitShift) {
		if begins, again := g.fence.Enter((*behindFence)(g), r.unit); !again {
			r.kind, r.from = fenced, begins
			return r
		}
	}
	g.mu.Lock() // the tick-tock bit does not change
	defer g.mu.Unlock()
	// If the word has changed since the clock was read, the queue is being served.
	if _, _, r.kind = g.follow(last, r.unit, 1); r.kind == unsafeTime && r.unit <= g.safe && last == g.word.Last() {
		r.from = g.freeFrom(last)
		return r
	}
	r.kind = exhausted
	return r
}

// source is the generator as seen by its queue.
type source Generator

// Try implements queue.Source.
func (s *source) Try(n int) (uint64, int, time.Duration, error) {
	g := (*Generator)(s)
	word, run, r := g.try(n)
	switch {
	case r.kind == none:
		return word, run, 0, nil
	case r.kind == exhausted:
		g.overflow.report(r.time, r.unit, g.queue.Len(), g.queue.Formed())
		return 0, 0, timeOf(r.unit + 1).Sub(r.time), nil
	case r.kind == unsafeTime && r.untilSafe() <= g.maxBackward:
		return 0, 0, r.untilSafe(), nil
	case r.kind == fenced && g.fence.Delayed() != nil:
		return 0, 0, clock.Longest, nil // no unit is near, and the grant may take hours
	case r.kind == fenced && g.fence.Waits() && r.untilSafe() <= max(g.maxBackward, TimeUnit):
		return 0, 0, max(r.untilSafe(), time.Millisecond), nil
	}
	return 0, 0, 0, g.err(r)
}

// Delayed implements queue.Source.
func (s *source) Delayed() error { return s.fence.Delayed() }
