package mint

import (
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/words"
)

// An outcome is the result of a request for words. Only errorOf makes an error of an outcome, for a
// caller that returns the error.
type outcome struct {
	kind outcomeKind
	time time.Time // the reading of the clock

	// gap is a number of ticks from the clock's tick. If the clock went backwards, the gap ends at
	// the tick of the last word, which may also be the tick of the issued word. If the clock's tick
	// is fenced, the gap ends at the next interval; 0 means that there is no next interval.
	gap uint64
}

type outcomeKind uint8

const (
	issued outcomeKind = iota
	queueBusy
	exhausted
	backwards
	outOfRange
	fenced
	notReady
)

// reserve issues a run of up to n words at the clock's time, or returns the reason for not doing
// so. While callers stand in the queue, the words belong to these callers: only the leader of the queue
// gets words.
func (m *Mint) reserve(n int, leads bool) (word uint64, run int, o outcome) {
	if !leads && m.queue.Busy() {
		return 0, 0, outcome{kind: queueBusy}
	}
	var known uint64 // the latest tick of a word known before the reading
	for reading, mark := m.clock.Mark(); ; {
		word, run, o = m.reserveAt(reading, n)
		if o.kind == issued {
			m.setDeadline(word, reading, mark)
			m.noteHeld(word, o)
		}
		if o.kind != backwards {
			return word, run, o
		}
		// Another caller may have read the clock later and yet issued its word first. The clock
		// went back only if a reading taken after the look at the word is still behind the word.
		if last := m.tickOf(reading) + o.gap; last > known {
			known = last
			reading, mark = m.clock.Mark()
			continue
		}
		m.tally.Behind(known << m.bits)
		if m.rewind && m.duration(o.gap) > m.maxBackward {
			m.startAfresh(m.tickOf(reading))
			continue
		}
		return 0, 0, o
	}
}

// noteHeld notes a clock that is behind a word. A reading that is only late, because another caller was
// faster, is hardly ever late by a millisecond. So few readings need the second look at the clock.
func (m *Mint) noteHeld(word uint64, o outcome) {
	if m.duration(o.gap) < time.Millisecond || m.tally.KnowsBehind(word) {
		return
	}
	if now := m.tickOf(m.clock.Now()); m.inRange(now) && now < word>>m.bits {
		m.tally.Behind(word)
	}
}

// reserveAt decides about one request at one reading of the clock.
func (m *Mint) reserveAt(reading time.Time, n int) (word uint64, run int, o outcome) {
	now := m.tickOf(reading)
	if !m.inRange(now) {
		if m.last == 0 {
			return 0, 0, outcome{kind: notReady, time: reading}
		}
		return 0, 0, outcome{kind: outOfRange, time: reading}
	}
	entered := false
	for target := now; ; {
		word, run, verdict := m.issue(target, n)
		switch verdict {
		case words.Issued:
			if m.steps != nil {
				if word, verdict = m.step(word); verdict != words.Issued {
					continue // with the next word, which an exhausted tick does not have
				}
			}
			return word, run, outcome{kind: issued, time: reading, gap: target - now}
		case words.Fenced:
			begins, granted := m.fence.Enter((*behindFence)(m), now)
			if granted && !entered {
				entered = true
				continue
			}
			// The clock's tick may be granted and exhausted, if the fence follows its last word.
			if !granted || word>>m.bits < now {
				return 0, 0, fencedAt(reading, now, begins)
			}
		}
		last := word >> m.bits
		if last <= now {
			m.tally.Exhausted(now)
			return 0, 0, outcome{kind: exhausted, time: reading}
		}
		if gap := last - now; !m.hold || last == target || m.duration(gap) > m.maxBackward {
			return 0, 0, outcome{kind: backwards, time: reading, gap: gap}
		}
		target = last // the format continues in its last tick until the tick is exhausted
	}
}

// fencedAt returns the outcome of a tick that is not granted. begins is the first tick of the next
// interval; 0 means that there is no next interval.
func fencedAt(reading time.Time, now, begins uint64) outcome {
	o := outcome{kind: fenced, time: reading}
	if begins > now {
		o.gap = begins - now
	}
	return o
}

// issue asks the word for up to n words of a tick.
func (m *Mint) issue(now uint64, n int) (word uint64, run int, verdict words.Verdict) {
	floor := now << m.bits
	ceil := floor + m.limit
	var start uint64
	switch {
	case m.continues:
		start = m.continued()
	case m.startBits > 0:
		start = m.draw(floor)
	}
	if start > 0 {
		m.tally.Drop(start)
	}
	var last uint64
	if run = 1; n == 1 || m.steps != nil {
		word, last, verdict = m.word.Advance(floor, start, 1, ceil)
	} else {
		word, run, last, verdict = m.word.Reserve(floor, start, ceil, n)
	}
	if verdict == words.Issued && m.tally.Changed(word, last) {
		m.tally.Turn(last, word, start)
	} else if start > 0 {
		m.tally.Add(start)
	}
	return word, run, verdict
}

// continued returns the start of a tick whose sequence continues: the number after the last word's
// if the number is in the lower half of the sequence, else 0. Any tick then has half of the sequence,
// and ticks with one word each use the numbers of the lower half in turn, equally often.
//
// Other callers may take words before the caller begins the tick. The tick then starts where an
// earlier tick could have started, which is as good. If another caller begins the tick first, the
// word ignores the start.
func (m *Mint) continued() uint64 {
	if next := m.word.Last()&m.mask + 1; next < m.limit/2 {
		return next
	}
	return 0
}

// draw returns a random start if the tick at floor has not begun. If another caller begins the tick
// first, the word ignores the start: a word never falls below a floor once reached.
func (m *Mint) draw(floor uint64) (start uint64) {
	if m.word.Last() < floor {
		start = m.rand.Uint64() >> (64 - m.startBits)
	}
	return start
}

// setDeadline sets the deadline after a word was issued at an exact reading of the clock. There is
// no deadline in ticks of a microsecond, which are too short, or for a word ahead of the clock.
func (m *Mint) setDeadline(word uint64, reading time.Time, mark clock.Mark) {
	if m.micro || word>>m.bits != m.tickOf(reading) {
		return
	}
	m.deadline.Store(uint64(mark.In(m.unit - time.Duration(reading.Nanosecond())%m.unit)))
}

// startAfresh moves the word back to the clock's tick if the word is far ahead. Another caller may
// have moved the word first and issued words since. startAfresh then leaves the word unchanged.
func (m *Mint) startAfresh(now uint64) {
	last := m.word.Last()
	if t := last >> m.bits; t <= now || m.duration(t-now) <= m.maxBackward {
		return
	}
	m.pass(now, func(floor uint64) (uint64, bool) { return last, m.word.Replace(last, floor-1) == words.Issued })
}

// pass leaves out the ticks before from by a call of word. The word becomes the last of the tick before
// from. An addition at this moment falls into the room above the sequence, and not into the next tick.
func (m *Mint) pass(from uint64, word func(floor uint64) (last uint64, passed bool)) {
	m.tally.Pass((from-1)<<m.bits+m.limit, word)
}

// besideQueue returns the outcome of a caller of TryNext while others stand in the queue.
func (m *Mint) besideQueue() outcome {
	last := m.word.Last() >> m.bits
	reading := m.clock.Now() // after the look at the word, as in reserve
	now := m.tickOf(reading)
	if !m.inRange(now) {
		return outcome{kind: outOfRange, time: reading}
	}
	if !m.word.Allows(now << m.bits) {
		if begins, granted := m.fence.Enter((*behindFence)(m), now); !granted {
			return fencedAt(reading, now, begins)
		}
	}
	if now < last {
		return outcome{kind: backwards, time: reading, gap: last - now}
	}
	return outcome{kind: exhausted, time: reading}
}

// source is the mint as its queue sees it.
type source Mint

// Try implements queue.Source.
func (s *source) Try(n int) (uint64, int, time.Duration, error) {
	m := (*Mint)(s)
	word, run, o := m.reserve(n, true)
	if o.kind == issued {
		return word, run, 0, nil
	}
	pause, err := m.pauseFor(o)
	return 0, 0, pause, err
}

// Delayed implements queue.Source.
func (s *source) Delayed() error { return (*Mint)(s).fence.Delayed() }
