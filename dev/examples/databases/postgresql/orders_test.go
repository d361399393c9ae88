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
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/typed"
)

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
	ctx, db, gen, all := t.Context(), database.PostgresDB(t), sample.Generator(t), orders(t)
	if _, err := db.ExecContext(ctx, Schema); err != nil {
		t.Fatal(err)
	}
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
	got, err := FindAll(ctx, db, []nanoflake.ID{all[1].ID, all[5].ID, nanoflake.Max})
	if want := map[nanoflake.ID]string{all[1].ID: all[1].Item, all[5].ID: all[5].Item}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("found %v, %v, want %v", got, err, want)
	}

	// The database orders the IDs as their times are.
	var last nanoflake.ID
	if err := db.QueryRowContext(ctx, `SELECT max(id) FROM orders`).Scan(&last); err != nil || last != all[len(all)-1].ID {
		t.Errorf("the last is %v, %v", last, err)
	}
}

// A forgotten ID reaches no column, and NULL reaches no plain ID.
func TestNoID(t *testing.T) {
	ctx, db, all := t.Context(), database.PostgresDB(t), orders(t)
	if _, err := db.ExecContext(ctx, Schema); err != nil {
		t.Fatal(err)
	}
	if err := Insert(ctx, db, Order{Item: "forgotten"}); !errors.Is(err, iderr.ErrNoID) {
		t.Errorf("an order without an ID: %v", err)
	}
	if err := Insert(ctx, db, Order{ID: all[0].ID, Parent: new(nanoflake.ID)}); !errors.Is(err, iderr.ErrNoID) {
		t.Errorf("an order with a parent without an ID: %v", err)
	}
	if _, err := Find(ctx, db, 0); !errors.Is(err, iderr.ErrNoID) {
		t.Errorf("a search for no ID: %v", err)
	}
	if found, err := FindAll(ctx, db, nil); err != nil || len(found) != 0 {
		t.Errorf("a search for no IDs at all: %v, %v", found, err)
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
	if err := db.QueryRowContext(ctx, `SELECT $1::bigint`, some).Scan(&none); err != nil || none != some {
		t.Errorf("an ID into sql.Null: %v, %v", none, err)
	}
}

func TestPgx(t *testing.T) {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		t.Run(mode.String(), func(t *testing.T) {
			ctx, gen, all := t.Context(), sample.Generator(t), orders(t)
			config := database.Postgres(t)
			config.DefaultQueryExecMode = mode
			conn, err := pgx.ConnectConfig(ctx, config)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(ctx)
			for _, schema := range []string{Schema, SchemaBytes} {
				if _, err := conn.Exec(ctx, schema); err != nil {
					t.Fatal(err)
				}
			}
			if err := InsertAll(ctx, conn, all); err != nil {
				t.Fatal(err)
			}
			if err := InsertAll(ctx, conn, []Order{{Item: "forgotten"}}); err == nil || !strings.Contains(err.Error(), "the zero ID") {
				t.Errorf("an order without an ID: %v", err) // CopyFrom turns errors into texts
			}
			if got, err := MadePgx(ctx, conn, gen, sample.Time(2), sample.Time(4)); err != nil || !reflect.DeepEqual(got, all[2:5]) {
				t.Errorf("made %v, %v, want %v", got, err, all[2:5])
			}

			db := stdlib.OpenDB(*config)
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
				id, err := scru160.FromTime(sample.Time(i))
				if err != nil {
					t.Fatal(err)
				}
				s := sno.NewWithTime(byte(i), sample.Time(i))
				if err := InsertEvent(ctx, conn, id, s); err != nil {
					t.Fatal(err)
				}
				got, err := FindEvent(ctx, conn, id)
				if want := (Event{ID: id.Binary(), Text: id, UUID: s.UUID()}); err != nil || got != want {
					t.Errorf("found %v, %v, want %v", got, err, want)
				}
				ids = append(ids, id)
			}
			for _, column := range []string{"id", "text", "uuid"} {
				rows, err := conn.Query(ctx, `SELECT text FROM events ORDER BY `+column)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := pgx.CollectRows(rows, pgx.RowTo[scru160.ID]); err != nil || !slices.Equal(got, ids) {
					t.Errorf("by %s: %v, %v, want %v", column, got, err, ids)
				}
			}
			var size int
			if err := conn.QueryRow(ctx, `SELECT max(length(id)) FROM events`).Scan(&size); err != nil || size != scru160.Size {
				t.Errorf("%d bytes, %v", size, err)
			}
		})
	}
}

// pgx pads the bytes of a sno.ID to a UUID, however the ID is passed. The CHECK of the schema refuses them.
func TestUUIDColumn(t *testing.T) {
	ctx, s := t.Context(), sno.MustParse("cufsekaqqudbobiw")
	conn, err := pgx.ConnectConfig(ctx, database.Postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(ctx)
	column := regexp.MustCompile(`(?s)uuid UUID UNIQUE.*\)`).FindString(SchemaBytes)
	if !strings.Contains(column, "CHECK") {
		t.Fatal(column)
	}
	type kind struct{}
	insert := func(table string, v any) error {
		_, err := conn.Exec(ctx, "INSERT INTO "+table+" VALUES ($1)", v)
		return err
	}
	for table, checked := range map[string]bool{"bare": false, "checked": true} {
		definition := "uuid UUID)"
		if checked {
			definition = column
		}
		if _, err := conn.Exec(ctx, "CREATE TEMPORARY TABLE "+table+" ("+definition); err != nil {
			t.Fatal(err)
		}
		_, copied := conn.CopyFrom(ctx, pgx.Identifier{table}, []string{"uuid"}, pgx.CopyFromRows([][]any{{sno.MustParse("cufsekaqqudbobi2")}}))
		_, listed := conn.Exec(ctx, "INSERT INTO "+table+" SELECT unnest($1::uuid[])", []sno.ID{sno.MustParse("cufsekaqqudbobi3")})
		binary, err := scru160.FromTime(sample.Time(1))
		if err != nil {
			t.Fatal(err)
		}
		for way, err := range map[string]error{
			"ID": insert(table, s), "sql.Null": insert(table, sql.Null[sno.ID]{V: sno.MustParse("cufsekaqqudbobi4"), Valid: true}),
			"pointer": insert(table, new(sno.MustParse("cufsekaqqudbobi5"))),
			"typed":   insert(table, typed.As[kind](sno.MustParse("cufsekaqqudbobi6"))), "CopyFrom": copied, "array": listed,
			"scru160.Binary": insert(table, binary.Binary()),
		} {
			if (err != nil) != checked {
				t.Errorf("%s: %s: %v", table, way, err)
			}
		}
		rows, err := conn.Query(ctx, "SELECT uuid FROM "+table)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := pgx.CollectRows(rows, pgx.RowTo[sno.UUID]); (err == nil) != checked || len(got) != 0 {
			t.Errorf("%s has %v, %v", table, got, err)
		}
		if err := insert(table, s.UUID()); err != nil {
			t.Errorf("%s: sno.UUID: %v", table, err)
		}
	}
	for _, id := range []sno.ID{sno.Zero(), sno.MustParse("23456789abcdefgh"), sno.MustParse("ijklmnopqrstuvwx"), sno.MustParse("xxxxxxxxxxxxxxxx")} {
		if err := insert("checked", pgtype.UUID{Bytes: id.UUID(), Valid: true}); err != nil {
			t.Errorf("the CHECK refuses %s: %v", id, err)
		}
	}
	for _, u := range []string{"00000000-0000-0000-0000-000000000000", "0190163d-8694-739b-aea5-966c26f8ad91", "32323232-3232-3232-3232-323232323279", "32323232-3232-3232-3232-323232323231", "32323232-3232-3232-3232-323232323260"} {
		if err := insert("checked", u); err == nil {
			t.Errorf("the CHECK lets %s pass", u)
		}
	}
}

// A column of another type is an error and never another ID.
func TestWrongColumn(t *testing.T) {
	ctx, db, id := t.Context(), database.PostgresDB(t), sample.IDs(t)[0]
	for _, column := range []string{`'0549x5l2itvr4'::text`, `'673740726894358528'::text`, `1.5::float8`, `now()`, `'\x00'::bytea`, `true`} {
		var got nanoflake.ID
		if err := db.QueryRowContext(ctx, `SELECT `+column).Scan(&got); err == nil {
			t.Errorf("%s reads as %v", column, got)
		}
	}
	if _, err := db.ExecContext(ctx, `CREATE TEMPORARY TABLE wrong (id INTEGER)`); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, `INSERT INTO wrong VALUES ($1)`, id); err == nil {
		t.Error("an INTEGER of 32 bits took an ID")
	}
	var text nanoflake.Text
	if err := db.QueryRowContext(ctx, `SELECT $1::text`, id.Text()).Scan(&text); err != nil || text.ID() != id {
		t.Errorf("a text reads as %v, %v, want %v", text, err, id)
	}
}

// A type that is defined by an ID has none of its methods: nothing checks its values.
func TestDefinedType(t *testing.T) {
	type OrderID nanoflake.ID
	ctx, db := t.Context(), database.PostgresDB(t)
	if _, err := db.ExecContext(ctx, Schema); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(ctx, `INSERT INTO orders (id, item) VALUES ($1, $2)`, OrderID(0), "forgotten"); err != nil {
		t.Errorf("a type without methods is refused: %v", err)
	}
}

// A scru160.ID in a column of bytes is 20 bytes only if pgx asks for the type of the column.
func TestBytes(t *testing.T) {
	id, err := scru160.FromTime(sample.Time(0))
	if err != nil {
		t.Fatal(err)
	}
	for mode, want := range map[pgx.QueryExecMode]int{pgx.QueryExecModeCacheStatement: 20, pgx.QueryExecModeExec: 32, pgx.QueryExecModeSimpleProtocol: 32} {
		ctx, config := t.Context(), database.Postgres(t)
		config.DefaultQueryExecMode = mode
		conn, err := pgx.ConnectConfig(ctx, config)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(ctx)
		if _, err := conn.Exec(ctx, SchemaBytes); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.Exec(ctx, `INSERT INTO events (id) VALUES ($1)`, id); err != nil {
			t.Fatal(err)
		}
		var size int
		if err := conn.QueryRow(ctx, `SELECT length(id) FROM events`).Scan(&size); err != nil || size != want {
			t.Errorf("%v: %d bytes, %v, want %d", mode, size, err, want)
		}
	}
}
