package mint

import (
	"fmt"
	"math"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/clock"
	"github.com/firn-id/firn/internal/tick"
)

// policy is what a mint does when it cannot simply issue. All of it is cold: a
// generator below its capacity with a steady clock comes here once in a while,
// for a reading older than another caller's word.
type policy struct {
	format      string
	unit        time.Duration
	maxBackward time.Duration
	hold        bool
	rewind      bool
	exhausted   error
}

func newPolicy(c Config) policy {
	p := policy{format: c.Format, unit: time.Millisecond, maxBackward: c.MaxBackward,
		hold: c.Hold, rewind: c.Rewind, exhausted: c.Exhausted}
	if c.Micro {
		p.unit = time.Microsecond
	}
	switch {
	case c.MaxBackward == 0:
		p.maxBackward = DefaultMaxBackward
	case c.MaxBackward < 0:
		p.maxBackward = 0
	}
	if p.exhausted == nil {
		p.exhausted = fmt.Errorf("%s: %w in this %s", c.Format, iderr.ErrExhausted, unitName(c.Micro))
	}
	return p
}

func unitName(micro bool) string {
	if micro {
		return "microsecond"
	}
	return "millisecond"
}

// refusal is why no word was issued, as values: errors are made of it only for a
// caller who is to see one.
type refusal struct {
	kind   refusalKind
	time   time.Time // the clock's
	behind uint64    // ticks from the clock's to the last word's, if it went backwards; if fenced, to a later interval, or 0
}

type refusalKind uint8

const (
	none refusalKind = iota
	exhausted
	backwards
	outOfRange
	fenced
	notReady
)

// try issues a run of up to n words at the clock's time, or says why it cannot.
func (m *Mint) try(n int) (word uint64, run int, r refusal) {
	var seen uint64 // tick of the newest word known when t was read
	for t, mark := m.clock.Mark(); ; {
		word, run, r = m.at(t, n)
		if r.kind == none {
			m.went(word, t, mark)
		}
		if r.kind != backwards {
			return word, run, r
		}
		// Another caller may have read its clock later than this one and been
		// quicker. Only a reading taken after that caller's word was seen, and
		// behind it all the same, shows that the clock went back.
		if last := m.tick(t) + r.behind; last > seen {
			seen = last
			t, mark = m.clock.Mark()
			continue
		}
		if m.rewind && m.duration(r.behind) > m.maxBackward {
			m.startAfresh(m.tick(t))
			continue
		}
		return 0, 0, r
	}
}

// at holds the logic of one request at the time t.
func (m *Mint) at(t time.Time, n int) (word uint64, run int, r refusal) {
	r.time = t
	now := m.tick(t)
	if !m.inRange(now) {
		r.kind = outOfRange
		if m.last == 0 {
			r.kind = notReady
		}
		return 0, 0, r
	}
	entered := false
	for at := now; ; {
		word, run, verdict := m.take(at, n)
		switch verdict {
		case tick.Issued:
			return word, run, r
		case tick.Fenced:
			begins, again := m.fence.Enter((*allotment)(m), now)
			if again && !entered {
				entered = true
				continue
			}
			// The tick may be allotted, and the word at its end, which the fence follows.
			if !again || word>>m.bits < now {
				return 0, 0, r.fencedUntil(begins, now)
			}
		}
		last := word >> m.bits
		if last <= now {
			r.kind = exhausted
			return 0, 0, r
		}
		r.kind, r.behind = backwards, last-now
		if !m.hold || last == at || m.duration(r.behind) > m.maxBackward {
			return 0, 0, r
		}
		at = last // the format goes on in its last tick, for as long as that has sequence
		r.kind = none
	}
}

// fencedUntil returns the refusal of a tick that is not allotted, before an interval that
// begins later, or 0 if there is none.
func (r refusal) fencedUntil(begins, now uint64) refusal {
	r.kind = fenced
	if begins > now {
		r.behind = begins - now
	}
	return r
}

// startAfresh forgets a last word that the clock is far behind of. Another caller may have
// done so already, and issued words since, which are not to be forgotten.
func (m *Mint) startAfresh(now uint64) {
	last := m.word.Last()
	if t := last >> m.bits; t > now && m.duration(t-now) > m.maxBackward {
		m.word.Replace(last, (now-1)<<m.bits+m.limit-1) // as Pass does: with its room
	}
}

// TryNext issues a word of the present tick, or says why it cannot. It never waits. It is
// for callers who have no word by Fast.
func (m *Mint) TryNext() (uint64, error) {
	if !m.line.Busy() {
		word, _, r := m.try(1)
		if r.kind == none {
			return word, nil
		}
		return 0, m.err(r)
	}
	return 0, m.err(m.beside())
}

// beside returns why there is no word for a caller who does not stand in line while others do:
// the words there may be belong to them.
func (m *Mint) beside() (r refusal) {
	last := m.word.Last() >> m.bits
	r.time = m.clock.Now() // after the word, as in try
	now := m.tick(r.time)
	if !m.inRange(now) {
		r.kind = outOfRange
		return r
	}
	if !m.word.Allows(now << m.bits) {
		if begins, again := m.fence.Enter((*allotment)(m), now); !again {
			return r.fencedUntil(begins, now)
		}
	}
	if r.kind = exhausted; now < last {
		r.kind, r.behind = backwards, last-now
	}
	return r
}

// source is the mint as its line sees it.
type source Mint

// Try implements line.Source.
func (s *source) Try(n int) (uint64, int, time.Duration, error) {
	m := (*Mint)(s)
	word, run, r := m.try(n)
	if r.kind == none {
		return word, run, 0, nil
	}
	pause, err := m.wait(r)
	return 0, 0, pause, err
}

// wait returns how long to pause before the next try, or the error if waiting
// does not help or would take too long.
func (m *Mint) wait(r refusal) (time.Duration, error) {
	var until time.Duration // from the start of the clock's tick
	switch r.kind {
	case exhausted:
		until = m.unit
	case backwards:
		until = m.duration(r.behind)
		if until > m.maxBackward {
			return 0, m.err(r)
		}
	case fenced:
		// An interval that begins later is waited for as a clock that is behind is, and for a
		// tick in any case: that much earlier a lease may allot it.
		until = max(m.duration(r.behind), m.unit)
		if !m.fence.Waits() || until > max(m.maxBackward, m.unit) {
			return 0, m.err(r)
		}
	default:
		return 0, m.err(r)
	}
	return until - time.Duration(r.time.Nanosecond())%m.unit, nil
}

// duration returns so many ticks as a time.Duration, or the longest there is.
func (p *policy) duration(ticks uint64) time.Duration {
	if ticks > math.MaxInt64/uint64(p.unit) {
		return math.MaxInt64
	}
	return time.Duration(ticks) * p.unit
}

// err returns the error that a caller sees of r.
func (m *Mint) err(r refusal) error {
	switch r.kind {
	case exhausted:
		return m.exhausted
	case backwards:
		return &iderr.ClockError{Format: m.format, By: m.duration(r.behind)}
	case outOfRange:
		if m.fence.Sealed() { // for good, whatever the time
			return m.fence.Err(m.format)
		}
		return m.timeError(r.time)
	case fenced:
		if r.behind > 0 {
			return m.fence.ErrBefore(m.format, m.timeOf(m.tick(r.time)+r.behind), r.time)
		}
		return m.fence.Err(m.format)
	}
	return iderr.ErrNotReady
}

// CheckNow returns a *iderr.TimeError if the clock is not after the epoch or is
// past the last timestamp, so that a constructor can say so at once.
func (m *Mint) CheckNow() error {
	t := m.clock.Now()
	if m.inRange(m.tick(t)) {
		return nil
	}
	return m.timeError(t)
}

// CheckEpoch is CheckNow for an epoch that can be chosen: unless it is the zero time, which
// stands for the default, the TimeError is wrapped in a ConfigError with the epochs that
// would do. Those are after the given time, unless that is zero.
func (m *Mint) CheckEpoch(epoch, after time.Time) error {
	t := m.clock.Now()
	if m.inRange(m.tick(t)) {
		return nil
	}
	err := m.timeError(t)
	if s := t.Unix(); epoch.IsZero() || s < -clock.Horizon || s > clock.Horizon {
		return err // no epoch would do for that clock
	}
	least, most := clock.Millis(t)-int64(m.last), clock.Millis(t)-int64(m.first)
	if !after.IsZero() {
		least = max(least, clock.Millis(after)+1)
	}
	if least > most {
		return err
	}
	const form = time.RFC3339Nano
	bad := iderr.BadConfig(m.format, "Epoch", epoch, "in "+clock.Time(0, least).Format(form)+" to "+clock.Time(0, most).Format(form)+
		", which give the clock's time, "+t.UTC().Format(form)+", a timestamp")
	bad.Err = err
	return bad
}

func (m *Mint) timeError(t time.Time) error {
	return &iderr.TimeError{Format: m.format, Time: t, First: m.timeOf(m.first), Last: m.timeOf(m.last)}
}

// timeOf returns the time at which the timestamp begins.
func (m *Mint) timeOf(timestamp uint64) time.Time {
	if m.micro {
		return time.UnixMicro(m.epoch + int64(timestamp)).UTC()
	}
	return clock.Time(int64(timestamp), m.epoch)
}

// ExpiresAt returns when the timestamps run out: the first time that has none.
func (m *Mint) ExpiresAt() time.Time { return m.timeOf(m.last + 1) }

// Epoch returns the epoch of a configuration in Unix milliseconds, or def where it
// is the zero time. An epoch that is not whole milliseconds is a ConfigError.
func Epoch(format string, epoch time.Time, def int64) (int64, error) {
	ms := clock.Epoch(epoch, def)
	if !epoch.IsZero() && !time.UnixMilli(ms).Equal(epoch) {
		return 0, iderr.BadConfig(format, "Epoch", epoch, "a time in whole milliseconds that an int64 holds")
	}
	return ms, nil
}
