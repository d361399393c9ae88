package nanoflake

import (
	"context"
	"iter"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/mint"
)

// Config says how a [Generator] makes its IDs. The zero Config is generator ID 0
// with the default epoch, for a system that has one generator.
type Config struct {
	// GeneratorID is 0 to 1023. No two generators of a system may share one.
	GeneratorID int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a generator ID and intervals. Leave GeneratorID at 0.
	Leased bool

	// Epoch is the time of timestamp 0, the same for all generators of a system:
	// in the past, whole milliseconds. The zero time means DefaultEpoch.
	Epoch time.Time

	// Start says where the sequence of a millisecond starts.
	Start Start

	// MaxBackward is how far the clock may be behind the last ID for Next to wait
	// for it rather than return an error. 0 means 5 s; negative, never wait.
	MaxBackward time.Duration

	// Clock is read for the time; nil means time.Now. It is for tests.
	Clock func() time.Time
}

// Start says where the sequence of a millisecond starts.
type Start uint8

const (
	// StartAtZero numbers the IDs of a millisecond from 0, as the specification
	// has it. IDs made less often than that all end in 0, and id%n sends them all
	// to few of n shards.
	StartAtZero Start = iota
	// StartAnywhere starts each millisecond at a number that looks random and
	// wraps around at 4095, so that IDs made slowly spread over the shards. All
	// 4096 are still there; but within a millisecond the IDs, though distinct, do
	// not increase where the sequence wraps.
	StartAnywhere
)

// A Generator makes the IDs of one generator ID. It is safe for concurrent use,
// holds no lock while it waits, and starts no goroutine. It is made by
// [NewGenerator] and must not be copied.
type Generator struct {
	mint    mint.Mint
	scatter bool
}

// NewGenerator returns a generator. It returns a *[ConfigError] that names a field
// out of range, and a *[TimeError] if the clock is not after the epoch or past the
// last timestamp: of an epoch that Config names, as the Err of a *[ConfigError].
func NewGenerator(c Config) (*Generator, error) {
	if c.GeneratorID < 0 || c.GeneratorID > MaxGeneratorID {
		return nil, badGeneratorID(c.GeneratorID)
	}
	if c.Leased && c.GeneratorID != 0 {
		return nil, iderr.SetTwice(format, "GeneratorID", c.GeneratorID)
	}
	if c.Start > StartAnywhere {
		return nil, iderr.BadConfig(format, "Start", c.Start, "StartAtZero or StartAnywhere")
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

// Next returns a new ID, greater than all before it (with StartAnywhere, than all of the
// milliseconds before).
//
// When the millisecond's 4096 IDs are used up it waits for the next; callers who
// wait are served in turn. When the clock is behind the last ID by up to
// Config.MaxBackward it waits for that too, and returns a *[ClockError] when it is
// further behind. It waits as long as ctx allows, then returns an error that wraps
// ctx's; it looks at ctx only when it must wait, and then every few milliseconds (with
// thousands of callers waiting, a millisecond later for each thousand). It
// does not allocate, but for what a wait makes once and later ones use again.
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
// IDs are in the order of [Generator.Next]. Callers of other methods can have greater IDs
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
	g.run(dst[:run], word)
	return word, run, nil
}

// ExpiresAt returns when the generator's timestamps run out: 69 years after its
// epoch. From then on it returns a *[TimeError].
func (g *Generator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// GeneratorID returns the generator ID that the generator's next IDs have. With a lease, this is the
// generator ID of the latest grant, and 0 before the first grant.
func (g *Generator) GeneratorID() int { return int(g.mint.Latest() >> generatorShift) }

// Epoch returns the time of timestamp 0, in UTC: the epoch of Config, or the default one.
func (g *Generator) Epoch() time.Time { return g.mint.Epoch() }

// Time returns the time of an ID by the generator's epoch: in UTC, to the millisecond. The ID must
// be one of a generator with the same epoch.
func (g *Generator) Time(id ID) time.Time { return id.Time(g.Epoch()) }

// First returns the smallest ID of the millisecond of t, and Last the largest, by the generator's
// epoch. A scan from First(a) to Last(b), both included, finds all IDs of a to b. A time that the
// timestamp cannot hold counts as the nearest time that the timestamp can hold.
func (g *Generator) First(t time.Time) ID {
	first, _ := bounds(t, g.Epoch().UnixMilli())
	return first
}

// Last returns the largest ID of the millisecond of t; see [Generator.First].
func (g *Generator) Last(t time.Time) ID {
	_, last := bounds(t, g.Epoch().UnixMilli())
	return last
}

// fieldBits is the width of the sequence in a word: with the timestamp all but one bit.
const fieldBits = 63 - timestampBits

// at returns the ID of a word: the timestamp above a field that counts the IDs of
// the millisecond.
func (g *Generator) at(word uint64) ID {
	ts, seq := word>>fieldBits, word
	if g.scatter {
		seq += scatter(ts)
	}
	return ID(ts<<timestampShift | g.mint.Worker(word) | seq&MaxSequence)
}

// run sets dst to the IDs of words one after another, of one tick.
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

// scatter returns a millisecond's start: a mix of the timestamp's bits in which
// regular intervals leave no pattern. It needs no state, and so cannot disagree
// with the word.
func scatter(ts uint64) uint64 {
	ts *= 0x9e3779b97f4a7c15
	ts ^= ts >> 29
	ts *= 0xbf58476d1ce4e5b9
	return ts >> (64 - sequenceBits)
}
