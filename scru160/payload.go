package scru160

import (
	"fmt"
	"io"
	"strconv"

	"github.com/firn-id/firn/internal/form/payload"
)

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver: a string. The zero ID is a
// *[iderr.ParseError]: the option omitempty leaves a zero ID out. [Binary] is binary data.
func (id ID) MarshalBSONValue() (byte, []byte, error) { return column.BSON(id) }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver. It reads a string with
// either text, and binary data of subtype 0.
func (id *ID) UnmarshalBSONValue(kind byte, data []byte) error {
	return payload.Set(id)(column.FromBSON(kind, data))
}

// MarshalGQL implements graphql.Marshaler of gqlgen as MarshalJSON does.
func (id ID) MarshalGQL(w io.Writer) { payload.GQL(w, id) }

// UnmarshalGQL implements graphql.Unmarshaler of gqlgen. It reads a string with either text.
func (id *ID) UnmarshalGQL(v any) error {
	return payload.Set(id)(payload.FromGQL(format, v, parseBytes, nil))
}

// ScanRedis implements the interface of go-redis for fields of a hash. It reads the binary form,
// which go-redis writes, and either text.
func (id *ID) ScanRedis(s string) error {
	return payload.Set(id)(payload.Redis(s, Size, FromBytes, parseBytes))
}

// UnmarshalParam implements the interface of gin and echo for parameters of a request. It reads the
// texts that UnmarshalText reads.
func (id *ID) UnmarshalParam(param string) error { return id.UnmarshalText([]byte(param)) }

// Format implements [fmt.Formatter]: the text for %v and %s, the text in quotes for %q, the binary
// form in hexadecimal for %x and %X, with 0x for %#x, and the expression of the ID in Go for %#v.
func (id ID) Format(s fmt.State, verb rune) {
	payload.Format(s, verb, id, nil, "scru160.MustParse("+strconv.Quote(id.String())+")")
}
