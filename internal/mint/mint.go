// Package mint turns readings of the clock into words that were never issued
// before: the policy that all formats but sno share, between the word of internal/tick,
// which knows no clock, and a format, which knows what the words' bits mean.
//
//	fast path   one look at a counter, one atomic addition   mint.go
//	policy      spent ticks, clock steps, fences, errors     policy.go
//	waiting     callers in line for the next tick            internal/line
//	allotment   what a lease lets a mint do                  allot.go, internal/fence
//
// A word is the timestamp, in the format's unit and epoch, above the sequence.
// Timestamp 0 is never minted: an epoch is a time in the past, and the word 0
// says that nothing was issued.
//
// The clock is read exactly to begin a tick. From then on, to the end of the tick, it
// is enough to know that this has not come, which costs a fraction of a reading: see
// clock.Deadline. So an ID's time is never off by more than a tick.
package mint

import (
	"context"
	"iter"
	"math"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/batch"
	"github.com/firn-id/firn/internal/clock"
	"github.com/firn-id/firn/internal/entropy"
	"github.com/firn-id/firn/internal/fence"
	"github.com/firn-id/firn/internal/line"
	"github.com/firn-id/firn/internal/tick"
)

// DefaultMaxBackward is how far a clock may be behind the last ID before a
// generator gives an error rather than wait.
const DefaultMaxBackward = 5 * time.Second

// Config says how a format's words are made. Formats fill it in from settings
// they have validated.
type Config struct {
	Format string // the first word of every error
	Micro  bool   // the unit is the microsecond; else the millisecond
	Epoch  int64  // units from the Unix epoch to timestamp 0
	First  uint64 // the first timestamp that may be minted; 0 means 1
	Last   uint64 // and the last
	Bits   uint   // width of the sequence
	Field  uint   // width of its field in a word, with room for words to be added; 0 if there is none

	Continue  bool // the sequence goes on counting from tick to tick
	StartBits uint // a tick's sequence starts at a random number of so many bits
	StepBits  uint // it grows by random steps in [1, 2^StepBits); 0 and 1 mean by 1

	MaxBackward time.Duration // 0 means DefaultMaxBackward; negative, none
	Hold        bool          // a clock behind by up to MaxBackward: go on in the last tick
	Rewind      bool          // a clock further behind: start afresh at the clock's time
	Worker      uint64        // the bits of the worker that the words are of, in place in an ID
	Leased      bool          // issue nothing until Allot says which worker and which ticks
	Exhausted   error         // what TryNext says when the tick is spent

	Clock func() time.Time // nil for the system's
	Rand  *entropy.Source  // needed with StartBits or StepBits
}

// sealMark is above the time of all words that are added; see tick.Word.Seal.
const sealMark = 1 << 63

// Mint issues the words of one generator. It is safe for concurrent use. The
// zero Mint issues nothing and says so.
type Mint struct {
	word tick.Word

	// lasts is a moment up to which the tick of the last word surely goes on.
	//
	//	writer whoever has issued a word of the tick of an exact reading of the clock, after
	//	       that: so a caller who finds the moment still to come finds the word in
	//	       that tick, or in a later one, which has begun then
	//	holds  nothing that uniqueness or order rest on
	lasts atomic.Uint64

	// Everything below is written once, by Init, but for the line.

	limit uint64 // how many words a tick has
	mask  uint64 // of the sequence's field
	bits  uint8  // of the same
	adds  bool   // the field has room for words that are added
	draws bool   // starts or steps are random
	start uint8
	step  uint8
	micro bool

	clock clock.Clock
	epoch int64
	first uint64
	last  uint64
	keep  uint64 // the sequence's bits if it goes on counting, else 0
	policy

	rand *entropy.Source
	line line.Line

	fence  fence.Fence // by way of allotment
	leased bool
}

// Init readies m. It must come before any other call, and once.
func (m *Mint) Init(c Config) {
	m.clock = clock.New(c.Clock)
	m.epoch, m.micro = c.Epoch, c.Micro
	m.first, m.last = max(c.First, 1), c.Last
	m.bits = uint8(max(c.Bits, c.Field))
	m.limit, m.mask = 1<<c.Bits, 1<<m.bits-1
	m.adds = c.Field > c.Bits && c.StartBits == 0 && c.StepBits <= 1
	if c.Continue {
		m.keep = m.mask
	}
	m.start, m.step = uint8(c.StartBits), uint8(max(c.StepBits, 1))
	m.draws = m.start > 0 || m.step > 1
	m.rand = c.Rand
	m.line.Name = c.Format
	m.policy = newPolicy(c)
	m.word.Raise(1 << m.bits)
	m.word.Replace(0, m.keep&(m.limit-1)) // a sequence that goes on counting goes on to 0
	m.fence.Fix(c.Worker)
	m.leased = c.Leased
	if c.Leased {
		m.fence.Refuse(iderr.ErrFenced)
	} else {
		m.word.Open()
	}
}

// Next issues a word, waiting for the next tick or for a clock that is behind if it
// must, as long as ctx allows. It looks at ctx only when it has to wait. It is for
// callers who have no word by Fast.
func (m *Mint) Next(ctx context.Context) (uint64, error) {
	word, _, err := m.NextRun(ctx, 1) // which looks again before it stands in line
	return word, err
}

// NextRun is Next for a run of up to n consecutive words of one tick; it returns the
// first of them and their number. n must be positive.
func (m *Mint) NextRun(ctx context.Context, n int) (uint64, int, error) {
	if word, run, ok := m.fastRun(n); ok {
		return word, run, nil
	}
	if !m.line.Busy() {
		if word, run, r := m.try(n); r.kind == none {
			return word, run, nil
		}
	}
	return m.line.Stand(ctx, n, (*source)(m))
}

// Seq returns an iterator over n IDs of a mint, or without end if n is negative, in runs that make
// takes from NextRun: it returns the first word of a run, and fills the beginning of dst with its IDs.
func Seq[ID any](m *Mint, n int, make func(dst []ID) (uint64, int, error)) iter.Seq2[ID, error] {
	return batch.Seq(n, &m.word, m.mask, make)
}

// Fast issues a word if that takes no decision: nobody stands in line, the tick of the
// last word goes on, and the word is below its end and the fence.
func (m *Mint) Fast() (uint64, bool) {
	d := clock.Deadline(m.lasts.Load())
	if m.line.Busy() || !d.AheadByCycles() && !d.AheadBySystem() {
		return 0, false
	}
	if !m.adds {
		return m.follow()
	}
	if word, ok := m.word.Step(m.limit, m.mask); ok {
		return word, true
	}
	m.word.Trim(m.limit, m.mask)
	return 0, false
}

// follow is Fast for words that cannot be added: their steps differ, or the sequence has no room above it.
func (m *Mint) follow() (uint64, bool) {
	step := uint64(1)
	if m.step > 1 {
		step = m.drawStep()
	}
	for {
		last := m.word.Last()
		next := last + step
		if (last^next)>>m.bits != 0 {
			return 0, false
		}
		switch m.word.Replace(last, next) {
		case tick.Issued:
			return next, true
		case tick.Fenced:
			return 0, false
		}
	}
}

// fastRun is Fast for a run of up to n words.
func (m *Mint) fastRun(n int) (uint64, int, bool) {
	if m.line.Busy() || !clock.Deadline(m.lasts.Load()).Ahead() {
		return 0, 0, false
	}
	if m.step > 1 {
		word, ok := m.follow()
		return word, 1, ok
	}
	// A tick that goes on has begun: its floor is below its words, and nothing of it is drawn.
	floor := m.word.Last() &^ m.mask
	word, run, verdict := m.word.Reserve(floor, 0, m.keep, floor+m.limit, n)
	return word, run, verdict == tick.Issued && word&^m.mask == floor
}

// went notes that a word of the tick of an exact reading of the clock was issued.
func (m *Mint) went(word uint64, t time.Time, at clock.Mark) {
	if m.micro || word>>m.bits != m.tick(t) {
		return // the tick is too short to be worth it; or it is not the clock's
	}
	m.lasts.Store(uint64(at.In(m.unit - time.Duration(t.Nanosecond())%m.unit)))
}

// tick returns t in the format's unit, since its epoch. A time before the epoch wraps,
// far out of range; so that none wraps back into it, a time beyond the horizon, which
// only a program's own clock can show, is out of range whatever the epoch.
func (m *Mint) tick(t time.Time) uint64 {
	s, ns := t.Unix(), int64(t.Nanosecond())
	switch {
	case uint64(s+clock.Horizon) > 2*clock.Horizon:
		return math.MaxUint64
	case m.micro:
		return uint64(s*1e6 + ns/1e3 - m.epoch)
	}
	return uint64(s*1e3 + ns/1e6 - m.epoch)
}

// inRange tells whether a tick may be minted in.
func (m *Mint) inRange(now uint64) bool { return now-m.first <= m.last-m.first }

// take asks the word for up to n words of the tick now.
func (m *Mint) take(now uint64, n int) (word uint64, run int, verdict tick.Verdict) {
	floor := now << m.bits
	ceil := floor + m.limit
	var init uint64
	step := uint64(1)
	if m.draws {
		init, step = m.draw(floor)
	}
	if n == 1 || m.step > 1 {
		word, verdict = m.word.Advance(floor, init, m.keep, step, ceil)
		return word, 1, verdict
	}
	return m.word.Reserve(floor, init, m.keep, ceil, n)
}

// draw returns a random start, if the tick at floor has none yet, and a random
// step. A tick that another caller begins in between ignores the start: words
// never fall below a floor they have reached.
func (m *Mint) draw(floor uint64) (init, step uint64) {
	if m.start > 0 && m.word.Last() < floor {
		init = m.rand.Uint64() >> (64 - m.start)
	}
	if m.step == 1 {
		return init, 1
	}
	return init, m.drawStep()
}

// drawStep returns a random step.
func (m *Mint) drawStep() (step uint64) {
	for step == 0 { // 2^n-1 values are as likely as each other only if 0 is drawn again
		step = m.rand.Uint64() >> (64 - m.step)
	}
	return step
}

// Worker returns the bits of the worker that a word is of.
func (m *Mint) Worker(word uint64) uint64 { return m.fence.Worker(word >> m.bits) }
