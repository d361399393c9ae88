package typed

import (
	"database/sql/driver"
	"fmt"
	"io"
	"strings"

	"github.com/firn-id/firn/internal/form/payload"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/internal/shape"
)

// AppendBinary implements [encoding.BinaryAppender] by the binary form of the plain ID. Binary
// forms have no prefix. AppendBinary does not allocate if dst has room for the form.
func (id ID[T, K]) AppendBinary(dst []byte) ([]byte, error) {
	return id.Plain().AppendBinary(dst)
}

// MarshalBinary implements [encoding.BinaryMarshaler] by the binary form of the plain ID.
func (id ID[T, K]) MarshalBinary() ([]byte, error) { return id.Plain().MarshalBinary() }

// UnmarshalBinary implements [encoding.BinaryUnmarshaler]. A binary form does not tell its kind.
func (id *ID[T, K]) UnmarshalBinary(data []byte) error {
	return id.reader().UnmarshalBinary(data)
}

// Value implements [driver.Valuer] as T does. Databases hold no prefix: the column is of the kind.
func (id ID[T, K]) Value() (driver.Value, error) { return id.Plain().Value() }

// Scan implements [sql.Scanner] as T does. It is not for package fmt: read a text by [Parse], and
// not by fmt.Sscan.
func (id *ID[T, K]) Scan(src any) error { return id.reader().Scan(src) }

// BytesValue implements pgtype.BytesValuer of pgx as T does. pgx calls BytesValue for columns of
// bytes alone. If T has no such method, BytesValue refuses the column: pgx would write the
// characters of a text as bytes.
//
// There is no method ScanBytes: pgx calls Scan, which reads the same columns.
func (id ID[T, K]) BytesValue() ([]byte, error) {
	if v, ok := any(id.Plain()).(interface{ BytesValue() ([]byte, error) }); ok {
		return v.BytesValue()
	}
	e := wrong.Type(formatOf[T](), nil)
	e.Reason = fmt.Sprintf("a column of bytes holds no %T: use a column of type %s", id.Plain(), id.GormDataType())
	return nil, e
}

// SkipUnderlyingTypePlan keeps pgx from reading fields past the checks of Scan.
func (ID[T, K]) SkipUnderlyingTypePlan() {}

// GormDataType is the type of columns that GORM makes, as for T.
func (id ID[T, K]) GormDataType() string { return id.Plain().GormDataType() }

// Stored describes how databases store the IDs, for package pgxid: as those of T.
func (id ID[T, K]) Stored() shape.Stored {
	if t, ok := any(id.Plain()).(interface{ Stored() shape.Stored }); ok {
		return t.Stored()
	}
	return shape.Stored{}
}

// MarshalBSONValue implements bson.ValueMarshaler of MongoDB's driver as T does, without a prefix.
func (id ID[T, K]) MarshalBSONValue() (byte, []byte, error) { return id.Plain().MarshalBSONValue() }

// UnmarshalBSONValue implements bson.ValueUnmarshaler of MongoDB's driver as T does.
func (id *ID[T, K]) UnmarshalBSONValue(kind byte, data []byte) error {
	return id.reader().UnmarshalBSONValue(kind, data)
}

// MarshalGQL implements graphql.Marshaler of gqlgen as MarshalJSON does.
func (id ID[T, K]) MarshalGQL(w io.Writer) { payload.GQL(w, id) }

// UnmarshalGQL implements graphql.Unmarshaler of gqlgen. For a kind with a prefix, UnmarshalGQL
// reads a string as the text. For a kind without a prefix, UnmarshalGQL reads what T reads.
func (id *ID[T, K]) UnmarshalGQL(v any) error {
	prefix, err := Prefix[K]()
	switch {
	case err != nil:
		return err
	case prefix == "":
		return id.reader().UnmarshalGQL(v)
	}
	if s, ok := v.(string); ok {
		return id.read(prefix, []byte(s))
	}
	_, err = payload.FromGQL[T](formatOf[T](), v, nil, nil) // the error of a value that is not a string
	return err
}

// ScanRedis implements the interface of go-redis for fields of a hash. It reads the text, and the
// binary form, which go-redis writes. A value that begins with the prefix and "_" is read only as a
// text: a damaged text is an error and not another ID. The price is an error for binary forms that
// begin with these bytes: few IDs, of times 26 years (sno), 52 years (nanoflake) or more after the
// epoch.
func (id *ID[T, K]) ScanRedis(s string) error {
	prefix, err := Prefix[K]()
	switch {
	case err != nil:
		return err
	case prefix == "":
		return id.reader().ScanRedis(s)
	}
	err = id.read(prefix, []byte(s))
	if err != nil && !strings.HasPrefix(s, prefix+"_") && id.UnmarshalBinary([]byte(s)) == nil {
		return nil
	}
	return err
}

// UnmarshalParam implements the interface of gin and echo for parameters of a request. It reads the
// same texts as UnmarshalText.
func (id *ID[T, K]) UnmarshalParam(param string) error { return id.UnmarshalText([]byte(param)) }

// Format implements [fmt.Formatter]: the text of String for %v and %s, the text in quotes for %q,
// the type and the plain ID for %#v, and what T prints for other verbs.
func (id ID[T, K]) Format(s fmt.State, verb rune) {
	switch {
	case verb == 'v' && s.Flag('#'):
		fmt.Fprintf(s, "%T{{%#v}}", id, id.Plain())
	case verb == 'v' || verb == 's' || verb == 'q':
		fmt.Fprintf(s, strings.Replace(fmt.FormatString(s, verb), "v", "s", 1), id.String())
	default:
		id.Plain().Format(s, verb)
	}
}
