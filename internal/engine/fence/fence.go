// Package fence keeps the orders of a lease to a generator: the worker of its IDs, the ticks in
// which the generator may mint, and the error for other ticks.
//
// The fence of internal/engine/words guards the word itself. On the hot path, a generator calls only
// Worker.
package fence

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
)

// A Fence belongs to a generator. Call Fix before any other method.
type Fence struct {
	// newest is the interval of the latest ticks. The interval is stored before any word of the
	// interval can be issued. A caller with a word therefore finds the word's worker.
	newest atomic.Pointer[interval]

	// refusal is the error while there is nothing to mint; nil if there is, or soon will be.
	refusal atomic.Pointer[refusal]

	// ahead is the interval beyond a gap, until a caller enters the interval; otherwise nil.
	ahead atomic.Pointer[interval]

	// until is the end of the granted ticks, without the interval ahead. until and ahead are
	// written with mu held, until first.
	until atomic.Uint64

	sealed atomic.Bool

	mu sync.Mutex // held by leases, and by the first caller in the interval ahead
}

// A refusal is the error of callers that find nothing to mint.
type refusal struct {
	err   error
	waits bool // only of callers that cannot wait: the first grant may come
}

// An interval is a range of ticks of a worker. A generator whose worker is lost gets another worker
// for later ticks. The Fence keeps previous intervals, for slow callers with words of these ticks.
type interval struct {
	from     uint64
	until    uint64 // only for the interval ahead; the last interval ends at the fence's until
	worker   uint64 // the worker's bits, in place in an ID
	previous *interval
}

// Fix gives all ticks to a worker. A generator without a lease needs no other call.
func (f *Fence) Fix(worker uint64) { f.newest.Store(&interval{worker: worker}) }

// Worker returns the bits of the tick's worker.
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

// Latest returns the bits of the worker of the latest grant, whether or not its ticks have begun: 0
// before the first grant. Without a lease they are the bits that Fix was given, and 0 before Fix.
func (f *Fence) Latest() uint64 {
	if a := f.ahead.Load(); a != nil {
		return a.worker
	}
	if s := f.newest.Load(); s != nil {
		return s.worker
	}
	return 0
}

// A Word is the word of the generator, counted in ticks.
type Word interface {
	// PassTo leaves out the ticks before from.
	PassTo(from uint64)
	// RaiseTo allows the ticks before until.
	RaiseTo(until uint64)
	// SealTick ends the word, and returns the first tick without a minted word.
	SealTick() uint64
}

// Extend grants the ticks in [from, until) to the worker. Ticks granted before stay with the old
// worker: only later ticks of the interval are new, if there are any.
//
// After a gap, the interval stays ahead until a caller enters the interval. Then the word leaves
// out the ticks of the gap. This cannot be undone, and the clock may be wrong for a moment only. If
// another interval is already ahead, Extend drops the old interval or, if the new interval
// continues the old interval, joins the two.
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

// enter allows the ticks of an interval. mu is held.
//
// The order matters. First the word leaves out the ticks of the gap, without a worker. Then the new
// ticks are known as the worker's. Then the word may be of these ticks.
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

// Enter is for a caller whose word is fenced. If the caller's tick is in the interval ahead, Enter
// enters the interval. Enter reports in granted whether the tick is granted. If the tick is
// before the interval ahead, begins is the first tick of the interval. The caller must hold no lock
// that a Word needs.
func (f *Fence) Enter(word Word, tick uint64) (begins uint64, granted bool) {
	if f.ahead.Load() == nil {
		return 0, f.granted(tick) // another caller may have entered the interval meanwhile
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
	return 0, f.granted(tick)
}

// granted reports whether a tick is granted, without the interval ahead.
func (f *Fence) granted(tick uint64) bool { return !f.sealed.Load() && tick < f.until.Load() }

// Withdraw takes back the interval ahead. It returns the end of the granted ticks. Nothing was
// minted from this tick on.
func (f *Fence) Withdraw() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ahead.Store(nil)
	return f.until.Load()
}

// unleased is the refusal of Await.
var unleased = refusal{err: iderr.ErrFenced}

// Await is for a new generator: callers get an error until a lease calls another method.
func (f *Fence) Await() { f.refusal.Store(&unleased) }

// Refuse sets the error for callers that find nothing to mint. Extend clears the error.
func (f *Fence) Refuse(err error) { f.refuse(err, false) }

// Delay is Refuse for callers that cannot wait. Other callers wait: the first grant may come.
func (f *Fence) Delay(err error) { f.refuse(err, true) }

func (f *Fence) refuse(err error, waits bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sealed.Load() {
		return
	}
	if err == nil {
		err = iderr.ErrFenced
	}
	f.refusal.Store(&refusal{err, waits})
}

// errSealed is the error of a generator that was sealed without an error.
var errSealed = fmt.Errorf("%w: the generator is sealed: make another generator", iderr.ErrFenced)

// Seal ends the word for good. Callers get the error err from then on. Seal returns the first tick
// without a minted word.
func (f *Fence) Seal(word Word, err error) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.sealed.Load() {
		if err == nil {
			err = errSealed
		}
		f.sealed.Store(true)
		f.refusal.Store(&refusal{err: err})
		f.ahead.Store(nil)
		f.until.Store(word.SealTick())
	}
	return f.until.Load()
}

// Sealed reports whether the word has ended for good. It takes no lock, since its callers may hold
// a lock that a Word needs.
func (f *Fence) Sealed() bool { return f.sealed.Load() }

// noLease is the error after Await, of the generator's format.
type noLease string

func (format noLease) Error() string { return string(format) + ": no lease: call lease.Start" }

func (noLease) Unwrap() error { return iderr.ErrFenced }

// Err returns the error of a caller that finds nothing to mint.
func (f *Fence) Err(format string) error {
	why := iderr.ErrFenced
	switch refusal := f.refusal.Load(); {
	case refusal == &unleased:
		return noLease(format)
	case refusal != nil:
		why = refusal.err
	}
	return fmt.Errorf("%s: %w", format, why)
}

// ErrBefore returns the error of a caller at the time now, before the next interval: the error of
// Refuse, or an EarlyError.
func (f *Fence) ErrBefore(format string, begins, now time.Time) error {
	if !f.Waits() {
		return f.Err(format)
	}
	return &iderr.EarlyError{Format: format, Begins: begins, By: begins.Sub(now)}
}

// Waits reports whether the lease will soon grant more ticks or call Refuse. If so, callers should
// wait.
func (f *Fence) Waits() bool { return f.refusal.Load() == nil }

// Delayed returns the error of Delay, and nil after the next grant. Callers should wait for as long as
// they can.
func (f *Fence) Delayed() error {
	if r := f.refusal.Load(); r != nil && r.waits {
		return r.err
	}
	return nil
}
