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

// UUID is an ID as a column of type UUID stores it: its 16 bytes are the 16 characters of the
// ID's text, so that UUIDs sort by their bytes as the IDs do. PostgreSQL sorts them so, and
// MariaDB since 10.10.6 and 10.11.5. They are UUIDs of no version. A UUID converts to the
// [16]byte types of other packages, and from them.
//
// Pass one to such a column and scan into one, rather than an ID, which is ten bytes to a
// driver. The UUID of the zero ID is written as any other, and NULL is read as it. UUID{} is
// of no ID.
type UUID [SizeEncoded]byte

// hyphens are in the text of a UUID before the bytes whose bits are set.
const (
	sizeUUID = 36
	hyphens  = 1<<4 | 1<<6 | 1<<8 | 1<<10
)

// UUID returns the ID in the bytes of a UUID.
func (id ID) UUID() (u UUID) {
	codec.Append80(u[:0], (*[SizeBinary]byte)(&id))
	return u
}

// FromUUID reads back what [ID.UUID] returned. Bytes that are of no ID are a *[ParseError].
func FromUUID(u [SizeEncoded]byte) (ID, error) { return parseBytes(u[:]) }

// String returns the usual text of a UUID: 32 lower-case hexadecimal digits in groups of 8,
// 4, 4, 4 and 12.
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

// MarshalText implements [encoding.TextMarshaler] by what String returns. It fails for a UUID
// that is of no ID.
func (u UUID) MarshalText() ([]byte, error) {
	if _, err := u.checked(); err != nil {
		return nil, err
	}
	return u.appendText(nil), nil
}

// UnmarshalText implements [encoding.TextUnmarshaler]. It reads what String returns, with
// digits of either case. Anything else, and a UUID that is of no ID, is a *[ParseError], on
// which the UUID is unchanged.
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

// checked returns the UUID if it is of an ID; the error names the byte that is of none.
func (u UUID) checked() (UUID, error) {
	if _, err := FromUUID(u); err != nil {
		return UUID{}, err
	}
	return u, nil
}

// Value implements [driver.Valuer] by what String returns, which databases take for their type
// UUID. For a column of 16 bytes, pass u[:]. It fails for a UUID that is of no ID.
func (u UUID) Value() (driver.Value, error) {
	if _, err := u.checked(); err != nil {
		return nil, err
	}
	return u.String(), nil
}

// Scan implements [sql.Scanner]. It reads what String returns, as a string or as bytes, and
// the 16 bytes; NULL as the UUID of the zero ID. Anything else, and a UUID that is of no ID, is
// a *[ParseError], another type an *[InvalidTypeError]; on an error the UUID is unchanged.
//
// SQL Server hands the bytes of its UNIQUEIDENTIFIER over in another order. They are not to be
// scanned, but converted by its driver's own type.
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
