package matrix

import (
	"fmt"
	"slices"
	"testing"

	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/dev/matrix/cell"
)

// A pairing is the columns of one database, and the ways to the database. All ways share one table, so a way
// also searches for the rows of other ways.
type pairing struct {
	name    string
	place   string // the start of the names of tables: a schema or a database of the test
	options string // of tables: tests need no durable rows
	ways    []*session
	columns []string
}

func pairings(t *testing.T) []pairing {
	var ways []*session
	for _, mode := range modes {
		ways = append(ways, onPgx(t, openPgx(t, mode), "pgx, mode "+mode.String()))
	}
	stdlib := openPostgres(t)
	maria := openMariaDB(t, false)
	text := openMariaDB(t, true)
	lite := openSQLite(t)
	ways = append(ways, onSQL(t, stdlib, ofPostgres("database/sql")))
	for _, w := range ways {
		if err := w.exec("SET synchronous_commit = off"); err != nil {
			t.Fatal(err)
		}
	}
	return []pairing{
		{"PostgreSQL", database.Schema(t) + ".", "WITH (autovacuum_enabled = false)", ways, []string{
			"TEXT", "VARCHAR(40)", "CHAR(40)", "BYTEA", "BIGINT", "INTEGER", "UUID", `UUID CHECK (id::text ~ '^((3[2-9]|6[1-9a-f]|7[0-8])-?){16}$')`, "NUMERIC", "DOUBLE PRECISION", "BOOLEAN", "JSONB",
		}},
		{"MariaDB", database.MySQL(t).DBName + ".", "ENGINE=Aria TRANSACTIONAL=0", []*session{
			onSQL(t, maria, ofMariaDB("go-sql-driver/mysql")), onSQL(t, text, ofMariaDB("go-sql-driver/mysql, interpolateParams")),
		}, []string{
			"TEXT", "VARCHAR(40)", "CHAR(40)", "VARBINARY(40)", "BINARY(40)", "BIGINT", "BIGINT UNSIGNED", "INTEGER", "UUID", "DECIMAL(30)", "DOUBLE", "BOOLEAN", "JSON",
		}},
		{"SQLite", "", "", []*session{onSQL(t, lite, ofSQLite("modernc.org/sqlite"))}, []string{"TEXT", "BLOB", "INTEGER", "NUMERIC", "REAL", "ANY"}},
	}
}

// wrong stores IDs of a kind in a column of any type, by all ways, reads each row by all ways, and searches
// for each ID by all ways.
func wrong[T cell.ID](t *testing.T, p pairing, k cell.Kind[T], column string) cell.Outcome {
	tables++
	table := fmt.Sprintf("%swrong%d", p.place, tables)
	if err := p.ways[0].exec("CREATE TABLE " + table + " (n INTEGER, id " + column + ") " + p.options); err != nil {
		t.Fatalf("%s, %s: %v", p.name, column, err)
	}
	rows := map[T][]int{}
	ids := map[int]T{}
	tried, refused, read, unread := 0, 0, 0, 0
	var another, missed string
	for _, w := range p.ways {
		for _, id := range k.IDs {
			tried++
			if err := w.exec(w.sql("INSERT INTO "+table+" (n, id) VALUES (?, ?)"), tried, id); err != nil {
				refused++
				continue
			}
			rows[id] = append(rows[id], tried)
			ids[tried] = id
		}
	}
	for i, w := range p.ways {
		for n, want := range ids {
			writer := (n - 1) / len(k.IDs)
			if writer != i && writer != (i+1)%len(p.ways) {
				continue // the rows of the way itself, and of the next way, are enough
			}
			read++
			var got T
			switch err := w.one("SELECT id FROM "+table+" WHERE n = ?", []any{n}, &got); {
			case err != nil:
				unread++
			case got != want:
				another = fmt.Sprintf("%s: %v is stored, and %v is read", w.name, want, got)
			}
		}
		for id, want := range rows {
			got, err := w.numbers("SELECT n FROM "+table+" WHERE id = ? ORDER BY n", id)
			if err == nil && !slices.Equal(got, want) {
				missed = fmt.Sprintf("%s: a search for %v finds rows %v, and not %v", w.name, id, got, want)
			}
		}
	}
	switch {
	case another != "":
		return cell.Outcome{State: cell.Other, Why: another}
	case missed != "" && unread == read:
		return cell.Outcome{State: rowsUnread, Why: missed}
	case missed != "":
		return cell.Outcome{State: rowsRead, Why: missed}
	case refused == tried:
		return cell.Outcome{State: noWrite}
	case unread == read:
		return cell.Outcome{State: noRead}
	case refused == 0 && unread == 0:
		return cell.Outcome{State: cell.Works}
	}
	return cell.Outcome{State: some}
}

// Outcomes of wrong pairs. With wrong rows, a search misses rows or finds rows of other IDs: the database
// compares values in another form.
const (
	noWrite    cell.State = "error at write"
	noRead     cell.State = "error at read"
	some       cell.State = "errors for some"
	rowsUnread cell.State = "error at read, wrong rows"
	rowsRead   cell.State = "wrong rows"
)

func wrongs[T cell.ID](t *testing.T, m *table, p pairing, k cell.Kind[T]) {
	var few []T
	for i, id := range k.IDs {
		if i < 2 || i%3 == 0 || i >= len(k.IDs)-2 {
			few = append(few, id)
		}
	}
	k.IDs = few
	for _, column := range p.columns {
		m.set(p.name, column, k.Type, wrong(t, p, k, column))
	}
}

func wrongTable(t *testing.T) *table {
	t.Helper()
	m := &table{}
	for _, p := range pairings(t) {
		wrongs(t, m, p, cell.Nanoflake())
		wrongs(t, m, p, cell.NanoflakeText())
		wrongs(t, m, p, cell.Ulidflake())
		wrongs(t, m, p, cell.UlidflakeText())
		wrongs(t, m, p, cell.Scalable())
		wrongs(t, m, p, cell.ScalableText())
		wrongs(t, m, p, cell.Snowflake())
		wrongs(t, m, p, cell.SCRU160())
		wrongs(t, m, p, cell.SCRU160Binary())
		wrongs(t, m, p, cell.Sno())
		wrongs(t, m, p, cell.SnoText())
		wrongs(t, m, p, cell.SnoUUID())
	}
	return m
}
