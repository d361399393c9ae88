package sno

import (
	"context"
	"errors"
	"iter"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/batch"
	"github.com/firn-id/firn/internal/clock"
	"github.com/firn-id/firn/internal/fence"
	"github.com/firn-id/firn/internal/line"
	"github.com/firn-id/firn/internal/tick"
)

// defaultMaxBackward is how long Next waits for a clock that is in an unsafe time.
const defaultMaxBackward = 5 * time.Second

// Generator is responsible for generating new IDs scoped to a given fixed Partition and
// managing their sequence. It is safe for concurrent use, holds no lock while it waits,
// and starts no goroutine.
//
// A Generator must be constructed using NewGenerator: the zero value makes the zero ID. A
// Generator must not be copied.
type Generator struct {
	word tick.Word // the last ID's time, tick-tock bit and sequence

	// lasts is a moment up to which the unit of the last word surely goes on.
	//
	//	writer whoever has issued a word of the unit of an exact reading of the clock, after
	//	       that, and goBack
	//	holds  nothing that uniqueness rests on
	lasts atomic.Uint64

	// turns grows before each change of the tick-tock bit, so that a reading of the clock from
	// before is known for one.
	turns atomic.Uint32

	line line.Line

	// Everything below is written once, by the constructor, but for what mu and atomics
	// guard.

	clock       clock.Clock
	min, max    uint64
	maxBackward time.Duration
	overflow    overflow // used by the leader of the line alone
	fence       fence.Fence
	leased      bool

	separate atomic.Uint32 // the sequence of NewWithTime: the number of the next ID

	taking atomic.Bool // a Snapshot reads the clock

	// mu guards the changes of the tick-tock bit, and what must agree with it. The clock is
	// not read while it is held.
	mu     sync.Mutex
	safe   uint64 // the last unit that the other setting of the bit has used
	drifts uint32 // how often the bit was changed
}

// Config says how a [Generator] makes its IDs, in full.
type Config struct {
	// Snapshot is as in NewGenerator; nil means a partition of its own.
	Snapshot *GeneratorSnapshot

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a partition and intervals. Leave Snapshot nil: the lease takes its place.
	Leased bool

	// Overflow receives notifications; see SequenceOverflowNotification. It may be nil. A
	// channel that is closed receives no more.
	Overflow chan<- *SequenceOverflowNotification

	// MaxBackward is how long Next waits for a clock in a time that both settings of the
	// tick-tock bit have used, or before an interval that was allotted, rather than return
	// an error. 0 means 5 s; negative, never wait. New waits as long as it takes.
	MaxBackward time.Duration

	// Clock is read for the time; nil means time.Now. It is for tests. It may take a Snapshot
	// of the generator.
	Clock func() time.Time
}

// NewGenerator returns a new generator based on the optional snapshot, which notifies the
// optional channel of overflows. Without a snapshot it gets a partition that no other
// generator of the process has, or a *[PartitionPoolExhaustedError]. A snapshot with a
// sequence that is out of bounds is an *[InvalidSequenceBoundsError], one with a time that
// is none of the timestamps' a *[ConfigError]. A clock that is not after the epoch or past
// the last timestamp is a *[TimeError]. A generator that is refused takes no partition.
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

// newGenerator makes a generator of the snapshot's partition, whatever the clock's time.
func newGenerator(c Config) (*Generator, error) {
	var s GeneratorSnapshot
	if c.Snapshot != nil {
		s = *c.Snapshot
	}
	if err := s.sanitize(); err != nil {
		return nil, err
	}
	if c.Leased && c.Snapshot != nil {
		return nil, iderr.BadConfig(format, "Snapshot", "given", "nil beside Leased: a lease takes its place, so leave out one of the two")
	}
	g := &Generator{
		clock: clock.New(c.Clock), maxBackward: c.MaxBackward,
		min: uint64(s.SequenceMin), max: uint64(s.SequenceMax),
		overflow: overflow{notify: c.Overflow}, leased: c.Leased,
		safe: uint64(s.WallSafe), drifts: s.Drifts,
	}
	g.line.Name = format
	g.separate.Store(uint32(s.SequenceMin))
	if c.MaxBackward == 0 {
		g.maxBackward = defaultMaxBackward
	}
	g.fence.Fix(uint64(s.Partition.AsUint16()))
	g.word.Pass(uint64(s.WallHi)<<unitShift | uint64(s.Drifts&1)*tickTock | min(uint64(s.Sequence), g.max) + 1)
	if c.Leased {
		g.fence.Refuse(iderr.ErrFenced)
	} else {
		g.word.Open()
	}
	return g, nil
}

// New generates a new ID using the current system time for its timestamp.
//
// It waits for the next time unit if the sequence of this one is used up, and, when the
// clock has gone back a second time, until it is out of the time that both settings of the
// tick-tock bit have used. Having no error to return, it also waits for a clock that is
// before the epoch, for times to be allotted, and for ever after the last timestamp: see
// [Generator.Next]. A Generator that NewGenerator did not make, or that is sealed, returns
// the zero ID. New does not allocate,
// unless it waits for a clock for longer than Next does.
func (g *Generator) New(meta byte) ID {
	word, ok := g.fast()
	if !ok {
		return g.newSlowly(meta)
	}
	var id ID
	g.put(&id, word, meta)
	return id
}

// newSlowly is New for a caller who has no word by fast.
func (g *Generator) newSlowly(meta byte) ID {
	for {
		id, err := g.Next(context.Background(), meta)
		if err == nil || errors.Is(err, iderr.ErrNotReady) || g.fence.Sealed() {
			return id
		}
		var behind *ClockError
		var out *TimeError
		switch {
		case errors.As(err, &behind):
			g.clock.Await(behind.By)
		case errors.As(err, &out) && out.Time.Before(out.First):
			g.clock.Await(out.First.Sub(out.Time))
		default:
			clock.Pause(time.Second)
		}
	}
}

// Next is [Generator.New] with a context and errors: it returns a *[ClockError] if the
// clock is further than Config.MaxBackward, 5 s by default, from leaving a time that is
// used up, a *[TimeError] if it is out of the timestamps' range, and an error that wraps
// ctx's when that ends. It does not look at ctx unless it must wait.
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

// TryNext is [Generator.Next] that never waits: it returns [ErrExhausted] when the
// sequence of the time unit is used up or belongs to callers who wait for it, and a
// *[ClockError] where Next waits for the clock.
func (g *Generator) TryNext(meta byte) (ID, error) {
	word, ok := g.fast()
	if !ok {
		var err error
		if word, err = g.tryNext(); err != nil {
			return zero, err
		}
	}
	var id ID
	g.put(&id, word, meta)
	return id, nil
}

// Fill fills dst with new IDs, in order, reserving all it can of a time unit in one step
// and waiting as [Generator.Next] does. It returns how many it made, and the error if
// that is less than len(dst).
func (g *Generator) Fill(ctx context.Context, meta byte, dst []ID) (int, error) {
	for done := 0; ; {
		if done == len(dst) {
			return done, nil
		}
		_, run, err := g.some(ctx, meta, dst[done:])
		if err != nil {
			return done, err
		}
		done += run
	}
}

// Seq returns an iterator over n new IDs, or without end if n is negative, which waits as
// [Generator.Next] does. An error is the last that it yields.
//
// It makes IDs in runs, as Fill does, of up to 256 for a caller who is fast and one by one for
// one who is slow: an ID's time is that of its run. A loop that is left leaves the rest of a run unused.
//
// IDs are in the order of [Generator.Next]. Callers of other methods can have greater IDs
// meanwhile, but none of a later time unit: once somebody has one, the rest of the run is dropped.
// A loop that pauses while nobody else makes IDs goes on with the run from before the pause.
func (g *Generator) Seq(ctx context.Context, meta byte, n int) iter.Seq2[ID, error] {
	return batch.Seq(n, &g.word, sequence, func(dst []ID) (uint64, int, error) { return g.some(ctx, meta, dst) })
}

// NewWithTime generates a new ID using the given time for the timestamp; a time that the
// timestamp cannot hold counts as the nearest one that it can.
//
// These IDs are exempt from the tick-tock mechanism and use a sequence separate from
// New's, one that is independent of time: it increases up to SequenceMax, then starts
// over at SequenceMin without waiting. Collisions due to the arbitrary time are left to
// the user. It is meant for porting old IDs, before an ID scheme goes online. The sequence
// that would make the zero ID is left out.
func (g *Generator) NewWithTime(meta byte, t time.Time) ID {
	if g.max == 0 {
		return zero
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

// ExpiresAt returns when timestamps run out, in 2079. From then on Next, TryNext and Fill
// return a *[TimeError].
func (g *Generator) ExpiresAt() time.Time { return timeOf(MaxTimestamp + 1) }

// Partition returns the fixed identifier of the Generator; if it is allotted its
// partitions, the latest.
func (g *Generator) Partition() Partition {
	var p Partition
	p.PutUint16(uint16(g.fence.Latest()))
	return p
}
