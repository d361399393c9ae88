package orders

import (
	"database/sql"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// drivers are the names of drivers in database/sql, by who wrote them. The driver of mattn needs cgo.
var drivers = map[string]string{"modernc": "sqlite"}

func each(t *testing.T, f func(t *testing.T, db *sql.DB)) {
	for name, driver := range drivers {
		t.Run(name, func(t *testing.T) {
			db, err := sql.Open(driver, filepath.Join(t.TempDir(), "orders.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			f(t, db)
		})
	}
}

func exec(t *testing.T, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

func orders(t *testing.T) []Order {
	ids := sample.IDs(t)
	all := make([]Order, len(ids))
	for i, id := range ids {
		all[i] = Order{ID: id, Item: "globe " + id.String()}
	}
	all[3].Parent = &ids[0]
	return all
}

func TestOrders(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx, gen, all := t.Context(), sample.Generator(t), orders(t)
		exec(t, db, Schema)
		for _, o := range all {
			if err := Insert(ctx, db, o); err != nil {
				t.Fatal(err)
			}
		}
		for _, o := range all {
			if got, err := Find(ctx, db, o.ID); err != nil || !reflect.DeepEqual(got, o) {
				t.Errorf("found %v, %v, want %v", got, err, o)
			}
		}
		if _, err := Find(ctx, db, nanoflake.Max); !errors.Is(err, sql.ErrNoRows) {
			t.Errorf("an ID without an order: %v", err)
		}
		if got, err := Made(ctx, db, gen, sample.Time(2), sample.Time(4)); err != nil || !reflect.DeepEqual(got, all[2:5]) {
			t.Errorf("made %v, %v, want %v", got, err, all[2:5])
		}
	})
}

// A forgotten ID reaches no column, and NULL reaches no plain ID.
func TestNoID(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx, all := t.Context(), orders(t)
		exec(t, db, Schema)
		if err := Insert(ctx, db, Order{Item: "forgotten"}); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("an order without an ID: %v", err)
		}
		if err := Insert(ctx, db, Order{ID: all[0].ID, Parent: new(nanoflake.ID)}); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("an order with a parent without an ID: %v", err)
		}
		if _, err := db.ExecContext(ctx, `INSERT INTO orders (item) VALUES ('forgotten')`); err == nil {
			t.Error("the database numbers the rows by itself")
		}
		var rows int
		if err := db.QueryRowContext(ctx, `SELECT count(*) FROM orders`).Scan(&rows); err != nil || rows != 0 {
			t.Errorf("%d rows, %v", rows, err)
		}
		if err := Insert(ctx, db, all[0]); err != nil {
			t.Fatal(err)
		}
		var parent nanoflake.ID
		err := db.QueryRowContext(ctx, `SELECT parent FROM orders`).Scan(&parent)
		if !errors.Is(err, iderr.ErrNoID) || !strings.Contains(err.Error(), "sql.Null") {
			t.Errorf("NULL into an ID: %v, %v", parent, err)
		}
		var none sql.Null[nanoflake.ID]
		if err := db.QueryRowContext(ctx, `SELECT parent FROM orders`).Scan(&none); err != nil || none.Valid {
			t.Errorf("NULL into sql.Null: %v, %v", none, err)
		}
		some := sql.Null[nanoflake.ID]{V: all[0].ID, Valid: true}
		if err := db.QueryRowContext(ctx, `SELECT id FROM orders WHERE id = ?`, some).Scan(&none); err != nil || none != some {
			t.Errorf("an ID into sql.Null: %v, %v", none, err)
		}
	})
}

// numbered is a table whose rows SQLite numbers by itself: the column is another name of the rowid.
const numbered = `CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT)`

// SQLite gives a row without an ID the largest ID plus one, which is also an ID.
func TestRowID(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx, id := t.Context(), sample.IDs(t)[0]
		exec(t, db, numbered)
		if _, err := db.ExecContext(ctx, `INSERT INTO orders (id) VALUES (?)`, id); err != nil {
			t.Fatal(err)
		}
		exec(t, db, `INSERT INTO orders (item) VALUES ('forgotten')`)
		var got nanoflake.ID
		if err := db.QueryRowContext(ctx, `SELECT id FROM orders WHERE item = 'forgotten'`).Scan(&got); err != nil || got != id+1 {
			t.Errorf("the row got %v, %v, want %v", got, err, id+1)
		}
	})
}

func TestEvents(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		exec(t, db, SchemaBytes)
		var ids []scru160.ID
		for i := range 4 {
			id, err := scru160.FromTime(sample.Time(i))
			if err != nil {
				t.Fatal(err)
			}
			s := sno.NewWithTime(byte(i), sample.Time(i))
			if err := InsertEvent(ctx, db, id, s); err != nil {
				t.Fatal(err)
			}
			got, err := FindEvent(ctx, db, id)
			if want := (Event{ID: id.Binary(), Text: id, Sno: s}); err != nil || got != want {
				t.Errorf("found %v, %v, want %v", got, err, want)
			}
			ids = append(ids, id)
		}
		for _, column := range []string{"id", "text", "sno"} {
			rows, err := db.QueryContext(ctx, `SELECT text FROM events ORDER BY `+column)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			var got []scru160.ID
			for rows.Next() {
				var id scru160.ID
				if err := rows.Scan(&id); err != nil {
					t.Fatal(err)
				}
				got = append(got, id)
			}
			if err := rows.Err(); err != nil || !slices.Equal(got, ids) {
				t.Errorf("by %s: %v, %v, want %v", column, got, err, ids)
			}
		}
	})
}

// A column of another type is an error and never another ID. SQLite itself converts texts of digits
// where the column's affinity is a number.
func TestAffinity(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		for _, column := range []string{`'0549x5l2itvr4'`, `'673740726894358528'`, `1.5`, `x'00'`} {
			var got nanoflake.ID
			if err := db.QueryRowContext(ctx, `SELECT `+column).Scan(&got); err == nil {
				t.Errorf("%s reads as %v", column, got)
			}
		}
		exec(t, db, `CREATE TABLE loose (text TEXT, string STRING)`, `CREATE TABLE strict (id INTEGER) STRICT`)
		digits := nanoflake.MustParse("0540000000004")
		for column, want := range map[string]string{"text": "text", "string": "integer"} {
			if _, err := db.ExecContext(ctx, `INSERT INTO loose (`+column+`) VALUES (?)`, digits.Text()); err != nil {
				t.Fatal(err)
			}
			var kind string
			if err := db.QueryRowContext(ctx, `SELECT typeof(`+column+`) FROM loose WHERE `+column+` IS NOT NULL`).Scan(&kind); err != nil || kind != want {
				t.Errorf("column %s holds %s, %v, want %s", column, kind, err, want)
			}
			var got nanoflake.Text
			err := db.QueryRowContext(ctx, `SELECT `+column+` FROM loose WHERE `+column+` IS NOT NULL`).Scan(&got)
			if ok := err == nil && got.ID() == digits; ok != (column == "text") {
				t.Errorf("column %s reads as %v, %v", column, got, err)
			}
		}
		if _, err := db.ExecContext(ctx, `INSERT INTO strict VALUES (?)`, nanoflake.MustParse("0549x5l2itvr4").Text()); err == nil {
			t.Error("a strict INTEGER took a text")
		}
		if _, err := db.ExecContext(ctx, `CREATE TABLE wrong (id STRING) STRICT`); err == nil {
			t.Error("a strict table took a column of type STRING")
		}
	})
}

// A primary key that is not the rowid takes NULL.
func TestNullKey(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		exec(t, db, `CREATE TABLE loose (id BIGINT PRIMARY KEY, item TEXT)`, `INSERT INTO loose (item) VALUES ('forgotten')`)
		var id sql.Null[nanoflake.ID]
		if err := db.QueryRowContext(t.Context(), `SELECT id FROM loose`).Scan(&id); err != nil || id.Valid {
			t.Errorf("the key is %v, %v", id, err)
		}
	})
}
