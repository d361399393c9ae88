package snowflakesi_test

import (
	"context"
	"errors"
	"math/big"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

// TestSpecification has the statements of the published text, "Snowflake-SI Algorithm", that no
// other test checks, in the order of the text. The layouts, the encodings and the rest are checked
// by the vectors, by the models of testkit and by the other tests of the package.
func TestSpecification(t *testing.T) {
	const epoch2021 = snowflakesi.DefaultEpochMilli
	for _, row := range []struct {
		text  string
		check func(t *testing.T)
	}{
		{"the low 8-bits of an incremental-sequence.", func(t *testing.T) {
			// Ruling: the UIN keeps counting across milliseconds while at least half of the
			// sequence is left, and begins at 0 otherwise.
			clock := testkit.At(time.UnixMilli(epoch2021 + 1))
			gen := testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{Clock: clock.Now}))
			for i := range int64(600) { // slow IDs use the lower half in turn
				testkit.Call(gen.TryNext()).Gives(t, snowflakesi.ID((i+1)<<13|i%128))
				clock.Step(time.Millisecond)
			}
			random := rand.New(rand.NewPCG(1, 2))
			mab, last := int64(601), int64(599%128)
			for range 500 {
				want := last + 1
				if want >= 128 {
					want = 0
				}
				for range 1 + random.IntN(int(256-want)) {
					testkit.Call(gen.TryNext()).Gives(t, snowflakesi.ID(mab<<13|want))
					last = want
					want++
				}
				step := 1 + random.Int64N(3)
				mab += step
				clock.Step(time.Duration(step) * time.Millisecond)
			}
		}},
		{"the capacity 256 UUIDs per millisecond", func(t *testing.T) {
			// A caller of Next in an exhausted millisecond waits for the next millisecond.
			synctest.Test(t, func(t *testing.T) {
				began := time.UnixMilli(epoch2021 + 7000)
				time.Sleep(time.Until(began)) // a bubble begins in 2000
				gen := testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{Sequence: snowflakesi.SequenceResets}))
				for i := range int64(1000) {
					testkit.Call(gen.Next(context.Background())).Gives(t, snowflakesi.ID((7000+i/256)<<13|i%256))
					testkit.Same(t, time.Since(began), time.Duration(i/256)*time.Millisecond)
				}
			})
		}},
		{"the MAB must be an incremental sequence", func(t *testing.T) {
			// Ruling: Next waits for a clock that is up to MaxBackward behind.
			synctest.Test(t, func(t *testing.T) {
				time.Sleep(time.Until(time.UnixMilli(epoch2021 + 60_000)))
				var late time.Duration
				gen := testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{
					MaxBackward: 3 * time.Second,
					Clock:       func() time.Time { return time.Now().Add(-late) },
				}))
				testkit.Call(gen.TryNext()).Gives(t, 60_000<<13)

				late = 3 * time.Second
				before := time.Now()
				testkit.Call(gen.Next(context.Background())).Gives(t, 60_000<<13|1)
				testkit.Same(t, time.Since(before), 3*time.Second)

				late += 3*time.Second + time.Millisecond
				before = time.Now()
				_, err := gen.Next(context.Background())
				if e, ok := errors.AsType[*iderr.ClockError](err); !ok || e.By != 3*time.Second+time.Millisecond {
					t.Errorf("Next with the clock further behind: %v", err)
				}
				testkit.Same(t, time.Since(before), 0)
			})
		}},
		{"the epoch is unchangeable after it's determined.", func(t *testing.T) {
			// Generators with different epochs share no pool of machine IDs.
			names := make(map[string]bool)
			for i := range int64(3) {
				epoch := time.UnixMilli(1700000000000 + i).UTC()
				gen := testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{Epoch: epoch, Leased: true}))
				pool := testkit.Must(gen.ForLease().Pool())
				names[pool.Name] = true
				testkit.Same(t, pool.Layout.Epoch, epoch)
			}
			testkit.Same(t, len(names), 3)
		}},
		{"2147483647000 - BaseClock < Math.pow(2, 40).", func(t *testing.T) {
			// "2038-01-19T03:14:07Z, 0x7FFFFFFF, and 2147483647000 in milliseconds."
			end := time.Date(2038, 1, 19, 3, 14, 7, 0, time.UTC)
			testkit.Same(t, end.Unix(), 0x7FFFFFFF)
			testkit.Same(t, end.UnixMilli(), 2147483647000)
			// "It means BaseClock > 1047972019224": "1047972019224 stand for 2003-03-18T07:20:19.224Z."
			testkit.Same(t, time.UnixMilli(1047972019224).UTC(), time.Date(2003, 3, 18, 7, 20, 19, 224e6, time.UTC))
			limit := new(big.Int).Exp(big.NewInt(2), big.NewInt(40), nil)
			for _, base := range []int64{-1, 0, 1, 1e12, 1047972019223, 1047972019224, 1047972019225, 1047972019226, epoch2021, 2147483646999} {
				meets := new(big.Int).Sub(big.NewInt(2147483647000), big.NewInt(base)).Cmp(limit) < 0
				epoch := time.UnixMilli(base)
				for machineBits := range 14 { // the bound holds for each layout with 40 bits of MAB
					l := ofWidths(40, machineBits)
					gen, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: l, Epoch: epoch, Clock: testkit.At(end).Now})
					_, fromErr := snowflakesi.FromTime(l, end, epoch, 0, 0)
					_, firstErr := snowflakesi.First(l, end, epoch)
					_, lastErr := snowflakesi.Last(l, end, epoch)
					for _, err := range []error{err, fromErr, firstErr, lastErr} {
						if !meets {
							testkit.IsConfigError(t, err, "snowflakesi", "Epoch", "after 2003-03-18T07:20:19.224Z")
						} else if err != nil {
							t.Errorf("BaseClock %d: %v", base, err)
						}
					}
					if meets {
						testkit.Call(gen.TryNext()).Gives(t, snowflakesi.ID(2147483647000-base)<<13)
					}
				}
				// "It's a 41-bits integer": "If the bit-width of MAB is set to 41-bits", "the epoch could be more earlier".
				gen, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: ofWidths(41, 5), Epoch: epoch, Clock: testkit.At(end).Now})
				if err != nil {
					t.Fatalf("BaseClock %d with 41 bits: %v", base, err)
				}
				testkit.Call(gen.TryNext()).Gives(t, snowflakesi.ID(2147483647000-base)<<12)
			}
		}},
	} {
		t.Run(row.text, row.check)
	}
}
