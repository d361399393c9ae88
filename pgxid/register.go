package pgxid

import (
	"database/sql"
	"database/sql/driver"
	"encoding"
	"maps"
	"reflect"
	"sync"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// ID has the methods of a type of IDs. The types of the formats and of package typed have the
// methods, and a struct that embeds an ID has the methods of the ID.
type ID interface {
	driver.Valuer
	encoding.BinaryMarshaler
	encoding.TextMarshaler
	IsZero() bool
	Stored() Stored
}

// Stored says which columns hold the IDs of a type. A type with the methods of an ID that embeds no ID
// returns what Stored of an ID returns: that of the ID whose columns its methods Value and Scan use.
type Stored = shape.Stored

// Target is a pointer to a type of IDs.
type Target[T any] interface {
	*T
	sql.Scanner
	encoding.BinaryUnmarshaler
	encoding.TextUnmarshaler
}

// Register teaches m all types of the formats. Call Register for each connection, in AfterConnect
// of pgxpool or with the TypeMap of a connection. Call Register before you load types of your own
// into m: a domain over a type of PostgreSQL takes the codec of the type at the time of the load.
//
// Register replaces the codecs of int8, text, varchar, bpchar, name, unknown, bytea and uuid. The
// new codecs hand all values but IDs to the old codecs. Register also replaces the codecs of
// float4, float8, numeric, json, jsonb, jsonpath, xml, bit, varbit, aclitem and record, to refuse
// IDs: a float is not an exact integer, 13 digits of a numeric could be the text of another ID, and
// json.Marshal makes the JSON value of an ID.
func Register(m *pgtype.Map) { install(m, known(m)) }

// RegisterType teaches m one more type: a type of package typed, a struct that embeds an ID, or
// another type with the methods of an ID, including [Stored]. RegisterType calls Register. The type
// belongs to the columns that Stored names. The codecs write the result of Value, and read by Scan: a
// text with a prefix in JSON has no prefix in a column. A struct with a Value for columns of another type
// embeds the type of those columns, such as nanoflake.Text, or has a Stored that returns the other's.
//
//	type OrderID = typed.ID[nanoflake.ID, OrderKind]
//
//	err := pgxid.RegisterType[OrderID](conn.TypeMap())
//
// A type without an ID of a format is a *iderr.ParseError that is iderr.ErrType, and so is a struct
// that embeds a pointer to an ID.
func RegisterType[T ID, P Target[T]](m *pgtype.Map) error {
	forms := maps.Clone(known(m))
	if err := add[T, P](forms); err != nil {
		return err
	}
	install(m, forms)
	return nil
}

// known returns the types that m knows, and the types of the formats for a new map.
func known(m *pgtype.Map) map[reflect.Type]form {
	if t, ok := m.TypeForName("int8"); ok {
		if c, ok := t.Codec.(*codec); ok {
			return c.forms
		}
	}
	return formats()
}

// formats returns the types of the formats.
var formats = sync.OnceValue(func() map[reflect.Type]form {
	forms := make(map[reflect.Type]form)
	for _, add := range []func(map[reflect.Type]form) error{
		add[nanoflake.ID], add[nanoflake.Text],
		add[ulidflake.ID], add[ulidflake.Text], add[ulidflake.ScalableID], add[ulidflake.ScalableText],
		add[snowflakesi.ID],
		add[scru160.ID], add[scru160.Binary],
		add[sno.ID], add[sno.Text], add[sno.UUID],
	} {
		if err := add(forms); err != nil {
			panic(err) // a test registers all types
		}
	}
	for _, f := range forms {
		f.ours = true // of the type that all forms share
	}
	direct(forms)
	return forms
})

// install registers the codecs and the types of slices.
func install(m *pgtype.Map, forms map[reflect.Type]form) {
	for name, column := range columns {
		old, ok := m.TypeForName(name)
		if !ok {
			continue
		}
		inner := old.Codec
		if c, ok := inner.(*codec); ok { // m is registered already
			inner = c.Codec
		}
		element := &pgtype.Type{Name: name, OID: old.OID, Codec: &codec{Codec: inner, column: column, name: name, forms: forms}}
		m.RegisterType(element)
		list, ok := m.TypeForName("_" + name)
		if !ok {
			continue
		}
		if c, ok := list.Codec.(*pgtype.ArrayCodec); ok {
			m.RegisterType(&pgtype.Type{Name: list.Name, OID: list.OID,
				Codec: &pgtype.ArrayCodec{ElementType: element, Delimiter: c.Delimiter}})
		}
	}
	for _, f := range forms {
		if f.register != nil {
			f.register(m)
		}
	}
}

// A form is a Go type of parameters and of destinations: the type T of an ID, *T, **T, sql.Null[T]
// or *sql.Null[T]. All forms of T share one idType.
type form struct {
	*idType
	register func(*pgtype.Map)                         // registers T and []T for modes without OIDs
	encode   func(pgtype.EncodePlan) pgtype.EncodePlan // nil if no parameter has the type
	scan     func(pgtype.ScanPlan) pgtype.ScanPlan     // nil if no destination has the type
}

// add adds the forms of T.
func add[T ID, P Target[T]](forms map[reflect.Type]form) error {
	t, err := describe[T]()
	if err != nil {
		return err
	}
	same := func(next pgtype.ScanPlan) pgtype.ScanPlan { return next }
	forms[reflect.TypeFor[T]()] = form{t, func(m *pgtype.Map) { defaults[T](m, t) },
		func(next pgtype.EncodePlan) pgtype.EncodePlan { return next }, nil}
	forms[reflect.TypeFor[*T]()] = form{t, nil,
		func(next pgtype.EncodePlan) pgtype.EncodePlan { return pointerPlan[T]{next} }, same}
	forms[reflect.TypeFor[**T]()] = form{t, nil, nil, same}
	forms[reflect.TypeFor[sql.Null[T]]()] = form{t, nil,
		func(next pgtype.EncodePlan) pgtype.EncodePlan { return nullPlan[T]{next} }, nil}
	forms[reflect.TypeFor[*sql.Null[T]]()] = form{t, nil,
		func(next pgtype.EncodePlan) pgtype.EncodePlan { return nullPlan[T]{next} },
		func(next pgtype.ScanPlan) pgtype.ScanPlan { return nullScan[T]{next} }}
	return nil
}

// defaults names the type of PostgreSQL of a parameter in the modes without OIDs. Destinations are
// not registered: Scan reads a column of an unknown type, and refuses decimal texts.
func defaults[T any](m *pgtype.Map, t *idType) {
	name := t.natural.pgType()
	m.RegisterDefaultPgType(*new(T), name)
	m.RegisterDefaultPgType(sql.Null[T]{}, name)
	m.RegisterDefaultPgType([]T(nil), "_"+name)
	m.RegisterDefaultPgType([]*T(nil), "_"+name)
	m.RegisterDefaultPgType([]sql.Null[T](nil), "_"+name)
	m.RegisterDefaultPgType(pgtype.FlatArray[T](nil), "_"+name)
	m.RegisterDefaultPgType(pgtype.Array[T]{}, "_"+name)
	if t.natural == bigint {
		m.RegisterDefaultPgType(pgtype.Range[T]{}, "int8range")
		m.RegisterDefaultPgType([]pgtype.Range[T](nil), "_int8range")
		m.RegisterDefaultPgType(pgtype.Multirange[pgtype.Range[T]](nil), "int8multirange")
	}
}
