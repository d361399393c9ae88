package pgxtest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/sno"
)

// columns has the columns of the matrix, and their types.
var columns = map[string]string{
	"text": "text", "varchar": "varchar(40)", "char": "char(40)", "bytea": "bytea", "bigint": "bigint", "uuid": "uuid",
	"name": "name", "numeric": "numeric", "json": "json", "jsonb": "jsonb", "xml": "xml", "float8": "float8", "float4": "float4",
}

// A way writes, reads and finds IDs.
type way struct {
	name       string
	registered bool
	asks       bool // pgx knows the types of parameters
	insert     func(ctx context.Context, query string, args ...any) error
	query      func(ctx context.Context, query string, args ...any) ([]row, error)
	copy       bool // rows are written by COPY
}

// A row has the columns of the table but the type: how and which ID was written, and a scan of the value.
type row struct {
	way  string
	n    int
	scan func(dst any) error
}

// A problem is a row that is lost, or reads as another ID.
type problem struct{ form, column, writer, reader, text string }

func (p problem) String() string {
	return fmt.Sprintf("%s in %s, written by %s, read by %s: %s", p.form, p.column, p.writer, p.reader, p.text)
}

// ways returns all ways, over new connections.
func ways(t testing.TB, s server, name string, prepare func(*pgx.Conn)) []way {
	conn := s.connect(t, prepare)
	is := prepare != nil
	var list []way
	for _, mode := range modes {
		list = append(list, way{name: name + " " + mode.String(), registered: is, asks: asks(mode),
			insert: func(ctx context.Context, query string, args ...any) error {
				_, err := conn.Exec(ctx, query, append([]any{mode}, args...)...)
				return err
			},
			query: func(ctx context.Context, query string, args ...any) ([]row, error) {
				rows, err := conn.Query(ctx, query, append([]any{mode}, args...)...)
				return collect(conn, rows, err)
			},
		})
	}
	list = append(list,
		way{name: name + " batch", registered: is, asks: true,
			insert: func(ctx context.Context, query string, args ...any) error {
				var b pgx.Batch
				b.Queue(query, args...)
				b.Queue("select 1")
				return conn.SendBatch(ctx, &b).Close()
			},
			query: func(ctx context.Context, query string, args ...any) ([]row, error) {
				var b pgx.Batch
				b.Queue(query, args...)
				results := conn.SendBatch(ctx, &b)
				rows, err := results.Query()
				out, err := collect(conn, rows, err)
				return out, errors.Join(err, results.Close())
			},
		},
		way{name: name + " copy", registered: is, asks: true, copy: true,
			insert: func(ctx context.Context, table string, args ...any) error {
				_, err := conn.CopyFrom(ctx, pgx.Identifier{table}, []string{"form", "way", "n", "v"}, pgx.CopyFromRows([][]any{args}))
				return err
			},
		})
	db := s.sql(t, prepare)
	list = append(list, way{name: name + " database/sql", registered: is, asks: true,
		insert: func(ctx context.Context, query string, args ...any) error {
			_, err := db.ExecContext(ctx, query, args...)
			return err
		},
		query: func(ctx context.Context, query string, args ...any) ([]row, error) {
			return collectSQL(ctx, db, query, args)
		},
	})
	return list
}

// collect returns the rows of a query with the columns way, n and v. The scans use the map of conn, as
// Scan of the rows does; an error of Scan would end the rows.
func collect(conn *pgx.Conn, rows pgx.Rows, err error) ([]row, error) {
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []row
	for rows.Next() {
		var r row
		field, raw := rows.FieldDescriptions()[2], slices.Clone(rows.RawValues()[2])
		if err := rows.Scan(&r.way, &r.n, nil); err != nil {
			return nil, err
		}
		r.scan = func(dst any) error { return conn.TypeMap().Scan(field.DataTypeOID, field.Format, raw, dst) }
		out = append(out, r)
	}
	return out, rows.Err()
}

// keeper keeps what database/sql hands to Scan.
type keeper struct{ value any }

func (k *keeper) Scan(src any) error {
	if b, ok := src.([]byte); ok {
		src = slices.Clone(b)
	}
	k.value = src
	return nil
}

func collectSQL(ctx context.Context, db *sql.DB, query string, args []any) ([]row, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var out []row
	for rows.Next() {
		var r row
		var k keeper
		if err := rows.Scan(&r.way, &r.n, &k); err != nil {
			return nil, err
		}
		r.scan = func(dst any) error { return dst.(sql.Scanner).Scan(k.value) }
		out = append(out, r)
	}
	return out, rows.Err()
}

// A report says what the matrix has seen.
type report struct {
	problems []problem
	wrote    map[[3]string]bool    // form, column, way: all IDs were written
	read     map[[4]string]bool    // form, column, writer, reader: all IDs were read
	found    map[[3]string]bool    // form, column, reader: each search had a result
	inArray  map[[3]string]bool    // the same for any
	errs     map[[3]string][]error // form, column, way: the errors of IDs that were not written
}

// run writes each ID in each way, and reads and looks for the IDs in each way. An error is not a problem.
func run(t testing.TB, s server, forms []form, ways []way, names ...string) report {
	ctx := t.Context()
	out := report{wrote: map[[3]string]bool{}, read: map[[4]string]bool{}, found: map[[3]string]bool{}, inArray: map[[3]string]bool{}, errs: map[[3]string][]error{}}
	admin := s.connect(t, nil)
	for _, column := range names {
		exec(t, admin, "drop table if exists m_"+column)
		exec(t, admin, "create unlogged table m_"+column+" (form text, way text, n int, v "+columns[column]+")")
		for _, f := range forms {
			written := out.write(ctx, column, f, ways)
			out.readBack(ctx, column, f, ways, written)
			out.find(ctx, column, f, ways, written)
		}
	}
	return out
}

// write writes the IDs, and returns how many rows have been written, by way and ID.
func (out *report) write(ctx context.Context, column string, f form, ways []way) map[string][]int {
	written := map[string][]int{}
	for _, w := range ways {
		insert := func(v any, n int) error {
			if w.copy {
				return w.insert(ctx, "m_"+column, f.name, w.name, n, v)
			}
			return w.insert(ctx, "insert into m_"+column+" (form, way, n, v) values ($1, $2, $3, $4)", f.name, w.name, n, v)
		}
		key := [3]string{f.name, column, w.name}
		out.wrote[key] = true
		for n, id := range f.ids {
			for _, v := range []any{id, f.pointer(id), f.null(id)} {
				err := insert(v, n)
				if err == nil {
					written[w.name] = append(written[w.name], n)
					continue
				}
				out.wrote[key] = false
				out.errs[key] = append(out.errs[key], fmt.Errorf("%T: %w", v, err))
			}
		}
		for _, v := range []any{f.zero(), f.pointer(nil), f.null(f.zero())} {
			switch err := insert(v, -1); {
			case err == nil && keepsZero(f.name, w.name, v):
			case err == nil:
				out.problems = append(out.problems, problem{f.name, column, w.name, "", fmt.Sprintf("the zero ID is written as a %T", v)})
			case slices.Contains(f.natural, column) && !is(err, iderr.ErrNoID, "the zero ID means"):
				out.problems = append(out.problems, problem{f.name, column, w.name, "", fmt.Sprintf("the error of the zero ID is %v", err)})
			}
		}
	}
	return written
}

func (out *report) readBack(ctx context.Context, column string, f form, ways []way, written map[string][]int) {
	for _, r := range ways {
		if r.query == nil {
			continue
		}
		rows, err := r.query(ctx, "select way, n, v from m_"+column+" where form = $1", f.name)
		if err != nil {
			out.problems = append(out.problems, problem{f.name, column, "", r.name, err.Error()})
			continue
		}
		read := map[string]int{}
		for _, row := range rows {
			if row.n < 0 {
				continue // the zero ID, which write allows or reports
			}
			target := reflect.New(f.typ)
			null, value := f.target()
			pointer := reflect.New(reflect.PointerTo(f.typ))
			ok := 0
			for _, scan := range []struct {
				dst any
				got func() any
			}{
				{target.Interface(), func() any { return target.Elem().Interface() }},
				{null, value},
				{pointer.Interface(), func() any { return pointer.Elem().Elem().Interface() }},
			} {
				if r.name[len(r.name)-3:] == "sql" && scan.dst == pointer.Interface() {
					ok++ // database/sql reads pointers by itself
					continue
				}
				if err := row.scan(scan.dst); err != nil {
					continue
				}
				if got := scan.got(); got != f.ids[row.n] {
					out.problems = append(out.problems, problem{f.name, column, row.way, r.name, fmt.Sprintf("ID %d is %v as a %T", row.n, got, scan.dst)})
					continue
				}
				ok++
			}
			if ok == 3 {
				read[row.way]++
			}
		}
		for _, w := range ways {
			out.read[[4]string{f.name, column, w.name, r.name}] = len(written[w.name]) > 0 && read[w.name] == len(written[w.name])
		}
	}
}

// find looks for each ID, and for two IDs by any. A result without an error must have all rows of the
// IDs, and no other rows.
func (out *report) find(ctx context.Context, column string, f form, ways []way, written map[string][]int) {
	for _, r := range ways {
		if r.query == nil {
			continue
		}
		key := [3]string{f.name, column, r.name}
		out.found[key], out.inArray[key] = true, true
		for n, id := range f.ids {
			rows, err := r.query(ctx, "select way, n, v from m_"+column+" where form = $1 and v = $2", f.name, id)
			if err != nil {
				out.found[key] = false
			} else {
				out.compare(f, column, r, rows, written, n)
			}
			other := (n + 1) % len(f.ids)
			rows, err = r.query(ctx, "select way, n, v from m_"+column+" where form = $1 and v = any($2)", f.name, f.slice(id, f.ids[other]))
			if err != nil {
				out.inArray[key] = false
			} else {
				out.compare(f, column, r, rows, written, n, other)
			}
		}
	}
}

func (out *report) compare(f form, column string, r way, rows []row, written map[string][]int, ids ...int) {
	type kind struct {
		way string
		n   int
	}
	count := map[kind]int{}
	for _, row := range rows {
		count[kind{row.way, row.n}]++
	}
	for w, list := range written {
		for _, n := range list {
			if slices.Contains(ids, n) {
				count[kind{w, n}]--
			}
		}
	}
	for k, c := range count {
		if c != 0 {
			out.problems = append(out.problems, problem{f.name, column, k.way, r.name, fmt.Sprintf("a search for ID %d has %+d rows too many", k.n, c)})
		}
	}
}

// is reports whether err is a *[iderr.ParseError] of a kind, with a text. COPY has only the text: the error
// comes back from the server.
func is(err, kind error, text string) bool {
	_, parse := errors.AsType[*iderr.ParseError](err)
	_, server := errors.AsType[*pgconn.PgError](err)
	return (server || parse && errors.Is(err, kind)) && strings.Contains(err.Error(), text)
}

// keepsZero reports whether a way may store the zero ID: pgx calls Value, and Value of a sno.ID has no
// error, as its published API says. With Register, only a pointer in the modes that do not ask gets there.
func keepsZero(form, way string, v any) bool {
	_, pointer := v.(*sno.ID)
	return form == "sno.ID" && (!strings.HasPrefix(way, "pgxid") || pointer && (way == "pgxid exec" || way == "pgxid simple protocol"))
}

// An exception is a type and columns where rows are lost without an error. why says when.
type exception struct {
	form       string
	columns    []string
	registered bool // also with Register on both sides
	why        string
}

// exceptions are the holes that are known. docs/pgx.md lists them as traps.
var exceptions = []exception{
	{"scru160.ID", []string{"bytea"}, true, "the modes that do not ask write the text: use scru160.Binary"},
	{"scru160.Binary", texts, false, "without Register, pgx writes 20 raw bytes or the text of a bytea"},
	{"sno.ID", texts, false, "without Register, pgx writes 10 raw bytes or the text of a bytea"},
}

func excepted(p problem) int {
	return slices.IndexFunc(exceptions, func(e exception) bool {
		plain := func(name string) bool { return !strings.HasPrefix(name, "pgxid") }
		return e.form == p.form && slices.Contains(e.columns, p.column) && strings.HasPrefix(p.text, "a search") &&
			(e.registered || plain(p.writer) || plain(p.reader))
	})
}

// No ID is ever read as another ID, and a search finds the rows of all ways to write or is an error.
// In its own columns, each type works in each way.
func TestMatrix(t *testing.T) {
	s := open(t)
	all := append(ways(t, s, "pgxid", registered), ways(t, s, "pgx", nil)...)
	forms := forms()
	out := run(t, s, forms, all, slices.Sorted(maps.Keys(columns))...)

	seen := make([]bool, len(exceptions))
	for _, p := range out.problems {
		if i := excepted(p); i >= 0 {
			seen[i] = true
			continue
		}
		t.Error(p)
	}
	for i, e := range exceptions {
		if !seen[i] {
			t.Errorf("no row of %s in %s is lost: the exception is out of date", e.form, e.columns)
		}
	}
	for _, f := range forms {
		for _, column := range f.natural {
			for _, w := range all {
				key := [3]string{f.name, column, w.name}
				if !out.wrote[key] {
					t.Errorf("%v: not written: %v", key, out.errs[key])
				}
				if w.query == nil {
					continue
				}
				if !out.found[key] {
					t.Errorf("%v: not found", key)
				}
				// Without Register, pgx has no type for a slice in the modes that do not ask.
				if want := w.registered || w.asks; out.inArray[key] != want {
					t.Errorf("%v: any is %t", key, out.inArray[key])
				}
				if column == "char" && !(w.registered && w.name != "pgxid database/sql") {
					continue // the server pads the text to the length of the column
				}
				for _, by := range all {
					if key := [4]string{f.name, column, by.name, w.name}; !out.read[key] {
						t.Errorf("%v: not read", key)
					}
				}
			}
		}
		for column := range columns {
			for _, w := range all {
				key := [3]string{f.name, column, w.name}
				if !w.registered || !w.asks || slices.Contains(f.natural, column) || f.name == "scru160.ID" && column == "bytea" {
					continue
				}
				if out.wrote[key] || len(out.errs[key]) != 3*len(f.ids) || out.found[key] || out.inArray[key] {
					t.Errorf("%v: written, or found", key)
				}
				for _, err := range out.errs[key] {
					if !is(err, iderr.ErrType, "holds no "+f.name) {
						t.Errorf("%v: the error is not a refusal: %v", key, err)
					}
				}
			}
		}
	}
}
