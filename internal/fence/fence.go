// Package fence keeps what a lease tells a generator: the worker that its IDs are of,
// the ticks in which it may mint, and why it may not in others.
//
// The word itself is guarded by the fence of internal/tick. What is here is beside the
// hot path, but for Worker.
package fence

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
)

// A Fence is one generator's. Fix readies it.
type Fence struct {
	// newest says whose the latest ticks are. It is replaced before the first word of
	// its ticks can be issued, so whoever has a word finds its worker.
	newest atomic.Pointer[interval]

	// refusal is why there is nothing to mint; nil while there is, or soon will be.
	refusal atomic.Pointer[error]

	// ahead is what was allotted beyond a gap and not entered yet; nil if there is nothing.
	ahead atomic.Pointer[interval]

	// until is the first tick that was not allotted, but for those ahead. It and ahead are
	// written with mu held, and ahead last.
	until atomic.Uint64

	sealed atomic.Bool

	mu sync.Mutex // held by leases, and by the first caller in what is ahead
}

// interval is the ticks of one worker, from one on. A generator that loses its worker gets
// another for later ticks; the intervals before are kept, for callers who have a word of
// theirs and are slow.
type interval struct {
	from     uint64
	until    uint64 // of one that is ahead; of the others the fence's until tells
	worker   uint64 // the bits of the worker, in place in an ID
	previous *interval
}

// Fix gives all ticks to one worker. That is all for a generator without a lease.
func (f *Fence) Fix(worker uint64) { f.newest.Store(&interval{worker: worker}) }

// Worker returns the bits of the worker whose tick it is.
func (f *Fence) Worker(tick uint64) uint64 {
	s := f.newest.Load()
	if tick >= s.from {
		return s.worker
	}
	return s.earlier(tick)
}

func (s *interval) earlier(tick uint64) uint64 {
	for s.previous != nil && tick < s.from {
		s = s.previous
	}
	return s.worker
}

// A Word is what a Fence moves: the word of the generator, counted in ticks.
type Word interface {
	// PassTo leaves out the ticks before from.
	PassTo(from uint64)
	// RaiseTo allows the ticks before until.
	RaiseTo(until uint64)
	// SealTick ends the word, and returns the first tick in which it has minted nothing.
	SealTick() uint64
}

// Extend allots the ticks in [from, until) to the worker. They begin where what was
// allotted before ends, if that is later; nothing may be left of them.
//
// If they begin later than that, they are left ahead until a caller is there: the word would
// have to leave out the ticks between, which cannot be undone, and the clock that has them in
// the future may be wrong for a moment only. What was ahead before, and does not go on in
// them, is left out.
func (f *Fence) Extend(word Word, worker, from, until uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	from = max(from, f.until.Load())
	if f.sealed.Load() || until <= from {
		return
	}
	s := &interval{from: from, until: until, worker: worker}
	if a := f.ahead.Load(); a != nil && from == a.until && worker == a.worker {
		s.from = a.from
	}
	if from > f.until.Load() {
		f.ahead.Store(s)
	} else {
		f.enter(word, s)
	}
	f.refusal.Store(nil)
}

// enter lets the ticks of an interval be minted in. mu is held.
//
// First the ticks between are left out, which are nobody's to mint in, then the new ones are
// known as the worker's, then they may be minted in.
func (f *Fence) enter(word Word, s *interval) {
	if s.from > f.until.Load() {
		word.PassTo(s.from)
	}
	if last := f.newest.Load(); s.worker != last.worker {
		f.newest.Store(&interval{from: s.from, worker: s.worker, previous: last})
	}
	f.until.Store(s.until)
	word.RaiseTo(s.until)
	f.ahead.Store(nil)
}

// Enter is for a caller whose word is fenced: if its tick is in what is ahead, that is entered.
// It reports whether the tick is allotted or, if the tick is before what is ahead, where that
// begins. The caller holds nothing that a Word needs.
func (f *Fence) Enter(word Word, tick uint64) (begins uint64, again bool) {
	if f.ahead.Load() == nil {
		return 0, f.allotted(tick) // another caller may have been here in between
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch a := f.ahead.Load(); {
	case a == nil || tick >= a.until:
	case tick < a.from:
		return a.from, false
	default:
		f.enter(word, a)
	}
	return 0, f.allotted(tick)
}

// allotted reports whether a tick was allotted, what is ahead left aside.
func (f *Fence) allotted(tick uint64) bool { return !f.sealed.Load() && tick < f.until.Load() }

// Withdraw takes back what is ahead, and returns the first tick that is not allotted any more:
// nothing was minted from there on.
func (f *Fence) Withdraw() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ahead.Store(nil)
	return f.until.Load()
}

// Refuse sets the error that callers get who find nothing to mint. Extend lifts it.
func (f *Fence) Refuse(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sealed.Load() {
		return
	}
	if err == nil {
		err = iderr.ErrFenced
	}
	f.refusal.Store(&err)
}

// errSealed is what callers get of a generator that was sealed without an error.
var errSealed = fmt.Errorf("%w: the generator is sealed: make another generator", iderr.ErrFenced)

// Seal ends the word for good, with the error that callers get from then on, and returns
// the first tick in which it has minted nothing.
func (f *Fence) Seal(word Word, err error) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.sealed.Load() {
		if err == nil {
			err = errSealed
		}
		f.sealed.Store(true)
		f.refusal.Store(&err)
		f.ahead.Store(nil)
		f.until.Store(word.SealTick())
	}
	return f.until.Load()
}

// Sealed tells whether there will be nothing to mint for ever. It takes no lock: callers ask who
// hold what a Word needs.
func (f *Fence) Sealed() bool { return f.sealed.Load() }

// Err returns why there is nothing to mint.
func (f *Fence) Err(format string) error {
	why := iderr.ErrFenced
	if refusal := f.refusal.Load(); refusal != nil {
		why = *refusal
	}
	return fmt.Errorf("%s: %w", format, why)
}

// ErrBefore returns why there is nothing to mint at the time now, before an interval that
// begins later: what was refused, or an EarlyError.
func (f *Fence) ErrBefore(format string, begins, now time.Time) error {
	if !f.Waits() {
		return f.Err(format)
	}
	return &iderr.EarlyError{Format: format, Begins: begins, By: begins.Sub(now)}
}

// Waits tells whether more ticks will be allotted soon, or Refuse called: it is worth the
// wait to those who can.
func (f *Fence) Waits() bool { return f.refusal.Load() == nil }
