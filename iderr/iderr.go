// Package iderr holds the errors of all formats of Firn. One errors.Is or errors.As therefore
// serves every format. Package sno also keeps its published names.
package iderr

import (
	"errors"
	"strconv"
	"time"
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
	// ErrFenced: the time is outside the interval granted to the generator. A lease's errors say
	// why. An [EarlyError] says when the next interval begins.
	ErrFenced = errors.New("outside the granted interval")
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

// A ParseError describes the fault of an input that is not an ID, and the place.
type ParseError struct {
	Format string // the format's name
	Input  string // the first 64 bytes of the input
	Offset int    // offset of the wrong byte; -1 if the fault is not in one place
	Reason string // the fault, in words
	Cut    bool   // the input is longer than Input
	Err    error  // ErrLength, ErrCharacter, ErrRange, ErrType or ErrNoID
}

func (e *ParseError) Error() string {
	s := e.Format + ": "
	if e.Err != ErrType && e.Err != ErrNoID {
		s += strconv.Quote(e.Input)
		if e.Cut {
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

// A ListError names the ID of a list that could not be written or read.
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

// A ConfigError names the setting refused by a constructor. It wraps [ErrConfig].
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
