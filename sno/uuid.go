package sno

import (
	"bytes"
	"encoding"
	"encoding/json"
	"fmt"

	"github.com/firn-id/firn/internal/form/digits"
	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/wrong"
)

var (
	_ fmt.Stringer               = UUID{}
	_ encoding.TextAppender      = UUID{}
	_ encoding.TextMarshaler     = UUID{}
	_ encoding.TextUnmarshaler   = (*UUID)(nil)
	_ encoding.BinaryAppender    = UUID{}
	_ encoding.BinaryMarshaler   = UUID{}
	_ encoding.BinaryUnmarshaler = (*UUID)(nil)
	_ json.Marshaler             = UUID{}
	_ json.Unmarshaler           = (*UUID)(nil)
)

// UUID is an ID in the form of a UUID, for columns of type UUID: the 16 bytes of the UUID are the
// 16 characters of the text. UUIDs sort by their bytes as the IDs do. PostgreSQL sorts UUIDs by
// their bytes, and MariaDB does since 10.10.6 and 10.11.5. The UUIDs have no version. A UUID
// converts to the [16]byte types of other packages, and back.
//
// Pass a UUID to a column of type UUID, and scan into a UUID: an ID is ten bytes to a driver.
// UUID{} is the UUID of no ID. Texts and the binary form have the UUID of the zero ID in its place,
// JSON has null, and databases refuse UUID{}.
type UUID [SizeEncoded]byte

// hyphens are bits: the text of a UUID has a hyphen before the bytes whose bits are set.
const (
	sizeUUID = 36
	hyphens  = 1<<4 | 1<<6 | 1<<8 | 1<<10
)

// ID returns the ID. The UUID of no ID is a *[ParseError].
func (u UUID) ID() (ID, error) { return FromUUID(u) }

// IsZero reports whether u is the UUID of the zero ID, or the UUID of no ID.
func (u UUID) IsZero() bool { return u == UUID{} || u == zero.UUID() }

// Compare returns -1, 0 or 1 as u is less than, equal to or greater than other.
func (u UUID) Compare(other UUID) int { return bytes.Compare(u[:], other[:]) }

// UUID returns the ID in the form of a UUID.
func (id ID) UUID() (u UUID) {
	codec.Append80(u[:0], (*[SizeBinary]byte)(&id))
	return u
}

// FromUUID returns the ID of a UUID from [ID.UUID]. Any other UUID is a *[ParseError].
func FromUUID(u [SizeEncoded]byte) (ID, error) { return parseBytes(u[:]) }

// String returns the usual text of a UUID: 32 lower-case hexadecimal digits in groups of 8, 4, 4, 4
// and 12.
func (u UUID) String() string {
	var b [sizeUUID]byte
	return string(u.appendText(b[:0]))
}

func (u UUID) appendText(dst []byte) []byte {
	for i := range u {
		if hyphens>>i&1 != 0 {
			dst = append(dst, '-')
		}
		dst = digits.AppendHex(dst, u[i:i+1])
	}
	return dst
}

// AppendText implements [encoding.TextAppender] by the text of String, and by that of the zero ID's
// UUID for UUID{}. A UUID that [FromUUID] refuses is otherwise a *[ParseError].
func (u UUID) AppendText(dst []byte) ([]byte, error) {
	u, err := u.written()
	if err != nil {
		return dst, err
	}
	return u.appendText(dst), nil
}

// MarshalText implements [encoding.TextMarshaler]; see [UUID.AppendText].
func (u UUID) MarshalText() ([]byte, error) { return u.AppendText(nil) }

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads the text of String, with digits of
// either case. Any other text, and the UUID of no ID, is a *[ParseError]. An error leaves the UUID
// unchanged.
func (u *UUID) UnmarshalText(src []byte) error { return payload.Set(u)(parseUUID(src)) }

func parseUUID[S string | []byte](s S) (u UUID, err error) {
	if len(s) != sizeUUID {
		return UUID{}, wrong.Length(format, s, "36, which a UUID has")
	}
	at := 0
	for i := range u {
		if hyphens>>i&1 != 0 {
			if s[at] != '-' {
				return UUID{}, wrong.Character(format, s, at, "a hyphen")
			}
			at++
		}
		if bad := digits.Hex(u[i:i+1], s[at:at+2]); bad >= 0 {
			return UUID{}, wrong.Character(format, s, at+bad, payload.HexDigits)
		}
		at += 2
	}
	return u.checked()
}

// checked returns the UUID of an ID. For the UUID of no ID, the error names the bad byte.
func (u UUID) checked() (UUID, error) {
	if _, err := FromUUID(u); err != nil {
		return UUID{}, err
	}
	return u, nil
}

// written returns the UUID that texts and the binary form have for u.
func (u UUID) written() (UUID, error) {
	if u == (UUID{}) {
		return zero.UUID(), nil
	}
	return u.checked()
}

// AppendBinary implements [encoding.BinaryAppender] by the 16 bytes, and by those of the zero ID's UUID
// for UUID{}. A UUID that [FromUUID] refuses is otherwise a *[ParseError].
func (u UUID) AppendBinary(dst []byte) ([]byte, error) {
	u, err := u.written()
	if err != nil {
		return dst, err
	}
	return append(dst, u[:]...), nil
}

// MarshalBinary implements [encoding.BinaryMarshaler]; see [UUID.AppendBinary].
func (u UUID) MarshalBinary() ([]byte, error) { return u.AppendBinary(nil) }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. It reads the 16 bytes of a UUID of an
// ID.
func (u *UUID) UnmarshalBinary(data []byte) error { return payload.Set(u)(uuidOf(data)) }

// MarshalJSON implements [json.Marshaler]: the text of String as a string, and null for the UUID of
// the zero ID and the UUID of no ID.
func (u UUID) MarshalJSON() ([]byte, error) {
	if u.IsZero() {
		return []byte("null"), nil
	}
	b, err := u.AppendText([]byte{'"'})
	if err != nil {
		return nil, err
	}
	return append(b, '"'), nil
}

// UnmarshalJSON implements [json.Unmarshaler]. It reads the text of String in a string, and null as
// the UUID of no ID.
func (u *UUID) UnmarshalJSON(data []byte) error {
	return payload.Set(u)(payload.JSONString(format, data, parseUUID[[]byte]))
}
