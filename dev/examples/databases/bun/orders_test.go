package orders

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect"
	"github.com/uptrace/bun/dialect/mysqldialect"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	_ "modernc.org/sqlite"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/typed"
)

func each(t *testing.T, f func(t *testing.T, db *bun.DB)) {
	for name, open := range map[string]func(t *testing.T) *bun.DB{
		"PostgreSQL": func(t *testing.T) *bun.DB { return bun.NewDB(database.PostgresDB(t), pgdialect.New()) },
		"MariaDB":    func(t *testing.T) *bun.DB { return bun.NewDB(database.MySQLDB(t), mysqldialect.New()) },
		"SQLite":     func(t *testing.T) *bun.DB { return bun.NewDB(database.SQLite(t, "sqlite", ""), sqlitedialect.New()) },
	} {
		t.Run(name, func(t *testing.T) {
			db := open(t)
			testkit.OK(t, testkit.Err(db.NewCreateTable().Model((*Order)(nil)).Exec(t.Context())))
			f(t, db)
		})
	}
}

func shop(db *bun.DB) sample.Shop[Order] {
	of := func(o sample.Order) Order { return Order{ID: o.ID, ParentID: o.Parent, Item: o.Item} }
	shop := sample.On(db, of, func(ctx context.Context, db *bun.DB, o Order) error { return Insert(ctx, db, &o) }, Find, Made, sql.ErrNoRows)
	shop.FindAll = func(ctx context.Context, ids []nanoflake.ID) ([]Order, error) { return FindAll(ctx, db, ids) }
	shop.Join = func(o, parent *Order) { o.Parent = parent }
	return shop
}

func TestOrders(t *testing.T) {
	each(t, func(t *testing.T, db *bun.DB) { shop(db).TestOrders(t) })
}

// A forgotten ID reaches no row. Bun puts the error of the ID into the statement, and the server
// refuses the statement.
func TestNoID(t *testing.T) {
	each(t, func(t *testing.T, db *bun.DB) {
		shop, ids := shop(db), sample.IDs(t)
		for _, o := range []Order{{Item: "forgotten"}, {ID: ids[0], ParentID: new(nanoflake.ID)}} {
			if err := shop.Insert(t.Context(), o); err == nil {
				t.Errorf("%v is stored", o)
			}
		}
		if o, err := shop.Find(t.Context(), 0); err == nil {
			t.Errorf("a search for no ID finds %v", o)
		}
		if n := sample.Read[int](t, db.DB, `SELECT count(*) FROM orders`); n[0] != 0 {
			t.Errorf("%d rows", n[0])
		}
	})
}

func TestEvents(t *testing.T) {
	ctx, db := t.Context(), bun.NewDB(database.PostgresDB(t), pgdialect.New())
	testkit.OK(t, testkit.Err(db.NewCreateTable().Model((*Event)(nil)).Exec(ctx)))
	for i := range 4 {
		id, s := sample.Event(t, i)
		want := Event{ID: id.Binary(), Text: id, UUID: s.UUID()}
		testkit.OK(t, testkit.Err(db.NewInsert().Model(&want).Exec(ctx)))
		if got, err := FindEvent(ctx, db, id); err != nil || got != want {
			t.Errorf("found %v, %v, want %v", got, err, want)
		}
	}
	if size := sample.Read[int](t, db.DB, `SELECT max(length(id)) FROM events`); size[0] != scru160.Size {
		t.Errorf("%d bytes", size[0])
	}
}

// The option nullzero stores NULL for a forgotten ID, and the NULL does not read back.
func TestNullZero(t *testing.T) {
	type Row struct {
		ID     nanoflake.ID `bun:",pk"`
		Parent nanoflake.ID `bun:",nullzero"`
	}
	each(t, func(t *testing.T, db *bun.DB) {
		ctx, row := t.Context(), Row{ID: sample.IDs(t)[0]}
		testkit.OK(t, testkit.Err(db.NewCreateTable().Model(&row).Exec(ctx)))
		if _, err := db.NewInsert().Model(&row).Returning("NULL").Exec(ctx); err != nil {
			t.Error(err)
		}
		if err := db.NewSelect().Model(&row).Scan(ctx); !errors.Is(err, iderr.ErrNoID) {
			t.Errorf("NULL reads as %v, %v", row, err)
		}
	})
}

// Without a type in the tag, Bun derives the column from the kind in Go.
func TestType(t *testing.T) {
	type Untyped struct {
		ID    nanoflake.ID `bun:",pk"`
		Event scru160.Binary
		UUID  sno.UUID
		Text  nanoflake.Text
		Kind  typed.ID[nanoflake.ID, kind]
	}
	db := bun.NewDB(database.PostgresDB(t), pgdialect.New())
	statement := db.NewCreateTable().Model((*Untyped)(nil)).String()
	for _, column := range []string{`"id" BIGINT`, `"event" BYTEA`, `"uuid" BYTEA`, `"text" BYTEA`, `"kind" JSONB`} {
		if !strings.Contains(statement, column) {
			t.Errorf("no column %s: %s", column, statement)
		}
	}
}

// kind is a kind of things.
type kind struct{}

// A column is read into a slice of IDs, of each type.
func TestSlices(t *testing.T) {
	id, long, short := nanoflake.MustParse("0549x5l2itvr4"), scru160.Max(), sno.NewWithTime(1, sample.Time(0))
	each(t, func(t *testing.T, db *bun.DB) {
		slices(t, db, "bigint", id, id+1)
		slices(t, db, "varchar(13)", id.Text(), (id + 1).Text())
		slices(t, db, "bigint", typed.As[kind](id), typed.As[kind](id+1))
		slices(t, db, "varchar(13)", typed.As[kind](id.Text()), typed.As[kind]((id + 1).Text()))
		slices(t, db, "varchar(32)", long, scru160.ID{1})
		slices(t, db, "varchar(16)", short.Text(), sno.ID{1}.Text())
		if db.Dialect().Name() != dialect.PG { // bytea
			slices(t, db, "varbinary(20)", long.Binary(), scru160.ID{1}.Binary())
			slices(t, db, "varbinary(10)", short, sno.ID{1})
		}
	})
}

// tables is the number of tables that slices made.
var tables int

func slices[T comparable](t *testing.T, db *bun.DB, column string, ids ...T) {
	t.Helper()
	type row struct {
		bun.BaseModel `bun:"alias:s"`
		N             int
		ID            T
	}
	ctx := t.Context()
	tables++
	name := fmt.Sprintf("slices%d", tables) // PostgreSQL keeps the plans of a table
	testkit.OK(t, testkit.Err(db.ExecContext(ctx, "CREATE TABLE "+name+" (n integer, id "+column+")")))
	for n, id := range ids {
		testkit.OK(t, testkit.Err(db.NewInsert().Model(&row{N: n, ID: id}).ModelTableExpr(name).Exec(ctx)))
	}
	var got []T
	if err := db.NewSelect().Model((*row)(nil)).ModelTableExpr(name+" AS s").Column("id").Order("n").Scan(ctx, &got); err != nil || !reflect.DeepEqual(got, ids) {
		t.Errorf("%s: %v, %v, want %v", column, got, err, ids)
	}
	var found []row
	if err := db.NewSelect().Model(&found).ModelTableExpr(name+" AS s").Where("id IN (?)", bun.List(ids[:1])).Scan(ctx); err != nil || len(found) != 1 || found[0].ID != ids[0] {
		t.Errorf("%s: found %v, %v", column, found, err)
	}
}
