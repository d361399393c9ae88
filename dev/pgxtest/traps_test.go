package pgxtest

import (
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/pgxid"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
)

// The traps of docs/pgx.md.
func TestTraps(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	plain, conn := s.connect(t, nil), s.connect(t, registered)
	for _, mode := range modes {
		// char(n) pads.
		word := nano.Text()
		if got, err := one[nanoflake.Text](ctx, conn, "select $1::char(20)", mode, word); err != nil || got != word {
			t.Errorf("%v: char: %v, %v", mode, got, err)
		}
		if got, err := one[nanoflake.Text](ctx, plain, "select $1::char(20)", mode, word); !errors.Is(err, iderr.ErrLength) {
			t.Errorf("%v: char without Register: %v, %v", mode, got, err)
		}
		// numeric is refused with Register. Without, 13 digits are the text of another ID.
		if got, err := one[string](ctx, conn, "select $1::numeric::text", mode, nano); asks(mode) && !is(err, iderr.ErrType, "a column of type numeric holds no nanoflake.ID") || !asks(mode) && (err != nil || got != nano.Decimal()) {
			t.Errorf("%v: numeric: %s, %v", mode, got, err)
		}
		for _, query := range []string{"select 5::numeric", "select array[5::numeric]"} {
			for _, dst := range []any{new(nanoflake.ID), new(snowflakesi.ID), new([]snowflakesi.ID)} {
				if err := conn.QueryRow(ctx, query, mode).Scan(dst); err == nil {
					t.Errorf("%v: %s is read into a %T", mode, query, dst)
				}
			}
		}
		if got, err := one[snowflakesi.ID](ctx, conn, "select 5::numeric::bigint", mode); err != nil || got != 5 {
			t.Errorf("%v: numeric as bigint: %v, %v", mode, got, err)
		}
		if got, err := one[nanoflake.Text](ctx, conn, "select 1234567890123::numeric", mode); !is(err, iderr.ErrType, "a column of type numeric holds no nanoflake.Text") {
			t.Errorf("%v: numeric is read as %v, %v", mode, got, err)
		}
		if got, err := one[nanoflake.Text](ctx, plain, "select 1234567890123::numeric", mode); err != nil || got.ID() == 1234567890123 {
			t.Errorf("%v: numeric without Register is read as %v, %v", mode, got, err)
		}
		// One ID in a document.
		document := map[string]any{"id": nano}
		if ok, err := one[bool](ctx, conn, "select $1::jsonb->>'id' = $2", mode, document, nano.String()); asks(mode) && (err != nil || !ok) {
			t.Errorf("%v: a document: %t, %v", mode, ok, err)
		}
		// An inclusive upper bound comes back exclusive.
		closed := pgtype.Range[nanoflake.ID]{Lower: 5, Upper: 7, LowerType: pgtype.Inclusive, UpperType: pgtype.Inclusive, Valid: true}
		got, err := one[pgtype.Range[nanoflake.ID]](ctx, conn, "select $1::int8range", mode, closed)
		if err != nil || got.Upper != 8 || got.UpperType != pgtype.Exclusive || got.Lower != 5 {
			t.Errorf("%v: %v, %v", mode, got, err)
		}
	}
	// COPY has the text of the error.
	exec(t, conn, "create table copied (id bigint)")
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"copied"}, []string{"id"}, pgx.CopyFromRows([][]any{{nanoflake.ID(0)}}))
	if _, ok := errors.AsType[*pgconn.PgError](err); !ok || errors.Is(err, iderr.ErrNoID) || !strings.Contains(err.Error(), "the zero ID means") {
		t.Errorf("COPY: %v", err)
	}
	// Map.Copy forgets slices.
	m := conn.TypeMap().Copy()
	if _, err := m.Encode(0, pgtype.TextFormatCode, []nanoflake.ID{nano}, nil); err == nil {
		t.Error("Map.Copy copies the types of slices")
	}
	pgxid.Register(m)
	if _, err := m.Encode(0, pgtype.TextFormatCode, []nanoflake.ID{nano}, nil); err != nil {
		t.Error(err)
	}
	// A nil slice is NULL, and no IDs of Array are an empty array.
	for want, v := range map[int]any{0: []nanoflake.ID(nil), 1: pgxid.Array([]nanoflake.ID(nil))} {
		if n, err := one[int](ctx, conn, "select count(*) from (values (1::bigint)) v (id) where id <> all($1)", v); err != nil || n != want {
			t.Errorf("%T: %d rows, %v", v, n, err)
		}
	}
	// Without Register, a sql.Null[scru160.ID] is written as text.
	if n, err := one[int](ctx, plain, "select length($1::bytea)", sql.Null[scru160.ID]{V: scru, Valid: true}); err != nil || n != 32 {
		t.Errorf("sql.Null without Register: %d bytes, %v", n, err)
	}
	if n, err := one[int](ctx, conn, "select length($1::bytea)", sql.Null[scru160.ID]{V: scru, Valid: true}); err != nil || n != 20 {
		t.Errorf("sql.Null: %d bytes, %v", n, err)
	}
	// Without Register, a sno.ID in a uuid is padded, and characters are read as bytes.
	if got, err := one[string](ctx, plain, "select $1::uuid::text", short); err != nil || got != "61626364-6566-6768-696a-000000000000" {
		t.Errorf("uuid without Register: %s, %v", got, err)
	}
	for _, mode := range modes {
		for _, query := range []string{`select '"abcdefgh"'::jsonb`, `select 'abcdefghij'::text`, `select 'abcdefghij'::name`, `select '<abcdefg/>'::xml`, `select '"abcdefgh"'::jsonpath`} {
			if got, err := one[sno.ID](ctx, plain, query, mode); err != nil || got.IsZero() {
				t.Errorf("%v: %s without Register: %v, %v", mode, query, got, err)
			}
			if got, err := one[sno.ID](ctx, conn, query, mode); err == nil {
				t.Errorf("%v: %s: %v", mode, query, got)
			}
		}
		for _, query := range []string{`select 'abcdefghijabcdefghij'::name`, `select '<abcdefghijabcdefg/>'::xml`} {
			if got, err := one[scru160.ID](ctx, plain, query, mode); err != nil || got.IsZero() {
				t.Errorf("%v: %s without Register: %v, %v", mode, query, got, err)
			}
			if got, err := one[scru160.ID](ctx, conn, query, mode); err == nil {
				t.Errorf("%v: %s: %v", mode, query, got)
			}
		}
	}
	// A record with a bigint has 20 bytes, and a bit(13) has 13 digits in the format of text.
	if got, err := one[scru160.ID](ctx, plain, "select row(5::bigint)"); err != nil || got.IsZero() {
		t.Errorf("a record without Register: %v, %v", got, err)
	}
	if got, err := one[scru160.ID](ctx, conn, "select row(5::bigint)"); !is(err, iderr.ErrType, "type record") {
		t.Errorf("a record: %v, %v", got, err)
	}
	for _, mode := range modes {
		if got, err := one[nanoflake.Text](ctx, conn, "select b'1010101010101'", mode); !is(err, iderr.ErrType, "type bit") {
			t.Errorf("%v: bit(13): %v, %v", mode, got, err)
		}
	}
	// database/sql hands the values of other types to Scan.
	db := s.sql(t, registered)
	var word nanoflake.Text
	if err := db.QueryRowContext(ctx, "select 1234567890123::numeric").Scan(&word); err != nil || word.ID() == 1234567890123 {
		t.Errorf("numeric in database/sql: %v, %v", word, err)
	}
	var raw sno.ID
	for _, query := range []string{`select '"abcdefgh"'::jsonb`, `select '<abcdefg/>'::xml`} {
		raw = sno.ID{}
		if err := db.QueryRowContext(ctx, query).Scan(&raw); err != nil || raw.IsZero() {
			t.Errorf("%s in database/sql: %v, %v", query, raw, err)
		}
	}
	if err := db.QueryRowContext(ctx, `select 'abcdefghij'::name`).Scan(&raw); err == nil {
		t.Errorf("name in database/sql: %v", raw)
	}
}

// 13 digits are a text and an integer: in the modes that do not ask, and for texts also without
// Register. The type of the column reads another ID than the type that wrote the digits.
func TestDigitsInTheOtherColumn(t *testing.T) {
	s := open(t)
	ctx := t.Context()
	number := nanoflake.ID(1234567890123)
	word := nanoflake.MustParse("1234567890123").Text()
	for _, with := range []bool{false, true} {
		conn := s.connect(t, map[bool]func(*pgx.Conn){true: registered}[with])
		exec(t, conn, "drop table if exists digits")
		exec(t, conn, "create table digits (n bigint, s text)")
		for _, mode := range modes {
			_, err := conn.Exec(ctx, "insert into digits (s) values ($1)", mode, number)
			if stored := !asks(mode); (err == nil) != stored {
				t.Errorf("Register %t, %v: an integer in a text: %v", with, mode, err)
			} else if stored {
				if got, err := one[nanoflake.Text](ctx, conn, "select s from digits", mode); err != nil || got != word {
					t.Errorf("Register %t, %v: an integer in a text is read as %v, %v", with, mode, got, err)
				}
			}
			exec(t, conn, "delete from digits")
			_, err = conn.Exec(ctx, "insert into digits (n) values ($1)", mode, word)
			if stored := !asks(mode) || !with; (err == nil) != stored {
				t.Errorf("Register %t, %v: a text in an integer: %v", with, mode, err)
			} else if stored {
				if got, err := one[nanoflake.ID](ctx, conn, "select n from digits", mode); err != nil || got != number {
					t.Errorf("Register %t, %v: a text in an integer is read as %v, %v", with, mode, got, err)
				}
			}
			exec(t, conn, "delete from digits")
		}
	}
}
