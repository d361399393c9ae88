package ulidflake

import (
	"fmt"
	"io"

	"github.com/firn-id/firn/internal/form/payload"
)

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: an int64. The zero ID is a
// *[iderr.ParseError]: the option omitempty leaves a zero ID out.
func (id ID) MarshalBSONValue() (byte, []byte, error) { return column.BSON(id) }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. It reads an int64 and an
// int32.
func (id *ID) UnmarshalBSONValue(kind byte, data []byte) error {
	return payload.Set(id)(column.FromBSON(kind, data))
}

// MarshalGQL implements graphql.Marshaler of gqlgen as MarshalJSON does.
func (id ID) MarshalGQL(w io.Writer) { payload.GQL(w, id) }

// UnmarshalGQL implements graphql.Unmarshaler of gqlgen. It reads a string as the text, and an
// integer as UnmarshalJSON does.
func (id *ID) UnmarshalGQL(v any) error { return payload.Set(id)(form.FromGQL(v)) }

// ScanRedis implements the interface of go-redis for fields of a hash. It reads the binary form
// written by go-redis, and the text.
func (id *ID) ScanRedis(s string) error { return payload.Set(id)(form.Redis(s)) }

// UnmarshalParam implements the interface of gin and echo for parameters of a request. It reads the
// same texts as UnmarshalText.
func (id *ID) UnmarshalParam(param string) error { return id.UnmarshalText([]byte(param)) }

// Format implements [fmt.Formatter]: the text for %v and %s, the text in quotes for %q, the binary
// form in hexadecimal for %x and %X, with 0x for %#x, the integer for %d, and the expression of the
// ID in Go for %#v.
func (id ID) Format(s fmt.State, verb rune) {
	form.Print(s, verb, id, "ulidflake.ID", "ulidflake.MustParse")
}

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: an int64. The zero ID is a
// *[iderr.ParseError]: the option omitempty leaves a zero ID out.
func (id ScalableID) MarshalBSONValue() (byte, []byte, error) { return columnScalable.BSON(id) }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. It reads an int64 and an
// int32.
func (id *ScalableID) UnmarshalBSONValue(kind byte, data []byte) error {
	return payload.Set(id)(columnScalable.FromBSON(kind, data))
}

// MarshalGQL implements graphql.Marshaler of gqlgen as MarshalJSON does.
func (id ScalableID) MarshalGQL(w io.Writer) { payload.GQL(w, id) }

// UnmarshalGQL implements graphql.Unmarshaler of gqlgen. It reads a string as the text, and an
// integer as UnmarshalJSON does.
func (id *ScalableID) UnmarshalGQL(v any) error { return payload.Set(id)(formScalable.FromGQL(v)) }

// ScanRedis implements the interface of go-redis for fields of a hash. It reads the binary form
// written by go-redis, and the text.
func (id *ScalableID) ScanRedis(s string) error { return payload.Set(id)(formScalable.Redis(s)) }

// UnmarshalParam implements the interface of gin and echo for parameters of a request. It reads the
// same texts as UnmarshalText.
func (id *ScalableID) UnmarshalParam(param string) error { return id.UnmarshalText([]byte(param)) }

// Format implements [fmt.Formatter]: the text for %v and %s, the text in quotes for %q, the binary
// form in hexadecimal for %x and %X, with 0x for %#x, the integer for %d, and the expression of the
// ID in Go for %#v.
func (id ScalableID) Format(s fmt.State, verb rune) {
	formScalable.Print(s, verb, id, "ulidflake.ScalableID", "ulidflake.MustParseScalable")
}
