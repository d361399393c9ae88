package snowflakesi

import (
	"strconv"
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/wrong"
)

// totalBits is the width of an ID: the width of JavaScript's safe integers.
const totalBits = 53

// NoMachineBits is the MachineBits of a [Layout] without a machine ID, for a system with one
// generator.
const NoMachineBits = -1

// A Layout says how an ID shares its 53 bits among the timestamp, the machine ID and the sequence
// (UIN). A field that is 0 stands for its default, each field by itself: Layout{ClockBits: 41} has
// 5 bits of machine ID, and Layout{MachineBits: 3} has 40 bits of timestamp.
//
// The sequence has the bits that ClockBits and MachineBits leave of the 53. MachineBits is
// therefore at most 13, and at most 12 with 41 bits of timestamp. A layout at this limit has no
// sequence: each machine makes one ID in a millisecond. All generators of a system must have the
// same layout.
//
// The methods of [ID] with a Layout have no error: they read an invalid layout as the nearest valid
// layout. [NewGenerator], [FromTime], [First], [Last] and [Layout.Check] return a *[iderr.ConfigError].
//
// Specification: "Algorithm Adjustment".
type Layout struct {
	ClockBits   int // of the timestamp: 40 or 41; 0 means 40
	MachineBits int // of the machine ID: 1 to 13, or NoMachineBits; 0 means 5
}

const (
	defaultClockBits   = 40
	defaultMachineBits = 5
)

// DefaultLayout returns Layout{40, 5}: 32 machines, up to 256 IDs in a millisecond, 34 years. The zero
// Layout stands for the same widths.
func DefaultLayout() Layout {
	return Layout{ClockBits: defaultClockBits, MachineBits: defaultMachineBits}
}

// Check returns a *[iderr.ConfigError] unless the layout is valid.
func (l Layout) Check() error {
	if l.ClockBits != 0 && l.ClockBits != 40 && l.ClockBits != 41 {
		return wrong.Config(format, "ClockBits", l.ClockBits, "40 or 41")
	}
	if most := totalBits - int(l.clockBits()); l.MachineBits < NoMachineBits || l.MachineBits > most {
		return wrong.Config(format, "MachineBits", l.MachineBits, "in 1 to "+strconv.Itoa(most)+" or NoMachineBits")
	}
	return nil
}

// epochsAfter returns the bound that epochs must be after, or the zero time for no bound.
func (l Layout) epochsAfter() time.Time {
	if l.clockBits() > 40 {
		return time.Time{}
	}
	return clock.Time(0, minEpochMilli)
}

// epoch returns an epoch in Unix milliseconds, or a *[iderr.ConfigError] for an epoch that the layout
// cannot have.
func (l Layout) epoch(epoch time.Time) (int64, error) {
	ms, err := mint.Epoch(format, epoch, DefaultEpochMilli)
	if err != nil {
		return 0, err
	}
	if after := l.epochsAfter(); !after.IsZero() && ms <= minEpochMilli {
		return 0, wrong.Config(format, "Epoch", epoch, "after "+after.Format(time.RFC3339Nano)+", as 40 clock bits ask")
	}
	return ms, nil
}

// explicit returns the layout with each default in place of a 0.
func (l Layout) explicit() Layout {
	machineBits := int(l.machineBits())
	if machineBits == 0 {
		machineBits = NoMachineBits
	}
	return Layout{ClockBits: int(l.clockBits()), MachineBits: machineBits}
}

func (l Layout) clockBits() uint {
	if l.ClockBits > defaultClockBits {
		return defaultClockBits + 1
	}
	return defaultClockBits
}

func (l Layout) machineBits() uint {
	if l.MachineBits == 0 {
		return defaultMachineBits
	}
	return uint(min(max(l.MachineBits, 0), totalBits-int(l.clockBits())))
}

func (l Layout) sequenceBits() uint { return totalBits - l.clockBits() - l.machineBits() }

// timestampShift is the width of the fields below the timestamp.
func (l Layout) timestampShift() uint { return totalBits - l.clockBits() }

// MaxTimestamp returns the last timestamp, in milliseconds since the epoch.
func (l Layout) MaxTimestamp() int64 { return 1<<l.clockBits() - 1 }

// MaxMachineID returns the largest machine ID.
func (l Layout) MaxMachineID() int { return 1<<l.machineBits() - 1 }

// MaxSequence returns the largest sequence number. A machine makes up to MaxSequence+1 IDs in a
// millisecond.
func (l Layout) MaxSequence() int { return 1<<l.sequenceBits() - 1 }

// Widths returns the bits of the timestamp, the machine ID and the sequence: 40, 5 and 8 for the
// zero Layout, and 0 bits of machine ID for NoMachineBits.
func (l Layout) Widths() (clock, machine, sequence int) {
	return int(l.clockBits()), int(l.machineBits()), int(l.sequenceBits())
}
