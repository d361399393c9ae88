package nanoflake

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

// Config says how a [Generator] makes its IDs. The zero Config is generator ID 0 with the default
// epoch, for a system with one generator.
type Config struct {
	// GeneratorID is 0 to 1023. Each generator of a system needs a generator ID of its own.
	GeneratorID int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a generator ID and intervals. Leave GeneratorID at 0.
	// While a lease starts in the background, Next waits for the first grant as long as its context
	// allows.
	Leased bool

	// Epoch is the time of timestamp 0, the same for all generators of a system: a time in the
	// past, in whole milliseconds. The zero time means DefaultEpoch.
	Epoch time.Time

	// Start says where the sequence of a millisecond starts.
	Start Start

	// MaxBackward is the longest wait of Next for a clock that is behind the last ID. Next returns
	// an error for a clock that is further behind. 0 means 5 s; a negative value, no wait.
	MaxBackward time.Duration

	// Clock is read for the time; nil means time.Now. It is for tests.
	Clock func() time.Time
}

// Start says where the sequence of a millisecond starts.
type Start uint8

const (
	// StartAtZero numbers the IDs of a millisecond from 0, as in the specification. IDs at longer
	// intervals than a millisecond all have the sequence 0, and id%n sends them to few of n shards.
	StartAtZero Start = iota
	// StartAnywhere starts each millisecond at a number that looks random, and wraps around at
	// 4095. IDs at long intervals then spread over the shards. A millisecond still has 4096
	// distinct IDs, but they do not increase at the wrap.
	StartAnywhere
)

// A Generator makes the IDs of one generator ID. It is safe for concurrent use, holds no lock
// during a wait, and starts no goroutine. [NewGenerator] makes a Generator. A Generator must not be
// copied.
type Generator struct {
	mint    mint.Mint
	scatter bool
}

// NewGenerator returns a generator, or a *[iderr.ConfigError] for a field that is out of range. If the
// clock is not after the epoch or is after the last timestamp, the error is a *[iderr.TimeError]; for an
// epoch in Config, the error is a *[iderr.ConfigError] with the *[iderr.TimeError] as Err.
func NewGenerator(c Config) (*Generator, error) {
	if c.GeneratorID < 0 || c.GeneratorID > MaxGeneratorID {
		return nil, badGeneratorID(c.GeneratorID)
	}
	if c.Leased && c.GeneratorID != 0 {
		return nil, wrong.SetTwice(format, "GeneratorID", c.GeneratorID)
	}
	if c.Start > StartAnywhere {
		return nil, wrong.Config(format, "Start", c.Start, "StartAtZero or StartAnywhere")
	}
	epoch, err := mint.Epoch(format, c.Epoch, DefaultEpochMilli)
	if err != nil {
		return nil, err
	}
	g := &Generator{scatter: c.Start == StartAnywhere}
	g.mint.Init(mint.Config{
		Format: format, Epoch: epoch, Last: MaxTimestamp, Bits: sequenceBits, Field: fieldBits,
		MaxBackward: c.MaxBackward, Clock: c.Clock,
		Worker: uint64(c.GeneratorID) << generatorShift, Leased: c.Leased,
	})
	if err := g.mint.CheckEpoch(c.Epoch, time.Time{}); err != nil {
		return nil, err
	}
	return g, nil
}

// Next returns a new ID, greater than all IDs before. With [StartAnywhere], the ID is greater than
// all IDs of earlier milliseconds.
//
// Next waits for the next millisecond once the 4096 IDs of this millisecond are used up. Waiters
// get IDs in turn. Next also waits for a clock that is behind the last ID by up to
// Config.MaxBackward, and returns a *[iderr.ClockError] for a clock that is further behind.
//
// Next returns an error that wraps the error of ctx if ctx ends during a wait. It reads ctx only to
// wait, and then every few milliseconds; each thousand waiters add a millisecond. Next does not
// allocate, except for memory of the first waits, which later waits use again.
//
// Specification: "Generating Nanoflakes".
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
// before, or with [StartAnywhere] than all IDs of earlier milliseconds.
//
// TryFill takes what the millisecond has left, and continues in the next millisecond only if the clock is
// there meanwhile. It is for a caller that asks another generator for the rest.
//
// Specification: "Generating Nanoflakes".
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
	g.run(dst[:run], word)
	return word, run, nil
}

// ExpiresAt returns the end of the timestamps, 69 years after the epoch. From then on calls return
// a *[iderr.TimeError].
func (g *Generator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// Usage returns how much the generator has done since it was made, and how full it is.
func (g *Generator) Usage() usage.Usage { return g.mint.Usage() }

// GeneratorID returns the generator ID of new IDs. With a lease, GeneratorID returns the generator
// ID of the latest grant, and 0 before the first grant.
func (g *Generator) GeneratorID() int { return int(g.mint.Latest() >> generatorShift) }

// Epoch returns the time of timestamp 0, in UTC.
func (g *Generator) Epoch() time.Time { return g.mint.Epoch() }

// Time returns the time of an ID in UTC, to the millisecond. The ID must be of a generator with the
// same epoch.
func (g *Generator) Time(id ID) time.Time { return id.Time(g.Epoch()) }

// First returns the smallest ID of the millisecond of t, and never the zero ID. A scan from
// First(a) to Last(b), both included, finds all IDs from a to b. A time before the epoch or after
// the last timestamp counts as the nearest time in range.
func (g *Generator) First(t time.Time) ID {
	first, _ := bounds(t, g.Epoch().UnixMilli())
	return first
}

// Last returns the largest ID of the millisecond of t; see [Generator.First].
func (g *Generator) Last(t time.Time) ID {
	_, last := bounds(t, g.Epoch().UnixMilli())
	return last
}

// fieldBits is the width of the sequence in a word: the timestamp and the sequence fill all bits
// but the highest.
const fieldBits = 63 - timestampBits

// at returns the ID of a word: a timestamp above a field that counts the IDs of the millisecond.
func (g *Generator) at(word uint64) ID {
	ts, seq := word>>fieldBits, word
	if g.scatter {
		seq += scatter(ts)
	}
	return ID(ts<<timestampShift | g.mint.Worker(word) | seq&MaxSequence)
}

// run sets dst to the IDs of consecutive words of one millisecond.
func (g *Generator) run(dst []ID, word uint64) {
	first := g.at(word)
	if !g.scatter {
		for i := range dst {
			dst[i] = first + ID(i)
		}
		return
	}
	above, seq := first&^MaxSequence, first
	for i := range dst {
		dst[i] = above | (seq+ID(i))&MaxSequence
	}
}

// scatter returns the first sequence of a millisecond: a mix of the bits of the timestamp.
// Timestamps at regular intervals leave no pattern. The mix needs no state that could disagree with
// the word.
func scatter(ts uint64) uint64 {
	ts *= 0x9e3779b97f4a7c15
	ts ^= ts >> 29
	ts *= 0xbf58476d1ce4e5b9
	return ts >> (64 - sequenceBits)
}

func badGeneratorID(v int) error {
	return wrong.Config(format, "GeneratorID", v, "in 0 to "+strconv.Itoa(MaxGeneratorID))
}
