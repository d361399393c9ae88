package scru160

import (
	"context"
	"iter"
	"math/bits"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/entropy"
	"github.com/firn-id/firn/internal/mint"
)

const (
	counterBits      = 16
	microCounterBits = 6 // beside 10 bits of microseconds
	random16Bits     = 16

	// minTimeBits are what a word leaves to the time, in milliseconds and in
	// microseconds: until the year 2527 and 2540. Counters that are wider than the
	// rest of the word keep their high bits elsewhere; see wide.
	minTimeBits      = 44
	minMicroTimeBits = 54

	// runIDs is how many IDs have their random bits drawn at once.
	runIDs = 128
)

// Config says how a [Generator] makes its IDs. The zero Config is the specification's
// default.
type Config struct {
	// Counter says how the counter field is used.
	Counter Counter

	// Start says how many random bits a new tick's counter starts at; see
	// [StartBits]. The zero Start means all but the most significant bit of the
	// counter, 15 of 16: at least 32 769 IDs in a millisecond. A counter of more than
	// 20 bits starts with bit 19 clear as well, one of more than 10 bits of a
	// microsecond with bit 9, and a tick has up to 2^20 and 2^10 of its IDs.
	Start Start

	// ExtraCounterBits of random16, its most significant ones, extend the counter:
	// 0 to 16.
	ExtraCounterBits int

	// NodeBits of random16, next to those, hold NodeID: 0 to the rest of the 16. A
	// node ID that no other generator has makes IDs distinct among generators.
	NodeBits int
	NodeID   int

	// Leased makes a generator for lease.Start: the generator mints nothing until a lease gives it
	// a node ID and intervals. Leave NodeID at 0, and Restart unset.
	Leased bool

	// SystemRandom takes each ID's random bits from crypto/rand. Otherwise they are those
	// of a cipher (AES-256 where processors have it, else ChaCha8), drawn ahead and under
	// keys from crypto/rand, at a sixth of the time. Clones of a virtual machine share what
	// was drawn ahead.
	SystemRandom bool

	// MaxBackward is how far the clock may be behind the last ID for the generator
	// to go on in the last ID's tick, as long as that has counter left. 0 means
	// 5 s; negative, not at all.
	MaxBackward time.Duration

	// Restart makes a generator whose clock is further behind than MaxBackward start
	// afresh at the clock's time, rather than return an error. Its IDs then do not
	// increase at that point, and are distinct by their random bits alone.
	Restart bool

	// Clock is read for the time; nil means time.Now. It is for tests.
	Clock func() time.Time
}

// Counter says how the counter field is used.
//
// Specification: "counter".
type Counter uint8

const (
	// CounterMilliseconds is the default usage: a random start in each millisecond,
	// then plus 1 per ID.
	CounterMilliseconds Counter = iota
	// CounterMicroseconds is the alternative usage: the 10 most significant bits are
	// the microsecond within the millisecond, the other 6 start at a random number
	// in each microsecond, then plus 1 per ID.
	CounterMicroseconds
)

// Start says how many random bits a tick's counter starts at. The zero Start means as
// many as the specification allows.
type Start struct {
	bits int
	set  bool
}

// StartBits returns the Start of n random bits: fewer leave more IDs in a tick, and 0
// starts each tick at 0.
func StartBits(n int) Start { return Start{bits: n, set: true} }

// A Generator makes IDs. It is safe for concurrent use, holds no lock while it waits,
// and starts no goroutine. It is made by [NewGenerator] and must not be copied.
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

// NewGenerator returns a generator. It returns a *[ConfigError] that names a field out
// of range, and a *[TimeError] if the clock is not after 1970 or past the last
// timestamp.
func NewGenerator(c Config) (*Generator, error) {
	if c.Counter > CounterMicroseconds {
		return nil, iderr.BadConfig(format, "Counter", c.Counter, "CounterMilliseconds or CounterMicroseconds")
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
		return nil, iderr.SetTwice(format, "NodeID", c.NodeID)
	}
	if c.Leased && c.Restart {
		return nil, iderr.BadConfig(format, "Restart", c.Restart, "false: a leased generator never goes back")
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
	// Timestamps 0 and 2^48-1 are reserved, and a word may hold fewer than there are.
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
	return iderr.BadConfig(format, field, v, "in 0 to "+strconv.Itoa(most))
}

// Next returns a new ID, greater than all before it by its timestamp and counter.
//
// When the counter of the tick (the millisecond, or the microsecond) is used up it
// waits for the next; callers who wait are served in turn. A clock that is behind the
// last ID by up to Config.MaxBackward only makes it go on in the last ID's tick; it
// waits if that is used up, and returns a *[ClockError] if the clock is further
// behind. It waits as long as ctx allows, then returns an error that wraps ctx's; it
// looks at ctx only when it must wait, and then every few milliseconds (with thousands of
// callers waiting, a millisecond later for each thousand). It does not
// allocate, but for what a wait makes once and later ones use again.
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

// TryNext returns a new ID like [Generator.Next], but never waits: it returns
// [ErrExhausted] when the tick's counter is used up or belongs to callers of Next who
// wait for it, and a *[ClockError] when the clock is behind the last ID and cannot be
// made up for.
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

// Fill fills dst with new IDs, in order, reserving all it can of a tick in one step
// and waiting as [Generator.Next] does. It returns how many it made, and the error if
// that is less than len(dst).
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
// meanwhile, but none of a later tick: once somebody has one, the rest of the run is dropped.
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
	var random [runIDs]entropy.Bits96
	for done := 0; done < run; {
		some := dst[done:min(done+len(random), run)]
		g.rand.Read96(random[:len(some)])
		g.fill(some, word+uint64(done), random[:len(some)])
		done += len(some)
	}
	return word, run, nil
}

// fill sets IDs to those of a run of words and of random bits.
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

// ExpiresAt returns when the generator's timestamps run out: in the year 10889 with
// the specification's counter, and earlier with extra counter bits: from four on in 2527,
// or 2540 with microseconds. From then on it returns a *[TimeError].
func (g *Generator) ExpiresAt() time.Time { return g.mint.ExpiresAt() }

// NodeID returns the node ID that the generator's next IDs have, 0 without NodeBits. With a lease, this
// is the node ID of the latest grant, and 0 before the first grant.
func (g *Generator) NodeID() int {
	if g.nodeBits == 0 {
		return 0
	}
	return int(g.mint.Latest() >> (bits.Len32(g.noise) - 16))
}

// fields returns bytes 0 to 3 and 4 to 11 of a word's ID, without random bits.
func (g *Generator) fields(word uint64) (first uint32, middle uint64) {
	tick := word >> g.low
	counter := uint32(word & (1<<g.low - 1))
	if g.wide != nil {
		counter |= g.wide.of(tick) << g.low
	}
	timestamp := tick
	if g.perUnit > 1 {
		timestamp = tick / g.perUnit
		counter |= uint32(tick%g.perUnit) << g.bits
	}
	field := counter<<(random16Bits-g.extra) | uint32(g.mint.Worker(word))
	return uint32(timestamp >> 16), timestamp<<48 | uint64(field)<<16
}
