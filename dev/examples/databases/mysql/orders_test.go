package orders

import (
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

func open(t *testing.T, schemas ...string) *sql.DB {
	db := database.MySQLDB(t)
	exec(t, db, schemas...)
	return db
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
	for _, interpolate := range []bool{false, true} { // the protocols of prepared statements and of texts
		ctx, config, gen, all := t.Context(), database.MySQL(t), sample.Generator(t), orders(t)
		config.InterpolateParams = interpolate
		db, err := sql.Open("mysql", config.FormatDSN())
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
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
	}
}

// A forgotten ID reaches no column, and NULL reaches no plain ID.
func TestNoID(t *testing.T) {
	ctx, db, all := t.Context(), open(t, Schema), orders(t)
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
}

func TestEvents(t *testing.T) {
	ctx, db := t.Context(), open(t, SchemaBytes)
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
		if got := read[scru160.ID](t, db, `SELECT text FROM events ORDER BY `+column); !slices.Equal(got, ids) {
			t.Errorf("by %s: %v, want %v", column, got, ids)
		}
	}
	if got := read[int](t, db, `SELECT max(length(id)) FROM events`); got[0] != scru160.Size {
		t.Errorf("%d bytes, want %d", got[0], scru160.Size)
	}
}

func read[T any](t *testing.T, db *sql.DB, query string) (all []T) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			t.Fatal(err)
		}
		all = append(all, v)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// MariaDB sorts a column of type UUID by its bytes, which are in the order of the snos.
func TestUUID(t *testing.T) {
	db := database.MySQLDB(t)
	if version := read[string](t, db, `SELECT version()`)[0]; !strings.Contains(version, "MariaDB") {
		t.Skip("MySQL has no type UUID, MariaDB has: ", version)
	}
	exec(t, db, SchemaUUID)
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
	if got := read[sno.UUID](t, db, `SELECT id FROM visits ORDER BY id`); !slices.Equal(got, want) {
		t.Errorf("in order: %v, want %v", got, want)
	}
	// The 10 bytes of a sno are not a UUID.
	if _, err := db.ExecContext(t.Context(), `INSERT INTO visits (id) VALUES (?)`, sno.NewWithTime(1, sample.Time(1))); err == nil {
		t.Error("a column of type UUID took a sno.ID")
	}
}

// A column of another type is an error and never another ID.
func TestWrongColumn(t *testing.T) {
	ctx, db, id := t.Context(), open(t), sample.IDs(t)[0]
	for _, column := range []string{`'0549x5l2itvr4'`, `'673740726894358528'`, `1.5`, `now()`, `x'00'`, `CAST(18446744073709551615 AS UNSIGNED)`} {
		var got nanoflake.ID
		if err := db.QueryRowContext(ctx, `SELECT `+column).Scan(&got); err == nil {
			t.Errorf("%s reads as %v", column, got)
		}
	}
	exec(t, db, `CREATE TABLE wrong (number INT, text CHAR(13) CHARACTER SET ascii COLLATE ascii_bin)`)
	if _, err := db.ExecContext(ctx, `INSERT INTO wrong (number) VALUES (?)`, id); err == nil {
		t.Error("an INT of 32 bits took an ID")
	}
	if _, err := db.ExecContext(ctx, `INSERT INTO wrong (text) VALUES (?)`, id.Text()); err != nil {
		t.Fatal(err)
	}
	if got := read[nanoflake.Text](t, db, `SELECT text FROM wrong`); len(got) != 1 || got[0].ID() != id {
		t.Errorf("a text reads as %v, want %v", got, id)
	}
	exec(t, db, `CREATE TABLE plus (id BIGINT UNSIGNED PRIMARY KEY)`)
	if _, err := db.ExecContext(ctx, `INSERT INTO plus VALUES (?)`, id); err != nil {
		t.Fatal(err)
	}
	if got := read[nanoflake.ID](t, db, `SELECT id FROM plus`); len(got) != 1 || got[0] != id {
		t.Errorf("BIGINT UNSIGNED reads as %v, want %v", got, id)
	}
}

// A collation without cases finds a text that is written otherwise, and a collation of bytes does
// not.
func TestCollation(t *testing.T) {
	ctx, db, id := t.Context(), open(t), sample.IDs(t)[0]
	exec(t, db, `CREATE TABLE texts (loose CHAR(13) COLLATE utf8mb4_general_ci, strict CHAR(13) CHARACTER SET ascii COLLATE ascii_bin)`)
	if _, err := db.ExecContext(ctx, `INSERT INTO texts VALUES (?, ?)`, id.Text(), id.Text()); err != nil {
		t.Fatal(err)
	}
	for column, want := range map[string]int{"loose": 1, "strict": 0} {
		var found int
		if err := db.QueryRowContext(ctx, `SELECT count(*) FROM texts WHERE `+column+` = upper(?)`, id.String()).Scan(&found); err != nil || found != want {
			t.Errorf("column %s: %d rows, %v, want %d", column, found, err, want)
		}
	}
}

// MySQL compares a column of bytes or of text with a number as numbers.
func TestNumber(t *testing.T) {
	ctx, db := t.Context(), open(t, SchemaBytes)
	id, err := scru160.FromTime(sample.Time(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := InsertEvent(ctx, db, id, sno.NewWithTime(0, sample.Time(0))); err != nil {
		t.Fatal(err)
	}
	var rows int
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM events WHERE id = 0`).Scan(&rows); err != nil || rows != 1 {
		t.Errorf("bytes and a number: %d rows, %v", rows, err)
	}
}
