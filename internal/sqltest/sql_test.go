package sqltest

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
	"time"

	_ "github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"

	"github.com/firn-id/firn/internal/servers/services"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// A database is one way to talk to a server.
type database struct {
	name    string // of the test
	driver  string
	env     string // where its data source name is
	address string // or where it is found
	options string // added to the data source name
	binary  string // type of columns of bytes
	text    string // type of texts that sort by their bytes
	param   func(i int) string
}

func dollar(i int) string { return fmt.Sprintf("$%d", i) }
func mark(int) string     { return "?" }

var databases = []database{
	{"PostgreSQL", "pgx", "FIRN_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/test", "", "BYTEA", `VARCHAR(40) COLLATE "C"`, dollar},
	{"PostgreSQL, simple protocol", "pgx", "FIRN_TEST_POSTGRES", "postgres://postgres@127.0.0.1:5432/test", "default_query_exec_mode=simple_protocol", "BYTEA", `VARCHAR(40) COLLATE "C"`, dollar},
	{"MariaDB", "mysql", "FIRN_TEST_MYSQL", "root@tcp(127.0.0.1:3306)/test", "", "VARBINARY(20)", "VARCHAR(40) CHARACTER SET ascii", mark},
	{"MariaDB, text protocol", "mysql", "FIRN_TEST_MYSQL", "root@tcp(127.0.0.1:3306)/test", "interpolateParams=true", "VARBINARY(20)", "VARCHAR(40) CHARACTER SET ascii", mark},
}

// open returns one connection, so that temporary tables are there in all statements.
func (d database) open(t *testing.T) *sql.Conn {
	source := os.Getenv(d.env)
	if source == "" {
		source = d.address
	}
	if d.options != "" {
		separator := "?"
		if strings.Contains(source, "?") {
			separator = "&"
		}
		source += separator + d.options
	}
	db, err := sql.Open(d.driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := db.Conn(ctx)
	if err != nil {
		services.Missing(t, "%s is not there; set %s to where it is: %v", d.name, d.env, err)
	}
	return conn
}

// An id is what the tests need of an ID.
type id[T any] interface {
	comparable
	fmt.Stringer
	driver.Valuer
	encoding.BinaryMarshaler
	Compare(T) int
}

// A kind is ten IDs of a format, in order, and the bounds around the third to the seventh.
type kind[T id[T]] struct {
	ids         []T
	first, last T
	integer     bool // stored in BIGINT; otherwise by its text
	unpadded    bool // its texts do not sort
}

func TestNanoflake(t *testing.T) {
	var k kind[nanoflake.ID]
	k.integer = true
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10 {
		id, err := nanoflake.FromTime(start.Add(time.Duration(i)*time.Millisecond), time.Time{}, 1023, i*400)
		if err != nil {
			t.Fatal(err)
		}
		k.ids = append(k.ids, id)
	}
	k.first, k.last = must(nanoflake.First(start.Add(2*time.Millisecond), time.Time{})), must(nanoflake.Last(start.Add(6*time.Millisecond), time.Time{}))
	each(t, k, nanoflake.Max)
}

func TestUlidFlake(t *testing.T) {
	var k kind[ulidflake.ID]
	var scaled kind[ulidflake.ScalableID]
	k.integer, scaled.integer = true, true
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10 {
		id, err := ulidflake.FromTime(start.Add(time.Duration(i)*time.Millisecond), time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		k.ids = append(k.ids, id)
		sid, err := ulidflake.ScalableFromTime(start.Add(time.Duration(i)*time.Millisecond), time.Time{}, 31)
		if err != nil {
			t.Fatal(err)
		}
		scaled.ids = append(scaled.ids, sid)
	}
	a, b := start.Add(2*time.Millisecond), start.Add(6*time.Millisecond)
	k.first, k.last = must(ulidflake.First(a, time.Time{})), must(ulidflake.Last(b, time.Time{}))
	scaled.first, scaled.last = must(ulidflake.FirstScalable(a, time.Time{})), must(ulidflake.LastScalable(b, time.Time{}))
	t.Run("stand-alone", func(t *testing.T) { each(t, k, ulidflake.Max) })
	t.Run("scalable", func(t *testing.T) { each(t, scaled, ulidflake.MaxScalable) })
}

func TestSnowflakeSI(t *testing.T) {
	var k kind[snowflakesi.ID]
	var l snowflakesi.Layout
	k.integer, k.unpadded = true, true
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10 {
		id, err := snowflakesi.FromTime(l, start.Add(time.Duration(i)*time.Millisecond), time.Time{}, 19, i*20)
		if err != nil {
			t.Fatal(err)
		}
		k.ids = append(k.ids, id)
	}
	k.first, k.last = must(snowflakesi.First(l, start.Add(2*time.Millisecond), time.Time{})), must(snowflakesi.Last(l, start.Add(6*time.Millisecond), time.Time{}))
	each(t, k, snowflakesi.Max)
}

func TestSCRU160(t *testing.T) {
	var k kind[scru160.ID]
	start := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
	for i := range 10 {
		id, err := scru160.FromTime(start.Add(time.Duration(i) * time.Millisecond))
		if err != nil {
			t.Fatal(err)
		}
		k.ids = append(k.ids, id)
	}
	k.first, k.last = scru160.First(start.Add(2*time.Millisecond)), scru160.Last(start.Add(6*time.Millisecond))
	each(t, k, scru160.Max())
}

func each[T id[T]](t *testing.T, k kind[T], largest T) {
	for _, d := range databases {
		t.Run(d.name, func(t *testing.T) {
			s := session[T]{t, d, d.open(t)}
			s.columns(append([]T{largest}, k.ids...), k.integer)
			s.null(k.integer)
			s.order(k)
			if k.integer {
				s.unsigned(largest)
			}
		})
	}
}

type session[T id[T]] struct {
	*testing.T
	database
	conn *sql.Conn
}

func (s session[T]) exec(query string, args ...any) {
	s.Helper()
	if _, err := s.conn.ExecContext(s.Context(), query, args...); err != nil {
		s.Fatalf("%s: %v", query, err)
	}
}

// table makes an empty table with a column for each way to store an ID.
func (s session[T]) table(integer bool) {
	value := s.text
	if integer {
		value = "BIGINT"
	}
	s.exec("DROP TABLE IF EXISTS ids")
	s.exec("CREATE TEMPORARY TABLE ids (n INTEGER, v " + value + ", s " + s.text + ", c CHAR(40), b " + s.binary + ")")
}

// insert stores an ID in all columns.
func (s session[T]) insert(n int, id T) {
	s.Helper()
	binary, err := id.MarshalBinary()
	if err != nil {
		s.Fatal(err)
	}
	s.exec("INSERT INTO ids (n, v, s, c, b) VALUES ("+s.param(1)+", "+s.param(2)+", "+s.param(3)+", "+s.param(4)+", "+s.param(5)+")",
		n, id, id.String(), id.String(), binary)
}

// scan reads one row of IDs.
func (s session[T]) scan(row *sql.Row, n int) []T {
	s.Helper()
	ids := make([]T, n)
	dst := make([]any, n)
	for i := range ids {
		dst[i] = &ids[i]
	}
	if err := row.Scan(dst...); err != nil {
		s.Fatal(err)
	}
	return ids
}

// columns stores IDs in all types of columns and reads them back: with prepared statements, with
// parameters, and in the text protocol.
func (s session[T]) columns(ids []T, integer bool) {
	s.Helper()
	s.table(integer)
	for n, id := range ids {
		s.insert(n, id)
	}
	const columns = "v, s, TRIM(c), b"
	prepared, err := s.conn.PrepareContext(s.Context(), "SELECT "+columns+" FROM ids WHERE n = "+s.param(1))
	if err != nil {
		s.Fatal(err)
	}
	defer prepared.Close()
	byValue, err := s.conn.PrepareContext(s.Context(), "SELECT n FROM ids WHERE v = "+s.param(1))
	if err != nil {
		s.Fatal(err)
	}
	defer byValue.Close()
	for n, id := range ids {
		for way, query := range map[string]func() *sql.Row{
			"prepared": func() *sql.Row { return prepared.QueryRowContext(s.Context(), n) },
			"parameters": func() *sql.Row {
				return s.conn.QueryRowContext(s.Context(), "SELECT "+columns+" FROM ids WHERE n = "+s.param(1), n)
			},
			"text": func() *sql.Row {
				return s.conn.QueryRowContext(s.Context(), fmt.Sprintf("SELECT "+columns+" FROM ids WHERE n = %d", n))
			},
		} {
			for column, got := range s.scan(query(), 4) {
				if got != id {
					s.Errorf("%s, column %d: %v, want %v", way, column, got, id)
				}
			}
		}
		for _, row := range []func() *sql.Row{
			func() *sql.Row { return byValue.QueryRowContext(s.Context(), id) },
			func() *sql.Row {
				return s.conn.QueryRowContext(s.Context(), "SELECT n FROM ids WHERE v = "+s.param(1), id)
			},
		} {
			var got int
			if err := row().Scan(&got); err != nil || got != n {
				s.Errorf("the row of %v is %d, %v; want %d", id, got, err, n)
			}
		}
	}
}

// null stores the zero ID as NULL, and reads NULL as the zero ID.
func (s session[T]) null(integer bool) {
	s.Helper()
	s.table(integer)
	var zero T
	s.exec("INSERT INTO ids (n, v) VALUES (1, "+s.param(1)+")", zero)
	var count int
	if err := s.conn.QueryRowContext(s.Context(), "SELECT COUNT(*) FROM ids WHERE v IS NULL AND s IS NULL").Scan(&count); err != nil || count != 1 {
		s.Errorf("the zero ID is NULL in %d rows, %v", count, err)
	}
	for _, got := range s.scan(s.conn.QueryRowContext(s.Context(), "SELECT v, s, c, b FROM ids WHERE n = "+s.param(1), 1), 4) {
		if got != zero {
			s.Errorf("NULL is %v", got)
		}
	}
	var null sql.Null[T]
	if err := s.conn.QueryRowContext(s.Context(), "SELECT v FROM ids").Scan(&null); err != nil || null.Valid {
		s.Errorf("NULL is %v, %v", null, err)
	}
	var pointer *T
	if err := s.conn.QueryRowContext(s.Context(), "SELECT v FROM ids").Scan(&pointer); err != nil || pointer != nil {
		s.Errorf("NULL is %v, %v", pointer, err)
	}
	s.exec("UPDATE ids SET v = "+s.param(1), pointer)
}

// order stores IDs out of order. Each column sorts the IDs, and a scan from First to Last finds the
// IDs of the interval.
func (s session[T]) order(k kind[T]) {
	s.Helper()
	s.table(k.integer)
	for n := range k.ids {
		n = (n*7 + 3) % len(k.ids)
		s.insert(n, k.ids[n])
	}
	for _, column := range []string{"v", "s", "b"} {
		if column == "s" && k.unpadded {
			continue
		}
		got := s.list("SELECT " + column + " FROM ids ORDER BY " + column)
		if fmt.Sprint(got) != fmt.Sprint(k.ids) {
			s.Errorf("by %s: %v, want %v", column, got, k.ids)
		}
		first, last := any(k.first), any(k.last)
		switch column {
		case "s":
			first, last = k.first.String(), k.last.String()
		case "b":
			first, _ = k.first.MarshalBinary()
			last, _ = k.last.MarshalBinary()
			if bytes.Compare(first.([]byte), last.([]byte)) >= 0 {
				s.Fatal("the bounds are out of order")
			}
		}
		got = s.list("SELECT "+column+" FROM ids WHERE "+column+" BETWEEN "+s.param(1)+" AND "+s.param(2)+" ORDER BY "+column, first, last)
		if fmt.Sprint(got) != fmt.Sprint(k.ids[2:7]) {
			s.Errorf("%s from First to Last: %v, want %v", column, got, k.ids[2:7])
		}
	}
}

func (s session[T]) list(query string, args ...any) []T {
	s.Helper()
	rows, err := s.conn.QueryContext(s.Context(), query, args...)
	if err != nil {
		s.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	var all []T
	for rows.Next() {
		var id T
		if err := rows.Scan(&id); err != nil {
			s.Fatal(err)
		}
		all = append(all, id)
	}
	if err := rows.Err(); err != nil {
		s.Fatal(err)
	}
	return all
}

// unsigned reads values that are not IDs, and unsigned values.
func (s session[T]) unsigned(largest T) {
	s.Helper()
	var id T
	for query, fits := range map[string]bool{
		"SELECT -1":                       false,
		"SELECT -9223372036854775808":     false,
		"SELECT CAST('no ID' AS CHAR(5))": false,
		"SELECT 1.5":                      false,
		"SELECT CURRENT_TIMESTAMP":        false,
	} {
		id = largest
		if err := s.conn.QueryRowContext(s.Context(), query).Scan(&id); (err == nil) != fits || id != largest {
			s.Errorf("%s: %v, %v", query, id, err)
		}
	}
	// A DECIMAL arrives as its digits: the text of one format, beyond that of others.
	id = largest
	if err := s.conn.QueryRowContext(s.Context(), "SELECT CAST("+integerText(largest)+" AS DECIMAL(20))").Scan(&id); id != largest {
		s.Errorf("decimal: %v, %v", id, err)
	}
	if s.driver != "mysql" {
		return
	}
	if err := s.conn.QueryRowContext(s.Context(), "SELECT CAST("+integerText(largest)+" AS UNSIGNED)").Scan(&id); err != nil || id != largest {
		s.Errorf("unsigned: %v, %v", id, err)
	}
	for _, v := range []uint64{1 << 63, math.MaxUint64} {
		if err := s.conn.QueryRowContext(s.Context(), "SELECT CAST(? AS UNSIGNED)", v).Scan(&id); err == nil || id != largest {
			s.Errorf("unsigned %d: %v, %v", v, id, err)
		}
	}
}

func integerText(id any) string {
	return fmt.Sprint(id.(interface{ Int64() int64 }).Int64())
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
