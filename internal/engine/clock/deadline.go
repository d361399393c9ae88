package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Deadline is a moment before which a state surely lasts, such as the tick of a reading of the
// clock. To check a Deadline is cheaper than to read the clock: 9 ns with the processor's counter
// and 22 ns without, against 42 ns, on the machine of the benchmarks.
//
// A Deadline is a count of the processor's counter (see cycles). With the lowest bit set, a
// Deadline is a reading of the system's monotonic clock, in nanoseconds from start. The zero
// Deadline is past.
//
// A Deadline comes early, never late: the counter is read before the clock, and the rate has a
// margin. docs/design/ids.md says what happens when a machine is suspended or moved. Uniqueness and
// order do not depend on Deadlines: the word alone gives both, at any time that its callers
// believe.
type Deadline uint64

const (
	bySystem Deadline = 1 // set if the Deadline is of the monotonic clock

	// maxAhead is longer than any tick, in either counter, at up to 8 GHz.
	maxAhead = 1 << 25
)

// start is before every reading: the monotonic clock counts from start.
var start = time.Now()

// Ahead reports whether the moment is still to come.
func (d Deadline) Ahead() bool { return d.AheadByCycles() || d.AheadBySystem() }

// AheadByCycles reports whether the Deadline is of the processor's counter, and ahead. With
// AheadBySystem it does the work of Ahead, and the compiler inlines each of the two.
func (d Deadline) AheadByCycles() bool { return d&bySystem == 0 && d.after(cycles()) }

// AheadBySystem reports whether the Deadline is of the monotonic clock, and ahead.
func (d Deadline) AheadBySystem() bool {
	return d&bySystem != 0 && d.after(uint64(time.Since(start)))
}

// after reports whether the moment comes after count. It does not believe a moment that is further
// off than a tick. The processor's counter can start again from 0 while the machine is suspended,
// and an old Deadline would then be ahead for long.
func (d Deadline) after(count uint64) bool { return uint64(d)-count-1 < maxAhead }

// A Mark is a moment in both counters.
type Mark struct {
	cycles uint64 // 0 if the processor's counter is not to be used
	system time.Duration
}

// Mark reads the clock. It returns the reading and a moment that is not later than the reading. A
// program's own clock has no such moment: its Mark is zero.
func (c Clock) Mark() (time.Time, Mark) {
	if c.read != nil {
		return c.read(), Mark{}
	}
	// Both counters are read before the clock. The monotonic reading in t is later than the wall
	// clock's: a caller may be held up in between, and its Deadline would come late.
	m := Mark{system: time.Since(start)}
	if haveCycles {
		m.cycles = cycles()
	}
	t := time.Now()
	// In a bubble of testing/synctest only the sleeps of its goroutines pass time, and the
	// processor's counter runs on. Times of a bubble have no monotonic reading.
	if haveCycles && (t == t.Round(0) || !processor.usable(m.system)) {
		m.cycles = 0
	}
	if set := Set.Load(); set != nil {
		t = (*set)(t)
	}
	return t, m
}

// In returns the Deadline at the time left after the mark. left must be at most a few milliseconds.
// The Deadline of a zero Mark is past.
func (m Mark) In(left time.Duration) Deadline {
	switch {
	case m.cycles != 0:
		if d := Deadline(m.cycles+uint64(left)*processor.rate.Load()>>rateShift) &^ bySystem; d != 0 {
			return d
		}
		return 0
	case m.system != 0:
		return Deadline(m.system+left-1) | bySystem // less 1, since the bit can add 1
	}
	return 0
}

// A pace is the measured rate of the processor's counter.
type pace struct {
	// rate is the number of cycles in a nanosecond, times 1<<rateShift, less the margin; 0 while
	// the counter is not to be used.
	rate atomic.Uint64
	due  atomic.Int64 // when to look again, by the monotonic clock

	mu      sync.Mutex    // guards the fields below; callers that find it locked use the old rate
	asked   time.Duration // when the system was last asked whether to trust the counter
	trusted bool          // the system's answer
	cycles  uint64        // the counter at the last look
	system  time.Duration // the monotonic clock at the last look
	exact   uint64        // rate without the margin
}

var processor pace

const (
	rateShift = 24

	lookEvery    = 10 * time.Millisecond // time between two looks
	confirmEvery = time.Second           // time between two questions to the system
	maxJitter    = 1 << 13               // most cycles that a look may take
)

// usable reports whether to use the counter now. If a look is due, usable looks first.
func (p *pace) usable(now time.Duration) bool {
	if int64(now) >= p.due.Load() && p.mu.TryLock() {
		before := cycles()
		now := time.Since(start)
		after := cycles()
		p.look(before, now, after, trusted)
		p.mu.Unlock()
	}
	return p.rate.Load() != 0
}

// look compares the counters. now was read between before and after. ask asks the system whether to
// trust the counter.
func (p *pace) look(before uint64, now time.Duration, after uint64, ask func() bool) {
	if p.asked == 0 || now >= p.asked+confirmEvery {
		p.asked, p.trusted = now, ask()
	}
	if !p.trusted {
		p.rate.Store(0)
		p.cycles, p.exact = 0, 0
		p.due.Store(int64(now + confirmEvery))
		return
	}
	if after-before > maxJitter { // the caller was held up in between, or the counter went back
		p.due.Store(int64(now + lookEvery/10))
		return
	}
	p.due.Store(int64(now + lookEvery))
	count := before + (after-before)/2
	passed, counted := uint64(now-p.system), count-p.cycles
	switch {
	case p.cycles == 0: // the first look has no rate yet
	case passed < uint64(lookEvery/2) || passed > uint64(time.Hour) || counted > 1<<(63-rateShift):
		// Too short or too long to measure a rate. Without a rate the counter is not used.
		p.exact = 0
	default:
		exact := counted << rateShift / passed
		if p.exact != 0 && max(exact, p.exact)-min(exact, p.exact) > p.exact>>9 {
			// The rates of two looks differ by more than 0.2 %. The machine may have been moved to
			// a host whose counter runs at another rate, or the system's clock may have been made
			// to run faster (adjtimex allows 10 %). Do not use the counter before two looks agree
			// again.
			exact = 0
		}
		p.exact = exact
	}
	p.cycles, p.system = count, now
	// The system slews its clocks by up to 0.05 %, and the processor's counter does not follow. A
	// margin of 0.4 % makes Deadlines early enough.
	p.rate.Store(p.exact - p.exact>>8)
}
