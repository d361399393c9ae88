package ulidflake_test

import (
	"context"
	"errors"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

// A version is the stand-alone or the scalable version. IDs are plain integers here.
type version struct {
	name string
	size int64 // number of values of the randomness
	step int64 // an increment of 1 of the randomness, as a difference of IDs

	generator    func(incrementBits int, clock func() time.Time) source
	parse        func(string) (int64, error)
	parseDecimal func(string) (int64, error)
	text         func(int64) string
	decimal      func(int64) string
}

// A source is a generator of either version.
type source struct {
	try  func() (int64, error)
	next func(context.Context) (int64, error)
	fill func(context.Context, []int64) (int, error)
}

var versions = []version{
	{
		name: "stand-alone", size: 1 << 20, step: 1,
		generator: func(bits int, clock func() time.Time) source {
			return sourceOf(testkit.Must(ulidflake.NewGenerator(ulidflake.Config{IncrementBits: bits, Clock: clock})))
		},
		parse: plain(ulidflake.Parse), parseDecimal: plain(ulidflake.ParseDecimal),
		text: textOf[ulidflake.ID], decimal: func(v int64) string { return ulidflake.ID(v).Decimal() },
	},
	{
		name: "scalable", size: 1 << 15, step: 1 << 5,
		generator: func(bits int, clock func() time.Time) source {
			return sourceOf(testkit.Must(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Scalability: 21, IncrementBits: bits, Clock: clock})))
		},
		parse: plain(ulidflake.ParseScalable), parseDecimal: plain(ulidflake.ParseScalableDecimal),
		text: textOf[ulidflake.ScalableID], decimal: func(v int64) string { return ulidflake.ScalableID(v).Decimal() },
	},
}

// plain returns a function of the package with an integer in place of an ID.
func plain[A any, T ~int64](f func(A) (T, error)) func(A) (int64, error) {
	return func(a A) (int64, error) {
		id, err := f(a)
		return int64(id), err
	}
}

func textOf[T interface {
	~int64
	String() string
}](v int64) string {
	return T(v).String()
}

func sourceOf[T ~int64](g testkit.Generator[T]) source {
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
	}
}

// randomness returns the random part of an ID.
func (v version) randomness(id int64) int64 { return id % (1 << 20) / v.step }

// one returns the first ID of the next millisecond.
func (s source) one(clock *testkit.Clock) int64 {
	clock.Step(time.Millisecond)
	return testkit.Must(s.try())
}

// rest returns the IDs that follow the first ID of a millisecond with plus 1: an ID for each number
// up to the largest randomness. rest fails the test unless the overflow error follows.
func (v version) rest(t *testing.T, s source, first int64) []int64 {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second) // Fill waits if IDs are missing
	defer cancel()
	ids := make([]int64, v.size-1-v.randomness(first))
	if n, err := s.fill(ctx, ids); n != len(ids) || err != nil {
		t.Fatalf("%d IDs follow %s, want %d, %v", n, v.text(first), len(ids), err)
	}
	testkit.Call(s.try()).Fails(t, iderr.ErrRange)
	return ids
}

// capacity draws milliseconds with plus 1 until a millisecond has room for least IDs, and takes all
// IDs of this millisecond: each number from the start to the top, once. The chance of a millisecond
// is above 2 %, so 2000 milliseconds fail less than once in 10^17 runs.
//
// Ruling: "over 1 million" and "over 32 thousands" are the sizes of the ranges. From a uniform start
// half of the range is left on average, to 7 standard deviations of the mean of 4096 numbers.
func (v version) capacity(t *testing.T, least int64) {
	clock := testkit.At(noon)
	s := v.generator(1, clock.Now)
	var room int64
	for range 4096 {
		room += v.size - v.randomness(s.one(clock))
	}
	if share := float64(room) / 4096 / float64(v.size); math.Abs(share-0.5) > 0.032 {
		t.Errorf("%.3f of the values are left on average, want 0.5", share)
	}
	for range 2000 {
		first := s.one(clock)
		if v.size-v.randomness(first) < least {
			continue
		}
		for i, id := range v.rest(t, s, first) {
			if want := first + int64(i+1)*v.step; id != want {
				t.Fatalf("%s after %d IDs, want %s", v.text(id), i+1, v.text(want))
			}
		}
		return
	}
	t.Errorf("no millisecond has room for %d IDs", least)
}

// noon is the time of the rows.
var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// TestSpecification has the statements of the specification of Ulid-Flake that no other test checks,
// in the order of the text. The layout, the encodings and the rest are checked by the vectors, by the
// models of testkit and by the other tests of the package.
func TestSpecification(t *testing.T) {
	standAlone, scalable := versions[0], versions[1]
	for _, row := range []struct {
		name  string
		text  string // the words of the specification
		check func(t *testing.T)
	}{
		{"capacity", "Over 1 million unique Ulid-Flakes per millisecond with minimum +1 increment for stand-alone version", func(t *testing.T) {
			standAlone.capacity(t, 1_000_001)
		}},
		{"capacity-scalable", "Over 32 thousands unique Ulid-Flakes per millisecond with minimum +1 increment for scalable version", func(t *testing.T) {
			scalable.capacity(t, 32_001)
		}},
		{"increments", "Prefer +n entropy rather than +1 for randomness incrementation, adding difficulty in guessing IDs", func(t *testing.T) {
			// Ruling: n is 8 by default, and 255 increments are possible after each ID. In 20 000 times,
			// each is drawn 78 times on average, and fewer than 20 or more than 160 times less than
			// once in 10^11 runs. TestIncrements has the stand-alone version.
			for _, bits := range []int{0, 8} {
				clock := testkit.At(noon)
				s := scalable.generator(bits, clock.Now)
				var drawn [256]int
				for count := 0; count < 20_000; clock.Step(time.Millisecond) {
					last := testkit.Must(s.try())
					for range 50 {
						id, err := s.try()
						if errors.Is(err, iderr.ErrRange) {
							break
						} else if err != nil {
							t.Fatal(err)
						}
						step := (id - last) / scalable.step
						if step < 1 || step > 255 || (id-last)%scalable.step != 0 {
							t.Fatalf("IncrementBits %d: %s follows %s", bits, scalable.text(id), scalable.text(last))
						}
						drawn[step]++
						count++
						last = id
					}
				}
				if least, most := slices.Min(drawn[1:]), slices.Max(drawn[1:]); least < 20 || most > 160 {
					t.Errorf("IncrementBits %d: increments are drawn %d to %d times in 20 000", bits, least, most)
				}
			}
		}},
		{"decimal", "1234567890123456789 (with a maximum 13-character length in string format)", eachVersion(func(t *testing.T, v version) {
			const example = 1234567890123456789
			testkit.Call(v.parseDecimal("1234567890123456789")).Gives(t, example)
			testkit.Same(t, v.decimal(example), "1234567890123456789")
			text := v.text(example)
			testkit.Same(t, len(text), 13)
			testkit.Same(t, valueOf(text), example)
			// Ruling: a text of canonical length is read as text. Decimal of that length wants to be
			// asked for.
			testkit.Call(v.parse("1234567890123")).Gives(t, valueOf("1234567890123"))
			testkit.Call(v.parseDecimal("1234567890123")).Gives(t, 1234567890123)
		})},
		{"wait", "wait and create a new one till the next millisecond is coming", eachVersion(func(t *testing.T, v version) {
			// Ruling: a second, context-aware call waits for the next millisecond. The time of a
			// bubble passes in waits only.
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(noon)) // a bubble begins in 2000
				s := v.generator(1, nil)
				first := testkit.Must(s.try())
				v.rest(t, s, first)
				start := time.Now()
				id := testkit.Must(s.next(t.Context()))
				testkit.Same(t, time.Since(start), time.Millisecond)
				testkit.Same(t, id>>20, first>>20+1)
				testkit.Same(t, id>>20, time.Now().UnixMilli()-ulidflake.DefaultEpochMilli)
			})
		})},
	} {
		t.Run(row.name, func(t *testing.T) {
			defer func() {
				if t.Failed() {
					t.Logf("the specification says: %s", row.text)
				}
			}()
			row.check(t)
		})
	}
}

// eachVersion returns a check for the stand-alone and for the scalable version.
func eachVersion(check func(t *testing.T, v version)) func(t *testing.T) {
	return func(t *testing.T) {
		for _, v := range versions {
			t.Run(v.name, func(t *testing.T) { check(t, v) })
		}
	}
}

// valueOf returns the integer of a text, one multiplication a character.
func valueOf(text string) int64 {
	v := new(big.Int)
	for _, c := range text {
		v.Mul(v, big.NewInt(32))
		v.Add(v, big.NewInt(int64(strings.IndexRune("0123456789ABCDEFGHJKMNPQRSTVWXYZ", c))))
	}
	return v.Int64()
}
