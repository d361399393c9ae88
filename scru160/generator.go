package scru160

import (
	"context"
	"iter"
	"math/bits"
	"strconv"
	"time"

	"github.com/firn-id/firn/internal/engine/batch"
	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/usage"
)

const (
	counterBits      = 16
	microCounterBits = 6 // beside 10 bits of microseconds
	random16Bits     = 16

	// minTimeBits are the bits of a word for the time, in milliseconds until the year 2527 and in
	// microseconds until the year 2540. A counter of more bits than the rest of the word keeps its
	// high bits elsewhere; see wide.
	minTimeBits      = 44
	minMicroTimeBits = 54

	// runIDs is the number of IDs whose random bits are drawn together.
	runIDs = 128
)

// Config says how a [Generator] makes its IDs. The zero Config is the default of the specification,
// for any number of generators.
type Config struct {
	// Counter says how an ID uses the counter field.
	Counter Counter

	// Start is the number of random bits at which the counter of a tick starts; see [StartBits].
	// The zero Start means all bits but the most significant bit of the counter, 15 of 16: at least
	// 32 769 IDs in a millisecond. A counter of more than 20 bits starts with bit 19 clear, too,
	// and in microseconds a counter of more than 10 bits with bit 9. A tick of such counters has up
	// to 2^20 and 2^10 IDs.
	Start Start

	// ExtraCounterBits extend the counter by the most significant bits of random16: 0 to 16.
	ExtraCounterBits int

	// NodeBits hold NodeID, in the bits of random16 next to ExtraCounterBits: 0 to the rest of the
	// 16. Generators with the same widths and different node IDs never make equal IDs.
	NodeBits int
	NodeID   int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a node ID and intervals. Leave NodeID at 0, and Restart unset.
	// While a lease starts in the background, Next waits for the first grant as long as its context
	// allows.
	Leased bool

	// SystemRandom takes the random bits of each ID from crypto/rand. Otherwise the random bits
	// come from a cipher (AES-256 on processors with AES instructions, else ChaCha8) with keys from
	// crypto/rand, drawn ahead, in a sixth of the time. Clones of a virtual machine share the bits
	// that were drawn ahead.
	SystemRandom bool

	// MaxBackward is the distance of the clock behind the last ID up to which the generator
	// continues in the tick of the last ID, for as long as the tick has counter left. 0 means 5 s;
	// a negative value, no distance.
	MaxBackward time.Duration

	// Restart makes a generator start afresh at the time of a clock that is further behind than
	// MaxBackward. Without Restart, the generator returns an error. IDs do not increase at such a
	// point, and are distinct by their random bits alone.
	Restart bool

	// Clock is read for the time; nil means time.Now. It is for tests.
	Clock func() time.Time
}

// Counter says how an ID uses the counter field.
//
// Specification: "counter".
type Counter uint8

const (
	// CounterMilliseconds is the default: a random start in each millisecond, then plus 1 for each
	// ID.
	CounterMilliseconds Counter = iota
	// CounterMicroseconds is the alternative: the 10 most significant bits are the microsecond
	// within the millisecond. The other 6 bits start at a random number in each microsecond, then
	// plus 1 for each ID.
	CounterMicroseconds
)

// Start is the number of random bits at which the counter of a tick starts. The zero Start means as
// many bits as the specification allows.
type Start struct {
	bits int
	set  bool
}

// StartBits returns the Start of n random bits. Fewer bits leave more IDs in a tick; 0 bits start
// each tick at 0.
func StartBits(n int) Start { return Start{bits: n, set: true} }

// A Generator makes IDs. It is safe for concurrent use, holds no lock during a wait, and starts no
// goroutine. [NewGenerator] makes a Generator. A Generator must not be copied.
type Generator struct {
	mint mint.Mint
	rand entropy.Source
	wide *wide // the counter bits that do not fit the word; nil if all do

	bits    uint8  // of the counter, extended, without microseconds
	low     uint8  // of those, in the word
	extra   uint8  // of random16, for the counter
	noise   uint32 // mask of what stays random of random16, and of the next 16 bits, which all do
	perUnit uint64 // ticks in a millisecond

	nodeBits uint8
}

// NewGenerator returns a generator, a *[iderr.ConfigError] for a field that is out of range, or a
// *[iderr.TimeError] if the clock is not after 1970 or is after the last timestamp.
func NewGenerator(c Config) (*Generator, error) {
	if c.Counter > CounterMicroseconds {
		return nil, wrong.Config(format, "Counter", c.Counter, "CounterMilliseconds or CounterMicroseconds")
	}
	if c.ExtraCounterBits < 0 || c.ExtraCounterBits > random16Bits {
		return nil, outside("ExtraCounterBits", c.ExtraCounterBits, random16Bits)
	}
	if most := random16Bits - c.ExtraCounterBits; c.NodeBits < 0 || c.NodeBits > most {
		return nil, outside("NodeBits", c.NodeBits, most)
	}
	if most := 1<<c.NodeBits - 1; c.NodeID < 0 || c.NodeID > most {
		return nil, outside("NodeID", c.NodeID, most)
	}

	if c.Leased && c.NodeID != 0 {
		return nil, wrong.SetTwice(format, "NodeID", c.NodeID)
	}
	if c.Leased && c.Restart {
		return nil, wrong.Config(format, "Restart", c.Restart, "false: a leased generator never goes back")
	}

	micro := c.Counter == CounterMicroseconds
	width, timeBits, perUnit := counterBits+c.ExtraCounterBits, minTimeBits, uint64(1)
	if micro {
		width, timeBits, perUnit = microCounterBits+c.ExtraCounterBits, minMicroTimeBits, 1000
	}
	start := width - 1
	if c.Start.set {
		start = c.Start.bits
	}
	if start < 0 || start > width-1 {
		return nil, outside("Start", start, width-1)
	}

	low := min(width, 64-timeBits)
	noise := random16Bits - c.ExtraCounterBits - c.NodeBits
	g := &Generator{
		rand:    entropy.Source{Direct: c.SystemRandom},
		bits:    uint8(width),
		low:     uint8(low),
		extra:   uint8(c.ExtraCounterBits),
		noise:   1<<(noise+16) - 1,
		perUnit: perUnit,

		nodeBits: uint8(c.NodeBits),
	}
	if start > low {
		g.wide = newWide(start - low)
	}
	// Timestamps 0 and 2^48-1 are reserved, and the time of a word may have fewer bits.
	last := min(MaxTimestamp*perUnit-1, 1<<(64-low)-2)
	g.mint.Init(mint.Config{
		Format: format, Micro: micro, First: perUnit, Last: last, Bits: uint(low),
		StartBits: uint(min(start, low-1)), Rand: &g.rand,
		Hold: true, MaxBackward: c.MaxBackward, Rewind: c.Restart, Clock: c.Clock,
		Worker: uint64(c.NodeID) << noise, Leased: c.Leased,
	})
	if err := g.mint.CheckNow(); err != nil {
		return nil, err
	}
	return g, nil
}

func outside(field string, v, most int) error {
	return wrong.Config(format, field, v, "in 0 to "+strconv.Itoa(most))
}

// Next returns a new ID, greater than all IDs before by the timestamp and the counter.
//
// Next waits for the next tick (millisecond or microsecond) once the counter of this tick is used
// up. Waiters get IDs in turn. With a clock that is behind the last ID by up to Config.MaxBackward,
// Next continues in the tick of the last ID, and waits once the tick is used up. Next returns a
// *[iderr.ClockError] for a clock that is further behind.
//
// Next returns an error that wraps the error of ctx if ctx ends during a wait. It reads ctx only to
// wait, and then every few milliseconds; each thousand waiters add a millisecond. Next does not
// allocate, except for memory of the first waits, which later waits use again.
//
// Specification: "Binary Layout and Byte Order", "Scope of guaranteed monotonicity".
func (g *Generator) Next(ctx context.Context) (id ID, err error) {
	word, ok := g.mint.Fast()
	if !ok {
		if word, err = g.mint.Next(ctx); err != nil {
			return id, err
		}
	}
	hi, lo := g.rand.Uint96()
	first, middle := g.fields(word)
	id.put(first, middle|uint64(hi&g.noise), lo)
	return id, nil
}

// TryNext returns a new ID as [Generator.Next] does, but never waits. The error is [iderr.ErrExhausted]
// if the tick has no counter left or waiters will get the IDs that are left. The error is a
// *[iderr.ClockError] if the clock is further behind the last ID than Config.MaxBackward, or if the tick
// of the last ID is used up.
func (g *Generator) TryNext() (id ID, err error) {
	word, ok := g.mint.Fast()
	if !ok {
		if word, err = g.mint.TryNext(); err != nil {
			return id, err
		}
	}
	hi, lo := g.rand.Uint96()
	first, middle := g.fields(word)
	id.put(first, middle|uint64(hi&g.noise), lo)
	return id, nil
}

// Fill fills dst with new IDs, in order, and waits as [Generator.Next] does. It reserves as many
// IDs of a tick at a time as possible. Fill returns the number of new IDs, and an error if that
// number is less than len(dst).
func (g *Generator) Fill(ctx context.Context, dst []ID) (int, error) {
	return batch.Fill(dst, func(dst []ID) (uint64, int, error) { return g.some(ctx, dst) })
}

// TryFill fills dst with new IDs, in order, and never waits. It returns the number of new IDs, and if
// that number is less than len(dst), the error of [Generator.TryNext]. Each ID is greater than all IDs
// before by the timestamp and the counter.
//
// TryFill takes what the tick has left, and continues in the next tick only if the clock is
// there meanwhile. It is for a caller that asks another generator for the rest.
//
// Specification: "Scope of guaranteed monotonicity".
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
// of a later tick: the rest of a run is discarded once another caller has an ID of a later tick. If
// no other caller makes IDs, a loop that pauses continues with the run from before the pause.
func (g *Generator) Seq(ctx context.Context, n int) iter.Seq2[ID, error] {
	return mint.Seq(&g.mint, n, func(dst []ID) (uint64, int, error) { return g.some(ctx, dst) })
}

// some fills the beginning of dst with a run of IDs of one tick. It returns the word of the first
// ID and the number of IDs.
func (g *Generator) some(ctx context.Context, dst []ID) (uint64, int, error) {
	word, run, err := g.mint.NextRun(ctx, len(dst))
	return g.put(dst, word, run, err)
}

// put sets the beginning of dst to the IDs of a run of words of one tick. The run and the error are
// what a call of the mint has returned.
func (g *Generator) put(dst []ID, word uint64, run int, err error) (uint64, int, error) {
	if err != nil {
		return 0, 0, err
	}
	var random [runIDs]entropy.Bits96
	for done := 0; done < run; {
		some := dst[done:min(done+len(random), run)]
		g.rand.Read96(random[:len(some)])
		g.fill(some, word+uint64(done), random[:len(some)])
		done += len(some)
	}
	return word, run, nil
}

// fill sets dst to the IDs of a run of words, with random bits.
func (g *Generator) fill(dst []ID, word uint64, random []entropy.Bits96) {
	first, middle := g.fields(word)
	noise, step := uint64(g.noise), uint64(1)<<(32-g.extra)
	random = random[:len(dst)]
	for i := range dst {
		hi, lo := random[i].Words()
		dst[i].put(first, middle|uint64(hi)&noise, lo)
		middle += step
	}
}

// ExpiresAt returns the end of the timestamps: the year 10889 with the counter of the
// specification, and earlier with extra counter bits: from 4 extra bits on the year 2527, or 2540
// with microseconds. From then on calls return a *[iderr.TimeError].
func (g *Generator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// Usage returns how much the generator has done since it was made, and how full it is.
func (g *Generator) Usage() usage.Usage { return g.mint.Usage() }

// NodeID returns the node ID of new IDs, and 0 without NodeBits. With a lease, NodeID returns the
// node ID of the latest grant, and 0 before the first grant.
func (g *Generator) NodeID() int {
	if g.nodeBits == 0 {
		return 0
	}
	return int(g.mint.Latest() >> (bits.Len32(g.noise) - 16))
}

// fields returns bytes 0 to 3 and bytes 4 to 11 of the ID of a word, without random bits.
func (g *Generator) fields(word uint64) (first uint32, middle uint64) {
	tick := word >> g.low
	counter := uint32(word & (1<<g.low - 1))
	if g.wide != nil {
		counter |= g.wide.highBits(tick) << g.low
	}
	timestamp := tick
	if g.perUnit > 1 {
		timestamp = tick / g.perUnit
		counter |= uint32(tick%g.perUnit) << g.bits
	}
	field := counter<<(random16Bits-g.extra) | uint32(g.mint.Worker(word))
	return uint32(timestamp >> 16), timestamp<<48 | uint64(field)<<16
}
