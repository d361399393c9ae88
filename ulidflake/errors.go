package ulidflake

import (
	"strconv"

	"github.com/firn-id/firn/iderr"
)

// Errors of this package, for errors.Is and errors.As. All formats share the same values under
// their own names.
var (
	// ErrExhausted: the randomness has passed its largest value in this millisecond. The error is
	// [ErrOverflow], too.
	ErrExhausted = iderr.ErrExhausted
	// ErrOverflow is the overflow error of the specification: the value is beyond 7ZZZZZZZZZZZZ, the
	// randomness is beyond its largest value, or a time is after the last timestamp.
	ErrOverflow = iderr.ErrRange
	// ErrClockBackwards: the clock is behind the last ID; a *[ClockError] has the distance.
	ErrClockBackwards = iderr.ErrClockBackwards
	// ErrTimeRange: a time is not after the epoch, or is after the last timestamp.
	ErrTimeRange = iderr.ErrTimeRange
	// ErrFenced: a generator with a lease has no grant for this time; the error says why.
	ErrFenced = iderr.ErrFenced
)

type (
	// ParseError describes a text or a value that is no ID, and has the offset of the bad byte.
	ParseError = iderr.ParseError
	// ListError names the ID of a list that could not be written or read.
	ListError = iderr.ListError
	// ConfigError names a setting that is out of range, and the range.
	ConfigError = iderr.ConfigError
	// ClockError has the distance between the clock and the last ID.
	ClockError = iderr.ClockError
	// EarlyError has the time at which the next grant of a lease begins.
	EarlyError = iderr.EarlyError
	// TimeError has the first and the last time of the timestamps. For a time after the last
	// timestamp, the error is [ErrOverflow].
	TimeError = iderr.TimeError
)

func badScalability(v int) error {
	return iderr.BadConfig(formatScalable, "Scalability", v, "in 0 to "+strconv.Itoa(MaxScalability))
}
