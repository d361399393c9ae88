package snowflakesi

import (
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/clock"
	"github.com/firn-id/firn/internal/mint"
)

// totalBits is the width of an ID: that of JavaScript's safe integers.
const totalBits = 53

// NoMachineBits is the MachineBits of a [Layout] without a machine ID.
const NoMachineBits = -1

// A Layout says how the 53 bits of an ID are shared out: ClockBits of timestamp,
// MachineBits of machine ID, and the sequence (UIN) has the rest. The zero Layout
// stands for the specification's default, Layout{40, 5}. Otherwise ClockBits is 40
// or 41, with 0 standing for 40, and MachineBits 0 to what the timestamp leaves.
//
// The methods that take a Layout apply the nearest valid one; [NewGenerator] and
// [Layout.Check] return an error for one that is not valid.
//
// Specification: "Algorithm Adjustment".
type Layout struct {
	ClockBits   int
	MachineBits int
}

// DefaultLayout returns Layout{40, 5}: 32 machines, 256 IDs a millisecond, 34 years.
func DefaultLayout() Layout { return Layout{ClockBits: 40, MachineBits: 5} }

// Check returns a *[ConfigError] unless the layout is valid.
func (l Layout) Check() error {
	if l.ClockBits != 0 && l.ClockBits != 40 && l.ClockBits != 41 {
		return iderr.BadConfig(format, "ClockBits", l.ClockBits, "40 or 41")
	}
	if most := totalBits - int(l.clockBits()); l.MachineBits < NoMachineBits || l.MachineBits > most {
		return iderr.BadConfig(format, "MachineBits", l.MachineBits, "in 0 to "+strconv.Itoa(most))
	}
	return nil
}

// epochsAfter returns the time that epochs must be after, or the zero time for none.
func (l Layout) epochsAfter() time.Time {
	if l.clockBits() > 40 {
		return time.Time{}
	}
	return clock.Time(0, minEpochMilli)
}

// epoch returns an epoch in Unix milliseconds, or a *[ConfigError] if the layout cannot have it.
func (l Layout) epoch(epoch time.Time) (int64, error) {
	ms, err := mint.Epoch(format, epoch, DefaultEpochMilli)
	if err != nil {
		return 0, err
	}
	if after := l.epochsAfter(); !after.IsZero() && ms <= minEpochMilli {
		return 0, iderr.BadConfig(format, "Epoch", epoch, "after "+after.Format(time.RFC3339Nano)+", as 40 clock bits ask")
	}
	return ms, nil
}

func (l Layout) clockBits() uint {
	if l.ClockBits > 40 {
		return 41
	}
	return 40
}

func (l Layout) machineBits() uint {
	if l == (Layout{}) {
		return 5
	}
	return uint(min(max(l.MachineBits, 0), totalBits-int(l.clockBits())))
}

func (l Layout) sequenceBits() uint { return totalBits - l.clockBits() - l.machineBits() }

// timestampShift is the width of all that is below the timestamp.
func (l Layout) timestampShift() uint { return totalBits - l.clockBits() }

// MaxTimestamp returns the last timestamp, in milliseconds since the epoch.
func (l Layout) MaxTimestamp() int64 { return 1<<l.clockBits() - 1 }

// MaxMachineID returns the largest machine ID.
func (l Layout) MaxMachineID() int { return 1<<l.machineBits() - 1 }

// MaxSequence returns the largest sequence number: one less than the most IDs that a
// machine can make in a millisecond.
func (l Layout) MaxSequence() int { return 1<<l.sequenceBits() - 1 }

// Widths returns the bits of the timestamp, the machine ID and the sequence.
func (l Layout) Widths() (clock, machine, sequence int) {
	return int(l.clockBits()), int(l.machineBits()), int(l.sequenceBits())
}
