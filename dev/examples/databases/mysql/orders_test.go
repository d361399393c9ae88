package orders

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
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
			if _, err := db.ExecContext(t.Context(), `INSERT INTO visits (id) VALUES (?)`, want[i]); err != nil {
				t.Fatal(err)
			}
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
	if _, err := db.ExecContext(t.Context(), `INSERT INTO texts VALUES (?, ?)`, id.Text(), id.Text()); err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]int{"loose": 1, "strict": 0} {
		if n := sample.Read[int](t, db, `SELECT count(*) FROM texts WHERE `+column+` = upper(?)`, id.String()); n[0] != want {
			t.Errorf("column %s: %d rows, want %d", column, n[0], want)
		}
	}
}
