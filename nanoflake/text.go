package nanoflake

import (
	"encoding"
	"encoding/json"
	"fmt"

	"github.com/firn-id/firn/internal/form/base36"
	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/wrong"
)

const format = "nanoflake"

var form = payload.Int[ID]{Format: format, Max: int64(Max), Digits: 19, Parse: parse[[]byte], Loose: parseBase36[[]byte], Append: appendText}

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

// Parse reads the text of an ID: exactly 13 base-36 digits, with letters in either case. Any other
// text is a *[iderr.ParseError]. A text that lost a character is thus an error, and not another ID.
// [ParseBase36] reads texts without padding.
//
// Specification: "Encoding of Nanoflakes".
func Parse(s string) (ID, error) { return parse(s) }

// MustParse is [Parse] for constants in code. It panics if Parse returns an error.
func MustParse(s string) ID {
	id, err := parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

func parse[S string | []byte](s S) (ID, error) {
	if len(s) != base36.Len {
		want := "13"
		if 0 < len(s) && len(s) < base36.Len {
			want += ": if its leading zeros were left out, read it as base36"
		}
		return 0, wrong.Length(format, s, want)
	}
	v, bad, ok := base36.Parse(s)
	if !ok {
		return 0, refuse(s, bad)
	}
	return ID(v), nil
}

// ParseBase36 reads base-36 digits with or without padding: 1 to 13 digits, with letters in either
// case. Other implementations write IDs without padding. A text without padding is another ID after
// the loss of a character, so use [Parse] for texts of this package.
func ParseBase36(s string) (ID, error) { return parseBase36(s) }

func parseBase36[S string | []byte](s S) (ID, error) {
	if len(s) == 0 || len(s) > base36.Len {
		return 0, wrong.Length(format, s, "1 to 13")
	}
	v, bad, ok := base36.Parse(s)
	if !ok {
		return 0, refuse(s, bad)
	}
	return ID(v), nil
}

// refuse returns the error of a text with a bad character at the offset, or of a value out of range
// if the offset is negative.
func refuse[S string | []byte](s S, bad int) error {
	if bad >= 0 {
		return wrong.Character(format, s, bad, "a base-36 digit")
	}
	return wrong.Range(format, s, "0 to 1y2p0ij32e8e7")
}

func appendText(dst []byte, id ID) []byte { return base36.Append(dst, uint64(id)) }

// String returns the canonical text: 13 base-36 digits in lower case, padded with zeros. Texts sort
// as the IDs do.
func (id ID) String() string {
	if !form.Valid(id) {
		return form.NoID(id)
	}
	var b [base36.Len]byte
	return string(appendText(b[:0], id))
}

// AppendText implements [encoding.TextAppender] by the canonical text. It does not allocate if dst
// has room for 13 bytes.
func (id ID) AppendText(dst []byte) ([]byte, error) {
	if id < 0 {
		return dst, form.Check(id)
	}
	return base36.Append(dst, uint64(id)), nil
}

// MarshalText implements [encoding.TextMarshaler] by the canonical text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads the texts that [Parse] reads. An
// error leaves id unchanged, as in all methods that read an ID.
func (id *ID) UnmarshalText(text []byte) error { return payload.Set(id)(parse(text)) }

// ParseDecimal reads an ID as a decimal integer: 1 to 19 digits and nothing else.
func ParseDecimal(s string) (ID, error) { return payload.Decimal(&form, s) }

// Decimal returns the ID as a decimal integer, without padding.
func (id ID) Decimal() string { return form.DecimalString(id) }

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

// MarshalJSON implements [json.Marshaler]: the canonical text as a string, because JavaScript
// numbers have 53 bits, and null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) { return form.AppendJSON(nil, id) }

// UnmarshalJSON implements [json.Unmarshaler]. It reads a string as the text, a number as an
// integer, and null as the zero ID. A number whose digits are also the base-36 text of another ID
// is a *[iderr.ParseError], because other implementations write such texts. Those numbers have at
// most 13 digits; only IDs of the first hour after an epoch are so small.
//
// A struct field needs no option string. With the option, encoding/json drops the quotes of the
// text, unless built with GOEXPERIMENT=jsonv2. UnmarshalJSON reads a text without quotes, too,
// except for a text that is also a JSON number, such as 1000000000000 or 1e10000000000: the error
// is a *[iderr.ParseError]. Without the option the same JSON reads well.
func (id *ID) UnmarshalJSON(data []byte) error { return payload.Set(id)(form.JSON(data)) }
