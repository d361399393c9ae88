package orders

import (
	"database/sql"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// shop opens a shop over either protocol of the driver: prepared statements or texts.
func shop(t *testing.T, interpolate bool) sample.Shop[Order] {
	config := database.MySQL(t)
	config.InterpolateParams = interpolate
	db := database.Open(t, "mysql", config.FormatDSN())
	sample.Exec(t, db, Schema)
	shop := sample.On(db, func(o sample.Order) Order { return Order(o) }, Insert, Find, Made, sql.ErrNoRows)
	shop.DB = db
	return shop
}

func TestOrders(t *testing.T) {
	for _, interpolate := range []bool{false, true} {
		shop(t, interpolate).TestOrders(t)
		shop(t, interpolate).TestNoID(t)
	}
}

func TestEvents(t *testing.T) {
	db := database.MySQLDB(t)
	sample.Exec(t, db, SchemaBytes)
	sample.TestEvents(t, db, InsertEvent, FindEvent, func(id scru160.ID, s sno.ID) Event { return Event{ID: id.Binary(), Text: id, Sno: s} })
	// MySQL compares a column of bytes with a number as numbers.
	if n := sample.Read[int](t, db, `SELECT count(*) FROM events WHERE id = 0`); n[0] == 0 {
		t.Error("no row has an ID that is 0 as a number")
	}
}

// MariaDB sorts a column of type UUID by the bytes, in the order of the snos.
func TestUUID(t *testing.T) {
	db := database.MySQLDB(t)
	if version := sample.Read[string](t, db, `SELECT version()`)[0]; !strings.Contains(version, "MariaDB") {
		t.Skip("MySQL has no type UUID, MariaDB has: ", version)
	}
	sample.Exec(t, db, SchemaUUID)
	var want []sno.UUID
	for i := range 50 {
		want = append(want, sno.NewWithTime(byte(i*37), sample.Time(i*1000)).UUID())
	}
	for _, i := range []int{3, 0, 2, 1} {
		for ; i < len(want); i += 4 {
			testkit.OK(t, testkit.Err(db.ExecContext(t.Context(), `INSERT INTO visits (id) VALUES (?)`, want[i])))
		}
	}
	if got := sample.Read[sno.UUID](t, db, `SELECT id FROM visits ORDER BY id`); !slices.Equal(got, want) {
		t.Errorf("in order: %v, want %v", got, want)
	}
}

// A collation without cases finds the text in capitals. A collation of bytes does not.
func TestCollation(t *testing.T) {
	db, id := database.MySQLDB(t), sample.IDs(t)[0]
	sample.Exec(t, db, `CREATE TABLE texts (loose CHAR(13) COLLATE utf8mb4_general_ci, strict CHAR(13) CHARACTER SET ascii COLLATE ascii_bin)`)
	testkit.OK(t, testkit.Err(db.ExecContext(t.Context(), `INSERT INTO texts VALUES (?, ?)`, id.Text(), id.Text())))
	for column, want := range map[string]int{"loose": 1, "strict": 0} {
		if n := sample.Read[int](t, db, `SELECT count(*) FROM texts WHERE `+column+` = upper(?)`, id.String()); n[0] != want {
			t.Errorf("column %s: %d rows, want %d", column, n[0], want)
		}
	}
}

// Without the strict mode, the server stores other values than the statement has, and the driver returns
// no error. A CHECK refuses the 0 in both modes.
func TestNotStrict(t *testing.T) {
	config := database.MySQL(t)
	config.Params = map[string]string{"sql_mode": "''"}
	loose := database.Open(t, "mysql", config.FormatDSN())
	config.Params = map[string]string{"sql_mode": "'STRICT_TRANS_TABLES'"}
	strict := database.Open(t, "mysql", config.FormatDSN())
	sample.Exec(t, loose, Schema, `CREATE TABLE checked (id BIGINT NOT NULL PRIMARY KEY CHECK (id > 0), item VARCHAR(100) NOT NULL)`)
	insert := func(db *sql.DB, query string, args ...any) error {
		_, err := db.ExecContext(t.Context(), query, args...)
		return err
	}
	const noID, text = `INSERT INTO orders (item) VALUES ('no ID')`, `INSERT INTO orders (id, item) VALUES (?, 'a text')`
	if insert(strict, noID) == nil || insert(strict, text, "07en9rb30swmf") == nil {
		t.Error("the strict mode takes a row without an ID, or a text")
	}
	if err := errors.Join(insert(loose, noID), insert(loose, text, "07en9rb30swmf")); err != nil {
		t.Error(err)
	}
	if got := sample.Read[int](t, loose, `SELECT id FROM orders ORDER BY id`); !slices.Equal(got, []int{0, 7}) {
		t.Errorf("the rows have the IDs %d, want 0 and 7", got)
	}
	for _, db := range []*sql.DB{loose, strict} {
		if insert(db, `INSERT INTO checked (item) VALUES ('no ID')`) == nil {
			t.Error("a CHECK lets the 0 through")
		}
	}
	if version := sample.Read[string](t, loose, `SELECT version()`)[0]; !strings.Contains(version, "MariaDB") {
		return // MySQL has no type UUID
	}
	sample.Exec(t, loose, SchemaUUID)
	flake := sno.NewWithTime(1, sample.Time(1000))
	if insert(strict, `INSERT INTO visits (id) VALUES (?)`, flake) == nil {
		t.Error("the strict mode takes ten bytes for a UUID")
	}
	if err := insert(loose, `INSERT INTO visits (id) VALUES (?)`, flake); err != nil {
		t.Error(err)
	}
	if got := sample.Read[string](t, loose, `SELECT id FROM visits`); !slices.Equal(got, []string{"00000000-0000-0000-0000-000000000000"}) {
		t.Errorf("the UUID is %s, want zeros", got)
	}
}
