package nanoflake_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

// Times of the rows, in Unix milliseconds.
const (
	noon    = 1_782_907_200_000 // 2026-07-01T12:00:00Z
	year21  = 1_609_459_200_000 // 2021-01-01T00:00:00Z, the default epoch
	twitter = 1_288_834_974_657 // the epoch of Twitter's Snowflakes
	atNoon  = 173_448_000_000   // the timestamp at noon since year21
)

// A tweet of 2022-06-28T16:07:40.105Z, by worker 26 of datacenter 11.
const (
	tweet      = 1_541_815_603_606_036_480
	tweetMilli = 1_656_432_460_105
)

// TestSpecification goes through the specification of Nanoflakes, sentence by sentence, in the
// order of the text. A row quotes a statement and checks the package against the statement. A
// remark "Ruling" marks a row in which the project decides what the text leaves open or gets wrong.
func TestSpecification(t *testing.T) {
	for _, row := range []struct {
		text  string
		check func(t *testing.T)
	}{
		// A Nanoflake

		{"A nanoflake is a 64-bit signed integer", func(t *testing.T) {
			const largest int64 = 9_223_372_036_854_775_807
			testkit.Same(t, int64(nanoflake.Max), largest)
			for _, v := range []int64{1, 1<<32 + 1, tweet, largest - 1, largest} {
				if id, err := nanoflake.FromInt64(v); err != nil || int64(id) != v || id.Int64() != v {
					t.Errorf("FromInt64(%d) = %d, %v", v, int64(id), err)
				}
			}
			// Ruling: the sign bit is 0, so a negative integer is an error.
			for _, v := range []int64{-1, -largest, -largest - 1} {
				testkit.Call(nanoflake.FromInt64(v)).Fails(t, iderr.ErrRange)
			}
		}},
		{"41-bit timestamp", func(t *testing.T) {
			if nanoflake.MaxTimestamp != 2_199_023_255_551 || nanoflake.Max.Timestamp() != 2_199_023_255_551 {
				t.Errorf("timestamps end at %d, and the largest ID has %d", int64(nanoflake.MaxTimestamp), nanoflake.Max.Timestamp())
			}
			for bit := range 41 {
				id := nanoflake.ID(power(22 + bit))
				if id.Timestamp() != power(bit) || id.GeneratorID() != 0 || id.Sequence() != 0 {
					t.Errorf("bit %d: fields %d, %d, %d", bit, id.Timestamp(), id.GeneratorID(), id.Sequence())
				}
			}
		}},
		{"10-bit generator ID", func(t *testing.T) {
			if nanoflake.MaxGeneratorID != 1023 || nanoflake.Max.GeneratorID() != 1023 {
				t.Errorf("generator IDs end at %d, and the largest ID has %d", nanoflake.MaxGeneratorID, nanoflake.Max.GeneratorID())
			}
			for bit := range 10 {
				id := nanoflake.ID(power(12 + bit))
				if int64(id.GeneratorID()) != power(bit) || id.Timestamp() != 0 || id.Sequence() != 0 {
					t.Errorf("bit %d: fields %d, %d, %d", bit, id.Timestamp(), id.GeneratorID(), id.Sequence())
				}
			}
		}},
		{"12-bit sequence number", func(t *testing.T) {
			if nanoflake.MaxSequence != 4095 || nanoflake.Max.Sequence() != 4095 {
				t.Errorf("sequences end at %d, and the largest ID has %d", nanoflake.MaxSequence, nanoflake.Max.Sequence())
			}
			for bit := range 12 {
				id := nanoflake.ID(power(bit))
				if int64(id.Sequence()) != power(bit) || id.Timestamp() != 0 || id.GeneratorID() != 0 {
					t.Errorf("bit %d: fields %d, %d, %d", bit, id.Timestamp(), id.GeneratorID(), id.Sequence())
				}
			}
		}},
		{"0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1", func(t *testing.T) {
			// The diagram has two rows of 32 bits, and counts from the most significant bit. The
			// binary form writes the bits in this order.
			for bit := 1; bit < 64; bit++ {
				want := make([]byte, 8)
				want[bit/8] = "\x80\x40\x20\x10\x08\x04\x02\x01"[bit%8]
				id := nanoflake.ID(power(63 - bit))
				if got, err := id.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
					t.Errorf("bit %d is written as %x, %v", bit, got, err)
				}
				testkit.Call(nanoflake.FromBytes(want)).Gives(t, id)
			}
			// Ruling: bit 0, the highest, is the sign bit and always 0.
			testkit.Call(nanoflake.FromBytes([]byte{0x80, 0, 0, 0, 0, 0, 0, 1})).Fails(t, iderr.ErrRange)
		}},
		{"|                           timestamp                           |", func(t *testing.T) {
			// The first row of bits holds the sign bit and the high 31 bits of the timestamp.
			gen := generator(t, nanoflake.Config{GeneratorID: 1023, Clock: testkit.At(at(noon)).Now})
			data, err := next(t, gen).MarshalBinary()
			if err != nil {
				t.Fatal(err)
			}
			testkit.Same(t, int64(binary.BigEndian.Uint32(data[:4])), atNoon/1024)
		}},
		{"|                 |    generator id   |       sequence        |0|", func(t *testing.T) {
			// Ruling: the cell 0 at the end is a drawing error. The 0 is the sign bit, at the start.
			const timestamp = atNoon + 7
			gen := generator(t, nanoflake.Config{GeneratorID: 673, Clock: testkit.At(at(noon + 7)).Now})
			for sequence := range 4 {
				data, err := next(t, gen).MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				want := timestamp%1024*4_194_304 + 673*4096 + int64(sequence)
				if got := int64(binary.BigEndian.Uint32(data[4:])); got != want || data[0]&0x80 != 0 {
					t.Errorf("the last 32 bits are %#x, want %#x; the first byte is %#x", got, want, data[0])
				}
			}
		}},
		{"the epoch for a Nanoflake is defined by the context in which it is generated and used", func(t *testing.T) {
			var first nanoflake.ID
			for i, epoch := range []int64{0, twitter, year21} {
				gen := generator(t, nanoflake.Config{Epoch: at(epoch), Clock: testkit.At(at(epoch + 12_345)).Now})
				id := next(t, gen)
				if i == 0 {
					first = id
				}
				if id != first || id != compose(12_345, 0, 0) {
					t.Errorf("epoch %d: the ID is %d", epoch, int64(id))
				}
				testkit.Same(t, first.Time(at(epoch)).UnixMilli(), epoch+12_345)
			}
		}},
		{"users are free to define their own epoch for their own applications", func(t *testing.T) {
			for _, epoch := range []int64{0, twitter, year21, -311_299_200_000, noon - 2_199_023_255_551, noon - 1} {
				gen := generator(t, nanoflake.Config{Epoch: at(epoch), Clock: testkit.At(at(noon)).Now})
				id := next(t, gen)
				if id != compose(noon-epoch, 0, 0) || gen.Epoch().UnixMilli() != epoch {
					t.Errorf("epoch %d: the ID is %d, and the generator has the epoch %v", epoch, int64(id), gen.Epoch())
				}
				if a, b := gen.Time(id), id.Time(at(epoch)); a.UnixMilli() != noon || b.UnixMilli() != noon {
					t.Errorf("epoch %d: the times are %v and %v", epoch, a, b)
				}
			}
		}},
		{"use said epoch across all generators in order to ensure that nanoflakes are unique", func(t *testing.T) {
			seen := make(unique)
			clock := testkit.At(at(noon))
			var gens []*nanoflake.Generator
			for n := range 4 {
				gens = append(gens, generator(t, nanoflake.Config{GeneratorID: n, Epoch: at(twitter), Clock: clock.Now}))
			}
			for range 50 {
				for _, gen := range gens {
					seen.add(t, take(t, gen, 20)...)
				}
				clock.Step(time.Millisecond)
			}
			testkit.Same(t, len(seen), 50*4*20)
		}},
		{"Since nanoflakes contain a timestamp, they can be sorted by time", func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			var ids []nanoflake.ID
			for _, i := range random.Perm(200) {
				gen := generator(t, nanoflake.Config{GeneratorID: 1023 - i, Clock: testkit.At(at(noon + int64(i)*3)).Now})
				ids = append(ids, next(t, gen))
			}
			binaryForm := func(id nanoflake.ID) string {
				data, err := id.MarshalBinary()
				if err != nil {
					t.Fatal(err)
				}
				return string(data)
			}
			for name, less := range map[string]func(a, b nanoflake.ID) int{
				"integers":     func(a, b nanoflake.ID) int { return int(min(max(a-b, -1), 1)) },
				"Compare":      nanoflake.ID.Compare,
				"texts":        func(a, b nanoflake.ID) int { return strings.Compare(a.String(), b.String()) },
				"binary forms": func(a, b nanoflake.ID) int { return strings.Compare(binaryForm(a), binaryForm(b)) },
			} {
				sorted := slices.SortedFunc(slices.Values(ids), less)
				for i, id := range sorted {
					if want := compose(atNoon+int64(i)*3, int64(1023-i), 0); id != want {
						t.Fatalf("sorted by %s, ID %d is %d, want %d", name, i, int64(id), int64(want))
					}
				}
			}
		}},
		{"can be used as a unique ID for a time series", func(t *testing.T) {
			clock := testkit.At(at(noon))
			gen := generator(t, nanoflake.Config{GeneratorID: 1023, Clock: clock.Now})
			var series []nanoflake.ID // three points in each millisecond
			for range 100 {
				series = append(series, take(t, gen, 3)...)
				clock.Step(time.Millisecond)
			}
			make(unique).add(t, series...)
			for _, v := range [][2]int{{0, 99}, {0, 0}, {10, 19}, {99, 99}} {
				first, last := gen.First(at(noon+int64(v[0]))), gen.Last(at(noon+int64(v[1])))
				var got []nanoflake.ID
				for _, id := range series {
					if first <= id && id <= last {
						got = append(got, id)
					}
				}
				if want := series[3*v[0] : 3*v[1]+3]; !slices.Equal(got, want) {
					t.Errorf("from %d ms to %d ms the series has %d points, want %d", v[0], v[1], len(got), len(want))
				}
			}
		}},
		{"use the nanoflake's timestamp to determine when the nanoflake was generated", func(t *testing.T) {
			clock := testkit.At(time.Date(2026, 7, 1, 14, 0, 0, 123_456_789, time.FixedZone("", 7200)))
			gen := generator(t, nanoflake.Config{GeneratorID: 5, Clock: clock.Now})
			want := time.Date(2026, 7, 1, 12, 0, 0, 123e6, time.UTC)
			for range 3 {
				id := next(t, gen)
				if a, b := gen.Time(id), id.Time(time.Time{}); a != want || b != want {
					t.Errorf("the times are %v and %v, want %v", a, b, want)
				}
			}
		}},
		{"shifting the timestamp 22 bits to the right", func(t *testing.T) {
			// Ruling: the shift is 22 bits, though public implementations shift by 24.
			random := rand.New(rand.NewPCG(3, 4))
			for range 1000 {
				v := random.Int64()
				testkit.Same(t, nanoflake.ID(v).Timestamp(), v/4_194_304)
			}
			const by24 = 1_000_000_007 * 16_777_216
			testkit.Same(t, nanoflake.ID(by24).Timestamp(), 4*1_000_000_007)
		}},
		{"adding the epoch to the result in order to get the nanoflake's timestamp in milliseconds since the UNIX epoch", func(t *testing.T) {
			for _, v := range []struct {
				id          nanoflake.ID
				epoch, want int64
			}{
				{tweet, twitter, tweetMilli},
				{tweet, 0, 367_597_485_448},
				{tweet, year21, 367_597_485_448 + year21},
				{4_194_303, -1, -1},
				{4_194_304, -1, 0},
				{nanoflake.Max, twitter, 3_487_858_230_208},
			} {
				if got := v.id.Time(at(v.epoch)).UnixMilli(); got != v.want {
					t.Errorf("the time of %d since %d is %d, want %d", int64(v.id), v.epoch, got, v.want)
				}
			}
		}},

		// Ensuring Uniqueness

		{"must have its own, unique generator ID (10-bit integer) for the entire application context", func(t *testing.T) {
			seen := make(unique)
			clock := testkit.At(at(noon))
			for n := range 1024 {
				gen := generator(t, nanoflake.Config{GeneratorID: n, Clock: clock.Now})
				testkit.Same(t, gen.GeneratorID(), n)
				for _, id := range take(t, gen, 3) {
					testkit.Same(t, id.GeneratorID(), n)
					seen.add(t, id)
				}
			}
			testkit.Same(t, len(seen), 3072)
			// A generator that waits for a generator ID of a lease makes no ID.
			gen := generator(t, nanoflake.Config{Leased: true, Clock: clock.Now})
			testkit.Call(gen.TryNext()).Fails(t, iderr.ErrFenced)
		}},
		{"The generator ID can be any number between 0 and 1023 (inclusive)", func(t *testing.T) {
			clock := testkit.At(at(noon))
			for n := range 1024 {
				if _, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: n, Clock: clock.Now}); err != nil {
					t.Errorf("NewGenerator: %v", err)
				}
				testkit.Call(nanoflake.FromTime(at(noon), time.Time{}, n, 4095)).Gives(t, compose(atNoon, int64(n), 4095))
			}
			// Ruling: a generator ID out of range is an error at construction.
			for _, n := range []int{-1, 1024, 2048, math.MinInt, math.MaxInt} {
				gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: n, Clock: clock.Now})
				testkit.IsConfigError(t, err, "nanoflake", "GeneratorID", fmt.Sprint(n, " is not in 0 to 1023"))
				if gen != nil {
					t.Errorf("generator ID %d: a generator beside an error", n)
				}
				id, err := nanoflake.FromTime(at(noon), time.Time{}, n, 0)
				testkit.IsConfigError(t, err, "nanoflake", "GeneratorID", fmt.Sprint(n, " is not in 0 to 1023"))
				if id != 0 {
					t.Errorf("generator ID %d: an ID beside an error", n)
				}
			}
		}},
		{"must be configured to use a common known epoch", func(t *testing.T) {
			if got := nanoflake.DefaultEpoch(); got != time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC) || nanoflake.DefaultEpochMilli != year21 {
				t.Errorf("the default epoch is %v, or %d", got, int64(nanoflake.DefaultEpochMilli))
			}
			for _, v := range []struct {
				epoch time.Time
				want  int64
			}{
				{time.Time{}, year21},
				{at(twitter), twitter},
				{at(twitter).In(time.FixedZone("", -36_000)), twitter}, // the same time in another zone
			} {
				for _, n := range []int{0, 512, 1023} {
					gen := generator(t, nanoflake.Config{GeneratorID: n, Epoch: v.epoch, Clock: testkit.At(at(noon)).Now})
					if got := gen.Epoch(); !got.Equal(at(v.want)) {
						t.Errorf("generator %d has the epoch %v", n, got)
					}
					if id := next(t, gen); id != compose(noon-v.want, int64(n), 0) {
						t.Errorf("generator %d with the epoch %v: the ID is %d", n, v.epoch, int64(id))
					}
				}
			}
		}},
		{"The epoch is a UNIX timestamp in milliseconds", func(t *testing.T) {
			for _, rest := range []time.Duration{1, time.Microsecond, time.Millisecond - 1} {
				epoch := at(year21).Add(rest)
				_, err := nanoflake.NewGenerator(nanoflake.Config{Epoch: epoch, Clock: testkit.At(at(noon)).Now})
				testkit.IsConfigError(t, err, "nanoflake", "Epoch", "whole milliseconds")
				_, err = nanoflake.FromTime(at(noon), epoch, 0, 0)
				testkit.IsConfigError(t, err, "nanoflake", "Epoch", "whole milliseconds")
			}
			for rest := range int64(3) {
				testkit.Call(nanoflake.FromTime(at(noon), at(year21+rest), 0, 0)).Gives(t, compose(atNoon-rest, 0, 0))
			}
		}},
		{"the epoch must represent a time in the past relative to the generator's current time", func(t *testing.T) {
			// Ruling: a generator refuses an epoch in the future at construction.
			clock := testkit.At(at(noon).Add(time.Millisecond - 1))
			for _, epoch := range []int64{noon, noon + 1, noon + 1000, noon + 2_199_023_255_552} {
				gen, err := nanoflake.NewGenerator(nanoflake.Config{Epoch: at(epoch), Clock: clock.Now})
				testkit.IsConfigError(t, err, "nanoflake", "Epoch", "2026-07-01T11:59:59.999Z")
				if gen != nil || !errors.Is(err, iderr.ErrTimeRange) {
					t.Errorf("epoch %d: %v, %v", epoch, gen, err)
				}
			}
			gen := generator(t, nanoflake.Config{Epoch: at(noon - 1), Clock: clock.Now})
			testkit.Same(t, next(t, gen), compose(1, 0, 0))
			clock.Set(at(noon - 1)) // a clock that goes back to the epoch after construction
			testkit.Call(gen.TryNext()).Fails(t, iderr.ErrTimeRange)
			testkit.Call(nanoflake.NewGenerator(nanoflake.Config{Clock: testkit.At(at(year21)).Now})).Fails(t, iderr.ErrTimeRange)
		}},
		{"a nanoflake is guaranteed to be unique within the context of the application", func(t *testing.T) {
			// Ruling: a generator never repeats an ID, however many goroutines call the generator
			// and whatever the clock does.
			clock := testkit.At(at(noon))
			gens := []*nanoflake.Generator{
				generator(t, nanoflake.Config{GeneratorID: 0, Clock: clock.Now}),
				generator(t, nanoflake.Config{GeneratorID: 1023, Clock: clock.Now}),
				generator(t, nanoflake.Config{GeneratorID: 5, Clock: clock.Now, Start: nanoflake.StartAnywhere}),
			}
			const callers, calls = 8, 100
			var made [callers][3][]nanoflake.ID
			together := func(call func(caller, n int)) {
				var all sync.WaitGroup
				for caller := range callers {
					all.Go(func() {
						for n := range gens {
							call(caller, n)
						}
					})
				}
				all.Wait()
			}
			each := func(caller, n int) { // with a clock that stands
				for range calls {
					id, err := gens[n].TryNext()
					if err != nil {
						t.Errorf("generator %d: %v", n, err)
						return
					}
					made[caller][n] = append(made[caller][n], id)
				}
			}
			together(each)
			together(func(caller, n int) { // with a clock that steps forward and back
				for i := range 3 * calls {
					clock.Step(time.Duration(i*caller%7-2) * time.Millisecond)
					id, err := gens[n].TryNext()
					switch {
					case err == nil:
						made[caller][n] = append(made[caller][n], id)
					case !errors.Is(err, iderr.ErrClockBackwards) && !errors.Is(err, iderr.ErrExhausted):
						t.Errorf("generator %d: %v", n, err)
					}
				}
			})
			clock.Set(at(noon + 3_600_000))
			together(each)
			seen := make(unique)
			for caller := range made {
				for n, ids := range made[caller] {
					seen.add(t, ids...)
					if len(ids) < 2*calls {
						t.Errorf("caller %d has %d IDs of generator %d", caller, len(ids), n)
					}
					if n < 2 && !slices.IsSorted(ids) {
						t.Errorf("the IDs of caller %d and generator %d do not increase", caller, n)
					}
				}
			}
		}},
		{"The sequence number is incremented for each nanoflake generated by a given generator", func(t *testing.T) {
			clock := testkit.At(at(noon))
			gen := generator(t, nanoflake.Config{GeneratorID: 9, Clock: clock.Now})
			for sequence := range int64(500) {
				if id := next(t, gen); id != compose(atNoon, 9, sequence) {
					t.Fatalf("ID %d is %d with the sequence %d", sequence, int64(id), id.Sequence())
				}
				clock.Step(time.Microsecond) // within the millisecond
			}
		}},
		{"if the sequence number overflows, the generator will wait until the next millisecond", bubble(func(t *testing.T) {
			time.Sleep(300 * time.Microsecond) // into a millisecond
			gen := generator(t, nanoflake.Config{GeneratorID: 9, Epoch: at(0)})
			timestamp := time.Now().UnixMilli()
			for sequence := range int64(4096) {
				testkit.Call(gen.Next(t.Context())).Gives(t, compose(timestamp, 9, sequence))
			}
			began := time.Now()
			id, err := gen.Next(t.Context())
			if err != nil || id != compose(timestamp+1, 9, 0) {
				t.Errorf("after the overflow the ID is %d, %v", int64(id), err)
			}
			testkit.Same(t, time.Since(began), 700*time.Microsecond)
		})},
		{"by multiple generators within the same system without colliding or requiring coordination between the generators", func(t *testing.T) {
			clock := testkit.At(at(noon))
			one := take(t, generator(t, nanoflake.Config{GeneratorID: 341, Clock: clock.Now}), 4096)
			two := take(t, generator(t, nanoflake.Config{GeneratorID: 682, Clock: clock.Now}), 4096)
			for i := range one {
				if two[i]-one[i] != (682-341)*4096 {
					t.Fatalf("ID %d of the generators is %d and %d", i, int64(one[i]), int64(two[i]))
				}
			}
			make(unique).add(t, append(one, two...)...)
		}},
		{"The timestamp is the number of milliseconds since the epoch", func(t *testing.T) {
			for _, v := range []struct {
				since time.Duration
				want  int64
			}{
				{time.Millisecond, 1}, {2*time.Millisecond - 1, 1}, {2 * time.Millisecond, 2},
				{time.Second, 1000}, {time.Hour + 999_999, 3_600_000}, {24 * time.Hour, 86_400_000}, {10_000 * time.Hour, 36_000_000_000},
			} {
				gen := generator(t, nanoflake.Config{Epoch: at(twitter), Clock: testkit.At(at(twitter).Add(v.since)).Now})
				if got := next(t, gen).Timestamp(); got != v.want {
					t.Errorf("%v after the epoch the timestamp is %d", v.since, got)
				}
				if id, err := nanoflake.FromTime(at(twitter).Add(v.since), at(twitter), 0, 0); err != nil || id.Timestamp() != v.want {
					t.Errorf("%v after the epoch: FromTime = %d, %v", v.since, int64(id), err)
				}
			}
		}},
		{"allows nanoflakes to be sorted by time of generation", func(t *testing.T) {
			clock := testkit.At(at(noon))
			high := generator(t, nanoflake.Config{GeneratorID: 1023, Clock: clock.Now})
			low := generator(t, nanoflake.Config{GeneratorID: 0, Clock: clock.Now})
			var before nanoflake.ID
			for range 20 { // the last ID of a millisecond is below the first of the next, whatever the generator
				first := next(t, low)
				if first <= before {
					t.Fatalf("the ID %d is later than %d, and not greater", int64(first), int64(before))
				}
				before = slices.Max(take(t, high, 4096))
				if before.Sequence() != 4095 || before <= first {
					t.Fatalf("the last ID of the millisecond is %d", int64(before))
				}
				clock.Step(time.Millisecond)
			}
		}},
		{"enable generators to be restarted without requiring persistence of a sequence number", func(t *testing.T) {
			seen := make(unique)
			for start := range int64(5) { // each start is a new generator, with nothing of the old
				clock := testkit.At(at(noon + start))
				ids := take(t, generator(t, nanoflake.Config{GeneratorID: 77, Clock: clock.Now}), 4096)
				if want := compose(atNoon+start, 77, 0); ids[0] != want {
					t.Errorf("start %d begins with %d, want %d", start, int64(ids[0]), int64(want))
				}
				seen.add(t, ids...)
			}
		}},

		// Compatibility with Twitter Snowflakes

		{"Nanoflakes are compatible with Twitter Snowflakes", func(t *testing.T) {
			id, err := nanoflake.FromInt64(tweet)
			if err != nil || id.Timestamp() != 367_597_485_448 || id.GeneratorID() != 378 || id.Sequence() != 0 {
				t.Errorf("the fields of a tweet are %d, %d, %d; %v", id.Timestamp(), id.GeneratorID(), id.Sequence(), err)
			}
			testkit.Same(t, id.Time(at(twitter)), time.Date(2022, 6, 28, 16, 7, 40, 105e6, time.UTC))
			testkit.Call(nanoflake.ParseDecimal("1541815603606036480")).Gives(t, tweet)
		}},
		{"can be used as a drop-in replacement for Snowflakes in most cases", func(t *testing.T) {
			gen := generator(t, nanoflake.Config{Epoch: at(twitter), GeneratorID: 11*32 + 26, Clock: testkit.At(at(tweetMilli)).Now})
			for i := range int64(10) {
				if id := next(t, gen); int64(id) != tweet+i || id.Decimal() != fmt.Sprint(tweet+i) {
					t.Errorf("ID %d is %d, in decimal %s", i, int64(id), id.Decimal())
				}
			}
		}},
		{"merges Twitter's 5-bit datacenter ID and 5-bit worker ID into a single 10-bit generator ID", func(t *testing.T) {
			for datacenter := range int64(32) {
				for worker := range int64(32) {
					snowflake := 1_000_003*power(22) + datacenter*power(17) + worker*power(12) + 5
					if got := nanoflake.ID(snowflake).GeneratorID(); int64(got)/32 != datacenter || int64(got)%32 != worker {
						t.Errorf("datacenter %d, worker %d: the generator ID is %d", datacenter, worker, got)
					}
					id, err := nanoflake.FromTime(at(twitter+1_000_003), at(twitter), int(datacenter*32+worker), 5)
					if err != nil || int64(id) != snowflake {
						t.Errorf("datacenter %d, worker %d: the ID is %d, %v", datacenter, worker, int64(id), err)
					}
				}
			}
		}},
		{"support 1024 unique generators instead of 32 generators per datacenter, with 32 datacenters", func(t *testing.T) {
			seen := make(unique)
			clock := testkit.At(at(noon))
			for datacenter := range 32 {
				for worker := range 32 {
					seen.add(t, next(t, generator(t, nanoflake.Config{GeneratorID: 32*datacenter + worker, Clock: clock.Now})))
				}
			}
			testkit.Same(t, len(seen), 1024)
		}},

		// Generating Nanoflakes

		{"As long as the generator is able to generate nanoflakes it is considered a valid generator", func(t *testing.T) {
			gen := generator(t, nanoflake.Config{GeneratorID: 3, Clock: testkit.At(at(noon)).Now})
			ids := take(t, gen, 2)
			id := testkit.Must(gen.Next(t.Context()))
			dst := make([]nanoflake.ID, 3)
			testkit.Call(gen.Fill(t.Context(), dst)).Gives(t, 3)
			ids = append(append(ids, id), dst...)
			for id, err := range gen.Seq(t.Context(), 4) {
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, id)
			}
			testkit.Same(t, len(ids), 10)
			for i, id := range ids {
				testkit.Same(t, id, compose(atNoon, 3, int64(i)))
			}
			var zero nanoflake.Generator // a generator that generates nothing says so
			testkit.Call(zero.TryNext()).Fails(t, iderr.ErrNotReady)
		}},
		{"Get the current timestamp in milliseconds since the epoch", func(t *testing.T) {
			clock := testkit.At(at(noon))
			gen := generator(t, nanoflake.Config{Clock: clock.Now})
			want := int64(atNoon)
			for _, step := range []int64{0, 1, 0, 2, 1000, 86_400_000, 31_536_000_000, 1} {
				clock.Step(time.Duration(step) * time.Millisecond)
				want += step
				testkit.Same(t, next(t, gen).Timestamp(), want)
			}
		}},
		{"Check if the system clock did not go backwards", bubble(func(t *testing.T) {
			time.Sleep(900 * time.Microsecond) // into a millisecond
			var clock late
			gen := generator(t, nanoflake.Config{Epoch: at(0), Clock: clock.now, MaxBackward: -1})
			timestamp := time.Now().UnixMilli()
			next(t, gen)
			clock.by = 900 * time.Microsecond // the same millisecond
			testkit.Same(t, next(t, gen), compose(timestamp, 0, 1))
			clock.by = 900*time.Microsecond + 1 // the millisecond before
			for name, call := range map[string]func() (nanoflake.ID, error){
				"TryNext": gen.TryNext,
				"Next":    func() (nanoflake.ID, error) { return gen.Next(t.Context()) },
				"Fill": func() (nanoflake.ID, error) {
					n, err := gen.Fill(t.Context(), make([]nanoflake.ID, 2))
					return nanoflake.ID(n), err
				},
				"Seq": func() (id nanoflake.ID, err error) {
					for id, err = range gen.Seq(t.Context(), 2) {
						break
					}
					return id, err
				},
			} {
				if got, err := call(); !errors.Is(err, iderr.ErrClockBackwards) || got != 0 {
					t.Errorf("%s beside a clock that went back: %d, %v", name, got, err)
				}
			}
			clock.by = 900 * time.Microsecond
			testkit.Same(t, next(t, gen), compose(timestamp, 0, 2))
		})},
		{"If the system clock did go backwards, the generator must either wait until the system clock", bubble(func(t *testing.T) {
			time.Sleep(300 * time.Microsecond)
			var clock late
			gen := generator(t, nanoflake.Config{GeneratorID: 2, Epoch: at(0), Clock: clock.now})
			timestamp := time.Now().UnixMilli()
			next(t, gen)
			clock.by = 1500 * time.Millisecond
			began := time.Now()
			testkit.Call(gen.Next(t.Context())).Gives(t, compose(timestamp, 2, 1))
			// The clock then shows the start of the last ID's millisecond.
			testkit.Same(t, time.Since(began), 1500*time.Millisecond-300*time.Microsecond)
		})},
		{"catches up to the current time, or throw an exception", bubble(func(t *testing.T) {
			var clock late
			gen := generator(t, nanoflake.Config{Epoch: at(0), Clock: clock.now})
			next(t, gen)
			began := time.Now()
			for _, by := range []time.Duration{time.Millisecond, 5 * time.Second, 5001 * time.Millisecond, 24 * time.Hour} {
				clock.by = by
				_, err := gen.TryNext()
				wantBehind(t, err, by)
				if by > 5*time.Second { // the default of MaxBackward
					_, err = gen.Next(t.Context())
					wantBehind(t, err, by)
				}
			}
			testkit.Same(t, time.Since(began), 0)
		})},
		{"Reset the sequence number if the timestamp has changed since the last nanoflake was generated", func(t *testing.T) {
			clock := testkit.At(at(noon))
			gen := generator(t, nanoflake.Config{Clock: clock.Now})
			timestamp, sequence := int64(atNoon), int64(0)
			for _, v := range []struct{ step, count int64 }{{0, 1}, {1, 1}, {1, 5}, {0, 3}, {2, 4096}, {1, 2}, {0, 1}, {1000, 1}} {
				clock.Step(time.Duration(v.step) * time.Millisecond)
				timestamp += v.step
				if v.step > 0 {
					sequence = 0
				}
				for range v.count {
					if id := next(t, gen); id != compose(timestamp, 0, sequence) {
						t.Fatalf("at the timestamp %d the ID is %d, want the sequence %d", timestamp, int64(id), sequence)
					}
					sequence++
				}
			}
		}},
		{"Increment the sequence number, checking for a 12-bit overflow", func(t *testing.T) {
			gen := generator(t, nanoflake.Config{GeneratorID: 6, Clock: testkit.At(at(noon)).Now})
			ids := take(t, gen, 4096)
			testkit.Same(t, ids[4095], compose(atNoon, 6, 4095))
			for range 5000 { // the sequence never carries into the generator ID
				if id, err := gen.TryNext(); err == nil || id != 0 {
					t.Fatalf("the ID %d of generator %d after the overflow, %v", int64(id), id.GeneratorID(), err)
				}
			}
			for _, sequence := range []int{-1, 4096, 8192} {
				id, err := nanoflake.FromTime(at(noon), time.Time{}, 6, sequence)
				testkit.IsConfigError(t, err, "nanoflake", "sequence", fmt.Sprint(sequence, " is not in 0 to 4095"))
				if id != 0 {
					t.Errorf("sequence %d: an ID beside an error", sequence)
				}
			}
		}},
		{"If the sequence number overflows, the generator must either wait", bubble(func(t *testing.T) {
			gen := generator(t, nanoflake.Config{GeneratorID: 6, Epoch: at(0)})
			began := time.Now()
			timestamp := began.UnixMilli()
			ids := make([]nanoflake.ID, 10_000)
			testkit.Call(gen.Fill(t.Context(), ids)).Gives(t, 10_000)
			for id, err := range gen.Seq(t.Context(), 2500) {
				if err != nil {
					t.Fatal(err)
				}
				ids = append(ids, id)
			}
			for i, id := range ids {
				testkit.Same(t, id, compose(timestamp+int64(i)/4096, 6, int64(i)%4096))
			}
			if waited := time.Since(began); waited != 3*time.Millisecond {
				t.Errorf("%d IDs took %v", len(ids), waited)
			}
		})},
		{"wait until the next millisecond, or throw an exception", func(t *testing.T) {
			// Ruling: the exhausted sequence and the clock that went back are two distinct errors.
			clock := testkit.At(at(noon))
			gen := generator(t, nanoflake.Config{Clock: clock.Now})
			take(t, gen, 4096)
			if _, err := gen.TryNext(); !errors.Is(err, iderr.ErrExhausted) || errors.Is(err, iderr.ErrClockBackwards) {
				t.Errorf("an exhausted millisecond: %v", err)
			}
			clock.Step(-time.Millisecond)
			if _, err := gen.TryNext(); errors.Is(err, iderr.ErrExhausted) || !errors.Is(err, iderr.ErrClockBackwards) {
				t.Errorf("a clock that went back: %v", err)
			}
			clock.Step(2 * time.Millisecond)
			testkit.Same(t, next(t, gen), compose(atNoon+1, 0, 0))
		}},
		{"Generate the nanoflake by combining the timestamp, generator ID, and sequence", func(t *testing.T) {
			random := rand.New(rand.NewPCG(5, 6))
			for range 300 {
				timestamp, generatorID, sequence := 1+random.Int64N(2_199_023_255_551), random.Int64N(1024), random.Int64N(4096)
				clock := testkit.At(at(timestamp - 500_000_000))
				gen := generator(t, nanoflake.Config{GeneratorID: int(generatorID), Epoch: at(-500_000_000), Clock: clock.Now})
				if id := next(t, gen); id != compose(timestamp, generatorID, 0) {
					t.Fatalf("the generator's ID of %d, %d is %d", timestamp, generatorID, int64(id))
				}
				id, err := nanoflake.FromTime(clock.Now(), at(-500_000_000), int(generatorID), int(sequence))
				if err != nil || id != compose(timestamp, generatorID, sequence) {
					t.Fatalf("the ID of %d, %d, %d is %d, %v", timestamp, generatorID, sequence, int64(id), err)
				}
				if id.Timestamp() != timestamp || int64(id.GeneratorID()) != generatorID || int64(id.Sequence()) != sequence {
					t.Fatalf("the fields of %d are %d, %d, %d", int64(id), id.Timestamp(), id.GeneratorID(), id.Sequence())
				}
			}
		}},
		{"shifting the timestamp 22 bits to the left", func(t *testing.T) {
			// Ruling: the shift is 22 bits, though public implementations shift by 24.
			for bit := range 41 {
				gen := generator(t, nanoflake.Config{Epoch: at(0), Clock: testkit.At(at(power(bit))).Now})
				want := new(big.Int).Lsh(big.NewInt(power(bit)), 22)
				if id := next(t, gen); big.NewInt(int64(id)).Cmp(want) != 0 {
					t.Errorf("the timestamp %d gives the ID %d, want %v", power(bit), int64(id), want)
				}
			}
		}},
		{"shifting the generator ID 12 bits to the left", func(t *testing.T) {
			for bit := range 10 {
				gen := generator(t, nanoflake.Config{GeneratorID: int(power(bit)), Epoch: at(0), Clock: testkit.At(at(1)).Now})
				want := new(big.Int).Lsh(big.NewInt(power(bit)), 12)
				if id := next(t, gen); big.NewInt(int64(id)-power(22)).Cmp(want) != 0 {
					t.Errorf("the generator ID %d gives %d, want %v", power(bit), int64(id)-power(22), want)
				}
			}
		}},
		{"ORing the sequence number, the timestamp and generator ID together", func(t *testing.T) {
			gen := generator(t, nanoflake.Config{GeneratorID: 1023, Clock: testkit.At(at(noon)).Now})
			above := new(big.Int).Lsh(big.NewInt(atNoon), 22)
			above.Or(above, new(big.Int).Lsh(big.NewInt(1023), 12))
			for sequence, id := range take(t, gen, 4096) {
				if want := new(big.Int).Or(above, big.NewInt(int64(sequence))); big.NewInt(int64(id)).Cmp(want) != 0 {
					t.Fatalf("the sequence %d gives the ID %d, want %v", sequence, int64(id), want)
				}
			}
		}},

		// Encoding of Nanoflakes

		{"Nanoflakes are encoded as 64-bit signed integers", func(t *testing.T) {
			for _, id := range samples() {
				want := binary.BigEndian.AppendUint64(nil, uint64(id))
				if got, err := id.MarshalBinary(); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%d is encoded as %x, %v", int64(id), got, err)
				}
				testkit.Call(nanoflake.FromBytes(want)).Gives(t, id)
				for _, n := range []int{0, 4, 7} {
					testkit.Call(nanoflake.FromBytes(want[:n])).Fails(t, iderr.ErrLength)
				}
				testkit.Call(nanoflake.FromBytes(append(want, 0))).Fails(t, iderr.ErrLength)
			}
		}},
		{"can be encoded in any format that supports 64-bit signed integers", func(t *testing.T) {
			for _, id := range samples() {
				decimal, hex := fmt.Sprint(int64(id)), fmt.Sprintf("%016x", int64(id))
				if id.Decimal() != decimal || fmt.Sprintf("%d", id) != decimal {
					t.Errorf("%s is %s in decimal", decimal, id.Decimal())
				}
				if id.Hex() != hex || fmt.Sprintf("%x", id) != hex {
					t.Errorf("%s is %s in hexadecimal", hex, id.Hex())
				}
				bson := binary.LittleEndian.AppendUint64(nil, uint64(id))
				if kind, data, err := id.MarshalBSONValue(); err != nil || kind != 0x12 || !bytes.Equal(data, bson) {
					t.Errorf("%s in BSON is %#x, %x, %v", decimal, kind, data, err)
				}
			}
		}},
		{"saving nanoflakes directly as 64-bit signed integers if possible", func(t *testing.T) {
			for _, id := range samples() {
				value, err := id.Value()
				if v, ok := value.(int64); err != nil || !ok || v != int64(id) {
					t.Errorf("a database gets %v (%T) for %d, %v", value, value, int64(id), err)
				}
				var read nanoflake.ID
				if err := read.Scan(int64(id)); err != nil || read != id {
					t.Errorf("a database's %d is read as %d, %v", int64(id), int64(read), err)
				}
			}
			// Ruling: a negative integer is an error in every decoder.
			read := nanoflake.ID(5)
			if err := read.Scan(int64(-1)); !errors.Is(err, iderr.ErrRange) || read != 5 {
				t.Errorf("a database's -1 is read as %d, %v", int64(read), err)
			}
		}},
		{"or encoding them as strings", func(t *testing.T) {
			for _, id := range samples() {
				want := base36(id)
				if got, err := id.MarshalText(); err != nil || string(got) != want {
					t.Errorf("the text of %d is %s, %v", int64(id), got, err)
				}
				value, err := id.Text().Value()
				if v, ok := value.(string); err != nil || !ok || v != want {
					t.Errorf("a database gets %v (%T) for %d, %v", value, value, int64(id), err)
				}
				var read nanoflake.Text
				if err := read.Scan(want); err != nil || read.ID() != id {
					t.Errorf("a database's %s is read as %d, %v", want, read.Int64(), err)
				}
			}
		}},
		{"some programming languages, such as JavaScript, do not (fully) support 64-bit signed integers", func(t *testing.T) {
			const id nanoflake.ID = tweet + 1
			if n := float64(int64(id)); int64(n) == int64(id) { // a number of JavaScript
				t.Errorf("%d is a number of JavaScript", int64(id))
			}
			data, err := json.Marshal(map[string]nanoflake.ID{"id": id})
			if want := `{"id":"` + base36(id) + `"}`; err != nil || string(data) != want {
				t.Errorf("the JSON is %s, %v; want %s", data, err, want)
			}
			var read any
			if err := json.Unmarshal(data, &read); err != nil { // as JavaScript reads JSON
				t.Fatal(err)
			}
			if again, err := json.Marshal(read); err != nil || !bytes.Equal(again, data) {
				t.Errorf("JavaScript reads %s and writes %s, %v", data, again, err)
			}
		}},
		{"this specification suggests encoding nanoflakes using base-36", func(t *testing.T) {
			// Ruling: the text is lower case and padded with zeros to 13 characters. Every decoder
			// reads any case.
			const digits = "0123456789abcdefghijklmnopqrstuvwxyz"
			for value, digit := range digits {
				testkit.Same(t, nanoflake.ID(value).String(), "000000000000"+string(digit))
			}
			for _, id := range samples() {
				text := base36(id)
				if id.String() != text {
					t.Errorf("%d is written as %s, want %s", int64(id), id, text)
				}
				for name, decode := range decoders() {
					for _, text := range []string{text, strings.ToUpper(text), strings.ToUpper(text[:8]) + text[8:]} {
						if got, err := decode(text); err != nil || got != id {
							t.Errorf("%s reads %s as %d, %v", name, text, int64(got), err)
						}
					}
				}
			}
			// Ruling: a character outside the alphabet is an error with the character's offset.
			for b := range 256 {
				if strings.Contains(digits, strings.ToLower(string(rune(b)))) && b < 128 {
					continue
				}
				for offset := range 13 {
					text := []byte("0549x5l2itvr4")
					text[offset] = byte(b)
					_, err := nanoflake.Parse(string(text))
					if e, ok := errors.AsType[*iderr.ParseError](err); !ok || !errors.Is(err, iderr.ErrCharacter) || e.Offset != offset {
						t.Fatalf("%q: %v", text, err)
					}
				}
			}
		}},
		{"in order to fit the largest possible nanoflake into a 13-character string", func(t *testing.T) {
			const largest = "1y2p0ij32e8e7"
			testkit.Same(t, nanoflake.Max.String(), largest)
			for _, id := range samples() {
				if got := id.String(); len(got) != 13 {
					t.Errorf("%d is %s, of %d characters", int64(id), got, len(got))
				}
			}
			// Ruling: every decoder reads exactly 13 characters, of a value up to the largest.
			for name, decode := range decoders() {
				if got, err := decode(largest); err != nil || int64(got) != math.MaxInt64 {
					t.Errorf("%s reads %s as %d, %v", name, largest, int64(got), err)
				}
				for _, text := range []string{"1y2p0ij32e8e8", "1y2p0ij32e8f0", "1z00000000000", "2000000000000", "zzzzzzzzzzzzz"} {
					if got, err := decode(text); err == nil || got != 0 {
						t.Errorf("%s reads %s as %d", name, text, int64(got))
					}
				}
				for n := range 13 {
					if got, err := decode("0549x5l2itvr4"[:n]); err == nil || got != 0 {
						t.Errorf("%s reads a text of %d characters as %d", name, n, int64(got))
					}
				}
				if got, err := decode("00549x5l2itvr4"); err == nil || got != 0 {
					t.Errorf("%s reads a text of 14 characters as %d", name, int64(got))
				}
			}
			for text, want := range map[string]error{
				"1y2p0ij32e8e8": iderr.ErrRange, "zzzzzzzzzzzzz": iderr.ErrRange,
				"": iderr.ErrLength, "549x5l2itvr4": iderr.ErrLength, "00549x5l2itvr4": iderr.ErrLength,
			} {
				testkit.Call(nanoflake.Parse(text)).Fails(t, want)
			}
			// Ruling: ParseBase36 reads the texts of other implementations, of 1 to 13 characters.
			for _, id := range samples() {
				text := strconv.FormatInt(int64(id), 36)
				testkit.Call(nanoflake.ParseBase36(text)).Gives(t, id)
			}
			for text, want := range map[string]error{
				"": iderr.ErrLength, "00000000000001": iderr.ErrLength, "1y2p0ij32e8e8": iderr.ErrRange, "-1": iderr.ErrCharacter,
			} {
				testkit.Call(nanoflake.ParseBase36(text)).Fails(t, want)
			}
		}},
		{"The base-36 encoding is not required, and users are free to encode, decode, store, and transmit nanoflakes in any format", func(t *testing.T) {
			for _, id := range samples() {
				decimal := fmt.Sprint(int64(id))
				testkit.Call(nanoflake.ParseDecimal(decimal)).Gives(t, id)
				testkit.Call(nanoflake.ParseHex(fmt.Sprintf("%016X", int64(id)))).Gives(t, id)
				var read nanoflake.ID
				if err := read.UnmarshalBSONValue(0x12, binary.LittleEndian.AppendUint64(nil, uint64(id))); err != nil || read != id {
					t.Errorf("the BSON of %s is read as %d, %v", decimal, int64(read), err)
				}
				if len(decimal) > 13 { // too long for a base-36 text
					read = 0
					if err := json.Unmarshal([]byte(decimal), &read); err != nil || read != id {
						t.Errorf("the JSON number %s is read as %d, %v", decimal, int64(read), err)
					}
				}
			}
			testkit.Call(nanoflake.ParseDecimal("9223372036854775808")).Fails(t, iderr.ErrRange)
			if _, err := nanoflake.ParseDecimal("-1"); err == nil {
				t.Error("a negative decimal is read")
			}
			// Ruling: 13 decimal digits are a base-36 text, unless the caller asks for decimal.
			const digits = "1609459200000"
			asText, _ := new(big.Int).SetString(digits, 36)
			if got, err := nanoflake.Parse(digits); err != nil || int64(got) != asText.Int64() {
				t.Errorf("Parse(%s) = %d, %v", digits, int64(got), err)
			}
			testkit.Call(nanoflake.ParseDecimal(digits)).Gives(t, 1_609_459_200_000)
			var read nanoflake.ID
			if err := json.Unmarshal([]byte(digits), &read); err == nil || read != 0 {
				t.Errorf("the JSON number %s is read as %d", digits, int64(read))
			}
		}},

		// Limitations, Caveats, and Considerations

		{"The 41-bit timestamp limits the nanoflake's lifespan to 69 years", func(t *testing.T) {
			for _, epoch := range []int64{year21, twitter, 0} {
				clock := testkit.At(at(epoch + 2_199_023_255_550))
				gen := generator(t, nanoflake.Config{Epoch: at(epoch), Clock: clock.Now})
				end := gen.ExpiresAt()
				if end.UnixMilli() != epoch+2_199_023_255_552 || end.Before(at(epoch).AddDate(69, 0, 0)) || !end.Before(at(epoch).AddDate(70, 0, 0)) {
					t.Errorf("epoch %d: timestamps end at %v", epoch, end)
				}
				next(t, gen)
				clock.Set(end.Add(-1))
				if id := next(t, gen); id != compose(2_199_023_255_551, 0, 0) {
					t.Errorf("epoch %d: in the last millisecond the ID is %d", epoch, int64(id))
				}
				// Ruling: a timestamp that no longer fits is an error, at construction as well.
				for _, after := range []time.Duration{0, time.Millisecond, 70 * 365 * 24 * time.Hour} {
					clock.Set(end.Add(after))
					testkit.Call(gen.TryNext()).Fails(t, iderr.ErrTimeRange)
					testkit.Call(gen.Next(t.Context())).Fails(t, iderr.ErrTimeRange)
					if _, err := nanoflake.NewGenerator(nanoflake.Config{Epoch: at(epoch), Clock: clock.Now}); !errors.Is(err, iderr.ErrTimeRange) {
						t.Errorf("%v after the end NewGenerator: %v", after, err)
					}
					testkit.Call(nanoflake.FromTime(clock.Now(), at(epoch), 0, 0)).Fails(t, iderr.ErrTimeRange)
				}
			}
			end := generator(t, nanoflake.Config{Clock: testkit.At(at(noon)).Now}).ExpiresAt()
			if want := time.Date(2090, 9, 7, 15, 47, 35, 552e6, time.UTC); end != want {
				t.Errorf("the default epoch ends at %v, want %v", end, want)
			}
		}},
		{"The 10-bit generator ID limits the number of generators to 1024", func(t *testing.T) {
			accepted := 0
			for n := -2000; n <= 4000; n++ {
				if _, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: n, Clock: testkit.At(at(noon)).Now}); err == nil {
					accepted++
				}
			}
			testkit.Same(t, accepted, 1024)
		}},
		{"limits the number of nanoflakes that can be generated per millisecond to 4096", func(t *testing.T) {
			for _, start := range []nanoflake.Start{nanoflake.StartAtZero, nanoflake.StartAnywhere} {
				clock := testkit.At(at(noon))
				gen := generator(t, nanoflake.Config{GeneratorID: 1, Start: start, Clock: clock.Now})
				for millisecond := range int64(3) {
					seen := make(unique)
					for range 5000 {
						id, err := gen.TryNext()
						if err != nil {
							if !errors.Is(err, iderr.ErrExhausted) {
								t.Fatal(err)
							}
							continue
						}
						seen.add(t, id)
						if id < compose(atNoon+millisecond, 1, 0) || id > compose(atNoon+millisecond, 1, 4095) {
							t.Fatalf("start %d: millisecond %d has the ID %d", start, millisecond, int64(id))
						}
					}
					if len(seen) != 4096 {
						t.Errorf("start %d: millisecond %d has %d IDs", start, millisecond, len(seen))
					}
					clock.Step(time.Millisecond)
				}
			}
		}},
		{"misconfiguration of said generator ID can result in collisions between nanoflakes generated by different generators", func(t *testing.T) {
			clock := testkit.At(at(noon))
			one := take(t, generator(t, nanoflake.Config{GeneratorID: 8, Clock: clock.Now}), 100)
			two := take(t, generator(t, nanoflake.Config{GeneratorID: 8, Clock: clock.Now}), 100)
			if !slices.Equal(one, two) {
				t.Error("generators with the same generator ID make different IDs at the same time")
			}
		}},
		{"misconfiguration of said epoch can result in nanoflakes seemingly looking like they were generated in the future", func(t *testing.T) {
			clock := testkit.At(at(noon))
			id := next(t, generator(t, nanoflake.Config{Epoch: at(twitter), Clock: clock.Now}))
			reader := generator(t, nanoflake.Config{Clock: clock.Now}) // of the default epoch
			got := reader.Time(id)
			if got.UnixMilli() != noon+year21-twitter || !got.After(clock.Now()) {
				t.Errorf("the time is %v", got)
			}
		}},
		{"As generation relies on the system clock", bubble(func(t *testing.T) {
			gen := generator(t, nanoflake.Config{Epoch: at(0)})
			for range 100 {
				time.Sleep(1_234_567 * time.Nanosecond)
				if id := next(t, gen); id != compose(time.Now().UnixNano()/1_000_000, 0, 0) {
					t.Fatalf("at %v the ID has the timestamp %d", time.Now(), id.Timestamp())
				}
			}
		})},
		{"the generator might be forced to wait until the system clock catches up to the last nanoflake's timestamp", bubble(func(t *testing.T) {
			for _, by := range []time.Duration{time.Millisecond, 20 * time.Millisecond, 5 * time.Second} {
				var clock late
				gen := generator(t, nanoflake.Config{Epoch: at(0), Clock: clock.now})
				before := next(t, gen)
				clock.by = by
				began := time.Now()
				ids := make([]nanoflake.ID, 2)
				if n, err := gen.Fill(t.Context(), ids); err != nil || n != 2 || ids[0] != before+1 || ids[1] != before+2 {
					t.Errorf("the clock is %v behind: %v after %v, %v", by, ids, before, err)
				}
				testkit.Same(t, time.Since(began), by)
			}
		})},
		{"can be a long time if the system clock was set backwards by a large amount", bubble(func(t *testing.T) {
			for _, v := range []struct {
				longest, by time.Duration
				waits       bool
			}{
				{0, 5 * time.Second, true},
				{0, 5001 * time.Millisecond, false},
				{0, time.Hour, false},
				{10 * time.Second, 10 * time.Second, true},
				{10 * time.Second, 10_001 * time.Millisecond, false},
				{-1, time.Millisecond, false},
			} {
				var clock late
				gen := generator(t, nanoflake.Config{Epoch: at(0), Clock: clock.now, MaxBackward: v.longest})
				before := next(t, gen)
				clock.by = v.by
				began := time.Now()
				id, err := gen.Next(t.Context())
				waited := time.Since(began)
				switch {
				case v.waits && (err != nil || id != before+1 || waited != v.by):
					t.Errorf("MaxBackward %v, %v behind: %d, %v after %v", v.longest, v.by, int64(id), err, waited)
				case !v.waits && waited != 0:
					t.Errorf("MaxBackward %v, %v behind: the error took %v", v.longest, v.by, waited)
				case !v.waits:
					wantBehind(t, err, v.by)
				}
			}
		})},
		{"possibly result in a disruption of service as one or more generators are forced to wait", bubble(func(t *testing.T) {
			var clock late
			gen := generator(t, nanoflake.Config{Epoch: at(0), Clock: clock.now})
			next(t, gen)
			clock.by = 4 * time.Second
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			began := time.Now()
			testkit.Call(gen.Next(ctx)).Fails(t, context.DeadlineExceeded)
			if waited := time.Since(began); waited < 20*time.Millisecond || waited > 25*time.Millisecond {
				t.Errorf("a context of 20ms ended the wait after %v", waited)
			}
			began = time.Now()
			if _, err := gen.TryNext(); !errors.Is(err, iderr.ErrClockBackwards) || time.Since(began) != 0 {
				t.Errorf("TryNext after %v: %v", time.Since(began), err)
			}
		})},
	} {
		t.Run(row.text, row.check)
	}
}

// Statements that no machine can check:
//
//   - "This is the official specification for Nanoflakes": the origin of the text.
//   - "based on Twitter's Snowflake algorithm": history. Other rows check the layout.
//   - "licensed under the CCO 1.0 Universal license", twice: a licence.
//   - "generated locally or remotely by a nanoflake server": a choice of deployment.
//   - "The user is responsible for ensuring that these conditions are met": a duty of users.
//   - "by specifying a common epoch across all generators": a duty of users.
//   - "by ensuring that each generator has a unique generator ID": a duty of users.
//   - "A generator is responsible for generating nanoflakes": the definition of a role.
//   - "does not specify how or where a generator should be implemented": freedom.
//   - "as a standalone application, as a microservice, or as a simple instance": examples.
//   - "Reference implementations of nanoflake generators are available": availability.
//   - "Since the user is responsible for ensuring that generators have unique 10-bit IDs": a duty.
//   - "Since the user is responsible for ensuring that generators use a common epoch": a duty.
//   - "not guaranteed to be monotonic": a property of operating systems and hardware.

// at returns a time in Unix milliseconds.
func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// power returns 2^n.
func power(n int) int64 { return new(big.Int).Exp(big.NewInt(2), big.NewInt(int64(n)), nil).Int64() }

// compose returns the ID of the fields, as the text puts the fields together.
func compose(timestamp, generatorID, sequence int64) nanoflake.ID {
	return nanoflake.ID(timestamp*4_194_304 + generatorID*4096 + sequence)
}

// base36 returns the canonical text of an ID.
func base36(id nanoflake.ID) string {
	text := big.NewInt(int64(id)).Text(36)
	return strings.Repeat("0", 13-len(text)) + text
}

// samples returns IDs of all sizes.
func samples() []nanoflake.ID {
	ids := []nanoflake.ID{1, 35, 36, 4095, 4096, tweet, tweet + 1, math.MaxInt64 - 1, math.MaxInt64}
	random := rand.New(rand.NewPCG(7, 8))
	for bits := range 62 {
		ids = append(ids, nanoflake.ID(random.Int64N(power(bits+1))+1))
	}
	return ids
}

// decoders returns the ways to read a canonical text.
func decoders() map[string]func(text string) (nanoflake.ID, error) {
	return map[string]func(text string) (nanoflake.ID, error){
		"Parse": nanoflake.Parse,
		"UnmarshalText": func(text string) (id nanoflake.ID, err error) {
			err = id.UnmarshalText([]byte(text))
			return id, err
		},
		"JSON": func(text string) (id nanoflake.ID, err error) {
			err = json.Unmarshal([]byte(`"`+text+`"`), &id)
			return id, err
		},
		"SQL": func(text string) (nanoflake.ID, error) {
			var column nanoflake.Text
			err := column.Scan(text)
			return column.ID(), err
		},
		"flag": func(text string) (id nanoflake.ID, err error) {
			flags := flag.NewFlagSet("", flag.ContinueOnError)
			flags.SetOutput(io.Discard)
			flags.TextVar(&id, "id", nanoflake.ID(0), "")
			err = flags.Parse([]string{"-id=" + text})
			return id, err
		},
	}
}

// generator returns a new generator.
func generator(t *testing.T, c nanoflake.Config) *nanoflake.Generator {
	t.Helper()
	gen := testkit.Must(nanoflake.NewGenerator(c))
	return gen
}

// next returns a new ID of a generator that has an ID at once.
func next(t *testing.T, gen *nanoflake.Generator) nanoflake.ID {
	t.Helper()
	id := testkit.Must(gen.TryNext())
	return id
}

// take returns n new IDs of a generator that has n IDs at once.
func take(t *testing.T, gen *nanoflake.Generator, n int) []nanoflake.ID {
	t.Helper()
	ids := make([]nanoflake.ID, n)
	for i := range ids {
		ids[i] = next(t, gen)
	}
	return ids
}

// wantBehind checks the error of a clock that is behind the last ID.
func wantBehind(t *testing.T, err error, by time.Duration) {
	t.Helper()
	e, ok := errors.AsType[*iderr.ClockError](err)
	if !ok || !errors.Is(err, iderr.ErrClockBackwards) || errors.Is(err, iderr.ErrExhausted) || e.By != by {
		t.Errorf("the error is %v, want a clock that is %v behind", err, by)
	}
}

// A unique set holds IDs that differ.
type unique map[nanoflake.ID]bool

func (u unique) add(t *testing.T, ids ...nanoflake.ID) {
	t.Helper()
	for _, id := range ids {
		if u[id] {
			t.Fatalf("the ID %d was made twice", int64(id))
		}
		u[id] = true
	}
}

// A late clock is behind the system's clock.
type late struct{ by time.Duration }

func (c *late) now() time.Time { return time.Now().Add(-c.by) }

// bubble returns a check that runs in a bubble of testing/synctest, where waits take no time.
func bubble(check func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, check) }
}
