package orders

import (
	"database/sql"
	"errors"
	"testing"

	"entgo.io/ent/dialect"
	entsql "entgo.io/ent/dialect/sql"
	"modernc.org/sqlite"

	"github.com/firn-id/firn/dev/examples/databases/ent/ent"
	"github.com/firn-id/firn/dev/examples/databases/ent/ent/order"
	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
)

var _ = sqlite.Driver{}

func each(t *testing.T, f func(t *testing.T, client *ent.Client, db *sql.DB)) {
	for name, open := range map[string]func(t *testing.T) *sql.DB{
		dialect.Postgres: func(t *testing.T) *sql.DB { return database.PostgresDB(t) },
		dialect.MySQL:    func(t *testing.T) *sql.DB { return database.MySQLDB(t) },
		dialect.SQLite:   func(t *testing.T) *sql.DB { return database.SQLite(t, "sqlite", "?_pragma=foreign_keys(1)") },
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			client := ent.NewClient(ent.Driver(entsql.OpenDB(name, db)))
			testkit.OK(t, client.Schema.Create(t.Context()))
			f(t, client, db)
		})
	}
}

func TestOrders(t *testing.T) {
	each(t, func(t *testing.T, client *ent.Client, _ *sql.DB) {
		ctx, gen, ids := t.Context(), sample.Generator(t), sample.IDs(t)
		var all []*ent.Order
		for i, id := range ids {
			var parent *nanoflake.ID
			if i == 3 {
				parent = &ids[0]
			}
			event, visit := sample.Event(t, i)
			o := testkit.Must(Insert(ctx, client, id, parent, event, visit, "globe "+id.String()))
			all = append(all, o)
		}
		for i, want := range all {
			got, err := Find(ctx, client, ids[i])
			if err != nil || got.String() != want.String() || got.Event != want.Event || got.Visit != want.Visit {
				t.Errorf("found %v, %v, want %v", got, err, want)
				continue
			}
			if (got.ParentID != nil) != (i == 3) || i == 3 && (*got.ParentID != ids[0] || got.Edges.Parent.ID != ids[0]) {
				t.Errorf("the parent is %v, %v", got.ParentID, got.Edges.Parent)
			}
			if got, err := FindEvent(ctx, client, want.Event.ID()); err != nil || got.ID != ids[i] {
				t.Errorf("found %v, %v, want %v", got, err, want)
			}
			if got, err := client.Order.Query().Where(order.Visit(want.Visit)).Only(ctx); err != nil || got.ID != ids[i] {
				t.Errorf("found %v, %v, want %v", got, err, want)
			}
		}
		if _, err := Find(ctx, client, nanoflake.Max); !ent.IsNotFound(err) {
			t.Errorf("an ID without an order: %v", err)
		}
		made, err := Made(ctx, client, gen, sample.Time(2), sample.Time(4))
		if err != nil || len(made) != 3 {
			t.Fatalf("made %v, %v, want three", made, err)
		}
		for i, o := range made {
			if o.ID != ids[2+i] {
				t.Errorf("made %v, want %v", o.ID, ids[2+i])
			}
		}
		replacements, err := client.Order.QueryReplacements(all[0]).All(ctx)
		if err != nil || len(replacements) != 1 || replacements[0].ID != ids[3] {
			t.Errorf("the replacements are %v, %v, want %v", replacements, err, ids[3])
		}
	})
}

// A forgotten ID is an error, and the database numbers no row.
func TestNoID(t *testing.T) {
	each(t, func(t *testing.T, client *ent.Client, db *sql.DB) {
		ctx, id := t.Context(), sample.IDs(t)[0]
		event, s := sample.Event(t, 0)
		_, none := Insert(ctx, client, 0, nil, event, s, "forgotten")
		_, parent := Insert(ctx, client, id, new(nanoflake.ID), event, s, "forgotten")
		_, bytes := Insert(ctx, client, id, nil, scru160.ID{}, s, "forgotten")
		for name, err := range map[string]error{"id": none, "parent": parent, "event": bytes} {
			if !errors.Is(err, iderr.ErrNoID) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if o, err := client.Order.Create().SetItem("forgotten").SetEvent(event.Binary()).SetVisit(s.Text()).Save(ctx); err == nil {
			t.Errorf("the database numbers the rows by itself: %v", o)
		}
		if _, err := Find(ctx, client, 0); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("a search for no ID: %v", err)
		}
		if n, err := client.Order.Query().Count(ctx); err != nil || n != 0 {
			t.Errorf("%d rows, %v", n, err)
		}
	})
}
