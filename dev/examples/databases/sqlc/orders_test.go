package orders

import (
	_ "embed"
	"errors"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/examples/databases/sqlc/bytype"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
)

//go:embed schema.sql
var schema string

func open(t *testing.T) (*pgx.Conn, *Queries) {
	conn, err := pgx.ConnectConfig(t.Context(), database.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(t.Context()) })
	if _, err := conn.Exec(t.Context(), schema); err != nil {
		t.Fatal(err)
	}
	return conn, New(conn)
}

func TestOrders(t *testing.T) {
	ctx, ids, gen := t.Context(), sample.IDs(t), sample.Generator(t)
	_, q := open(t)
	var all []Order
	for i, id := range ids {
		o := Order{ID: id, Sno: sno.NewWithTime(byte(i), sample.Time(i)), Item: "globe " + id.String()}
		if i == 3 {
			o.Parent = &ids[0]
		}
		if err := q.InsertOrder(ctx, InsertOrderParams(o)); err != nil {
			t.Fatal(err)
		}
		all = append(all, o)
	}
	for _, o := range all {
		if got, err := q.FindOrder(ctx, o.ID); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("found %v, %v, want %v", got, err, o)
		}
		if got, err := q.FindOrderBySno(ctx, o.Sno); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("found %v, %v, want %v", got, err, o)
		}
	}
	if _, err := q.FindOrder(ctx, nanoflake.Max); !errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("an ID without an order: %v", err)
	}
	if got, err := Made(ctx, q, gen, sample.Time(2), sample.Time(4)); err != nil || !reflect.DeepEqual(got, all[2:5]) {
		t.Errorf("made %v, %v, want %v", got, err, all[2:5])
	}
}

func TestNoID(t *testing.T) {
	ctx, id := t.Context(), sample.IDs(t)[0]
	conn, q := open(t)
	s := sno.NewWithTime(0, sample.Time(0))
	for _, o := range []InsertOrderParams{{Sno: s}, {ID: id}, {ID: id, Sno: s, Parent: new(nanoflake.ID)}} {
		if err := q.InsertOrder(ctx, o); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("%v: %v", o, err)
		}
	}
	if _, err := q.FindOrder(ctx, 0); !errors.Is(err, iderr.ErrNoID) {
		t.Errorf("a search for no ID: %v", err)
	}
	var rows int
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM orders`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// A column of another type is an error and never another ID.
func TestWrongColumn(t *testing.T) {
	ctx, id := t.Context(), sample.IDs(t)[0]
	conn, q := open(t)
	if _, err := conn.Exec(ctx, `DROP TABLE orders; CREATE TABLE orders (id VARCHAR(40), parent BIGINT, sno BYTEA, item TEXT);
		INSERT INTO orders VALUES ('673740726894358528', NULL, '\x00', '')`); err != nil {
		t.Fatal(err)
	}
	if got, err := q.FindOrder(ctx, id); err == nil || errors.Is(err, pgx.ErrNoRows) {
		t.Errorf("a column of text: %v, %v", got, err)
	}
	var o Order
	if err := conn.QueryRow(ctx, `SELECT id FROM orders`).Scan(&o.ID); err == nil {
		t.Errorf("a text reads as %v", o.ID)
	}
	if err := conn.QueryRow(ctx, `SELECT sno FROM orders`).Scan(&o.Sno); err == nil {
		t.Errorf("a byte reads as %v", o.Sno)
	}
}

// Overrides by the types of columns give the same model and parameters as overrides by their names.
func TestByType(t *testing.T) {
	ctx, id := t.Context(), sample.IDs(t)[0]
	conn, q := open(t)
	want := Order{ID: id, Sno: sno.NewWithTime(0, sample.Time(0)), Item: "globe"}
	if err := q.InsertOrder(ctx, InsertOrderParams(want)); err != nil {
		t.Fatal(err)
	}
	got, err := bytype.New(conn).OrdersMade(ctx, bytype.OrdersMadeParams{First: id, Last: id})
	if err != nil || len(got) != 1 || Order(got[0]) != want {
		t.Errorf("found %v, %v, want %v", got, err, want)
	}
}
