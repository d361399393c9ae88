// Package iderr holds the errors that all of Firn's formats share, so that one
// errors.Is or errors.As serves whichever format an ID or a generator has. Each
// format's package offers those that programs decide by under its own name too: the
// types, ErrExhausted, ErrClockBackwards, ErrTimeRange and ErrFenced. The other sentinels,
// such as those that tell one ParseError from another, are here alone.
package iderr

import (
	"errors"
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"
)

// What a generator can run into. Test for them with [errors.Is].
var (
	// ErrExhausted: the tick has no sequence left. The next tick has.
	ErrExhausted = errors.New("sequence exhausted")
	// ErrClockBackwards: the clock is behind the last ID; a [ClockError] says how far.
	ErrClockBackwards = errors.New("clock went backwards")
	// ErrTimeRange: the time does not fit the format's timestamp; a [TimeError]
	// says which times do.
	ErrTimeRange = errors.New("time out of range")
	// ErrFenced: the generator was allotted certain times, and this is none of them. A
	// lease's errors say why; an [EarlyError] says when the next times begin.
	ErrFenced = errors.New("outside the allotted times")
	// ErrNotReady: the generator was not made by NewGenerator, and does not know its
	// format.
	ErrNotReady = errors.New("firn: generator was not made by NewGenerator")
	// ErrConfig: a setting is out of its range; a [ConfigError] names it.
	ErrConfig = errors.New("invalid configuration")
)

// What can be wrong with an ID that is read. A [ParseError] wraps one of them.
var (
	// ErrLength: the input is too short or too long.
	ErrLength = errors.New("wrong length")
	// ErrCharacter: a character is not in the format's alphabet.
	ErrCharacter = errors.New("invalid character")
	// ErrRange: the value is too large for the format, or negative.
	ErrRange = errors.New("value out of range")
	// ErrType: the value read has a type that cannot hold an ID.
	ErrType = errors.New("unsupported type")
)

// A ParseError says what is wrong with an ID that was read, and where.
type ParseError struct {
	Format string // the format's name
	Input  string // what was read, cut to its first 64 bytes
	Offset int    // byte in the input where it went wrong, -1 if it is not one place
	Reason string // what is wrong there, in words
	Err    error  // ErrLength, ErrCharacter, ErrRange or ErrType

	cut bool // Input is not all of it
}

// maxInput bounds what a ParseError keeps of a bad input, which may be huge.
const maxInput = 64

// Clip returns s as a ParseError keeps it, in memory of its own.
func Clip[S string | []byte](s S) string {
	return string(append([]byte(nil), s[:min(len(s), maxInput)]...))
}

func (e *ParseError) Error() string {
	s := e.Format + ": "
	if e.Err != ErrType {
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

// A ListError says which of many IDs could not be written or read, and wraps the error that
// it would have had alone.
type ListError struct {
	Index  int   // which one, from 0
	Offset int   // byte in the list where its text begins; -1 where IDs are written
	Err    error // what is wrong with it
}

func (e *ListError) Error() string {
	s := "ID " + strconv.Itoa(e.Index+1)
	if e.Offset >= 0 {
		s += " at byte " + strconv.Itoa(e.Offset)
	}
	return s + ": " + e.Err.Error()
}

func (e *ListError) Unwrap() error { return e.Err }

// BadLength is the ParseError of an input whose length is none that want names.
func BadLength[S string | []byte](format string, input S, want string) *ParseError {
	return &ParseError{Format: format, Input: Clip(input), cut: len(input) > maxInput, Offset: -1, Err: ErrLength,
		Reason: fmt.Sprintf("length is %d, not %s", len(input), want)}
}

// BadCharacter is the ParseError of an input with a foreign character at the offset.
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

// BadRange is the ParseError of a value that is well written but not the format's.
func BadRange[S string | []byte](format string, input S, allowed string) *ParseError {
	return &ParseError{Format: format, Input: Clip(input), cut: len(input) > maxInput, Offset: -1, Err: ErrRange,
		Reason: "value is not in " + allowed}
}

// BadType is the ParseError of a value whose type holds no ID.
func BadType(format string, v any) *ParseError {
	return &ParseError{Format: format, Offset: -1, Err: ErrType, Reason: fmt.Sprintf("a %T holds no ID", v)}
}

// A ConfigError names the setting that a constructor refused. It is [ErrConfig] to
// errors.Is.
type ConfigError struct {
	Format string // the format's name
	Field  string // the field of Config
	Value  string // what it was
	Want   string // what it may be, in words
	Err    error  // what came of it: of an epoch that the clock does not go with, a *TimeError; or nil
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

// BadConfig is the ConfigError of a field whose value is not what is wanted.
func BadConfig(format, field string, value any, want string) *ConfigError {
	if t, ok := value.(time.Time); ok {
		value = t.UTC().Format(time.RFC3339Nano)
	}
	return &ConfigError{Format: format, Field: field, Value: fmt.Sprint(value), Want: want}
}

// NotLeased is the ConfigError of a generator that a lease is to serve, and that was not made to be
// leased.
func NotLeased(format string) *ConfigError {
	return BadConfig(format, "Leased", false, "true: set it in the generator's configuration to lease the generator")
}

// SetTwice is the ConfigError of a worker that is set by hand for a generator that a lease is to serve.
func SetTwice(format, field string, worker int) *ConfigError {
	return BadConfig(format, field, worker, "0 beside Leased: a lease gives the generator its worker, so leave out one of the two")
}

// ZeroID is the ConfigError of a sequence that would make, at the epoch and with the other
// fields, the zero ID.
func ZeroID(format, others string) *ConfigError {
	return BadConfig(format, "sequence", 0, "1 or more, as "+others+" needs at the epoch: the zero ID stands for none")
}

// A ClockError says how far the clock is behind the last ID. It is
// [ErrClockBackwards] to errors.Is.
type ClockError struct {
	Format string
	By     time.Duration // from the clock's tick to the last ID's; for sno, to the end of a used-up time
}

func (e *ClockError) Error() string {
	return e.Format + ": clock went backwards: it is " + e.By.String() + " behind the last ID"
}

func (e *ClockError) Unwrap() error { return ErrClockBackwards }

// An EarlyError says that the clock is before the next interval that the generator was allotted.
// It is [ErrFenced] to errors.Is.
type EarlyError struct {
	Format string
	Begins time.Time     // the first time of the interval
	By     time.Duration // from the clock's time to that
}

func (e *EarlyError) Error() string {
	return e.Format + ": " + ErrFenced.Error() + ": the next interval begins at " + e.Begins.UTC().Format(time.RFC3339Nano) +
		", " + e.By.String() + " ahead of the clock: check the clock; if it is right, wait until then"
}

func (e *EarlyError) Unwrap() error { return ErrFenced }

// A TimeError says which times a format's timestamp can hold. It is
// [ErrTimeRange] to errors.Is.
type TimeError struct {
	Format      string
	Time        time.Time // the time that does not fit
	First, Last time.Time // the earliest and the latest that do
}

func (e *TimeError) Error() string {
	const form = "2006-01-02T15:04:05.999999999Z07:00"
	where := "after the last timestamp"
	if e.Time.Before(e.First) {
		where = "before the first timestamp"
	}
	return e.Format + ": time " + e.Time.UTC().Format(form) + " is " + where +
		" (" + e.First.UTC().Format(form) + " to " + e.Last.UTC().Format(form) + ")"
}

func (e *TimeError) Unwrap() error { return ErrTimeRange }
