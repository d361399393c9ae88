// Package mint turns readings of the clock into words that were never issued before. All formats
// but sno share this policy. The word of internal/engine/words knows no clock. A format knows the meaning
// of the word's bits. The mint stands between the two.
//
// Formats call Fast first, and Next or TryNext if Fast has no word. NextRun serves Fill and Seq, and
// TryRun serves TryFill.
// Every word that takes a decision comes from reserve:
//
//	Fast ──────────────────────────────▶ words.Word    one look at a counter, one addition
//	NextRun ─▶ fastRun ────────────────▶ words.Word    the same for a run
//	Next ────▶ NextRun ─┬──────────────▶ reserve
//	                    └▶ queue.Stand ─▶ reserve      in the queue, for as long as the context allows
//	TryNext ───────────────────────────▶ reserve      never waits
//	TryRun ──▶ fastRun, then ──────────▶ reserve      never waits
//
//	reserve ─▶ reserveAt ─▶ issue ─────▶ words.Word    one reading of the clock, one request
//
//	mint.go      configuration, the calls of formats, the fast paths
//	reserve.go   decisions: exhausted ticks, clock steps, fences, callers in the queue
//	policy.go    settings, pauses, errors, the range of timestamps
//	grant.go     the calls of a lease, by way of internal/engine/fence
//
// A word is the timestamp, in the format's unit and epoch, above the sequence. Timestamp 0 is never
// minted: an epoch is a time in the past, and the word 0 means that nothing was issued.
//
// The clock is read exactly to begin a tick. A deadline then stands for the clock until the tick
// ends, at a fraction of the cost: see clock.Deadline. An ID's time is wrong by at most a tick.
package mint

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/engine/batch"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/engine/fence"
	"github.com/firn-id/firn/internal/engine/queue"
	"github.com/firn-id/firn/internal/engine/steps"
	"github.com/firn-id/firn/internal/engine/tally"
	"github.com/firn-id/firn/internal/engine/words"
	"github.com/firn-id/firn/usage"
)

// DefaultMaxBackward is how far a clock may be behind the last ID for a generator to wait.
const DefaultMaxBackward = 5 * time.Second

// Config says how a format's words are made. A format validates its settings first.
type Config struct {
	Format string // the first word of every error
	Micro  bool   // the unit is the microsecond, not the millisecond
	Epoch  int64  // units from the Unix epoch to timestamp 0
	First  uint64 // the first timestamp to mint; 0 means 1
	Last   uint64 // the last timestamp to mint
	Bits   uint   // width of the sequence
	Field  uint   // width of the sequence's field in a word, with room for additions; 0 for no room

	// The sequence starts at 0 in each tick, or as one of these fields says.
	Continue  bool // the sequence continues from tick to tick in its lower half
	StartBits uint // a tick's sequence starts at a random number of this many bits
	StepBits  uint // above 1, it starts at any number and rises by random steps in [1, 2^StepBits)

	MaxBackward time.Duration // 0 means DefaultMaxBackward; negative, none
	Hold        bool          // if the clock is behind by up to MaxBackward, continue in the last tick
	Rewind      bool          // if the clock is further behind, start afresh at the clock's time
	Worker      uint64        // the worker's bits, in place in an ID
	Leased      bool          // issue nothing until Grant gives a worker and an interval
	Exhausted   error         // the error of TryNext in an exhausted tick

	Clock func() time.Time // nil for the system's clock
	Rand  *entropy.Source  // required with StartBits or StepBits
}

// sealMark is above the time of all words that Step adds to; see words.Word.Seal.
const sealMark = 1 << 63

// Mint issues the words of one generator. It is safe for concurrent use. The zero Mint returns
// iderr.ErrNotReady.
type Mint struct {
	word words.Word

	// deadline is a moment within the tick of the last word: the tick surely lasts until then.
	//
	//	writer callers that have issued a word of the tick of an exact reading of the clock, after
	//	       the word. A caller that finds the deadline ahead therefore finds the word in this
	//	       tick, or in a later tick that has begun by then
	//	holds  neither uniqueness nor order depends on the deadline
	deadline atomic.Uint64

	// Init writes everything below once. Only queue, fence and tally change later.

	limit     uint64 // number of words in a tick
	mask      uint64 // the bits of the sequence's field
	bits      uint8  // width of the sequence's field
	plain     bool   // Fast is Step alone
	additive  bool   // words come from Step: the field has room for additions
	continues bool   // the sequence continues from tick to tick
	startBits uint8
	micro     bool
	clock     clock.Clock
	epoch     int64
	first     uint64
	last      uint64
	policy
	rand  *entropy.Source
	steps *steps.Steps // nil without random steps

	queue queue.Queue
	fence fence.Fence

	leased bool // by a lease, which grants its intervals

	tally tally.Tally
}

// Init prepares m. Call Init once, before any other method.
func (m *Mint) Init(c Config) {
	m.clock = clock.New(c.Clock)
	m.epoch, m.micro = c.Epoch, c.Micro
	m.first, m.last = max(c.First, 1), c.Last
	m.bits = uint8(max(c.Bits, c.Field))
	m.limit, m.mask = 1<<c.Bits, 1<<m.bits-1
	m.startBits, m.rand = uint8(c.StartBits), c.Rand
	m.additive = c.Field > c.Bits
	m.plain = m.additive
	if c.StepBits > 1 {
		// The sequence counts words, and half of the field is room. A tick hardly ever has more
		// values.
		m.steps = new(steps.Steps)
		m.steps.Init(uint(m.bits), c.Bits, c.StepBits, c.Rand.Read64)
		m.limit = min(m.limit, 1<<(m.bits-1))
		m.startBits = 0 // of the count
		m.additive, m.plain = true, false
	}
	m.queue.Name = c.Format
	m.policy = newPolicy(c)
	m.word.Raise(1 << m.bits)
	if m.continues = c.Continue; m.continues {
		m.word.Replace(0, m.limit-1) // the first tick begins at 0
	}
	m.fence.Fix(c.Worker)
	m.leased = c.Leased
	if c.Leased {
		m.fence.Await()
	} else {
		m.word.Open()
	}
	m.tally.Init(m.tallied(c), m.word.Last())
}

// tallied returns the words of a mint for its tally.
func (m *Mint) tallied(c Config) tally.Config {
	t := tally.Config{Shift: uint(m.bits), Most: m.limit - 1, PerSecond: uint64(time.Second / m.unit)}
	per := int64(t.PerSecond)
	t.Offset = uint64((m.epoch%per + per) % per)
	mean := m.limit // words of a tick
	switch {
	case m.steps != nil: // a step is 2^(StepBits-1) in the mean, and half of the values are after the start
		mean = max(min(mean, 1<<(c.Bits-min(c.StepBits, c.Bits))), 1)
	case m.startBits > 0:
		mean -= (1<<m.startBits - 1) / 2
	}
	t.Capacity = mean * t.PerSecond
	return t
}

// Usage returns the counters of the mint.
func (m *Mint) Usage() usage.Usage { return m.tally.Read(m.tickOf(m.clock.Now()), m.word.Last) }

// Next issues a word. If necessary, it waits for the next tick, or for a clock that is behind, as
// long as ctx allows. It looks at ctx only in waits. Call Fast first.
func (m *Mint) Next(ctx context.Context) (uint64, error) {
	word, _, err := m.NextRun(ctx, 1) // which tries the fast path again before it reads the clock
	return word, err
}

// NextRun is Next for a run of up to n consecutive words of one tick. It returns the first word and
// the length of the run. n must be positive.
func (m *Mint) NextRun(ctx context.Context, n int) (uint64, int, error) {
	if word, run, ok := m.fastRun(n); ok {
		return word, run, nil
	}
	if word, run, o := m.reserve(n, false); o.kind == issued {
		return word, run, nil
	}
	m.tally.Wait()
	return m.queue.Stand(ctx, n, (*source)(m))
}

// Single reports whether a run of NextRun has one word. A caller that wants more words calls Fast.
func (m *Mint) Single() bool { return m.steps != nil }

// Await issues a word as Next does, but waits as long as necessary: also for a clock that is far
// behind, for a clock before the epoch, and for ever after the last timestamp. Call Fast first. Await
// is for a mint without a lease, which could end.
func (m *Mint) Await() uint64 {
	for {
		word, err := m.Next(context.Background())
		if err == nil {
			return word
		}
		m.clock.Await(err)
	}
}

// TryNext issues a word of the present tick, or returns an error. It never waits. Call Fast first.
func (m *Mint) TryNext() (uint64, error) {
	word, _, o := m.reserve(1, false)
	if o.kind != issued {
		return 0, m.errorOf(o)
	}
	return word, nil
}

// TryRun is NextRun without a wait. It returns the errors of TryNext.
func (m *Mint) TryRun(n int) (uint64, int, error) {
	if word, run, ok := m.fastRun(n); ok {
		return word, run, nil
	}
	word, run, o := m.reserve(n, false)
	if o.kind != issued {
		return 0, 0, m.errorOf(o)
	}
	return word, run, nil
}

// Seq returns an iterator over n IDs of a mint, or without end if n is negative. The function fill
// fills the beginning of dst with the IDs of a run of NextRun. It returns the run's first word and
// length.
func Seq[ID any](m *Mint, n int, fill func(dst []ID) (uint64, int, error)) iter.Seq2[ID, error] {
	return batch.Seq(n, &m.word, m.mask, fill, func(n int) { m.tally.Add(uint64(n)) })
}

// Fast issues a word if no decision is necessary: nobody stands in the queue, the tick of the last word
// continues, and the next word is in this tick and below the fence.
func (m *Mint) Fast() (uint64, bool) {
	d := clock.Deadline(m.deadline.Load())
	if m.queue.Busy() || !d.AheadByCycles() && !d.AheadBySystem() {
		return 0, false
	}
	if !m.plain {
		if m.steps != nil {
			return m.fastSteps()
		}
		return m.fastSwap()
	}
	word, ok := m.word.Step(m.limit, m.mask)
	if !ok {
		m.missed(word)
		return 0, false
	}
	return word, true
}

// missed ends a failed Step of the word.
func (m *Mint) missed(word uint64) {
	m.word.Trim(m.limit, m.mask)
	m.tally.Missed(word)
}

// fastSwap is Fast for words that Step cannot make: the field has no room.
func (m *Mint) fastSwap() (uint64, bool) {
	for {
		last := m.word.Last()
		next := last + 1
		if (last^next)>>m.bits != 0 {
			return 0, false
		}
		switch m.word.Replace(last, next) {
		case words.Issued:
			return next, true
		case words.Fenced:
			return 0, false
		}
	}
}

// fastSteps is Fast for words with random steps.
func (m *Mint) fastSteps() (uint64, bool) {
	s := m.steps
	look := s.Look()
	if word, ok := m.word.Step(m.limit, m.mask); ok {
		if value, ok := s.At(look, word); ok {
			return word&^m.mask | value, true
		}
		word, verdict := m.step(word)
		return word, verdict == words.Issued
	} else {
		m.missed(word)
	}
	return 0, false
}

// step replaces the count in an issued word by its value. If the tick has no value left, step leaves
// out the rest of the tick's words. The next request then finds the tick exhausted.
func (m *Mint) step(word uint64) (uint64, words.Verdict) {
	value, verdict := m.steps.Find(word)
	if verdict == words.Issued {
		return word&^m.mask | value, verdict
	}
	m.tally.Drop(1)
	if verdict == words.Exhausted {
		m.tally.Pass(word&^m.mask+m.limit, m.word.Pass)
	}
	return 0, verdict
}

// fastRun is Fast for a run of up to n words.
func (m *Mint) fastRun(n int) (uint64, int, bool) {
	if m.queue.Busy() || !clock.Deadline(m.deadline.Load()).Ahead() {
		return 0, 0, false
	}
	if m.steps != nil {
		word, ok := m.fastSteps()
		return word, 1, ok
	}
	// The tick has begun: the floor is below the last word, and Reserve uses no start.
	floor := m.word.Last() &^ m.mask
	word, run, _, verdict := m.word.Reserve(floor, 0, floor+m.limit, n)
	return word, run, verdict == words.Issued && word&^m.mask == floor
}

// Worker returns the bits of the word's worker.
func (m *Mint) Worker(word uint64) uint64 { return m.fence.Worker(word >> m.bits) }
