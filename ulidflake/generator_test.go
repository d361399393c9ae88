package ulidflake_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

// least is the number of IDs of a millisecond whose randomness starts at the top.
const least = 1

func generation(name string, c ulidflake.Config) testkit.Generation[ulidflake.ID] {
	epoch := c.Epoch
	if epoch.IsZero() {
		epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return testkit.Generation[ulidflake.ID]{
		Name: name, Format: "ulidflake",
		New: func(s testkit.Setup) (testkit.Generator[ulidflake.ID], error) {
			c := c
			c.Clock, c.MaxBackward, c.Leased = s.Clock, s.MaxBackward, s.Leased
			return ulidflake.NewGenerator(c)
		},
		Zero:  func() testkit.Generator[ulidflake.ID] { return new(ulidflake.Generator) },
		Unit:  time.Millisecond,
		First: epoch.Add(time.Millisecond), Last: time.UnixMilli(epoch.UnixMilli() + 1<<43 - 1).UTC(),
		Time:  func(id ulidflake.ID) time.Time { return id.Time(c.Epoch) },
		Least: least, Most: 1 << 20, Short: c.IncrementBits != 1, Exhausted: iderr.ErrRange,
	}
}

func scalableGeneration(name string, c ulidflake.ScalableConfig) testkit.Generation[ulidflake.ScalableID] {
	g := generation("", ulidflake.Config{Epoch: c.Epoch})
	return testkit.Generation[ulidflake.ScalableID]{
		Name: name, Format: "ulidflake-scalable",
		New: func(s testkit.Setup) (testkit.Generator[ulidflake.ScalableID], error) {
			c := c
			c.Clock, c.MaxBackward = s.Clock, s.MaxBackward
			if s.Leased {
				c.Leased, c.Scalability = true, 0
			}
			return ulidflake.NewScalableGenerator(c)
		},
		Zero:  func() testkit.Generator[ulidflake.ScalableID] { return new(ulidflake.ScalableGenerator) },
		Unit:  g.Unit,
		First: g.First, Last: g.Last,
		Time:  func(id ulidflake.ScalableID) time.Time { return id.Time(c.Epoch) },
		Least: least, Most: 1 << 15, Short: c.IncrementBits != 1, Exhausted: iderr.ErrRange,
	}
}

func TestGenerator(t *testing.T) {
	testkit.Run(t, []testkit.Generation[ulidflake.ID]{
		generation("default", ulidflake.Config{}),
		generation("by 1", ulidflake.Config{IncrementBits: 1}),
		generation("by up to 31", ulidflake.Config{IncrementBits: 5, Epoch: time.UnixMilli(1500000000001)}),
		generation("by up to 2^20-1", ulidflake.Config{IncrementBits: 20}),
	})
}

func TestScalableGenerator(t *testing.T) {
	testkit.Run(t, []testkit.Generation[ulidflake.ScalableID]{
		scalableGeneration("default", ulidflake.ScalableConfig{}),
		scalableGeneration("by 1", ulidflake.ScalableConfig{IncrementBits: 1, Scalability: 31}),
		scalableGeneration("by up to 32767", ulidflake.ScalableConfig{IncrementBits: 15, Scalability: 16}),
	})
}

// The randomness of a millisecond starts at any value, with equal chances.
func TestStarts(t *testing.T) {
	clock := testkit.At(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))
	gen := testkit.Must(ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 4, Clock: clock.Now}))
	scaled := testkit.Must(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Scalability: 21, Clock: clock.Now}))
	var starts, scaledStarts, made []uint64
	for range 1 << 15 {
		clock.Step(time.Millisecond)
		id, err := gen.TryNext()
		sid, err2 := scaled.TryNext()
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		testkit.Same(t, sid.Scalability(), 21)
		starts = append(starts, uint64(id.Randomness()))
		scaledStarts = append(scaledStarts, uint64(sid.Randomness()))
		id, err = ulidflake.FromTime(clock.Now(), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, uint64(id.Randomness()))
	}
	for name, fault := range map[string]string{
		"starts": testkit.Random(starts, 20), "scalable starts": testkit.Random(scaledStarts, 15), "FromTime": testkit.Random(made, 20),
	} {
		if fault != "" {
			t.Errorf("%s: %s", name, fault)
		}
	}
}

// Increments are in [1, 2^n), with equal chances.
func TestIncrements(t *testing.T) {
	for _, n := range []int{0, 1, 2, 3, 6} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			clock := testkit.At(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))
			gen := testkit.Must(ulidflake.NewGenerator(ulidflake.Config{IncrementBits: n, Clock: clock.Now}))
			top := 1 << n
			if n == 0 { // the default is 8
				top = 1 << 8
			}
			classes := make([]int, top)
			var last ulidflake.ID
			for count := 0; count < 30_000; {
				id, err := gen.TryNext()
				if errors.Is(err, iderr.ErrRange) {
					// A step from the last randomness can pass the top.
					if left := ulidflake.MaxRandomness - last.Randomness(); left >= top-1 {
						t.Fatalf("overflow at randomness %d with steps below %d", last.Randomness(), top)
					}
					clock.Step(time.Millisecond)
					last = 0
					continue
				} else if err != nil {
					t.Fatal(err)
				}
				if last != 0 {
					step := int(id - last)
					if step < 1 || step >= top {
						t.Fatalf("%v follows %v, a step of %d", id, last, step)
					}
					classes[step]++
					count++
				}
				last = id
			}
			if len(classes) > 2 {
				testkit.Same(t, testkit.Uniform(classes[1:]), "")
			}
		})
	}
}

func TestConfigErrors(t *testing.T) {
	standAlone := func(c ulidflake.Config) error {
		gen, err := ulidflake.NewGenerator(c)
		if (gen == nil) != (err != nil) {
			t.Errorf("%v: %v, %v", c, gen, err)
		}
		return err
	}
	scalable := func(c ulidflake.ScalableConfig) error {
		gen, err := ulidflake.NewScalableGenerator(c)
		if (gen == nil) != (err != nil) {
			t.Errorf("%v: %v, %v", c, gen, err)
		}
		return err
	}
	type one = ulidflake.Config
	type two = ulidflake.ScalableConfig
	testkit.IsConfigError(t, standAlone(one{IncrementBits: -1}), "ulidflake", "IncrementBits", "-1 is not in 0 to 20")
	testkit.IsConfigError(t, standAlone(one{IncrementBits: 21}), "ulidflake", "IncrementBits", "21 is not in 0 to 20")
	testkit.IsConfigError(t, standAlone(one{IncrementBits: math.MaxInt}), "ulidflake", "IncrementBits", "0 to 20")
	testkit.IsConfigError(t, standAlone(one{Epoch: time.Unix(0, 1)}), "ulidflake", "Epoch", "whole milliseconds")
	testkit.IsConfigError(t, scalable(two{IncrementBits: 16}), "ulidflake-scalable", "IncrementBits", "16 is not in 0 to 15")
	testkit.IsConfigError(t, scalable(two{IncrementBits: -1}), "ulidflake-scalable", "IncrementBits", "0 to 15")
	testkit.IsConfigError(t, scalable(two{Scalability: -1}), "ulidflake-scalable", "Scalability", "-1 is not in 0 to 31")
	testkit.IsConfigError(t, scalable(two{Scalability: 32}), "ulidflake-scalable", "Scalability", "32 is not in 0 to 31")
	testkit.IsConfigError(t, scalable(two{Epoch: time.Unix(0, 1)}), "ulidflake-scalable", "Epoch", "whole milliseconds")
	testkit.Epochs(t, "ulidflake", 43, func(epoch time.Time, clock func() time.Time) error {
		return standAlone(one{Epoch: epoch, Clock: clock})
	})
	testkit.Epochs(t, "ulidflake-scalable", 43, func(epoch time.Time, clock func() time.Time) error {
		return scalable(two{Epoch: epoch, Clock: clock})
	})
}

// "Any attempt to decode or encode": a time after the last timestamp is the overflow error, and a time before
// the epoch is not. TestGenerator checks the generators, and TestVectors and TestRejects what is read.
func TestTimes(t *testing.T) {
	testkit.Times(t, testkit.Timed[ulidflake.ID]{
		Format: "ulidflake", Bits: 43, DefaultEpoch: ulidflake.DefaultEpoch(), Compare: ulidflake.ID.Compare,
		FromTime: ulidflake.FromTime, First: ulidflake.First, Last: ulidflake.Last,
		Time: ulidflake.ID.Time, Timestamp: ulidflake.ID.Timestamp, Min: 1, Max: ulidflake.Max,
	})
	testkit.Times(t, testkit.Timed[ulidflake.ScalableID]{
		Format: "ulidflake-scalable", Bits: 43, DefaultEpoch: ulidflake.DefaultEpoch(), Compare: ulidflake.ScalableID.Compare,
		FromTime: func(t, epoch time.Time) (ulidflake.ScalableID, error) {
			return ulidflake.ScalableFromTime(t, epoch, 31)
		},
		First: ulidflake.FirstScalable, Last: ulidflake.LastScalable,
		Time: ulidflake.ScalableID.Time, Timestamp: ulidflake.ScalableID.Timestamp, Min: 1, Max: ulidflake.MaxScalable,
	})
	for _, scalability := range []int{-1, 32, math.MaxInt} {
		_, err := ulidflake.ScalableFromTime(time.Now(), time.Time{}, scalability)
		testkit.IsConfigError(t, err, "ulidflake-scalable", "Scalability", "0 to 31")
	}
}

// FromTime makes no zero ID, though the randomness of other IDs can be 0.
func TestFromTimeZero(t *testing.T) {
	zeros := 0
	for range 12 << 15 { // by chance, one run in 160 000 has no 0
		id, err := ulidflake.ScalableFromTime(ulidflake.DefaultEpoch(), time.Time{}, 0)
		if err != nil || id.IsZero() {
			t.Fatalf("%v, %v", id, err)
		}
		at := testkit.Must(ulidflake.ScalableFromTime(ulidflake.DefaultEpoch(), time.Time{}, 31))
		if at.Randomness() == 0 {
			zeros++
		}
	}
	if zeros == 0 {
		t.Error("a randomness of 0 is never drawn where it may be")
	}
}

// A generator knows its epoch, and a scalable one its scalability.
func TestKnows(t *testing.T) {
	for _, epoch := range []time.Time{ulidflake.DefaultEpoch(), time.UnixMilli(0), time.Date(2020, 1, 1, 0, 0, 0, 0, time.FixedZone("", -7200))} {
		testkit.Bounds(t, testkit.Must(ulidflake.NewGenerator(ulidflake.Config{Epoch: epoch})), epoch, 43, 20)
		gen := testkit.Must(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Epoch: epoch, Scalability: 31}))
		testkit.Bounds(t, gen, epoch, 43, 20)
		testkit.Same(t, gen.Scalability(), 31)
	}
	testkit.Same(t, new(ulidflake.ScalableGenerator).Scalability(), 0)
}
