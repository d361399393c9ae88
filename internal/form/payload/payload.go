package payload

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/wrong"
)

// Redis reads a field of Redis, as go-redis hands it over: the binary form of size bytes, which
// go-redis writes for a type with MarshalBinary, or the text. No text has size characters.
func Redis[T any](s string, size int, binary, text func([]byte) (T, error)) (T, error) {
	if len(s) == size {
		return binary([]byte(s))
	}
	return text([]byte(s))
}

// Redis reads a field of Redis, as go-redis hands it over: the 8 bytes of the binary form, which
// go-redis writes for a type with MarshalBinary, or the text.
func (f *Int[T]) Redis(s string) (T, error) {
	if len(s) == 8 && f.binaryNotText([]byte(s)) {
		return f.Binary([]byte(s))
	}
	return f.text([]byte(s))
}

// binaryNotText reports whether 8 bytes are the binary form and not 8 characters of text. As a
// binary form, 8 decimal digits exceed the largest value of a format with Number. Canonical texts
// of other formats are longer than 8 characters.
func (f *Int[T]) binaryNotText(b []byte) bool {
	return !f.Number || binary.BigEndian.Uint64(b) <= uint64(f.Max)
}

// GQL writes an ID's JSON value to an answer of GraphQL. The method of gqlgen has no error. For a
// value that is not an ID, GQL writes a text refused by all decoders.
func GQL(w io.Writer, id interface {
	json.Marshaler
	fmt.Stringer
}) {
	data, err := id.MarshalJSON()
	if err != nil {
		data = strconv.AppendQuote(nil, id.String())
	}
	w.Write(data) // gqlgen looks at the errors of its writer
}

// FromGQL reads a value of GraphQL, as gqlgen hands it over. number reads a number of JSON, and is
// nil for a format whose IDs are not numbers.
func FromGQL[T any](format string, v any, text, number func([]byte) (T, error)) (id T, err error) {
	var digits []byte
	switch v := v.(type) {
	case nil:
		return id, &iderr.ParseError{Format: format, Offset: -1, Err: iderr.ErrNoID,
			Reason: "null is no ID: make the argument non-null in the schema, or use a pointer"}
	case string:
		return text([]byte(v))
	case int:
		digits = strconv.AppendInt(nil, int64(v), 10)
	case int64:
		digits = strconv.AppendInt(nil, v, 10)
	case json.Number:
		digits = []byte(v)
	}
	if digits == nil || number == nil {
		return id, wrong.Type(format, v)
	}
	return number(digits)
}

// FromGQL reads a value of GraphQL: a string as the text, and a number as JSON does.
func (f *Int[T]) FromGQL(v any) (T, error) { return FromGQL(f.Format, v, f.text, f.JSON) }

// Format implements [fmt.Formatter]: the text for %v and %s, the quoted text for %q, the binary
// form in hexadecimal for %x and %X, with 0x for %#x, and goSyntax for %#v. integer is the value
// for %d, and nil for a format whose IDs are not integers. Width, precision and flags work as for a
// string, and for %d as for an integer.
func Format(s fmt.State, verb rune, id interface {
	fmt.Stringer
	Hex() string
}, integer any, goSyntax string) {
	switch {
	case verb == 'v' && s.Flag('#'):
		io.WriteString(s, goSyntax)
	case verb == 'v' || verb == 's':
		fmt.Fprintf(s, fmt.FormatString(s, 's'), id.String())
	case verb == 'q':
		fmt.Fprintf(s, fmt.FormatString(s, 'q'), id.String())
	case verb == 'x' || verb == 'X':
		hex := id.Hex()
		if s.Flag('#') {
			hex = "0x" + hex
		}
		if verb == 'X' {
			hex = strings.ToUpper(hex)
		}
		fmt.Fprintf(s, fmt.FormatString(s, 's'), hex)
	case verb == 'd' && integer != nil:
		fmt.Fprintf(s, fmt.FormatString(s, 'd'), integer)
	default:
		fmt.Fprintf(s, "%%!%c(%s)", verb, id)
	}
}

// Print is Format for an ID of the Go type. must is the function for goSyntax.
func (f *Int[T]) Print(s fmt.State, verb rune, id T, goType, must string) {
	v := shown[T]{f, id}
	goSyntax := must + "(" + strconv.Quote(v.String()) + ")"
	if !f.Valid(id) {
		goSyntax = goType + "(" + strconv.FormatInt(int64(id), 10) + ")"
	}
	Format(s, verb, v, int64(id), goSyntax)
}

// shown is an ID with its texts.
type shown[T ~int64] struct {
	form *Int[T]
	id   T
}

func (v shown[T]) Hex() string { return v.form.HexString(v.id) }

func (v shown[T]) String() string {
	if !v.form.Valid(v.id) {
		return v.form.NoID(v.id)
	}
	return string(v.form.Append(nil, v.id))
}

// FormatColumn implements [fmt.Formatter] for a type of a column, as the ID does. method makes the
// type of the ID.
func FormatColumn(s fmt.State, verb rune, id fmt.Formatter, method string) {
	id.Format(s, verb)
	if verb == 'v' && s.Flag('#') {
		io.WriteString(s, "."+method+"()")
	}
}
