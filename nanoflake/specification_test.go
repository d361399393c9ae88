package nanoflake_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

// TestSpecification has the statements of the specification of Nanoflakes that no other test
// checks, in the order of the text. The layout, the encodings and the rest are checked by the
// vectors, by the models of testkit and by the other tests of the package.
func TestSpecification(t *testing.T) {
	for _, row := range []struct {
		text  string
		check func(t *testing.T)
	}{
		{"The generator ID can be any number between 0 and 1023 (inclusive)", func(t *testing.T) {
			at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
			timestamp := at.UnixMilli() - nanoflake.DefaultEpochMilli
			for n := range 1024 {
				gen := generator(t, nanoflake.Config{GeneratorID: n, Clock: testkit.At(at).Now})
				want := nanoflake.ID(timestamp*4_194_304 + int64(n)*4096)
				testkit.Same(t, gen.GeneratorID(), n)
				testkit.Call(gen.TryNext()).Gives(t, want)
				testkit.Call(nanoflake.FromTime(at, time.Time{}, n, 4095)).Gives(t, want+4095)
			}
			// Ruling: a generator ID out of range is an error at construction.
			for _, n := range []int{-1, 1024, 2048, math.MinInt, math.MaxInt} {
				gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: n, Clock: testkit.At(at).Now})
				testkit.IsConfigError(t, err, "nanoflake", "GeneratorID", fmt.Sprint(n, " is not in 0 to 1023"))
				if gen != nil {
					t.Errorf("generator ID %d: a generator beside an error", n)
				}
				id, err := nanoflake.FromTime(at, time.Time{}, n, 0)
				testkit.IsConfigError(t, err, "nanoflake", "GeneratorID", fmt.Sprint(n, " is not in 0 to 1023"))
				testkit.Same(t, id, 0)
			}
		}},
		{"Increment the sequence number, checking for a 12-bit overflow", func(t *testing.T) {
			for _, sequence := range []int{-1, 4096, 8192} {
				id, err := nanoflake.FromTime(time.Now(), time.Time{}, 6, sequence)
				testkit.IsConfigError(t, err, "nanoflake", "sequence", fmt.Sprint(sequence, " is not in 0 to 4095"))
				testkit.Same(t, id, 0)
			}
		}},
		{"if the sequence number overflows, the generator will wait until the next millisecond", bubble(func(t *testing.T) {
			time.Sleep(300 * time.Microsecond) // into a millisecond
			gen := generator(t, nanoflake.Config{GeneratorID: 9, Epoch: time.UnixMilli(0)})
			first := nanoflake.ID(time.Now().UnixMilli()*4_194_304 + 9*4096)
			for sequence := range nanoflake.ID(4096) {
				testkit.Call(gen.Next(t.Context())).Gives(t, first+sequence)
			}
			began := time.Now()
			testkit.Call(gen.Next(t.Context())).Gives(t, first+4_194_304)
			testkit.Same(t, time.Since(began), 700*time.Microsecond)
		})},
		{"wait until the system clock catches up to the current time, or throw an exception", bubble(func(t *testing.T) {
			time.Sleep(300 * time.Microsecond) // the wait ends at the start of the last ID's millisecond
			for _, v := range []struct {
				longest, by time.Duration
				waits       bool
			}{
				{0, time.Millisecond, true},
				{0, 5 * time.Second, true},
				{0, 5001 * time.Millisecond, false},
				{10 * time.Second, 10 * time.Second, true},
				{10 * time.Second, 10_001 * time.Millisecond, false},
				{-1, time.Millisecond, false},
			} {
				var late time.Duration
				clock := func() time.Time { return time.Now().Add(-late) }
				gen := generator(t, nanoflake.Config{Epoch: time.UnixMilli(0), Clock: clock, MaxBackward: v.longest})
				within := time.Duration(time.Now().Nanosecond()) % time.Millisecond
				before := testkit.Must(gen.TryNext())
				late = v.by
				began := time.Now()
				id, err := gen.Next(t.Context())
				waited := time.Since(began)
				e, behind := errors.AsType[*iderr.ClockError](err)
				switch {
				case v.waits && (err != nil || id != before+1 || waited != v.by-within):
					t.Errorf("MaxBackward %v, %v behind: %d, %v after %v", v.longest, v.by, int64(id), err, waited)
				case !v.waits && (!behind || e.By != v.by || id != 0 || waited != 0):
					t.Errorf("MaxBackward %v, %v behind: %d, %v after %v, want a ClockError at once", v.longest, v.by, int64(id), err, waited)
				}
			}
		})},
	} {
		t.Run(row.text, row.check)
	}
}

// generator returns a new generator.
func generator(t *testing.T, c nanoflake.Config) *nanoflake.Generator {
	t.Helper()
	return testkit.Must(nanoflake.NewGenerator(c))
}

// bubble returns a check that runs in a bubble of testing/synctest, where waits take no time.
func bubble(check func(t *testing.T)) func(t *testing.T) {
	return func(t *testing.T) { synctest.Test(t, check) }
}
