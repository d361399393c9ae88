package scru160

import (
	"cmp"
	"encoding"
	"encoding/json"
	"fmt"

	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/form/digits"
	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/wrong"
)

const (
	format = "scru160"

	textLen = base32.Len160
	hexLen  = 2 * Size
)

var (
	_ fmt.Stringer               = ID{}
	_ encoding.TextAppender      = ID{}
	_ encoding.TextMarshaler     = ID{} // with TextUnmarshaler, what flag.TextVar takes
	_ encoding.TextUnmarshaler   = (*ID)(nil)
	_ encoding.BinaryAppender    = ID{}
	_ encoding.BinaryMarshaler   = ID{}
	_ encoding.BinaryUnmarshaler = (*ID)(nil)
	_ json.Marshaler             = ID{}
	_ json.Unmarshaler           = (*ID)(nil)
)

// Parse reads an ID in either encoding of the specification: 32 characters of base32hex or 40
// hexadecimal digits, in either case. Any other text is a *[iderr.ParseError].
//
// Specification: "Encodings".
func Parse(s string) (id ID, err error) {
	err = id.read(s)
	return id, err
}

// MustParse is [Parse] for constants in code. It panics if Parse returns an error.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// read sets id to the ID of either text, and leaves id unchanged on an error. Functions that return
// an ID by value are thin wrappers: the compiler inlines the wrapper and saves a copy, which takes
// longer than the reading.
func (id *ID) read(s string) error {
	if base32.Hex.Decode(id[:], s) {
		return nil
	}
	return other(id, s)
}

func (id *ID) readBytes(s []byte) error {
	if base32.Hex.DecodeBytes(id[:], s) {
		return nil
	}
	return other(id, s)
}

func parseBytes(s []byte) (id ID, err error) { err = id.readBytes(s); return id, err }

// other reads a text that is not base32hex, and returns the error of a text that is not an ID.
func other[S string | []byte](id *ID, s S) error {
	switch len(s) {
	case textLen:
		return wrong.Character(format, s, base32.Foreign(base32.Hex, s), "in base32hex")
	case hexLen:
		return readHex(id, s)
	}
	return wrong.Length(format, s, "32 (base32hex) or 40 (hex)")
}

// CompareText returns -1, 0 or 1 as the ID of text a is less than, equal to or greater than the ID
// of text b, in either case. It does not decode: it compares letters without their case, for
// sorting texts of other programs. Both texts must be base32hex, or both hexadecimal; texts of two
// encodings have no order.
//
// Specification: "Encodings".
func CompareText(a, b string) int {
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(upper(a[i]), upper(b[i])); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(a), len(b))
}

// upper returns the upper-case letter of an ASCII letter, and any other byte unchanged.
func upper(c byte) byte {
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	return c
}

// ParseHex reads 40 hexadecimal digits of either case, and no base32hex.
func ParseHex(s string) (id ID, err error) {
	if len(s) != hexLen {
		return ID{}, wrong.Length(format, s, "40")
	}
	err = readHex(&id, s)
	return id, err
}

func readHex[S string | []byte](id *ID, s S) error {
	var v ID
	if bad := digits.Hex(v[:], s); bad >= 0 {
		return wrong.Character(format, s, bad, payload.HexDigits)
	}
	*id = v
	return nil
}

// FromBytes reads the binary form: the ID's 20 bytes.
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, wrong.Length(format, b, "20 bytes")
	}
	return ID(b), nil
}

// String returns the default text: 32 characters of base32hex in upper case. Texts sort as the IDs
// do.
func (id ID) String() string {
	var b [textLen]byte
	return string(base32.Hex.Append160(b[:0], (*[Size]byte)(&id)))
}

// Hex returns the alternative text: 40 hexadecimal digits in lower case. These texts sort as the
// IDs do, but not in a mix with base32hex.
func (id ID) Hex() string {
	var b [hexLen]byte
	return string(digits.AppendHex(b[:0], id[:]))
}

// AppendText implements [encoding.TextAppender] by the default text. It never fails, and does not
// allocate if dst has room for 32 bytes.
func (id ID) AppendText(dst []byte) ([]byte, error) {
	return base32.Hex.Append160(dst, (*[Size]byte)(&id)), nil
}

// MarshalText implements [encoding.TextMarshaler] by the default text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads the texts that [Parse] reads. An
// error leaves id unchanged, as in all methods that read an ID.
func (id *ID) UnmarshalText(text []byte) error { return id.readBytes(text) }

// AppendBinary implements [encoding.BinaryAppender] by the 20 bytes. It never fails, and does not
// allocate if dst has room for 20 bytes.
func (id ID) AppendBinary(dst []byte) ([]byte, error) { return append(dst, id[:]...), nil }

// MarshalBinary implements [encoding.BinaryMarshaler] by the 20 bytes.
func (id ID) MarshalBinary() ([]byte, error) { return id[:], nil }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (id *ID) UnmarshalBinary(data []byte) error { return payload.Set(id)(FromBytes(data)) }

// MarshalJSON implements [json.Marshaler]: the default text as a string, and null for the zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	b := make([]byte, 1, textLen+2)
	b[0] = '"'
	return append(base32.Hex.Append160(b, (*[Size]byte)(&id)), '"'), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads either text in a string, and null as the
// zero ID.
func (id *ID) UnmarshalJSON(data []byte) error {
	return payload.Set(id)(payload.JSONString(format, data, parseBytes))
}
