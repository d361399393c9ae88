package orders

import (
	"database/sql"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/firn-id/firn/dev/examples/databases/internal/sample"
	"github.com/firn-id/firn/dev/internal/database"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/typed"
)

func of(o sample.Order) Order { return Order(o) }

func shop(t *testing.T) sample.Shop[Order] {
	db := database.PostgresDB(t)
	sample.Exec(t, db, Schema)
	shop := sample.On(db, of, Insert, Find, Made, sql.ErrNoRows)
	shop.DB = db
	return shop
}

func TestOrders(t *testing.T) {
	shop := shop(t)
	all := shop.TestOrders(t)
	got, err := FindAll(t.Context(), shop.DB, []nanoflake.ID{all[1].ID, all[5].ID, nanoflake.Max})
	if want := map[nanoflake.ID]string{all[1].ID: all[1].Item, all[5].ID: all[5].Item}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, %v, want %v", got, err, want)
	}
	// The database orders the IDs as their times are.
	if last := sample.Read[nanoflake.ID](t, shop.DB, `SELECT max(id) FROM orders`); last[0] != all[len(all)-1].ID {
		t.Errorf("the last is %v", last)
	}
}

func TestNoID(t *testing.T) {
	shop := shop(t)
	shop.TestNoID(t)
	if found, err := FindAll(t.Context(), shop.DB, nil); err != nil || len(found) != 0 {
		t.Errorf("a search for no IDs at all: %v, %v", found, err)
	}
}

func connect(t *testing.T, mode pgx.QueryExecMode, schemas ...string) *pgx.Conn {
	config := database.Postgres(t)
	config.DefaultQueryExecMode = mode
	conn := testkit.Must(pgx.ConnectConfig(t.Context(), config))
	t.Cleanup(func() { conn.Close(t.Context()) })
	for _, schema := range schemas {
		testkit.OK(t, testkit.Err(conn.Exec(t.Context(), schema)))
	}
	return conn
}

func TestPgx(t *testing.T) {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			ctx, gen, all := t.Context(), sample.Generator(t), sample.Orders(t, of)
			conn := connect(t, mode, Schema, SchemaBytes)
			testkit.OK(t, InsertAll(ctx, conn, all))
			if err := InsertAll(ctx, conn, []Order{{Item: "forgotten"}}); err == nil || !strings.Contains(err.Error(), "the zero ID") {
				t.Errorf("an order without an ID: %v", err) // CopyFrom turns errors into texts
			}
			if got, err := MadePgx(ctx, conn, gen, sample.Time(2), sample.Time(4)); err != nil || !reflect.DeepEqual(got, all[2:5]) {
				t.Errorf("made %v, %v, want %v", got, err, all[2:5])
			}

			db := stdlib.OpenDB(*conn.Config())
			defer db.Close()
			found, err := FindAll(ctx, db, []nanoflake.ID{all[1].ID, nanoflake.Max})
			if want := map[nanoflake.ID]string{all[1].ID: all[1].Item}; err != nil || !reflect.DeepEqual(found, want) {
				t.Errorf("found %v, %v, want %v", found, err, want)
			}
			if found, err := FindAll(ctx, db, []nanoflake.ID{all[1].ID, 0}); !errors.Is(err, iderr.ErrNoID) {
				t.Errorf("a search for an ID and no ID: %v, %v", found, err)
			}

			var ids []scru160.ID
			for i := range 4 {
				id, s := sample.Event(t, i)
				testkit.OK(t, InsertEvent(ctx, conn, id, s))
				got, err := FindEvent(ctx, conn, id)
				if want := (Event{ID: id.Binary(), Text: id, UUID: s.UUID()}); err != nil || got != want {
					t.Errorf("found %v, %v, want %v", got, err, want)
				}
				ids = append(ids, id)
			}
			for _, column := range []string{"id", "text", "uuid"} {
				if got := sample.Read[scru160.ID](t, db, `SELECT text FROM events ORDER BY `+column); !slices.Equal(got, ids) {
					t.Errorf("by %s: %v, want %v", column, got, ids)
				}
			}
			if size := sample.Read[int](t, db, `SELECT max(length(id)) FROM events`); size[0] != scru160.Size {
				t.Errorf("%d bytes", size[0])
			}
		})
	}
}

// pgx pads the bytes of a sno.ID to a UUID, however the ID is passed. The CHECK of the schema refuses them.
func TestUUIDColumn(t *testing.T) {
	ctx, s := t.Context(), sno.MustParse("cufsekaqqudbobiw")
	column := regexp.MustCompile(`(?s)uuid UUID UNIQUE.*\)`).FindString(SchemaBytes)
	if !strings.Contains(column, "CHECK") {
		t.Fatal(column)
	}
	conn := connect(t, pgx.QueryExecModeCacheStatement, "CREATE TABLE checked ("+column)
	insert := func(v any) error {
		_, err := conn.Exec(ctx, "INSERT INTO checked VALUES ($1)", v)
		return err
	}
	type kind struct{}
	binary, _ := sample.Event(t, 1)
	_, copied := conn.CopyFrom(ctx, pgx.Identifier{"checked"}, []string{"uuid"}, pgx.CopyFromRows([][]any{{s}}))
	_, listed := conn.Exec(ctx, "INSERT INTO checked SELECT unnest($1::uuid[])", []sno.ID{s})
	for way, err := range map[string]error{
		"ID": insert(s), "sql.Null": insert(sql.Null[sno.ID]{V: s, Valid: true}), "pointer": insert(&s), "typed": insert(typed.As[kind](s)),
		"CopyFrom": copied, "array": listed, "scru160.Binary": insert(binary.Binary()),
	} {
		if err == nil {
			t.Errorf("the CHECK lets a sno by %s pass", way)
		}
	}
	for _, u := range []string{"00000000-0000-0000-0000-000000000000", "0190163d-8694-739b-aea5-966c26f8ad91", "32323232-3232-3232-3232-323232323279", "32323232-3232-3232-3232-323232323231", "32323232-3232-3232-3232-323232323260"} {
		if err := insert(u); err == nil {
			t.Errorf("the CHECK lets %s pass", u)
		}
	}
	if err := insert(s.UUID()); err != nil {
		t.Errorf("sno.UUID: %v", err)
	}
	for _, id := range []sno.ID{sno.Zero(), sno.MustParse("23456789abcdefgh"), sno.MustParse("ijklmnopqrstuvwx"), sno.MustParse("xxxxxxxxxxxxxxxx")} {
		if err := insert(pgtype.UUID{Bytes: id.UUID(), Valid: true}); err != nil {
			t.Errorf("the CHECK refuses %s: %v", id, err)
		}
	}
}
