package ulidflake

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/batch"
	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/usage"
)

// defaultIncrementBits are the bits of the specification's reference implementation, which adds a
// random byte.
const defaultIncrementBits = 8

// Config says how a [Generator] makes its IDs. The zero Config is the default of the specification,
// for a system with one generator.
type Config struct {
	// IncrementBits is n: each further ID of a millisecond adds a random increment in [1, 2^n) to
	// the randomness. 0 means 8, so that the next ID is hard to guess: a millisecond has 4 100 IDs
	// on average, and fewer if its first ID begins near the top. Each bit less makes the next ID
	// easier to guess, and doubles the number of IDs. 1 means plus 1: half a million IDs in a
	// millisecond on average, and each ID but the first of its millisecond is known from the ID
	// before. At most 20.
	IncrementBits int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// intervals.
	// While a lease starts in the background, Next waits for the first grant as long as its context
	// allows.
	Leased bool

	// Epoch is the time of timestamp 0: a time in the past, in whole milliseconds. The zero time
	// means DefaultEpoch.
	Epoch time.Time

	// MaxBackward is the longest wait of Next for a clock that is behind the last ID. Next returns
	// an error for a clock that is further behind. 0 means 5 s; a negative value, no wait.
	MaxBackward time.Duration

	// Clock is read for the time; nil means time.Now. It is for tests.
	Clock func() time.Time
}

// ScalableConfig says how a [ScalableGenerator] makes its IDs. The zero ScalableConfig is
// scalability 0, for a system with one generator.
type ScalableConfig struct {
	// Scalability is 0 to 31. Each generator of a system needs a scalability of its own.
	Scalability int

	// IncrementBits is as in Config, and at most 15. A millisecond has 128 IDs on average with 0,
	// which means 8, and 16 000 with 1.
	IncrementBits int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a scalability and intervals. Leave Scalability at 0.
	// While a lease starts in the background, Next waits for the first grant as long as its context
	// allows.
	Leased bool

	Epoch       time.Time        // as in Config
	MaxBackward time.Duration    // as in Config
	Clock       func() time.Time // as in Config
}

// A Generator makes stand-alone IDs. It is safe for concurrent use, holds no lock during a wait,
// and starts no goroutine. [NewGenerator] makes a Generator. A Generator must not be copied.
type Generator struct {
	mint mint.Mint
	rand entropy.Source
}

// NewGenerator returns a generator of stand-alone IDs, or a *[iderr.ConfigError] for a field that is out
// of range. If the clock is not after the epoch or is after the last timestamp, the error is a
// *[iderr.TimeError]; for an epoch in Config, the error is a *[iderr.ConfigError] with the *[iderr.TimeError] as Err.
func NewGenerator(c Config) (*Generator, error) {
	g, err := newGenerator(c)
	if err != nil {
		return nil, err
	}
	if err := g.mint.CheckEpoch(c.Epoch, time.Time{}); err != nil {
		return nil, err
	}
	return g, nil
}

// newGenerator returns a generator for any time of the clock.
func newGenerator(c Config) (*Generator, error) {
	g := new(Generator)
	return g, initMint(&g.mint, &g.rand, format, randomnessBits, 0, c)
}

// initMint initializes the mint of a generator with a worker and so many bits of randomness.
func initMint(m *mint.Mint, rand *entropy.Source, format string, bits, worker int, c Config) error {
	if c.IncrementBits < 0 || c.IncrementBits > bits {
		return wrong.Config(format, "IncrementBits", c.IncrementBits, "in 0 to "+strconv.Itoa(bits))
	}
	epoch, err := mint.Epoch(format, c.Epoch, DefaultEpochMilli)
	if err != nil {
		return err
	}
	m.Init(mint.Config{
		Format: format, Epoch: epoch, Last: MaxTimestamp, Bits: uint(bits), Field: timestampShift,
		StartBits: uint(bits), StepBits: uint(cmp.Or(c.IncrementBits, defaultIncrementBits)), Rand: rand,
		MaxBackward: c.MaxBackward, Clock: c.Clock, Worker: uint64(worker), Leased: c.Leased,
		Exhausted: fmt.Errorf("%s: %w in this millisecond: randomness %w", format, iderr.ErrExhausted, iderr.ErrRange),
	})
	return nil
}

// Next returns a new ID, greater than all IDs before.
//
// Next waits for the next millisecond once the randomness of this millisecond passes its largest
// value. Waiters get IDs in turn. Next also waits for a clock that is behind the last ID by up to
// Config.MaxBackward, and returns a *[iderr.ClockError] for a clock that is further behind.
//
// Next returns an error that wraps the error of ctx if ctx ends during a wait. It reads ctx only to
// wait, and then every few milliseconds; each thousand waiters add a millisecond. Next does not
// allocate, except for memory of the first waits, which later waits use again.
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

// TryNext returns a new ID as [Generator.Next] does, but never waits. The error is [iderr.ErrExhausted]
// and [iderr.ErrRange] if the randomness passes its largest value, or if waiters will get the IDs that
// are left. The error is a *[iderr.ClockError] if the clock is behind the last ID.
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

// Fill fills dst with new IDs, in order, and waits as [Generator.Next] does. It returns the number
// of new IDs, and an error if that number is less than len(dst).
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
// Specification: "Monotonicity and Overflow Error Handling".
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
// Each ID is greater than the IDs that Seq yielded before. Other callers can have greater IDs
// meanwhile, but no ID of a later millisecond: the rest of a run is discarded once another caller
// has an ID of a later millisecond. If no other caller makes IDs, a loop that pauses continues with
// the run from before the pause.
func (g *Generator) Seq(ctx context.Context, n int) iter.Seq2[ID, error] {
	return mint.Seq(&g.mint, n, func(dst []ID) (uint64, int, error) { return g.some(ctx, dst) })
}

// some fills the beginning of dst with IDs in order. It returns the word of the first ID and the
// number of IDs.
func (g *Generator) some(ctx context.Context, dst []ID) (uint64, int, error) {
	word, run, err := g.mint.NextRun(ctx, len(dst))
	return g.put(dst, word, run, err)
}

// put sets the beginning of dst to IDs in order, from a run of words of one millisecond on. The run and
// the error are what a call of the mint has returned.
func (g *Generator) put(dst []ID, word uint64, run int, err error) (uint64, int, error) {
	if err != nil {
		return 0, 0, err
	}
	for i := range dst[:run] {
		dst[i] = ID(word) + ID(i)
	}
	for g.mint.Single() && run < len(dst) {
		next, ok := g.mint.Fast()
		if !ok {
			break
		}
		dst[run] = ID(next)
		run++
	}
	return word, run, nil
}

// ExpiresAt returns the end of the timestamps, 278 years after the epoch. From then on calls return
// a *[iderr.TimeError].
func (g *Generator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// Usage returns how much the generator has done since it was made, and how full it is.
func (g *Generator) Usage() usage.Usage { return g.mint.Usage() }

// Epoch returns the time of timestamp 0, in UTC.
func (g *Generator) Epoch() time.Time { return g.mint.Epoch() }

// Time returns the time of an ID in UTC, to the millisecond. The ID must be of a generator with the
// same epoch.
func (g *Generator) Time(id ID) time.Time { return id.Time(g.Epoch()) }

// First returns the smallest ID of the millisecond of t, and never the zero ID. A scan from
// First(a) to Last(b), both included, finds all IDs from a to b. A time before the epoch or after
// the last timestamp counts as the nearest time in range.
func (g *Generator) First(t time.Time) ID {
	first, _ := boundsOf(t, g.Epoch().UnixMilli())
	return ID(first)
}

// Last returns the largest ID of the millisecond of t; see [Generator.First].
func (g *Generator) Last(t time.Time) ID {
	_, last := boundsOf(t, g.Epoch().UnixMilli())
	return ID(last)
}

// A ScalableGenerator makes the IDs of one scalability. It is safe for concurrent use, as a
// [Generator] is. [NewScalableGenerator] makes a ScalableGenerator. A ScalableGenerator must not be
// copied.
type ScalableGenerator struct {
	mint mint.Mint
	rand entropy.Source
}

// NewScalableGenerator returns a generator of scalable IDs. The errors are the errors of
// [NewGenerator].
func NewScalableGenerator(c ScalableConfig) (*ScalableGenerator, error) {
	if c.Scalability < 0 || c.Scalability > MaxScalability {
		return nil, badScalability(c.Scalability)
	}
	if c.Leased && c.Scalability != 0 {
		return nil, wrong.SetTwice(formatScalable, "Scalability", c.Scalability)
	}
	g := new(ScalableGenerator)
	err := initMint(&g.mint, &g.rand, formatScalable, scalableRandomnessBits, c.Scalability, Config{
		IncrementBits: c.IncrementBits, Leased: c.Leased, Epoch: c.Epoch, MaxBackward: c.MaxBackward, Clock: c.Clock})
	if err != nil {
		return nil, err
	}
	if err := g.mint.CheckEpoch(c.Epoch, time.Time{}); err != nil {
		return nil, err
	}
	return g, nil
}

// Next returns a new ID, greater than all IDs before; see [Generator.Next].
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
	return batch.Fill(dst, func(dst []ScalableID) (uint64, int, error) { return g.some(ctx, dst) })
}

// TryFill fills dst with new IDs, in order, and never waits; see [Generator.TryFill].
func (g *ScalableGenerator) TryFill(dst []ScalableID) (int, error) {
	return batch.Fill(dst, func(dst []ScalableID) (uint64, int, error) {
		word, run, err := g.mint.TryRun(len(dst))
		return g.put(dst, word, run, err)
	})
}

// Seq returns an iterator over n new IDs, or over IDs without end if n is negative; see
// [Generator.Seq].
func (g *ScalableGenerator) Seq(ctx context.Context, n int) iter.Seq2[ScalableID, error] {
	return mint.Seq(&g.mint, n, func(dst []ScalableID) (uint64, int, error) { return g.some(ctx, dst) })
}

// some fills the beginning of dst with IDs in order. It returns the word of the first ID and the
// number of IDs.
func (g *ScalableGenerator) some(ctx context.Context, dst []ScalableID) (uint64, int, error) {
	word, run, err := g.mint.NextRun(ctx, len(dst))
	return g.put(dst, word, run, err)
}

// put sets the beginning of dst to IDs in order, from a run of words of one millisecond on. The run and
// the error are what a call of the mint has returned.
func (g *ScalableGenerator) put(dst []ScalableID, word uint64, run int, err error) (uint64, int, error) {
	if err != nil {
		return 0, 0, err
	}
	first := g.at(word)
	for i := range dst[:run] {
		dst[i] = first + ScalableID(i)<<scalabilityBits
	}
	for g.mint.Single() && run < len(dst) {
		next, ok := g.mint.Fast()
		if !ok {
			break
		}
		dst[run] = g.at(next)
		run++
	}
	return word, run, nil
}

// ExpiresAt returns the end of the timestamps; see [Generator.ExpiresAt].
func (g *ScalableGenerator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// Usage returns how much the generator has done since it was made, and how full it is.
func (g *ScalableGenerator) Usage() usage.Usage { return g.mint.Usage() }

// Scalability returns the scalability of new IDs. With a lease, Scalability returns the scalability
// of the latest grant, and 0 before the first grant.
func (g *ScalableGenerator) Scalability() int { return int(g.mint.Latest()) }

// Epoch returns the time of timestamp 0, in UTC.
func (g *ScalableGenerator) Epoch() time.Time { return g.mint.Epoch() }

// Time returns the time of an ID in UTC, to the millisecond. The ID must be of a generator with the
// same epoch.
func (g *ScalableGenerator) Time(id ScalableID) time.Time { return id.Time(g.Epoch()) }

// First returns the smallest ID of the millisecond of t, and never the zero ID. A scan from
// First(a) to Last(b), both included, finds all IDs from a to b. A time before the epoch or after
// the last timestamp counts as the nearest time in range.
func (g *ScalableGenerator) First(t time.Time) ScalableID {
	first, _ := boundsOf(t, g.Epoch().UnixMilli())
	return ScalableID(first)
}

// Last returns the largest ID of the millisecond of t; see [ScalableGenerator.First].
func (g *ScalableGenerator) Last(t time.Time) ScalableID {
	_, last := boundsOf(t, g.Epoch().UnixMilli())
	return ScalableID(last)
}

// at returns the ID of a word: the timestamp and the randomness of the word, above the scalability.
func (g *ScalableGenerator) at(word uint64) ScalableID {
	randomness := word & MaxScalableRandomness
	return ScalableID(word&^MaxRandomness | randomness<<scalabilityBits | g.mint.Worker(word))
}
