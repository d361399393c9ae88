package snowflakesi

import (
	"cmp"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/form/wrong"
)

const (
	// Max is the largest ID: JavaScript's Number.MAX_SAFE_INTEGER.
	Max ID = 1<<totalBits - 1

	// DefaultEpochMilli is DefaultEpoch in Unix milliseconds.
	DefaultEpochMilli = 1609459200000

	// minEpochMilli is the bound of the specification for 40 bits of timestamp: only timestamps
	// from a later epoch reach the year 2038.
	minEpochMilli = 1047972019224
)

// DefaultEpoch returns 2021-01-01T00:00:00Z, the epoch of a Config without an epoch. The
// specification leaves the epoch to the application.
func DefaultEpoch() time.Time { return time.UnixMilli(DefaultEpochMilli).UTC() }

// An ID is a Snowflake-SI ID: 0 to [Max]. IDs compare with == and <, in the order of their times.
// Only a conversion can make a value out of range, which is not an ID: every method and function
// with an error refuses the value.
type ID int64

// FromInt64 returns v as an ID, or a *[iderr.ParseError] for a v that is negative or greater than [Max].
func FromInt64(v int64) (ID, error) { return form.FromInt64(v) }

// FromTime returns the ID of a time and of the other fields, to back-fill rows that are older than
// their IDs. The caller makes the IDs unique, and numbers the IDs of a millisecond with the
// sequence.
//
// FromTime returns a *[iderr.TimeError] for a time before the epoch or after the last timestamp. The
// error is a *[iderr.ConfigError] for a layout, an epoch or another field out of range, and for the zero
// ID, which stands for "no ID": the ID of the epoch with machine ID 0 and sequence 0.
func FromTime(l Layout, t, epoch time.Time, machineID, sequence int) (ID, error) {
	if err := l.Check(); err != nil {
		return 0, err
	}
	e, err := l.epoch(epoch)
	if err != nil {
		return 0, err
	}
	ts, ok := clock.Timestamp(t, e, l.MaxTimestamp())
	switch {
	case !ok:
		return 0, &iderr.TimeError{Format: format, Time: t, First: clock.Time(0, e), Last: clock.Time(l.MaxTimestamp(), e)}
	case machineID < 0 || machineID > l.MaxMachineID():
		return 0, badMachineID(l, machineID)
	case sequence < 0 || sequence > l.MaxSequence():
		return 0, wrong.Config(format, "sequence", sequence, "in 0 to "+strconv.Itoa(l.MaxSequence()))
	}
	id := ID(ts<<l.timestampShift() | int64(machineID)<<l.sequenceBits() | int64(sequence))
	if id == 0 {
		return 0, wrong.ZeroID(format, "machine ID 0")
	}
	return id, nil
}

// First returns the smallest ID of the millisecond of t, and never the zero ID. A scan from
// First(a) to Last(b), both included, finds all IDs from a to b. A time before the epoch or after
// the last timestamp counts as the nearest time in range. A layout or an epoch out of range is a
// *[iderr.ConfigError]. See [Generator.First] for the layout and epoch of a generator.
func First(l Layout, t, epoch time.Time) (ID, error) {
	if err := l.Check(); err != nil {
		return 0, err
	}
	e, err := l.epoch(epoch)
	if err != nil {
		return 0, err
	}
	first, _ := bounds(l, t, e)
	return first, nil
}

// Last returns the largest ID of the millisecond of t; see [First].
func Last(l Layout, t, epoch time.Time) (ID, error) {
	if err := l.Check(); err != nil {
		return 0, err
	}
	e, err := l.epoch(epoch)
	if err != nil {
		return 0, err
	}
	_, last := bounds(l, t, e)
	return last, nil
}

// bounds returns the smallest and the largest ID of the millisecond of t. The layout is valid, and
// the epoch is in Unix milliseconds.
func bounds(l Layout, t time.Time, epoch int64) (first, last ID) {
	ts, _ := clock.Timestamp(t, epoch, l.MaxTimestamp())
	first = ID(ts << l.timestampShift())
	return max(first, 1), first | (1<<l.timestampShift() - 1) // 0 is not an ID
}

// Int64 returns the ID as an integer.
func (id ID) Int64() int64 { return int64(id) }

// Timestamp returns the milliseconds from the epoch to the time of the ID (MAB).
func (id ID) Timestamp(l Layout) int64 { return int64(id) >> l.timestampShift() }

// MachineID returns the machine ID (MID), and 0 if the layout has no machine ID.
func (id ID) MachineID(l Layout) int { return int(id>>l.sequenceBits()) & l.MaxMachineID() }

// Sequence returns the low bits of the machine's count of IDs (UIN).
func (id ID) Sequence(l Layout) int { return int(id) & l.MaxSequence() }

// Time returns the time of the ID in UTC, to the millisecond, for the layout and epoch of its
// generator. [Generator.Time] knows both.
func (id ID) Time(l Layout, epoch time.Time) time.Time {
	return clock.Time(id.Timestamp(l), clock.Epoch(epoch, DefaultEpochMilli))
}

// Compare returns -1, 0 or 1 as id is less than, equal to or greater than other.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// IsZero reports whether id is the zero ID, which stands for "no ID".
func (id ID) IsZero() bool { return id == 0 }
