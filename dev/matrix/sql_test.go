package matrix

import (
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/dev/matrix/cell"
)

// A session is one connection to a database with SQL.
type session struct {
	name  string
	query func(query string, args ...any) (rows, error)
	exec  func(query string, args ...any) error

	column func(cell.Column) string
	shown  string // the expression of a stored value as text, and for a column of bytes
	octets string
	param  func(i int) string
}

// rows is what *sql.Rows and pgx.Rows share.
type rows interface {
	Next() bool
	Scan(dst ...any) error
	Err() error
}

var modes = []pgx.QueryExecMode{
	pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec,
	pgx.QueryExecModeSimpleProtocol,
}

func onPgx(t *testing.T, conn *pgx.Conn, name string) *session {
	s := ofPostgres(name)
	s.query = func(query string, args ...any) (rows, error) {
		return conn.Query(t.Context(), query, args...)
	}
	s.exec = func(query string, args ...any) error {
		_, err := conn.Exec(t.Context(), query, args...)
		return err
	}
	return s
}

func onSQL(t *testing.T, conn *sql.Conn, s *session) *session {
	s.query = func(query string, args ...any) (rows, error) {
		return conn.QueryContext(t.Context(), query, args...)
	}
	s.exec = func(query string, args ...any) error {
		_, err := conn.ExecContext(t.Context(), query, args...)
		return err
	}
	return s
}

// prepared makes the session prepare each statement.
func prepared(t *testing.T, conn *sql.Conn, s *session) *session {
	statement := func(query string) (*sql.Stmt, error) {
		stmt, err := conn.PrepareContext(t.Context(), query)
		if err == nil {
			t.Cleanup(func() { stmt.Close() })
		}
		return stmt, err
	}
	s.query = func(query string, args ...any) (rows, error) {
		stmt, err := statement(query)
		if err != nil {
			return nil, err
		}
		return stmt.QueryContext(t.Context(), args...)
	}
	s.exec = func(query string, args ...any) error {
		stmt, err := statement(query)
		if err != nil {
			return err
		}
		_, err = stmt.ExecContext(t.Context(), args...)
		return err
	}
	return s
}

func ofPostgres(name string) *session {
	return &session{
		name: name, shown: "id::TEXT", octets: "encode(id, 'hex')", param: func(i int) string { return fmt.Sprintf("$%d", i) },
		column: func(c cell.Column) string { return c.Postgres },
	}
}

func ofMariaDB(name string) *session {
	return &session{
		name: name, shown: "CAST(id AS CHAR(64))", octets: "LOWER(HEX(id))", param: func(int) string { return "?" },
		column: func(c cell.Column) string { return c.MariaDB },
	}
}

func ofSQLite(name string) *session {
	return &session{
		name: name, shown: "CAST(id AS TEXT)", octets: "LOWER(HEX(id))", param: func(int) string { return "?" },
		column: func(c cell.Column) string { return c.SQLite },
	}
}

// sql replaces the question marks of a statement by the parameters of the database.
func (s *session) sql(query string) string {
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r == '?' {
			n++
			b.WriteString(s.param(n))
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

// one reads the only row of a query.
func (s *session) one(query string, args []any, dst ...any) error {
	n := 0
	err := s.all(query, args, func(scan func(...any) error) error { n++; return scan(dst...) })
	if err == nil && n != 1 {
		return fmt.Errorf("%d rows", n)
	}
	return err
}

// all calls f for each row of a query.
func (s *session) all(query string, args []any, f func(scan func(...any) error) error) error {
	r, err := s.query(s.sql(query), args...)
	if err != nil {
		return err
	}
	defer func() {
		switch c := r.(type) {
		case interface{ Close() }:
			c.Close()
		case interface{ Close() error }:
			c.Close()
		}
	}()
	for r.Next() {
		if err := f(r.Scan); err != nil {
			return err
		}
	}
	return r.Err()
}

func (s *session) numbers(query string, args ...any) (list []int, err error) {
	err = s.all(query, args, func(scan func(...any) error) error {
		var n int
		if err := scan(&n); err != nil {
			return err
		}
		list = append(list, n)
		return nil
	})
	return list, err
}

// tables numbers the tables: pgx keeps the types of a statement's columns, so no two tables of different
// types have the same name.
var tables int

// table makes an empty temporary table with a column of the type, and returns the table's name.
func (s *session) table(t *testing.T, column string) string {
	t.Helper()
	tables++
	table := fmt.Sprintf("matrix%d", tables)
	query := "CREATE TEMPORARY TABLE " + table + " (n INTEGER, id " + column + ")"
	if err := s.exec(query); err != nil {
		t.Fatalf("%s: %s: %v", s.name, query, err)
	}
	return table
}

// plain is the store of a session: statements with IDs as parameters, and scans into IDs.
func plain[T cell.ID](t *testing.T, s *session, k cell.Kind[T]) cell.Store[T] {
	return plainIn(t, s, k, s.table(t, s.column(k.Column)))
}

func plainIn[T cell.ID](t *testing.T, s *session, k cell.Kind[T], table string) cell.Store[T] {
	shown := s.shown
	if k.Column.Bytes > 0 {
		shown = s.octets
	}
	return cell.Store[T]{
		Put: func(n int, id T) error { return s.exec(s.sql("INSERT INTO "+table+" (n, id) VALUES (?, ?)"), n, id) },
		Get: func(n int) (id T, err error) {
			err = s.one("SELECT id FROM "+table+" WHERE n = ?", []any{n}, &id)
			return id, err
		},
		Find: func(id T) ([]int, error) { return s.numbers("SELECT n FROM "+table+" WHERE id = ? ORDER BY n", id) },
		Order: func() (ids []T, err error) {
			err = s.all("SELECT id FROM "+table+" ORDER BY id", nil, func(scan func(...any) error) error {
				var id T
				if err := scan(&id); err != nil {
					return err
				}
				ids = append(ids, id)
				return nil
			})
			return ids, err
		},
		Range: func(a, b T) ([]int, error) {
			return s.numbers("SELECT n FROM "+table+" WHERE id BETWEEN ? AND ?", a, b)
		},
		Shown: func(n int) (text string, err error) {
			err = s.one("SELECT "+shown+" FROM "+table+" WHERE n = ?", []any{n}, &text)
			return text, err
		},
		Drop: func(id T) error { return s.exec(s.sql("DELETE FROM "+table+" WHERE id = ?"), id) },
	}
}

// copied is the store of COPY.
func copied[T cell.ID](t *testing.T, conn *pgx.Conn, k cell.Kind[T]) cell.Store[T] {
	s := onPgx(t, conn, "COPY")
	table := s.table(t, k.Column.Postgres)
	store := plainIn(t, s, k, table)
	store.Put = func(n int, id T) error {
		_, err := conn.CopyFrom(t.Context(), pgx.Identifier{table}, []string{"n", "id"}, pgx.CopyFromRows([][]any{{n, id}}))
		return err
	}
	return store
}

// arrays is the store of arrays: rows are written, found and read by slices of IDs. wrap makes the
// destination of a scan, and is nil if the slice is.
func arrays[T cell.ID](t *testing.T, s *session, k cell.Kind[T], wrap func(*[]T) any) cell.Store[T] {
	table := s.table(t, k.Column.Postgres)
	store := plainIn(t, s, k, table)
	element, _, _ := strings.Cut(k.Column.Postgres, "(")
	element, _, _ = strings.Cut(element, " ")
	if wrap == nil {
		wrap = func(ids *[]T) any { return ids }
	}
	list := func(query string, args ...any) (ids []T, err error) {
		err = s.one(query, args, wrap(&ids))
		return ids, err
	}
	store.Put = func(n int, id T) error {
		return s.exec(s.sql("INSERT INTO "+table+" (n, id) SELECT ?, unnest(?::"+element+"[])"), n, []T{id})
	}
	store.Get = func(n int) (id T, err error) {
		ids, err := list("SELECT array_agg(id) FROM "+table+" WHERE n = ?", n)
		if err == nil && len(ids) != 1 {
			return id, fmt.Errorf("an array of %d IDs", len(ids))
		}
		if err != nil {
			return id, err
		}
		return ids[0], nil
	}
	store.Find = func(id T) ([]int, error) {
		return s.numbers("SELECT n FROM "+table+" WHERE id = ANY(?) ORDER BY n", []T{id, k.Absent})
	}
	store.Order = func() ([]T, error) { return list("SELECT array_agg(id ORDER BY id) FROM " + table) }
	return store
}

// arrayType is the name of the type of arrays, as pgx registers it.
func arrayType(c cell.Column) string {
	element, _, _ := strings.Cut(c.Postgres, "(")
	if element == "BIGINT" {
		element = "int8"
	}
	return "_" + strings.ToLower(element)
}

// scanner lets database/sql scan an array. The name registers the type of the array, unless it is empty.
func scanner[T any](name string) func(*[]T) any {
	m := pgtype.NewMap()
	if name != "" {
		m.RegisterDefaultPgType((*[]T)(nil), name)
	}
	return func(ids *[]T) any { return m.SQLScanner(ids) }
}

// A null is what a way does with NULL: in a variable of the ID's type, in a pointer, and in sql.Null.
type null struct{ plain, pointer, null cell.Outcome }

func nulls[T cell.ID](t *testing.T, s *session, k cell.Kind[T]) null {
	table := s.table(t, s.column(k.Column))
	works := cell.Outcome{State: cell.Works}
	o := null{works, works, works}
	id := k.IDs[len(k.IDs)/2]
	for i, v := range []any{nil, (*T)(nil), sql.Null[T]{}, &id, sql.Null[T]{V: id, Valid: true}} {
		if err := s.exec(s.sql("INSERT INTO "+table+" (n, id) VALUES (?, ?)"), i, v); err != nil {
			r := cell.Refused("write", err)
			if i == 2 || i == 4 {
				o.null = r
			} else {
				o.pointer = r
			}
		}
	}
	rows, err := s.numbers("SELECT n FROM " + table + " WHERE id IS NULL ORDER BY n")
	if err != nil || fmt.Sprint(rows) != "[0 1 2]" && o.null.State == cell.Works {
		o.pointer = cell.Silent("rows %v are NULL, %v", rows, err)
	}
	query := "SELECT id FROM " + table + " WHERE n = ?"
	got := id
	var zero T
	if err := s.one(query, []any{0}, &got); err != nil {
		o.plain = cell.Refused("read", err)
	} else if got != zero {
		o.plain = cell.Silent("NULL is read as %v", got)
	}
	for n, want := range []*T{nil, nil, nil, &id, &id} {
		p := &k.IDs[0]
		if err := s.one(query, []any{n}, &p); err != nil {
			o.pointer = cell.Join(o.pointer, cell.Refused("read", err))
		} else if (p == nil) != (want == nil) || p != nil && *p != id {
			o.pointer = cell.Silent("row %d is read as %v", n, p)
		}
		v := sql.Null[T]{V: k.IDs[0], Valid: true}
		if err := s.one(query, []any{n}, &v); err != nil {
			o.null = cell.Join(o.null, cell.Refused("read", err))
		} else if v.Valid != (want != nil) || v.Valid && v.V != id {
			o.null = cell.Silent("row %d is read as %v", n, v)
		}
	}
	return o
}
