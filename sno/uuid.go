package sno

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"fmt"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/digits"
	"github.com/firn-id/firn/internal/wire"
)

var (
	_ fmt.Stringer             = UUID{}
	_ encoding.TextMarshaler   = UUID{}
	_ encoding.TextUnmarshaler = (*UUID)(nil)
	_ sql.Scanner              = (*UUID)(nil)
	_ driver.Valuer            = UUID{}
)

// UUID is an ID in the form of a UUID, for columns of type UUID: the 16 bytes of the UUID are the
// 16 characters of the text. UUIDs sort by their bytes as the IDs do. PostgreSQL sorts UUIDs by
// their bytes, and MariaDB does since 10.10.6 and 10.11.5. The UUIDs have no version. A UUID
// converts to the [16]byte types of other packages, and back.
//
// Pass a UUID to a column of type UUID, and scan into a UUID: an ID is ten bytes to a driver. The
// UUID of the zero ID is written like any other UUID, and NULL reads as the UUID of the zero ID.
// UUID{} is the UUID of no ID.
type UUID [SizeEncoded]byte

// hyphens are bits: the text of a UUID has a hyphen before the bytes whose bits are set.
const (
	sizeUUID = 36
	hyphens  = 1<<4 | 1<<6 | 1<<8 | 1<<10
)

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

// MarshalText implements [encoding.TextMarshaler] by the text of String. The UUID of no ID is a
// *[ParseError].
func (u UUID) MarshalText() ([]byte, error) {
	if _, err := u.checked(); err != nil {
		return nil, err
	}
	return u.appendText(nil), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. UnmarshalText reads the text of String, with
// digits of either case. Any other text, and the UUID of no ID, is a *[ParseError]. An error leaves
// the UUID unchanged.
func (u *UUID) UnmarshalText(src []byte) error { return wire.Set(u)(parseUUID(src)) }

func parseUUID[S string | []byte](s S) (u UUID, err error) {
	if len(s) != sizeUUID {
		return UUID{}, iderr.BadLength(format, s, "36, which a UUID has")
	}
	at := 0
	for i := range u {
		if hyphens>>i&1 != 0 {
			if s[at] != '-' {
				return UUID{}, iderr.BadCharacter(format, s, at, "a hyphen")
			}
			at++
		}
		if bad := digits.Hex(u[i:i+1], s[at:at+2]); bad >= 0 {
			return UUID{}, iderr.BadCharacter(format, s, at+bad, wire.HexDigits)
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

// Value implements [driver.Valuer] by the text of String: databases take the text for their type
// UUID. Pass u[:] to a column of 16 bytes. The UUID of no ID is a *[ParseError].
func (u UUID) Value() (driver.Value, error) {
	if _, err := u.checked(); err != nil {
		return nil, err
	}
	return u.String(), nil
}

// Scan implements [sql.Scanner]. Scan reads the text of String, as a string or as bytes, the 16
// bytes of a UUID, and NULL as the UUID of the zero ID. Any other value, and the UUID of no ID, is
// a *[ParseError]; a value of another type is an *[InvalidTypeError]. An error leaves the UUID
// unchanged.
//
// SQL Server returns the bytes of a UNIQUEIDENTIFIER in another order. Convert them with the type
// of its driver, and do not Scan them.
func (u *UUID) Scan(value any) error { return wire.Set(u)(scanUUID(value)) }

func scanUUID(value any) (UUID, error) {
	switch v := value.(type) {
	case nil:
		return zero.UUID(), nil
	case string:
		return parseUUID(v)
	case []byte:
		if len(v) == SizeEncoded {
			return UUID(v).checked()
		}
		return parseUUID(v)
	case [SizeEncoded]byte:
		return UUID(v).checked()
	}
	return UUID{}, &InvalidTypeError{Value: value}
}
