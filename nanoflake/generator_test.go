package nanoflake_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
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

// The IDs of a fixed clock are known to the bit.
func TestFields(t *testing.T) {
	at := time.Date(2026, 7, 1, 0, 0, 0, 123456789, time.UTC)
	timestamp := at.Sub(nanoflake.DefaultEpoch()).Milliseconds()
	for _, start := range []nanoflake.Start{nanoflake.StartAtZero, nanoflake.StartAnywhere} {
		gen, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 673, Start: start, Clock: testkit.At(at).Now})
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[int]bool)
		first := -1
		for i := range 4096 {
			id, err := gen.TryNext()
			if err != nil {
				t.Fatal(err)
			}
			if id.Timestamp() != timestamp || id.GeneratorID() != 673 || id < 0 {
				t.Fatalf("%v: timestamp %d, generator ID %d", id, id.Timestamp(), id.GeneratorID())
			}
			if first < 0 {
				first = id.Sequence()
			}
			if want := (first + i) % 4096; id.Sequence() != want {
				t.Fatalf("sequence %d, want %d", id.Sequence(), want)
			}
			seen[id.Sequence()] = true
		}
		if len(seen) != 4096 {
			t.Errorf("%d sequences in a millisecond", len(seen))
		}
		if (first == 0) != (start == nanoflake.StartAtZero) { // this millisecond scatters elsewhere
			t.Errorf("start %d: the sequence starts at %d", start, first)
		}
	}
}

// StartAnywhere starts milliseconds at all numbers alike.
func TestStartAnywhere(t *testing.T) {
	clock := testkit.At(time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC))
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Start: nanoflake.StartAnywhere, Clock: clock.Now})
	if err != nil {
		t.Fatal(err)
	}
	var starts []uint64
	for range 1 << 16 {
		clock.Step(time.Millisecond)
		id, err := gen.TryNext()
		if err != nil {
			t.Fatal(err)
		}
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
		{nanoflake.Config{GeneratorID: -1}, "GeneratorID", "GeneratorID -1 is not in 0 to 1023"},
		{nanoflake.Config{GeneratorID: 1024}, "GeneratorID", "GeneratorID 1024 is not in 0 to 1023"},
		{nanoflake.Config{GeneratorID: math.MaxInt}, "GeneratorID", "0 to 1023"},
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
	// The message says which times there are.
	_, err := nanoflake.NewGenerator(nanoflake.Config{Clock: testkit.At(nanoflake.DefaultEpoch()).Now})
	const want = "nanoflake: time 2021-01-01T00:00:00Z is before the first timestamp: use a time from 2021-01-01T00:00:00.001Z to 2090-09-07T15:47:35.551Z"
	if err == nil || err.Error() != want {
		t.Errorf("%v, want %v", err, want)
	}
}

func TestFromTimeErrors(t *testing.T) {
	at, epoch := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC), time.Time{}
	for _, v := range []struct {
		generatorID, sequence int
		field, want           string
	}{
		{-1, 0, "GeneratorID", "-1 is not in 0 to 1023"},
		{1024, 0, "GeneratorID", "0 to 1023"},
		{math.MinInt, 0, "GeneratorID", "0 to 1023"},
		{0, -1, "sequence", "-1 is not in 0 to 4095"},
		{1023, 4096, "sequence", "4096 is not in 0 to 4095"},
		{0, math.MaxInt, "sequence", "0 to 4095"},
	} {
		id, err := nanoflake.FromTime(at, epoch, v.generatorID, v.sequence)
		testkit.IsConfigError(t, err, "nanoflake", v.field, v.want)
		if id != 0 {
			t.Errorf("%v beside an error", id)
		}
	}
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

// FromTime makes no zero ID, and any other of the epoch.
func TestFromTimeZero(t *testing.T) {
	for _, epoch := range []time.Time{{}, time.UnixMilli(1288834974657)} {
		at := nanoflake.ID(0).Time(epoch)
		id, err := nanoflake.FromTime(at, epoch, 0, 0)
		testkit.IsConfigError(t, err, "nanoflake", "sequence", "sequence 0 is not 1 or more, as generator ID 0 needs at the epoch")
		if id != 0 {
			t.Errorf("%v beside an error", id)
		}
		for _, want := range []nanoflake.ID{1, 1 << 12, 1 << 22} {
			if id, err := nanoflake.FromTime(want.Time(epoch), epoch, want.GeneratorID(), want.Sequence()); err != nil || id != want {
				t.Errorf("FromTime = %v, %v; want %v", id, err, want)
			}
		}
	}
}

// The errors are those that all formats share.
func TestErrors(t *testing.T) {
	for _, v := range [][2]error{
		{iderr.ErrExhausted, iderr.ErrExhausted},
		{iderr.ErrClockBackwards, iderr.ErrClockBackwards},
		{iderr.ErrTimeRange, iderr.ErrTimeRange},
	} {
		if !errors.Is(v[0], v[1]) {
			t.Errorf("%v is not %v", v[0], v[1])
		}
	}
}

// A generator knows its epoch and its generator ID.
func TestKnows(t *testing.T) {
	for _, c := range []nanoflake.Config{
		{},
		{GeneratorID: 7, Start: nanoflake.StartAnywhere},
		{Epoch: time.Date(2024, 2, 29, 23, 59, 59, 999e6, time.UTC), GeneratorID: nanoflake.MaxGeneratorID},
		{Epoch: time.UnixMilli(0)},
		{Epoch: time.Date(2020, 1, 1, 0, 0, 0, 0, time.FixedZone("", -7200))},
	} {
		gen, err := nanoflake.NewGenerator(c)
		if err != nil {
			t.Fatal(err)
		}
		epoch := c.Epoch
		if epoch.IsZero() {
			epoch = nanoflake.DefaultEpoch()
		}
		testkit.Bounds(t, gen, epoch, 41, 22)
		if got := gen.GeneratorID(); got != c.GeneratorID {
			t.Errorf("generator ID %d, want %d", got, c.GeneratorID)
		}
	}
	if got := new(nanoflake.Generator).GeneratorID(); got != 0 {
		t.Errorf("the zero Generator has the generator ID %d", got)
	}
}
