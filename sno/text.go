package sno

import (
	"encoding"
	"encoding/json"
	"fmt"

	"github.com/firn-id/firn/internal/form/base32"
	"github.com/firn-id/firn/internal/form/digits"
	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/wrong"
)

const format = "sno"

// digitsOfText are the characters of the canonical text in the order of their values.
const digitsOfText = "23456789abcdefghijklmnopqrstuvwx"

var codec = base32.NewCodec(digitsOfText, false)

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

// Parse reads the canonical text: 16 characters of [2-9a-x]. Another length is an
// *[InvalidDataSizeError], and another character a *[ParseError].
func Parse(s string) (ID, error) {
	var id ID
	err := id.read(s)
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

// read sets id to the ID of the canonical text, and leaves id unchanged on an error. Functions that
// return an ID by value are thin wrappers: the compiler inlines the wrapper and saves a copy.
func (id *ID) read(s string) error {
	if codec.Decode(id[:], s) {
		return nil
	}
	return refuse(s)
}

func (id *ID) readBytes(s []byte) error {
	if codec.DecodeBytes(id[:], s) {
		return nil
	}
	return refuse(s)
}

func parseBytes(s []byte) (id ID, err error) { err = id.readBytes(s); return id, err }

// refuse returns the error of a text that is not an ID.
func refuse[S string | []byte](s S) error {
	if len(s) != SizeEncoded {
		return &InvalidDataSizeError{Size: len(s)}
	}
	return wrong.Character(format, s, base32.Foreign(codec, s), "in [2-9a-x]")
}

// FromEncodedString decodes the canonical text. It is [Parse] under its older name.
func FromEncodedString(src string) (id ID, err error) { err = id.read(src); return id, err }

// FromEncodedBytes decodes the canonical text as bytes; see [Parse].
func FromEncodedBytes(src []byte) (id ID, err error) { err = id.readBytes(src); return id, err }

// FromBinaryBytes copies the 10 bytes of src into an ID. Another length of src is an
// *[InvalidDataSizeError].
func FromBinaryBytes(src []byte) (id ID, err error) {
	if len(src) != SizeBinary {
		return zero, &InvalidDataSizeError{Size: len(src)}
	}
	return ID(src), nil
}

// ParseHex reads the binary form in 20 hexadecimal digits of either case.
func ParseHex(s string) (id ID, err error) {
	if len(s) != 2*SizeBinary {
		return zero, &InvalidDataSizeError{Size: len(s)}
	}
	if bad := digits.Hex(id[:], s); bad >= 0 {
		return zero, wrong.Character(format, s, bad, payload.HexDigits)
	}
	return id, nil
}

// Hex returns the binary form in 20 lower-case hexadecimal digits.
func (id ID) Hex() string {
	var b [2 * SizeBinary]byte
	return string(digits.AppendHex(b[:0], id[:]))
}

// String returns the canonical text.
func (id ID) String() string {
	var b [SizeEncoded]byte
	return string(codec.Append80(b[:0], (*[SizeBinary]byte)(&id)))
}

// AppendText implements [encoding.TextAppender] by the canonical text. It never fails, and does not
// allocate if dst has room for 16 bytes.
func (id ID) AppendText(dst []byte) ([]byte, error) {
	return codec.Append80(dst, (*[SizeBinary]byte)(&id)), nil
}

// MarshalText implements [encoding.TextMarshaler] by the canonical text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler], with the errors of [Parse]. An error leaves
// the ID unchanged.
func (id *ID) UnmarshalText(src []byte) error { return id.readBytes(src) }

// AppendBinary implements [encoding.BinaryAppender] by the 10 bytes. It never fails, and does not
// allocate if dst has room for 10 bytes.
func (id ID) AppendBinary(dst []byte) ([]byte, error) { return append(dst, id[:]...), nil }

// MarshalBinary implements [encoding.BinaryMarshaler] by the 10 bytes.
func (id ID) MarshalBinary() ([]byte, error) { return id[:], nil }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]; see [FromBinaryBytes].
func (id *ID) UnmarshalBinary(src []byte) error { return payload.Set(id)(FromBinaryBytes(src)) }

// MarshalJSON implements [json.Marshaler]: the canonical text as a string, and null for the zero
// ID. The option omitzero leaves a zero ID out.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	b := make([]byte, 1, SizeEncoded+2)
	b[0] = '"'
	return append(codec.Append80(b, (*[SizeBinary]byte)(&id)), '"'), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads the canonical text in a string, and null as
// the zero ID. A string of another length is an *[InvalidDataSizeError] with the length of the
// string. Any other JSON value is an *[InvalidDataSizeError] with the length of the value, or a
// *[ParseError] for the length of a text with or without quotes. An error leaves the ID unchanged.
func (id *ID) UnmarshalJSON(src []byte) error {
	if len(src) == 0 || src[0] != '"' && string(src) != "null" && len(src) != SizeEncoded && len(src) != SizeEncoded+2 {
		return &InvalidDataSizeError{Size: len(src)}
	}
	return payload.Set(id)(payload.JSONString(format, src, parseBytes))
}
