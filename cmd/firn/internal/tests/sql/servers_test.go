package sql

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"

	"github.com/firn-id/firn/cmd/firn/internal/root"
	"github.com/firn-id/firn/internal/testing/place"
	"github.com/firn-id/firn/internal/testing/services"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// script returns what firn sql prints.
func script(t testing.TB, args ...string) string {
	t.Helper()
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	testkit.OK(t, err)
	defer out.Close()
	code := root.Run(append([]string{"sql"}, args...), os.Stdin, out, out)
	text, err := os.ReadFile(out.Name())
	if code != 0 || err != nil {
		t.Fatalf("firn sql %q: exit code %d, %v: %s", args, code, err, text)
	}
	return string(text)
}

// A database is an empty database of the test's own.
type database struct {
	*dialect
	*sql.DB
}

// session makes the database one session, which keeps its settings.
func (d database) session() database {
	d.SetMaxOpenConns(1)
	return d
}

func (d database) run(t testing.TB, query string, args ...any) {
	t.Helper()
	if _, err := d.ExecContext(context.Background(), query, args...); err != nil {
		t.Fatalf("%s: %v", query[:min(len(query), 300)], err)
	}
}

// strings returns the first column of a query's rows.
func (d database) strings(t testing.TB, query string, args ...any) (all []string) {
	t.Helper()
	rows, err := d.QueryContext(t.Context(), query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query[:min(len(query), 300)], err)
	}
	defer rows.Close()
	for rows.Next() {
		var s sql.NullString
		testkit.OK(t, rows.Scan(&s))
		all = append(all, s.String)
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%s: %v", query[:min(len(query), 300)], err)
	}
	return all
}

// A dialect is what the databases do not share.
type dialect struct {
	name     string
	command  string // of firn sql
	open     func(t testing.TB) *sql.DB
	bytes    string // type of columns of bytes
	text     string // type of columns of texts
	instant  string // type of columns of times
	big      string // type of columns of 80 bits
	distinct string // format of a condition on two values, which may be NULL
	shown    string // format of a value as a text

	// call returns the expression of a function of a format, over the argument. The script is the
	// script of the format.
	call func(t testing.TB, script, format, function, argument string) string
	// time returns what the functions for times return, nil for an error or NULL, and instants what
	// first and last take.
	time, at func(time.Time) any
	// load inserts rows.
	load func(t testing.TB, d database, table string, columns []string, rows [][]any)
}

// fresh returns an empty database.
func (d *dialect) fresh(t testing.TB) database {
	t.Helper()
	return database{d, d.open(t)}
}

var dialects = []*dialect{postgres, mariadb, lite}

var postgres = &dialect{
	name: "PostgreSQL", command: "postgres", open: openPostgres,
	bytes: "BYTEA", text: "TEXT", instant: "TIMESTAMPTZ", big: "NUMERIC", distinct: "%s IS DISTINCT FROM %s", shown: "(%s)::TEXT",
	call: func(_ testing.TB, _, format, function, argument string) string {
		return "firn." + ident(format) + "_" + function + "(" + argument + ")"
	},
	time: func(t time.Time) any { return t },
	at:   func(t time.Time) any { return t },
	load: func(t testing.TB, d database, table string, columns []string, rows [][]any) {
		t.Helper()
		conn, err := d.Conn(t.Context())
		testkit.OK(t, err)
		defer conn.Close()
		if err := conn.Raw(func(c any) error {
			_, err := c.(*stdlib.Conn).Conn().CopyFrom(t.Context(), pgx.Identifier{table}, columns, pgx.CopyFromRows(rows))
			return err
		}); err != nil {
			t.Fatal(err)
		}
	},
}

var mariadb = &dialect{
	name: "MariaDB", command: "mysql", open: openMariaDB,
	bytes: "VARBINARY(20)", text: "VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci", instant: "DATETIME(6)", big: "DECIMAL(25)",
	distinct: "NOT (%s <=> %s)", shown: "CAST(%s AS CHAR)",
	call: func(_ testing.TB, _, format, function, argument string) string {
		return "firn_" + ident(format) + "_" + function + "(" + argument + ")"
	},
	time: func(t time.Time) any {
		if t.Year() > 9999 {
			return nil
		}
		return t.Format("2006-01-02 15:04:05.000")
	},
	at: func(t time.Time) any { return t.Format("2006-01-02 15:04:05.000000") },
	load: func(t testing.TB, d database, table string, columns []string, rows [][]any) {
		t.Helper()
		insertRows(t, d, table, columns, rows)
	},
}

var lite = &dialect{
	name: "SQLite", command: "sqlite", open: openSQLite,
	bytes: "BLOB", text: "TEXT", instant: "INTEGER", big: "TEXT", distinct: "%s IS NOT %s", shown: "CAST(%s AS TEXT)",
	call: func(t testing.TB, script, _, function, argument string) string {
		return liteExpression(t, script, function, argument)
	},
	time: func(t time.Time) any {
		if t.Year() > 9999 {
			return nil
		}
		return t.Format("2006-01-02 15:04:05.000")
	},
	at: func(t time.Time) any { return t.UnixMilli() },
	load: func(t testing.TB, d database, table string, columns []string, rows [][]any) {
		t.Helper()
		insertRows(t, d, table, columns, rows)
	},
}

// liteExpression returns an expression of a script for SQLite, over the argument.
func liteExpression(t testing.TB, script, name, argument string) string {
	t.Helper()
	_, after, ok := strings.Cut(script, "\n-- "+name+": ")
	lines := strings.Split(after, "\n")
	end := 1
	for end < len(lines) && strings.HasPrefix(lines[end], "--   ") {
		lines[end] = lines[end][len("--   "):]
		end++
	}
	if !ok || end == 1 {
		t.Fatalf("no expression %s in:\n%s", name, script)
	}
	return strings.NewReplacer("`id`", argument, ":text", argument, ":at", argument).Replace(strings.Join(lines[1:end], "\n"))
}

func ident(format string) string { return strings.ReplaceAll(format, "-", "_") }

func randomName() string { return fmt.Sprintf("firn_sql_%016x", rand.Uint64()) }

// places are the databases of tests.
var places = place.New()

func openPostgres(t testing.TB) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(services.PostgreSQL.Address())
	testkit.OK(t, err)
	name := randomName()
	places.Make(t, place.Server{Server: services.PostgreSQL, Driver: "pgx"},
		"CREATE DATABASE "+name, "DROP DATABASE IF EXISTS "+name+" WITH (FORCE)")
	config.Database = name
	config.RuntimeParams["search_path"] = "public"
	config.RuntimeParams["client_min_messages"] = "warning"
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { db.Close() })
	return db
}

func openMariaDB(t testing.TB) *sql.DB {
	t.Helper()
	config, err := mysql.ParseDSN(services.MariaDB.Address())
	testkit.OK(t, err)
	name := randomName()
	places.Make(t, place.Server{Server: services.MariaDB, Driver: "mysql"},
		"CREATE DATABASE "+name, "DROP DATABASE IF EXISTS "+name)
	config.DBName = name
	config.MultiStatements = true
	config.InterpolateParams = true
	connector, err := mysql.NewConnector(config)
	testkit.OK(t, err)
	db := sql.OpenDB(connector)
	t.Cleanup(func() { db.Close() })
	return db
}

func openSQLite(t testing.TB) *sql.DB {
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "ids.db")+"?_pragma=synchronous(0)&_pragma=journal_mode(memory)")
	testkit.OK(t, err)
	t.Cleanup(func() { db.Close() })
	return db
}

// insertRows inserts rows by statements with many rows each.
func insertRows(t testing.TB, d database, table string, columns []string, rows [][]any) {
	t.Helper()
	const most = 500
	tx, err := d.BeginTx(t.Context(), nil)
	testkit.OK(t, err)
	defer tx.Rollback()
	marks := "(" + strings.Repeat("?,", len(columns)-1) + "?)"
	for len(rows) > 0 {
		some := rows[:min(most, len(rows))]
		rows = rows[len(some):]
		var args []any
		for _, r := range some {
			args = append(args, r...)
		}
		if _, err := tx.ExecContext(t.Context(), "INSERT INTO "+table+" ("+strings.Join(columns, ",")+") VALUES "+
			strings.Repeat(marks+",", len(some)-1)+marks, args...); err != nil {
			t.Fatal(err)
		}
	}
	testkit.OK(t, tx.Commit())
}

// delimiters are the words of a script for the client mariadb that drivers do not know.
var delimiters = regexp.MustCompile(`(?m)^DELIMITER .*$`)
