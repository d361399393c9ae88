package pgxid

import (
	"reflect"
	"strings"

	"github.com/firn-id/firn/iderr"
)

// A column is what types of PostgreSQL hold. A set of columns is the sum of the columns.
type column uint8

const (
	bigint column = 1 << iota
	text
	bytea
	uuid
	other // no ID
)

// columns has the types of PostgreSQL with a codec of this package. The codecs of pgx for the types
// of other hand characters or bytes to Scan, and a Scan would read some of them as an ID: 13 digits
// of a numeric, ten characters of an XML document, or the 20 bytes of a record with a bigint.
var columns = map[string]column{
	"int8": bigint,
	"text": text, "varchar": text, "bpchar": text, "name": text, "unknown": text,
	"bytea":  bytea,
	"uuid":   uuid,
	"float4": other, "float8": other, "numeric": other,
	"json": other, "jsonb": other, "jsonpath": other, "xml": other,
	"bit": other, "varbit": other, "aclitem": other, "record": other,
}

func (c column) has(one column) bool { return c&one != 0 }

// pgType returns the type of a parameter in the modes without OIDs.
func (c column) pgType() string {
	switch c {
	case bigint:
		return "int8"
	case text:
		return "text"
	case bytea:
		return "bytea"
	}
	return "uuid"
}

// An idType is a type of IDs.
type idType struct {
	format  string
	name    string            // of the Go type
	natural column            // the column of Value
	writes  column            // set of the columns that the type is written to
	reads   column            // set of the columns that the type is read from
	family  map[column]string // the type of the format for each column
	size    int               // of an ID in a bytea
	ours    bool              // a type of a format, whose text and binary form are what columns hold
}

// byName has the columns that hold IDs, by PostgreSQL's name.
var byName = map[string]column{"bigint": bigint, "text": text, "bytea": bytea, "uuid": uuid}

// describe returns the idType of T.
func describe[T ID]() (*idType, error) {
	t := &idType{name: reflect.TypeFor[T]().String()}
	if field := nilField(reflect.TypeFor[T]()); field != nil {
		return nil, &iderr.ParseError{Format: "pgxid", Offset: -1, Err: iderr.ErrType,
			Reason: "the type " + t.name + " has an embedded " + field.String() + " that is nil: embed an ID, and no pointer or interface"}
	}
	stored, ok := storedOf[T]()
	if !ok {
		return nil, &iderr.ParseError{Format: "pgxid", Offset: -1, Err: iderr.ErrType,
			Reason: "the method Stored of the zero " + t.name + " panics: embed an ID, and no pointer or interface"}
	}
	if stored.Format == nil {
		return nil, &iderr.ParseError{Format: "pgxid", Offset: -1, Err: iderr.ErrType,
			Reason: "the type " + t.name + " has no ID of a format: embed an ID in the type"}
	}
	t.format, t.size = stored.Format.Name, stored.Format.Size
	t.family = make(map[column]string)
	for _, c := range stored.Format.Columns {
		t.family[byName[string(c.Type)]] = c.GoType
	}
	t.natural = byName[string(stored.Column.Type)]
	t.writes, t.reads = t.natural, t.natural
	for _, c := range stored.Column.Writes {
		t.writes |= byName[string(c)]
	}
	for _, c := range stored.Column.Reads {
		t.reads |= byName[string(c)]
	}
	return t, nil
}

// storedOf calls Stored of the zero value. ok is false if the method panics, as a method of a nil
// pointer does.
func storedOf[T ID]() (stored Stored, ok bool) {
	defer func() { ok = recover() == nil }()
	var zero T
	return zero.Stored(), true
}

// nilField returns the type of the first embedded field, in depth, that gives t the method Stored and is
// nil in the zero value. A call of the method would panic.
func nilField(t reflect.Type) reflect.Type {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for f := range t.Fields() {
		if !f.Anonymous {
			continue
		}
		switch f.Type.Kind() {
		case reflect.Pointer, reflect.Interface:
			if _, ok := f.Type.MethodByName("Stored"); ok {
				return f.Type
			}
		default:
			if found := nilField(f.Type); found != nil {
				return found
			}
		}
	}
	return nil
}

// refuse returns the error of a type and a column that do not belong together.
func (t *idType) refuse(c *codec) error {
	reason := "a column of type " + c.name + " holds no " + t.name + ": "
	switch right, ok := t.family[c.column]; {
	case ok:
		reason += right + " is the type for the column"
	case c.name == "json" || c.name == "jsonb":
		reason += "use json.RawMessage, with the JSON that json.Marshal writes"
	default:
		reason += "the columns of the format are " + t.sqlTypes()
	}
	return &iderr.ParseError{Format: t.format, Offset: -1, Err: iderr.ErrType, Reason: reason}
}

// sqlTypes returns the columns of a format and their types.
func (t *idType) sqlTypes() string {
	var list []string
	for _, c := range []column{bigint, text, bytea, uuid} {
		if name, ok := t.family[c]; ok {
			list = append(list, c.sqlName()+" (for "+name+")")
		}
	}
	return strings.Join(list, ", ")
}

func (c column) sqlName() string {
	if c == bigint {
		return "bigint"
	}
	return c.pgType()
}
