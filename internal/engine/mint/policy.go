package mint

import (
	"fmt"
	"math"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/form/wrong"
)

// A policy holds the settings for decisions. A generator below its capacity with a steady clock
// rarely takes a decision: only if a reading is older than another caller's word.
type policy struct {
	format       string
	unit         time.Duration
	maxBackward  time.Duration
	hold         bool
	rewind       bool
	errExhausted error
}

func newPolicy(c Config) policy {
	p := policy{format: c.Format, unit: time.Millisecond, maxBackward: c.MaxBackward,
		hold: c.Hold, rewind: c.Rewind, errExhausted: c.Exhausted}
	if c.Micro {
		p.unit = time.Microsecond
	}
	switch {
	case c.MaxBackward == 0:
		p.maxBackward = DefaultMaxBackward
	case c.MaxBackward < 0:
		p.maxBackward = 0
	}
	if p.errExhausted == nil {
		p.errExhausted = fmt.Errorf("%s: %w in this %s", c.Format, iderr.ErrExhausted, unitName(c.Micro))
	}
	return p
}

func unitName(micro bool) string {
	if micro {
		return "microsecond"
	}
	return "millisecond"
}

// tickOf returns t in the format's unit, since its epoch. A time before the epoch wraps, and is
// then far out of range. A program's own clock can also show a time beyond the horizon, which could
// wrap back into the range: such a time is out of range for every epoch.
func (m *Mint) tickOf(t time.Time) uint64 {
	s, ns := t.Unix(), int64(t.Nanosecond())
	switch {
	case uint64(s+clock.Horizon) > 2*clock.Horizon:
		return math.MaxUint64
	case m.micro:
		return uint64(s*1e6 + ns/1e3 - m.epoch)
	}
	return uint64(s*1e3 + ns/1e6 - m.epoch)
}

// inRange reports whether a tick may be minted in.
func (m *Mint) inRange(now uint64) bool { return now-m.first <= m.last-m.first }

// pauseFor returns how long to pause before the next try. It returns an error if waiting does not
// help or would take too long.
func (m *Mint) pauseFor(o outcome) (time.Duration, error) {
	var until time.Duration // from the start of the clock's tick
	switch o.kind {
	case exhausted:
		until = m.unit
	case backwards:
		until = m.duration(o.gap)
		if until > m.maxBackward {
			return 0, m.errorOf(o)
		}
	case fenced:
		if m.fence.Delayed() != nil {
			return clock.Longest, nil // no tick is near, and the grant may take hours
		}
		// The wait for the next interval is bounded like the wait for a clock that is behind. A
		// wait of one tick is always allowed, since a lease may grant the next tick in time.
		until = max(m.duration(o.gap), m.unit)
		if !m.fence.Waits() || until > max(m.maxBackward, m.unit) {
			return 0, m.errorOf(o)
		}
	default:
		return 0, m.errorOf(o)
	}
	return until - time.Duration(o.time.Nanosecond())%m.unit, nil
}

// duration returns a number of ticks as a time.Duration, or the longest Duration.
func (p *policy) duration(ticks uint64) time.Duration {
	if ticks > math.MaxInt64/uint64(p.unit) {
		return math.MaxInt64
	}
	return time.Duration(ticks) * p.unit
}

// errorOf returns the error of an outcome other than issued.
func (m *Mint) errorOf(o outcome) error {
	switch o.kind {
	case queueBusy:
		return m.errorOf(m.besideQueue())
	case exhausted:
		return m.errExhausted
	case backwards:
		return &iderr.ClockError{Format: m.format, By: m.duration(o.gap)}
	case outOfRange:
		if m.fence.Sealed() { // for good, whatever the time
			return m.fence.Err(m.format)
		}
		return m.timeError(o.time)
	case fenced:
		if o.gap > 0 {
			return m.fence.ErrBefore(m.format, m.timeOf(m.tickOf(o.time)+o.gap), o.time)
		}
		return m.fence.Err(m.format)
	}
	return iderr.ErrNotReady
}

// CheckNow returns a *iderr.TimeError if the clock is not after the epoch, or is past the last
// timestamp. A constructor calls CheckNow to report such a clock at once.
func (m *Mint) CheckNow() error {
	t := m.clock.Now()
	if m.inRange(m.tickOf(t)) {
		return nil
	}
	return m.timeError(t)
}

// CheckEpoch is CheckNow for a configured epoch. If the epoch is not the zero time, which means the
// default, a ConfigError with the valid epochs wraps the TimeError. Valid epochs are after the time
// after, unless after is zero.
func (m *Mint) CheckEpoch(epoch, after time.Time) error {
	t := m.clock.Now()
	if m.inRange(m.tickOf(t)) {
		return nil
	}
	err := m.timeError(t)
	if s := t.Unix(); epoch.IsZero() || s < -clock.Horizon || s > clock.Horizon {
		return err // no epoch is valid for this clock
	}
	least, most := clock.Millis(t)-int64(m.last), clock.Millis(t)-int64(m.first)
	if !after.IsZero() {
		least = max(least, clock.Millis(after)+1)
	}
	if least > most {
		return err
	}
	const form = time.RFC3339Nano
	bad := wrong.Config(m.format, "Epoch", epoch, "in "+clock.Time(0, least).Format(form)+" to "+clock.Time(0, most).Format(form)+
		", the epochs for the clock's time "+t.UTC().Format(form)+": use one of these, or correct the clock")
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

// ExpiresAt returns when the timestamps run out: the first time without a timestamp.
func (m *Mint) ExpiresAt() time.Time { return m.timeOf(m.last + 1) }

// Epoch returns the epoch of a configuration in Unix milliseconds, or def if epoch is the zero
// time. It returns a ConfigError if the epoch is not in whole milliseconds.
func Epoch(format string, epoch time.Time, def int64) (int64, error) {
	ms := clock.Epoch(epoch, def)
	if !epoch.IsZero() && !time.UnixMilli(ms).Equal(epoch) {
		return 0, wrong.Config(format, "Epoch", epoch, "a time in whole milliseconds that an int64 holds")
	}
	return ms, nil
}
