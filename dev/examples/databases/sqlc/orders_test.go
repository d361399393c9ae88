package orders

import (
	"context"
	_ "embed"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/examples/databases/sqlc/bytype"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
)

//go:embed schema.sql
var schema string

func open(t *testing.T) (*pgx.Conn, *Queries) {
	conn := testkit.Must(pgx.ConnectConfig(t.Context(), database.Postgres(t)))
	t.Cleanup(func() { conn.Close(t.Context()) })
	testkit.OK(t, testkit.Err(conn.Exec(t.Context(), schema)))
	return conn, New(conn)
}

func shop(q *Queries) sample.Shop[Order] {
	return sample.Shop[Order]{
		Of: func(o sample.Order) Order {
			return Order{ID: o.ID, Parent: o.Parent, Sno: sno.NewWithTime(7, sample.Time(0)), Item: o.Item}
		},
		Insert: func(ctx context.Context, o Order) error { return q.InsertOrder(ctx, InsertOrderParams(o)) },
		Find:   q.FindOrder,
		Made: func(ctx context.Context, gen *nanoflake.Generator, from, to time.Time) ([]Order, error) {
			return Made(ctx, q, gen, from, to)
		},
		Missing: pgx.ErrNoRows,
	}
}

func TestOrders(t *testing.T) {
	_, q := open(t)
	for _, o := range shop(q).TestOrders(t) {
		if got, err := q.FindOrderBySno(t.Context(), o.Sno); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("found %v, %v, want %v", got, err, o)
		}
	}
}

func TestNoID(t *testing.T) {
	ctx := t.Context()
	conn, q := open(t)
	shop(q).TestNoID(t)
	if err := q.InsertOrder(ctx, InsertOrderParams{ID: sample.IDs(t)[0]}); !errors.Is(err, iderr.ErrNoID) {
		t.Errorf("no sno: %v", err)
	}
	var rows int
	if err := conn.QueryRow(ctx, `SELECT count(*) FROM orders`).Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d rows, %v", rows, err)
	}
}

// Overrides by the types of columns give the same model and parameters as overrides by their names.
func TestByType(t *testing.T) {
	ctx, id := t.Context(), sample.IDs(t)[0]
	conn, q := open(t)
	want := Order{ID: id, Sno: sno.NewWithTime(0, sample.Time(0)), Item: "globe"}
	testkit.OK(t, q.InsertOrder(ctx, InsertOrderParams(want)))
	got, err := bytype.New(conn).OrdersMade(ctx, bytype.OrdersMadeParams{First: id, Last: id})
	if err != nil || len(got) != 1 || Order(got[0]) != want {
		t.Errorf("found %v, %v, want %v", got, err, want)
	}
}
