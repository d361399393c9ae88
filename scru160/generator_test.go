package scru160_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
)

// generation returns the promises of a configuration. Counters have reach bits in a tick, and start at
// start random bits.
func generation(c scru160.Config, reach, start int, expires int64) testkit.Generation[scru160.ID] {
	g := testkit.Generation[scru160.ID]{
		Name: fmt.Sprintf("%d %v extra %d node %d", c.Counter, c.Start, c.ExtraCounterBits, c.NodeBits), Format: "scru160",
		New: func(s testkit.Setup) (testkit.Generator[scru160.ID], error) {
			c := c
			c.Clock, c.MaxBackward = s.Clock, s.MaxBackward
			if s.Leased {
				c.Leased, c.NodeID = true, 0
			}
			return scru160.NewGenerator(c)
		},
		Zero:  func() testkit.Generator[scru160.ID] { return new(scru160.Generator) },
		Unit:  time.Millisecond,
		First: time.UnixMilli(1), Last: time.UnixMilli(expires - 1),
		Time:  scru160.ID.Time,
		Least: 1<<reach - 1<<start + 1, Most: 1 << reach, Holds: true,
	}
	if c.Counter == scru160.CounterMicroseconds {
		g.Unit = time.Microsecond
		g.Last = time.UnixMicro(expires - 1)
		g.Time = func(id scru160.ID) time.Time {
			return id.Time().Add(time.Duration(id.Counter()>>6) * time.Microsecond)
		}
	}
	return g
}

func TestGenerator(t *testing.T) {
	const micro = scru160.CounterMicroseconds
	type config = scru160.Config
	testkit.Run(t, []testkit.Generation[scru160.ID]{
		generation(config{}, 16, 15, 1<<48-1),
		generation(config{Start: scru160.StartBits(0), NodeBits: 16, NodeID: 65535}, 16, 0, 1<<48-1),
		generation(config{Start: scru160.StartBits(7), SystemRandom: true, NodeBits: 5, NodeID: 9}, 16, 7, 1<<48-1),
		generation(config{ExtraCounterBits: 1}, 17, 16, 1<<47-1),
		generation(config{ExtraCounterBits: 4, NodeBits: 12, NodeID: 1}, 20, 19, 1<<44-1),
		generation(config{ExtraCounterBits: 16}, 20, 19, 1<<44-1),
		generation(config{Counter: micro}, 6, 5, (1<<48-1)*1000),
		generation(config{Counter: micro, Start: scru160.StartBits(0)}, 6, 0, (1<<48-1)*1000),
		generation(config{Counter: micro, ExtraCounterBits: 4}, 10, 9, 1<<54-1),
		generation(config{Counter: micro, ExtraCounterBits: 16}, 10, 9, 1<<54-1),
		generation(config{Start: scru160.StartBits(15)}, 16, 15, 1<<48-1),
	})
}

// counter returns the counter of an ID, extended by bits of random16.
func counter(id scru160.ID, extra int) uint64 {
	return uint64(binary.BigEndian.Uint32(id[6:10])) >> (16 - extra)
}

// The fields of the first IDs of a tick.
func TestFields(t *testing.T) {
	type config = scru160.Config
	for _, v := range []struct {
		config scru160.Config
		bits   int // of the counter, without microseconds
		start  int // random bits at the start
		stuck  int // a random bit that is always 0, since the word has no room; or -1
	}{
		{config{}, 16, 15, -1},
		{config{Start: scru160.StartBits(15)}, 16, 15, -1},
		{config{Start: scru160.StartBits(14), NodeBits: 16, NodeID: 0xa5c3}, 16, 14, -1},
		{config{Start: scru160.StartBits(8), NodeBits: 7, NodeID: 0x55}, 16, 8, -1},
		{config{Start: scru160.StartBits(1)}, 16, 1, -1},
		{config{Start: scru160.StartBits(0)}, 16, 0, -1},
		{config{ExtraCounterBits: 1, SystemRandom: true}, 17, 16, -1},
		{config{ExtraCounterBits: 4, NodeBits: 5, NodeID: 21}, 20, 19, -1},
		{config{ExtraCounterBits: 5, NodeBits: 11, NodeID: 2047}, 21, 20, 19},
		{config{ExtraCounterBits: 10}, 26, 25, 19},
		{config{ExtraCounterBits: 16}, 32, 31, 19},
		{config{Counter: scru160.CounterMicroseconds}, 6, 5, -1},
		{config{Counter: scru160.CounterMicroseconds, Start: scru160.StartBits(3)}, 6, 3, -1},
		{config{Counter: scru160.CounterMicroseconds, ExtraCounterBits: 4}, 10, 9, -1},
		{config{Counter: scru160.CounterMicroseconds, ExtraCounterBits: 16}, 22, 21, 9},
	} {
		c := v.config
		t.Run(fmt.Sprintf("%d %v extra %d node %d", c.Counter, c.Start, c.ExtraCounterBits, c.NodeBits), func(t *testing.T) {
			micro := c.Counter == scru160.CounterMicroseconds
			clock := testkit.At(time.Date(2026, 7, 1, 0, 0, 0, 123456789, time.UTC))
			c.Clock = clock.Now
			gen := testkit.Must(scru160.NewGenerator(c))
			mask := uint64(1)<<v.bits - 1
			var starts, noise, high80, low80 []uint64
			free := 16 - c.ExtraCounterBits - c.NodeBits
			for range 1 << 13 {
				clock.Step(1234567 * time.Nanosecond)
				before := uint64(0)
				for i := range 3 {
					id := testkit.Must(gen.TryNext())
					testkit.Same(t, id.Timestamp(), clock.Now().UnixMilli())
					if got, want := id.Counter()>>6, clock.Now().Nanosecond()/1000%1000; micro && got != want {
						t.Fatalf("microsecond %d, want %d", got, want)
					}
					testkit.Same(t, id.NodeID(c.ExtraCounterBits, c.NodeBits), c.NodeID)
					n := counter(id, c.ExtraCounterBits) & mask
					if i == 0 {
						starts = append(starts, n)
					} else if n != before+1 {
						t.Fatalf("counter %d follows %d", n, before)
					}
					before = n
					r := id.Random80()
					noise = append(noise, uint64(id.Random16())&(1<<free-1))
					high80 = append(high80, binary.BigEndian.Uint64(r[:8]))
					low80 = append(low80, binary.BigEndian.Uint64(r[2:]))
				}
			}
			check := func(name string, values []uint64, bits int) {
				if fault := testkit.Random(values, bits); bits > 0 && fault != "" {
					t.Errorf("%s: %s", name, fault)
				}
			}
			check("random16", noise, free)
			check("random80, high", high80, 64)
			check("random80, low", low80, 64)
			for i := range starts { // leave out the stuck bit
				if v.stuck >= 0 {
					if starts[i]>>v.stuck&1 != 0 {
						t.Fatalf("bit %d of the start %#x is set", v.stuck, starts[i])
					}
					starts[i] = starts[i]>>(v.stuck+1)<<v.stuck | starts[i]&(1<<v.stuck-1)
				}
			}
			bits := v.start
			if v.stuck >= 0 {
				bits--
			}
			check("start", starts, bits)
			for _, s := range starts {
				if bits == 0 && s != 0 {
					t.Fatalf("start %d, want 0", s)
				}
			}
		})
	}
}

// FromTime starts counters as a generator does.
func TestFromTime(t *testing.T) {
	at := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	var counters, random16, random80 []uint64
	for range 1 << 13 {
		id := testkit.Must(scru160.FromTime(at))
		r := id.Random80()
		counters = append(counters, uint64(id.Counter()))
		random16 = append(random16, uint64(id.Random16()))
		random80 = append(random80, binary.BigEndian.Uint64(r[:8]), binary.BigEndian.Uint64(r[2:]))
	}
	for name, fault := range map[string]string{
		"counter": testkit.Random(counters, 15), "random16": testkit.Random(random16, 16), "random80": testkit.Random(random80, 64),
	} {
		if fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
	testkit.Times(t, testkit.Timed[scru160.ID]{
		Format: "scru160", Bits: 48, DefaultEpoch: time.UnixMilli(0), Reserved: true, Compare: scru160.ID.Compare,
		FromTime:  func(t, _ time.Time) (scru160.ID, error) { return scru160.FromTime(t) },
		First:     func(t, _ time.Time) (scru160.ID, error) { return scru160.First(t), nil },
		Last:      func(t, _ time.Time) (scru160.ID, error) { return scru160.Last(t), nil },
		Time:      func(id scru160.ID, _ time.Time) time.Time { return id.Time() },
		Timestamp: scru160.ID.Timestamp,
		Min:       scru160.ID{scru160.Size - 1: 1},
		Max:       scru160.Max(),
	})
}

// No generator makes timestamps 0 and 2^48-1, however the clock gets there.
func TestReserved(t *testing.T) {
	const last = 1<<48 - 1
	for _, usage := range []scru160.Counter{scru160.CounterMilliseconds, scru160.CounterMicroseconds} {
		for _, from := range []time.Time{time.UnixMilli(1), time.UnixMilli(1).Add(999999), time.UnixMilli(last - 1), time.UnixMilli(last).Add(-1)} {
			clock := testkit.At(from)
			gen, err := scru160.NewGenerator(scru160.Config{Counter: usage, Restart: true, MaxBackward: -1, Clock: clock.Now})
			if err != nil {
				t.Fatalf("at %v: %v", from, err)
			}
			for _, at := range []int64{0, 1, last - 1, last, last + 1, 1, -1} {
				for _, within := range []time.Duration{0, 1, time.Millisecond - 1} {
					clock.Set(time.UnixMilli(at).Add(within))
					id, err := gen.TryNext()
					switch {
					case err != nil && !errors.Is(err, iderr.ErrTimeRange):
						t.Errorf("at %d ms: %v", at, err)
					case (err != nil) != (at <= 0 || at >= last):
						t.Errorf("at %d ms: %v", at, err)
					case err == nil && (id.Timestamp() == 0 || id.Timestamp() == last || id.Timestamp() != at):
						t.Errorf("at %d ms: timestamp %d", at, id.Timestamp())
					}
				}
			}
		}
	}
}

func TestConfigErrors(t *testing.T) {
	type config = scru160.Config
	const micro = scru160.CounterMicroseconds
	for _, v := range []struct {
		config      scru160.Config
		field, want string
	}{
		{config{Counter: 2}, "Counter", "2 is not CounterMilliseconds or CounterMicroseconds"},
		{config{ExtraCounterBits: -1}, "ExtraCounterBits", "-1 is not in 0 to 16"},
		{config{ExtraCounterBits: 17}, "ExtraCounterBits", "17 is not in 0 to 16"},
		{config{ExtraCounterBits: math.MaxInt}, "ExtraCounterBits", "0 to 16"},
		{config{NodeBits: -1}, "NodeBits", "-1 is not in 0 to 16"},
		{config{NodeBits: 17}, "NodeBits", "17 is not in 0 to 16"},
		{config{ExtraCounterBits: 10, NodeBits: 7}, "NodeBits", "7 is not in 0 to 6"},
		{config{NodeID: 1}, "NodeID", "1 is not in 0 to 0"},
		{config{NodeBits: 4, NodeID: 16}, "NodeID", "16 is not in 0 to 15"},
		{config{NodeBits: 4, NodeID: -1}, "NodeID", "-1 is not in 0 to 15"},
		{config{NodeBits: 16, NodeID: math.MaxInt}, "NodeID", "0 to 65535"},
		{config{Start: scru160.StartBits(16)}, "Start", "16 is not in 0 to 15"},
		{config{Start: scru160.StartBits(-1)}, "Start", "-1 is not in 0 to 15"},
		{config{Start: scru160.StartBits(-2)}, "Start", "-2 is not in 0 to 15"},
		{config{Start: scru160.StartBits(math.MaxInt)}, "Start", "0 to 15"},
		{config{Start: scru160.StartBits(17), ExtraCounterBits: 1}, "Start", "17 is not in 0 to 16"},
		{config{Start: scru160.StartBits(6), Counter: micro}, "Start", "6 is not in 0 to 5"},
		{config{Start: scru160.StartBits(22), Counter: micro, ExtraCounterBits: 16}, "Start", "22 is not in 0 to 21"},
	} {
		gen, err := scru160.NewGenerator(v.config)
		testkit.IsConfigError(t, err, "scru160", v.field, v.want)
		if gen != nil {
			t.Errorf("%v: a generator beside an error", v.config)
		}
	}
}
