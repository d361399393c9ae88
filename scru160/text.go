package scru160

import (
	"encoding"
	"encoding/json"
	"fmt"
	"log/slog"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/base32"
	"github.com/firn-id/firn/internal/digits"
	"github.com/firn-id/firn/internal/wire"
)

const (
	format = "scru160"

	textLen = base32.Len160
	hexLen  = 2 * Size
)

var (
	_ fmt.Stringer               = ID{}
	_ slog.LogValuer             = ID{}
	_ encoding.TextAppender      = ID{}
	_ encoding.TextMarshaler     = ID{} // with TextUnmarshaler, what flag.TextVar takes
	_ encoding.TextUnmarshaler   = (*ID)(nil)
	_ encoding.BinaryAppender    = ID{}
	_ encoding.BinaryMarshaler   = ID{}
	_ encoding.BinaryUnmarshaler = (*ID)(nil)
	_ json.Marshaler             = ID{}
	_ json.Unmarshaler           = (*ID)(nil)
)

// Parse reads an ID in either of the specification's encodings, which their lengths
// tell apart: 32 characters of base32hex or 40 of hex, in any case. Anything else is
// a *[ParseError].
//
// Specification: "Encodings".
func Parse(s string) (id ID, err error) {
	err = id.read(s)
	return id, err
}

// MustParse is [Parse] for constants in code: it panics where Parse gives an error.
func MustParse(s string) ID {
	id, err := Parse(s)
	if err != nil {
		panic(err)
	}
	return id
}

// read sets id by either text, unless that is an error. What gives an ID to its caller by
// value is a thin wrapper: the compiler puts it in its caller's place, and spares a copy,
// which takes longer than the reading.
func (id *ID) read(s string) error {
	if base32.Hex.Decode160((*[Size]byte)(id), s) {
		return nil
	}
	return other(id, s)
}

func (id *ID) readBytes(s []byte) error {
	if base32.Hex.Decode160Bytes((*[Size]byte)(id), s) {
		return nil
	}
	return other(id, s)
}

func parseBytes(s []byte) (id ID, err error) { err = id.readBytes(s); return id, err }

// other sets id by a text that is not base32hex, or says what is wrong with it.
func other[S string | []byte](id *ID, s S) error {
	switch len(s) {
	case textLen:
		return iderr.BadCharacter(format, s, base32.Foreign(base32.Hex, s), "in base32hex")
	case hexLen:
		return readHex(id, s)
	}
	return iderr.BadLength(format, s, "32 (base32hex) or 40 (hex)")
}

// ParseHex reads an ID in hex alone: 40 digits of either case.
func ParseHex(s string) (id ID, err error) {
	if len(s) != hexLen {
		return ID{}, iderr.BadLength(format, s, "40")
	}
	err = readHex(&id, s)
	return id, err
}

func readHex[S string | []byte](id *ID, s S) error {
	var v ID
	if bad := digits.Hex(v[:], s); bad >= 0 {
		return iderr.BadCharacter(format, s, bad, wire.HexDigits)
	}
	*id = v
	return nil
}

// FromBytes reads the binary form: the ID's 20 bytes.
func FromBytes(b []byte) (ID, error) {
	if len(b) != Size {
		return ID{}, iderr.BadLength(format, b, "20 bytes")
	}
	return ID(b), nil
}

// String returns the default text: 32 characters of base32hex in upper case, which
// sort as the IDs do.
func (id ID) String() string {
	var b [textLen]byte
	return string(base32.Hex.Append160(b[:0], (*[Size]byte)(&id)))
}

// Hex returns the alternative text: 40 digits of hex in lower case. They sort as the
// IDs do, but not among texts in base32hex.
func (id ID) Hex() string {
	var b [hexLen]byte
	return string(digits.AppendHex(b[:0], id[:]))
}

// AppendText implements [encoding.TextAppender] by the default text. It does not
// allocate if dst has room for 32 bytes, and never fails.
func (id ID) AppendText(dst []byte) ([]byte, error) {
	return base32.Hex.Append160(dst, (*[Size]byte)(&id)), nil
}

// MarshalText implements [encoding.TextMarshaler] by the default text.
func (id ID) MarshalText() ([]byte, error) { return id.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]; it reads what [Parse] does.
// On an error id is unchanged, as in all methods that read an ID.
func (id *ID) UnmarshalText(text []byte) error { return id.readBytes(text) }

// AppendBinary implements [encoding.BinaryAppender] by the 20 bytes. It does not
// allocate if dst has room for them, and never fails.
func (id ID) AppendBinary(dst []byte) ([]byte, error) { return append(dst, id[:]...), nil }

// MarshalBinary implements [encoding.BinaryMarshaler] by the 20 bytes.
func (id ID) MarshalBinary() ([]byte, error) { return id[:], nil }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler].
func (id *ID) UnmarshalBinary(data []byte) error { return wire.Set(id)(FromBytes(data)) }

// MarshalJSON implements [json.Marshaler]: the default text as a string; null for the
// zero ID.
func (id ID) MarshalJSON() ([]byte, error) {
	if id.IsZero() {
		return []byte("null"), nil
	}
	b := make([]byte, 1, textLen+2)
	b[0] = '"'
	return append(base32.Hex.Append160(b, (*[Size]byte)(&id)), '"'), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads either text in a string, and
// null as the zero ID.
func (id *ID) UnmarshalJSON(data []byte) error {
	return wire.Set(id)(wire.JSONString(format, data, parseBytes))
}
