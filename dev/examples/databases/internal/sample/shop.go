package sample

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// An Order has the fields of the orders of all pages.
type Order struct {
	ID     nanoflake.ID
	Parent *nanoflake.ID
	Item   string
}

// Orders returns seven orders of a page's type, one a minute. The fourth order replaces the first.
func Orders[O any](t testing.TB, of func(Order) O) (all []O) {
	t.Helper()
	ids := IDs(t)
	for i, id := range ids {
		o := Order{ID: id, Item: "globe " + id.String()}
		if i == 3 {
			o.Parent = &ids[0]
		}
		all = append(all, of(o))
	}
	return all
}

// A Shop is the code of a page that keeps orders of the type O.
type Shop[O any] struct {
	Of      func(Order) O
	Insert  func(context.Context, O) error
	Find    func(context.Context, nanoflake.ID) (O, error)
	Made    func(ctx context.Context, gen *nanoflake.Generator, from, to time.Time) ([]O, error)
	Missing error // of Find without an order

	// The rest is optional.
	FindAll func(context.Context, []nanoflake.ID) ([]O, error)
	Join    func(o, parent *O) // sets the parent in an order that Find returns
	DB      *sql.DB            // with the table orders
	NoID    error              // of a forgotten ID, instead of iderr.ErrNoID
}

// On returns the shop of a page whose functions take the database, or another handle of the type D.
func On[D, O any](db D, of func(Order) O, insert func(context.Context, D, O) error, find func(context.Context, D, nanoflake.ID) (O, error),
	made func(context.Context, D, *nanoflake.Generator, time.Time, time.Time) ([]O, error), missing error) Shop[O] {
	return Shop[O]{
		Of:     of,
		Insert: func(ctx context.Context, o O) error { return insert(ctx, db, o) },
		Find:   func(ctx context.Context, id nanoflake.ID) (O, error) { return find(ctx, db, id) },
		Made: func(ctx context.Context, gen *nanoflake.Generator, from, to time.Time) ([]O, error) {
			return made(ctx, db, gen, from, to)
		},
		Missing: missing,
	}
}

// TestOrders stores seven orders, finds each order, and finds the orders of a time. TestOrders returns all
// orders.
func (s Shop[O]) TestOrders(t *testing.T) []O {
	t.Helper()
	ctx, ids, all := t.Context(), IDs(t), Orders(t, s.Of)
	for _, o := range all {
		if err := s.Insert(ctx, o); err != nil {
			t.Fatal(err)
		}
	}
	for i, o := range all {
		if i == 3 && s.Join != nil {
			s.Join(&o, &all[0])
		}
		if got, err := s.Find(ctx, ids[i]); err != nil || !reflect.DeepEqual(got, o) {
			t.Errorf("found %v, %v, want %v", got, err, o)
		}
	}
	if _, err := s.Find(ctx, nanoflake.Max); !errors.Is(err, s.Missing) {
		t.Errorf("an ID without an order: %v", err)
	}
	if got, err := s.Made(ctx, Generator(t), Time(2), Time(4)); err != nil || !reflect.DeepEqual(got, all[2:5]) {
		t.Errorf("made %v, %v, want %v", got, err, all[2:5])
	}
	if s.FindAll != nil {
		if got, err := s.FindAll(ctx, []nanoflake.ID{ids[5], ids[6], nanoflake.Max}); err != nil || !reflect.DeepEqual(got, all[5:7]) {
			t.Errorf("found %v, %v, want %v", got, err, all[5:7])
		}
	}
	return all
}

// TestNoID checks that a forgotten ID reaches no row, and that the database numbers no row.
func (s Shop[O]) TestNoID(t *testing.T) {
	t.Helper()
	ctx, refused := t.Context(), s.NoID
	if refused == nil {
		refused = iderr.ErrNoID
	}
	for _, o := range []Order{{Item: "forgotten"}, {ID: IDs(t)[0], Parent: new(nanoflake.ID)}} {
		if err := s.Insert(ctx, s.Of(o)); !errors.Is(err, refused) {
			t.Errorf("%v: %v", o, err)
		}
	}
	if _, err := s.Find(ctx, 0); !errors.Is(err, refused) {
		t.Errorf("a search for no ID: %v", err)
	}
	if s.DB == nil {
		return
	}
	if _, err := s.DB.ExecContext(ctx, `INSERT INTO orders (item) VALUES ('forgotten')`); err == nil {
		t.Error("the database numbers the rows by itself")
	}
	if n := Read[int](t, s.DB, `SELECT count(*) FROM orders`); n[0] != 0 {
		t.Errorf("%d rows", n[0])
	}
}

// Event returns the IDs of the i-th event.
func Event(t testing.TB, i int) (scru160.ID, sno.ID) {
	t.Helper()
	id, err := scru160.FromTime(Time(i))
	if err != nil {
		t.Fatal(err)
	}
	return id, sno.NewWithTime(byte(i), Time(i))
}

// TestEvents stores events, and finds each event. The database sorts the events by each column, and an ID has
// 20 bytes.
func TestEvents[E comparable](t *testing.T, db *sql.DB, insert func(context.Context, *sql.DB, scru160.ID, sno.ID) error,
	find func(context.Context, *sql.DB, scru160.ID) (E, error), of func(scru160.ID, sno.ID) E) {
	t.Helper()
	var ids []scru160.ID
	for i := range 4 {
		id, s := Event(t, i)
		if err := insert(t.Context(), db, id, s); err != nil {
			t.Fatal(err)
		}
		if got, err := find(t.Context(), db, id); err != nil || got != of(id, s) {
			t.Errorf("found %v, %v, want %v", got, err, of(id, s))
		}
		ids = append(ids, id)
	}
	for _, column := range []string{"id", "text", "sno"} {
		if got := Read[scru160.ID](t, db, `SELECT text FROM events ORDER BY `+column); !slices.Equal(got, ids) {
			t.Errorf("by %s: %v, want %v", column, got, ids)
		}
	}
	if got := Read[int](t, db, `SELECT max(length(id)) FROM events`); got[0] != scru160.Size {
		t.Errorf("%d bytes", got[0])
	}
}

// Exec executes statements.
func Exec(t testing.TB, db *sql.DB, statements ...string) {
	t.Helper()
	for _, s := range statements {
		if _, err := db.ExecContext(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
}

// Read returns the rows of a query with one column.
func Read[T any](t testing.TB, db *sql.DB, query string, args ...any) (all []T) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query, args...)
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
