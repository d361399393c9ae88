package nanoflake

import (
	"cmp"
	"log/slog"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/clock"
	"github.com/firn-id/firn/internal/mint"
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

// DefaultEpoch returns 2021-01-01T00:00:00Z, the epoch where none is given. The
// specification leaves the epoch to the application.
func DefaultEpoch() time.Time { return time.UnixMilli(DefaultEpochMilli).UTC() }

// An ID is a Nanoflake: 0 to [Max]. IDs compare with == and <, in the order of
// their times. A negative value, which only a conversion can make, is no ID: it is
// refused wherever an error can be returned.
//
// Specification: "A Nanoflake".
type ID int64

// FromInt64 returns v as an ID, or a *[ParseError] if it is negative.
func FromInt64(v int64) (ID, error) { return form.FromInt64(v) }

// FromTime builds the ID of a time and the other fields. It is for back-filling
// rows that are older than their IDs: uniqueness is up to the caller, who numbers
// the IDs of a millisecond with the sequence. It returns a *[TimeError] for a time
// that the timestamp cannot hold, and a *[ConfigError] for an epoch that is not in whole
// milliseconds, for another field that is out of range, or for the one ID that is zero and stands for none: that of the epoch,
// generator ID 0 and sequence 0.
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
		return 0, iderr.BadConfig(format, "sequence", sequence, "in 0 to "+strconv.Itoa(MaxSequence))
	}
	id := ID(ts<<timestampShift | int64(generatorID)<<generatorShift | int64(sequence))
	if id == 0 {
		return 0, iderr.ZeroID(format, "generator ID 0")
	}
	return id, nil
}

// First returns the smallest ID of the millisecond of t, and Last the largest:
// a scan from First(a) to Last(b), both included, finds all IDs of a to b. A time
// that the timestamp cannot hold counts as the nearest one that it can. The error is a
// *[ConfigError] for an epoch that is not in whole milliseconds.
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
	return first, first | (1<<timestampShift - 1)
}

// Int64 returns the ID as the integer that it is, for the databases and languages
// that hold 64 bits. JavaScript's numbers do not: use the text.
func (id ID) Int64() int64 { return int64(id) }

// Timestamp returns the milliseconds from the epoch to the ID's creation.
func (id ID) Timestamp() int64 { return int64(id) >> timestampShift }

// GeneratorID returns the generator's number, 0 to 1023.
func (id ID) GeneratorID() int { return int(id>>generatorShift) & MaxGeneratorID }

// Sequence returns the number of the ID within its millisecond, 0 to 4095.
func (id ID) Sequence() int { return int(id) & MaxSequence }

// Time returns the ID's time in UTC, to the millisecond, given its epoch.
func (id ID) Time(epoch time.Time) time.Time {
	return clock.Time(id.Timestamp(), clock.Epoch(epoch, DefaultEpochMilli))
}

// Compare returns -1, 0 or 1 as id is less than, equal to or greater than other.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// IsZero tells whether id is the zero ID, which stands for none.
func (id ID) IsZero() bool { return id == 0 }

// LogValue implements [slog.LogValuer] by the text.
func (id ID) LogValue() slog.Value { return slog.StringValue(id.String()) }
