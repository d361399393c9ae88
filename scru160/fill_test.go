package scru160

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// fillConfigs are all kinds of fields. Their counters start at 0.
var fillConfigs = func() []Config {
	zero := StartBits(0)
	return []Config{
		{Start: zero},
		{Start: zero, SystemRandom: true},
		{Start: zero, NodeBits: 5, NodeID: 21},
		{Start: zero, NodeBits: 16, NodeID: 0xa5c3},
		{Start: zero, ExtraCounterBits: 1},
		{Start: zero, ExtraCounterBits: 4, NodeBits: 12, NodeID: 0x5a5},
		{Start: zero, ExtraCounterBits: 10, NodeBits: 3, NodeID: 5},
		{Start: zero, ExtraCounterBits: 16},
		{Start: StartBits(31), ExtraCounterBits: 16}, // some bits are a hash of the tick
		{Start: zero, Counter: CounterMicroseconds, NodeBits: 7, NodeID: 99},
		{Start: zero, Counter: CounterMicroseconds, ExtraCounterBits: 9, NodeBits: 2, NodeID: 3},
		{Start: StartBits(21), Counter: CounterMicroseconds, ExtraCounterBits: 16},
	}
}()

// From the same words and random bits, Fill and Next make the same IDs, in the layout of the specification.
func TestFillOfSameBits(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	for _, c := range fillConfigs {
		g := testkit.Must(NewGenerator(c))
		limit := uint64(1) << g.low
		for _, n := range []int{1, 2, 63, runIDs} {
			n := min(n, int(limit))
			for _, counter := range []uint64{0, 1, limit / 2, limit - uint64(n)} { // the last run ends the tick
				counter = min(counter, limit-uint64(n))
				tick := uint64(time.Date(2026, 7, 1, 0, 0, 0, 123456789, time.UTC).UnixMicro()) * g.perUnit / 1000
				random := make([]entropy.Bits96, n)
				for i := range random {
					binary.NativeEndian.PutUint64(random[i][:], r.Uint64())
					binary.NativeEndian.PutUint32(random[i][8:], r.Uint32())
				}
				ids := make([]ID, n+1) // the last ID stays zero
				g.fill(ids[:n], tick<<g.low|counter, random)
				for i, id := range ids[:n] {
					hi, lo := random[i].Words()
					var want ID
					first, middle := g.fields(tick<<g.low | (counter + uint64(i)))
					want.put(first, middle|uint64(hi&g.noise), lo)
					if id != want {
						t.Fatalf("%+v: ID %d of %d is %x, and alone %x", c, i, n, id, want)
					}

					extended := counter + uint64(i)
					if g.wide != nil {
						extended |= uint64(g.wide.highBits(tick)) << g.low
					}
					extended |= tick % g.perUnit << g.bits
					free := random16Bits - c.ExtraCounterBits - c.NodeBits
					middle = extended<<(random16Bits-c.ExtraCounterBits) | uint64(c.NodeID)<<free | uint64(hi>>16)&(1<<free-1)
					if want := pack(tick/g.perUnit, uint32(middle), uint16(hi), lo); id != want {
						t.Fatalf("%+v: ID %d of %d is %x, want %x", c, i, n, id, want)
					}
				}
				if ids[n] != (ID{}) {
					t.Fatalf("%+v: wrote beyond %d IDs", c, n)
				}
			}
		}
	}
}

// With a clock that stands, Fill and Next make the same IDs except for the random bits, which are new in each
// ID.
func TestFillAsNext(t *testing.T) {
	for _, c := range fillConfigs {
		clock := testkit.At(time.Date(2026, 7, 1, 0, 0, 0, 123456789, time.UTC))
		c.Clock = clock.Now
		if c.Start != StartBits(0) {
			continue // two generators start at different numbers
		}
		alone := testkit.Must(NewGenerator(c))
		many := testkit.Must(NewGenerator(c))
		fixed := func(id ID) ID { // without its random bits
			field := binary.BigEndian.Uint16(id[8:]) &^ uint16(alone.noise>>16)
			return pack(binary.BigEndian.Uint64(id[:])>>16, uint32(id.Counter())<<16|uint32(field), 0, 0)
		}
		var noise, high, low []uint64
		seen := make(map[[10]byte]bool)
		for range 1 << 9 {
			clock.Step(1234567 * time.Nanosecond)
			ids := make([]ID, 0, 60)
			for _, n := range []int{1, 0, 40, 2, 17} { // a microsecond has 64
				some := make([]ID, n)
				if made, err := many.Fill(context.Background(), some); made != n || err != nil {
					t.Fatalf("%+v: %d of %d, %v", c, made, n, err)
				}
				ids = append(ids, some...)
			}
			for i, id := range ids {
				want := testkit.Must(alone.TryNext())
				if fixed(id) != fixed(want) {
					t.Fatalf("%+v: ID %d of a tick is %x, and of Next %x", c, i, id, want)
				}
				tail := id.Random80()
				if seen[tail] {
					t.Fatalf("%+v: the random bits of %x came twice", c, id)
				}
				seen[tail] = true
				noise = append(noise, uint64(id.Random16())&uint64(alone.noise>>16))
				high = append(high, binary.BigEndian.Uint64(tail[:8]))
				low = append(low, binary.BigEndian.Uint64(tail[2:]))
			}
		}
		check := func(name string, values []uint64, bits int) {
			if fault := testkit.Random(values, bits); bits > 0 && fault != "" {
				t.Errorf("%+v, %s: %s", c, name, fault)
			}
		}
		check("random16", noise, random16Bits-c.ExtraCounterBits-c.NodeBits)
		check("random80, high", high, 64)
		check("random80, low", low, 64)
	}
}

// A Fill longer than a draw of random bits is one run of counters.
func TestFillLong(t *testing.T) {
	clock := testkit.At(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))
	for _, n := range []int{runIDs - 1, runIDs, runIDs + 1, 2*runIDs + 1, 5000} {
		g := testkit.Must(NewGenerator(Config{Clock: clock.Now}))
		ids := make([]ID, n)
		if made, err := g.Fill(context.Background(), ids); made != n || err != nil {
			t.Fatalf("%d of %d, %v", made, n, err)
		}
		seen := make(map[[10]byte]bool)
		for i, id := range ids {
			if id.Timestamp() != clock.Now().UnixMilli() || id.Counter() != ids[0].Counter()+i {
				t.Fatalf("%d of %d: %v follows %v", i, n, id, ids[i-1])
			}
			if seen[id.Random80()] {
				t.Fatalf("%d of %d: the random bits came twice", i, n)
			}
			seen[id.Random80()] = true
		}
	}
}
