package typed

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
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
	slog.LogValuer
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
// and is zero if the plain ID is zero.
type ID[T Untyped[T], K any] struct {
	//lint:ignore U1000 tells the compiler the kinds apart
	kind mark[K]
	ID   T // the plain ID, with the methods for time and fields
}

// A mark takes no memory. Without a mark, the IDs of two kinds would be structs with equal fields,
// which Go converts to each other.
//
//lint:ignore U1000 the type of a field
type mark[K any] struct{}

// Of gives an ID its kind. Of takes the results of a generator's method:
//
//	id, err := typed.Of[OrderKind](gen.Next(ctx))
//
// If there is no error to pass on, write OrderID{ID: id}.
func Of[K any, T Untyped[T]](id T, err error) (ID[T, K], error) { return ID[T, K]{ID: id}, err }

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

// MustParse is [Parse] for constants in code. MustParse panics if Parse returns an error.
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
func (id ID[T, K]) Compare(other ID[T, K]) int { return id.ID.Compare(other.ID) }

// IsZero reports whether id is the zero ID, which stands for "no ID".
func (id ID[T, K]) IsZero() bool { return id.ID.IsZero() }

// reader returns the methods that set the plain ID.
func (id *ID[T, K]) reader() reader { return any(&id.ID).(reader) }
