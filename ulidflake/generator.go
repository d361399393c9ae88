package ulidflake

import (
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/entropy"
	"github.com/firn-id/firn/internal/mint"
)

// Config says how a [Generator] makes its IDs. The zero Config is the
// specification's default.
type Config struct {
	// IncrementBits is n: an ID's randomness is the last one's plus a random
	// increment in [1, 2^n). 0 and 1 mean plus 1, which leaves the most IDs in a
	// millisecond, half a million on average; each bit more makes the next ID
	// harder to guess and halves their number. At most 20.
	IncrementBits int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// intervals.
	Leased bool

	// Epoch is the time of timestamp 0, in the past, whole milliseconds. The zero
	// time means DefaultEpoch.
	Epoch time.Time

	// MaxBackward is how far the clock may be behind the last ID for Next to wait
	// for it rather than return an error. 0 means 5 s; negative, never wait.
	MaxBackward time.Duration

	// Clock is read for the time; nil means time.Now. It is for tests.
	Clock func() time.Time
}

// ScalableConfig says how a [ScalableGenerator] makes its IDs.
type ScalableConfig struct {
	// Scalability is 0 to 31. No two generators of a system may share one.
	Scalability int

	// IncrementBits is as in Config, at most 15; with plus 1 a millisecond has
	// 16 000 IDs on average.
	IncrementBits int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a scalability and intervals. Leave Scalability at 0.
	Leased bool

	Epoch       time.Time        // as in Config
	MaxBackward time.Duration    // as in Config
	Clock       func() time.Time // as in Config
}

// A Generator makes stand-alone IDs. It is safe for concurrent use, holds no lock
// while it waits, and starts no goroutine. It is made by [NewGenerator] and must not
// be copied.
type Generator struct {
	mint mint.Mint
	rand entropy.Source
}

// NewGenerator returns a generator of stand-alone IDs. It returns a *[ConfigError]
// that names a field out of range, and a *[TimeError] if the clock is not after the
// epoch or past the last timestamp: of an epoch that Config names, as the Err of a
// *[ConfigError].
func NewGenerator(c Config) (*Generator, error) {
	g := new(Generator)
	if err := initMint(&g.mint, &g.rand, format, randomnessBits, 0, c); err != nil {
		return nil, err
	}
	return g, nil
}

// initMint readies a generator's mint, for a randomness of so many bits and a worker.
func initMint(m *mint.Mint, rand *entropy.Source, format string, bits, worker int, c Config) error {
	if c.IncrementBits < 0 || c.IncrementBits > bits {
		return iderr.BadConfig(format, "IncrementBits", c.IncrementBits, "in 0 to "+strconv.Itoa(bits))
	}
	epoch, err := mint.Epoch(format, c.Epoch, DefaultEpochMilli)
	if err != nil {
		return err
	}
	m.Init(mint.Config{
		Format: format, Epoch: epoch, Last: MaxTimestamp, Bits: uint(bits),
		StartBits: uint(bits), StepBits: uint(c.IncrementBits), Rand: rand,
		MaxBackward: c.MaxBackward, Clock: c.Clock, Worker: uint64(worker), Leased: c.Leased,
		Exhausted: fmt.Errorf("%s: %w in this millisecond: randomness %w", format, ErrExhausted, ErrOverflow),
	})
	return m.CheckEpoch(c.Epoch, time.Time{})
}

// Next returns a new ID, greater than all before it.
//
// When the randomness of the millisecond passes its top it waits for the next;
// callers who wait are served in turn. When the clock is behind the last ID by up to
// Config.MaxBackward it waits for that too, and returns a *[ClockError] when it is
// further behind. It waits as long as ctx allows, then returns an error that wraps
// ctx's; it looks at ctx only when it must wait, and then every few milliseconds (with
// thousands of callers waiting, a millisecond later for each thousand). It
// does not allocate, but for what a wait makes once and later ones use again.
//
// Specification: "Monotonicity and Overflow Error Handling".
func (g *Generator) Next(ctx context.Context) (ID, error) {
	word, ok := g.mint.Fast()
	if !ok {
		var err error
		if word, err = g.mint.Next(ctx); err != nil {
			return 0, err
		}
	}
	return ID(word), nil
}

// TryNext returns a new ID like [Generator.Next], but never waits: it returns the
// overflow error, which is [ErrExhausted] and [ErrOverflow], when the randomness
// passes its top or what is left belongs to callers of Next who wait for it, and a
// *[ClockError] when the clock is behind the last ID. With random increments, another try
// in the same millisecond may draw one that still fits.
func (g *Generator) TryNext() (ID, error) {
	word, ok := g.mint.Fast()
	if !ok {
		var err error
		if word, err = g.mint.TryNext(); err != nil {
			return 0, err
		}
	}
	return ID(word), nil
}

// Fill fills dst with new IDs, in order, waiting as [Generator.Next] does. It
// returns how many it made, and the error if that is less than len(dst).
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
	for i := range dst[:run] {
		dst[i] = ID(word) + ID(i)
	}
	return word, run, nil
}

// ExpiresAt returns when the generator's timestamps run out: 278 years after its
// epoch. From then on it returns a *[TimeError].
func (g *Generator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// Epoch returns the time of timestamp 0, in UTC: the epoch of Config, or the default one.
func (g *Generator) Epoch() time.Time { return g.mint.Epoch() }

// Time returns the time of an ID by the generator's epoch: in UTC, to the millisecond. The ID must
// be one of a generator with the same epoch.
func (g *Generator) Time(id ID) time.Time { return id.Time(g.Epoch()) }

// First returns the smallest ID of the millisecond of t, and Last the largest, by the generator's
// epoch. A scan from First(a) to Last(b), both included, finds all IDs of a to b. A time that the
// timestamp cannot hold counts as the nearest time that the timestamp can hold.
func (g *Generator) First(t time.Time) ID {
	first, _ := boundsOf(t, g.Epoch().UnixMilli())
	return ID(first)
}

// Last returns the largest ID of the millisecond of t; see [Generator.First].
func (g *Generator) Last(t time.Time) ID {
	_, last := boundsOf(t, g.Epoch().UnixMilli())
	return ID(last)
}

// A ScalableGenerator makes the IDs of one scalability. It is safe for concurrent
// use, like a [Generator]. It is made by [NewScalableGenerator] and must not be
// copied.
type ScalableGenerator struct {
	mint mint.Mint
	rand entropy.Source
}

// NewScalableGenerator returns a generator of scalable IDs; its errors are those of
// [NewGenerator].
func NewScalableGenerator(c ScalableConfig) (*ScalableGenerator, error) {
	if c.Scalability < 0 || c.Scalability > MaxScalability {
		return nil, badScalability(c.Scalability)
	}
	if c.Leased && c.Scalability != 0 {
		return nil, iderr.SetTwice(formatScalable, "Scalability", c.Scalability)
	}
	g := new(ScalableGenerator)
	err := initMint(&g.mint, &g.rand, formatScalable, scalableRandomnessBits, c.Scalability, Config{
		IncrementBits: c.IncrementBits, Leased: c.Leased, Epoch: c.Epoch, MaxBackward: c.MaxBackward, Clock: c.Clock})
	if err != nil {
		return nil, err
	}
	return g, nil
}

// Next returns a new ID, greater than all before it; see [Generator.Next].
func (g *ScalableGenerator) Next(ctx context.Context) (ScalableID, error) {
	word, ok := g.mint.Fast()
	if !ok {
		var err error
		if word, err = g.mint.Next(ctx); err != nil {
			return 0, err
		}
	}
	return g.at(word), nil
}

// TryNext returns a new ID without ever waiting; see [Generator.TryNext].
func (g *ScalableGenerator) TryNext() (ScalableID, error) {
	word, ok := g.mint.Fast()
	if !ok {
		var err error
		if word, err = g.mint.TryNext(); err != nil {
			return 0, err
		}
	}
	return g.at(word), nil
}

// Fill fills dst with new IDs, in order; see [Generator.Fill].
func (g *ScalableGenerator) Fill(ctx context.Context, dst []ScalableID) (int, error) {
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
// [ScalableGenerator.Next] does. An error is the last that it yields.
//
// It makes IDs in runs, as Fill does, of up to 256 for a caller who is fast and one by one for
// one who is slow: an ID's time is that of its run. A loop that is left leaves the rest of a run unused.
//
// Each ID is greater than the ones yielded before it. Callers of other methods can have greater IDs
// meanwhile, but none of a later millisecond: once somebody has one, the rest of the run is dropped.
// A loop that pauses while nobody else makes IDs goes on with the run from before the pause.
func (g *ScalableGenerator) Seq(ctx context.Context, n int) iter.Seq2[ScalableID, error] {
	return mint.Seq(&g.mint, n, func(dst []ScalableID) (uint64, int, error) { return g.some(ctx, dst) })
}

// some fills the beginning of dst with a run of IDs, of one tick.
func (g *ScalableGenerator) some(ctx context.Context, dst []ScalableID) (uint64, int, error) {
	word, run, err := g.mint.NextRun(ctx, len(dst))
	if err != nil {
		return 0, 0, err
	}
	first := g.at(word)
	for i := range dst[:run] {
		dst[i] = first + ScalableID(i)<<scalabilityBits
	}
	return word, run, nil
}

// ExpiresAt returns when the timestamps run out; see [Generator.ExpiresAt].
func (g *ScalableGenerator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// Scalability returns the scalability that the generator's next IDs have. With a lease, this is the
// scalability of the latest grant, and 0 before the first grant.
func (g *ScalableGenerator) Scalability() int { return int(g.mint.Latest()) }

// Epoch returns the time of timestamp 0, in UTC: the epoch of Config, or the default one.
func (g *ScalableGenerator) Epoch() time.Time { return g.mint.Epoch() }

// Time returns the time of an ID by the generator's epoch: in UTC, to the millisecond. The ID must
// be one of a generator with the same epoch.
func (g *ScalableGenerator) Time(id ScalableID) time.Time { return id.Time(g.Epoch()) }

// First returns the smallest ID of the millisecond of t, and Last the largest, by the generator's
// epoch. A scan from First(a) to Last(b), both included, finds all IDs of a to b. A time that the
// timestamp cannot hold counts as the nearest time that the timestamp can hold.
func (g *ScalableGenerator) First(t time.Time) ScalableID {
	first, _ := boundsOf(t, g.Epoch().UnixMilli())
	return ScalableID(first)
}

// Last returns the largest ID of the millisecond of t; see [ScalableGenerator.First].
func (g *ScalableGenerator) Last(t time.Time) ScalableID {
	_, last := boundsOf(t, g.Epoch().UnixMilli())
	return ScalableID(last)
}

// at returns the ID of a word: the timestamp and the randomness, as in the ID but
// for the scalability below them.
func (g *ScalableGenerator) at(word uint64) ScalableID {
	return ScalableID(word<<scalabilityBits | g.mint.Worker(word))
}
