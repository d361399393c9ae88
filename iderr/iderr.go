// Package iderr holds the errors that all of Firn's formats share. One errors.Is or errors.As
// therefore serves every format. Each format's package has its own names for the error types and
// for ErrExhausted, ErrClockBackwards, ErrTimeRange and ErrFenced. The other sentinels, such as the
// kinds of a ParseError, are only in this package.
//
// A program needs the variables and the types. The functions make errors: they are for the packages
// of the formats, and for authors of generators of their own.
package iderr

import (
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// The errors of generators. Test for these errors with [errors.Is].
var (
	// ErrExhausted: the tick has no sequence left. Retry in the next tick.
	ErrExhausted = errors.New("sequence exhausted")
	// ErrClockBackwards: the clock is behind the last ID. A [ClockError] says how far.
	ErrClockBackwards = errors.New("clock went backwards")
	// ErrTimeRange: the time does not fit the format's timestamp. A [TimeError] has the valid
	// times.
	ErrTimeRange = errors.New("time out of range")
	// ErrFenced: the time is outside the interval that was allotted to the generator. A lease's
	// errors say why. An [EarlyError] says when the next interval begins.
	ErrFenced = errors.New("outside the allotted interval")
	// ErrNotReady: the generator is a zero value and has no format.
	ErrNotReady = errors.New("firn: the generator is a zero value: make generators with NewGenerator")
	// ErrConfig: a setting is out of range. A [ConfigError] names the setting.
	ErrConfig = errors.New("invalid configuration")
)

// The kinds of [ParseError]. Each ParseError wraps one of these errors.
var (
	// ErrLength: the input is too short or too long.
	ErrLength = errors.New("wrong length")
	// ErrCharacter: a character is not in the format's alphabet.
	ErrCharacter = errors.New("invalid character")
	// ErrRange: the value is too large for the format, or negative. A [TimeError] for a time after the
	// last timestamp is ErrRange, too.
	ErrRange = errors.New("value out of range")
	// ErrType: the type of the value cannot hold an ID.
	ErrType = errors.New("unsupported type")
	// ErrNoID: the value is NULL or null, or the zero ID was to be stored. Both mean "no ID".
	ErrNoID = errors.New("no ID")
)

// A ParseError says what is wrong with an input that is not an ID, and where.
type ParseError struct {
	Format string // the format's name
	Input  string // the first 64 bytes of the input
	Offset int    // offset of the wrong byte; -1 if the fault is not in one place
	Reason string // the fault, in words
	Err    error  // ErrLength, ErrCharacter, ErrRange, ErrType or ErrNoID

	cut bool // the input is longer than Input
}

// maxInput is how many bytes of an input a ParseError keeps. Inputs may be huge.
const maxInput = 64

// Clip returns a copy of the first 64 bytes of s, for the Input of a ParseError.
func Clip[S string | []byte](s S) string {
	return string(append([]byte(nil), s[:min(len(s), maxInput)]...))
}

func (e *ParseError) Error() string {
	s := e.Format + ": "
	if e.Err != ErrType && e.Err != ErrNoID {
		s += strconv.Quote(e.Input)
		if e.cut {
			s += "…"
		}
		s += ": "
	}
	if e.Offset >= 0 {
		s += "offset " + strconv.Itoa(e.Offset) + ": "
	}
	return s + e.Reason
}

func (e *ParseError) Unwrap() error { return e.Err }

// A ListError says which ID of a list could not be written or read.
type ListError struct {
	Index  int   // index of the ID, from 0
	Offset int   // offset of the ID's text in the list; -1 if the list was being written
	Err    error // the error of this ID alone
}

func (e *ListError) Error() string {
	s := "ID " + strconv.Itoa(e.Index+1)
	if e.Offset >= 0 {
		s += " at byte " + strconv.Itoa(e.Offset)
	}
	return s + ": " + e.Err.Error()
}

func (e *ListError) Unwrap() error { return e.Err }

// BadLength returns the ParseError of an input with a wrong length. want names the right lengths.
func BadLength[S string | []byte](format string, input S, want string) *ParseError {
	return &ParseError{Format: format, Input: Clip(input), cut: len(input) > maxInput, Offset: -1, Err: ErrLength,
		Reason: fmt.Sprintf("length is %d, not %s", len(input), want)}
}

// BadCharacter returns the ParseError of an input with a foreign character at the offset.
func BadCharacter[S string | []byte](format string, input S, offset int, alphabet string) *ParseError {
	e := &ParseError{Format: format, Input: Clip(input), cut: len(input) > maxInput, Offset: offset, Err: ErrCharacter}
	tail := string(input[offset:min(len(input), offset+utf8.UTFMax)])
	r, size := utf8.DecodeRuneInString(tail)
	if r == utf8.RuneError && size <= 1 {
		e.Reason = fmt.Sprintf("byte 0x%02x is not %s", input[offset], alphabet)
	} else {
		e.Reason = fmt.Sprintf("character %q is not %s", r, alphabet)
	}
	return e
}

// BadRange returns the ParseError of a well-formed value outside the format's range.
func BadRange[S string | []byte](format string, input S, allowed string) *ParseError {
	return &ParseError{Format: format, Input: Clip(input), cut: len(input) > maxInput, Offset: -1, Err: ErrRange,
		Reason: "value is not in " + allowed}
}

// BadType returns the ParseError of a value whose type cannot hold an ID.
func BadType(format string, v any) *ParseError {
	return &ParseError{Format: format, Offset: -1, Err: ErrType, Reason: fmt.Sprintf("a value of type %T holds no ID", v)}
}

// A ConfigError names the setting that a constructor refused. It wraps [ErrConfig].
type ConfigError struct {
	Format string // the format's name
	Field  string // the field of Config
	Value  string // the value of the field
	Want   string // the valid values, in words
	Err    error  // the resulting error, or nil. If the epoch does not suit the clock, a *TimeError
}

func (e *ConfigError) Error() string {
	return e.Format + ": " + e.Field + " " + e.Value + " is not " + e.Want
}

func (e *ConfigError) Unwrap() []error {
	if e.Err != nil {
		return []error{ErrConfig, e.Err}
	}
	return []error{ErrConfig}
}

// BadConfig returns the ConfigError of a field. want names the valid values.
func BadConfig(format, field string, value any, want string) *ConfigError {
	if t, ok := value.(time.Time); ok {
		value = t.UTC().Format(time.RFC3339Nano)
	}
	return &ConfigError{Format: format, Field: field, Value: fmt.Sprint(value), Want: want}
}

// NotLeased returns the ConfigError of a generator that was made without Leased and given to a
// lease.
func NotLeased(format string) *ConfigError {
	return BadConfig(format, "Leased", false, "true: make a generator for a lease with Config.Leased")
}

// SetTwice returns the ConfigError of a generator with both a worker and Leased set.
func SetTwice(format, field string, worker int) *ConfigError {
	return BadConfig(format, field, worker, "0 beside Leased: a lease gives the generator its worker, so leave out one of the two")
}

// ZeroID returns the ConfigError of a sequence that would make the zero ID, at the epoch and with
// the other fields.
func ZeroID(format, others string) *ConfigError {
	return BadConfig(format, "sequence", 0, "1 or more, as "+others+" needs at the epoch: the ID would be zero, which means no ID")
}

// A ClockError says how far the clock is behind the last ID. It wraps [ErrClockBackwards].
type ClockError struct {
	Format string
	By     time.Duration // from the clock's tick to the last ID's tick; for sno, to the end of the exhausted ticks
}

func (e *ClockError) Error() string {
	by := e.By.String()
	return e.Format + ": clock went backwards: the last ID is " + by + " ahead of the clock: check the clock, or retry in " + by
}

func (e *ClockError) Unwrap() error { return ErrClockBackwards }

// An EarlyError says that the clock is before the generator's next interval. It wraps [ErrFenced].
type EarlyError struct {
	Format string
	Begins time.Time     // the start of the interval
	By     time.Duration // from the clock's time to the start of the interval
}

func (e *EarlyError) Error() string {
	return e.Format + ": " + ErrFenced.Error() + ": the next interval begins at " + e.Begins.UTC().Format(time.RFC3339Nano) +
		", " + e.By.String() + " ahead of the clock: check the clock, or retry then"
}

func (e *EarlyError) Unwrap() error { return ErrFenced }

// A TimeError says that a format's timestamp cannot hold a time. It wraps [ErrTimeRange]. For a time
// after the last timestamp, the error is [ErrRange], too: the ID would be too large for the format.
type TimeError struct {
	Format      string
	Time        time.Time // the time that does not fit
	First, Last time.Time // the earliest and the latest time that fit
}

func (e *TimeError) Error() string {
	const form = "2006-01-02T15:04:05.999999999Z07:00"
	where := "after the last timestamp"
	if e.Time.Before(e.First) {
		where = "before the first timestamp"
	}
	return e.Format + ": time " + e.Time.UTC().Format(form) + " is " + where +
		": use a time from " + e.First.UTC().Format(form) + " to " + e.Last.UTC().Format(form)
}

func (e *TimeError) Unwrap() []error {
	if e.Time.After(e.Last) {
		return []error{ErrTimeRange, ErrRange}
	}
	return []error{ErrTimeRange}
}
