package nanoflake

import (
	"cmp"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/internal/form/wrong"
)

const (
	timestampBits = 41
	generatorBits = 10
	sequenceBits  = 12

	generatorShift = sequenceBits
	timestampShift = sequenceBits + generatorBits

	// MaxTimestamp is the last timestamp, in milliseconds since the epoch.
	MaxTimestamp = 1<<timestampBits - 1
	// MaxGeneratorID is the largest generator ID.
	MaxGeneratorID = 1<<generatorBits - 1
	// MaxSequence is the largest sequence number.
	MaxSequence = 1<<sequenceBits - 1

	// Max is the largest ID.
	Max ID = 1<<63 - 1

	// DefaultEpochMilli is DefaultEpoch in Unix milliseconds.
	DefaultEpochMilli = 1609459200000
)

// DefaultEpoch returns 2021-01-01T00:00:00Z, the epoch of a Config without an epoch. The
// specification leaves the epoch to the application.
func DefaultEpoch() time.Time { return time.UnixMilli(DefaultEpochMilli).UTC() }

// An ID is a Nanoflake: 0 to [Max]. IDs compare with == and <, in the order of their times. Only a
// conversion can make a negative value, which is not an ID: every method and function with an error
// refuses the value.
//
// Specification: "A Nanoflake".
type ID int64

// FromInt64 returns v as an ID, or a *[iderr.ParseError] for a negative v.
func FromInt64(v int64) (ID, error) { return form.FromInt64(v) }

// FromTime returns the ID of a time and of the other fields, to back-fill rows that are older than
// their IDs. The caller makes the IDs unique, and numbers the IDs of a millisecond with the
// sequence.
//
// FromTime returns a *[iderr.TimeError] for a time before the epoch or after the last timestamp. The
// error is a *[iderr.ConfigError] for an epoch that is not in whole milliseconds, for another field out
// of range, and for the zero ID, which stands for "no ID": the ID of the epoch with generator ID 0
// and sequence 0.
func FromTime(t, epoch time.Time, generatorID, sequence int) (ID, error) {
	e, err := mint.Epoch(format, epoch, DefaultEpochMilli)
	if err != nil {
		return 0, err
	}
	ts, ok := clock.Timestamp(t, e, MaxTimestamp)
	switch {
	case !ok:
		return 0, &iderr.TimeError{Format: format, Time: t, First: clock.Time(0, e), Last: clock.Time(MaxTimestamp, e)}
	case generatorID < 0 || generatorID > MaxGeneratorID:
		return 0, badGeneratorID(generatorID)
	case sequence < 0 || sequence > MaxSequence:
		return 0, wrong.Config(format, "sequence", sequence, "in 0 to "+strconv.Itoa(MaxSequence))
	}
	id := ID(ts<<timestampShift | int64(generatorID)<<generatorShift | int64(sequence))
	if id == 0 {
		return 0, wrong.ZeroID(format, "generator ID 0")
	}
	return id, nil
}

// First returns the smallest ID of the millisecond of t, and never the zero ID. A scan from
// First(a) to Last(b), both included, finds all IDs from a to b. A time before the epoch or after
// the last timestamp counts as the nearest time in range. An epoch that is not in whole
// milliseconds is a *[iderr.ConfigError]. See [Generator.First] for the epoch of a generator.
func First(t, epoch time.Time) (ID, error) {
	e, err := mint.Epoch(format, epoch, DefaultEpochMilli)
	if err != nil {
		return 0, err
	}
	first, _ := bounds(t, e)
	return first, nil
}

// Last returns the largest ID of the millisecond of t; see [First].
func Last(t, epoch time.Time) (ID, error) {
	e, err := mint.Epoch(format, epoch, DefaultEpochMilli)
	if err != nil {
		return 0, err
	}
	_, last := bounds(t, e)
	return last, nil
}

// bounds returns the smallest and the largest ID of the millisecond of t. The epoch is in Unix
// milliseconds.
func bounds(t time.Time, epoch int64) (first, last ID) {
	ts, _ := clock.Timestamp(t, epoch, MaxTimestamp)
	first = ID(ts << timestampShift)
	return max(first, 1), first | (1<<timestampShift - 1) // 0 is not an ID
}

// Int64 returns the ID as an integer, for databases and languages with 64-bit integers. JavaScript
// numbers have 53 bits: use the text there.
func (id ID) Int64() int64 { return int64(id) }

// Timestamp returns the milliseconds from the epoch to the time of the ID.
func (id ID) Timestamp() int64 { return int64(id) >> timestampShift }

// GeneratorID returns the generator's number, 0 to 1023.
func (id ID) GeneratorID() int { return int(id>>generatorShift) & MaxGeneratorID }

// Sequence returns the number of the ID within its millisecond, 0 to 4095.
func (id ID) Sequence() int { return int(id) & MaxSequence }

// Time returns the time of the ID in UTC, to the millisecond, for the epoch of its generator.
// [Generator.Time] knows the epoch.
func (id ID) Time(epoch time.Time) time.Time {
	return clock.Time(id.Timestamp(), clock.Epoch(epoch, DefaultEpochMilli))
}

// Compare returns -1, 0 or 1 as id is less than, equal to or greater than other.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// IsZero reports whether id is the zero ID, which stands for "no ID".
func (id ID) IsZero() bool { return id == 0 }
