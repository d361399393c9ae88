package ulidflake

import (
	"encoding"
	"encoding/json"
	"fmt"

	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/wrong"
)

const (
	format       = "ulidflake"
	alphabetName = "in Crockford's base-32"
)

var form = payload.Int[ID]{Format: format, Max: int64(Max), Digits: 19, Parse: parseBytes, Append: appendInt[ID]}

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

// Parse reads the canonical text of an ID: 13 characters of Crockford's base-32, in either case. I,
// L, O and U do not stand for other characters. Any other text is a *[iderr.ParseError]. The error is
// [iderr.ErrRange] for a text beyond 7ZZZZZZZZZZZZ.
//
// Specification: "Encoding" and "Timestamp and Over All".
func Parse(s string) (ID, error) { return parse(s) }

// MustParse is [Parse] for constants in code. It panics if Parse returns an error.
func MustParse(s string) ID {
	id, err := parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

func parse(s string) (ID, error) {
	if v := base32.Crockford.Decode63(s); v >= 0 {
		return ID(v), nil
	}
	return 0, refuse(format, s)
}

func parseBytes(s []byte) (ID, error) {
	if v := base32.Crockford.Decode63Bytes(s); v >= 0 {
		return ID(v), nil
	}
	return 0, refuse(format, s)
}

// refuse returns the error of a text that is not an ID.
func refuse[S string | []byte](format string, s S) error {
	if len(s) != base32.Len63 {
		return wrong.Length(format, s, "13")
	}
	if bad := base32.Foreign(base32.Crockford, s); bad >= 0 {
		return wrong.Character(format, s, bad, alphabet(s[bad]))
	}
	return wrong.Range(format, s, "0000000000000 to 7ZZZZZZZZZZZZ")
}

// alphabet says which character belongs in place of a foreign character. Crockford's alphabet
// leaves out letters that look like digits: the hint names the digit.
func alphabet(c byte) string {
	switch c {
	case 'I', 'i', 'L', 'l':
		return alphabetName + ", which has 1 in its place"
	case 'O', 'o':
		return alphabetName + ", which has 0 in its place"
	}
	return alphabetName
}

func appendInt[T ~int64](dst []byte, id T) []byte {
	return base32.Crockford.Append63(dst, uint64(id))
}

// String returns the canonical text: 13 characters of Crockford's base-32 in upper case. Texts sort
// as the IDs do.
func (id ID) String() string {
	if !form.Valid(id) {
		return form.NoID(id)
	}
	var b [base32.Len63]byte
	return string(appendInt(b[:0], id))
}

// AppendText implements [encoding.TextAppender] by the canonical text. It does not allocate if dst
// has room for 13 bytes.
func (id ID) AppendText(dst []byte) ([]byte, error) {
	if id < 0 {
		return dst, form.Check(id)
	}
	return appendInt(dst, id), nil
}

// MarshalText implements [encoding.TextMarshaler] by the canonical text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads the texts that [Parse] reads. An
// error leaves id unchanged, as in all methods that read an ID.
func (id *ID) UnmarshalText(text []byte) error {
	v, err := parseBytes(text)
	if err == nil {
		*id = v
	}
	return err
}

// ParseDecimal reads an ID as a decimal integer: 1 to 19 digits and nothing else.
//
// Specification: "Optional Long Int Representation".
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
// integer, and null as the zero ID. A number whose digits are also the text of another ID is a
// *[iderr.ParseError]. Those numbers have 13 digits; only IDs of the first hours after an epoch are
// so small.
//
// A struct field needs no option string. With the option, encoding/json drops the quotes of the
// text, unless built with GOEXPERIMENT=jsonv2. UnmarshalJSON reads a text without quotes, too,
// except for a text that is also a JSON number, such as 1000000000000 or 1e10000000000: the error
// is a *[iderr.ParseError]. Without the option the same JSON reads well.
func (id *ID) UnmarshalJSON(data []byte) error { return payload.Set(id)(form.JSON(data)) }
