package typed

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
)

// An Untyped is a type of plain IDs: an ID type of a format, such as nanoflake.ID, or of a format
// and a column, such as nanoflake.Text. All ID types of Firn are Untyped. The methods are the
// methods with which a plain ID writes texts, JSON, binary forms and columns. A pointer to an
// Untyped has the methods that read all four.
type Untyped[T any] interface {
	comparable
	Compare(T) int
	IsZero() bool

	fmt.Stringer
	fmt.Formatter
	encoding.TextAppender
	encoding.TextMarshaler
	json.Marshaler
	MarshalGQL(io.Writer)

	encoding.BinaryAppender
	encoding.BinaryMarshaler
	driver.Valuer
	GormDataType() string
	MarshalBSONValue() (byte, []byte, error)
}

// A reader is a pointer to an Untyped. A constraint cannot name the methods of *T without a
// further type parameter, which each user would have to write. A test instantiates a constraint
// with each T.
type reader interface {
	encoding.TextUnmarshaler
	json.Unmarshaler
	UnmarshalGQL(v any) error
	UnmarshalParam(param string) error

	encoding.BinaryUnmarshaler
	sql.Scanner
	UnmarshalBSONValue(kind byte, data []byte) error
	ScanRedis(s string) error
}

// ID is an ID of a kind of things. T is the type of the plain ID, and decides about the columns of
// databases. K is the kind, an empty struct of the program. IDs of different kinds are different
// types, and do not convert to each other. An ID takes as much memory as a T, compares with ==,
// and is zero if the plain ID is zero. [As] and [Of] make an ID, and [ID.Plain] returns the plain
// ID.
//
// An ID is an array, and no struct. Libraries that go by the kind of a type take a struct for
// a model, a group of columns or a form: GORM would then leave an ID out of a condition.
type ID[T Untyped[T], K any] [1]of[T, K]

// An of is an array with the plain ID. Without the name of this type, the IDs of two kinds would be
// arrays of equal types, which Go converts to each other.
type of[T Untyped[T], K any] [1]T

// As gives a plain ID its kind:
//
//	id := typed.As[OrderKind](plain)
func As[K any, T Untyped[T]](id T) ID[T, K] { return ID[T, K]{{id}} }

// Of is [As] for the results of a generator's method:
//
//	id, err := typed.Of[OrderKind](gen.Next(ctx))
func Of[K any, T Untyped[T]](id T, err error) (ID[T, K], error) { return As[K](id), err }

// Plain returns the plain ID, with the methods for time and fields.
func (id ID[T, K]) Plain() T { return id[0][0] }

// Parse reads the text of an ID, as UnmarshalText does. The type argument is the type of the ID:
//
//	id, err := typed.Parse[OrderID](s)
func Parse[I any, P interface {
	*I
	parse(text []byte) error
}](s string) (I, error) {
	var id I
	err := P(&id).parse([]byte(s))
	return id, err
}

// MustParse is [Parse] for constants in code. It panics if Parse returns an error.
func MustParse[I any, P interface {
	*I
	parse(text []byte) error
}](s string) I {
	id, err := Parse[I, P](s)
	if err != nil {
		panic(err)
	}
	return id
}

// Compare returns -1, 0 or 1 as id is less than, equal to or greater than other.
func (id ID[T, K]) Compare(other ID[T, K]) int { return id.Plain().Compare(other.Plain()) }

// IsZero reports whether id is the zero ID, which stands for "no ID".
func (id ID[T, K]) IsZero() bool { return id.Plain().IsZero() }

// reader returns the methods that set the plain ID.
func (id *ID[T, K]) reader() reader { return any(&id[0][0]).(reader) }
