package scru160_test

import (
	"bytes"
	"context"
	"encoding/base32"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
)

// TestSpecification goes through the specification from its first statement to its last. Each row
// quotes words of the text, and shows that the package does what the words say. "Ruling" marks a
// decision of the project about words that are silent or not followed. A comment at the end of this
// file has the statements that no program can check.
//
// Checks of random bits count dimensions; see dimension. A fair source fails such a check with a
// probability below 2^-40.
func TestSpecification(t *testing.T) {
	const micro = scru160.CounterMicroseconds
	type config = scru160.Config

	// The examples of the text.
	const (
		base32hex1 = "05TTUP1HNCPNH30VEK64KDQT9BSNU4C4"
		base32hex2 = "05TTUP1HNCPNIB63R8IN5V2L3VFGNFET"
		hex1       = "017bdf6431bb33750751eb63beb3c3f8c5969d86"
		hex2       = "017bdf6431bb337662412e6a5758890735c33c2b"
	)
	at := time.Date(2026, 7, 1, 12, 0, 0, 123_999_789, time.UTC)
	const atMillis uint64 = 1_782_907_200_123

	for _, row := range []struct {
		text  string
		check func(t *testing.T)
	}{
		{"Sortable, Clock and Random number-based Unique identifier", func(t *testing.T) {
			// Sorted by the clock, and unique by random bits: two generators with the same clock
			// and the same counter make different IDs.
			clock := testkit.At(at)
			a, b := specGenerator(t, config{Start: scru160.StartBits(0)}, clock), specGenerator(t, config{Start: scru160.StartBits(0)}, clock)
			for range 1000 {
				x, y := specNext(t, a), specNext(t, b)
				if !bytes.Equal(x[:8], y[:8]) || bytes.Equal(x[8:], y[8:]) {
					t.Fatalf("%x and %x: want the same clock and counter, and different random bits", x, y)
				}
				clock.Step(time.Millisecond)
			}
		}},
		{"decentralized, globally unique time-ordered identifiers", func(t *testing.T) {
			// Ruling: A generator never hands out an ID twice, for any number of goroutines.
			gen := specGenerator(t, config{}, testkit.At(at))
			const callers, each = 4, 8000 // below the 32 769 IDs that any millisecond has
			all := make([][]scru160.ID, callers)
			var wg sync.WaitGroup
			for i := range all {
				wg.Go(func() {
					for range each {
						id, err := gen.TryNext()
						if err != nil {
							t.Error(err)
							return
						}
						all[i] = append(all[i], id)
					}
				})
			}
			wg.Wait()
			seen := make(map[uint64]bool)
			for _, ids := range all {
				specIncreases(t, ids, 8)
				for _, id := range ids {
					seen[msb(id, 0, 63)] = true
				}
			}
			testkit.Same(t, len(seen), callers*each)
		}},
		{"160-bit feature-rich worry-free design", func(t *testing.T) {
			if got := len(scru160.ID{}) * 8; got != 160 || scru160.Size != 20 {
				t.Errorf("an ID has %d bits and the size %d", got, scru160.Size)
			}
			for n := range 64 {
				_, err := scru160.FromBytes(make([]byte, n))
				if (err == nil) != (n == 20) || n != 20 && !errors.Is(err, iderr.ErrLength) {
					t.Errorf("%d bytes: %v", n, err)
				}
			}
		}},
		{"Sortable by generation time (in binary and in text)", func(t *testing.T) {
			clock := testkit.At(time.UnixMilli(1))
			gen := specGenerator(t, config{}, clock)
			var binary, text, hexText []string
			for ms := int64(1); ms < 1<<48-1; ms += ms/50 + 1 {
				clock.Set(time.UnixMilli(ms))
				for range 3 {
					id := specNext(t, gen)
					binary, text, hexText = append(binary, string(id.Bytes())), append(text, id.String()), append(hexText, id.Hex())
				}
			}
			for name, forms := range map[string][]string{"binary": binary, "base32hex": text, "hex": hexText} {
				if len(forms) < 1000 || !slices.IsSorted(forms) {
					t.Errorf("%s: %d forms are not in the order of generation", name, len(forms))
				}
			}
		}},
		{"Case-insensitive, highly portable encodings: 32-char base32hex and 40-char hex", func(t *testing.T) {
			for _, id := range specSamples() {
				if a, b := len(id.String()), len(id.Hex()); a != 32 || b != 40 {
					t.Fatalf("%x: %d and %d characters", id, a, b)
				}
				for _, text := range []string{id.String(), id.Hex()} {
					for _, s := range []string{strings.ToLower(text), strings.ToUpper(text)} {
						testkit.Call(scru160.Parse(s)).Gives(t, id)
					}
				}
			}
		}},
		{"More than 32,000 unique, time-ordered but unpredictable IDs per millisecond", func(t *testing.T) {
			ids := specDrain(t, specGenerator(t, config{}, testkit.At(at)))
			if len(ids) <= 32_000 {
				t.Errorf("%d IDs in a millisecond", len(ids))
			}
			specIncreases(t, ids, 8) // in order, and therefore unique
			testkit.Same(t, dimension(ids[:400], 64, 159), 96)
			for _, id := range ids {
				testkit.Same(t, msb(id, 0, 47), atMillis)
			}
		}},
		{"Nearly 111-bit randomness for collision resistance (default configuration)", func(t *testing.T) {
			ids := specTicks(t, config{}, 400)
			testkit.Same(t, dimension(ids, 48, 159), 111)
			var filled []scru160.ID
			for range 400 {
				id := testkit.Must(scru160.FromTime(at))
				filled = append(filled, id)
			}
			testkit.Same(t, dimension(filled, 0, 159), 111)
		}},

		{"Examples in the default base32hex encoding", func(t *testing.T) {
			gen := specGenerator(t, config{}, testkit.At(at))
			id := specNext(t, gen)
			text, err := id.MarshalText()
			if want := strings.ToUpper(specText(id, 32, 32)); err != nil || string(text) != want || id.String() != want || fmt.Sprint(id) != want {
				t.Errorf("the default texts are %s, %s and %v, want %s", text, id.String(), id, want)
			}
		}},
		{base32hex1, func(t *testing.T) {
			specExample(t, base32hex1, 32, 1631540490683, 0x3378)
		}},
		{base32hex2, func(t *testing.T) {
			specExample(t, base32hex2, 32, 1631540490683, 0x3379) // the next ID of the millisecond
		}},
		{"Examples in the alternative hex encoding", func(t *testing.T) {
			for _, text := range []string{hex1, hex2} {
				id, err := scru160.ParseHex(text)
				if err != nil || id != specRead(t, text, 16) || id.Hex() != text {
					t.Errorf("ParseHex(%s) = %x, %v, in hex %s", text, id, err, id.Hex())
				}
			}
		}},
		{hex1, func(t *testing.T) {
			specExample(t, hex1, 16, 1631540490683, 0x3375)
		}},
		{hex2, func(t *testing.T) {
			specExample(t, hex2, 16, 1631540490683, 0x3376) // the next ID of the millisecond
		}},

		{"A SCRU160 ID is a 160-bit object that consists of the following four fields", func(t *testing.T) {
			for _, id := range specSamples() {
				joined := big.NewInt(id.Timestamp())
				joined.Lsh(joined, 16).Or(joined, big.NewInt(int64(id.Counter())))
				joined.Lsh(joined, 16).Or(joined, big.NewInt(int64(id.Random16())))
				random80 := id.Random80()
				joined.Lsh(joined, 80).Or(joined, new(big.Int).SetBytes(random80[:]))
				if want := new(big.Int).SetBytes(id[:]); joined.Cmp(want) != 0 {
					t.Fatalf("the fields give %x, want %x", joined, want)
				}
			}
		}},
		{"Msb 0 - 47 timestamp 48-bit unsigned integer, big-endian", func(t *testing.T) {
			specField(t, 0, 47, func(id scru160.ID) *big.Int { return big.NewInt(id.Timestamp()) })
			testkit.Same[int64](t, scru160.MaxTimestamp, 281_474_976_710_655)
		}},
		{"Msb 48 - 63 counter 16-bit unsigned integer, big-endian", func(t *testing.T) {
			specField(t, 48, 63, func(id scru160.ID) *big.Int { return big.NewInt(int64(id.Counter())) })
		}},
		{"Msb 64 - 79 random16 16-bit unsigned integer, big-endian", func(t *testing.T) {
			specField(t, 64, 79, func(id scru160.ID) *big.Int { return big.NewInt(int64(id.Random16())) })
		}},
		{"Msb 80 - 159 random80 80-bit unsigned integer, big-endian", func(t *testing.T) {
			specField(t, 80, 159, func(id scru160.ID) *big.Int {
				random80 := id.Random80()
				return new(big.Int).SetBytes(random80[:])
			})
		}},

		{"timestamp MUST be filled with the unix time in milliseconds", func(t *testing.T) {
			for _, v := range []struct {
				at     time.Time
				millis uint64
			}{
				{time.Date(2021, 9, 13, 13, 41, 30, 683_000_000, time.UTC), 1631540490683},
				{time.Date(2021, 9, 13, 13, 41, 30, 683_999_999, time.UTC), 1631540490683}, // rounded down
				{time.Date(2001, 9, 9, 3, 46, 40, 0, time.FixedZone("", 2*3600)), 1_000_000_000_000},
				{at, atMillis},
			} {
				for _, usage := range []scru160.Counter{scru160.CounterMilliseconds, micro} {
					gen := specGenerator(t, config{Counter: usage}, testkit.At(v.at))
					if id := specNext(t, gen); msb(id, 0, 47) != v.millis {
						t.Errorf("at %v: timestamp %d, want %d", v.at, msb(id, 0, 47), v.millis)
					}
				}
				id, err := scru160.FromTime(v.at)
				if err != nil || msb(id, 0, 47) != v.millis || !id.Time().Equal(v.at.Truncate(time.Millisecond)) {
					t.Errorf("FromTime(%v) = %x of %v, %v", v.at, id, id.Time(), err)
				}
			}
		}},
		{"milliseconds elapsed since 1970-01-01 00:00:00.000+00:00", func(t *testing.T) {
			epoch := time.Date(1970, 1, 1, 0, 0, 0, 0, time.UTC)
			if got := (scru160.ID{}).Time(); !got.Equal(epoch) {
				t.Errorf("the timestamp 0 is %v", got)
			}
			for _, ms := range []int64{1, 2, 999, 1000, 86_400_000} {
				gen := specGenerator(t, config{}, testkit.At(epoch.Add(time.Duration(ms)*time.Millisecond)))
				if id := specNext(t, gen); msb(id, 0, 47) != uint64(ms) {
					t.Errorf("%d ms after 1970: timestamp %d", ms, msb(id, 0, 47))
				}
			}
			// Ruling: A time that has no timestamp is an error, also at construction.
			for _, out := range []time.Time{epoch.Add(-1), epoch.Add(-time.Hour), time.UnixMilli(1 << 48), {}} {
				_, err := scru160.NewGenerator(config{Clock: testkit.At(out).Now})
				_, made := scru160.FromTime(out)
				if !errors.Is(err, iderr.ErrTimeRange) || !errors.Is(made, iderr.ErrTimeRange) {
					t.Errorf("at %v: NewGenerator gives %v, and FromTime %v", out, err, made)
				}
			}
		}},
		{"excluding leap seconds", func(t *testing.T) {
			// A leap second was before 2017. A day has 86 400 seconds all the same.
			before := time.Date(2016, 12, 31, 0, 0, 0, 0, time.UTC)
			after := time.Date(2017, 1, 1, 0, 0, 0, 0, time.UTC)
			clock := testkit.At(before)
			gen := specGenerator(t, config{}, clock)
			first := specNext(t, gen)
			clock.Set(after)
			second := specNext(t, gen)
			if a, b := msb(first, 0, 47), msb(second, 0, 47); a != 17_166*86_400_000 || b != 17_167*86_400_000 {
				t.Errorf("timestamps %d and %d", a, b)
			}
		}},

		{"counter MUST be utilized in either of the following ways", func(t *testing.T) {
			for usage := range scru160.Counter(255) {
				gen, err := scru160.NewGenerator(config{Counter: usage, Clock: testkit.At(at).Now})
				if usage <= 1 {
					if err != nil {
						t.Errorf("usage %d: %v", usage, err)
					}
					continue
				}
				specRefused(t, "Counter", gen, err)
			}
		}},
		{"A generator SHOULD follow the default counter usage", func(t *testing.T) {
			// The last microsecond of a millisecond would be 999<<6 in the alternative usage.
			for range 20 {
				gen := specGenerator(t, config{}, testkit.At(at))
				if id := specNext(t, gen); msb(id, 48, 63) >= 1<<15 {
					t.Errorf("the zero Config starts the counter at %d", msb(id, 48, 63))
				}
			}
		}},
		{"it MAY follow the alternative counter usage", func(t *testing.T) {
			// Ruling: The alternative usage is an option.
			gen := specGenerator(t, config{Counter: micro}, testkit.At(at))
			if id := specNext(t, gen); msb(id, 48, 57) != 999 {
				t.Errorf("microsecond %d, want 999", msb(id, 48, 57))
			}
		}},

		{"employs extra randomness while guaranteeing the generation of more than 32,768 monotonically ordered IDs per millisecond", func(t *testing.T) {
			clock := testkit.At(at)
			gen := specGenerator(t, config{}, clock)
			for range 5 {
				ids := specDrain(t, gen)
				// The counter ends at 65 535.
				if start := msb(ids[0], 48, 63); len(ids) <= 32_768 || uint64(len(ids)) != 65_536-start {
					t.Errorf("%d IDs from the start %d", len(ids), start)
				}
				specIncreases(t, ids, 8)
				clock.Step(time.Millisecond)
			}
		}},
		{"Initialize counter at a 15-bit random value", func(t *testing.T) {
			for _, c := range []config{{}, {Start: scru160.StartBits(15)}, {NodeBits: 16, NodeID: 7}, {SystemRandom: true}} {
				ids := specTicks(t, c, 200)
				if got := dimension(ids, 49, 63); got != 15 {
					t.Errorf("%+v: %d random bits at the start, want 15", c, got)
				}
				for _, id := range ids {
					if msb(id, 48, 48) != 0 {
						t.Fatalf("%+v: the counter starts at %d, above 15 bits", c, msb(id, 48, 63))
					}
				}
			}
			gen, err := scru160.NewGenerator(config{Start: scru160.StartBits(16)})
			specRefused(t, "Start", gen, err)
		}},
		{"when timestamp has changed since the last generation", func(t *testing.T) {
			// Ruling: An exhausted counter keeps the last timestamp. TryNext returns an error
			// within the millisecond, and Next waits for the clock.
			synctest.Test(t, func(t *testing.T) {
				gen := testkit.Must(scru160.NewGenerator(config{Clock: time.Now}))
				began := time.Now()
				ids := specDrain(t, gen)
				testkit.Same(t, time.Since(began), 0)
				testkit.Call(gen.TryNext()).Fails(t, iderr.ErrExhausted)
				id := testkit.Must(gen.Next(context.Background()))
				if since := time.Since(began); since < time.Millisecond {
					t.Errorf("Next waited %v, want a millisecond", since)
				}
				last := ids[len(ids)-1]
				if got := msb(id, 0, 47); got <= msb(last, 0, 47) || got != uint64(time.Now().UnixMilli()) {
					t.Errorf("timestamp %d follows %d at %d", got, msb(last, 0, 47), time.Now().UnixMilli())
				}
				if msb(id, 48, 63) >= 1<<15 {
					t.Errorf("the counter starts at %d", msb(id, 48, 63))
				}
			})
		}},
		{"Increment counter by one for each new ID generated within the same timestamp", func(t *testing.T) {
			clock := testkit.At(at.Truncate(time.Millisecond))
			for _, c := range []config{{}, {Start: scru160.StartBits(0)}, {NodeBits: 3, NodeID: 5}} {
				gen := specGenerator(t, c, clock)
				ids := make([]scru160.ID, 30)
				for i := range ids[:10] {
					clock.Set(at.Truncate(time.Millisecond).Add(time.Duration(i) * 100 * time.Microsecond))
					ids[i] = specNext(t, gen)
				}
				if n, err := gen.Fill(context.Background(), ids[10:20]); n != 10 || err != nil {
					t.Fatal(n, err)
				}
				i := 20
				for id, err := range gen.Seq(context.Background(), 10) {
					if err != nil {
						t.Fatal(err)
					}
					ids[i] = id
					i++
				}
				for i, id := range ids {
					if msb(id, 0, 47) != atMillis || msb(id, 48, 63) != msb(ids[0], 48, 63)+uint64(i) {
						t.Fatalf("%+v: ID %d is %x, and the first ID %x", c, i, id, ids[0])
					}
				}
			}
		}},
		{"A generator MAY initialize counter at a 14-bit or less random value (including zero)", func(t *testing.T) {
			// Ruling: Narrower starts are an option.
			for bits := range 15 {
				ids := specTicks(t, config{Start: scru160.StartBits(bits)}, 100)
				testkit.Same(t, dimension(ids, 48, 63), bits)
				for _, id := range ids {
					if msb(id, 48, 63) >= 1<<bits {
						t.Fatalf("%d bits: the counter starts at %d", bits, msb(id, 48, 63))
					}
				}
			}
			gen, err := scru160.NewGenerator(config{Start: scru160.StartBits(-1)})
			specRefused(t, "Start", gen, err)
		}},
		{"if the application needs more IDs per millisecond", func(t *testing.T) {
			for _, v := range []struct{ bits, least int }{{14, 49_153}, {10, 64_513}, {1, 65_535}, {0, 65_536}} {
				ids := specDrain(t, specGenerator(t, config{Start: scru160.StartBits(v.bits)}, testkit.At(at)))
				if len(ids) < v.least || len(ids) > 65_536 {
					t.Errorf("%d bits: %d IDs in a millisecond, want %d or more", v.bits, len(ids), v.least)
				}
			}
		}},

		{"utilizes the unix time in microseconds and shorter counter to order the multiple IDs that share the same timestamp", func(t *testing.T) {
			clock := testkit.At(at.Truncate(time.Millisecond))
			gen := specGenerator(t, config{Counter: micro}, clock)
			var ids []scru160.ID
			for range 1000 {
				for range 20 {
					ids = append(ids, specNext(t, gen))
				}
				clock.Step(time.Microsecond)
			}
			specIncreases(t, ids, 8)
			for _, id := range ids {
				testkit.Same(t, msb(id, 0, 47), atMillis)
			}
		}},
		{"Fill in the 10 most significant bits of counter with the microsecond part of unix time represented as an unsigned integer ranging from 0 to 999", func(t *testing.T) {
			clock := testkit.At(at.Truncate(time.Millisecond))
			gen := specGenerator(t, config{Counter: micro}, clock)
			for us := range uint64(1000) {
				clock.Set(at.Truncate(time.Millisecond).Add(time.Duration(us)*time.Microsecond + 999))
				if id := specNext(t, gen); msb(id, 48, 57) != us || msb(id, 0, 47) != atMillis {
					t.Fatalf("microsecond %d of the millisecond %d, want %d of %d", msb(id, 48, 57), msb(id, 0, 47), us, atMillis)
				}
			}
		}},
		{"Utilize the 6 least significant bits similarly to the default counter usage", func(t *testing.T) {
			starts := specTicks(t, config{Counter: micro}, 200)
			testkit.Same(t, dimension(starts, 59, 63), 5)
			for _, id := range starts {
				if msb(id, 58, 58) != 0 {
					t.Fatalf("the 6 bits start at %d, above 5 bits", msb(id, 58, 63))
				}
			}
			ids := specDrain(t, specGenerator(t, config{Counter: micro}, testkit.At(at)))
			for i, id := range ids {
				if msb(id, 58, 63) != msb(ids[0], 58, 63)+uint64(i) || msb(id, 48, 57) != 999 {
					t.Fatalf("ID %d of a microsecond is %x, and the first ID %x", i, id, ids[0])
				}
			}
			gen, err := scru160.NewGenerator(config{Counter: micro, Start: scru160.StartBits(6)})
			specRefused(t, "Start", gen, err)
		}},
		{"to guarantee the generation of more than 32 IDs per microsecond", func(t *testing.T) {
			clock := testkit.At(at)
			gen := specGenerator(t, config{Counter: micro}, clock)
			for range 200 {
				ids := specDrain(t, gen)
				if start := msb(ids[0], 58, 63); len(ids) <= 32 || uint64(len(ids)) != 64-start {
					t.Fatalf("%d IDs from the start %d", len(ids), start)
				}
				specIncreases(t, ids, 8)
				clock.Step(time.Microsecond)
			}
		}},

		{"random16 SHOULD be filled with a random value", func(t *testing.T) {
			for _, c := range []config{{}, {Counter: micro}, {Start: scru160.StartBits(0)}} {
				testkit.Same(t, dimension(specTicks(t, c, 200), 64, 79), 16)
			}
		}},
		{"a generator MAY use some or all bits of random16 to extend counter", func(t *testing.T) {
			// Ruling: The extension is an option.
			for extra := -1; extra <= 17; extra++ {
				c := config{ExtraCounterBits: extra, Start: scru160.StartBits(0)}
				if extra < 0 || extra > 16 {
					gen, err := scru160.NewGenerator(c)
					specRefused(t, "ExtraCounterBits", gen, err)
					continue
				}
				gen := specGenerator(t, c, testkit.At(at))
				for i := range uint64(20) {
					if id := specNext(t, gen); msb(id, 48, 63+extra) != i {
						t.Fatalf("%d extra bits: counter %d, want %d", extra, msb(id, 48, 63+extra), i)
					}
				}
			}
		}},
		{"to accommodate more IDs per millisecond", func(t *testing.T) {
			ids := specDrain(t, specGenerator(t, config{ExtraCounterBits: 1}, testkit.At(at)))
			if start := msb(ids[0], 48, 64); len(ids) <= 65_536 || uint64(len(ids)) != 131_072-start {
				t.Errorf("1 extra bit: %d IDs from the start %d", len(ids), start)
			}
			specIncreases(t, ids, 9)

			// Ruling: The counter is limited to 2^20 IDs in a tick, and its generators to the years
			// before 2527.
			canceled, cancel := context.WithCancel(context.Background())
			cancel()
			var some [1 << 10]scru160.ID
			for _, extra := range []int{4, 16} {
				clock := testkit.At(time.Date(2526, 12, 31, 23, 59, 59, 999_000_000, time.UTC))
				gen := specGenerator(t, config{ExtraCounterBits: extra, Start: scru160.StartBits(0)}, clock)
				for made := uint64(0); made < 1<<20; made += uint64(len(some)) {
					if n, err := gen.Fill(canceled, some[:]); n != len(some) || err != nil {
						t.Fatalf("%d extra bits: %d IDs in a millisecond, %v; want 1048576", extra, made+uint64(n), err)
					}
					testkit.Same(t, msb(some[0], 48, 63+extra), made)
				}
				testkit.Call(gen.TryNext()).Fails(t, iderr.ErrExhausted)
				clock.Set(time.UnixMilli(1<<44 - 1))
				if _, err := gen.TryNext(); !errors.Is(err, iderr.ErrTimeRange) || gen.ExpiresAt().UnixMilli() != 1<<44-1 {
					t.Errorf("%d extra bits: at 2^44-1 ms %v, and ExpiresAt is %v", extra, err, gen.ExpiresAt())
				}
			}
		}},
		{"to allocate implementation-dependent node identifiers", func(t *testing.T) {
			for bits := range 17 {
				for _, node := range []int{0, 1<<bits - 1, 0xa5c3 & (1<<bits - 1)} {
					gen := specGenerator(t, config{NodeBits: bits, NodeID: node}, testkit.At(at))
					id := specNext(t, gen)
					if got := msb(id, 64, 63+bits); got != uint64(node) || id.NodeID(0, bits) != node || gen.NodeID() != node {
						t.Errorf("%d bits: node %d in an ID, %d by its NodeID, and %d by the generator; want %d", bits, got, id.NodeID(0, bits), gen.NodeID(), node)
					}
				}
				// Ruling: A field out of range is an error at construction.
				for _, node := range []int{-1, 1 << bits} {
					gen, err := scru160.NewGenerator(config{NodeBits: bits, NodeID: node})
					specRefused(t, "NodeID", gen, err)
				}
			}
			for _, c := range []config{{NodeBits: -1}, {NodeBits: 17}, {ExtraCounterBits: 9, NodeBits: 8}} {
				gen, err := scru160.NewGenerator(c)
				specRefused(t, "NodeBits", gen, err)
			}
		}},
		{"that guarantee the local uniqueness of IDs generated by multiple nodes within an application", func(t *testing.T) {
			// All 8 nodes count from 0 in the same millisecond. Counter and node ID together
			// differ in all IDs, without any random bits.
			seen := make(map[uint64]int)
			for node := range 8 {
				gen := specGenerator(t, config{NodeBits: 3, NodeID: node, Start: scru160.StartBits(0)}, testkit.At(at))
				for range 1000 {
					seen[msb(specNext(t, gen), 48, 66)]++
				}
			}
			testkit.Same(t, len(seen), 8000)
		}},
		{"The remaining bits not used in either way MUST be filled with random values", func(t *testing.T) {
			for extra := range 17 {
				for bits := range 17 - extra {
					c := config{ExtraCounterBits: extra, NodeBits: bits, NodeID: 1<<bits - 1}
					free := 16 - extra - bits
					if got := dimension(specTicks(t, c, 80), 80-free, 79); got != free {
						t.Errorf("%d extra bits and %d node bits: %d of the %d other bits are random", extra, bits, got, free)
					}
				}
			}
		}},
		{"the counter bits MUST be placed at the most significant bits", func(t *testing.T) {
			for extra := 1; extra <= 16; extra++ {
				bits := 16 - extra
				node := 0xaaaa & (1<<bits - 1)
				gen := specGenerator(t, config{ExtraCounterBits: extra, NodeBits: bits, NodeID: node, Start: scru160.StartBits(0)}, testkit.At(at))
				for i := range uint64(2) {
					// Ruling: From high to low, random16 has counter bits, node ID and random bits.
					id := specNext(t, gen)
					if want := i<<bits | uint64(node); msb(id, 64, 79) != want || id.Random16() != int(want) || id.NodeID(extra, bits) != node {
						t.Errorf("%d extra bits: random16 is %016b, want %016b", extra, msb(id, 64, 79), want)
					}
				}
			}
		}},
		{"SHOULD be combined into a single unsigned integer and used similarly to the default counter usage", func(t *testing.T) {
			for _, c := range []config{{}, {Counter: micro}} {
				first, room := 48, 20
				if c.Counter == micro {
					first, room = 58, 10
				}
				for extra := range 17 {
					c.ExtraCounterBits, c.Start = extra, scru160.Start{}
					width := 64 + extra - first
					// Ruling: A tick is limited to 2^20 IDs, and a microsecond to 2^10 IDs. A
					// longer counter starts with the top bit of the limit clear, too.
					want := width - 1
					if width > room {
						want--
					}
					starts := specTicks(t, c, 200)
					if got := dimension(starts, first, 63+extra); got != want {
						t.Errorf("usage %d, %d extra bits: %d random bits at the start, want %d", c.Counter, extra, got, want)
					}
					for _, id := range starts {
						if msb(id, first, first) != 0 {
							t.Fatalf("usage %d, %d extra bits: the start of %x has its top bit set", c.Counter, extra, id)
						}
					}
					// One integer: the bits of random16 carry into the counter.
					c.Start = scru160.StartBits(0)
					gen := specGenerator(t, c, testkit.At(at))
					for i := range 1 << min(width, 8) {
						if id := specNext(t, gen); msb(id, first, 63+extra) != uint64(i) {
							t.Fatalf("usage %d, %d extra bits: counter %d, want %d", c.Counter, extra, msb(id, first, 63+extra), i)
						}
					}
				}
			}
		}},

		{"random80 MUST be filled with a random value to guarantee the minimum entropy of 80 bits at the specification level", func(t *testing.T) {
			zero := scru160.StartBits(0)
			for _, c := range []config{
				{}, {Counter: micro}, {Start: zero, NodeBits: 16, NodeID: 65535}, {Start: zero, ExtraCounterBits: 16},
				{Counter: micro, ExtraCounterBits: 16, SystemRandom: true},
			} {
				testkit.Same(t, dimension(specTicks(t, c, 300), 80, 159), 80)
				// Within one tick, each ID has random bits of its own, by Fill as well.
				c.Counter = scru160.CounterMilliseconds
				many := make([]scru160.ID, 300)
				gen := specGenerator(t, c, testkit.At(at))
				if n, err := gen.Fill(context.Background(), many); n != len(many) || err != nil {
					t.Fatal(n, err)
				}
				if got := dimension(many, 80, 159); got != 80 {
					t.Errorf("%+v: %d random bits in the random80 of Fill, want 80", c, got)
				}
			}
		}},

		{"A generator MUST support the base32hex and hex (a.k.a. base16) encodings as defined in RFC 4648 to produce textual representations", func(t *testing.T) {
			for _, id := range specSamples() {
				if want := base32.HexEncoding.EncodeToString(id[:]); id.String() != want {
					t.Fatalf("%x: base32hex %s, want %s", id, id.String(), want)
				}
				if want := hex.EncodeToString(id[:]); id.Hex() != want {
					t.Fatalf("%x: hex %s, want %s", id, id.Hex(), want)
				}
			}
			// Ruling: A decoder is strict. Any character outside the alphabet is an error with its
			// offset, in both encodings.
			for c := range 256 {
				letter := strings.ToUpper(string(rune(c)))
				for length, last := range map[int]string{32: "V", 40: "F"} {
					text := []byte(strings.Repeat("0", length))
					where := c % length
					text[where] = byte(c)
					valid := letter >= "0" && letter <= "9" || letter >= "A" && letter <= last
					valid = valid && c < 0x80 && len(letter) == 1
					_, err := scru160.Parse(string(text))
					bad, _ := errors.AsType[*iderr.ParseError](err)
					if valid != (err == nil) || !valid && (bad == nil || bad.Offset != where || !errors.Is(err, iderr.ErrCharacter)) {
						t.Errorf("Parse(%q): %v", text, err)
					}
					if unmarshal := new(scru160.ID).UnmarshalText(text); valid != (unmarshal == nil) {
						t.Errorf("UnmarshalText(%q): %v", text, unmarshal)
					}
				}
			}
		}},
		{"maps each 5-bit group of a 160-bit binary object to [0-9A-V]", func(t *testing.T) {
			const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
			for group := range 32 {
				for v := range 32 {
					value := new(big.Int).Lsh(big.NewInt(int64(v)), uint(155-5*group))
					var id scru160.ID
					value.FillBytes(id[:])
					want := strings.Repeat("0", group) + alphabet[v:v+1] + strings.Repeat("0", 31-group)
					got, err := scru160.Parse(want)
					if id.String() != want || err != nil || got != id {
						t.Fatalf("group %d of value %d: %s, want %s, which reads as %x, %v", group, v, id.String(), want, got, err)
					}
				}
			}
		}},
		{"to produce a 32-character string representation", func(t *testing.T) {
			// Ruling: Any other length is an error. Hex has 40 characters; see below.
			for n := range 100 {
				for _, c := range []string{"0", "V"} {
					_, err := scru160.Parse(strings.Repeat(c, n))
					switch {
					case n == 32 || n == 40 && c == "0":
						if err != nil {
							t.Errorf("%d characters: %v", n, err)
						}
					case n != 40 && !errors.Is(err, iderr.ErrLength), err == nil:
						t.Errorf("%d characters: %v", n, err)
					}
				}
			}
			// Ruling: A text of 32 characters is base32hex, also if all characters are hex digits.
			const digits = "0123456789abcdef0123456789abcdef"
			testkit.Call(scru160.Parse(digits)).Gives(t, specRead(t, digits, 32))
		}},
		{"The hex encoding maps each 4-bit group to [0-9a-f]", func(t *testing.T) {
			const alphabet = "0123456789abcdef"
			for group := range 40 {
				for v := range 16 {
					value := new(big.Int).Lsh(big.NewInt(int64(v)), uint(156-4*group))
					var id scru160.ID
					value.FillBytes(id[:])
					want := strings.Repeat("0", group) + alphabet[v:v+1] + strings.Repeat("0", 39-group)
					got, err := scru160.ParseHex(want)
					if id.Hex() != want || err != nil || got != id {
						t.Fatalf("group %d of value %d: %s, want %s, which reads as %x, %v", group, v, id.Hex(), want, got, err)
					}
				}
			}
		}},
		{"to produce a 40-character string representation", func(t *testing.T) {
			for n := range 100 {
				_, err := scru160.ParseHex(strings.Repeat("0", n))
				if (err == nil) != (n == 40) || n != 40 && !errors.Is(err, iderr.ErrLength) {
					t.Errorf("%d digits: %v", n, err)
				}
			}
			// Ruling: A text of 40 characters is hex or an error. No other encoding is tried.
			testkit.Call(scru160.Parse(strings.Repeat("0", 39)+"G")).Fails(t, iderr.ErrCharacter)
		}},
		{"A generator SHOULD use uppercase letters and lowercase letters in the base32hex encoding and the hex encoding, respectively", func(t *testing.T) {
			id := specRead(t, hex1, 16)
			const want = "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6"
			text, err := id.MarshalText()
			quoted, errJSON := json.Marshal(id)
			appended, errAppend := id.AppendText([]byte("x"))
			value, errValue := id.Value()
			listed, errList := scru160.AppendAll(nil, []scru160.ID{id, id}, ',')
			if err := errors.Join(err, errJSON, errAppend, errValue, errList); err != nil {
				t.Fatal(err)
			}
			for name, got := range map[string]string{
				"String": id.String(), "MarshalText": string(text), "AppendText": strings.TrimPrefix(string(appended), "x"),
				"JSON": strings.Trim(string(quoted), `"`), "Value": fmt.Sprint(value), "AppendAll": string(listed[:32]),
			} {
				if got != want {
					t.Errorf("%s: %s, want %s", name, got, want)
				}
			}
			testkit.Same(t, id.Hex(), hex1)
		}},
		{"A decoder MUST ignore cases when interpreting", func(t *testing.T) {
			for text, base := range map[string]int{base32hex1: 32, base32hex2: 32, hex1: 16, hex2: 16} {
				want := specRead(t, text, base)
				for i := range len(text) {
					mixed := strings.ToUpper(text[:i]) + strings.ToLower(text[i:])
					if i%2 == 1 {
						mixed = strings.ToLower(text[:i]) + strings.ToUpper(text[i:])
					}
					var a, b, c scru160.ID
					got, err := scru160.Parse(mixed)
					err = errors.Join(err, a.UnmarshalText([]byte(mixed)), json.Unmarshal([]byte(`"`+mixed+`"`), &b), c.Scan(mixed))
					all, errList := scru160.ParseAll(nil, []byte(mixed+"\n"), '\n')
					if err := errors.Join(err, errList); err != nil {
						t.Fatalf("%s: %v", mixed, err)
					}
					if got != want || a != want || b != want || c != want || len(all) != 1 || all[0] != want {
						t.Fatalf("%s reads as %x, %x, %x, %x and %x, want %x", mixed, got, a, b, c, all, want)
					}
					if base == 16 {
						testkit.Call(scru160.ParseHex(mixed)).Gives(t, want)
					}
				}
			}
		}},
		{"or lexicographically sorting encoded IDs", func(t *testing.T) {
			for _, v := range []struct {
				a, b string
				want int
			}{
				{base32hex1, base32hex2, -1},
				{strings.ToLower(base32hex1), base32hex2, -1}, // bytes have the opposite order
				{base32hex1, strings.ToLower(base32hex1), 0},
				{strings.ToUpper(hex2), hex1, 1},
				{strings.ToUpper(hex1), hex1, 0},
			} {
				if a, b := scru160.CompareText(v.a, v.b), scru160.CompareText(v.b, v.a); a != v.want || b != -v.want {
					t.Errorf("CompareText of %s and %s: %d, and %d in turn; want %d", v.a, v.b, a, b, v.want)
				}
			}
			random := rand.New(rand.NewPCG(1, 2))
			for _, base := range []int{32, 16} {
				var texts, want []string
				for _, id := range specSamples() {
					text := specText(id, base, map[int]int{32: 32, 16: 40}[base])
					want = append(want, text)
					if random.IntN(2) == 0 {
						text = strings.ToUpper(text)
					}
					texts = append(texts, text)
				}
				slices.Sort(want)
				random.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
				slices.SortFunc(texts, scru160.CompareText)
				for i := range texts {
					if strings.ToLower(texts[i]) != want[i] {
						t.Fatalf("base %d: text %d is %s, want %s", base, i, texts[i], want[i])
					}
				}
			}
		}},
		{"The base32hex and hex representations cannot be mixed when encoded IDs are sorted lexicographically", func(t *testing.T) {
			// The hex text of the later ID sorts before the base32hex text of the earlier ID. All
			// default texts therefore have one encoding, and CompareText compares letters only.
			earlier, later := specRead(t, hex1, 16), specRead(t, hex2, 16)
			if !bytes.Equal(earlier[:6], later[:6]) || earlier.Compare(later) != -1 {
				t.Fatalf("%x and %x are not in order", earlier, later)
			}
			testkit.Same(t, scru160.CompareText(earlier.String(), later.Hex()), 1)
			if a, b := scru160.CompareText(earlier.String(), later.String()), scru160.CompareText(earlier.Hex(), later.Hex()); a != -1 || b != -1 {
				t.Errorf("CompareText of one encoding is %d and %d, want -1", a, b)
			}
		}},

		{"SHOULD use a cryptographically strong random or pseudorandom number generator to generate unpredictable IDs", func(t *testing.T) {
			// With a known source behind crypto/rand, all bits are known: no bit has another
			// source.
			made := func(seed uint64) (ids []scru160.ID) {
				t.Run("seeded", func(t *testing.T) {
					cryptotest.SetGlobalRandom(t, seed)
					for _, c := range []config{{}, {Counter: micro}, {ExtraCounterBits: 4}, {NodeBits: 5}} {
						c.SystemRandom = true
						gen := specGenerator(t, c, testkit.At(at))
						ids = append(ids, specNext(t, gen), specNext(t, gen))
						ids = append(ids, make([]scru160.ID, 3)...)
						if n, err := gen.Fill(context.Background(), ids[len(ids)-3:]); n != 3 || err != nil {
							t.Fatal(n, err)
						}
					}
					id := testkit.Must(scru160.FromTime(at))
					ids = append(ids, id)
				})
				return ids
			}
			first, again, other := made(1), made(1), made(2)
			if !slices.Equal(first, again) {
				t.Errorf("the same source gives %x and %x", first, again)
			}
			for i := range first {
				if bytes.Equal(first[i][10:], other[i][10:]) {
					t.Errorf("two sources give %x and %x", first[i], other[i])
				}
			}
			// Unpredictable: generators of the same kind, time and start share no random bits.
			seen := make(map[string]bool)
			for range 500 {
				id := specNext(t, specGenerator(t, config{Start: scru160.StartBits(0)}, testkit.At(at)))
				seen[string(id[10:])] = true
			}
			testkit.Same(t, len(seen), 500)
		}},

		{"At least 80 most significant bits", func(t *testing.T) {
			specSorts(t, func(id scru160.ID) string { return string(id[:10]) })
			// 64 bits are not enough if the counter has 32 bits.
			ids := specMixed(t)
			equal := 0
			for i := range ids[1:] {
				if msb(ids[i], 0, 63) == msb(ids[i+1], 0, 63) {
					equal++
				}
			}
			if equal == 0 {
				t.Error("64 bits keep all IDs apart")
			}
		}},
		{"16 leading characters in the base32hex encoding", func(t *testing.T) {
			specSorts(t, func(id scru160.ID) string { return id.String()[:16] })
		}},
		{"20 leading characters in the hex encoding", func(t *testing.T) {
			specSorts(t, func(id scru160.ID) string { return id.Hex()[:20] })
		}},
		{"MUST be compared when IDs are sorted by the order of generation", func(t *testing.T) {
			// Compare sees every bit.
			for bit := range 160 {
				low, high := scru160.ID{}, scru160.ID{}
				for b := bit + 1; b < 160; b++ {
					low[b/8] |= 1 << (7 - b%8)
				}
				high[bit/8] = 1 << (7 - bit%8)
				if a, b, c := low.Compare(high), high.Compare(low), high.Compare(high); a != -1 || b != 1 || c != 0 {
					t.Fatalf("bit %d: Compare gives %d, %d and %d", bit, a, b, c)
				}
			}
			want := specMixed(t)
			got := slices.Clone(want)
			rand.New(rand.NewPCG(3, 4)).Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
			slices.SortFunc(got, scru160.ID.Compare)
			if !slices.Equal(got, want) {
				t.Error("a sort by Compare is not the order of generation")
			}
		}},

		{"A generator MUST NOT generate IDs with timestamp set at zero or 2^48 - 1", func(t *testing.T) {
			const last = 281_474_976_710_655
			for _, c := range []config{{}, {Counter: micro}} {
				c.Restart, c.MaxBackward = true, -1
				clock := testkit.At(at)
				gen := specGenerator(t, c, clock)
				testkit.Same(t, gen.ExpiresAt().UnixMilli(), last)
				for _, v := range []struct {
					ms    int64
					valid bool
				}{{0, false}, {1, true}, {last - 1, true}, {last, false}, {last + 1, false}} {
					for _, within := range []time.Duration{0, time.Millisecond - 1} {
						now := time.UnixMilli(v.ms).Add(within)
						clock.Set(now)
						_, errNew := scru160.NewGenerator(config{Counter: c.Counter, Clock: clock.Now})
						id, err := gen.TryNext()
						next, errNext := gen.Next(context.Background())
						some := make([]scru160.ID, 1)
						_, errFill := gen.Fill(context.Background(), some)
						var iterated scru160.ID
						var errSeq error
						for iterated, errSeq = range gen.Seq(context.Background(), 1) {
						}
						made, errMade := scru160.FromTime(now)
						for name, err := range map[string]error{"NewGenerator": errNew, "TryNext": err, "Next": errNext, "Fill": errFill, "Seq": errSeq, "FromTime": errMade} {
							if v.valid && err != nil || !v.valid && !errors.Is(err, iderr.ErrTimeRange) {
								t.Errorf("usage %d, %s at %d ms: %v", c.Counter, name, v.ms, err)
							}
						}
						for _, id := range []scru160.ID{id, next, some[0], iterated, made} {
							if v.valid && msb(id, 0, 47) != uint64(v.ms) || !v.valid && id != (scru160.ID{}) {
								t.Errorf("usage %d at %d ms: %x", c.Counter, v.ms, id)
							}
						}
					}
				}
			}
		}},
		{"because these are reserved for special purposes", func(t *testing.T) {
			// Ruling: IDs with reserved timestamps decode.
			for text, want := range map[string]byte{
				strings.Repeat("0", 32): 0, strings.Repeat("0", 40): 0, strings.Repeat("V", 32): 0xff, strings.Repeat("f", 40): 0xff,
			} {
				id, err := scru160.Parse(text)
				if err != nil || !bytes.Equal(id[:], bytes.Repeat([]byte{want}, 20)) {
					t.Errorf("Parse(%s) = %x, %v", text, id, err)
				}
				back, err := scru160.FromBytes(bytes.Repeat([]byte{want}, 20))
				if err != nil || back != id || back.IsZero() != (want == 0) {
					t.Errorf("FromBytes of %x = %x, %v", want, back, err)
				}
			}
			if id := scru160.Max(); !bytes.Equal(id[:], bytes.Repeat([]byte{0xff}, 20)) || id.Timestamp() != 281_474_976_710_655 {
				t.Errorf("the largest ID is %x, of the timestamp %d", id, id.Timestamp())
			}
		}},

		{"An implementation SHOULD ensure the monotonic order of generated IDs by the generation time as much as reasonably possible", func(t *testing.T) {
			// Ruling: A clock that went back a little holds the last timestamp.
			for _, c := range []config{{}, {Counter: micro, ExtraCounterBits: 4}} {
				clock := testkit.At(at)
				c.MaxBackward = 5 * time.Second
				gen := specGenerator(t, c, clock)
				random := rand.New(rand.NewPCG(5, 6))
				var ids []scru160.ID
				for latest := at; len(ids) < 3000; {
					ids = append(ids, specNext(t, gen))
					if got := ids[len(ids)-1]; msb(got, 0, 47) != uint64(latest.UnixMilli()) {
						t.Fatalf("timestamp %d, want %d, the latest of the clock", msb(got, 0, 47), latest.UnixMilli())
					}
					clock.Set(latest.Add(-time.Duration(random.Int64N(int64(4 * time.Second)))))
					if len(ids)%100 == 0 {
						latest = latest.Add(time.Duration(random.Int64N(int64(time.Second))))
						clock.Set(latest)
					}
				}
				specIncreases(t, ids, 9)
			}
		}},
		{"This specification does not require a strict guarantee of monotonicity", func(t *testing.T) {
			// Ruling: A clock that went back far is an error or, by option, a restart. No ID comes
			// twice in either case.
			for _, usage := range []scru160.Counter{scru160.CounterMilliseconds, micro} {
				clock := testkit.At(at)
				strict := specGenerator(t, config{Counter: usage}, clock)
				restarts := specGenerator(t, config{Counter: usage, Restart: true}, clock)
				before := []scru160.ID{specNext(t, strict), specNext(t, restarts)}

				clock.Set(at.Add(-5 * time.Second)) // the default of MaxBackward, and still held
				before = append(before, specNext(t, strict), specNext(t, restarts))
				clock.Set(at.Add(-time.Hour))
				_, err := strict.TryNext()
				_, errNext := strict.Next(context.Background())
				for _, err := range []error{err, errNext} {
					behind, ok := errors.AsType[*iderr.ClockError](err)
					if !ok || behind.By != time.Hour || !errors.Is(err, iderr.ErrClockBackwards) || errors.Is(err, iderr.ErrExhausted) {
						t.Errorf("an hour behind: %v", err)
					}
				}
				id := specNext(t, restarts)
				if got := msb(id, 0, 47); got != atMillis-3_600_000 || slices.Contains(before, id) {
					t.Errorf("a restart at the timestamp %d, want %d", got, atMillis-3_600_000)
				}
				clock.Set(at)
				before = append(before, id)
				for _, gen := range []*scru160.Generator{strict, restarts} {
					id := specNext(t, gen)
					if msb(id, 0, 47) != atMillis || slices.Contains(before, id) {
						t.Errorf("%x after the clock came back, and %x before", id, before)
					}
					before = append(before, id)
				}
			}
		}},
		{"No synchronized clock or internal state is readily available because IDs are generated at multiple distributed nodes", func(t *testing.T) {
			// Each generator follows its own clock, and knows nothing of other generators.
			ahead := specNext(t, specGenerator(t, config{}, testkit.At(at)))
			behind := specNext(t, specGenerator(t, config{}, testkit.At(at.Add(-time.Hour))))
			if a, b := msb(ahead, 0, 47), msb(behind, 0, 47); a != atMillis || b != atMillis-3_600_000 || ahead == behind {
				t.Errorf("timestamps %d and %d", a, b)
			}
		}},
		{"Available unix timestamps are imprecise or do not increase monotonically", func(t *testing.T) {
			// A clock with steps of 16 ms.
			clock := testkit.At(at)
			gen := specGenerator(t, config{}, clock)
			var ids []scru160.ID
			for range 20 {
				for range 50 {
					ids = append(ids, specNext(t, gen))
				}
				clock.Step(16 * time.Millisecond)
			}
			specIncreases(t, ids, 8)

			// Ruling: "Clock went backwards" and "exhausted" are two errors. If the clock is behind
			// an exhausted tick, the error is about the clock.
			clock = testkit.At(at)
			gen = specGenerator(t, config{}, clock)
			specDrain(t, gen)
			if _, err := gen.TryNext(); !errors.Is(err, iderr.ErrExhausted) || errors.Is(err, iderr.ErrClockBackwards) {
				t.Errorf("an exhausted tick gives %v", err)
			}
			clock.Step(-time.Second)
			if _, err := gen.TryNext(); !errors.Is(err, iderr.ErrClockBackwards) || errors.Is(err, iderr.ErrExhausted) {
				t.Errorf("an exhausted tick with the clock behind gives %v", err)
			}
		}},
	} {
		t.Run(row.text, row.check)
	}
}

// msb returns the bits of the ID from first to last, in the numbers of the specification: bit 0 is
// the most significant bit. The bits are at most 64.
func msb(id scru160.ID, first, last int) (v uint64) {
	for bit := first; bit <= last; bit++ {
		v = v<<1 | uint64(id[bit/8]>>(7-bit%8)&1)
	}
	return v
}

// dimension returns the number of independent bits among the bits from first to last. Constant bits
// do not count, nor do bits that are a sum of other bits and a constant. A fair source of n bits
// gives less than n with a probability below 2^(n+1-len(ids)).
func dimension(ids []scru160.ID, first, last int) int {
	var basis [160]*big.Int // by the highest bit
	mask := big.NewInt(1)
	mask.Lsh(mask, uint(last-first+1)).Sub(mask, big.NewInt(1))
	origin := new(big.Int).SetBytes(ids[0][:])
	n := 0
	for _, id := range ids[1:] {
		v := new(big.Int).SetBytes(id[:])
		v.Xor(v, origin).Rsh(v, uint(159-last)).And(v, mask)
		for v.Sign() != 0 {
			highest := v.BitLen() - 1
			if basis[highest] == nil {
				basis[highest] = v
				n++
				break
			}
			v.Xor(v, basis[highest])
		}
	}
	return n
}

func specGenerator(t *testing.T, c scru160.Config, clock *testkit.Clock) *scru160.Generator {
	t.Helper()
	c.Clock = clock.Now
	gen, err := scru160.NewGenerator(c)
	if err != nil {
		t.Fatalf("%+v: %v", c, err)
	}
	return gen
}

func specNext(t *testing.T, gen *scru160.Generator) scru160.ID {
	t.Helper()
	id := testkit.Must(gen.TryNext())
	return id
}

// specDrain returns all IDs that are left in the tick.
func specDrain(t *testing.T, gen *scru160.Generator) (ids []scru160.ID) {
	t.Helper()
	for len(ids) <= 1<<20 {
		id, err := gen.TryNext()
		if errors.Is(err, iderr.ErrExhausted) && len(ids) > 0 {
			return ids
		}
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	t.Fatal("a tick without end")
	return nil
}

// specTicks returns the first IDs of n ticks.
func specTicks(t *testing.T, c scru160.Config, n int) (ids []scru160.ID) {
	t.Helper()
	clock := testkit.At(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))
	gen := specGenerator(t, c, clock)
	for range n {
		ids = append(ids, specNext(t, gen))
		clock.Step(time.Millisecond)
	}
	return ids
}

// specMixed returns IDs of 30 ticks in the order of generation, with counters of 32 bits.
func specMixed(t *testing.T) (ids []scru160.ID) {
	t.Helper()
	clock := testkit.At(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC))
	gen := specGenerator(t, scru160.Config{ExtraCounterBits: 16}, clock)
	for range 30 {
		for range 50 {
			ids = append(ids, specNext(t, gen))
		}
		clock.Step(time.Millisecond)
	}
	return ids
}

// specSorts checks that the keys of IDs are different, and in the order of generation.
func specSorts(t *testing.T, key func(scru160.ID) string) {
	t.Helper()
	var last string
	for i, id := range specMixed(t) {
		if k := key(id); k > last {
			last = k
			continue
		}
		t.Fatalf("key %d is %q, after %q", i, key(id), last)
	}
}

// specIncreases checks that the first n bytes of IDs increase.
func specIncreases(t *testing.T, ids []scru160.ID, n int) {
	t.Helper()
	for i := 1; i < len(ids); i++ {
		if bytes.Compare(ids[i-1][:n], ids[i][:n]) >= 0 {
			t.Fatalf("%x follows %x", ids[i], ids[i-1])
		}
	}
}

// specRefused checks that NewGenerator refused the field.
func specRefused(t *testing.T, field string, gen *scru160.Generator, err error) {
	t.Helper()
	bad, ok := errors.AsType[*iderr.ConfigError](err)
	if !ok || bad.Field != field || gen != nil {
		t.Errorf("%v, want an error about %s", err, field)
	}
}

// specField checks that the value of a field is the bits from first to last, and nothing else.
func specField(t *testing.T, first, last int, field func(scru160.ID) *big.Int) {
	t.Helper()
	for bit := range 160 {
		var id scru160.ID
		id[bit/8] = 1 << (7 - bit%8)
		want := new(big.Int)
		if first <= bit && bit <= last {
			want.SetBit(want, last-bit, 1)
		}
		if got := field(id); got.Cmp(want) != 0 {
			t.Fatalf("bit %d: value %x, want %x", bit, got, want)
		}
	}
}

// specRead returns the ID of a text of digits with the base.
func specRead(t *testing.T, text string, base int) (id scru160.ID) {
	t.Helper()
	v, ok := new(big.Int).SetString(strings.ToLower(text), base)
	if !ok {
		t.Fatalf("%s is not a number", text)
	}
	v.FillBytes(id[:])
	return id
}

// specText returns the digits of the ID with the base, padded with zeros to the length.
func specText(id scru160.ID, base, length int) string {
	s := new(big.Int).SetBytes(id[:]).Text(base)
	return strings.Repeat("0", length-len(s)) + s
}

// specExample checks an example of the text: the ID, and the fields that the examples share.
func specExample(t *testing.T, text string, base int, timestamp int64, counter int) {
	t.Helper()
	want := specRead(t, text, base)
	id, err := scru160.Parse(text)
	if err != nil || id != want {
		t.Fatalf("Parse(%s) = %x, %v; want %x", text, id, err, want)
	}
	written := id.String()
	if base == 16 {
		written = id.Hex()
	}
	testkit.Same(t, written, text)
	if id.Timestamp() != timestamp || id.Counter() != counter {
		t.Errorf("%s has the timestamp %d and the counter %#x, want %d and %#x", text, id.Timestamp(), id.Counter(), timestamp, counter)
	}
	if at := time.Date(2021, 9, 13, 13, 41, 30, 683_000_000, time.UTC); id.Time() != at {
		t.Errorf("%s is of %v, want %v", text, id.Time(), at)
	}
}

// specSamples returns IDs with bits of all kinds.
func specSamples() []scru160.ID {
	random := rand.New(rand.NewPCG(7, 8))
	ids := make([]scru160.ID, 300)
	for i := range ids {
		for j := range ids[i] {
			ids[i][j] = byte(random.Uint32())
		}
		if i%3 == 0 { // mostly zeros
			clear(ids[i][1+i%19:])
		}
	}
	return ids
}

// Statements that no program can check:
//
//   - "yet another attempt to supersede UUID": motivation
//   - "inspired by ULID and KSUID": history
//   - "feature-rich worry-free design suitable for general purposes": praise
//   - "highly portable": a judgment about encodings
//   - "Implementations": a heading without a list
//   - "Specification (v0.1.0 - 2021-09-24)": the name and the date of the text
//   - "if the unix time is reliably available in microseconds": a property of the machine's clock
//   - "so that the counter bits are efficiently utilized": a reason
//   - "implementation-dependent": the meaning of node IDs, which an application gives
//   - "cryptographically strong": the strength of a cipher; the row shows the source of the bits
//   - "because these are reserved for special purposes": purposes that the text does not name
//   - "it is quite often impossible or unreasonable to guarantee the monotonic order": a reason
//   - "Typical situations where the guarantee of monotonic order is not reasonably possible
//     include": an open list, whose two items have rows
