package nanoflake_test

import (
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

// generation returns what a configuration promises.
func generation(name string, c nanoflake.Config) testkit.Generation[nanoflake.ID] {
	epoch := c.Epoch
	if epoch.IsZero() {
		epoch = time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	return testkit.Generation[nanoflake.ID]{
		Name: name, Format: "nanoflake",
		New: func(s testkit.Setup) (testkit.Generator[nanoflake.ID], error) {
			c := c
			c.Clock, c.MaxBackward = s.Clock, s.MaxBackward
			if s.Leased {
				c.Leased, c.GeneratorID = true, 0
			}
			return nanoflake.NewGenerator(c)
		},
		Zero:  func() testkit.Generator[nanoflake.ID] { return new(nanoflake.Generator) },
		Unit:  time.Millisecond,
		First: epoch.Add(time.Millisecond), Last: time.UnixMilli(epoch.UnixMilli() + 1<<41 - 1).UTC(),
		Time:  func(id nanoflake.ID) time.Time { return id.Time(c.Epoch) },
		Least: 4096, Most: 4096, Unordered: c.Start == nanoflake.StartAnywhere,
	}
}

var generations = []testkit.Generation[nanoflake.ID]{
	generation("default", nanoflake.Config{}),
	generation("anywhere", nanoflake.Config{GeneratorID: 1023, Start: nanoflake.StartAnywhere}),
	generation("epoch", nanoflake.Config{GeneratorID: 7, Epoch: time.UnixMilli(1288834974657)}),
	generation("epoch before 1970", nanoflake.Config{Epoch: time.Date(1960, 2, 29, 1, 2, 3, 4e6, time.UTC)}),
}

func TestGenerator(t *testing.T) { testkit.Run(t, generations) }

// More calls than the field of the sequence in a word has numbers.
func TestStandingTime(t *testing.T) { generations[0].StandingTime(t, 1<<22+1<<13) }

// StartAnywhere starts milliseconds at all numbers alike.
func TestStartAnywhere(t *testing.T) {
	clock := testkit.At(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))
	gen := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Start: nanoflake.StartAnywhere, Clock: clock.Now}))
	var starts []uint64
	for range 1 << 16 {
		clock.Step(time.Millisecond)
		id := testkit.Must(gen.TryNext())
		starts = append(starts, uint64(id.Sequence()))
	}
	if fault := testkit.Random(starts, 12); fault != "" {
		t.Error(fault)
	}
}

func TestConfigErrors(t *testing.T) {
	for _, v := range []struct {
		config nanoflake.Config
		field  string
		want   string // in the message
	}{
		{nanoflake.Config{Start: 2}, "Start", "Start 2 is not StartAtZero or StartAnywhere"},
		{nanoflake.Config{Start: 255}, "Start", "StartAnywhere"},
		{nanoflake.Config{Epoch: time.UnixMilli(1).Add(1)}, "Epoch", "1970-01-01T00:00:00.001000001Z is not a time in whole milliseconds"},
		{nanoflake.Config{Epoch: time.Unix(1<<62, 0)}, "Epoch", "whole milliseconds"},
		{nanoflake.Config{Epoch: time.Unix(-1<<62, 0)}, "Epoch", "whole milliseconds"},
	} {
		gen, err := nanoflake.NewGenerator(v.config)
		testkit.IsConfigError(t, err, "nanoflake", v.field, v.want)
		if gen != nil {
			t.Errorf("%v: a generator beside an error", v.config)
		}
	}
	testkit.Epochs(t, "nanoflake", 41, func(epoch time.Time, clock func() time.Time) error {
		_, err := nanoflake.NewGenerator(nanoflake.Config{Epoch: epoch, Clock: clock})
		return err
	})
	_, err := nanoflake.NewGenerator(nanoflake.Config{Clock: testkit.At(nanoflake.DefaultEpoch()).Now})
	const want = "nanoflake: time 2021-01-01T00:00:00Z is before the first timestamp: use a time from 2021-01-01T00:00:00.001Z to 2090-09-07T15:47:35.551Z"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %v", err, want)
	}
}

func TestTimes(t *testing.T) {
	testkit.Times(t, testkit.Timed[nanoflake.ID]{
		Format: "nanoflake", Bits: 41, DefaultEpoch: nanoflake.DefaultEpoch(), Compare: nanoflake.ID.Compare,
		FromTime:  func(t, epoch time.Time) (nanoflake.ID, error) { return nanoflake.FromTime(t, epoch, 1023, 4095) },
		First:     nanoflake.First,
		Last:      nanoflake.Last,
		Time:      nanoflake.ID.Time,
		Timestamp: nanoflake.ID.Timestamp,
		Min:       1,
		Max:       nanoflake.Max,
	})
}

// A generator knows its epoch.
func TestKnows(t *testing.T) {
	for _, epoch := range []time.Time{nanoflake.DefaultEpoch(), time.UnixMilli(0), time.Date(2020, 1, 1, 0, 0, 0, 0, time.FixedZone("", -7200))} {
		testkit.Bounds(t, generator(t, nanoflake.Config{Epoch: epoch}), epoch, 41, 22)
	}
	testkit.Same(t, new(nanoflake.Generator).GeneratorID(), 0)
}
