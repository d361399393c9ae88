package snowflakesi_test

import (
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

// none is a short name, for tables.
const none = snowflakesi.NoMachineBits

// bits returns the widths of a layout.
func bits(l snowflakesi.Layout) (clock, machine, sequence int) {
	clock, machine = l.ClockBits, l.MachineBits
	if clock == 0 {
		clock = 40
	}
	switch machine {
	case 0:
		machine = 5
	case none:
		machine = 0
	}
	return clock, machine, 53 - clock - machine
}

// ofWidths returns the layout of the widths.
func ofWidths(clockBits, machineBits int) snowflakesi.Layout {
	if machineBits == 0 {
		machineBits = none
	}
	return snowflakesi.Layout{ClockBits: clockBits, MachineBits: machineBits}
}

func generation(c snowflakesi.Config) testkit.Generation[snowflakesi.ID] {
	clock, _, sequence := bits(c.Layout)
	epoch := c.Epoch
	if epoch.IsZero() {
		epoch = time.Date(2021, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	least := 1 << sequence
	if c.Sequence == snowflakesi.SequenceContinues {
		least -= least / 2
	}
	return testkit.Generation[snowflakesi.ID]{
		Name: fmt.Sprintf("%v %d", c.Layout, c.Sequence), Format: "snowflakesi",
		New: func(s testkit.Setup) (testkit.Generator[snowflakesi.ID], error) {
			c := c
			c.Clock, c.MaxBackward = s.Clock, s.MaxBackward
			if s.Leased {
				c.Leased, c.MachineID = true, 0
			}
			return snowflakesi.NewGenerator(c)
		},
		Zero:  func() testkit.Generator[snowflakesi.ID] { return new(snowflakesi.Generator) },
		Unit:  time.Millisecond,
		First: epoch.Add(time.Millisecond), Last: time.UnixMilli(epoch.UnixMilli() + 1<<clock - 1).UTC(),
		Time:  func(id snowflakesi.ID) time.Time { return id.Time(c.Layout, c.Epoch) },
		Least: least, Most: 1 << sequence,
	}
}

// More calls than the field of the sequence in a word has numbers.
func TestStandingTime(t *testing.T) {
	generation(snowflakesi.Config{Sequence: snowflakesi.SequenceResets}).StandingTime(t, 1<<22+1<<13)
}

func TestGenerator(t *testing.T) {
	var all []testkit.Generation[snowflakesi.ID]
	for _, l := range []snowflakesi.Layout{{}, {40, none}, {40, 12}, {40, 13}, {41, 0}, {41, none}, {0, 3}, {41, 12}} {
		for _, s := range []snowflakesi.Sequence{snowflakesi.SequenceContinues, snowflakesi.SequenceResets} {
			all = append(all, generation(snowflakesi.Config{Layout: l, MachineID: l.MaxMachineID(), Sequence: s}))
		}
	}
	all = append(all, generation(snowflakesi.Config{Epoch: time.UnixMilli(1047972019225)}))
	all = append(all, generation(snowflakesi.Config{Layout: snowflakesi.Layout{ClockBits: 41, MachineBits: none}, Epoch: time.UnixMilli(0)}))
	testkit.Run(t, all)
}

func TestConfigErrors(t *testing.T) {
	construct := func(c snowflakesi.Config) error {
		gen, err := snowflakesi.NewGenerator(c)
		if (gen == nil) != (err != nil) {
			t.Errorf("%v: %v, %v", c, gen, err)
		}
		return err
	}
	type layout = snowflakesi.Layout
	for _, v := range []struct {
		config      snowflakesi.Config
		field, want string
	}{
		{snowflakesi.Config{MachineID: -1}, "MachineID", "-1 is not in 0 to 31"},
		{snowflakesi.Config{MachineID: 32}, "MachineID", "32 is not in 0 to 31"},
		{snowflakesi.Config{Layout: layout{40, none}, MachineID: 1}, "MachineID", "1 is not in 0 to 0"},
		{snowflakesi.Config{Layout: layout{41, 12}, MachineID: 4096}, "MachineID", "0 to 4095"},
		{snowflakesi.Config{Layout: layout{39, 5}}, "ClockBits", "39 is not 40 or 41"},
		{snowflakesi.Config{Layout: layout{42, 5}}, "ClockBits", "42 is not 40 or 41"},
		{snowflakesi.Config{Layout: layout{-1, 5}}, "ClockBits", "40 or 41"},
		{snowflakesi.Config{Layout: layout{40, 14}}, "MachineBits", "14 is not in 1 to 13 or NoMachineBits"},
		{snowflakesi.Config{Layout: layout{0, 14}}, "MachineBits", "14 is not in 1 to 13 or NoMachineBits"},
		{snowflakesi.Config{Layout: layout{41, 13}}, "MachineBits", "13 is not in 1 to 12 or NoMachineBits"},
		{snowflakesi.Config{Layout: layout{40, -2}}, "MachineBits", "-2 is not in 1 to 13 or NoMachineBits"},
		{snowflakesi.Config{Sequence: 2}, "Sequence", "2 is not SequenceContinues or SequenceResets"},
		{snowflakesi.Config{Epoch: time.Unix(1500000000, 1)}, "Epoch", "whole milliseconds"},
		// Layouts of 40 bits need a later epoch.
		{snowflakesi.Config{Epoch: time.UnixMilli(1047972019224)}, "Epoch", "2003-03-18T07:20:19.224Z is not after 2003-03-18T07:20:19.224Z"},
		{snowflakesi.Config{Epoch: time.UnixMilli(0)}, "Epoch", "after 2003-03-18T07:20:19.224Z"},
	} {
		testkit.IsConfigError(t, construct(v.config), "snowflakesi", v.field, v.want)
		if v.field == "ClockBits" || v.field == "MachineBits" {
			_, err := snowflakesi.FromTime(v.config.Layout, time.Now(), time.Time{}, 0, 0)
			testkit.IsConfigError(t, err, "snowflakesi", v.field, v.want)
			testkit.IsConfigError(t, v.config.Layout.Check(), "snowflakesi", v.field, v.want)
		}
	}
	for _, epoch := range []time.Time{time.UnixMilli(1047972019225)} {
		if err := construct(snowflakesi.Config{Epoch: epoch}); err != nil {
			t.Error(err)
		}
	}
	for _, bits := range []int{40, 41} {
		testkit.Epochs(t, "snowflakesi", bits, func(epoch time.Time, clock func() time.Time) error {
			return construct(snowflakesi.Config{Layout: snowflakesi.Layout{ClockBits: bits}, Epoch: epoch, Clock: clock})
		})
	}
}

func TestFromTimeErrors(t *testing.T) {
	for _, v := range []struct {
		layout            snowflakesi.Layout
		machine, sequence int
		field, want       string
	}{
		{snowflakesi.Layout{}, -1, 0, "MachineID", "0 to 31"},
		{snowflakesi.Layout{}, 32, 0, "MachineID", "0 to 31"},
		{snowflakesi.Layout{}, 0, 256, "sequence", "256 is not in 0 to 255"},
		{snowflakesi.Layout{}, 0, -1, "sequence", "0 to 255"},
		{snowflakesi.Layout{ClockBits: 40, MachineBits: 13}, 8191, 1, "sequence", "1 is not in 0 to 0"},
		{snowflakesi.Layout{ClockBits: 41}, 0, 128, "sequence", "0 to 127"},
		{snowflakesi.Layout{ClockBits: 41, MachineBits: none}, 0, 4096, "sequence", "0 to 4095"},
	} {
		_, err := snowflakesi.FromTime(v.layout, time.Now(), time.Time{}, v.machine, v.sequence)
		testkit.IsConfigError(t, err, "snowflakesi", v.field, v.want)
	}
	for _, l := range []snowflakesi.Layout{{ClockBits: 39}, {ClockBits: 41, MachineBits: 13}, {MachineBits: -2}} {
		for _, bound := range []func(snowflakesi.Layout, time.Time, time.Time) (snowflakesi.ID, error){snowflakesi.First, snowflakesi.Last} {
			if id, err := bound(l, time.Now(), time.Time{}); id != 0 || !errors.Is(err, iderr.ErrConfig) {
				t.Errorf("%v: %v, %v", l, id, err)
			}
		}
	}
	for _, l := range []snowflakesi.Layout{{}, {40, none}, {40, 13}, {41, 6}} {
		clockBits, _, sequence := bits(l)
		testkit.Times(t, testkit.Timed[snowflakesi.ID]{
			Format: "snowflakesi", Bits: clockBits, DefaultEpoch: snowflakesi.DefaultEpoch(), Compare: snowflakesi.ID.Compare,
			FromTime: func(t, epoch time.Time) (snowflakesi.ID, error) {
				return snowflakesi.FromTime(l, t, epoch, l.MaxMachineID(), 1<<sequence-1)
			},
			First:     func(t, epoch time.Time) (snowflakesi.ID, error) { return snowflakesi.First(l, t, epoch) },
			Last:      func(t, epoch time.Time) (snowflakesi.ID, error) { return snowflakesi.Last(l, t, epoch) },
			Time:      func(id snowflakesi.ID, epoch time.Time) time.Time { return id.Time(l, epoch) },
			Timestamp: func(id snowflakesi.ID) int64 { return id.Timestamp(l) },
			Min:       1,
			Max:       snowflakesi.Max,
		})
	}
}

// FromTime refuses the zero ID, and makes the other IDs of the epoch.
func TestFromTimeZero(t *testing.T) {
	for _, l := range []snowflakesi.Layout{{}, {40, none}, {40, 13}, {41, 6}} {
		epoch := snowflakesi.DefaultEpoch()
		id, err := snowflakesi.FromTime(l, epoch, time.Time{}, 0, 0)
		testkit.IsConfigError(t, err, "snowflakesi", "sequence", "sequence 0 is not 1 or more, as machine ID 0 needs at the epoch")
		testkit.Same(t, id, 0)
		_, machine, sequence := l.Widths()
		for want, ok := range map[snowflakesi.ID]bool{1: sequence > 0, 1 << sequence: machine > 0, 1 << (machine + sequence): true} {
			if !ok {
				continue
			}
			testkit.Call(snowflakesi.FromTime(l, want.Time(l, epoch), epoch, want.MachineID(l), want.Sequence(l))).Gives(t, want)
		}
	}
}

// An invalid layout counts as the nearest valid layout.
func TestNearestLayout(t *testing.T) {
	for _, v := range []struct {
		layout                   snowflakesi.Layout
		clock, machine, sequence int
	}{
		{snowflakesi.Layout{}, 40, 5, 8},
		{snowflakesi.DefaultLayout(), 40, 5, 8},
		{snowflakesi.Layout{ClockBits: 40}, 40, 5, 8},
		{snowflakesi.Layout{ClockBits: 40, MachineBits: none}, 40, 0, 13},
		{snowflakesi.Layout{MachineBits: none}, 40, 0, 13},
		{snowflakesi.Layout{MachineBits: 3}, 40, 3, 10},
		{snowflakesi.Layout{ClockBits: 41}, 41, 5, 7},
		{snowflakesi.Layout{ClockBits: 41, MachineBits: none}, 41, 0, 12},
		{snowflakesi.Layout{ClockBits: 7, MachineBits: 14}, 40, 13, 0},
		{snowflakesi.Layout{ClockBits: 64, MachineBits: 13}, 41, 12, 0},
		{snowflakesi.Layout{ClockBits: -5, MachineBits: -5}, 40, 0, 13},
		{snowflakesi.Layout{ClockBits: math.MaxInt, MachineBits: math.MinInt}, 41, 0, 12},
	} {
		l := v.layout
		clock, machine, sequence := l.Widths()
		if clock != v.clock || machine != v.machine || sequence != v.sequence {
			t.Errorf("%v has the widths %d, %d, %d", l, clock, machine, sequence)
		}
		if l.MaxTimestamp() != 1<<v.clock-1 || l.MaxMachineID() != 1<<v.machine-1 || l.MaxSequence() != 1<<v.sequence-1 {
			t.Errorf("%v: at most %d, %d, %d", l, l.MaxTimestamp(), l.MaxMachineID(), l.MaxSequence())
		}
		id := snowflakesi.Max
		if id.Timestamp(l) != l.MaxTimestamp() || id.MachineID(l) != l.MaxMachineID() || id.Sequence(l) != l.MaxSequence() {
			t.Errorf("%v: the largest ID has %d, %d, %d", l, id.Timestamp(l), id.MachineID(l), id.Sequence(l))
		}
	}
}

// A generator knows its epoch, its layout and its machine ID.
func TestKnows(t *testing.T) {
	for _, v := range []struct {
		config snowflakesi.Config
		layout snowflakesi.Layout
	}{
		{snowflakesi.Config{}, snowflakesi.DefaultLayout()},
		{snowflakesi.Config{MachineID: 31}, snowflakesi.Layout{ClockBits: 40, MachineBits: 5}},
		{snowflakesi.Config{Layout: snowflakesi.Layout{ClockBits: 41}, MachineID: 19}, snowflakesi.Layout{ClockBits: 41, MachineBits: 5}},
		{snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: 13}, MachineID: 8191}, snowflakesi.Layout{ClockBits: 40, MachineBits: 13}},
		{snowflakesi.Config{Layout: snowflakesi.Layout{MachineBits: none}}, snowflakesi.Layout{ClockBits: 40, MachineBits: none}},
		{snowflakesi.Config{Layout: ofWidths(41, 0), Epoch: time.UnixMilli(1)}, ofWidths(41, 0)},
		{snowflakesi.Config{Layout: ofWidths(41, 12), Epoch: time.Date(2024, 2, 29, 23, 59, 59, 999e6, time.UTC), MachineID: 4095}, ofWidths(41, 12)},
		{snowflakesi.Config{Epoch: time.Date(2020, 1, 1, 0, 0, 0, 0, time.FixedZone("", -7200))}, snowflakesi.DefaultLayout()},
	} {
		gen := testkit.Must(snowflakesi.NewGenerator(v.config))
		epoch := v.config.Epoch
		if epoch.IsZero() {
			epoch = snowflakesi.DefaultEpoch()
		}
		clock, _, _ := bits(v.layout)
		testkit.Bounds(t, gen, epoch, clock, 53-clock)
		if got := gen.Layout(); got != v.layout || got.Check() != nil {
			t.Errorf("the layout is %v, want %v", got, v.layout)
		}
		testkit.Same(t, gen.MachineID(), v.config.MachineID)
	}
	testkit.Same(t, new(snowflakesi.Generator).MachineID(), 0)
}
