package sno

import (
	"fmt"

	"github.com/firn-id/firn/iderr"
)

// Errors of this package, for errors.Is and errors.As. All formats share the same values under
// their own names.
var (
	// ErrExhausted: the sequence has reached SequenceMax in this time unit.
	ErrExhausted = iderr.ErrExhausted
	// ErrClockBackwards: both settings of the tick-tock bit have used the time of the clock; a
	// *[ClockError] has the wait until an unused time.
	ErrClockBackwards = iderr.ErrClockBackwards
	// ErrTimeRange: the time is not after the epoch, or is after the last timestamp.
	ErrTimeRange = iderr.ErrTimeRange
	// ErrFenced: a generator with a lease has no grant for this time; the error says why.
	ErrFenced = iderr.ErrFenced
)

type (
	// ParseError describes a text or a value that is not an ID, and has the offset of the bad byte.
	ParseError = iderr.ParseError
	// ListError names the ID of a list that could not be written or read.
	ListError = iderr.ListError
	// ConfigError names a setting that is out of range, and the range.
	ConfigError = iderr.ConfigError
	// ClockError has the time until the clock reaches an unused time.
	ClockError = iderr.ClockError
	// EarlyError has the time at which the next grant of a lease begins.
	EarlyError = iderr.EarlyError
	// TimeError has the first and the last time of the timestamps.
	TimeError = iderr.TimeError
)

var (
	errExhausted = fmt.Errorf("%s: %w in this time unit", format, ErrExhausted)
)

// InvalidDataSizeError gets returned when attempting to unmarshal or decode an ID from data of a
// wrong size.
type InvalidDataSizeError struct {
	Size int
}

// Error implements error.
func (e *InvalidDataSizeError) Error() string {
	if e.Size == SizeEncoded { // a text in place of a binary form
		return fmt.Sprintf("sno: length of data is %d, that of a text: the binary form has %d bytes, which are %d hexadecimal digits, and the type sno.Text reads a column of text",
			e.Size, SizeBinary, 2*SizeBinary)
	}
	return fmt.Sprintf("sno: length of data is %d: a text has %d characters, the binary form %d bytes", e.Size, SizeEncoded, SizeBinary)
}

// Unwrap makes the error iderr.ErrLength to errors.Is.
func (e *InvalidDataSizeError) Unwrap() error { return iderr.ErrLength }

// InvalidTypeError gets returned when attempting to scan a value that is neither a string, nor a
// byte slice, nor nil.
type InvalidTypeError struct {
	Value any
}

// Error implements error.
func (e *InvalidTypeError) Error() string {
	return fmt.Sprintf("sno: a value of type %T holds no ID", e.Value)
}

// Unwrap makes the error iderr.ErrType to errors.Is.
func (e *InvalidTypeError) Unwrap() error { return iderr.ErrType }

// InvalidSequenceBoundsError gets returned when a Generator gets seeded with sequence bounds that
// are invalid: the pool is too small, or the current sequence is below the pool.
type InvalidSequenceBoundsError struct {
	Cur uint32
	Min uint16
	Max uint16
	Msg string
}

// Error implements error.
func (e *InvalidSequenceBoundsError) Error() string {
	return fmt.Sprintf("sno: %s: current %d, min %d, max %d", e.Msg, e.Cur, e.Min, e.Max)
}

// Unwrap makes the error iderr.ErrConfig to errors.Is.
func (e *InvalidSequenceBoundsError) Unwrap() error { return iderr.ErrConfig }

// PartitionPoolExhaustedError gets returned when attempting to create more than MaxPartition
// (65535) Generators without a partition of their own.
type PartitionPoolExhaustedError struct{}

// Error implements error.
func (e *PartitionPoolExhaustedError) Error() string {
	return fmt.Sprintf("sno: all %d default partitions of the process are taken: give generators a partition by a snapshot", MaxPartition)
}
