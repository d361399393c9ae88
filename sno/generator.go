package sno

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/batch"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/fence"
	"github.com/firn-id/firn/internal/engine/queue"
	"github.com/firn-id/firn/internal/engine/tally"
	"github.com/firn-id/firn/internal/engine/words"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/usage"
)

// defaultMaxBackward is the longest wait of Next for a clock in a time that both settings of the
// tick-tock bit have used.
const defaultMaxBackward = 5 * time.Second

// Generator is responsible for generating new IDs scoped to a given fixed Partition and managing
// their sequence. A Generator is safe for concurrent use, holds no lock during a wait, and starts
// no goroutine.
//
// A Generator must be constructed using NewGenerator: the zero value makes no IDs, and its New and
// NewWithTime panic. A Generator must not be copied.
type Generator struct {
	word words.Word // the last ID's time, tick-tock bit and sequence

	// lasts is a moment before the end of the unit of the last word.
	//
	//	writer a caller with a word of the unit of an exact reading of the clock, after the word;
	//	       and turn
	//	holds  nothing: uniqueness does not depend on lasts
	lasts atomic.Uint64

	// turns grows before each change of the tick-tock bit. A caller that sees turns change knows
	// that its reading of the clock is from before the change.
	turns atomic.Uint32

	queue queue.Queue

	// The constructor writes the fields below once, except fields that are atomic or guarded by mu.

	clock       clock.Clock
	min, max    uint64
	maxBackward time.Duration
	overflow    overflow // for the leader of the queue alone
	fence       fence.Fence
	leased      bool

	separate atomic.Uint32 // the sequence of NewWithTime: the number of the next ID

	taking atomic.Bool // a Snapshot reads the clock

	// mu guards changes of the tick-tock bit, safe and drifts. No caller reads the clock with mu
	// held: a clock can be a program's own.
	mu     sync.Mutex
	safe   uint64 // the last unit that the other setting of the bit has used
	drifts uint32 // how often the bit was changed

	tally tally.Tally
}

// Config has all settings of a [Generator]. The zero Config is a partition of the process, for a
// system with one process.
type Config struct {
	// Snapshot is as in NewGenerator; nil means a partition of the process.
	Snapshot *GeneratorSnapshot

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a partition and intervals. Leave Snapshot nil: the lease takes its place.
	Leased bool

	// Overflow receives notifications; see SequenceOverflowNotification. It may be nil. A closed
	// channel receives no more notifications.
	Overflow chan<- *SequenceOverflowNotification

	// MaxBackward is the longest wait of Next for a clock in a time that both settings of the
	// tick-tock bit have used, or for the next grant of a lease. Next returns an error instead of a
	// longer wait. 0 means 5 s; a negative value, no wait. New waits as long as necessary. For the
	// first grant of a lease that starts in the background, Next also waits as long as necessary.
	MaxBackward time.Duration

	// Clock is read for the time; nil means time.Now. It is for tests. A Clock may take a Snapshot
	// of the generator.
	Clock func() time.Time
}

// NewGenerator returns a new generator based on the optional snapshot, which notifies the optional
// channel of overflows. Without a snapshot, the generator gets a partition that no other generator
// of the process has: for a system with one process. If all partitions are taken, the error is a
// *[PartitionPoolExhaustedError].
//
// A snapshot with a sequence out of bounds is an *[InvalidSequenceBoundsError]. A snapshot with a
// time out of range is a *[ConfigError], and so is a snapshot of a leased generator. A clock that is
// not after the epoch or is after the last timestamp is a *[TimeError]. An error takes no partition.
func NewGenerator(snapshot *GeneratorSnapshot, c chan<- *SequenceOverflowNotification) (*Generator, error) {
	return NewGeneratorWith(Config{Snapshot: snapshot, Overflow: c})
}

// NewGeneratorWith is [NewGenerator] with all settings.
func NewGeneratorWith(c Config) (*Generator, error) {
	g, err := newGenerator(c)
	if err != nil {
		return nil, err
	}
	var r refusal
	if !g.read(&r) {
		return nil, g.err(r)
	}
	if c.Snapshot == nil && !c.Leased {
		// Last, so that no partition is used up by a generator that is refused.
		partition, err := partitions.take()
		if err != nil {
			return nil, err
		}
		g.fence.Fix(uint64(partition.AsUint16()))
	}
	return g, nil
}

// newGenerator returns a generator with the partition of the snapshot, for any time of the clock.
func newGenerator(c Config) (*Generator, error) {
	var s GeneratorSnapshot
	if c.Snapshot != nil {
		s = *c.Snapshot
	}
	if err := s.sanitize(); err != nil {
		return nil, err
	}
	switch {
	case c.Leased && c.Snapshot != nil:
		return nil, wrong.Config(format, "Snapshot", "given", "nil beside Leased: a lease takes its place, so leave out one of the two")
	case s.Leased:
		return nil, wrong.Config(format, "Snapshot", "of a leased generator",
			"one of a generator with a partition of its own: a lease needs no snapshot, so make a generator with Config.Leased and start a lease for it")
	}
	g := &Generator{
		clock: clock.New(c.Clock), maxBackward: c.MaxBackward,
		min: uint64(s.SequenceMin), max: uint64(s.SequenceMax),
		overflow: overflow{notify: c.Overflow}, leased: c.Leased,
		safe: uint64(s.WallSafe), drifts: s.Drifts,
	}
	g.queue.Name = format
	g.separate.Store(uint32(s.SequenceMin))
	if c.MaxBackward == 0 {
		g.maxBackward = defaultMaxBackward
	}
	g.fence.Fix(uint64(s.Partition.AsUint16()))
	g.word.Pass(uint64(s.WallHi)<<unitShift | uint64(s.Drifts&1)*tickTock | min(uint64(s.Sequence), g.max) + 1)
	perSecond := uint64(time.Second / TimeUnit)
	g.tally.Init(tally.Config{
		Shift: lineShift, Least: g.min, Most: g.max, PerSecond: 2 * perSecond, Capacity: uint64(g.Cap()) * perSecond,
	}, g.word.Last())
	if c.Leased {
		g.fence.Await()
	} else {
		g.word.Open()
	}
	return g, nil
}

// New generates a new ID using the current system time for its timestamp.
//
// New waits for the next time unit if the sequence of this unit is used up. If the clock has gone
// back a second time, New waits for a time that one setting of the tick-tock bit has not used. New
// has no error to return, and therefore also waits for a clock before the epoch, for the grant of a
// lease, for hours if the lease starts in the background while its store is down, and for ever after
// the last timestamp: see [Generator.Next]. It never returns the zero ID.
// Once the lease of a Generator is closed, no grant can come, and New panics with the error that
// Next returns. New also panics for a Generator that NewGenerator did not make. New does not
// allocate, except in waits for a clock that are longer than the waits of Next.
func (g *Generator) New(meta byte) ID {
	word, ok := g.fast()
	if !ok {
		return g.newSlowly(meta)
	}
	var id ID
	g.put(&id, word, meta)
	return id
}

// newSlowly is New for a caller without a word from fast.
func (g *Generator) newSlowly(meta byte) ID {
	for {
		id, err := g.Next(context.Background(), meta)
		if err == nil {
			return id
		}
		switch {
		case errors.Is(err, iderr.ErrNotReady):
			panic(err)
		case g.fence.Sealed():
			panic(g.fence.Err(format)) // err may be from before
		}
		g.clock.Await(err)
	}
}

// Next is [Generator.New] with a context and errors. It returns a *[ClockError] if the clock needs
// longer than Config.MaxBackward, 5 s by default, to leave a used time. Next returns a *[TimeError]
// if the clock is out of the range of timestamps, and an error that wraps the error of ctx if ctx
// ends during a wait. It reads ctx only to wait.
func (g *Generator) Next(ctx context.Context, meta byte) (ID, error) {
	word, ok := g.fast()
	if !ok {
		var err error
		if word, err = g.next(ctx); err != nil {
			return zero, err
		}
	}
	var id ID
	g.put(&id, word, meta)
	return id, nil
}

// TryNext is [Generator.Next] without waits. The error is [ErrExhausted] if the sequence of the
// time unit is used up or waiters will get the rest, and a *[ClockError] where Next waits for the
// clock.
func (g *Generator) TryNext(meta byte) (ID, error) {
	word, ok := g.fast()
	if !ok {
		var err error
		if word, _, err = g.tryRun(1); err != nil {
			return zero, err
		}
	}
	var id ID
	g.put(&id, word, meta)
	return id, nil
}

// Fill fills dst with new IDs, in order, and waits as [Generator.Next] does. It reserves as many
// IDs of a time unit at a time as possible. Fill returns the number of new IDs, and an error if
// that number is less than len(dst).
func (g *Generator) Fill(ctx context.Context, meta byte, dst []ID) (int, error) {
	return batch.Fill(dst, func(dst []ID) (uint64, int, error) { return g.some(ctx, meta, dst) })
}

// TryFill fills dst with new IDs, in order, and never waits. It returns the number of new IDs, and if
// that number is less than len(dst), the error of [Generator.TryNext]. The IDs are in the order of
// [Generator.Next].
//
// TryFill takes what the time unit has left, and continues in the next time unit only if the clock is
// there meanwhile. It is for a caller that asks another generator for the rest.
func (g *Generator) TryFill(meta byte, dst []ID) (int, error) {
	return batch.Fill(dst, func(dst []ID) (uint64, int, error) {
		word, run, ok := g.fastRun(len(dst))
		if !ok {
			var err error
			if word, run, err = g.tryRun(len(dst)); err != nil {
				return 0, 0, err
			}
		}
		g.putRun(dst[:run], word, meta)
		return word, run, nil
	})
}

// Seq returns an iterator over n new IDs, or over IDs without end if n is negative. The iterator
// waits as [Generator.Next] does. An error ends the iteration: the last pair is the zero ID and the
// error.
//
// Seq makes IDs in runs, as Fill does: up to 256 IDs for a fast loop, and one ID at a time for a
// slow loop. The time of an ID is the time of its run. Breaking out of the loop discards the rest
// of a run.
//
// IDs are in the order of [Generator.Next]. Other callers can have greater IDs meanwhile, but no ID
// of a later time unit: the rest of a run is discarded once another caller has an ID of a later
// time unit. If no other caller makes IDs, a loop that pauses continues with the run from before
// the pause.
func (g *Generator) Seq(ctx context.Context, meta byte, n int) iter.Seq2[ID, error] {
	return batch.Seq(n, &g.word, sequence, func(dst []ID) (uint64, int, error) { return g.some(ctx, meta, dst) },
		func(n int) { g.tally.Add(uint64(n)) })
}

// NewWithTime generates a new ID using the given time for the timestamp. A time out of the range of
// timestamps counts as the nearest time in range.
//
// These IDs are exempt from the tick-tock mechanism and use a sequence separate from New's, one
// that is independent of time: the sequence increases up to SequenceMax, then starts over at
// SequenceMin without waiting. Collisions due to the arbitrary time are left to the user.
// NewWithTime is meant for porting old IDs, before an ID scheme goes online. It skips the sequence
// of the zero ID.
func (g *Generator) NewWithTime(meta byte, t time.Time) ID {
	if g.max == 0 {
		panic(iderr.ErrNotReady)
	}
	u, _ := unitOf(t)
	for {
		seq := g.separate.Load()
		next := seq + 1
		if next > uint32(g.max) {
			next = uint32(g.min)
		}
		if !g.separate.CompareAndSwap(seq, next) {
			continue
		}
		if id := pack(u<<1, meta, g.Partition(), uint16(seq)); id != zero {
			return id
		}
	}
}

// ExpiresAt returns the end of the timestamps, in 2079. From then on Next, TryNext, Fill and
// TryFill return a *[TimeError].
func (g *Generator) ExpiresAt() time.Time { return timeOf(MaxTimestamp + 1) }

// Usage returns how much the generator has done since it was made, and how full it is. IDs of
// [Generator.NewWithTime] do not count.
func (g *Generator) Usage() usage.Usage {
	now, _ := unitOf(g.clock.Now())
	return g.tally.Read(now<<1, g.word.Last)
}

// Partition returns the fixed identifier of the Generator. With a lease, Partition returns the
// partition of the latest grant, and partition 0 before the first grant.
func (g *Generator) Partition() Partition {
	var p Partition
	p.PutUint16(uint16(g.fence.Latest()))
	return p
}
