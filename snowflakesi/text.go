package snowflakesi

import (
	"encoding"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/firn-id/firn/internal/form/payload"
)

const (
	format  = "snowflakesi"
	maxText = len("9007199254740991") // the length of the largest ID's text
)

var form = payload.Int[ID]{Format: format, Max: int64(Max), Digits: maxText, Number: true, Append: appendText}

var (
	_ fmt.Stringer               = ID(0)
	_ encoding.TextAppender      = ID(0)
	_ encoding.TextMarshaler     = ID(0) // with TextUnmarshaler, what flag.TextVar takes
	_ encoding.TextUnmarshaler   = (*ID)(nil)
	_ encoding.BinaryAppender    = ID(0)
	_ encoding.BinaryMarshaler   = ID(0)
	_ encoding.BinaryUnmarshaler = (*ID)(nil)
	_ json.Marshaler             = ID(0)
	_ json.Unmarshaler           = (*ID)(nil)
)

// Parse reads an ID in decimal: 1 to 16 digits, up to 9007199254740991. Any other text is a
// *[iderr.ParseError], also a text with a sign or a space.
func Parse(s string) (ID, error) { return parse(s) }

// MustParse is [Parse] for constants in code. It panics if Parse returns an error.
func MustParse(s string) ID {
	id, err := parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

func parse[S string | []byte](s S) (ID, error) { return payload.Decimal(&form, s) }

func appendText(dst []byte, id ID) []byte { return strconv.AppendInt(dst, int64(id), 10) }

// String returns the canonical text: decimal, without padding.
func (id ID) String() string {
	if !form.Valid(id) {
		return form.NoID(id)
	}
	var b [maxText]byte
	return string(appendText(b[:0], id))
}

// AppendText implements [encoding.TextAppender] by the canonical text. It does not allocate if dst
// has room for 16 bytes.
func (id ID) AppendText(dst []byte) ([]byte, error) {
	if !form.Valid(id) {
		return dst, form.Check(id)
	}
	return appendText(dst, id), nil
}

// MarshalText implements [encoding.TextMarshaler] by the canonical text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads the texts that [Parse] reads. An
// error leaves id unchanged, as in all methods that read an ID.
func (id *ID) UnmarshalText(text []byte) error { return payload.Set(id)(parse(text)) }

// ParseHex reads the binary form in 16 hexadecimal digits of either case.
func ParseHex(s string) (ID, error) { return form.Hex(s) }

// Hex returns the binary form in 16 lower-case hexadecimal digits.
func (id ID) Hex() string { return form.HexString(id) }

// FromBytes reads the binary form: 8 bytes, the most significant first.
func FromBytes(b []byte) (ID, error) { return form.Binary(b) }

// AppendBinary implements [encoding.BinaryAppender]: 8 bytes, the most significant byte first.
// Binary forms sort as the IDs do. AppendBinary does not allocate if dst has room for 8 bytes.
func (id ID) AppendBinary(dst []byte) ([]byte, error) { return form.AppendBinary(dst, id) }

// MarshalBinary implements [encoding.BinaryMarshaler]; see [ID.AppendBinary].
func (id ID) MarshalBinary() ([]byte, error) { return id.AppendBinary(nil) }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (id *ID) UnmarshalBinary(data []byte) error { return payload.Set(id)(form.Binary(data)) }

// MarshalJSON implements [json.Marshaler]: a number, because JavaScript numbers hold 53 bits, and
// null for the zero ID.
//
// Give a struct field no option string. With the option, encoding/json writes the same number and
// refuses to read that number ("invalid use of ,string struct tag"), unless built with
// GOEXPERIMENT=jsonv2. Without the option the same JSON reads well.
func (id ID) MarshalJSON() ([]byte, error) { return form.AppendJSON(nil, id) }

// UnmarshalJSON implements [json.Unmarshaler]. It reads an integer as a number or in a string, and
// null as the zero ID.
func (id *ID) UnmarshalJSON(data []byte) error { return payload.Set(id)(form.JSON(data)) }
