package pgxtest

import (
	"errors"
	"reflect"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/pgxid"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
)

// No mode reads characters or digits of a foreign type as an ID. pgx alone reads most of these values.
func TestForeignValues(t *testing.T) {
	s := open(t)
	plain, conn := s.connect(t, nil), s.connect(t, registered)
	// pgx does not know the OIDs of enums and of types of extensions.
	exec(t, plain, "create type label as enum ('1234567890123', '"+nano.String()+"')")
	for _, v := range []struct {
		query string
		dst   any
		plain bool   // pgx alone reads the value
		want  string // in the error
	}{
		{`select '"abcdefgh"'::jsonb`, new(sno.ID), true, "jsonb"},
		{`select 'abcdefghij'::text`, new(sno.ID), true, ""},
		{`select 'abcdefghij'::name`, new(sno.ID), true, ""},
		{`select '<abcdefg/>'::xml`, new(sno.ID), true, ""},
		{`select '"abcdefgh"'::jsonpath`, new(sno.ID), true, ""},
		{`select 'abcdefghijabcdefghij'::name`, new(scru160.ID), true, ""},
		{`select '<abcdefghijabcdefg/>'::xml`, new(scru160.ID), true, ""},
		{`select '"abcdefghijklmnopqr"'::jsonb`, new(*scru160.ID), true, "jsonb"},
		{`select row(5::bigint)`, new(scru160.ID), false, "type record"}, // 20 bytes
		{`select 1234567890123::numeric`, new(nanoflake.Text), true, "a column of type numeric holds no nanoflake.Text"},
		{`select b'1010101010101'`, new(nanoflake.Text), false, "type bit"}, // 13 digits
		{`select 5::numeric`, new(nanoflake.ID), false, ""},
		{`select 5::numeric`, new(snowflakesi.ID), false, ""},
		{`select array[5::numeric]`, new([]snowflakesi.ID), false, ""},
		{`select '0abcdefghijkl'::text`, new(nanoflake.ID), false, "holds no nanoflake.ID"},
		{`select '1234567890123'::label`, new(nanoflake.ID), false, ""},
		{`select array['1234567890123'::label]`, new([]nanoflake.ID), false, ""},
	} {
		for _, mode := range modes {
			value := reflect.ValueOf(v.dst).Elem()
			value.SetZero()
			if err := plain.QueryRow(t.Context(), v.query, mode).Scan(v.dst); v.plain && (err != nil || value.IsZero()) {
				t.Errorf("%v: without Register, %s is %v, %v", mode, v.query, value, err)
			}
			value.SetZero()
			err := conn.QueryRow(t.Context(), v.query, mode).Scan(v.dst)
			if err == nil || v.want != "" && !is(err, iderr.ErrType, v.want) {
				t.Errorf("%v: %s into a %T: %v, %v", mode, v.query, v.dst, value, err)
			}
		}
	}
	// database/sql hands the values of other types to Scan.
	db := s.sql(t, registered)
	for _, v := range []struct {
		query string
		dst   any
		read  bool
	}{
		{`select 1234567890123::numeric`, new(nanoflake.Text), true},
		{`select '"abcdefgh"'::jsonb`, new(sno.ID), true},
		{`select '<abcdefg/>'::xml`, new(sno.ID), true},
		{`select 'abcdefghij'::name`, new(sno.ID), false},
	} {
		if err := db.QueryRowContext(t.Context(), v.query).Scan(v.dst); (err == nil) != v.read || v.read && reflect.ValueOf(v.dst).Elem().IsZero() {
			t.Errorf("%s in database/sql: %v, %v", v.query, v.dst, err)
		}
	}
}

// Register leaves NULL, values without an ID, and texts of IDs readable.
func TestReads(t *testing.T) {
	s := open(t)
	conn, plain := s.connect(t, registered), s.connect(t, nil)
	exec(t, plain, "create type label as enum ('"+nano.String()+"')")
	type document struct{ ID nanoflake.ID }
	for _, mode := range modes {
		for _, v := range []struct {
			query string
			want  any
		}{
			{"select '123'::text", snowflakesi.ID(123)},
			{"select '" + short.String() + "'::text", short},
			{"select '" + nano.String() + "'::label", nano.Text()},
			{"select '" + nano.String() + "'::char(20)", nano.Text()},
			{"select null::bytea", sno.ID{}}, {"select null::jsonb", sno.ID{}},
			{"select null::jsonb", (*nanoflake.ID)(nil)},
			{"select null::float8", (*nanoflake.ID)(nil)},
			{"select 1.5::float8", 1.5},
			{`select '{"ID": "` + nano.String() + `"}'::jsonb`, document{nano}},
		} {
			got := reflect.New(reflect.TypeOf(v.want))
			if err := conn.QueryRow(t.Context(), v.query, mode).Scan(got.Interface()); err != nil || got.Elem().Interface() != v.want {
				t.Errorf("%v: %s: %v, %v", mode, v.query, got.Elem(), err)
			}
		}
		if got, err := one[nanoflake.Text](t.Context(), plain, "select $1::char(20)", mode, nano.Text()); !errors.Is(err, iderr.ErrLength) {
			t.Errorf("%v: char without Register: %v, %v", mode, got, err)
		}
		if ok, err := one[bool](t.Context(), conn, "select $1::jsonb->>'ID' = $2", mode, document{nano}, nano.String()); asks(mode) && (err != nil || !ok) {
			t.Errorf("%v: a document: %t, %v", mode, ok, err)
		}
	}
}

// Map.Copy forgets slices.
func TestMapCopy(t *testing.T) {
	whole := pgtype.NewMap()
	pgxid.Register(whole)
	m := whole.Copy()
	if _, err := m.Encode(0, pgtype.TextFormatCode, []nanoflake.ID{nano}, nil); err == nil {
		t.Error("Map.Copy copies the types of slices")
	}
	pgxid.Register(m)
	if _, err := m.Encode(0, pgtype.TextFormatCode, []nanoflake.ID{nano}, nil); err != nil {
		t.Error(err)
	}
}

// 13 digits are a text and an integer: in the modes without types of parameters, and for texts also without
// Register. The type of the column reads another ID than the type of the writer.
func TestDigitsInTheOtherColumn(t *testing.T) {
	s := open(t)
	number := nanoflake.ID(1234567890123)
	word := nanoflake.MustParse("1234567890123").Text()
	for _, with := range []bool{false, true} {
		conn := s.connect(t, map[bool]func(*pgx.Conn){true: registered}[with])
		exec(t, conn, "drop table if exists digits")
		exec(t, conn, "create table digits (n bigint, s text)")
		for _, mode := range modes {
			for _, v := range []struct {
				column     string
				write, dst any
				stored     bool
				want       any
			}{{"s", number, new(nanoflake.Text), !asks(mode), word}, {"n", word, new(nanoflake.ID), !asks(mode) || !with, number}} {
				_, err := conn.Exec(t.Context(), "insert into digits ("+v.column+") values ($1)", mode, v.write)
				if (err == nil) != v.stored {
					t.Errorf("Register %t, %v: %T in %s: %v", with, mode, v.write, v.column, err)
				} else if v.stored {
					err := conn.QueryRow(t.Context(), "select "+v.column+" from digits", mode).Scan(v.dst)
					if got := reflect.ValueOf(v.dst).Elem().Interface(); err != nil || got != v.want {
						t.Errorf("Register %t, %v: %T in %s is read as %v, %v", with, mode, v.write, v.column, got, err)
					}
				}
				exec(t, conn, "delete from digits")
			}
		}
	}
}
