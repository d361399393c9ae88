package orders

import (
	"database/sql"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// drivers are the names of drivers in database/sql, by author. The driver of mattn needs cgo.
var drivers = map[string]string{"modernc": "sqlite"}

func each(t *testing.T, f func(t *testing.T, db *sql.DB)) {
	for name, driver := range drivers {
		t.Run(name, func(t *testing.T) { f(t, database.SQLite(t, driver, "")) })
	}
}

func shop(t *testing.T, db *sql.DB) sample.Shop[Order] {
	sample.Exec(t, db, Schema)
	shop := sample.On(db, func(o sample.Order) Order { return Order(o) }, Insert, Find, Made, sql.ErrNoRows)
	shop.DB = db
	return shop
}

func TestOrders(t *testing.T) { each(t, func(t *testing.T, db *sql.DB) { shop(t, db).TestOrders(t) }) }
func TestNoID(t *testing.T)   { each(t, func(t *testing.T, db *sql.DB) { shop(t, db).TestNoID(t) }) }

func TestEvents(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		sample.Exec(t, db, SchemaBytes)
		sample.TestEvents(t, db, InsertEvent, FindEvent, func(id scru160.ID, s sno.ID) Event { return Event{ID: id.Binary(), Text: id, Sno: s} })
	})
}

// SQLite gives a row without an ID the largest ID plus one, also an ID: the column is another name of the
// rowid.
func TestRowID(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		id := sample.IDs(t)[0]
		sample.Exec(t, db, `CREATE TABLE orders (id INTEGER PRIMARY KEY, item TEXT)`)
		testkit.OK(t, testkit.Err(db.ExecContext(t.Context(), `INSERT INTO orders (id) VALUES (?)`, id)))
		sample.Exec(t, db, `INSERT INTO orders (item) VALUES ('forgotten')`)
		if got := sample.Read[nanoflake.ID](t, db, `SELECT id FROM orders WHERE item = 'forgotten'`); got[0] != id+1 {
			t.Errorf("the row got %v, want %v", got, id+1)
		}
	})
}

// SQLite itself converts texts of digits where the column's affinity is a number.
func TestAffinity(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		ctx := t.Context()
		sample.Exec(t, db, `CREATE TABLE loose (text TEXT, string STRING)`, `CREATE TABLE strict (id INTEGER) STRICT`)
		digits := nanoflake.MustParse("0540000000004")
		for column, want := range map[string]string{"text": "text", "string": "integer"} {
			testkit.OK(t, testkit.Err(db.ExecContext(ctx, `INSERT INTO loose (`+column+`) VALUES (?)`, digits.Text())))
			if kind := sample.Read[string](t, db, `SELECT typeof(`+column+`) FROM loose WHERE `+column+` IS NOT NULL`); kind[0] != want {
				t.Errorf("column %s holds %s, want %s", column, kind, want)
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

// A primary key takes NULL, except for the rowid.
func TestNullKey(t *testing.T) {
	each(t, func(t *testing.T, db *sql.DB) {
		sample.Exec(t, db, `CREATE TABLE loose (id BIGINT PRIMARY KEY, item TEXT)`, `INSERT INTO loose (item) VALUES ('forgotten')`)
		if ids := sample.Read[sql.Null[nanoflake.ID]](t, db, `SELECT id FROM loose`); ids[0].Valid {
			t.Errorf("the key is %v", ids[0])
		}
	})
}
