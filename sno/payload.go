package sno

import (
	"fmt"
	"io"
	"strconv"

	"github.com/firn-id/firn/internal/form/digits"
	"github.com/firn-id/firn/internal/form/payload"
)

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: binary data of subtype 0.
// The zero ID is a *[ParseError]: the option omitempty leaves a zero ID out. [Text] is a string.
func (id ID) MarshalBSONValue() (byte, []byte, error) { return column.BSON(id) }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. It reads binary data of
// subtype 0, and a string with the canonical text.
func (id *ID) UnmarshalBSONValue(kind byte, data []byte) error {
	return payload.Set(id)(column.FromBSON(kind, data))
}

// MarshalGQL implements graphql.Marshaler of gqlgen as MarshalJSON does.
func (id ID) MarshalGQL(w io.Writer) { payload.GQL(w, id) }

// UnmarshalGQL implements graphql.Unmarshaler of gqlgen. It reads a string with the canonical text.
func (id *ID) UnmarshalGQL(v any) error {
	return payload.Set(id)(payload.FromGQL(format, v, parseBytes, nil))
}

// ScanRedis implements the interface of go-redis for fields of a hash. It reads the binary form,
// which go-redis writes, and the canonical text.
func (id *ID) ScanRedis(s string) error {
	return payload.Set(id)(payload.Redis(s, SizeBinary, FromBinaryBytes, parseBytes))
}

// UnmarshalParam implements the interface of gin and echo for parameters of a request. It reads the
// canonical text.
func (id *ID) UnmarshalParam(param string) error { return id.read(param) }

// Format implements [fmt.Formatter]: the text for %v and %s, the text in quotes for %q, the binary
// form in hexadecimal for %x and %X, with 0x for %#x, and the expression of the ID in Go for %#v.
func (id ID) Format(s fmt.State, verb rune) {
	payload.Format(s, verb, id, nil, "sno.MustParse("+strconv.Quote(id.String())+")")
}

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: binary data of subtype 4,
// which is MongoDB's UUID.
func (u UUID) MarshalBSONValue() (byte, []byte, error) {
	if u.IsZero() {
		return documentUUID.BSON(UUID{}) // the error of no ID
	}
	if _, err := u.checked(); err != nil {
		return 0, nil, err
	}
	return documentUUID.BSON(u)
}

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. It reads binary data of
// subtype 4.
func (u *UUID) UnmarshalBSONValue(kind byte, data []byte) error {
	return payload.Set(u)(documentUUID.FromBSON(kind, data))
}

// UnmarshalGQL implements graphql.Unmarshaler of gqlgen. It reads a string with the text of String.
func (u *UUID) UnmarshalGQL(v any) error {
	return payload.Set(u)(payload.FromGQL(format, v, parseUUID[[]byte], nil))
}

// ScanRedis implements the interface of go-redis for fields of a hash. It reads the 16 bytes, which
// go-redis writes, and the text of String.
func (u *UUID) ScanRedis(s string) error {
	return payload.Set(u)(payload.Redis(s, SizeEncoded, uuidOf, parseUUID[[]byte]))
}

// UnmarshalParam implements the interface of gin and echo for parameters of a request. It reads the
// text of String.
func (u *UUID) UnmarshalParam(param string) error { return payload.Set(u)(parseUUID(param)) }

// MarshalGQL implements graphql.Marshaler of gqlgen as MarshalJSON does.
func (u UUID) MarshalGQL(w io.Writer) { payload.GQL(w, u) }

// Format implements [fmt.Formatter]: the text of String for %v and %s, the text in quotes for %q,
// the 16 bytes in hexadecimal for %x and %X, with 0x for %#x, and an expression in Go for %#v.
func (u UUID) Format(s fmt.State, verb rune) {
	goSyntax := fmt.Sprintf("sno.UUID(%#v)", [SizeEncoded]byte(u))
	if id, err := u.ID(); err == nil {
		goSyntax = "sno.MustParse(" + strconv.Quote(id.String()) + ").UUID()"
	}
	payload.Format(s, verb, shownUUID{u}, nil, goSyntax)
}

// shownUUID has the forms of a UUID for Format.
type shownUUID struct{ UUID }

func (u shownUUID) Hex() string { return string(digits.AppendHex(nil, u.UUID[:])) }
