package pgxtest

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/pgxid"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

var (
	nano  = nanoflake.MustParse("0abcdefghijkl")
	nano2 = nanoflake.ID(7)
	scru  = scru160.Max()
	short = sno.ID{'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j'} // the bytes are a text of UTF-8
)

// one reads one value.
func one[T any](ctx context.Context, conn *pgx.Conn, query string, args ...any) (v T, err error) {
	err = conn.QueryRow(ctx, query, args...).Scan(&v)
	return v, err
}

// A scru160.ID in a column of bytes is 32 characters if a mode does not ask, and a read of them is an
// error. scru160.Binary is 20 bytes in all modes.
func TestScru160InBytes(t *testing.T) {
	s := open(t)
	conn, plain := s.connect(t, registered), s.connect(t, nil)
	null := sql.Null[scru160.ID]{V: scru, Valid: true}
	exec(t, conn, "create table ids (b bytea)")
	for _, mode := range modes {
		size := map[bool]int{true: 20, false: 32}[asks(mode)]
		for v, want := range map[any]int{scru.Binary(): 20, scru: size, &scru: size, null: size} {
			exec(t, conn, "delete from ids")
			exec(t, conn, "insert into ids values ($1)", mode, v)
			if n, err := one[int](t.Context(), conn, "select length(b) from ids"); err != nil || n != want {
				t.Errorf("%v: a %T has %d bytes, %v", mode, v, n, err)
			}
			for _, by := range modes {
				got, err := one[scru160.ID](t.Context(), conn, "select b from ids", by)
				if want == 20 && (err != nil || got != scru) || want == 32 && !errors.Is(err, iderr.ErrLength) {
					t.Errorf("%v, written by %v: %v, %v", by, mode, got, err)
				}
			}
		}
	}
	exec(t, conn, "delete from ids")
	if _, err := conn.CopyFrom(t.Context(), pgx.Identifier{"ids"}, []string{"b"}, pgx.CopyFromRows([][]any{{scru}, {&scru}, {null}})); err != nil {
		t.Errorf("COPY: %v", err)
	}
	if n, err := one[int](t.Context(), conn, "select count(*) from ids where length(b) = 20"); err != nil || n != 3 {
		t.Errorf("COPY wrote %d rows, %v", n, err)
	}
	if n, err := one[int](t.Context(), plain, "select length($1::bytea)", null); err != nil || n != 32 {
		t.Errorf("sql.Null without Register: %d bytes, %v", n, err)
	}
}

// A slice of IDs is written and read in all modes. TestMatrix searches by slices.
func TestSlicesInAllModes(t *testing.T) {
	conn := open(t).connect(t, registered)
	for _, mode := range modes {
		for _, f := range forms() {
			query := "select $1::" + f.natural[0] + "[]"
			ids := f.slice(f.ids...)
			dst := reflect.New(reflect.TypeOf(ids))
			if err := conn.QueryRow(t.Context(), query, mode, ids).Scan(dst.Interface()); err != nil || !reflect.DeepEqual(dst.Elem().Interface(), ids) {
				t.Errorf("%v: %s: read %v, %v", mode, f.name, dst.Elem(), err)
			}
			with := f.slice(append(slices.Clone(f.ids), f.zero())...)
			if _, err := one[any](t.Context(), conn, query, mode, with); !errors.Is(err, iderr.ErrNoID) {
				t.Errorf("%v: %s: a slice with the zero ID: %v", mode, f.name, err)
			}
		}
		for _, ids := range []any{[]nanoflake.ID{}, []nanoflake.ID(nil), []*nanoflake.ID{}, []sql.Null[nanoflake.ID]{}} { // no rows, and not an error
			if n, err := one[int](t.Context(), conn, "select count(*) from (values (1::bigint)) v (id) where id = any($1)", mode, ids); err != nil || n != 0 {
				t.Errorf("%v: %T: %d, %v", mode, ids, n, err)
			}
		}
		for _, ids := range []any{[]*nanoflake.ID{&nano, nil}, []sql.Null[nanoflake.ID]{{V: nano, Valid: true}, {}}} {
			got, err := one[[]*nanoflake.ID](t.Context(), conn, "select $1::bigint[]", mode, ids)
			if err != nil || len(got) != 2 || *got[0] != nano || got[1] != nil {
				t.Errorf("%v: %T: %v, %v", mode, ids, got, err)
			}
		}
	}
}

// Ranges of integers are int8range and int8multirange.
func TestRanges(t *testing.T) {
	s := open(t)
	conn := s.connect(t, registered)
	between := pgtype.Range[nanoflake.ID]{Lower: 5, Upper: nano, LowerType: pgtype.Inclusive, UpperType: pgtype.Exclusive, Valid: true}
	for _, mode := range modes {
		got, err := one[pgtype.Range[nanoflake.ID]](t.Context(), conn, "select $1::int8range", mode, between)
		if err != nil || got != between {
			t.Errorf("%v: %v, %v", mode, got, err)
		}
		if in, err := one[bool](t.Context(), conn, "select $1::bigint <@ $2::int8range", mode, nano2, between); err != nil || !in {
			t.Errorf("%v: the range has no ID, %v", mode, err)
		}
		// An inclusive upper bound comes back exclusive.
		closed := pgtype.Range[nanoflake.ID]{Lower: 5, Upper: 7, LowerType: pgtype.Inclusive, UpperType: pgtype.Inclusive, Valid: true}
		got, err = one[pgtype.Range[nanoflake.ID]](t.Context(), conn, "select $1::int8range", mode, closed)
		if err != nil || got.Lower != 5 || got.Upper != 8 || got.UpperType != pgtype.Exclusive {
			t.Errorf("%v: %v, %v", mode, got, err)
		}
		many := pgtype.Multirange[pgtype.Range[nanoflake.ID]]{between}
		several, err := one[pgtype.Multirange[pgtype.Range[nanoflake.ID]]](t.Context(), conn, "select $1::int8multirange", mode, many)
		if err != nil || !slices.Equal(several, many) {
			t.Errorf("%v: %v, %v", mode, several, err)
		}
		zero := between
		zero.Lower = 0
		if _, err := conn.Exec(t.Context(), "select $1::int8range", mode, zero); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("%v: a range from the zero ID: %v", mode, err)
		}
		pointers := pgtype.Range[*nanoflake.ID]{Upper: &nano, LowerType: pgtype.Inclusive, UpperType: pgtype.Exclusive, Valid: true}
		if _, err := conn.Exec(t.Context(), "select $1::int8range", mode, pointers); err == nil {
			t.Errorf("%v: a range from NULL", mode)
		}
	}
}

// Rows as structs, with NULL in each type that may hold NULL.
func TestStructs(t *testing.T) {
	s := open(t)
	type record struct {
		ID      nanoflake.ID
		Text    nanoflake.Text
		Binary  scru160.Binary
		UUID    sno.UUID
		Parent  *nanoflake.ID
		Other   sql.Null[scru160.ID]
		Related []nanoflake.ID
		Array   pgtype.Array[nanoflake.ID]
		Flat    pgtype.FlatArray[nanoflake.ID]
	}
	full := record{nano, nano.Text(), scru.Binary(), short.UUID(), &nano2, sql.Null[scru160.ID]{V: scru, Valid: true},
		[]nanoflake.ID{nano, nano2}, pgtype.Array[nanoflake.ID]{Elements: []nanoflake.ID{nano, nano2, nano2, nano}, Dims: []pgtype.ArrayDimension{{Length: 2, LowerBound: 1}, {Length: 2, LowerBound: 1}}, Valid: true},
		pgtype.FlatArray[nanoflake.ID]{nano}}
	lean := record{ID: nano2, Text: nano2.Text(), Binary: scru.Binary(), UUID: short.UUID(), Related: []nanoflake.ID{}}
	for name, prepare := range map[string]func(*pgx.Conn){"pgxid": registered, "pgx": nil} {
		conn := s.connect(t, prepare)
		for _, mode := range modes {
			if prepare == nil && !asks(mode) {
				continue // slices
			}
			exec(t, conn, "drop table if exists records")
			exec(t, conn, "create table records (id bigint, text text, binary_ bytea, uuid uuid, parent bigint, other text, related bigint[], array_ bigint[], flat bigint[])")
			for _, r := range []record{full, lean} {
				exec(t, conn, "insert into records values ($1, $2, $3, $4, $5, $6, $7, $8, $9)", mode, r.ID, r.Text, r.Binary, r.UUID, r.Parent, r.Other, r.Related, r.Array, r.Flat)
			}
			if _, err := conn.CopyFrom(t.Context(), pgx.Identifier{"records"}, []string{"id", "text", "binary_", "uuid", "parent", "other", "related", "array_", "flat"},
				pgx.CopyFromRows([][]any{{full.ID, full.Text, full.Binary, full.UUID, full.Parent, full.Other, full.Related, full.Array, full.Flat}})); err != nil {
				t.Fatal(err)
			}
			rows, err := conn.Query(t.Context(), "select id, text, binary_ as binary, uuid, parent, other, related, array_ as array, flat from records order by id", mode)
			testkit.OK(t, err)
			got, err := pgx.CollectRows(rows, pgx.RowToStructByName[record])
			if err != nil || !reflect.DeepEqual(got, []record{lean, full, full}) {
				t.Errorf("%s, %v: %v, %v", name, mode, got, err)
			}
			var id nanoflake.ID
			if err := conn.QueryRow(t.Context(), "select parent from records where id = $1", mode, nano2).Scan(&id); !errors.Is(err, iderr.ErrNoID) {
				t.Errorf("%s, %v: NULL is read as %v, %v", name, mode, id, err)
			}
		}
		exec(t, conn, "drop table records")
	}
}

// Array is a parameter without Register, in database/sql and in all modes of pgx.
func TestArray(t *testing.T) {
	s := open(t)
	for name, prepare := range map[string]func(*pgx.Conn){"pgxid": registered, "pgx": nil} {
		conn, db := s.connect(t, prepare), s.sql(t, prepare)
		find := func(mode pgx.QueryExecMode, column, cast string, ids, id any) {
			query := "select count(*) from (values ($2::" + cast + ")) v (id) where id = any($1)"
			if n, err := one[int](t.Context(), conn, query, mode, ids, id); err != nil || n != 1 {
				t.Errorf("%s, %v: %s: %d, %v", name, mode, column, n, err)
			}
			var n int
			if err := db.QueryRowContext(t.Context(), query, mode, ids, id).Scan(&n); err != nil || n != 1 {
				t.Errorf("%s, %v, database/sql: %s: %d, %v", name, mode, column, n, err)
			}
		}
		for _, mode := range modes {
			find(mode, "bigint", "bigint", pgxid.Array([]nanoflake.ID{nano2, nano}), nano)
			find(mode, "text", "text", pgxid.Array([]nanoflake.Text{nano2.Text(), nano.Text()}), nano.Text())
			find(mode, "text", "text", pgxid.Array([]scru160.ID{scru}), scru)
			find(mode, "bytea", "bytea", pgxid.Array([]scru160.Binary{scru.Binary()}), scru.Binary())
			find(mode, "bytea", "bytea", pgxid.Array([]sno.ID{short}), short)
			find(mode, "uuid", "uuid", pgxid.Array([]sno.UUID{short.UUID()}), short.UUID())
			find(mode, "a pointer", "bigint", pgxid.Array([]*nanoflake.ID{nil, &nano}), nano)
			for _, none := range []any{pgxid.Array([]nanoflake.ID{}), pgxid.Array[nanoflake.ID](nil)} {
				// An empty array, and not NULL, which no row is unequal to.
				if n, err := one[int](t.Context(), conn, "select count(*) from (values (1::bigint)) v (id) where id <> all($1)", mode, none); err != nil || n != 1 {
					t.Errorf("%s, %v: no IDs: %d, %v", name, mode, n, err)
				}
			}
			if _, err := conn.Exec(t.Context(), "select $1::bigint[]", mode, pgxid.Array([]nanoflake.ID{nano, 0})); !errors.Is(err, iderr.ErrNoID) {
				t.Errorf("%s, %v: the zero ID: %v", name, mode, err)
			}
		}
	}
	conn := s.connect(t, registered)
	if n, err := one[int](t.Context(), conn, "select count(*) from (values (1::bigint)) v (id) where id <> all($1)", []nanoflake.ID(nil)); err != nil || n != 0 {
		t.Errorf("a nil slice, which is NULL: %d rows, %v", n, err)
	}
	if _, err := conn.Exec(t.Context(), "select 'x' = any($1::text[])", pgxid.Array([]nanoflake.ID{nano})); !is(err, iderr.ErrType, "nanoflake.Text is the type") {
		t.Errorf("integers in an array of text: %v", err)
	}
}

// OrderID, InvoiceID and Upload are types of a program.
type (
	OrderID   struct{ nanoflake.ID }
	InvoiceID struct{ scru160.Binary }
	Upload    struct{ sno.UUID }
)

// RegisterType teaches a map types of programs.
func TestRegisterType(t *testing.T) {
	s := open(t)
	conn := s.connect(t, func(conn *pgx.Conn) {
		if err := errors.Join(pgxid.RegisterType[OrderID](conn.TypeMap()), pgxid.RegisterType[InvoiceID](conn.TypeMap()), pgxid.RegisterType[Upload](conn.TypeMap())); err != nil {
			t.Fatal(err)
		}
	})
	order, invoice, upload := OrderID{nano}, InvoiceID{scru.Binary()}, Upload{short.UUID()}
	exec(t, conn, "create table orders (id bigint, invoice bytea, upload uuid)")
	for _, mode := range modes {
		exec(t, conn, "delete from orders")
		exec(t, conn, "insert into orders values ($1, $2, $3)", mode, order, invoice, upload)
		var got OrderID
		var bill InvoiceID
		var file Upload
		err := conn.QueryRow(t.Context(), "select id, invoice, upload from orders where id = any($1) and invoice = any($2) and upload = any($3)", mode,
			[]OrderID{order}, []InvoiceID{invoice}, []*Upload{&upload}).Scan(&got, &bill, &file)
		if err != nil || got != order || bill != invoice || file != upload {
			t.Errorf("%v: %v, %v, %v, %v", mode, got, bill, file, err)
		}
		if _, err := conn.Exec(t.Context(), "insert into orders (id) values ($1)", mode, OrderID{}); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("%v: the zero ID: %v", mode, err)
		}
		if n, err := one[int](t.Context(), conn, "select count(*) from orders where id = any($1)", mode, []nanoflake.ID{nano}); err != nil || n != 1 {
			t.Errorf("%v: the types of the formats: %d, %v", mode, n, err)
		}
	}
	if _, err := conn.Exec(t.Context(), "select $1::text", order); !is(err, iderr.ErrType, "a column of type text holds no pgxtest.OrderID: nanoflake.Text is the type for the column") {
		t.Errorf("text: %v", err)
	}
}

// A domain is a column like its type, whether pgx has loaded the domain or not.
func TestDomains(t *testing.T) {
	s := open(t)
	conn := s.connect(t, registered)
	exec(t, conn, "create domain order_id as bigint")
	exec(t, conn, "create domain word as text")
	exec(t, conn, "create table ids (id order_id, s word)")
	for _, loaded := range []bool{false, true} {
		if loaded {
			for _, name := range []string{"order_id", "word"} {
				typ := testkit.Must(conn.LoadType(t.Context(), s.schema+"."+name))
				conn.TypeMap().RegisterType(typ)
			}
			if _, err := conn.Exec(t.Context(), "insert into ids (s) values ($1)", nano); !is(err, iderr.ErrType, "nanoflake.Text") {
				t.Errorf("an integer in a domain over text: %v", err)
			}
		}
		for _, mode := range modes {
			exec(t, conn, "delete from ids")
			exec(t, conn, "insert into ids values ($1, $2)", mode, nano, scru)
			var id nanoflake.ID
			var word scru160.ID
			if err := conn.QueryRow(t.Context(), "select * from ids where id = $1 and s = $2", mode, nano, scru).Scan(&id, &word); err != nil || id != nano || word != scru {
				t.Errorf("loaded %t, %v: %v, %v, %v", loaded, mode, id, word, err)
			}
		}
	}
}

// The code of docs/pgx.md, with a pool.
func TestDocument(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	conn := s.connect(t, registered)
	exec(t, conn, "create table orders (id bigint primary key)")
	t.Setenv("PGOPTIONS", "-c search_path="+s.schema)
	pool := testkit.Must(openPool(ctx, services.PostgreSQL.Address()))
	defer pool.Close()
	var batch pgx.Batch
	for id := range nanoflake.ID(9) {
		batch.Queue("insert into orders values ($1)", id+1)
	}
	testkit.OK(t, pool.SendBatch(ctx, &batch).Close())
	if got, err := findOrders(ctx, pool, 5, 3, 100); err != nil || !slices.Equal(got, []nanoflake.ID{3, 5}) {
		t.Errorf("any: %v, %v", got, err)
	}
	if got, err := findBetween(ctx, pool, 7, 100); err != nil || !slices.Equal(got, []nanoflake.ID{7, 8, 9}) {
		t.Errorf("between: %v, %v", got, err)
	}
}
