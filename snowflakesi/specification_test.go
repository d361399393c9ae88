package snowflakesi_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
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
	"github.com/firn-id/firn/snowflakesi"
)

// epoch2021 is 2021-01-01T00:00:00Z in Unix milliseconds, the default epoch.
const epoch2021 = 1609459200000

// resets is a Config with the whole sequence in each millisecond.
var resets = snowflakesi.Config{Sequence: snowflakesi.SequenceResets}

// start returns a generator, and its clock at the Unix millisecond.
func start(t *testing.T, c snowflakesi.Config, unixMilli int64) (*snowflakesi.Generator, *testkit.Clock) {
	t.Helper()
	clock := testkit.At(time.UnixMilli(unixMilli))
	c.Clock = clock.Now
	gen, err := snowflakesi.NewGenerator(c)
	if err != nil {
		t.Fatalf("%v at %d: %v", c.Layout, unixMilli, err)
	}
	return gen, clock
}

// take returns the integer of a new ID.
func take(t *testing.T, gen *snowflakesi.Generator) int64 {
	t.Helper()
	id := testkit.Must(gen.TryNext())
	return int64(id)
}

// drain returns the integers of all IDs of a millisecond. The millisecond ends with ErrExhausted.
func drain(t *testing.T, gen *snowflakesi.Generator) []int64 {
	t.Helper()
	for all := []int64(nil); ; {
		id, err := gen.TryNext()
		switch {
		case errors.Is(err, iderr.ErrExhausted) && !errors.Is(err, iderr.ErrClockBackwards):
			return all
		case err != nil:
			t.Fatalf("after %d IDs: %v", len(all), err)
		case len(all) == 1<<13:
			t.Fatal("a millisecond has more than 8192 IDs")
		}
		all = append(all, int64(id))
	}
}

// same checks a result.
func same[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// refused checks that err is the ConfigError of the field.
func refused(t *testing.T, what, field string, err error) {
	t.Helper()
	if e, ok := errors.AsType[*iderr.ConfigError](err); !ok || e.Field != field {
		t.Errorf("%s: %v, want a ConfigError of %s", what, err, field)
	}
}

// fields checks the three fields of an integer in the layout, and that FromTime joins the fields to
// the same integer. The epoch is the default.
func fields(t *testing.T, l snowflakesi.Layout, v, mab, mid, uin int64) {
	t.Helper()
	id := snowflakesi.ID(v)
	if id.Timestamp(l) != mab || int64(id.MachineID(l)) != mid || int64(id.Sequence(l)) != uin {
		t.Errorf("%v: %#x has the fields %#x %#x %#x, want %#x %#x %#x", l, v,
			id.Timestamp(l), id.MachineID(l), id.Sequence(l), mab, mid, uin)
	}
	joined, err := snowflakesi.FromTime(l, time.UnixMilli(epoch2021+mab), time.Time{}, int(mid), int(uin))
	if err != nil || int64(joined) != v {
		t.Errorf("%v: %#x %#x %#x make %#x, %v; want %#x", l, mab, mid, uin, int64(joined), err, v)
	}
}

// bubble runs f in a bubble of testing/synctest. The system's clock stands at the Unix millisecond.
func bubble(t *testing.T, unixMilli int64, f func(t *testing.T)) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.UnixMilli(unixMilli))) // a bubble begins in 2000
		f(t)
	})
}

// decoders are all readers of an ID. Each reader gets the integer in its own form.
var decoders = []struct {
	name string
	read func(v int64) (snowflakesi.ID, error)
}{
	{"FromInt64", snowflakesi.FromInt64},
	{"Parse", func(v int64) (snowflakesi.ID, error) { return snowflakesi.Parse(strconv.FormatInt(v, 10)) }},
	{"ParseHex", func(v int64) (snowflakesi.ID, error) { return snowflakesi.ParseHex(fmt.Sprintf("%016x", uint64(v))) }},
	{"FromBytes", func(v int64) (snowflakesi.ID, error) {
		return snowflakesi.FromBytes(binary.BigEndian.AppendUint64(nil, uint64(v)))
	}},
	{"JSON number", func(v int64) (id snowflakesi.ID, err error) {
		return id, json.Unmarshal([]byte(strconv.FormatInt(v, 10)), &id)
	}},
	{"JSON string", func(v int64) (id snowflakesi.ID, err error) {
		return id, json.Unmarshal([]byte(`"`+strconv.FormatInt(v, 10)+`"`), &id)
	}},
	{"Scan of an integer", func(v int64) (id snowflakesi.ID, err error) { return id, id.Scan(v) }},
	{"Scan of a text", func(v int64) (id snowflakesi.ID, err error) { return id, id.Scan(strconv.FormatInt(v, 10)) }},
}

// TestSpecification checks the statements of the published text, "Snowflake-SI Algorithm", in the
// order of the text. Each row quotes the text and checks the quoted words. The project's rulings
// decide where the text is silent, and where the package departs from the text.
func TestSpecification(t *testing.T) {
	for _, row := range []struct {
		text  string
		check func(t *testing.T)
	}{
		{"Snowflake-SI algorithm is a variety of Twitter's snowflake algorithm.", func(t *testing.T) {
			// The fields are those of a snowflake, high to low: time, machine, sequence. A full
			// field carries into the field above.
			for _, v := range []struct{ mab, mid, uin, nextMAB, nextMID, nextUIN int64 }{
				{1000, 3, 7, 1000, 3, 8},
				{1000, 3, 255, 1000, 4, 0},
				{1000, 31, 255, 1001, 0, 0},
			} {
				join := func(mab, mid, uin int64) int64 {
					id, err := snowflakesi.FromTime(snowflakesi.Layout{}, time.UnixMilli(epoch2021+mab), time.Time{}, int(mid), int(uin))
					if err != nil {
						t.Fatal(err)
					}
					return int64(id)
				}
				a, b := join(v.mab, v.mid, v.uin), join(v.nextMAB, v.nextMID, v.nextUIN)
				same(t, fmt.Sprint(v, " lie apart by"), b-a, 1)
			}
		}},
		{"The standard snowflake uses a 64-bits integer as output.", func(t *testing.T) {
			// Ruling: a value out of range is a typed error, never another ID. IDs of the standard
			// snowflake are out of range. The first of these IDs is of a tweet.
			for _, v := range []int64{1541815603606036480, 1 << 53, 1 << 62, 1<<63 - 1} {
				for _, d := range decoders {
					id, err := d.read(v)
					if _, ok := errors.AsType[*iderr.ParseError](err); !ok || id != 0 {
						t.Errorf("%s of %d: %d, %v; want a ParseError", d.name, v, id.Int64(), err)
					}
				}
			}
		}},
		{"the ECMAScript does not provides the supports of 64-bits integer.", func(t *testing.T) {
			// ECMAScript reads a JSON number as a float64, and so does Go into an any. The float64
			// has the exact ID. A reader by way of float64 takes 2^53 for 2^53 + 1; the package
			// takes neither.
			for bit := range 53 {
				for _, v := range []int64{1 << bit, 1<<bit | 1, 1<<(bit+1) - 1} {
					text, err := json.Marshal(snowflakesi.ID(v))
					if err != nil {
						t.Fatal(err)
					}
					var number any
					if err := json.Unmarshal(text, &number); err != nil {
						t.Fatal(err)
					}
					same[any](t, string(text)+" as a number", number, float64(v))
					same(t, string(text)+" as an integer", int64(float64(v)), v)
				}
			}
			var id snowflakesi.ID
			for _, text := range []string{"9007199254740992", "9007199254740993", "9.007199254740991e15", "1.5"} {
				if err := json.Unmarshal([]byte(text), &id); err == nil {
					t.Errorf("%s reads as %d", text, id.Int64())
				}
			}
		}},
		{"only integers between Number.MIN_SAFE_INTEGER and Number.MAX_SAFE_INTEGER", func(t *testing.T) {
			most := new(big.Int).Exp(big.NewInt(2), big.NewInt(53), nil)
			most.Sub(most, big.NewInt(1))
			same(t, "the largest ID", big.NewInt(snowflakesi.Max.Int64()).String(), most.String())
			same(t, "the largest ID", snowflakesi.Max.Int64(), 9007199254740991)
			// Ruling: a value out of range is a typed error. The safe integers that are negative
			// are out of range.
			for _, v := range []int64{-1, -4985, -9007199254740991, -9007199254740992, -1 << 63} {
				for _, d := range decoders {
					id, err := d.read(v)
					if _, ok := errors.AsType[*iderr.ParseError](err); !ok || id != 0 {
						t.Errorf("%s of %d: %d, %v; want a ParseError", d.name, v, id.Int64(), err)
					}
				}
			}
		}},
		{"(including both points), are accurate", func(t *testing.T) {
			for _, d := range decoders {
				for _, v := range []int64{1, 9007199254740990, 9007199254740991} {
					if id, err := d.read(v); err != nil || int64(id) != v || id.Int64() != v {
						t.Errorf("%s of %d: %d, %v", d.name, v, int64(id), err)
					}
				}
				testkit.Call(d.read(9007199254740992)).Fails(t, iderr.ErrRange)
			}
			for _, v := range []int64{9007199254740992, -1} {
				id := snowflakesi.ID(v)
				_, textErr := id.MarshalText()
				_, binaryErr := id.MarshalBinary()
				_, jsonErr := id.MarshalJSON()
				_, valueErr := id.Value()
				for _, err := range []error{textErr, binaryErr, jsonErr, valueErr} {
					if !errors.Is(err, iderr.ErrRange) {
						t.Errorf("an encoder writes %d: %v", v, err)
					}
				}
			}
		}},
		{"only 53-bits integer can be used in ECMAScript.", func(t *testing.T) {
			// Ruling: an ID is a JavaScript-safe integer. JSON carries the ID as a plain number,
			// and reads a number or a string.
			type record struct {
				ID snowflakesi.ID `json:"id"`
			}
			for v, text := range map[int64]string{1: "1", 4985: "4985", 1315899857217280: "1315899857217280", 9007199254740991: "9007199254740991"} {
				written, err := json.Marshal(record{snowflakesi.ID(v)})
				if err != nil {
					t.Fatal(err)
				}
				same(t, "JSON", string(written), `{"id":`+text+`}`)
				for _, form := range []string{`{"id":` + text + `}`, `{"id":"` + text + `"}`} {
					var read record
					if err := json.Unmarshal([]byte(form), &read); err != nil || int64(read.ID) != v {
						t.Errorf("%s reads as %d, %v", form, int64(read.ID), err)
					}
				}
				same(t, "the text", snowflakesi.ID(v).String(), text)
			}
		}},
		{"uses 53-bits integer as the output of UUID generation", func(t *testing.T) {
			// The last ID of the last millisecond of the last machine has all 53 bits, in each
			// layout.
			for clockBits := 40; clockBits <= 41; clockBits++ {
				for machineBits := 0; machineBits <= 53-clockBits; machineBits++ {
					c := resets
					c.Layout, c.MachineID = ofWidths(clockBits, machineBits), 1<<machineBits-1
					gen, _ := start(t, c, epoch2021+1<<clockBits-1)
					all := drain(t, gen)
					same(t, fmt.Sprint("the last ID of ", c.Layout), all[len(all)-1], 9007199254740991)
				}
			}
		}},
		{"uses 53-bits integer as the output of UUID generation", func(t *testing.T) {
			// Ruling: a decoder is strict. A typed error says what is wrong, and where.
			for _, v := range []struct {
				text   string
				err    error
				offset int
			}{
				{"", iderr.ErrLength, -1},
				{"00000000000000001", iderr.ErrLength, -1},
				{"-1", iderr.ErrCharacter, 0},
				{"+1", iderr.ErrCharacter, 0},
				{" 1", iderr.ErrCharacter, 0},
				{"12x4", iderr.ErrCharacter, 2},
				{"1234\n", iderr.ErrCharacter, 4},
				{"001fffffffffffff", iderr.ErrCharacter, 3},
				{"9007199254740992", iderr.ErrRange, -1},
				{"9999999999999999", iderr.ErrRange, -1},
			} {
				id, err := snowflakesi.Parse(v.text)
				e, ok := errors.AsType[*iderr.ParseError](err)
				if !ok || !errors.Is(err, v.err) || e.Offset != v.offset || id != 0 {
					t.Errorf("%q: %d, %v; want %v at %d", v.text, id.Int64(), err, v.err, v.offset)
				}
			}
			// Ruling: no other form is tried after the text. These 16 digits are read as decimal,
			// though the digits are hexadecimal, too.
			id, err := snowflakesi.Parse("0010000000000000")
			if err != nil || int64(id) != 10_000_000_000_000 {
				t.Errorf("Parse of 16 decimal digits: %d, %v", int64(id), err)
			}
			if id, err = snowflakesi.ParseHex("0010000000000000"); err != nil || int64(id) != 1<<52 {
				t.Errorf("ParseHex of the same digits: %d, %v", int64(id), err)
			}
		}},
		{"H52 ~ 1312 ~ 87 ~ 0L", func(t *testing.T) {
			for bit := range 53 {
				v := int64(1) << bit
				var mab, mid, uin int64
				switch {
				case bit <= 7:
					uin = 1 << bit
				case bit <= 12:
					mid = 1 << (bit - 8)
				default:
					mab = 1 << (bit - 13)
				}
				fields(t, snowflakesi.Layout{}, v, mab, mid, uin)
				fields(t, snowflakesi.DefaultLayout(), v, mab, mid, uin)
			}
		}},
		{"H52 ~ 1312 ~ 87 ~ 0L", func(t *testing.T) {
			// H is the high end and L the low end. The bytes and the digits of the binary form run
			// from the high end to the low end.
			id := snowflakesi.ID(0x00123456789abcde)
			data, err := id.MarshalBinary()
			if want := "\x00\x12\x34\x56\x78\x9a\xbc\xde"; err != nil || string(data) != want {
				t.Errorf("binary % x, %v; want % x", data, err, want)
			}
			same(t, "hexadecimal", id.Hex(), "00123456789abcde")
			testkit.Call(snowflakesi.FromBytes([]byte("\x00\x12\x34\x56\x78\x9a\xbc\xde"))).Gives(t, id)
			// Ruling: hexadecimal digits of any case are read, and the lower case is written.
			for _, digits := range []string{"00123456789abcde", "00123456789ABCDE", "00123456789aBcDe"} {
				testkit.Call(snowflakesi.ParseHex(digits)).Gives(t, id)
			}
		}},
		{"11111111111111111111111111111111111111111111111111111", func(t *testing.T) {
			const graph = "11111111111111111111111111111111111111111111111111111"
			v, ok := new(big.Int).SetString(graph, 2)
			if !ok || v.BitLen() != 53 {
				t.Fatalf("the graph has %d bits", v.BitLen())
			}
			same(t, "the largest ID", snowflakesi.Max.Int64(), v.Int64())
			fields(t, snowflakesi.Layout{}, v.Int64(), 1099511627775, 31, 255)
			// A decoder reads the graph as an ID, and one more bit as an error.
			id, err := snowflakesi.ParseHex(fmt.Sprintf("%016x", v))
			if err != nil || strconv.FormatInt(int64(id), 2) != graph {
				t.Errorf("the graph reads as %b, %v", int64(id), err)
			}
			testkit.Call(snowflakesi.ParseHex("003fffffffffffff")).Fails(t, iderr.ErrRange)
		}},
		{"MABMIDUIN", func(t *testing.T) {
			const mab, mid, uin = 0x123456789a, 0x15, 0xbc
			v := new(big.Int).Lsh(big.NewInt(mab), 5)
			v.Or(v, big.NewInt(mid)).Lsh(v, 8).Or(v, big.NewInt(uin))
			same(t, "the integer", v.String(), "640511947003324")
			fields(t, snowflakesi.Layout{}, 640511947003324, mab, mid, uin)
			id, err := snowflakesi.Parse("640511947003324")
			if err != nil || id.Timestamp(snowflakesi.Layout{}) != mab || id.MachineID(snowflakesi.Layout{}) != mid || id.Sequence(snowflakesi.Layout{}) != uin {
				t.Errorf("the text reads as %#x, %v", int64(id), err)
			}
		}},
		{"the low 8-bits is the UIN(UUID index number)", func(t *testing.T) {
			clock, machine, sequence := snowflakesi.Layout{}.Widths()
			same(t, "the widths", [3]int{clock, machine, sequence}, [3]int{40, 5, 8})
			same(t, "the largest UIN", snowflakesi.Layout{}.MaxSequence(), 255)
			for uin := range int64(256) {
				fields(t, snowflakesi.Layout{}, 4096<<13|9<<8|uin, 4096, 9, uin)
			}
			for _, uin := range []int{-1, 256, 1 << 13} {
				_, err := snowflakesi.FromTime(snowflakesi.Layout{}, time.UnixMilli(epoch2021+1), time.Time{}, 0, uin)
				refused(t, fmt.Sprint("UIN ", uin), "sequence", err)
			}
		}},
		{"the low 8-bits of an incremental-sequence.", func(t *testing.T) {
			gen, _ := start(t, snowflakesi.Config{MachineID: 9}, epoch2021+5000)
			for i, v := range drain(t, gen) {
				same(t, "an ID", v, 5000<<13|9<<8|int64(i))
			}
		}},
		{"the low 8-bits of an incremental-sequence.", func(t *testing.T) {
			// Ruling: the UIN keeps counting across milliseconds while at least half of the
			// sequence is left, and begins at 0 otherwise.
			gen, clock := start(t, snowflakesi.Config{}, epoch2021+1)
			for i := range int64(600) { // slow IDs use the lower half in turn
				same(t, "a slow ID", take(t, gen), (i+1)<<13|i%128)
				clock.Step(time.Millisecond)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			mab, last := int64(601), int64(599%128)
			for range 500 {
				want := last + 1
				if want >= 128 {
					want = 0
				}
				for range 1 + rng.IntN(int(256-want)) {
					same(t, "an ID", take(t, gen), mab<<13|want)
					last = want
					want++
				}
				step := 1 + rng.Int64N(3)
				mab += step
				clock.Step(time.Duration(step) * time.Millisecond)
			}
		}},
		{"the low 8-bits of an incremental-sequence.", func(t *testing.T) {
			// Ruling: by option, the UIN begins at 0 in each millisecond.
			gen, clock := start(t, resets, epoch2021+1)
			for mab := int64(1); mab < 400; mab++ {
				for uin := range mab%256 + 1 {
					same(t, "an ID", take(t, gen), mab<<13|uin)
				}
				clock.Step(time.Millisecond)
			}
		}},
		{"256 generation in one millisecond", func(t *testing.T) {
			gen, clock := start(t, resets, epoch2021+1)
			for _, before := range []int{0, 1, 127, 128, 255, 256} {
				for range before {
					take(t, gen)
				}
				clock.Step(time.Millisecond)
				same(t, fmt.Sprint("IDs in the millisecond after ", before), len(drain(t, gen)), 256)
				clock.Step(time.Millisecond)
			}
		}},
		{"256 generation in one millisecond", func(t *testing.T) {
			// Ruling: by default, any millisecond has at least 128 IDs. A burst has 256 IDs from
			// its second millisecond on.
			for before := range 257 {
				gen, clock := start(t, snowflakesi.Config{}, epoch2021+1)
				for range before {
					take(t, gen)
				}
				clock.Step(time.Millisecond)
				want := 256
				if before < 128 {
					want -= before // the sequence continues
				}
				same(t, fmt.Sprint("IDs in the millisecond after ", before), len(drain(t, gen)), want)
				for range 3 {
					clock.Step(time.Millisecond)
					same(t, "IDs in the milliseconds after", len(drain(t, gen)), 256)
				}
			}
		}},
		{"none of the generated UUID will be duplicated.", func(t *testing.T) {
			// Ruling: a generator hands out an ID once, however many goroutines call. Next waits
			// for the next millisecond, so 6000 IDs take at least 23 waits.
			const callers, each = 6, 1000
			bubble(t, epoch2021+1, func(t *testing.T) {
				gen := testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{}))
				var lists [callers][]int64
				var wg sync.WaitGroup
				for i := range lists {
					wg.Go(func() {
						for range each {
							id, err := gen.Next(context.Background())
							if err != nil {
								t.Error(err)
								return
							}
							lists[i] = append(lists[i], int64(id))
						}
					})
				}
				wg.Wait()
				seen, perMilli := make(map[int64]bool), make(map[int64]int)
				for _, list := range lists {
					if !slices.IsSorted(list) {
						t.Error("the IDs of a goroutine do not increase")
					}
					for _, v := range list {
						seen[v] = true
						perMilli[v>>13]++
					}
				}
				same(t, "distinct IDs", len(seen), callers*each)
				for mab, n := range perMilli {
					if n > 256 {
						t.Errorf("%d IDs in the millisecond %d", n, mab)
					}
				}
				same(t, "the waits", time.Since(time.UnixMilli(epoch2021+1)), 23*time.Millisecond)
			})
		}},
		{"the capacity 256 UUIDs per millisecond", func(t *testing.T) {
			// A caller of Next in an exhausted millisecond waits for the next millisecond.
			bubble(t, epoch2021+7000, func(t *testing.T) {
				gen := testkit.Must(snowflakesi.NewGenerator(resets))
				for i := range int64(1000) {
					id := testkit.Must(gen.Next(context.Background()))
					same(t, "an ID", int64(id), (7000+i/256)<<13|i%256)
					same(t, "the clock", time.Since(time.UnixMilli(epoch2021+7000)), time.Duration(i/256)*time.Millisecond)
				}
			})
		}},
		{"the capacity 256 UUIDs per millisecond", func(t *testing.T) {
			// Fill and Seq have the same capacity.
			bubble(t, epoch2021+7000, func(t *testing.T) {
				gen := testkit.Must(snowflakesi.NewGenerator(resets))
				ids := make([]snowflakesi.ID, 600)
				if n, err := gen.Fill(context.Background(), ids); n != 600 || err != nil {
					t.Fatal(n, err)
				}
				for id, err := range gen.Seq(context.Background(), 400) {
					if err != nil {
						t.Fatal(err)
					}
					ids = append(ids, id)
				}
				same(t, "the number of IDs", len(ids), 1000)
				for i, id := range ids {
					same(t, "an ID", int64(id), int64((7000+i/256)<<13|i%256))
				}
			})
		}},
		{"If 256 is not enough, please read the next section to adjust the algorithm.", func(t *testing.T) {
			for machineBits := range 14 {
				c := resets
				c.Layout = ofWidths(40, machineBits)
				gen, _ := start(t, c, epoch2021+1)
				same(t, fmt.Sprint("IDs in a millisecond of ", c.Layout), len(drain(t, gen)), 8192>>machineBits)
				same(t, fmt.Sprint("the largest UIN of ", c.Layout), c.Layout.MaxSequence(), 8192>>machineBits-1)
			}
		}},
		{"The bits 8 ~ 12 are the MID (Machine ID)", func(t *testing.T) {
			for mid := range 32 {
				gen, _ := start(t, snowflakesi.Config{MachineID: mid}, epoch2021+123456789)
				v := take(t, gen)
				same(t, "bits 8 to 12", v>>8&0b11111, int64(mid))
				same(t, "the ID", v, 123456789<<13|int64(mid)<<8)
				same(t, "MachineID of the ID", snowflakesi.ID(v).MachineID(snowflakesi.Layout{}), mid)
				same(t, "MachineID of the generator", gen.MachineID(), mid)
			}
		}},
		{"it will not generate duplicated UUID between multi-instances.", func(t *testing.T) {
			// In one millisecond, 32 machines with 256 IDs each use each value of the low 13 bits
			// once.
			var all []int64
			for mid := range 32 {
				gen, _ := start(t, snowflakesi.Config{MachineID: mid}, epoch2021+77)
				all = append(all, drain(t, gen)...)
			}
			slices.Sort(all)
			same(t, "IDs", len(all), 8192)
			for i, v := range all {
				same(t, "an ID", v, 77<<13|int64(i))
			}
		}},
		{"Snowflake-SI use 5-bits for MID", func(t *testing.T) {
			for _, l := range []snowflakesi.Layout{{}, snowflakesi.DefaultLayout(), {ClockBits: 40}, {MachineBits: 5}} {
				_, machine, _ := l.Widths()
				same(t, fmt.Sprint("bits of MID in ", l), machine, 5)
				same(t, fmt.Sprint("the largest MID of ", l), l.MaxMachineID(), 31)
				fields(t, l, 1<<13|31<<8, 1, 31, 0)
			}
		}},
		{"there could be 32 instances at most.", func(t *testing.T) {
			accepted := 0
			for mid := -40; mid <= 40; mid++ {
				gen, err := snowflakesi.NewGenerator(snowflakesi.Config{MachineID: mid, Clock: testkit.At(time.UnixMilli(epoch2021 + 1)).Now})
				_, fromErr := snowflakesi.FromTime(snowflakesi.Layout{}, time.UnixMilli(epoch2021+1), time.Time{}, mid, 0)
				if mid >= 0 && mid < 32 {
					accepted++
					if gen == nil || err != nil || fromErr != nil {
						t.Errorf("machine ID %d: %v, %v", mid, err, fromErr)
					}
					continue
				}
				// Ruling: a field out of range is a clear error, at construction.
				refused(t, fmt.Sprint("machine ID ", mid), "MachineID", err)
				refused(t, fmt.Sprint("machine ID ", mid), "MachineID", fromErr)
			}
			same(t, "instances", accepted, 32)
		}},
		{"The high 40-bits is the MAB (Milliseconds after epoch).", func(t *testing.T) {
			for bit := range 41 {
				for _, mab := range []int64{1 << bit, 1<<bit - 1} {
					if mab == 0 || mab >= 1<<40 {
						continue
					}
					gen, clock := start(t, snowflakesi.Config{MachineID: 31}, epoch2021+mab)
					clock.Step(999_999 * time.Nanosecond) // the MAB is whole milliseconds
					same(t, "the high 40 bits", take(t, gen)>>13, mab)
					fields(t, snowflakesi.Layout{}, mab<<13|31<<8|255, mab, 31, 255)
				}
			}
		}},
		{"a epoch must be determined", func(t *testing.T) {
			// The package determines 2021 for a Config without an epoch.
			same(t, "the default epoch", snowflakesi.DefaultEpoch(), time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC))
			same(t, "the default epoch", int64(snowflakesi.DefaultEpochMilli), epoch2021)
			gen, _ := start(t, snowflakesi.Config{}, epoch2021+5)
			same(t, "the epoch of the zero Config", gen.Epoch(), time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC))
			same(t, "an ID of the zero Config", take(t, gen), 5<<13)
			gen, _ = start(t, snowflakesi.Config{Epoch: time.UnixMilli(1700000000123)}, 1700000000128)
			same(t, "an ID with another epoch", take(t, gen), 5<<13)
			same(t, "the other epoch", gen.Epoch(), time.UnixMilli(1700000000123).UTC())
			clock := testkit.At(time.UnixMilli(1700000001000))
			_, err := snowflakesi.NewGenerator(snowflakesi.Config{Epoch: time.Unix(1700000000, 1), Clock: clock.Now})
			refused(t, "an epoch between milliseconds", "Epoch", err)
		}},
		{"the base to start time of using the UUID generation.", func(t *testing.T) {
			gen, clock := start(t, snowflakesi.Config{MachineID: 2}, epoch2021+1)
			same(t, "the first ID", take(t, gen), 1<<13|2<<8)
			// Ruling: a generator refuses an epoch in the future, at construction. A clock that is
			// not after the epoch is the same.
			for _, before := range []int64{0, 1, 1000, 1 << 38} {
				clock.Set(time.UnixMilli(epoch2021 - before))
				_, err := snowflakesi.NewGenerator(snowflakesi.Config{Clock: clock.Now})
				if e, ok := errors.AsType[*iderr.TimeError](err); !ok || !errors.Is(err, iderr.ErrTimeRange) || !e.First.Equal(time.UnixMilli(epoch2021+1)) {
					t.Errorf("%d ms before the default epoch: %v", before, err)
				}
				clock.Set(time.UnixMilli(1700000000000 - before))
				_, err = snowflakesi.NewGenerator(snowflakesi.Config{Epoch: time.UnixMilli(1700000000000), Clock: clock.Now})
				refused(t, fmt.Sprintf("an epoch %d ms in the future", before), "Epoch", err)
				same(t, "the cause is the time", errors.Is(err, iderr.ErrTimeRange), true)
			}
			// A timestamp 0 is the epoch. FromTime makes such an ID, and refuses a time before
			// the epoch.
			fields(t, snowflakesi.Layout{}, 2<<8|3, 0, 2, 3)
			if _, err := snowflakesi.FromTime(snowflakesi.Layout{}, time.UnixMilli(epoch2021-1), time.Time{}, 2, 3); !errors.Is(err, iderr.ErrTimeRange) {
				t.Errorf("a time before the epoch: %v", err)
			}
		}},
		{"The MAB is the number of milliseconds after the epoch.", func(t *testing.T) {
			for _, epoch := range []int64{epoch2021, 1047972019225, 1700000000123} {
				gen, _ := start(t, snowflakesi.Config{Epoch: time.UnixMilli(epoch)}, 1750000000000)
				for _, mab := range []int64{1, 2, 999, 1 << 39, 1<<40 - 1} {
					id, at := snowflakesi.ID(mab<<13|17<<8|200), time.UnixMilli(epoch+mab).UTC()
					same(t, "the time of an ID", id.Time(snowflakesi.Layout{}, time.UnixMilli(epoch)), at)
					same(t, "the generator's time of an ID", gen.Time(id), at)
					same(t, "the first ID of a time", int64(gen.First(at.Add(999_999))), mab<<13)
					same(t, "the last ID of a time", int64(gen.Last(at)), mab<<13|8191)
				}
			}
		}},
		{"To avoid generating duplicated UUID", func(t *testing.T) {
			// Ruling: an ID is never handed out again, whatever the clock does. The clock walks
			// back and forth at random. The rules alone give each ID, and each error.
			gen, clock := start(t, snowflakesi.Config{MachineID: 6}, epoch2021+1000)
			rng := rand.New(rand.NewPCG(3, 4))
			now, mab, uin := int64(1000), int64(0), int64(-1) // MAB and UIN of the last ID
			seen := make(map[int64]bool)
			for range 1000 {
				for range rng.IntN(200) {
					id, err := gen.TryNext()
					if now < mab {
						e, ok := errors.AsType[*iderr.ClockError](err)
						if !ok || e.By != time.Duration(mab-now)*time.Millisecond || errors.Is(err, iderr.ErrExhausted) {
							t.Fatalf("the clock is %d ms behind: %d, %v", mab-now, id.Int64(), err)
						}
						continue
					}
					if now == mab && uin == 255 {
						if !errors.Is(err, iderr.ErrExhausted) || errors.Is(err, iderr.ErrClockBackwards) {
							t.Fatalf("after UIN 255: %d, %v", id.Int64(), err)
						}
						continue
					}
					if uin++; now > mab && uin >= 128 {
						uin = 0
					}
					mab = now
					if err != nil || int64(id) != mab<<13|6<<8|uin || seen[int64(id)] {
						t.Fatalf("%#x, %v; want the new ID %#x", id.Int64(), err, mab<<13|6<<8|uin)
					}
					seen[int64(id)] = true
				}
				now += rng.Int64N(8) - 3
				clock.Set(time.UnixMilli(epoch2021 + now))
			}
			if len(seen) < 1000 {
				t.Errorf("only %d IDs", len(seen))
			}
		}},
		{"the MAB must be an incremental sequence", func(t *testing.T) {
			// Ruling: a clock that went backwards and an exhausted sequence are distinct errors.
			// Next waits for a clock that is up to MaxBackward behind.
			bubble(t, epoch2021+60_000, func(t *testing.T) {
				var ahead time.Duration
				gen, err := snowflakesi.NewGenerator(snowflakesi.Config{
					MaxBackward: 3 * time.Second,
					Clock:       func() time.Time { return time.Now().Add(ahead) },
				})
				if err != nil {
					t.Fatal(err)
				}
				same(t, "the first ID", take(t, gen), 60_000<<13)

				ahead = -3 * time.Second
				before := time.Now()
				_, err = gen.TryNext()
				if !errors.Is(err, iderr.ErrClockBackwards) || errors.Is(err, iderr.ErrExhausted) {
					t.Errorf("TryNext with the clock behind: %v", err)
				}
				id, err := gen.Next(context.Background())
				if err != nil || int64(id) != 60_000<<13|1 {
					t.Errorf("Next with the clock behind: %#x, %v", int64(id), err)
				}
				same(t, "the wait", time.Since(before), 3*time.Second)

				ahead -= 3*time.Second + time.Millisecond
				before = time.Now()
				_, err = gen.Next(context.Background())
				e, ok := errors.AsType[*iderr.ClockError](err)
				if !ok || e.By != 3*time.Second+time.Millisecond || !errors.Is(err, iderr.ErrClockBackwards) {
					t.Errorf("Next with the clock further behind: %v", err)
				}
				same(t, "the wait", time.Since(before), 0)

				ahead = 0
				if v := take(t, gen); v>>13 != 66_000-3000 {
					t.Errorf("with the clock set right: the MAB %d", v>>13)
				}
				drain(t, gen)
				if _, err = gen.TryNext(); !errors.Is(err, iderr.ErrExhausted) || errors.Is(err, iderr.ErrClockBackwards) {
					t.Errorf("TryNext in an exhausted millisecond: %v", err)
				}
			})
		}},
		{"the epoch is unchangeable after it's determined.", func(t *testing.T) {
			// A generator keeps its epoch. Generators with different epochs share no pool of
			// machine IDs.
			at := testkit.At(time.UnixMilli(1700000005000))
			c := snowflakesi.Config{Epoch: time.UnixMilli(1700000000000), Clock: at.Now, Leased: true}
			names := make(map[string]bool)
			for i := range int64(3) {
				leased := testkit.Must(snowflakesi.NewGenerator(c))
				c.Epoch = c.Epoch.Add(time.Millisecond)
				pool, err := leased.ForLease().Pool()
				if err != nil {
					t.Fatal(err)
				}
				names[pool.Name] = true
				same(t, "the epoch of the pool", pool.Layout.Epoch, time.UnixMilli(1700000000000+i).UTC())
				same(t, "the epoch of the generator", leased.Epoch(), time.UnixMilli(1700000000000+i).UTC())
			}
			same(t, "names of pools", len(names), 3)

			gen, clock := start(t, snowflakesi.Config{Epoch: time.UnixMilli(1700000000000)}, 1700000005000)
			for _, step := range []int64{0, 1, 1000, 1 << 35} {
				clock.Step(time.Duration(step) * time.Millisecond)
				v := take(t, gen)
				same(t, "the MAB", v>>13, clock.Now().UnixMilli()-1700000000000)
				same(t, "the epoch", gen.Epoch(), time.UnixMilli(1700000000000).UTC())
			}
		}},
		{"2038-01-19T03:14:07Z, 0x7FFFFFFF, and 2147483647000 in milliseconds.", func(t *testing.T) {
			end, err := time.Parse(time.RFC3339, "2038-01-19T03:14:07Z")
			if err != nil || end.Unix() != 0x7FFFFFFF || end.UnixMilli() != 2147483647000 {
				t.Fatal(end, err)
			}
			// The default epoch reaches this time.
			gen, _ := start(t, snowflakesi.Config{}, 2147483647000)
			v := take(t, gen)
			same(t, "the ID", v, (2147483647000-1609459200000)<<13)
			same(t, "the time of the ID", gen.Time(snowflakesi.ID(v)), end)
		}},
		{"It's a 41-bits integer", func(t *testing.T) {
			same(t, "the bits", big.NewInt(2147483647000).BitLen(), 41)
			// From the Unix epoch, this time needs 41 bits of MAB.
			gen, _ := start(t, snowflakesi.Config{Layout: ofWidths(41, 5), Epoch: time.UnixMilli(0)}, 2147483647000)
			same(t, "the MAB", take(t, gen)>>12, 2147483647000)
			for _, bits := range []int{40, 41} {
				_, err := snowflakesi.FromTime(ofWidths(bits, 5), time.UnixMilli(2147483647000), time.UnixMilli(0), 0, 0)
				same(t, fmt.Sprint(bits, " bits of MAB hold the time"), err == nil, bits == 41)
			}
		}},
		{"but the MAB must be a 40-bits integer.", func(t *testing.T) {
			// Ruling: a generator refuses a timestamp that no longer fits.
			same(t, "the last MAB", snowflakesi.Layout{}.MaxTimestamp(), 1099511627775)
			outside := func(what string, err error) {
				t.Helper()
				e, ok := errors.AsType[*iderr.TimeError](err)
				if !ok || !errors.Is(err, iderr.ErrTimeRange) || !errors.Is(err, iderr.ErrRange) || !e.Last.Equal(time.UnixMilli(2708970827775)) {
					t.Errorf("%s: %v", what, err)
				}
			}
			gen, clock := start(t, snowflakesi.Config{MachineID: 31}, 2708970827775)
			same(t, "an ID of the last MAB", take(t, gen), 1099511627775<<13|31<<8)
			same(t, "the end", gen.ExpiresAt(), time.Date(2055, 11, 4, 19, 53, 47, 776e6, time.UTC))
			clock.Step(time.Millisecond)
			_, err := gen.TryNext()
			outside("TryNext", err)
			_, err = gen.Next(context.Background())
			outside("Next", err)
			_, err = snowflakesi.NewGenerator(snowflakesi.Config{Clock: clock.Now})
			outside("NewGenerator", err)
			_, err = snowflakesi.FromTime(snowflakesi.Layout{}, clock.Now(), time.Time{}, 0, 0)
			outside("FromTime", err)
		}},
		{"2147483647000 - BaseClock < Math.pow(2, 40).", func(t *testing.T) {
			limit := new(big.Int).Exp(big.NewInt(2), big.NewInt(40), nil)
			for _, base := range []int64{-1, 0, 1, 1e12, 1047972019223, 1047972019224, 1047972019225, 1047972019226, 1e12 + 5e10, epoch2021, 2147483646999} {
				meets := new(big.Int).Sub(big.NewInt(2147483647000), big.NewInt(base)).Cmp(limit) < 0
				epoch, end := time.UnixMilli(base), testkit.At(time.UnixMilli(2147483647000))
				gen, err := snowflakesi.NewGenerator(snowflakesi.Config{Epoch: epoch, Clock: end.Now})
				_, fromErr := snowflakesi.FromTime(snowflakesi.Layout{}, end.Now(), epoch, 1, 0)
				_, firstErr := snowflakesi.First(snowflakesi.Layout{}, end.Now(), epoch)
				_, lastErr := snowflakesi.Last(snowflakesi.Layout{}, end.Now(), epoch)
				for _, err := range []error{err, fromErr, firstErr, lastErr} {
					if !meets {
						refused(t, fmt.Sprint("BaseClock ", base), "Epoch", err)
					} else if err != nil {
						t.Errorf("BaseClock %d: %v", base, err)
					}
				}
				if meets && gen != nil {
					same(t, "the MAB in 2038", take(t, gen)>>13, 2147483647000-base)
				}
			}
		}},
		{"It means BaseClock > 1047972019224", func(t *testing.T) {
			bound := new(big.Int).Sub(big.NewInt(2147483647000), new(big.Int).Lsh(big.NewInt(1), 40))
			same(t, "the bound", bound.Int64(), 1047972019224)
			clock := testkit.At(time.UnixMilli(1700000000000))
			// The bound holds for each layout with 40 bits of MAB.
			for machineBits := range 14 {
				for base, ok := range map[int64]bool{1047972019224: false, 1047972019225: true} {
					_, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: ofWidths(40, machineBits), Epoch: time.UnixMilli(base), Clock: clock.Now})
					if !ok {
						refused(t, fmt.Sprint("BaseClock ", base), "Epoch", err)
					} else if err != nil {
						t.Errorf("BaseClock %d: %v", base, err)
					}
				}
			}
		}},
		{"1047972019224 stand for 2003-03-18T07:20:19.224Z.", func(t *testing.T) {
			bound, err := time.Parse(time.RFC3339Nano, "2003-03-18T07:20:19.224Z")
			if err != nil || bound.UnixMilli() != 1047972019224 {
				t.Fatal(bound, err)
			}
			clock := testkit.At(time.UnixMilli(1700000000000))
			_, err = snowflakesi.NewGenerator(snowflakesi.Config{Epoch: bound, Clock: clock.Now})
			refused(t, "the bound", "Epoch", err)
			if err != nil && !strings.Contains(err.Error(), "after 2003-03-18T07:20:19.224Z") {
				t.Errorf("the error does not name the bound: %v", err)
			}
			// The last timestamp of the earliest epoch is the last UNIX timestamp.
			gen, _ := start(t, snowflakesi.Config{Epoch: bound.Add(time.Millisecond)}, 1700000000000)
			same(t, "the end", gen.ExpiresAt(), time.Date(2038, 1, 19, 3, 14, 7, 1e6, time.UTC))
			same(t, "the last timestamp", gen.Time(snowflakesi.Max), time.Date(2038, 1, 19, 3, 14, 7, 0, time.UTC))
		}},
		{"the high 40-bits is fixed", func(t *testing.T) {
			for machineBits := range 14 {
				l := ofWidths(40, machineBits)
				gen, _ := start(t, snowflakesi.Config{Layout: l}, epoch2021+0x123456789a)
				same(t, fmt.Sprint("an ID of ", l), take(t, gen), 0x123456789a<<13)
				same(t, fmt.Sprint("the last MAB of ", l), l.MaxTimestamp(), 1<<40-1)
				same(t, fmt.Sprint("the MAB of the graph in ", l), snowflakesi.ID(1<<53-1).Timestamp(l), 1<<40-1)
			}
		}},
		{"the rest 13-bits is adjustable.", func(t *testing.T) {
			// Ruling: the machine ID has 0 to 53 - 40 bits, and the UIN has the rest.
			for machineBits := range 14 {
				l := ofWidths(40, machineBits)
				sequenceBits := 13 - machineBits
				if err := l.Check(); err != nil {
					t.Error(err)
				}
				clock, machine, sequence := l.Widths()
				same(t, "the widths", [3]int{clock, machine, sequence}, [3]int{40, machineBits, sequenceBits})
				mid, uin := int64(1)<<machineBits-1, int64(1)<<sequenceBits-1
				fields(t, l, 5<<13|mid<<sequenceBits, 5, mid, 0)
				fields(t, l, 5<<13|uin, 5, 0, uin)
			}
			for _, machineBits := range []int{-2, 14, 53} {
				l := snowflakesi.Layout{ClockBits: 40, MachineBits: machineBits}
				_, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: l})
				refused(t, fmt.Sprint(l), "MachineBits", err)
				refused(t, fmt.Sprint(l), "MachineBits", l.Check())
			}
		}},
		{"the MID is avoidable", func(t *testing.T) {
			l := snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits}
			gen, _ := start(t, snowflakesi.Config{Layout: l}, epoch2021+1)
			for _, v := range drain(t, gen) {
				same(t, "the MID", snowflakesi.ID(v).MachineID(l), 0)
			}
			same(t, "the largest MID", l.MaxMachineID(), 0)
			_, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: l, MachineID: 1})
			refused(t, "a machine ID", "MachineID", err)
		}},
		{"the whole 13-bits can be use as the UIN", func(t *testing.T) {
			l := snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits}
			for bit := range 13 {
				fields(t, l, 3<<13|1<<bit, 3, 0, 1<<bit)
			}
			fields(t, l, 3<<13|8191, 3, 0, 8191)
			_, err := snowflakesi.FromTime(l, time.UnixMilli(epoch2021+3), time.Time{}, 0, 8192)
			refused(t, "UIN 8192", "sequence", err)
		}},
		{"its capacity is up to 8192", func(t *testing.T) {
			c := snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits}}
			for _, rule := range []snowflakesi.Sequence{snowflakesi.SequenceResets, snowflakesi.SequenceContinues} {
				c.Sequence = rule
				gen, clock := start(t, c, epoch2021+1)
				for range 4095 {
					take(t, gen)
				}
				clock.Step(time.Millisecond)
				// Ruling: the default rule continues, and leaves at least half of the capacity. The
				// second millisecond of a burst has the whole capacity.
				first, uin := 2<<13, 0
				if rule == snowflakesi.SequenceContinues {
					uin = 4095
				}
				all := drain(t, gen)
				same(t, "IDs of a millisecond", len(all), 8192-uin)
				same(t, "the first ID", all[0], int64(first|uin))
				clock.Step(time.Millisecond)
				same(t, "IDs of the next millisecond", len(drain(t, gen)), 8192)
			}
		}},
		{"the MAB could be adjusted, too.", func(t *testing.T) {
			// Ruling: the MAB has 40 or 41 bits; 0 is the default, 40.
			for clockBits := -1; clockBits <= 64; clockBits++ {
				l := snowflakesi.Layout{ClockBits: clockBits}
				_, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: l, Clock: testkit.At(time.UnixMilli(epoch2021 + 1)).Now})
				switch clockBits {
				case 0, 40, 41:
					if err != nil || l.Check() != nil {
						t.Errorf("%d bits of MAB: %v, %v", clockBits, err, l.Check())
					}
				default:
					refused(t, fmt.Sprint(clockBits, " bits of MAB"), "ClockBits", err)
					refused(t, fmt.Sprint(clockBits, " bits of MAB"), "ClockBits", l.Check())
				}
			}
		}},
		{"If the bit-width of MAB is set to 41-bits", func(t *testing.T) {
			for machineBits := range 13 {
				l, sequenceBits := ofWidths(41, machineBits), 12-machineBits
				same(t, "the last MAB", l.MaxTimestamp(), 2199023255551)
				for bit := range 53 {
					v := int64(1) << bit
					var mab, mid, uin int64
					switch {
					case bit < sequenceBits:
						uin = 1 << bit
					case bit < 12:
						mid = 1 << (bit - sequenceBits)
					default:
						mab = 1 << (bit - 12)
					}
					fields(t, l, v, mab, mid, uin)
				}
				gen, _ := start(t, snowflakesi.Config{Layout: l, MachineID: 1<<machineBits - 1}, epoch2021+2199023255551)
				same(t, "an ID of the last MAB", take(t, gen), 2199023255551<<12|(1<<machineBits-1)<<sequenceBits)
			}
		}},
		{"the epoch could be more earlier", func(t *testing.T) {
			// The epoch has no bound of its own in this layout. The timestamps of the clock's time
			// must fit.
			const now = 1700000000000
			l := ofWidths(41, 5)
			for _, base := range []int64{1047972019224, 1, 0, -1, -400000000000, now - (1<<41 - 1)} {
				gen, _ := start(t, snowflakesi.Config{Layout: l, Epoch: time.UnixMilli(base)}, now)
				same(t, "the MAB", take(t, gen)>>12, now-base)
				same(t, "the end", gen.ExpiresAt().UnixMilli(), base+2199023255552)
			}
			clock := testkit.At(time.UnixMilli(now))
			_, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: l, Epoch: time.UnixMilli(now - 1<<41), Clock: clock.Now})
			refused(t, "an epoch 2^41 ms ago", "Epoch", err)
			gen, _ := start(t, snowflakesi.Config{Layout: l, Epoch: time.UnixMilli(0)}, now)
			same(t, "the end of the Unix epoch", gen.ExpiresAt(), time.Date(2039, 9, 7, 15, 47, 35, 552e6, time.UTC))
		}},
		{"the capacity of UUIDs per millisecond and machine identifiers will be reduced.", func(t *testing.T) {
			for machineBits := range 13 {
				l := ofWidths(41, machineBits)
				c := resets
				c.Layout = l
				gen, _ := start(t, c, epoch2021+1)
				same(t, fmt.Sprint("IDs in a millisecond of ", l), len(drain(t, gen)), 4096>>machineBits)
				same(t, fmt.Sprint("machines of ", l), l.MaxMachineID()+1, 1<<machineBits)
			}
			// Ruling: the machine ID has 0 to 53 - 41 bits.
			l := snowflakesi.Layout{ClockBits: 41, MachineBits: 13}
			_, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: l})
			refused(t, "13 bits of MID beside 41 bits of MAB", "MachineBits", err)
			// The default width of the MID leaves 7 bits of UIN.
			clock, machine, sequence := snowflakesi.Layout{ClockBits: 41}.Widths()
			same(t, "the widths", [3]int{clock, machine, sequence}, [3]int{41, 5, 7})
		}},
	} {
		t.Run(row.text, row.check)
	}
}

// No machine can check these statements. Some quotes have a row above: the row checks the rest.
//
//   - "The standard snowflake uses a 64-bits integer as output": a fact about another format.
//   - "the ECMAScript does not provides the supports of 64-bits integer": a fact about a language.
//   - "its bits-mapping shows like following": a pointer to the graph.
//   - "As the graph": the same pointer.
//   - "a single Node.js process can not handle 256 requests": a judgement about another platform.
//   - "can meet most of the cases": a judgement about the needs of users.
//   - "for distributed services": the purpose of the machine ID.
//   - "Before using the Snowflake-SI algorithm": advice to users.
//   - "the epoch is unchangeable": users keep the epoch over restarts.
//   - "That's why it uses MAB instead of timestamp": a motivation.
//   - "if distributed deployment is not necessary": a judgement about the systems of users.
