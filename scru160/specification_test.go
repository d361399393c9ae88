package scru160_test

import (
	"bytes"
	"context"
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
)

// TestSpecification checks the sentences of the specification that no other test of the package
// checks. Each row has the words of the text.
func TestSpecification(t *testing.T) {
	const micro = scru160.CounterMicroseconds
	type config = scru160.Config
	at := time.Date(2026, 7, 1, 12, 0, 0, 123_999_789, time.UTC)
	generator := func(t *testing.T, c config, clock *testkit.Clock) *scru160.Generator {
		t.Helper()
		c.Clock = clock.Now
		return testkit.Must(scru160.NewGenerator(c))
	}

	for _, row := range []struct {
		text  string
		check func(t *testing.T)
	}{
		{"Nearly 111-bit randomness for collision resistance (default configuration)", func(t *testing.T) {
			// Other tests look at each field. Here no bit is a copy or a sum of other bits, in any
			// fields.
			const n = 400
			for _, v := range []struct {
				config config
				first  int // of the bits after the timestamp and the microsecond
				want   int
			}{
				{config{}, 48, 111},
				{config{SystemRandom: true}, 48, 111},
				{config{NodeBits: 16, NodeID: 0xa5c3}, 48, 95},
				{config{ExtraCounterBits: 16}, 48, 110}, // the bit 19 of the counter is clear, too
				{config{Counter: micro, ExtraCounterBits: 4}, 58, 101},
			} {
				clock := testkit.At(at.Truncate(time.Millisecond))
				gen := generator(t, v.config, clock)
				var ids []scru160.ID
				for range n {
					ids = append(ids, testkit.Must(gen.TryNext()))
					clock.Step(time.Millisecond)
				}
				if got := dimension(ids, v.first, 159); got != v.want {
					t.Errorf("%+v: %d random bits, want %d", v.config, got, v.want)
				}
			}
			var made []scru160.ID
			for range n {
				made = append(made, testkit.Must(scru160.FromTime(at)))
			}
			testkit.Same(t, dimension(made, 0, 159), 111)
		}},
		{"Examples in the default base32hex encoding", func(t *testing.T) {
			for text, counter := range map[string]int{
				"05TTUP1HNCPNH30VEK64KDQT9BSNU4C4": 0x3378,
				"05TTUP1HNCPNIB63R8IN5V2L3VFGNFET": 0x3379,
			} {
				id := testkit.Must(scru160.Parse(text))
				v, _ := new(big.Int).SetString(strings.ToLower(text), 32)
				testkit.Same(t, suite.Value(id).Cmp(v), 0)
				testkit.Same(t, id.String(), text)
				testkit.Same(t, id.Time(), time.Date(2021, 9, 13, 13, 41, 30, 683_000_000, time.UTC))
				testkit.Same(t, id.Counter(), counter)
			}
		}},
		{"The base32hex and hex representations cannot be mixed when encoded IDs are sorted lexicographically", func(t *testing.T) {
			// CompareText compares the letters, and does not decode.
			earlier := scru160.MustParse("017bdf6431bb33750751eb63beb3c3f8c5969d86")
			later := scru160.MustParse("017bdf6431bb337662412e6a5758890735c33c2b")
			testkit.Same(t, earlier.Compare(later), -1)
			testkit.Same(t, scru160.CompareText(earlier.String(), later.Hex()), 1)
		}},
		{"SHOULD use a cryptographically strong random or pseudorandom number generator to generate unpredictable IDs", func(t *testing.T) {
			// With a known source behind crypto/rand, all bits are known: no bit has another
			// source.
			made := func(seed uint64) (ids []scru160.ID) {
				t.Run("seeded", func(t *testing.T) {
					cryptotest.SetGlobalRandom(t, seed)
					for _, c := range []config{{}, {Counter: micro}, {ExtraCounterBits: 4}, {NodeBits: 5}} {
						c.SystemRandom = true
						gen := generator(t, c, testkit.At(at))
						ids = append(ids, testkit.Must(gen.TryNext()), testkit.Must(gen.TryNext()))
						ids = append(ids, make([]scru160.ID, 3)...)
						if n, err := gen.Fill(context.Background(), ids[len(ids)-3:]); n != 3 || err != nil {
							t.Fatal(n, err)
						}
					}
					ids = append(ids, testkit.Must(scru160.FromTime(at)))
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
				id := testkit.Must(generator(t, config{Start: scru160.StartBits(0)}, testkit.At(at)).TryNext())
				seen[string(id[10:])] = true
			}
			testkit.Same(t, len(seen), 500)
		}},
		{"Available unix timestamps are imprecise or do not increase monotonically", func(t *testing.T) {
			// Ruling: "Clock went backwards" and "exhausted" are two errors. If the clock is behind
			// an exhausted tick, the error is about the clock.
			clock := testkit.At(at)
			gen := generator(t, config{}, clock)
			var err error
			for err == nil {
				_, err = gen.TryNext()
			}
			if !errors.Is(err, iderr.ErrExhausted) || errors.Is(err, iderr.ErrClockBackwards) {
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

// dimension returns the number of independent bits among the bits from first to last, where bit 0 is
// the most significant bit. Constant bits do not count, nor do bits that are a sum of other bits and
// a constant. A fair source of n bits gives less than n with a probability below 2^(n+1-len(ids)).
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
