package ulidflake_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

// The numbers of the specification. The rows below compute with these numbers, not with the
// constants of the package.
const (
	specAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	specEpoch    = 1704067200000     // 2024-01-01T00:00:00.000Z in Unix milliseconds
	specTick     = 1 << 20           // the distance between the first IDs of two milliseconds
	specLast     = 8796093022207     // the last timestamp
	exampleText  = "00CMXB6TAK4SA"   // the ID of the introduction
	exampleInt   = 14246757444195114 // the same ID as an integer
)

// specNoon is the time of most rows, and stamp the timestamp of a time.
var specNoon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func stamp(t time.Time) int64 { return t.UnixMilli() - specEpoch }

// specText returns the 13 characters of v, one division a character.
func specText(v int64) string {
	text, rest := make([]byte, 13), uint64(v)
	for i := range text {
		text[12-i] = specAlphabet[rest%32]
		rest /= 32
	}
	return string(text)
}

// specValue returns the integer of a text, one multiplication a character. The integer can have
// more than 64 bits.
func specValue(text string) *big.Int {
	v := new(big.Int)
	for _, c := range text {
		v.Mul(v, big.NewInt(32))
		v.Add(v, big.NewInt(int64(strings.IndexRune(specAlphabet, c))))
	}
	return v
}

// specSamples are integers of IDs: powers of two and their neighbours, the integers of the
// specification, and 200 arbitrary integers. The samples are sorted and distinct.
var specSamples = func() []int64 {
	samples := []int64{0, exampleInt, 1234567890123456789, math.MaxInt64}
	for i := range 63 {
		samples = append(samples, 1<<i-1, 1<<i, 1<<i+1)
	}
	random := rand.New(rand.NewPCG(43, 20))
	for range 200 {
		samples = append(samples, random.Int64())
	}
	slices.Sort(samples)
	return slices.Compact(samples)
}()

// A flake is an ID of either version.
type flake interface {
	fmt.Stringer
	encoding.TextMarshaler
	encoding.BinaryMarshaler
	json.Marshaler
	driver.Valuer
	Int64() int64
	Decimal() string
	Timestamp() int64
	Randomness() int
	Time(epoch time.Time) time.Time
}

// A target is a variable for an ID of either version.
type target interface {
	encoding.TextUnmarshaler
	encoding.BinaryUnmarshaler
	json.Unmarshaler
	sql.Scanner
}

// A version is the stand-alone or the scalable version. IDs are plain integers here.
type version struct {
	name string
	size int64 // number of values of the randomness
	step int64 // an increment of 1 of the randomness, as a difference of IDs

	max           int64 // constants of the package
	maxRandomness int64

	id           func(int64) flake
	variable     func() target
	parse        func(string) (int64, error)
	parseDecimal func(string) (int64, error)
	parseHex     func(string) (int64, error)
	fromInt64    func(int64) (int64, error)
	fromBytes    func([]byte) (int64, error)
	fromTime     func(t, epoch time.Time) (int64, error)
	parseAll     func(text []byte) error
	appendAll    func(v int64) error
	generator    func(ulidflake.ScalableConfig) (source, error)
}

var standAloneVersion = version{
	name: "stand-alone", size: 1 << 20, step: 1,
	max: int64(ulidflake.Max), maxRandomness: ulidflake.MaxRandomness,
	id:           func(v int64) flake { return ulidflake.ID(v) },
	variable:     func() target { return new(ulidflake.ID) },
	parse:        plain(ulidflake.Parse),
	parseDecimal: plain(ulidflake.ParseDecimal),
	parseHex:     plain(ulidflake.ParseHex),
	fromInt64:    plain(ulidflake.FromInt64),
	fromBytes:    plain(ulidflake.FromBytes),
	fromTime: func(t, epoch time.Time) (int64, error) {
		id, err := ulidflake.FromTime(t, epoch)
		return int64(id), err
	},
	parseAll: func(text []byte) error {
		_, err := ulidflake.ParseAll(nil, text, '\n')
		return err
	},
	appendAll: func(v int64) error {
		_, err := ulidflake.AppendAll(nil, []ulidflake.ID{ulidflake.ID(v)}, '\n')
		return err
	},
	generator: func(c ulidflake.ScalableConfig) (source, error) {
		return sourceOf[ulidflake.ID](ulidflake.NewGenerator(ulidflake.Config{
			IncrementBits: c.IncrementBits, Epoch: c.Epoch, MaxBackward: c.MaxBackward, Clock: c.Clock}))
	},
}

var scalableVersion = version{
	name: "scalable", size: 1 << 15, step: 1 << 5,
	max: int64(ulidflake.MaxScalable), maxRandomness: ulidflake.MaxScalableRandomness,
	id:           func(v int64) flake { return ulidflake.ScalableID(v) },
	variable:     func() target { return new(ulidflake.ScalableID) },
	parse:        plain(ulidflake.ParseScalable),
	parseDecimal: plain(ulidflake.ParseScalableDecimal),
	parseHex:     plain(ulidflake.ParseScalableHex),
	fromInt64:    plain(ulidflake.ScalableFromInt64),
	fromBytes:    plain(ulidflake.ScalableFromBytes),
	fromTime: func(t, epoch time.Time) (int64, error) {
		id, err := ulidflake.ScalableFromTime(t, epoch, 21)
		return int64(id), err
	},
	parseAll: func(text []byte) error {
		_, err := ulidflake.ParseAllScalable(nil, text, '\n')
		return err
	},
	appendAll: func(v int64) error {
		_, err := ulidflake.AppendAllScalable(nil, []ulidflake.ScalableID{ulidflake.ScalableID(v)}, '\n')
		return err
	},
	generator: func(c ulidflake.ScalableConfig) (source, error) {
		return sourceOf[ulidflake.ScalableID](ulidflake.NewScalableGenerator(c))
	},
}

// plain returns a function of the package with an integer in place of an ID.
func plain[A any, T ~int64](f func(A) (T, error)) func(A) (int64, error) {
	return func(a A) (int64, error) {
		id, err := f(a)
		return int64(id), err
	}
}

// A source is a generator of either version.
type source struct {
	try     func() (int64, error)
	next    func(context.Context) (int64, error)
	fill    func(context.Context, []int64) (int, error)
	expires func() time.Time
}

func sourceOf[T ~int64](g testkit.Generator[T], err error) (source, error) {
	if err != nil {
		return source{}, err
	}
	return source{
		try: func() (int64, error) {
			id, err := g.TryNext()
			return int64(id), err
		},
		next: plain(g.Next),
		fill: func(ctx context.Context, dst []int64) (int, error) {
			ids := make([]T, len(dst))
			n, err := g.Fill(ctx, ids)
			for i, id := range ids {
				dst[i] = int64(id)
			}
			return n, err
		},
		expires: g.ExpiresAt,
	}, nil
}

// eachVersion runs a check for the stand-alone and for the scalable version.
func eachVersion(t *testing.T, check func(t *testing.T, v version)) {
	for _, v := range []version{standAloneVersion, scalableVersion} {
		t.Run(v.name, func(t *testing.T) { check(t, v) })
	}
}

// eachIncrement runs a check for each version with increments of 1 bit and of 8 bits.
func eachIncrement(t *testing.T, check func(t *testing.T, v version, bits int)) {
	eachVersion(t, func(t *testing.T, v version) {
		for _, bits := range []int{1, 8} {
			t.Run(strconv.Itoa(bits), func(t *testing.T) { check(t, v, bits) })
		}
	})
}

// source returns a generator with the clock. A scalable generator has scalability 21.
func (v version) source(t *testing.T, bits int, clock func() time.Time) source {
	t.Helper()
	return v.sourceWith(t, ulidflake.ScalableConfig{Scalability: 21, IncrementBits: bits, Clock: clock})
}

func (v version) sourceWith(t *testing.T, c ulidflake.ScalableConfig) source {
	t.Helper()
	s, err := v.generator(c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// randomness returns the random part of an ID.
func (v version) randomness(id int64) int64 { return id % specTick / v.step }

// one returns the first ID of the next millisecond.
func (s source) one(t *testing.T, clock *testkit.Clock) int64 {
	t.Helper()
	clock.Step(time.Millisecond)
	id := testkit.Must(s.try())
	return id
}

// burst returns n IDs of one millisecond, in the order of issue. If a millisecond overflows before,
// burst moves the clock to the next millisecond. More than half of the milliseconds have room for
// the IDs of each row, so 100 attempts fail less than once in 10^30 runs.
func (s source) burst(t *testing.T, clock *testkit.Clock, n int) []int64 {
	t.Helper()
	for range 100 {
		ids := []int64{s.one(t, clock)}
		for len(ids) < n {
			id, err := s.try()
			if errors.Is(err, iderr.ErrRange) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if len(ids) == n {
			return ids
		}
	}
	t.Fatalf("no millisecond has %d IDs", n)
	return nil
}

// drain returns the IDs that are left in the present millisecond, and fails the test unless the
// overflow error follows.
func (s source) drain(t *testing.T) []int64 {
	t.Helper()
	var ids []int64
	for len(ids) <= 1<<20 {
		id, err := s.try()
		if errors.Is(err, iderr.ErrRange) {
			return ids
		} else if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	t.Fatalf("a millisecond has more than %d IDs", 1<<20)
	return nil
}

// rest returns the IDs that follow the first ID of a millisecond with plus 1: an ID for each number
// up to the largest randomness. rest fails the test unless the overflow error follows.
func (v version) rest(t *testing.T, s source, first int64) []int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // Fill waits if IDs are missing
	defer cancel()
	ids := make([]int64, v.size-1-v.randomness(first))
	if n, err := s.fill(ctx, ids); n != len(ids) || err != nil {
		t.Fatalf("%d IDs follow %s, want %d, %v", n, specText(first), len(ids), err)
	}
	if id, err := s.try(); id != 0 || !errors.Is(err, iderr.ErrRange) {
		t.Fatalf("after the largest randomness: %s, %v", specText(id), err)
	}
	return ids
}

// ascends fails the test unless each ID is greater than the ID before.
func ascends(t *testing.T, ids []int64) {
	t.Helper()
	for i, id := range ids[1:] {
		if id <= ids[i] {
			t.Fatalf("%s follows %s", specText(id), specText(ids[i]))
		}
	}
}

// distinct fails the test if two IDs are equal.
func distinct(t *testing.T, ids []int64) {
	t.Helper()
	sorted := slices.Clone(ids)
	slices.Sort(sorted)
	testkit.Same(t, len(slices.Compact(sorted)), len(ids))
}

// sameTick fails the test unless all IDs have the timestamp of the time.
func sameTick(t *testing.T, ids []int64, at time.Time) {
	t.Helper()
	for _, id := range ids {
		if id/specTick != stamp(at) {
			t.Fatalf("%s has timestamp %d, want %d", specText(id), id/specTick, stamp(at))
		}
	}
}

// capacity draws milliseconds with plus 1 until a millisecond has room for least IDs, and takes all
// IDs of this millisecond: each number from the start to the top, once. The chance of a millisecond
// is above 2 %, so 2000 milliseconds fail less than once in 10^17 runs.
func capacity(t *testing.T, v version, least int64) {
	clock := testkit.At(specNoon)
	s := v.source(t, 1, clock.Now)
	for range 2000 {
		first := s.one(t, clock)
		if v.size-v.randomness(first) < least {
			continue
		}
		for i, id := range v.rest(t, s, first) {
			if want := first + int64(i+1)*v.step; id != want {
				t.Fatalf("%s after %d IDs, want %s", specText(id), i+1, specText(want))
			}
		}
		return
	}
	t.Errorf("no millisecond has room for %d IDs", least)
}

// halfIsLeft checks that a millisecond has room for half of the values on average, to 7 standard
// deviations of the mean of 4096 uniform numbers.
func halfIsLeft(t *testing.T, v version) {
	clock := testkit.At(specNoon)
	s := v.source(t, 1, clock.Now)
	var room int64
	for range 4096 {
		room += v.size - v.randomness(s.one(t, clock))
	}
	if share := float64(room) / 4096 / float64(v.size); math.Abs(share-0.5) > 0.032 {
		t.Errorf("%.3f of the values are left on average, want 0.5", share)
	}
}

// everyBit checks that the randomness of new milliseconds has all its bits and no more: in 64
// numbers each bit is 0 and 1.
func everyBit(t *testing.T, v version) {
	clock := testkit.At(specNoon)
	s := v.source(t, 1, clock.Now)
	var ones, zeros int64
	for range 64 {
		r := int64(v.id(s.one(t, clock)).Randomness())
		ones, zeros = ones|r, zeros|^r&(v.size-1)
	}
	if ones != v.size-1 || zeros != v.size-1 {
		t.Errorf("bits that are ever 1: %b, bits that are ever 0: %b, want %b", ones, zeros, v.size-1)
	}
	testkit.Same(t, v.maxRandomness, v.size-1)
}

// timeHigh checks that the first 4 octets are the timestamp without its low 12 bits.
func timeHigh(t *testing.T, v version) {
	for _, n := range specSamples {
		b := binaryForm(t, v, n)
		if got, want := int64(binary.BigEndian.Uint32(b)), v.id(n).Timestamp()/4096; got != want {
			t.Errorf("the first 4 octets of %x are %#x, want %#x", b, got, want)
		}
	}
}

// binaryForm returns the 8 octets of an ID.
func binaryForm(t *testing.T, v version, id int64) []byte {
	t.Helper()
	b, err := v.id(id).MarshalBinary()
	if err != nil || len(b) != 8 {
		t.Fatalf("%d: %x, %v", id, b, err)
	}
	return b
}

// isParseError fails the test unless err is a ParseError of the kind with the offset.
func isParseError(t *testing.T, input string, err, kind error, offset int) {
	t.Helper()
	bad, ok := errors.AsType[*iderr.ParseError](err)
	if !ok || !errors.Is(err, kind) || bad.Offset != offset {
		t.Errorf("%q: %v, want %q at offset %d", input, err, kind, offset)
	}
}

// slug returns the name of a row: the first words of its text.
func slug(text string) string {
	words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	return strings.Join(words[:min(len(words), 6)], "-")
}

// TestSpecification checks the specification of Ulid-Flake, sentence by sentence. The rows have the
// order of the text.
func TestSpecification(t *testing.T) {
	rows := []struct {
		text  string // the words of the specification
		check func(t *testing.T)
	}{
		{"compact 64-bit size, featuring a 1-bit sign bit, a 43-bit timestamp, and a 20-bit randomness", func(t *testing.T) {
			testkit.Same(t, binary.Size(ulidflake.ID(0)), 8)
			for _, timestamp := range []int64{0, 1, 1<<43 - 1, 0x555_5555_5555, 0x2aa_aaaa_aaaa} {
				for _, randomness := range []int64{0, 1, 1<<20 - 1, 0x55555, 0xaaaaa} {
					v := timestamp*specTick + randomness
					id, err := ulidflake.FromInt64(v)
					if err != nil || id.Timestamp() != timestamp || int64(id.Randomness()) != randomness || id < 0 {
						t.Errorf("%#x: %#x and %#x, %v, want %#x and %#x", v, id.Timestamp(), id.Randomness(), err, timestamp, randomness)
					}
				}
			}
		}},
		{"Also provide a scalable version using the last 5-bit as scalability.", func(t *testing.T) {
			for scalability := range int64(32) {
				v := int64(exampleInt)/32*32 + scalability
				id, err := ulidflake.ScalableFromInt64(v)
				if err != nil || int64(id.Scalability()) != scalability || id.Randomness() != exampleInt%specTick/32 {
					t.Errorf("%#x: scalability %d, randomness %d, %v", v, id.Scalability(), id.Randomness(), err)
				}
			}
		}},
		{"A 64-bit ULID variant", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				if b := binaryForm(t, v, math.MaxInt64); len(b)*8 != 64 || new(big.Int).SetBytes(b).BitLen() != 63 {
					t.Errorf("the largest ID is %x", b)
				}
			})
		}},
		{"IDs are generated roughly once per second, with occasional bursts of multiple IDs per millisecond", func(t *testing.T) {
			eachIncrement(t, func(t *testing.T, v version, bits int) {
				clock := testkit.At(specNoon)
				s := v.source(t, bits, clock.Now)
				var all []int64
				for second := range 60 {
					clock.Set(specNoon.Add(time.Duration(second) * time.Second))
					ids := []int64{s.one(t, clock)}
					if second%10 == 9 {
						ids = s.burst(t, clock, 20)
					}
					sameTick(t, ids, clock.Now())
					all = append(all, ids...)
				}
				ascends(t, all)
			})
		}},
		{"Multiple IDs generated within the same millisecond during peak periods.", func(t *testing.T) {
			eachIncrement(t, func(t *testing.T, v version, bits int) {
				clock := testkit.At(specNoon)
				ids := v.source(t, bits, clock.Now).burst(t, clock, 100)
				sameTick(t, ids, clock.Now())
				distinct(t, ids)
			})
		}},
		{"Usable over a 100-year time frame.", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				clock := testkit.At(time.UnixMilli(specEpoch))
				var ids []int64
				clock.Step(time.Millisecond)
				s := v.source(t, 1, clock.Now)
				for year := 2024; year <= 2124; year += 10 {
					clock.Set(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC))
					id := s.one(t, clock)
					if got := v.id(id).Time(time.Time{}); got.Year() != year || !got.Equal(clock.Now()) {
						t.Errorf("%s is of %v, want %v", specText(id), got, clock.Now())
					}
					ids = append(ids, id)
				}
				ascends(t, ids)
				if end := s.expires(); end.Before(time.Date(2124, 1, 1, 0, 0, 0, 0, time.UTC)) {
					t.Errorf("the timestamps end at %v", end)
				}
			})
		}},
		{"ulidflake.New() // 00CMXB6TAK4SA", func(t *testing.T) {
			a, b := ulidflake.New(), ulidflake.New()
			if a <= 0 || b <= a {
				t.Errorf("%s, then %s", a, b)
			}
			if text := a.String(); len(text) != 13 || text != specText(int64(a)) {
				t.Errorf("%d is %s, want %s", int64(a), text, specText(int64(a)))
			}
			id, err := ulidflake.Parse(exampleText)
			if err != nil || specValue(exampleText).Cmp(big.NewInt(int64(id))) != 0 || id.String() != exampleText {
				t.Errorf("%s is %d, %v", exampleText, int64(id), err)
			}
			// Ruling: these lines are API. The generator of New waits where a plain call of a
			// generator gives the overflow error.
			synctest.Test(t, func(t *testing.T) {
				ofNow := func(id ulidflake.ID) bool {
					return int64(id)/specTick == stamp(time.Now())
				}
				last := ulidflake.New()
				for calls := 0; !ofNow(last); calls++ { // the bubble begins in 2000, and New waits
					if last = ulidflake.New(); calls > 1<<22 {
						t.Fatalf("%s is not of %v", last, time.Now())
					}
				}
				start := time.Now()
				for calls := 0; time.Now().Equal(start); calls++ {
					id := ulidflake.New()
					if id <= last || !ofNow(id) || calls > 1<<20 {
						t.Fatalf("%s follows %s at %v, after %d calls", id, last, time.Now(), calls)
					}
					last = id
				}
				if took := time.Since(start); took > time.Millisecond {
					t.Errorf("New waited %v for the next millisecond", took)
				}
			})
		}},
		{"ulidflake.New().Int() // 14246757444195114", func(t *testing.T) {
			a := ulidflake.New()
			if n := ulidflake.New().Int(); n <= int64(a) || ulidflake.ID(n).String() != specText(n) {
				t.Errorf("%d follows %d", n, int64(a))
			}
			testkit.Same(t, ulidflake.MustParse(exampleText).Int(), exampleInt)
			eachVersion(t, func(t *testing.T, v version) {
				id, err := v.parse(exampleText)
				if got := v.id(id).Int64(); err != nil || got != exampleInt {
					t.Errorf("%s is %d, %v", exampleText, got, err)
				}
				if got := v.id(exampleInt).String(); got != exampleText {
					t.Errorf("%d is %s", int64(exampleInt), got)
				}
			})
		}},
		{"64-bit compatibility with long int (int64, bigint)", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for _, want := range specSamples[1:] {
					value, err := v.id(want).Value()
					if value != driver.Value(want) || err != nil {
						t.Errorf("the database gets %v of type %T, %v, want %d", value, value, err, want)
					}
				}
				testkit.Same(t, v.max, math.MaxInt64)
			})
			if a, b := ulidflake.ID(0).GormDataType(), ulidflake.ScalableID(0).GormDataType(); a != "bigint" || b != "bigint" {
				t.Errorf("columns are %s and %s", a, b)
			}
		}},
		{"Over 1 million unique Ulid-Flakes per millisecond with minimum +1 increment for stand-alone version", func(t *testing.T) {
			capacity(t, standAloneVersion, 1_000_001)
			// Ruling: "over 1 million" is the size of the range. From a uniform start half of the
			// range is left on average.
			halfIsLeft(t, standAloneVersion)
		}},
		{"Over 32 thousands unique Ulid-Flakes per millisecond with minimum +1 increment for scalable version", func(t *testing.T) {
			capacity(t, scalableVersion, 32_001)
			// Ruling: as for the stand-alone version, half of the range is left on average.
			halfIsLeft(t, scalableVersion)
		}},
		{"32 configurations for scalability using a distributed system for scalable version", func(t *testing.T) {
			clock := testkit.At(specNoon)
			var all []int64
			for scalability := range 32 {
				s := scalableVersion.sourceWith(t, ulidflake.ScalableConfig{Scalability: scalability, IncrementBits: 1, Clock: clock.Now})
				clock.Set(specNoon)
				ids := s.burst(t, clock, 50)
				for _, id := range ids {
					if id%32 != int64(scalability) {
						t.Fatalf("%s of scalability %d", specText(id), scalability)
					}
				}
				all = append(all, ids...)
			}
			distinct(t, all)
		}},
		{"Lexicographically sortable", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for i, b := range specSamples[1:] {
					a := specSamples[i]
					if x, y := v.id(a).String(), v.id(b).String(); x >= y {
						t.Errorf("%d < %d, but %s >= %s", a, b, x, y)
					}
				}
			})
		}},
		{"Canonically encoded as a 13-character string", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for _, n := range specSamples {
					text, err := v.id(n).MarshalText()
					if string(text) != specText(n) || v.id(n).String() != specText(n) || err != nil {
						t.Errorf("%d is %q and %q, %v, want %q", n, text, v.id(n), err, specText(n))
					}
					if got, err := v.parse(specText(n)); got != n || err != nil {
						t.Errorf("%s reads as %d, %v", specText(n), got, err)
					}
				}
				// Ruling: a decoder is strict. A text of any other length is an error about the
				// length.
				for n := range 30 {
					text := strings.Repeat("0", n)
					if _, err := v.parse(text); n != 13 {
						isParseError(t, text, err, iderr.ErrLength, -1)
					}
				}
			})
		}},
		{"Optionally can also be safely provided as a long integer (int64, bigint)", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for _, n := range specSamples {
					id, err := v.fromInt64(n)
					if id != n || err != nil || v.id(id).Int64() != n {
						t.Errorf("%d: %d, %v", n, id, err)
					}
					// Ruling: a value out of range is a typed error.
					_, err = v.fromInt64(-n - 1)
					isParseError(t, strconv.FormatInt(-n-1, 10), err, iderr.ErrRange, -1)
				}
			})
		}},
		{"Uses Crockford's Base32 for better efficiency and readability (5 bits/character)", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for place := range 13 {
					for value := range int64(32) {
						if place == 12 && value >= 8 {
							break // 63 bits end here
						}
						want := []byte("0000000000000")
						want[12-place] = specAlphabet[value]
						if got := v.id(value << (5 * place)).String(); got != string(want) {
							t.Errorf("%d at bit %d is %s, want %s", value, 5*place, got, want)
						}
					}
				}
			})
		}},
		{"Case insensitive", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for _, n := range specSamples {
					upper, lower := specText(n), strings.ToLower(specText(n))
					mixed := upper[:6] + lower[6:]
					for _, text := range []string{lower, mixed} {
						if got, err := v.parse(text); got != n || err != nil {
							t.Errorf("%s reads as %d, %v, want %d", text, got, err, n)
						}
					}
					// Ruling: any case is read, and one case is written.
					testkit.Same(t, v.id(n).String(), upper)
				}
			})
		}},
		{"No special characters (URL safe)", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for _, n := range specSamples {
					text := v.id(n).String()
					if url.PathEscape(text) != text || url.QueryEscape(text) != text {
						t.Errorf("%s is %s in a URL", text, url.QueryEscape(text))
					}
					if strings.Trim(text, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
						t.Errorf("%s has special characters", text)
					}
				}
			})
		}},
		{"Monotonic sort order correctly detects and handles IDs generated in the same millisecond", func(t *testing.T) {
			eachIncrement(t, func(t *testing.T, v version, bits int) {
				clock := testkit.At(specNoon)
				s := v.source(t, bits, clock.Now)
				var all []int64
				for range 20 {
					ids := s.burst(t, clock, 100)
					sameTick(t, ids, clock.Now())
					all = append(all, ids...)
				}
				ascends(t, all)
				texts := make([]string, len(all))
				for i, id := range all {
					texts[i] = v.id(id).String()
				}
				if !slices.IsSorted(texts) {
					t.Error("the texts are not in the order of issue")
				}
			})
		}},
		{"Prefer +n entropy rather than +1 for randomness incrementation, adding difficulty in guessing IDs", func(t *testing.T) {
			// Ruling: n is 8 by default. 255 increments are possible after each ID. A guess of the
			// next ID is right once in 255 times: in 20 000 times, 78 guesses are right on average,
			// and fewer than 20 or more than 160 less than once in 10^11 runs.
			eachVersion(t, func(t *testing.T, v version) {
				for _, bits := range []int{0, 8} {
					clock := testkit.At(specNoon)
					s := v.source(t, bits, clock.Now)
					var right [256]int
					for range 400 {
						ids := s.burst(t, clock, 51)
						for i, id := range ids[1:] {
							step := (id - ids[i]) / v.step
							if step < 1 || step > 255 {
								t.Fatalf("IncrementBits %d: an increment of %d", bits, step)
							}
							right[step]++
						}
					}
					if least, most := slices.Min(right[1:]), slices.Max(right[1:]); least < 20 || most > 160 {
						t.Errorf("IncrementBits %d: guesses are right %d to %d times in 20 000", bits, least, most)
					}
				}
			})
		}},
		{"Below is the default stand-alone version specification", func(t *testing.T) {
			// The last 5 bits of the IDs of New vary, so the IDs have no scalability.
			id := ulidflake.New()
			different := false
			for range 100 {
				different = different || ulidflake.New()%32 != id%32
			}
			if !different {
				t.Error("the last 5 bits do not vary")
			}
		}},
		{"a 1-bit sign bit is included in the timestamp", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for _, n := range specSamples {
					first44 := int64(binary.BigEndian.Uint64(binaryForm(t, v, n)) >> 20)
					if got := v.id(n).Timestamp(); got != first44 || first44>>43 != 0 {
						t.Errorf("%d has timestamp %#x, but the first 44 bits are %#x", n, got, first44)
					}
				}
			})
		}},
		{"Stand-alone version (default): 00CMXB6TA K4SA", func(t *testing.T) {
			id, err := ulidflake.Parse("00CMXB6TA" + "K4SA")
			if err != nil || id.Timestamp() != 13586766666 || id.Randomness() != 627498 {
				t.Errorf("timestamp %d, randomness %d, %v", id.Timestamp(), id.Randomness(), err)
			}
			if at := id.Time(time.Time{}); !at.Equal(time.Date(2024, 6, 6, 6, 6, 6, 666e6, time.UTC)) {
				t.Errorf("the ID is of %v", at)
			}
		}},
		{"Timestamp Randomness 44-bit 20-bit 9-char 4-char", func(t *testing.T) {
			for _, n := range specSamples {
				id, text := ulidflake.ID(n), ulidflake.ID(n).String()
				if got := specValue(text[:9]); got.Cmp(big.NewInt(id.Timestamp())) != 0 || got.BitLen() > 44 {
					t.Errorf("%s: timestamp %d, want %v", text, id.Timestamp(), got)
				}
				if got := specValue(text[9:]); got.Cmp(big.NewInt(int64(id.Randomness()))) != 0 || got.BitLen() > 20 {
					t.Errorf("%s: randomness %d, want %v", text, id.Randomness(), got)
				}
			}
		}},
		{"a scalable version is provided for distributed system using purpose", func(t *testing.T) {
			// Two generators take all IDs of a millisecond up to the same largest randomness.
			clock := testkit.At(specNoon)
			var all []int64
			for _, scalability := range []int{20, 21} {
				s := scalableVersion.sourceWith(t, ulidflake.ScalableConfig{Scalability: scalability, IncrementBits: 1, Clock: clock.Now})
				ids := s.drain(t)
				if last := ids[len(ids)-1]; last != stamp(specNoon)*specTick+32767*32+int64(scalability) {
					t.Errorf("the last ID of scalability %d is %s", scalability, specText(last))
				}
				all = append(all, ids...)
			}
			distinct(t, all)
		}},
		{"Scalable version (optional): 00CMXB6TA K4S A", func(t *testing.T) {
			id, err := ulidflake.ParseScalable("00CMXB6TA" + "K4S" + "A")
			if err != nil || id.Timestamp() != 13586766666 || id.Randomness() != 19609 || id.Scalability() != 10 {
				t.Errorf("timestamp %d, randomness %d, scalability %d, %v", id.Timestamp(), id.Randomness(), id.Scalability(), err)
			}
		}},
		{"Timestamp Randomness Scalability 44-bit 15-bit 5-bit 9-char 3-char 1-char", func(t *testing.T) {
			for _, n := range specSamples {
				id, text := ulidflake.ScalableID(n), ulidflake.ScalableID(n).String()
				if got := specValue(text[:9]); got.Cmp(big.NewInt(id.Timestamp())) != 0 || got.BitLen() > 44 {
					t.Errorf("%s: timestamp %d, want %v", text, id.Timestamp(), got)
				}
				if got := specValue(text[9:12]); got.Cmp(big.NewInt(int64(id.Randomness()))) != 0 || got.BitLen() > 15 {
					t.Errorf("%s: randomness %d, want %v", text, id.Randomness(), got)
				}
				if got := specValue(text[12:]); got.Cmp(big.NewInt(int64(id.Scalability()))) != 0 || got.BitLen() > 5 {
					t.Errorf("%s: scalability %d, want %v", text, id.Scalability(), got)
				}
			}
		}},
		{"Total 64-bit size for compatibility with common integer (long int, int64 or bigint) types.", func(t *testing.T) {
			if a, b := binary.Size(ulidflake.ID(0)), binary.Size(ulidflake.ScalableID(0)); a != 8 || b != 8 {
				t.Errorf("IDs have %d and %d bytes", a, b)
			}
			eachVersion(t, func(t *testing.T, v version) {
				for _, n := range specSamples {
					id := v.variable()
					if err := id.Scan(n); err != nil {
						t.Errorf("a column of %d: %v", n, err)
					}
					if err := id.UnmarshalBinary(binary.BigEndian.AppendUint64(nil, uint64(n))); err != nil {
						t.Errorf("8 bytes of %d: %v", n, err)
					}
				}
			})
		}},
		{"The first 1-bit is a sign bit, always set to 0.", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				clock := testkit.At(time.UnixMilli(specEpoch))
				clock.Step(time.Hour)
				s := v.source(t, 1, clock.Now)
				for i := range 43 {
					clock.Set(time.UnixMilli(specEpoch + 1<<i - 1))
					if b := binaryForm(t, v, s.one(t, clock)); b[0]&0x80 != 0 {
						t.Errorf("the sign bit of %x is 1", b)
					}
				}
				for _, n := range specSamples {
					b := binary.BigEndian.AppendUint64(nil, uint64(n)|1<<63)
					_, err := v.fromBytes(b)
					isParseError(t, string(b), err, iderr.ErrRange, -1)
				}
			})
		}},
		{"Remaining 43-bit timestamp in millisecond precision.", func(t *testing.T) {
			if ulidflake.MaxTimestamp != 1<<43-1 {
				t.Errorf("the largest timestamp is %d", int64(ulidflake.MaxTimestamp))
			}
			eachVersion(t, func(t *testing.T, v version) {
				clock := testkit.At(specNoon)
				s := v.source(t, 1, clock.Now)
				for _, c := range []struct {
					later time.Duration
					want  int64
				}{{1, 0}, {1e6, 1}, {2e6 - 1, 1}, {2e6, 2}, {time.Second, 1000}, {time.Minute, 60_000}} {
					clock.Set(specNoon.Add(c.later - 1e6))
					id := s.one(t, clock)
					if got := v.id(id).Timestamp() - stamp(specNoon); got != c.want {
						t.Errorf("%v later: %d timestamps later, want %d", c.later, got, c.want)
					}
					if got := v.id(id).Time(time.Time{}); !got.Equal(specNoon.Add(time.Duration(c.want) * time.Millisecond)) {
						t.Errorf("%v later: the ID is of %v", c.later, got)
					}
					clock.Step(time.Millisecond)
				}
			})
		}},
		{"Custom epoch for extended usage span, starting from 2024-01-01T00:00:00.000Z.", func(t *testing.T) {
			if e := ulidflake.DefaultEpoch(); e.Format("2006-01-02T15:04:05.000Z07:00") != "2024-01-01T00:00:00.000Z" || ulidflake.DefaultEpochMilli != specEpoch {
				t.Errorf("the epoch is %v and %d", e, int64(ulidflake.DefaultEpochMilli))
			}
			eachVersion(t, func(t *testing.T, v version) {
				clock := testkit.At(time.Date(2024, 1, 1, 0, 0, 0, 1e6, time.UTC))
				if id, err := v.source(t, 1, clock.Now).try(); id/specTick != 1 || err != nil {
					t.Errorf("the first millisecond after the epoch has %s, %v", specText(id), err)
				}
				// Ruling: a custom epoch is allowed, and a generator refuses an epoch in the
				// future.
				epoch := time.Date(2020, 2, 29, 0, 0, 0, 0, time.UTC)
				clock.Set(epoch.Add(12345 * time.Millisecond))
				config := ulidflake.ScalableConfig{Epoch: epoch, IncrementBits: 1, Clock: clock.Now}
				s := v.sourceWith(t, config)
				id, err := s.try()
				if err != nil || v.id(id).Timestamp() != 12345 || !v.id(id).Time(epoch).Equal(clock.Now()) {
					t.Errorf("%s of timestamp %d, %v", specText(id), v.id(id).Timestamp(), err)
				}
				testkit.Same(t, s.expires().UnixMilli()-epoch.UnixMilli(), specLast+1)
				config.Epoch = clock.Now().Add(time.Millisecond)
				_, err = v.generator(config)
				if bad, ok := errors.AsType[*iderr.ConfigError](err); !ok || bad.Field != "Epoch" || !errors.Is(err, iderr.ErrTimeRange) {
					t.Errorf("an epoch in the future: %v", err)
				}
			})
		}},
		{"Usable until approximately 2302-09-27 AD.", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				last := time.UnixMilli(specEpoch + specLast).UTC()
				if last.Format(time.DateOnly) != "2302-09-27" || !v.id(math.MaxInt64).Time(time.Time{}).Equal(last) {
					t.Errorf("the largest ID is of %v, want %v", v.id(math.MaxInt64).Time(time.Time{}), last)
				}
				clock := testkit.At(last)
				s := v.source(t, 1, clock.Now)
				if id, err := s.try(); err != nil || id/specTick != specLast {
					t.Errorf("the last millisecond has %s, %v", specText(id), err)
				}
				if got := s.expires(); !got.Equal(last.Add(time.Millisecond)) {
					t.Errorf("the timestamps end at %v", got)
				}
				clock.Step(time.Millisecond)
				if id, err := s.try(); id != 0 || !errors.Is(err, iderr.ErrRange) || !errors.Is(err, iderr.ErrTimeRange) {
					t.Errorf("after the last millisecond: %s, %v", specText(id), err)
				}
			})
		}},
		{"20-bit randomness for stand-alone version.", func(t *testing.T) { everyBit(t, standAloneVersion) }},
		{"Provides a collision resistance with a p=0.5 expectation of 1,024 trials.", func(t *testing.T) {
			// 1024 numbers of 2^20 have 1024*1024/2 pairs, and a pair is equal once in 2^20: half
			// an equal pair on average. 32 times as many numbers have 512 equal pairs on average. A
			// deviation of 170 is 7.5 standard deviations. 19 bits would have 1024 equal pairs.
			clock := testkit.At(specNoon)
			s := standAloneVersion.source(t, 1, clock.Now)
			drawn, pairs := make([]int, 1<<20), 0
			for range 32 * 1024 {
				r := standAloneVersion.randomness(s.one(t, clock))
				pairs += drawn[r]
				drawn[r]++
			}
			if pairs < 512-170 || pairs > 512+170 {
				t.Errorf("%d numbers have %d equal pairs", 32*1024, pairs)
			}
		}},
		{"15-bit randomness for scalable version.", func(t *testing.T) { everyBit(t, scalableVersion) }},
		{"Initial random value at each millisecond precision unit.", func(t *testing.T) {
			// Ruling: the first number of a millisecond is drawn uniformly over all values. Each 4
			// adjacent bits have their 16 values 1024 times on average in 16 384 milliseconds. A
			// deviation of 240 is 7.7 standard deviations.
			eachVersion(t, func(t *testing.T, v version) {
				clock := testkit.At(specNoon)
				s := v.source(t, 8, clock.Now)
				starts := make([]int64, 1<<14)
				for i := range starts {
					starts[i] = v.randomness(s.one(t, clock))
				}
				for shift := 0; v.size>>shift >= 16; shift++ {
					var count [16]int
					for _, start := range starts {
						count[start>>shift%16]++
					}
					if slices.Min(count[:]) < 1024-240 || slices.Max(count[:]) > 1024+240 {
						t.Errorf("bits %d to %d of the first numbers: %d", shift, shift+3, count)
					}
				}
			})
		}},
		{"adopt a +n bits entropy incremental mechanism to ensure uniqueness without predictability.", func(t *testing.T) {
			// Ruling: each number is the last number plus a random increment in [1, 2^n). n = 1
			// means plus 1. For n = 8, the mean of 20 000 increments is 128, and 4 is 7.6 standard
			// deviations.
			eachIncrement(t, func(t *testing.T, v version, bits int) {
				clock := testkit.At(specNoon)
				s := v.source(t, bits, clock.Now)
				limit := int64(1) << bits
				seen, sum := make([]bool, limit), int64(0)
				var all []int64
				for range 400 {
					ids := s.burst(t, clock, 51)
					for i, id := range ids[1:] {
						step := (id - ids[i]) / v.step
						if step < 1 || step >= limit || (id-ids[i])%v.step != 0 {
							t.Fatalf("%s follows %s", specText(id), specText(ids[i]))
						}
						seen[step] = true
						sum += step
					}
					all = append(all, ids...)
				}
				if missing := slices.Index(seen[1:], false); missing >= 0 {
					t.Errorf("no increment is %d", missing+1)
				}
				if mean := float64(sum) / 20_000; math.Abs(mean-float64(limit)/2) > 4 {
					t.Errorf("the mean of the increments is %.1f", mean)
				}
				distinct(t, all)
			})
			// Ruling: an ID is never handed out again, however many goroutines call, whatever the
			// clock does.
			eachIncrement(t, func(t *testing.T, v version, bits int) {
				clock := testkit.At(specNoon)
				s := v.source(t, bits, clock.Now)
				var mu sync.Mutex
				var all []int64
				for _, step := range []time.Duration{1e6, 1e6, -2e6, 1e6, 1e6, 1e6, -time.Hour, time.Hour, 1e6} {
					clock.Step(step)
					var callers sync.WaitGroup
					for range 8 {
						callers.Go(func() {
							for range 100 {
								id, err := s.try()
								if err != nil {
									if !errors.Is(err, iderr.ErrRange) && !errors.Is(err, iderr.ErrClockBackwards) {
										t.Error(err)
									}
									return
								}
								mu.Lock()
								all = append(all, id)
								mu.Unlock()
							}
						})
					}
					callers.Wait()
				}
				if len(all) == 0 {
					t.Error("there are no IDs")
				}
				distinct(t, all)
			})
		}},
		{"Provide a 5-bit scalability for distributed system using purpose.", func(t *testing.T) {
			testkit.Same(t, ulidflake.MaxScalability, 31)
			for scalability := range 32 {
				id, err := ulidflake.ScalableFromTime(specNoon, time.Time{}, scalability)
				if err != nil || int64(id)%32 != int64(scalability) || int64(id)/specTick != stamp(specNoon) {
					t.Errorf("%s of scalability %d, %v", id, scalability, err)
				}
			}
		}},
		{"total 32 configurations can be used.", func(t *testing.T) {
			// Ruling: a generator refuses a scalability out of range at construction.
			valid := 0
			for scalability := -100; scalability < 100; scalability++ {
				g, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Scalability: scalability})
				if err == nil && g.Scalability() == scalability {
					valid++
				} else if bad, ok := errors.AsType[*iderr.ConfigError](err); !ok || bad.Field != "Scalability" {
					t.Errorf("scalability %d: %v", scalability, err)
				}
			}
			testkit.Same(t, valid, 32)
		}},
		{"The left-most character must be sorted first, and the right-most character sorted last", func(t *testing.T) {
			// Of two texts that first differ at a place, the smaller has the smaller character
			// there, also if the characters to the right are the largest.
			eachVersion(t, func(t *testing.T, v version) {
				for place := range 13 {
					for i := range 31 {
						if place == 0 && i >= 7 {
							break // 7 is the largest first character
						}
						left, rest := exampleText[:place], 12-place
						a := left + specAlphabet[i:i+1] + strings.Repeat("Z", rest)
						b := left + specAlphabet[i+1:i+2] + strings.Repeat("0", rest)
						x, err := v.parse(a)
						y, err2 := v.parse(b)
						if x >= y || err != nil || err2 != nil {
							t.Errorf("%s is %d, %s is %d, %v, %v", a, x, b, y, err, err2)
						}
					}
				}
			})
		}},
		{"The default ASCII character set must be used.", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for _, n := range specSamples {
					for _, c := range []byte(v.id(n).String()) {
						if c >= 0x80 {
							t.Errorf("%d has the byte %#x", n, c)
						}
					}
				}
				for value := range int64(31) {
					a, b := v.id(value).String()[12], v.id(value + 1).String()[12]
					if a >= b {
						t.Errorf("%q is not before %q", a, b)
					}
				}
				for c := 0x80; c < 0x100; c++ {
					text := "000000000000" + string([]byte{byte(c)})
					_, err := v.parse(text)
					isParseError(t, text, err, iderr.ErrCharacter, 12)
				}
			})
		}},
		{"sort order is guaranteed within the same millisecond. however", func(t *testing.T) {
			eachIncrement(t, func(t *testing.T, v version, bits int) {
				clock := testkit.At(specNoon)
				ids := v.source(t, bits, clock.Now).burst(t, clock, 100)
				sameTick(t, ids, clock.Now())
				ascends(t, ids)
			})
			// Ruling: order follows the format's own promise. In a distributed system each scalable
			// generator has its IDs in order, and no two IDs of different generators are equal in
			// the order.
			clock := testkit.At(specNoon)
			made, all := make([][]int64, 4), []int64(nil)
			for i := range made {
				s := scalableVersion.sourceWith(t, ulidflake.ScalableConfig{Scalability: 10 * i, IncrementBits: 8, Clock: clock.Now})
				for tick := range 50 {
					clock.Set(specNoon.Add(time.Duration(tick) * time.Millisecond))
					made[i] = append(made[i], s.one(t, clock))
					made[i] = append(made[i], s.drain(t)...)
				}
				ascends(t, made[i])
				all = append(all, made[i]...)
			}
			distinct(t, all)
		}},
		{"when using the stand-alone version in a distributed system, sort order is not guaranteed within the same millisecond.", func(t *testing.T) {
			clock := testkit.At(specNoon)
			a := standAloneVersion.source(t, 1, clock.Now)
			b := standAloneVersion.source(t, 1, clock.Now)
			inOrder := 0
			for range 100 {
				x := a.one(t, clock)
				y, err := b.try()
				if err != nil || x/specTick != y/specTick {
					t.Fatalf("%s and %s, %v", specText(x), specText(y), err)
				}
				if x < y {
					inOrder++
				}
			}
			if inOrder == 0 || inOrder == 100 {
				t.Errorf("%d of 100 pairs are in order", inOrder)
			}
		}},
		{"within the same millisecond, sort order is guaranteed in the context of an overflow error could occur", func(t *testing.T) {
			eachIncrement(t, func(t *testing.T, v version, bits int) {
				clock := testkit.At(specNoon)
				s := v.source(t, bits, clock.Now)
				first := s.one(t, clock)
				ids := append([]int64{first}, s.drain(t)...)
				sameTick(t, ids, clock.Now())
				if left := v.size - 1 - v.randomness(ids[len(ids)-1]); left >= 1<<bits-1 {
					t.Errorf("overflow after %s, where each increment fits", specText(ids[len(ids)-1]))
				}
				ids = append(ids, s.one(t, clock))
				ascends(t, ids)
			})
		}},
		{"tttttttttrrrr where t is Timestamp (9 characters) r is Randomness (4 characters)", func(t *testing.T) {
			for _, timestamp := range []int64{0, 31, 32, specLast} {
				for _, randomness := range []int64{1, 31, 32, 1<<20 - 1} {
					want := specText(timestamp)[4:] + specText(randomness)[9:]
					testkit.Same(t, ulidflake.ID(timestamp*specTick+randomness).String(), want)
				}
			}
		}},
		{"tttttttttrrrs where t is Timestamp (9 characters) r is Randomness (3 characters) s is Scalability (1 characters)", func(t *testing.T) {
			for _, timestamp := range []int64{0, 31, 32, specLast} {
				for _, randomness := range []int64{1, 31, 32, 1<<15 - 1} {
					for _, scalability := range []int64{0, 1, 31} {
						want := specText(timestamp)[4:] + specText(randomness)[10:] + specText(scalability)[12:]
						testkit.Same(t, ulidflake.ScalableID(timestamp*specTick+randomness*32+scalability).String(), want)
					}
				}
			}
		}},
		{"Crockford's Base32 is used as shown.", func(t *testing.T) {
			// Each byte is a character of the alphabet with one value, or is refused at its offset.
			eachVersion(t, func(t *testing.T, v version) {
				for c := range 256 {
					for place := range 12 {
						text := strings.Repeat("0", 12-place) + string([]byte{byte(c)}) + strings.Repeat("0", place)
						got, err := v.parse(text)
						if value := strings.Index(specAlphabet, strings.ToUpper(string([]byte{byte(c)}))); c < 0x80 && value >= 0 {
							if got != int64(value)<<(5*place) || err != nil {
								t.Errorf("%q reads as %d, %v", text, got, err)
							}
						} else {
							isParseError(t, text, err, iderr.ErrCharacter, 12-place)
						}
					}
				}
			})
		}},
		{"This alphabet excludes the letters I, L, O, and U to avoid confusion and abuse.", func(t *testing.T) {
			// Ruling: I, L, O and U are not aliases. A decoder rejects these letters, and says
			// where.
			eachVersion(t, func(t *testing.T, v version) {
				for _, n := range specSamples {
					if strings.ContainsAny(v.id(n).String(), "ILOUilou") {
						t.Errorf("%d is %s", n, v.id(n))
					}
				}
				for _, c := range "ILOUilou" {
					for place := range 13 {
						text := exampleText[:place] + string(c) + exampleText[place+1:]
						id, err := v.parse(text)
						isParseError(t, text, err, iderr.ErrCharacter, place)
						if id != 0 {
							t.Errorf("%s reads as %d", text, id)
						}
					}
				}
			})
		}},
		{"0123456789ABCDEFGHJKMNPQRSTVWXYZ", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				var written strings.Builder
				for value := range int64(32) {
					written.WriteByte(v.id(value).String()[12])
				}
				testkit.Same(t, written.String(), "0123456789ABCDEFGHJKMNPQRSTVWXYZ")
			})
		}},
		{"1234567890123456789 (with a maximum 13-character length in string format)", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				id, err := v.parseDecimal("1234567890123456789")
				if id != 1234567890123456789 || err != nil || v.id(id).Decimal() != "1234567890123456789" {
					t.Errorf("%d, %v, %s", id, err, v.id(id).Decimal())
				}
				if text := v.id(id).String(); specValue(text).Cmp(big.NewInt(1234567890123456789)) != 0 || len(text) != 13 {
					t.Errorf("the text is %s", text)
				}
				for _, n := range specSamples {
					decimal := strconv.FormatInt(n, 10)
					got, err := v.parseDecimal(decimal)
					if got != n || err != nil || v.id(n).Decimal() != decimal || len(v.id(n).String()) != 13 {
						t.Errorf("%d: %d, %v, %s and %s", n, got, err, v.id(n).Decimal(), v.id(n))
					}
				}
				// Ruling: a text of canonical length is read as text. Decimal of that length wants
				// to be asked for.
				text := "1234567890123"
				a, err := v.parse(text)
				b, err2 := v.parseDecimal(text)
				if specValue(text).Cmp(big.NewInt(a)) != 0 || b != 1234567890123 || err != nil || err2 != nil {
					t.Errorf("%s is the text of %d, %v, and the integer %d, %v", text, a, err, b, err2)
				}
			})
		}},
		{"incremented by a n-bit entropy in the least significant bit position (with carrying)", func(t *testing.T) {
			// In a run of 3000 numbers with plus 1, the last 10 bits carry into higher bits at
			// least twice.
			eachVersion(t, func(t *testing.T, v version) {
				clock := testkit.At(specNoon)
				ids := v.source(t, 1, clock.Now).burst(t, clock, 3000)
				carries := 0
				for i, id := range ids {
					testkit.Same(t, id, ids[0]+int64(i)*v.step)
					if i > 0 && v.randomness(id)%1024 == 0 {
						carries++
					}
				}
				if carries < 2 {
					t.Errorf("%d carries", carries)
				}
			})
			// The increments of 8 bits carry as well, and change neither the timestamp nor the
			// scalability.
			eachVersion(t, func(t *testing.T, v version) {
				clock := testkit.At(specNoon)
				ids := v.source(t, 8, clock.Now).burst(t, clock, 100)
				sameTick(t, ids, clock.Now())
				carries := 0
				for i, id := range ids[1:] {
					if r, last := v.randomness(id), v.randomness(ids[i]); r-last < 1 || r-last > 255 || (id-ids[i])%v.step != 0 {
						t.Fatalf("%s follows %s", specText(id), specText(ids[i]))
					} else if r/256 != last/256 {
						carries++
					}
				}
				if carries == 0 {
					t.Error("no carry in 100 increments")
				}
			})
		}},
		{"incremented n-bit mechanism cloud lead to an overflow error sooner", func(t *testing.T) {
			// Ruling: half of the range is left on average, divided by the mean increment. The mean
			// of n = 8 is 128. The bounds are 7 standard deviations of the mean of 128
			// milliseconds. With plus 1, a millisecond has an ID for each number from the start on.
			eachVersion(t, func(t *testing.T, v version) {
				clock := testkit.At(specNoon)
				s := v.source(t, 8, clock.Now)
				count, plusOne := 0, int64(0)
				for range 128 {
					plusOne += v.size - v.randomness(s.one(t, clock))
					count += 1 + len(s.drain(t))
				}
				if share := float64(count) / 128 / float64(v.size/128); math.Abs(share-0.5) > 0.19 {
					t.Errorf("%d IDs in 128 milliseconds", count)
				}
				if int64(count) > plusOne/64 {
					t.Errorf("%d IDs with n = 8, and %d with plus 1", count, plusOne)
				}
			})
		}},
		{"wait and create a new one till the next millisecond is coming", func(t *testing.T) {
			// Ruling: a second, context-aware call waits for the next millisecond. The time of a
			// bubble passes in waits only.
			eachVersion(t, func(t *testing.T, v version) {
				synctest.Test(t, func(t *testing.T) {
					clock := func() time.Time { return time.Now().Add(26 * 366 * 24 * time.Hour) }
					s := v.source(t, 1, clock)
					first := testkit.Must(s.try())
					v.rest(t, s, first)
					start := time.Now()
					id, err := s.next(t.Context())
					if took := time.Since(start); took != time.Millisecond || err != nil {
						t.Errorf("the wait took %v, %v", took, err)
					}
					if id/specTick != first/specTick+1 || id/specTick != stamp(clock()) {
						t.Errorf("%s is not of the millisecond after %s", specText(id), specText(first))
					}

					// If the next millisecond does not come, the wait ends with the context.
					now := clock()
					s = v.source(t, 1, func() time.Time { return now })
					if first, err = s.try(); err != nil {
						t.Fatal(err)
					}
					v.rest(t, s, first)
					ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
					defer cancel()
					if id, err := s.next(ctx); id != 0 || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("%s, %v, want the error of the context", specText(id), err)
					}
				})
			})
		}},
		{"should just return the overflow error, and leave the rest to the application", func(t *testing.T) {
			eachIncrement(t, func(t *testing.T, v version, bits int) {
				synctest.Test(t, func(t *testing.T) {
					clock := testkit.At(specNoon)
					s := v.source(t, bits, clock.Now)
					start := time.Now()
					id, err := s.try()
					for range 1 << 20 {
						if err != nil {
							break
						}
						id, err = s.try()
					}
					if id != 0 || !errors.Is(err, iderr.ErrRange) || !errors.Is(err, iderr.ErrExhausted) {
						t.Errorf("%s, %v, want the overflow error", specText(id), err)
					}
					testkit.Same(t, time.Since(start), 0)
					if id := s.one(t, clock); id/specTick != stamp(specNoon)+1 {
						t.Errorf("%s is not of the next millisecond", specText(id))
					}
					// Ruling: a clock that went backwards and an overflow are two distinct errors.
					clock.Step(-time.Millisecond)
					_, back := s.try()
					if !errors.Is(back, iderr.ErrClockBackwards) || errors.Is(back, iderr.ErrRange) || errors.Is(err, iderr.ErrClockBackwards) {
						t.Errorf("clock backwards: %v, overflow: %v", back, err)
					}
				})
			})
		}},
		{"a 13-character Base32 encoded string can contain 65 bits of information, whereas a Ulid-Flake must only contain 64 bits", func(t *testing.T) {
			testkit.Same(t, specValue("ZZZZZZZZZZZZZ").BitLen(), 65)
			eachVersion(t, func(t *testing.T, v version) {
				for _, first := range specAlphabet[16:] {
					text := string(first) + exampleText[1:]
					testkit.Same(t, specValue(text).BitLen(), 65)
					id, err := v.parse(text)
					isParseError(t, text, err, iderr.ErrRange, -1)
					if id != 0 {
						t.Errorf("%s reads as %d", text, id)
					}
				}
			})
		}},
		{"only 63 bits are actually carrying effective information", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				for bit := range 63 {
					text := v.id(1 << bit).String()
					if want := new(big.Int).Lsh(big.NewInt(1), uint(bit)); specValue(text).Cmp(want) != 0 {
						t.Errorf("bit %d is %s", bit, text)
					}
					if id, err := v.parse(specText(1 << bit)); id != 1<<bit || err != nil {
						t.Errorf("bit %d reads as %d, %v", bit, id, err)
					}
				}
				for _, first := range specAlphabet[8:16] { // bit 63 is 1
					text := string(first) + exampleText[1:]
					_, err := v.parse(text)
					isParseError(t, text, err, iderr.ErrRange, -1)
				}
			})
		}},
		{"the largest valid Ulid-Flake encoded in Base32 is 7ZZZZZZZZZZZZ", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				if id, err := v.parse("7ZZZZZZZZZZZZ"); id != math.MaxInt64 || err != nil {
					t.Errorf("%d, %v", id, err)
				}
				testkit.Same(t, v.id(v.max).String(), "7ZZZZZZZZZZZZ")
				_, err := v.parse("8000000000000")
				isParseError(t, "8000000000000", err, iderr.ErrRange, -1)
			})
		}},
		{"which corresponds to an epoch time of 8,796,093,022,207 or 2^43 - 1", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				id, err := v.parse("7ZZZZZZZZZZZZ")
				got := v.id(id).Timestamp()
				if err != nil || got != 8_796_093_022_207 || v.id(id).Time(time.Time{}).UnixMilli()-specEpoch != got {
					t.Errorf("timestamp %d, time %v, %v", got, v.id(id).Time(time.Time{}), err)
				}
			})
		}},
		{"Any attempt to decode or encode a Ulid-Flake larger than this should be rejected by all implementations and return an overflow error", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				overflows := func(what string, err error) {
					t.Helper()
					if !errors.Is(err, iderr.ErrRange) {
						t.Errorf("%s: %v, want the overflow error", what, err)
					}
				}
				for _, text := range []string{"8000000000000", "8zzzzzzzzzzzz", "FZZZZZZZZZZZZ", "G000000000000", "ZZZZZZZZZZZZZ"} {
					_, err := v.parse(text)
					overflows("Parse "+text, err)
					overflows("UnmarshalText "+text, v.variable().UnmarshalText([]byte(text)))
					overflows("UnmarshalJSON "+text, v.variable().UnmarshalJSON([]byte(`"`+text+`"`)))
					overflows("ParseAll "+text, v.parseAll([]byte(exampleText+"\n"+text+"\n")))
				}
				for _, beyond := range []uint64{1 << 63, 1<<63 + 1, 1<<64 - 1} {
					_, err := v.parseHex(fmt.Sprintf("%016x", beyond))
					overflows(fmt.Sprintf("ParseHex %x", beyond), err)
					b := binary.BigEndian.AppendUint64(nil, beyond)
					_, err = v.fromBytes(b)
					overflows(fmt.Sprintf("FromBytes %x", b), err)
					overflows(fmt.Sprintf("UnmarshalBinary %x", b), v.variable().UnmarshalBinary(b))

					n := int64(beyond) // a negative integer: the sign bit is 1
					_, err = v.fromInt64(n)
					overflows("FromInt64", err)
					overflows("Scan", v.variable().Scan(n))
					_, err = v.id(n).MarshalText()
					overflows("MarshalText", err)
					_, err = v.id(n).MarshalBinary()
					overflows("MarshalBinary", err)
					_, err = v.id(n).MarshalJSON()
					overflows("MarshalJSON", err)
					_, err = v.id(n).Value()
					overflows("Value", err)
					overflows("AppendAll", v.appendAll(n))
				}
				for _, decimal := range []string{"9223372036854775808", "9999999999999999999"} {
					_, err := v.parseDecimal(decimal)
					overflows("ParseDecimal "+decimal, err)
					overflows("UnmarshalJSON "+decimal, v.variable().UnmarshalJSON([]byte(decimal)))
				}

				// Ruling: an error about a time after the last timestamp is the overflow error as
				// well.
				clock := testkit.At(time.UnixMilli(specEpoch + specLast))
				s := v.source(t, 1, clock.Now)
				if _, err := v.fromTime(clock.Now(), time.Time{}); err != nil {
					t.Errorf("FromTime of the last timestamp: %v", err)
				}
				clock.Step(time.Millisecond)
				_, err := s.try()
				overflows("TryNext", err)
				_, err = s.next(t.Context())
				overflows("Next", err)
				_, err = v.fromTime(clock.Now(), time.Time{})
				overflows("FromTime", err)
				_, err = v.generator(ulidflake.ScalableConfig{Clock: clock.Now})
				overflows("NewGenerator", err)
			})
		}},
		{"The components are encoded as 16 octets.", func(t *testing.T) {
			// Ruling: 16 octets is an error for 8.
			eachVersion(t, func(t *testing.T, v version) {
				for _, n := range specSamples {
					if b := binaryForm(t, v, n); len(b) != 8 {
						t.Errorf("%d has %d octets", n, len(b))
					}
				}
				for n := range 20 {
					b := make([]byte, n)
					if _, err := v.fromBytes(b); n == 8 && err != nil {
						t.Errorf("8 octets: %v", err)
					} else if n != 8 {
						isParseError(t, string(b), err, iderr.ErrLength, -1)
					}
				}
			})
		}},
		{"Each component is encoded with the Most Significant Byte first (network byte order).", func(t *testing.T) {
			eachVersion(t, func(t *testing.T, v version) {
				if b := binaryForm(t, v, 0x0102030405060708); !slices.Equal(b, []byte{1, 2, 3, 4, 5, 6, 7, 8}) {
					t.Errorf("0x0102030405060708 is %x", b)
				}
				for _, n := range specSamples {
					b := big.NewInt(n).FillBytes(make([]byte, 8))
					if got := binaryForm(t, v, n); !slices.Equal(got, b) {
						t.Errorf("%#x is %x, want %x", n, got, b)
					}
					if got, err := v.fromBytes(b); got != n || err != nil {
						t.Errorf("%x reads as %#x, %v", b, got, err)
					}
				}
			})
		}},
		{"| 32_bit_int_time_high |", func(t *testing.T) { timeHigh(t, standAloneVersion) }},
		{"| 12_bit_uint_time_low | 20_bit_uint_random |", func(t *testing.T) {
			for _, n := range specSamples {
				id, b := ulidflake.ID(n), binaryForm(t, standAloneVersion, n)
				low := binary.BigEndian.Uint32(b[4:])
				if got := id.Timestamp() % 4096; got != int64(low>>20) {
					t.Errorf("%x: the low 12 bits of the timestamp are %#x", b, got)
				}
				if got := id.Randomness(); got != int(low&0xfffff) {
					t.Errorf("%x: the randomness is %#x", b, got)
				}
			}
		}},
		{"| 32_bit_int_time_high |", func(t *testing.T) { timeHigh(t, scalableVersion) }},
		{"| 12_bit_uint_time_low | 15_bit_uint_random | 5_bit_s |", func(t *testing.T) {
			for _, n := range specSamples {
				id, b := ulidflake.ScalableID(n), binaryForm(t, scalableVersion, n)
				low := binary.BigEndian.Uint32(b[4:])
				if got := id.Timestamp() % 4096; got != int64(low>>20) {
					t.Errorf("%x: the low 12 bits of the timestamp are %#x", b, got)
				}
				if got := id.Randomness(); got != int(low>>5&0x7fff) {
					t.Errorf("%x: the randomness is %#x", b, got)
				}
				if got := id.Scalability(); got != int(low&0x1f) {
					t.Errorf("%x: the scalability is %#x", b, got)
				}
			}
		}},
	}
	for _, row := range rows {
		t.Run(slug(row.text), func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("the specification says: %s", row.text)
				}
			}()
			row.check(t)
		})
	}
}

// No machine can check the following statements of the text.
//
//	"Inspired by ULID and Twitter's Snowflake."                                       motivation
//	"compact and efficient identifier system suitable for slow-small-season-business" motivation
//	"These identifiers are optimized for environments where"                          motivation
//	"Average ID generation rate: 1 ID per second."                                    describes a user
//	"Single database setup: Typically no distributed system, single DB use."          describes a user
//	"the number of pod replicas that used can still be counted with fingers"          describes a user
//	"Prefer shorter and more readable strings for user interactions."                 preference
//	"Prioritize difficulty in guessing IDs over strict monotonic order."              preference
//	"for better efficiency and readability"                                           opinion
//	"Implementations in all kinds of languages"                                       other projects
//	"From ourselves and the community!"                                               other projects
//	"(not much)"                                                                      opinion
//	"to avoid confusion and abuse"                                                    motivation
//	"it should be properly handled in the application"                                advice to users
//	"rejected by all implementations"                                                 other projects
//	"Acknowledgments"                                                                 credits
//	"designed for slow-small-season-business"                                         motivation
//	"License"                                                                         licence
