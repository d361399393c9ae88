package pgxid

import (
	"database/sql/driver"
	"encoding/hex"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/iderr"
)

// Array returns a parameter for a query such as
//
//	where id = any($1)
//
// Array is for programs that do not call [Register], and for drivers of database/sql other than
// pgx: the parameter is the text of a PostgreSQL array. Value writes the elements; the zero ID is a
// *[iderr.ListError] that wraps the type's error. A nil pointer and a nil interface are NULL. No
// IDs are an empty array, and not NULL.
func Array[T driver.Valuer](ids []T) driver.Valuer { return array[T]{ids} }

// An array is the parameter of Array. If pgx knows the type of the column, pgx takes the array for
// a [pgtype.ArrayGetter], and writes the elements by the codec of a T. The codec refuses a foreign
// column.
type array[T driver.Valuer] struct{ ids []T }

func (a array[T]) Dimensions() []pgtype.ArrayDimension {
	if len(a.ids) == 0 {
		return []pgtype.ArrayDimension{}
	}
	return []pgtype.ArrayDimension{{Length: int32(len(a.ids)), LowerBound: 1}}
}

func (a array[T]) Index(i int) any { return a.ids[i] }

func (a array[T]) IndexType() any { return *new(T) }

// escape escapes the characters that end a quoted element of an array.
var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`)

// Value implements [driver.Valuer].
func (a array[T]) Value() (driver.Value, error) {
	var b strings.Builder
	b.WriteByte('{')
	for i, id := range a.ids {
		v, err := element(id)
		if err != nil {
			return 0i, &iderr.ListError{Index: i, Offset: -1, Err: err} // not nil, which GORM would take for NULL
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(v)
	}
	b.WriteByte('}')
	return b.String(), nil
}

// element returns the text of an element.
func element(id driver.Valuer) (string, error) {
	if p := reflect.ValueOf(id); !p.IsValid() || p.Kind() == reflect.Pointer && p.IsNil() {
		return "NULL", nil
	}
	if z, ok := id.(interface{ IsZero() bool }); ok && z.IsZero() {
		if _, err := noID(id); err != nil {
			return "", err
		}
	}
	v, err := id.Value()
	if err != nil {
		return "", err
	}
	switch v := v.(type) {
	case int64:
		return strconv.FormatInt(v, 10), nil
	case string:
		return `"` + escape.Replace(v) + `"`, nil
	case []byte:
		return `"\\x` + hex.EncodeToString(v) + `"`, nil
	case nil: // an invalid sql.Null
		return "NULL", nil
	}
	return "", &iderr.ParseError{Format: "pgxid", Offset: -1, Err: iderr.ErrType,
		Reason: fmt.Sprintf("a value of type %T holds no ID", v)}
}
