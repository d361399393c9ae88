package pgxtest

import (
	"database/sql"
	"math/rand/v2"
	"reflect"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// A form is a type of IDs, and IDs of the type: the least, the largest and random ones.
type form struct {
	name    string
	typ     reflect.Type
	ids     []any
	natural []string                 // the columns of the type
	null    func(id any) any         // a sql.Null[T]; invalid for a nil id
	target  func() (any, func() any) // a *sql.Null[T], and what the destination holds: an ID or nil
}

func (f form) zero() any { return reflect.Zero(f.typ).Interface() }

// slice returns a []T.
func (f form) slice(ids ...any) any {
	s := reflect.MakeSlice(reflect.SliceOf(f.typ), 0, len(ids))
	for _, id := range ids {
		s = reflect.Append(s, reflect.ValueOf(id))
	}
	return s.Interface()
}

// pointer returns a *T with an ID.
func (f form) pointer(id any) any {
	p := reflect.New(f.typ)
	if id != nil {
		p.Elem().Set(reflect.ValueOf(id))
	}
	return p.Interface()
}

func formOf[T comparable](natural []string, ids ...T) form {
	f := form{typ: reflect.TypeFor[T](), natural: natural,
		null: func(id any) any {
			if id == nil {
				return sql.Null[T]{}
			}
			return sql.Null[T]{V: id.(T), Valid: true}
		},
		target: func() (any, func() any) {
			n := new(sql.Null[T])
			return n, func() any {
				if !n.Valid {
					return nil
				}
				return n.V
			}
		},
	}
	f.name = f.typ.String()
	for _, id := range ids {
		f.ids = append(f.ids, id)
	}
	return f
}

var (
	bigints = []string{"bigint"}
	texts   = []string{"text", "varchar", "char", "name"}
	bytes   = []string{"bytea"}
)

func forms() []form {
	r := rand.New(rand.NewPCG(1, 2))
	some := func() int64 { return r.Int64N(1<<60) + 1<<59 }
	nano := []nanoflake.ID{1, nanoflake.Max, nanoflake.ID(some()) % nanoflake.Max, 123456789}
	ulid := []ulidflake.ID{1, ulidflake.Max, ulidflake.ID(some()) % ulidflake.Max, 123456789}
	scalable := []ulidflake.ScalableID{1, ulidflake.MaxScalable, ulidflake.ScalableID(some()) % ulidflake.MaxScalable, 123456789}
	snow := []snowflakesi.ID{1, snowflakesi.Max, snowflakesi.ID(some()) % snowflakesi.Max, 123456789}
	var least, random, ascii scru160.ID
	least[19] = 1
	for i := range random {
		random[i] = byte(r.Uint32())
		ascii[i] = byte('a' + i)
	}
	scru := []scru160.ID{least, scru160.Max(), random, ascii}
	var shortest, short, word sno.ID
	shortest[9] = 1
	for i := range short {
		short[i] = byte(r.Uint32())
		word[i] = byte('a' + i)
	}
	snos := []sno.ID{shortest, sno.MustParse("xxxxxxxxxxxxxxxx"), short, word}
	return []form{
		formOf(bigints, nano...),
		formOf(texts, each(nano, nanoflake.ID.Text)...),
		formOf(bigints, ulid...),
		formOf(texts, each(ulid, ulidflake.ID.Text)...),
		formOf(bigints, scalable...),
		formOf(texts, each(scalable, ulidflake.ScalableID.Text)...),
		formOf(bigints, snow...),
		formOf(texts, scru...),
		formOf(bytes, each(scru, scru160.ID.Binary)...),
		formOf(bytes, snos...),
		formOf(texts, each(snos, sno.ID.Text)...),
		formOf([]string{"uuid"}, each(snos, sno.ID.UUID)...),
	}
}

func each[A, B any](list []A, f func(A) B) (out []B) {
	for _, a := range list {
		out = append(out, f(a))
	}
	return out
}
