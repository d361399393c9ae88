package ulidflake

import (
	"strconv"

	"github.com/firn-id/firn/iderr"
)

// The errors of this package, to be tested with errors.Is and errors.As. They are
// those that all formats share, under this package's name.
var (
	// ErrExhausted: the randomness of this millisecond has passed its top. The error
	// is ErrOverflow too.
	ErrExhausted = iderr.ErrExhausted
	// ErrOverflow is the specification's overflow error: the value is beyond
	// 7ZZZZZZZZZZZZ, or the randomness beyond its top.
	ErrOverflow = iderr.ErrRange
	// ErrClockBackwards: the clock is behind the last ID; a *[ClockError] says how far.
	ErrClockBackwards = iderr.ErrClockBackwards
	// ErrTimeRange: a time is not after the epoch, or past the last timestamp.
	ErrTimeRange = iderr.ErrTimeRange
	// ErrFenced: an allotted generator is outside its times; a lease's error says why.
	ErrFenced = iderr.ErrFenced
)

type (
	// ParseError says what is wrong with an ID that was read, and where.
	ParseError = iderr.ParseError
	// ListError says which of many IDs could not be written or read.
	ListError = iderr.ListError
	// ConfigError names a field that is out of range, and its range.
	ConfigError = iderr.ConfigError
	// ClockError says how far the clock is behind the last ID.
	ClockError = iderr.ClockError
	// EarlyError says when the next interval begins that the generator was allotted.
	EarlyError = iderr.EarlyError
	// TimeError says which times the timestamp can hold.
	TimeError = iderr.TimeError
)

func badScalability(v int) error {
	return iderr.BadConfig(formatScalable, "Scalability", v, "in 0 to "+strconv.Itoa(MaxScalability))
}
