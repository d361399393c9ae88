package snowflakesi

import (
	"context"
	"iter"
	"strconv"
	"time"

	"github.com/firn-id/firn/internal/engine/batch"
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/usage"
)

// Config says how a [Generator] makes its IDs. The zero Config is machine ID 0 with the default
// layout and epoch, for a system with one generator.
type Config struct {
	// Layout has the widths of the fields, the same for all generators of a system.
	Layout Layout

	// MachineID is 0 to Layout.MaxMachineID. Each generator of a system needs a machine ID of its
	// own.
	MachineID int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a machine ID and intervals. Leave MachineID at 0.
	// While a lease starts in the background, Next waits for the first grant as long as its context
	// allows.
	Leased bool

	// Epoch is the time of timestamp 0, the same for all generators of a system: a time in the
	// past, in whole milliseconds. With 40 bits of timestamp the epoch must be later than
	// 2003-03-18T07:20:19.224Z. The zero time means DefaultEpoch.
	Epoch time.Time

	// Sequence says where the sequence of a millisecond starts.
	Sequence Sequence

	// MaxBackward is the longest wait of Next for a clock that is behind the last ID. Next returns
	// an error for a clock that is further behind. 0 means 5 s; a negative value, no wait.
	MaxBackward time.Duration

	// Clock is read for the time; nil means time.Now. It is for tests.
	Clock func() time.Time
}

// Sequence says where the sequence of a millisecond starts.
type Sequence uint8

const (
	// SequenceContinues continues the sequence of the millisecond before while more than half of the
	// sequence is left, and else starts at 0. IDs at long intervals then have different last bits,
	// and id%n spreads them over n shards. With b bits of sequence, they use the numbers 0 to
	// 2^(b-1)-1 in turn.
	//
	// Any millisecond has at least 2^(b-1) IDs, 128 by default. Within a millisecond the sequence
	// never returns to 0, so IDs always increase. A millisecond that follows an exhausted
	// millisecond has all 2^b: in a burst, the second millisecond and all later ones.
	SequenceContinues Sequence = iota
	// SequenceResets starts each millisecond at 0. Any millisecond has the whole sequence, 256 IDs by
	// default. IDs at long intervals all end in 0.
	SequenceResets
)

// A Generator makes the IDs of one machine ID. It is safe for concurrent use, holds no lock during
// a wait, and starts no goroutine. [NewGenerator] makes a Generator. A Generator must not be
// copied.
type Generator struct {
	mint   mint.Mint
	layout Layout
	mask   ID    // of the sequence
	shift  uint8 // of the timestamp
}

// NewGenerator returns a generator, or a *[iderr.ConfigError] for a field that is out of range. If the
// clock is not after the epoch or is after the last timestamp, the error is a *[iderr.TimeError]; for an
// epoch in Config, the error is a *[iderr.ConfigError] with the *[iderr.TimeError] as Err.
func NewGenerator(c Config) (*Generator, error) {
	l := c.Layout
	if err := l.Check(); err != nil {
		return nil, err
	}
	if c.MachineID < 0 || c.MachineID > l.MaxMachineID() {
		return nil, badMachineID(l, c.MachineID)
	}
	if c.Leased && c.MachineID != 0 {
		return nil, wrong.SetTwice(format, "MachineID", c.MachineID)
	}
	if c.Sequence > SequenceResets {
		return nil, wrong.Config(format, "Sequence", c.Sequence, "SequenceContinues or SequenceResets")
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

// Next returns a new ID, greater than all IDs before.
//
// Next waits for the next millisecond once the sequence of this millisecond is used up. Waiters get
// IDs in turn. Next also waits for a clock that is behind the last ID by up to Config.MaxBackward,
// and returns a *[iderr.ClockError] for a clock that is further behind.
//
// Next returns an error that wraps the error of ctx if ctx ends during a wait. It reads ctx only to
// wait, and then every few milliseconds; each thousand waiters add a millisecond. Next does not
// allocate, except for memory of the first waits, which later waits use again.
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

// TryNext returns a new ID as [Generator.Next] does, but never waits. The error is [iderr.ErrExhausted]
// if the millisecond has no ID left or waiters will get the IDs that are left, and a *[iderr.ClockError]
// if the clock is behind the last ID.
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

// Fill fills dst with new IDs, in order, and waits as [Generator.Next] does. It reserves as many
// IDs of a millisecond at a time as possible. Fill returns the number of new IDs, and an error if
// that number is less than len(dst).
func (g *Generator) Fill(ctx context.Context, dst []ID) (int, error) {
	return batch.Fill(dst, func(dst []ID) (uint64, int, error) { return g.some(ctx, dst) })
}

// TryFill fills dst with new IDs, in order, and never waits. It returns the number of new IDs, and if
// that number is less than len(dst), the error of [Generator.TryNext]. Each ID is greater than all IDs
// before.
//
// TryFill takes what the millisecond has left, and continues in the next millisecond only if the clock is
// there meanwhile. It is for a caller that asks another generator for the rest.
//
// Specification: "Snowflake-SI Algorithm".
func (g *Generator) TryFill(dst []ID) (int, error) {
	return batch.Fill(dst, func(dst []ID) (uint64, int, error) {
		word, run, err := g.mint.TryRun(len(dst))
		return g.put(dst, word, run, err)
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
// of a later millisecond: the rest of a run is discarded once another caller has an ID of a later
// millisecond. If no other caller makes IDs, a loop that pauses continues with the run from before
// the pause.
func (g *Generator) Seq(ctx context.Context, n int) iter.Seq2[ID, error] {
	return mint.Seq(&g.mint, n, func(dst []ID) (uint64, int, error) { return g.some(ctx, dst) })
}

// some fills the beginning of dst with a run of IDs of one millisecond. It returns the word of the
// first ID and the number of IDs.
func (g *Generator) some(ctx context.Context, dst []ID) (uint64, int, error) {
	word, run, err := g.mint.NextRun(ctx, len(dst))
	return g.put(dst, word, run, err)
}

// put sets the beginning of dst to the IDs of a run of words of one millisecond. The run and the error are
// what a call of the mint has returned.
func (g *Generator) put(dst []ID, word uint64, run int, err error) (uint64, int, error) {
	if err != nil {
		return 0, 0, err
	}
	first := g.at(word)
	for i := range dst[:run] {
		dst[i] = first + ID(i)
	}
	return word, run, nil
}

// ExpiresAt returns the end of the timestamps: 34 years after the epoch with 40 bits of timestamp,
// 69 years with 41. From then on calls return a *[iderr.TimeError].
func (g *Generator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// Usage returns how much the generator has done since it was made, and how full it is.
func (g *Generator) Usage() usage.Usage { return g.mint.Usage() }

// MachineID returns the machine ID of new IDs. With a lease, MachineID returns the machine ID of
// the latest grant, and 0 before the first grant.
func (g *Generator) MachineID() int { return int(g.mint.Latest() >> g.layout.sequenceBits()) }

// Layout returns the widths of the IDs. The layout of a zero Config is [DefaultLayout]: fields of 0
// are replaced by their defaults.
func (g *Generator) Layout() Layout { return g.layout }

// Epoch returns the time of timestamp 0, in UTC.
func (g *Generator) Epoch() time.Time { return g.mint.Epoch() }

// Time returns the time of an ID in UTC, to the millisecond. The ID must be of a generator with the
// same epoch and layout.
func (g *Generator) Time(id ID) time.Time { return id.Time(g.layout, g.Epoch()) }

// First returns the smallest ID of the millisecond of t, and never the zero ID. A scan from
// First(a) to Last(b), both included, finds all IDs from a to b. A time before the epoch or after
// the last timestamp counts as the nearest time in range.
func (g *Generator) First(t time.Time) ID {
	first, _ := bounds(g.layout, t, g.Epoch().UnixMilli())
	return first
}

// Last returns the largest ID of the millisecond of t; see [Generator.First].
func (g *Generator) Last(t time.Time) ID {
	_, last := bounds(g.layout, t, g.Epoch().UnixMilli())
	return last
}

// fieldBits is the width of the sequence in a word: 41 bits of timestamp and the sequence fill all
// bits but the highest.
const fieldBits = 63 - 41

// at returns the ID of a word: a timestamp above a sequence.
func (g *Generator) at(word uint64) ID {
	return ID(word>>fieldBits)<<g.shift | ID(g.mint.Worker(word)) | ID(word)&g.mask
}

func badMachineID(l Layout, v int) error {
	return wrong.Config(format, "MachineID", v, "in 0 to "+strconv.Itoa(l.MaxMachineID()))
}
