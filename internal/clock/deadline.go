package clock

import (
	"sync"
	"sync/atomic"
	"time"
)

// A Deadline is a moment before which something surely goes on, such as the tick of a reading of
// the clock. To ask it is cheaper than to read the clock again: 9 ns where the processor's
// counter is to be had, 22 ns elsewhere, against 42 ns, on the machine of the benchmarks.
//
// It is a reading of a counter: of the processor's (see cycles) or, with the lowest bit set, of
// the system's monotonic clock, in nanoseconds from start. The zero Deadline is past.
//
// # Why this is right
//
// A Deadline is made of an exact reading of the clock and of a counter that was read before it,
// so what is left of the tick is counted from a moment that is too early, never too late. From then on:
//
//   - Slewing changes how fast the system's clocks run, the monotonic one and the wall clock alike, by
//     0.05 % at the most; the processor's counter keeps its own pace. A Deadline in that counter is set 0.4 %
//     too early for that. A clock that is made to run faster still (adjtimex can, by 10 %) no
//     longer agrees with the counter, which is noticed within 10 ms: then it is used no more.
//   - A step of the wall clock is noticed when the tick ends, in the counter's time: at most one tick later
//     than by reading the clock each time.
//   - While the machine is suspended the counter may stand still, go on or start again from 0. If it goes on the
//     Deadline is past. If it starts again it is too far from the Deadline to be
//     believed: one holds for no longer than window. If it stands still, only the rest of the
//     tick is left to run after it: to freeze and to thaw the processes takes the
//     kernel longer than that, with the counter running. A virtual machine that is paused or
//     moved from outside has neither: its processes cannot tell, and the first of their IDs may have a
//     time from before, as from a caller that was held up between its reading of the clock and
//     its ID. That goes on for less than a tick of running time.
//   - Moved to a host whose counter runs at another pace, unscaled, a virtual machine may find a tick
//     longer than it is until that is noticed, within 10 ms.
//
// Uniqueness and order rest on none of this: the word is what makes them, whatever
// time its callers believe it to be.
type Deadline uint64

const (
	bySystem Deadline = 1 // the bit that tells the counters apart

	// window is longer than any tick is in either counter, at up to 8 GHz. Nothing
	// is believed to be further off than that.
	window = 1 << 25
)

// start is what the monotonic clock is counted from. It is before every reading.
var start = time.Now()

// Ahead tells whether the moment is yet to come.
func (d Deadline) Ahead() bool { return d.AheadByCycles() || d.AheadBySystem() }

// AheadByCycles and AheadBySystem are the two ways of Ahead, for callers who count each
// nanosecond: each is small enough to be no call.
func (d Deadline) AheadByCycles() bool { return d&bySystem == 0 && d.after(cycles()) }

// AheadBySystem is the other one.
func (d Deadline) AheadBySystem() bool {
	return d&bySystem != 0 && d.after(uint64(time.Since(start)))
}

func (d Deadline) after(count uint64) bool { return uint64(d)-count-1 < window }

// A Mark is a moment, in both counters.
type Mark struct {
	cycles uint64 // 0 if that counter is not to be used
	system time.Duration
}

// Mark reads the system's clock, and returns a moment that is not later than the reading.
func (c Clock) Mark() (time.Time, Mark) {
	if c.read != nil {
		return c.read(), Mark{}
	}
	var m Mark
	if haveCycles {
		m.cycles = cycles()
	}
	t := time.Now()
	m.system = t.Sub(start)
	// In a bubble of testing/synctest time passes by the sleeps of its goroutines, and the processor's
	// counter has no part in it. Such times have no monotonic reading.
	if haveCycles && (t == t.Round(0) || !processor.usable(m.system)) {
		m.cycles = 0
	}
	if set := Set.Load(); set != nil {
		t = (*set)(t)
	}
	return t, m
}

// In returns the Deadline of a time after the mark, which may not be longer than a few milliseconds.
// Of a mark of a clock that a program has brought along it is past.
func (m Mark) In(left time.Duration) Deadline {
	switch {
	case m.cycles != 0:
		if d := Deadline(m.cycles+uint64(left)*processor.rate.Load()>>rateShift) &^ bySystem; d != 0 {
			return d
		}
		return 0
	case m.system != 0:
		return Deadline(m.system+left-1) | bySystem // not later, for the bit
	}
	return 0
}

// pace is what is known of the processor's counter.
type pace struct {
	// rate is how many of its cycles are in a nanosecond, times 1<<rateShift, less the
	// margin; 0 if the counter is not to be used, not yet or not any more.
	rate atomic.Uint64
	due  atomic.Int64 // when to look again, by the system's monotonic clock

	mu      sync.Mutex // for what follows; who finds it held goes on with what is known
	looked  time.Duration
	cycles  uint64 // the counter at the time of system
	system  time.Duration
	exact   uint64 // rate without the margin
	trusted bool
}

var processor pace

const (
	rateShift = 24

	lookEvery    = 10 * time.Millisecond // between two looks
	confirmEvery = time.Second           // between two questions to the system
	maxJitter    = 1 << 13               // cycles within which both counters are read, or the look does not count
)

// usable tells whether the counter is to be used at that time, and sees to its pace.
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

// look compares the counters: now was read between before and after.
func (p *pace) look(before uint64, now time.Duration, after uint64, ask func() bool) {
	if p.looked == 0 || now >= p.looked+confirmEvery {
		p.looked, p.trusted = now, ask()
	}
	if !p.trusted {
		p.rate.Store(0)
		p.cycles, p.exact = 0, 0
		p.due.Store(int64(now + confirmEvery))
		return
	}
	if after-before > maxJitter { // held up in between; also if the counter goes back
		p.due.Store(int64(now + lookEvery/10))
		return
	}
	p.due.Store(int64(now + lookEvery))
	count := before + (after-before)/2
	passed, counted := uint64(now-p.system), count-p.cycles
	switch {
	case p.cycles == 0: // the first look
	case passed < uint64(lookEvery/2) || passed > uint64(time.Hour) || counted > 1<<(63-rateShift):
		// Too short to tell, or too long. Not known is not used.
		p.exact = 0
	default:
		exact := counted << rateShift / passed
		if p.exact != 0 && max(exact, p.exact)-min(exact, p.exact) > p.exact>>9 {
			// It does not run evenly, or the system's clock does not. The next looks tell.
			exact = 0
		}
		p.exact = exact
	}
	p.cycles, p.system = count, now
	p.rate.Store(p.exact - p.exact>>8)
}
