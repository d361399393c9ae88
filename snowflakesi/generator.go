package snowflakesi

import (
	"context"
	"iter"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/mint"
)

// Config says how a [Generator] makes its IDs. The zero Config is machine 0 with the
// default layout and epoch, for a system that has one generator.
type Config struct {
	// Layout is the widths of the fields, the same for all generators of a system.
	Layout Layout

	// MachineID is 0 to Layout.MaxMachineID. No two generators of a system may
	// share one.
	MachineID int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a machine ID and intervals. Leave MachineID at 0.
	Leased bool

	// Epoch is the time of timestamp 0, the same for all generators of a system:
	// in the past, whole milliseconds, and with 40 bits of timestamp later than
	// 2003-03-18T07:20:19.224Z. The zero time means DefaultEpoch.
	Epoch time.Time

	// Sequence says what becomes of the sequence at a new millisecond.
	Sequence Sequence

	// MaxBackward is how far the clock may be behind the last ID for Next to wait
	// for it rather than return an error. 0 means 5 s; negative, never wait.
	MaxBackward time.Duration

	// Clock is read for the time; nil means time.Now. It is for tests.
	Clock func() time.Time
}

// Sequence says what becomes of the sequence at a new millisecond.
type Sequence uint8

const (
	// SequenceContinues: it goes on counting, so that IDs made slowly do not all
	// end in 0, which would send them to few of n shards by id%n. It returns to 0
	// at a new millisecond only, so that the IDs always increase: a millisecond
	// that begins with the sequence at s has what is left of it. Under load that is
	// all of it, since a millisecond that used its sequence up is followed by one
	// that starts at 0; a burst after a quiet time may have to wait for the next.
	SequenceContinues Sequence = iota
	// SequenceResets: it starts at 0 in each millisecond, all of which have it whole.
	SequenceResets
)

// A Generator makes the IDs of one machine ID. It is safe for concurrent use, holds
// no lock while it waits, and starts no goroutine. It is made by [NewGenerator] and
// must not be copied.
type Generator struct {
	mint   mint.Mint
	layout Layout
	mask   ID    // of the sequence
	shift  uint8 // of the timestamp
}

// NewGenerator returns a generator. It returns a *[ConfigError] that names a field
// out of range, and a *[TimeError] if the clock is not after the epoch or past the
// last timestamp: of an epoch that Config names, as the Err of a *[ConfigError].
func NewGenerator(c Config) (*Generator, error) {
	l := c.Layout
	if err := l.Check(); err != nil {
		return nil, err
	}
	if c.MachineID < 0 || c.MachineID > l.MaxMachineID() {
		return nil, badMachineID(l, c.MachineID)
	}
	if c.Leased && c.MachineID != 0 {
		return nil, iderr.SetTwice(format, "MachineID", c.MachineID)
	}
	if c.Sequence > SequenceResets {
		return nil, iderr.BadConfig(format, "Sequence", c.Sequence, "SequenceContinues or SequenceResets")
	}
	epoch, err := l.epoch(c.Epoch)
	if err != nil {
		return nil, err
	}
	g := &Generator{
		layout: l.explicit(),
		mask:   ID(l.MaxSequence()),
		shift:  uint8(l.timestampShift()),
	}
	g.mint.Init(mint.Config{
		Format: format, Epoch: epoch, Last: uint64(l.MaxTimestamp()), Bits: l.sequenceBits(), Field: fieldBits,
		Continue: c.Sequence == SequenceContinues, MaxBackward: c.MaxBackward, Clock: c.Clock,
		Worker: uint64(c.MachineID) << l.sequenceBits(), Leased: c.Leased,
	})
	if err := g.mint.CheckEpoch(c.Epoch, l.epochsAfter()); err != nil {
		return nil, err
	}
	return g, nil
}

// Next returns a new ID, greater than all before it.
//
// When the millisecond's sequence is used up it waits for the next; callers who
// wait are served in turn. When the clock is behind the last ID by up to
// Config.MaxBackward it waits for that too, and returns a *[ClockError] when it is
// further behind. It waits as long as ctx allows, then returns an error that wraps
// ctx's; it looks at ctx only when it must wait, and then every few milliseconds (with
// thousands of callers waiting, a millisecond later for each thousand). It
// does not allocate, but for what a wait makes once and later ones use again.
//
// Specification: "Snowflake-SI Algorithm".
func (g *Generator) Next(ctx context.Context) (ID, error) {
	word, ok := g.mint.Fast()
	if !ok {
		var err error
		if word, err = g.mint.Next(ctx); err != nil {
			return 0, err
		}
	}
	return g.at(word), nil
}

// TryNext returns a new ID like [Generator.Next], but never waits: it returns
// [ErrExhausted] when the millisecond's IDs are used up or belong to callers of
// Next who wait for them, and a *[ClockError] when the clock is behind the last ID.
func (g *Generator) TryNext() (ID, error) {
	word, ok := g.mint.Fast()
	if !ok {
		var err error
		if word, err = g.mint.TryNext(); err != nil {
			return 0, err
		}
	}
	return g.at(word), nil
}

// Fill fills dst with new IDs, in order, reserving all it can of a millisecond in
// one step and waiting as [Generator.Next] does. It returns how many it made, and
// the error if that is less than len(dst).
func (g *Generator) Fill(ctx context.Context, dst []ID) (int, error) {
	for done := 0; ; {
		if done == len(dst) {
			return done, nil
		}
		_, run, err := g.some(ctx, dst[done:])
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
// Each ID is greater than the ones yielded before it. Callers of other methods can have greater IDs
// meanwhile, but none of a later millisecond: once somebody has one, the rest of the run is dropped.
// A loop that pauses while nobody else makes IDs goes on with the run from before the pause.
func (g *Generator) Seq(ctx context.Context, n int) iter.Seq2[ID, error] {
	return mint.Seq(&g.mint, n, func(dst []ID) (uint64, int, error) { return g.some(ctx, dst) })
}

// some fills the beginning of dst with a run of IDs, of one tick.
func (g *Generator) some(ctx context.Context, dst []ID) (uint64, int, error) {
	word, run, err := g.mint.NextRun(ctx, len(dst))
	if err != nil {
		return 0, 0, err
	}
	first := g.at(word)
	for i := range dst[:run] {
		dst[i] = first + ID(i)
	}
	return word, run, nil
}

// ExpiresAt returns when the generator's timestamps run out: 34 years after its
// epoch with 40 bits of them, 69 with 41. From then on it returns a *[TimeError].
func (g *Generator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// MachineID returns the machine ID that the generator's next IDs have. With a lease, this is the machine
// ID of the latest grant, and 0 before the first grant.
func (g *Generator) MachineID() int { return int(g.mint.Latest() >> g.layout.sequenceBits()) }

// Layout returns the widths of the generator's IDs, none of which stands for a default: the default
// layout is [DefaultLayout] and not the zero Layout.
func (g *Generator) Layout() Layout { return g.layout }

// Epoch returns the time of timestamp 0, in UTC: the epoch of Config, or the default one.
func (g *Generator) Epoch() time.Time { return g.mint.Epoch() }

// Time returns the time of an ID by the generator's epoch and layout: in UTC, to the millisecond. The ID must
// be one of a generator with the same epoch and layout.
func (g *Generator) Time(id ID) time.Time { return id.Time(g.layout, g.Epoch()) }

// First returns the smallest ID of the millisecond of t, and Last the largest, by the generator's
// epoch and layout. A scan from First(a) to Last(b), both included, finds all IDs of a to b. A time that the
// timestamp cannot hold counts as the nearest time that the timestamp can hold.
func (g *Generator) First(t time.Time) ID {
	first, _ := bounds(g.layout, t, g.Epoch().UnixMilli())
	return first
}

// Last returns the largest ID of the millisecond of t; see [Generator.First].
func (g *Generator) Last(t time.Time) ID {
	_, last := bounds(g.layout, t, g.Epoch().UnixMilli())
	return last
}

// fieldBits is the width of the sequence in a word: with 41 bits of timestamp all but one bit.
const fieldBits = 63 - 41

// at returns the ID of a word: the timestamp above the sequence.
func (g *Generator) at(word uint64) ID {
	return ID(word>>fieldBits)<<g.shift | ID(g.mint.Worker(word)) | ID(word)&g.mask
}
