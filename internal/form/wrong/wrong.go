// Package wrong makes the errors of package iderr, in the same words for all formats.
package wrong

import (
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/firn-id/firn/iderr"
)

// maxInput is how many bytes of an input a ParseError keeps. Inputs may be huge.
const maxInput = 64

// Length returns the ParseError of an input with a wrong length. want names the right lengths.
func Length[S string | []byte](format string, input S, want string) *iderr.ParseError {
	return &iderr.ParseError{Format: format, Input: Clip(input), Cut: len(input) > maxInput, Offset: -1, Err: iderr.ErrLength,
		Reason: fmt.Sprintf("length is %d, not %s", len(input), want)}
}

// Character returns the ParseError of an input with a foreign character at the offset.
func Character[S string | []byte](format string, input S, offset int, alphabet string) *iderr.ParseError {
	e := &iderr.ParseError{Format: format, Input: Clip(input), Cut: len(input) > maxInput, Offset: offset, Err: iderr.ErrCharacter}
	tail := string(input[offset:min(len(input), offset+utf8.UTFMax)])
	r, size := utf8.DecodeRuneInString(tail)
	if r == utf8.RuneError && size <= 1 {
		e.Reason = fmt.Sprintf("byte 0x%02x is not %s", input[offset], alphabet)
	} else {
		e.Reason = fmt.Sprintf("character %q is not %s", r, alphabet)
	}
	return e
}

// Range returns the ParseError of a well-formed value outside the format's range.
func Range[S string | []byte](format string, input S, allowed string) *iderr.ParseError {
	return &iderr.ParseError{Format: format, Input: Clip(input), Cut: len(input) > maxInput, Offset: -1, Err: iderr.ErrRange,
		Reason: "value is not in " + allowed}
}

// Type returns the ParseError of a value whose type cannot hold an ID.
func Type(format string, v any) *iderr.ParseError {
	return &iderr.ParseError{Format: format, Offset: -1, Err: iderr.ErrType, Reason: fmt.Sprintf("a value of type %T holds no ID", v)}
}

// Config returns the ConfigError of a field. want names the valid values.
func Config(format, field string, value any, want string) *iderr.ConfigError {
	if t, ok := value.(time.Time); ok {
		value = t.UTC().Format(time.RFC3339Nano)
	}
	return &iderr.ConfigError{Format: format, Field: field, Value: fmt.Sprint(value), Want: want}
}

// NotLeased returns the ConfigError of a generator that was made without Leased and given to a
// lease.
func NotLeased(format string) *iderr.ConfigError {
	return Config(format, "Leased", false, "true: make a generator for a lease with Config.Leased")
}

// SetTwice returns the ConfigError of a generator with both a worker and Leased set.
func SetTwice(format, field string, worker int) *iderr.ConfigError {
	return Config(format, field, worker, "0 beside Leased: a lease gives the generator its worker, so leave out one of the two")
}

// ZeroID returns the ConfigError of a sequence that would make the zero ID, at the epoch and with
// the other fields.
func ZeroID(format, others string) *iderr.ConfigError {
	return Config(format, "sequence", 0, "1 or more, as "+others+" needs at the epoch: the ID would be zero, which means no ID")
}

// Clip returns a copy of the first 64 bytes of s, for the Input of a ParseError.
func Clip[S string | []byte](s S) string {
	return string(append([]byte(nil), s[:min(len(s), maxInput)]...))
}
