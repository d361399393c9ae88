package ulidflake

import (
	"cmp"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/engine/mint"
)

const (
	timestampBits  = 43
	timestampShift = 20
	randomnessBits = 20

	// MaxTimestamp is the last timestamp, in milliseconds since the epoch.
	MaxTimestamp = 1<<timestampBits - 1
	// MaxRandomness is the largest randomness of an ID.
	MaxRandomness = 1<<randomnessBits - 1

	// Max is the largest ID, 7ZZZZZZZZZZZZ.
	Max ID = 1<<63 - 1

	// DefaultEpochMilli is DefaultEpoch in Unix milliseconds.
	DefaultEpochMilli = 1704067200000
)

// DefaultEpoch returns 2024-01-01T00:00:00Z, the epoch of the specification.
func DefaultEpoch() time.Time { return time.UnixMilli(DefaultEpochMilli).UTC() }

// An ID is a stand-alone Ulid-Flake: 0 to [Max]. IDs compare with == and <, in the order of their
// times. Only a conversion can make a negative value, which is not an ID: every method and function
// with an error refuses the value.
//
// Specification: "Specification", stand-alone version.
type ID int64

// FromInt64 returns v as an ID, or a *[iderr.ParseError] for a negative v.
func FromInt64(v int64) (ID, error) { return form.FromInt64(v) }

// FromTime returns an ID of a time, with a randomness from crypto/rand, to back-fill rows that are
// older than their IDs. The IDs of one millisecond have no order and can be equal: the promises of
// a generator do not hold. FromTime never returns the zero ID, which stands for "no ID".
//
// FromTime returns a *[iderr.TimeError] for a time before the epoch or after the last timestamp, and a
// *[iderr.ConfigError] for an epoch that is not in whole milliseconds.
func FromTime(t, epoch time.Time) (ID, error) {
	id, err := fromTime(format, t, epoch, randomnessBits, 0)
	return ID(id), err
}

// fromTime returns the integer of an ID, with so many bits of randomness above the worker.
func fromTime(format string, t, epoch time.Time, bits, worker int) (int64, error) {
	e, err := mint.Epoch(format, epoch, DefaultEpochMilli)
	if err != nil {
		return 0, err
	}
	ts, ok := clock.Timestamp(t, e, MaxTimestamp)
	if !ok {
		return 0, &iderr.TimeError{Format: format, Time: t, First: clock.Time(0, e), Last: clock.Time(MaxTimestamp, e)}
	}
	source := entropy.Source{Direct: true}
	for {
		randomness := int64(source.Uint64() >> (64 - bits))
		if id := ts<<timestampShift | randomness<<(randomnessBits-bits) | int64(worker); id != 0 {
			return id, nil
		}
	}
}

// First returns the smallest ID of the millisecond of t, and never the zero ID. A scan from
// First(a) to Last(b), both included, finds all IDs from a to b. A time before the epoch or after
// the last timestamp counts as the nearest time in range. An epoch that is not in whole
// milliseconds is a *[iderr.ConfigError]. See [Generator.First] for the epoch of a generator.
func First(t, epoch time.Time) (ID, error) {
	first, _, err := bounds(format, t, epoch)
	return ID(first), err
}

// Last returns the largest ID of the millisecond of t; see [First].
func Last(t, epoch time.Time) (ID, error) {
	_, last, err := bounds(format, t, epoch)
	return ID(last), err
}

// bounds returns the smallest and the largest integer of the IDs of the millisecond of t.
func bounds(format string, t, epoch time.Time) (first, last int64, err error) {
	e, err := mint.Epoch(format, epoch, DefaultEpochMilli)
	if err != nil {
		return 0, 0, err
	}
	first, last = boundsOf(t, e)
	return first, last, nil
}

// boundsOf is bounds for an epoch in Unix milliseconds.
func boundsOf(t time.Time, epoch int64) (first, last int64) {
	ts, _ := clock.Timestamp(t, epoch, MaxTimestamp)
	first = ts << timestampShift
	return max(first, 1), first | (1<<timestampShift - 1) // 0 is not an ID
}

// Int64 returns the ID as an integer, for databases and languages with 64-bit integers. JavaScript
// numbers have 53 bits: use the text there.
func (id ID) Int64() int64 { return int64(id) }

// Int is [ID.Int64] under the name that the specification uses.
func (id ID) Int() int64 { return int64(id) }

// Timestamp returns the milliseconds from the epoch to the time of the ID.
func (id ID) Timestamp() int64 { return int64(id) >> timestampShift }

// Randomness returns the random part, 0 to 2^20-1.
func (id ID) Randomness() int { return int(id) & MaxRandomness }

// Time returns the time of the ID in UTC, to the millisecond, for the epoch of its generator.
// [Generator.Time] knows the epoch.
func (id ID) Time(epoch time.Time) time.Time {
	return clock.Time(id.Timestamp(), clock.Epoch(epoch, DefaultEpochMilli))
}

// Compare returns -1, 0 or 1 as id is less than, equal to or greater than other.
func (id ID) Compare(other ID) int { return cmp.Compare(id, other) }

// IsZero reports whether id is the zero ID, which stands for "no ID".
func (id ID) IsZero() bool { return id == 0 }
