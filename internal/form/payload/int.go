// Package payload writes and reads IDs that are integers: as binary, decimal and hexadecimal, in JSON
// and in SQL, the same for every format. An Int holds what differs, such as the canonical text and
// the largest value. A Column is how databases hold IDs, of the formats of bytes, too.
//
// The zero ID means "no ID", and no generator makes it. It is null in JSON. No database gets the zero
// ID: a Column refuses it. Text and binary forms write zeros.
package payload

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"strconv"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/digits"
	"github.com/firn-id/firn/internal/form/wrong"
)

// Names of alphabets, for errors.
const (
	DecimalDigits = "a decimal digit"
	HexDigits     = "a hexadecimal digit"
)

// Int is a format of 64-bit integers.
type Int[T ~int64] struct {
	Format string // the format's name, first in errors
	Max    int64  // the largest value; the smallest is 0
	Digits int    // number of decimal digits of Max
	Number bool   // JSON carries IDs as numbers, not as strings

	Parse  func(s []byte) (T, error)     // reads the canonical text; nil if the text is decimal
	Loose  func(s []byte) (T, error)     // also reads texts of other implementations; nil if Parse does
	Append func(dst []byte, id T) []byte // writes the canonical text of a valid ID
}

// Valid reports whether id is a value of the format.
func (f *Int[T]) Valid(id T) bool { return uint64(id) <= uint64(f.Max) }

func (f *Int[T]) allowed() string { return "0 to " + strconv.FormatInt(f.Max, 10) }

// Check returns a ParseError unless id is a value of the format.
func (f *Int[T]) Check(id T) error {
	if f.Valid(id) {
		return nil
	}
	return wrong.Range(f.Format, strconv.FormatInt(int64(id), 10), f.allowed())
}

// FromInt64 returns v as an ID if it is a value of the format.
func (f *Int[T]) FromInt64(v int64) (T, error) {
	if err := f.Check(T(v)); err != nil {
		return 0, err
	}
	return T(v), nil
}

// Decimal reads a decimal integer: only digits, and no more digits than the largest value has.
func (f *Int[T]) Decimal(s []byte) (T, error) { return Decimal(f, s) }

// Decimal is Int.Decimal for strings and bytes. It does not copy a string.
func Decimal[T ~int64, S string | []byte](f *Int[T], s S) (T, error) {
	if len(s) == 0 || len(s) > f.Digits {
		return 0, wrong.Length(f.Format, s, "1 to "+strconv.Itoa(f.Digits))
	}
	v, bad, ok := digits.Decimal(s)
	if bad >= 0 {
		return 0, wrong.Character(f.Format, s, bad, DecimalDigits)
	}
	if !ok || v > uint64(f.Max) {
		return 0, wrong.Range(f.Format, s, f.allowed())
	}
	return T(v), nil
}

// text reads the canonical text.
func (f *Int[T]) text(s []byte) (T, error) {
	if f.Parse == nil {
		return f.Decimal(s)
	}
	return f.Parse(s)
}

// Hex reads the binary form in 16 hexadecimal digits.
func (f *Int[T]) Hex(s string) (T, error) {
	if len(s) != 16 {
		return 0, wrong.Length(f.Format, s, "16")
	}
	var b [8]byte
	if bad := digits.Hex(b[:], s); bad >= 0 {
		return 0, wrong.Character(f.Format, s, bad, HexDigits)
	}
	v := binary.BigEndian.Uint64(b[:])
	if v > uint64(f.Max) {
		return 0, wrong.Range(f.Format, s, f.allowed())
	}
	return T(v), nil
}

// DecimalString returns the decimal integer, without padding.
func (f *Int[T]) DecimalString(id T) string {
	if !f.Valid(id) {
		return f.NoID(id)
	}
	return strconv.FormatInt(int64(id), 10)
}

// HexString returns the binary form in 16 hexadecimal digits.
func (f *Int[T]) HexString(id T) string {
	if !f.Valid(id) {
		return f.NoID(id)
	}
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(id))
	var text [16]byte
	return string(digits.AppendHex(text[:0], b[:]))
}

// Binary reads the 8 bytes of the big-endian integer.
func (f *Int[T]) Binary(b []byte) (T, error) {
	if len(b) != 8 {
		return 0, wrong.Length(f.Format, b, "8 bytes")
	}
	v := binary.BigEndian.Uint64(b)
	if v > uint64(f.Max) {
		return 0, wrong.Range(f.Format, b, f.allowed())
	}
	return T(v), nil
}

// AppendBinary appends the 8 bytes of the big-endian integer.
func (f *Int[T]) AppendBinary(dst []byte, id T) ([]byte, error) {
	if !f.Valid(id) {
		return dst, f.Check(id)
	}
	return binary.BigEndian.AppendUint64(dst, uint64(id)), nil
}

// NoID returns a text for an invalid value, for methods without an error. Only a conversion can
// make an invalid value. No decoder accepts the text.
func (f *Int[T]) NoID(id T) string {
	return f.Format + "(" + strconv.FormatInt(int64(id), 10) + ")"
}

// AppendJSON appends the JSON value: null for zero, a number if f.Number is true, else the
// canonical text in quotes.
func (f *Int[T]) AppendJSON(dst []byte, id T) ([]byte, error) {
	switch {
	case id == 0:
		return append(dst, "null"...), nil
	case !f.Valid(id):
		return dst, f.Check(id)
	case f.Number:
		return f.Append(dst, id), nil
	}
	return append(f.Append(append(dst, '"'), id), '"'), nil
}

// JSON reads a JSON value: null, the canonical text in a string, or the integer as a number without
// sign, fraction or exponent.
//
// For a struct field with the option string, the first version of encoding/json passes the content
// of a JSON string without quotes. JSON therefore reads data as a text if data is not a JSON value.
// JSON refuses a number that is also the text of another ID, since either ID may have been written.
func (f *Int[T]) JSON(data []byte) (T, error) {
	switch {
	case string(data) == "null":
		return 0, nil
	case len(data) == 0 || data[0] == '"':
		return JSONString(f.Format, data, f.text)
	case data[0] != '-' && (data[0] < '0' || data[0] > '9'):
		return 0, wrong.Character(f.Format, data, 0, "the start of a JSON string or number")
	case f.Parse == nil: // number and text are the same
		return f.Decimal(data)
	case !json.Valid(data):
		return f.Parse(data)
	}
	number, err := f.Decimal(data)
	parse := f.Parse
	if err == nil && f.Loose != nil {
		parse = f.Loose
	}
	if text, bad := parse(data); bad == nil && (err != nil || text != number) {
		return 0, &iderr.ParseError{Format: f.Format, Input: wrong.Clip(data), Offset: 0, Err: iderr.ErrCharacter,
			Reason: "the JSON number is also the text of another ID: write IDs as text, and read them into fields without the option string"}
	}
	return number, err
}

// JSONString reads null as the zero value, and a JSON string by text.
func JSONString[T comparable](format string, data []byte, text func([]byte) (T, error)) (T, error) {
	var zero T
	switch {
	case string(data) == "null":
		return zero, nil
	case len(data) == 0:
		return zero, wrong.Length(format, data, "that of a JSON value")
	case len(data) < 2 || data[0] != '"' || data[len(data)-1] != '"':
		return zero, wrong.Character(format, data, 0, "the start of a JSON string")
	case bytes.IndexByte(data, '\\') < 0:
		return text(data[1 : len(data)-1])
	}
	var s string
	if json.Unmarshal(data, &s) != nil {
		return zero, wrong.Character(format, data, 0, "the start of a JSON string")
	}
	return text([]byte(s))
}

// Column returns how databases hold the IDs as integers. The type is the Go type of the IDs, and
// text the type for columns of text.
func (f *Int[T]) Column(goType, text string) Column[T] {
	c := Column[T]{
		Format: f.Format, Type: goType, Holds: "an integer",
		Else:  "make the column BIGINT, or use " + text + " for a column with the texts of IDs; for decimal digits, scan into an int64",
		ToInt: f.toInt, FromInt: f.FromInt64, Float: f.Number,
	}
	if f.Number { // the text is the integer in decimal: no text is another ID
		c.FromText = f.Decimal
		c.Else = "use BIGINT"
	}
	return c
}

// TextColumn returns how databases hold the canonical texts.
func (f *Int[T]) TextColumn(goType, plain string) Column[T] {
	return Column[T]{
		Format: f.Format, Type: goType, Holds: "a text, in a column of text",
		Else:   "use " + plain + " for a BIGINT column",
		ToText: f.toText, FromText: f.text,
	}
}

func (f *Int[T]) toText(id T) (string, error) { return shown[T]{f, id}.String(), f.Check(id) }

func (f *Int[T]) toInt(id T) (int64, error) { return int64(id), f.Check(id) }

// Set returns a function that takes the results of a reader. It sets *dst unless there was an
// error.
func Set[T any](dst *T) func(T, error) error {
	return func(v T, err error) error {
		if err == nil {
			*dst = v
		}
		return err
	}
}
