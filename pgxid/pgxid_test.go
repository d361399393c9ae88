package pgxid_test

import (
	"bytes"
	"database/sql"
	"database/sql/driver"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/pgxid"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/typed"
	"github.com/firn-id/firn/ulidflake"
)

const binary, text = pgtype.BinaryFormatCode, pgtype.TextFormatCode

var (
	id    = nanoflake.MustParse("0abcdefghijkl")
	long  = scru160.Max()
	short = sno.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
)

func registered() *pgtype.Map {
	m := pgtype.NewMap()
	pgxid.Register(m)
	return m
}

// each calls f for each type of the formats, with a value and a destination.
func each(f func(oid uint32, value, target any)) {
	f(pgtype.Int8OID, id, new(nanoflake.ID))
	f(pgtype.TextOID, id.Text(), new(nanoflake.Text))
	f(pgtype.Int8OID, ulidflake.Max, new(ulidflake.ID))
	f(pgtype.VarcharOID, ulidflake.ID(5).Text(), new(ulidflake.Text))
	f(pgtype.Int8OID, ulidflake.MaxScalable, new(ulidflake.ScalableID))
	f(pgtype.BPCharOID, ulidflake.ScalableID(5).Text(), new(ulidflake.ScalableText))
	f(pgtype.Int8OID, snowflakesi.Max, new(snowflakesi.ID))
	f(pgtype.TextOID, long, new(scru160.ID))
	f(pgtype.ByteaOID, long, new(scru160.ID))
	f(pgtype.ByteaOID, long.Binary(), new(scru160.Binary))
	f(pgtype.ByteaOID, short, new(sno.ID))
	f(pgtype.TextOID, short.Text(), new(sno.Text))
	f(pgtype.UUIDOID, short.UUID(), new(sno.UUID))
}

// Both formats of the protocol have the bytes that PostgreSQL documents, and are read back.
func TestBytes(t *testing.T) {
	m := registered()
	for _, v := range []struct {
		oid          uint32
		value        any
		binary, text string
	}{
		{pgtype.Int8OID, nanoflake.ID(0x0102030405060708), "\x01\x02\x03\x04\x05\x06\x07\x08", "72623859790382856"},
		{pgtype.TextOID, id.Text(), "0abcdefghijkl", "0abcdefghijkl"},
		{pgtype.ByteaOID, short, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a", `\x0102030405060708090a`},
		{pgtype.UUIDOID, short.UUID(), short.String(), short.UUID().String()},
		{pgtype.ByteaOID, long, strings.Repeat("\xff", 20), `\x` + strings.Repeat("ff", 20)},
	} {
		for format, want := range []string{v.text, v.binary} {
			got, err := m.Encode(v.oid, int16(format), v.value, []byte("before"))
			if err != nil || string(got) != "before"+want {
				t.Errorf("%T, format %d: %q, %v", v.value, format, got, err)
			}
		}
	}
	each(func(oid uint32, value, target any) {
		for _, format := range []int16{binary, text} {
			pointer := reflect.New(reflect.TypeOf(value))
			pointer.Elem().Set(reflect.ValueOf(value))
			want, err := m.Encode(oid, format, value, nil)
			if err != nil {
				t.Errorf("%T: %v", value, err)
				continue
			}
			if got, err := m.Encode(oid, format, pointer.Interface(), nil); err != nil || !bytes.Equal(got, want) {
				t.Errorf("a pointer to %T: %q, %v", value, got, err)
			}
			if err := m.Scan(oid, format, want, target); err != nil || reflect.ValueOf(target).Elem().Interface() != value {
				t.Errorf("%T: %v, %v", value, target, err)
			}
			// A bit less, and a bit more.
			before := reflect.ValueOf(target).Elem().Interface()
			for _, bad := range [][]byte{want[:len(want)-1], append(bytes.Clone(want), want...), {}} {
				if format == text && oid == pgtype.Int8OID && len(bad) > 0 && len(bad) < len(want) {
					continue // a shorter number
				}
				err := m.Scan(oid, format, bad, target)
				if _, forgiving := target.(*sno.ID); forgiving && len(bad) == 0 && format == binary {
					continue // the published API of sno reads no bytes as the zero ID
				}
				if err == nil {
					t.Errorf("%T, format %d: %q is read as %v", value, format, bad, target)
				}
				reflect.ValueOf(target).Elem().Set(reflect.ValueOf(before))
			}
			if _, err := m.Encode(oid, format, reflect.Zero(reflect.TypeOf(value)).Interface(), nil); !errors.Is(err, iderr.ErrNoID) {
				t.Errorf("the zero %T: %v", value, err)
			}
			if _, forgiving := target.(*sno.ID); !forgiving {
				if err := m.Scan(oid, format, nil, target); !errors.Is(err, iderr.ErrNoID) {
					t.Errorf("NULL into %T: %v", target, err)
				}
			}
		}
	})
}

// Values that only a conversion can make are refused.
func TestInvalid(t *testing.T) {
	m := registered()
	for _, format := range []int16{binary, text} {
		for oid, values := range map[uint32][]any{
			pgtype.Int8OID: {nanoflake.ID(-1), ulidflake.ID(-1), ulidflake.ScalableID(-1), snowflakesi.Max + 1},
			pgtype.TextOID: {nanoflake.ID(-1).Text()},
			pgtype.UUIDOID: {sno.UUID{1}},
		} {
			for _, v := range values {
				_, err := m.Encode(oid, format, v, nil)
				if _, ok := errors.AsType[*iderr.ParseError](err); !ok {
					t.Errorf("%#v: %v", v, err)
				}
			}
		}
	}
	for _, src := range []string{"\xff\xff\xff\xff\xff\xff\xff\xff", "1234567", "123456789"} {
		got := id
		if err := m.Scan(pgtype.Int8OID, binary, []byte(src), &got); err == nil || got != id {
			t.Errorf("%q is read as %v, %v", src, got, err)
		}
	}
	for _, src := range []string{"-1", "x", "9223372036854775808", "1.5", " 1"} {
		got := id
		if err := m.Scan(pgtype.Int8OID, text, []byte(src), &got); err == nil || got != id {
			t.Errorf("%q is read as %v, %v", src, got, err)
		}
	}
}

// No ID is on the heap.
func TestAllocations(t *testing.T) {
	m := registered()
	each(func(oid uint32, value, target any) {
		format := m.FormatCodeForOID(oid)
		src, err := m.Encode(oid, format, value, nil)
		if err != nil {
			t.Fatal(err)
		}
		plan := m.PlanScan(oid, format, target)
		if n := testing.AllocsPerRun(100, func() {
			if err := plan.Scan(src, target); err != nil {
				t.Fatal(err)
			}
		}); n > 0 {
			t.Errorf("a scan of a %T: %v allocations", value, n)
		}
		want := 0.0
		if _, ok := value.(sno.UUID); ok {
			want = 1 // as [16]byte in pgx
		}
		buf := make([]byte, 0, 64)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := m.Encode(oid, format, value, buf); err != nil {
				t.Fatal(err)
			}
		}); n > want {
			t.Errorf("encoding a %T: %v allocations", value, n)
		}
	})
}

// A refusal names the column, the type, and the type that fits.
func TestRefusals(t *testing.T) {
	m := registered()
	for _, v := range []struct {
		oid   uint32
		value any
		want  string
	}{
		{pgtype.TextOID, id, "nanoflake: a column of type text holds no nanoflake.ID: nanoflake.Text is the type for the column"},
		{pgtype.VarcharOID, ulidflake.ScalableID(5), "ulidflake-scalable: a column of type varchar holds no ulidflake.ScalableID: ulidflake.ScalableText is the type for the column"},
		{pgtype.Int8OID, id.Text(), "nanoflake: a column of type int8 holds no nanoflake.Text: nanoflake.ID is the type for the column"},
		{pgtype.UUIDOID, id, "nanoflake: a column of type uuid holds no nanoflake.ID: the columns of the format are bigint (for nanoflake.ID), text (for nanoflake.Text)"},
		{pgtype.TextOID, snowflakesi.ID(5), "snowflakesi: a column of type text holds no snowflakesi.ID: the columns of the format are bigint (for snowflakesi.ID)"},
		{pgtype.TextOID, long.Binary(), "scru160: a column of type text holds no scru160.Binary: scru160.ID is the type for the column"},
		{pgtype.TextOID, short, "sno: a column of type text holds no sno.ID: sno.Text is the type for the column"},
		{pgtype.UUIDOID, &short, "sno: a column of type uuid holds no sno.ID: sno.UUID is the type for the column"},
		{pgtype.ByteaOID, sql.Null[sno.UUID]{V: short.UUID(), Valid: true}, "sno: a column of type bytea holds no sno.UUID: sno.ID is the type for the column"},
		{pgtype.JSONBOID, id, "nanoflake: a column of type jsonb holds no nanoflake.ID: use json.RawMessage, with the JSON that json.Marshal writes"},
		{pgtype.Float8OID, id, "nanoflake: a column of type float8 holds no nanoflake.ID: the columns of the format are bigint (for nanoflake.ID), text (for nanoflake.Text)"},
		{pgtype.NumericOID, id, "nanoflake: a column of type numeric holds no nanoflake.ID: the columns of the format are bigint (for nanoflake.ID), text (for nanoflake.Text)"},
		{pgtype.NumericOID, snowflakesi.ID(5), "snowflakesi: a column of type numeric holds no snowflakesi.ID: the columns of the format are bigint (for snowflakesi.ID)"},
		{pgtype.NameOID, short, "sno: a column of type name holds no sno.ID: sno.Text is the type for the column"},
		{pgtype.XMLOID, long, "scru160: a column of type xml holds no scru160.ID: the columns of the format are text (for scru160.ID), bytea (for scru160.Binary)"},
	} {
		for _, format := range []int16{binary, text} {
			_, err := m.Encode(v.oid, format, v.value, nil)
			bad, ok := errors.AsType[*iderr.ParseError](err)
			if !ok || !errors.Is(err, iderr.ErrType) || bad.Error() != v.want {
				t.Errorf("%T: %v\nwant %s", v.value, err, v.want)
			}
		}
	}
	var got scru160.Binary
	if err := m.Scan(pgtype.TextOID, text, []byte(long.String()), &got); !errors.Is(err, iderr.ErrType) {
		t.Errorf("a text is read as %v, %v", got, err)
	}
	null := sql.Null[nanoflake.ID]{V: id, Valid: true}
	if err := m.Scan(pgtype.TextOID, text, []byte("1"), &null); !errors.Is(err, iderr.ErrType) || !null.Valid || null.V != id {
		t.Errorf("%v, %v", null, err)
	}
	if err := m.Scan(pgtype.Int8OID, text, nil, &null); err != nil || null.Valid || null.V != 0 {
		t.Errorf("NULL: %v, %v", null, err)
	}
}

// Ten or twenty characters, or digits, of a type that holds no ID or a text are not read as an ID.
// pgx alone reads each of them, as the bytes or the text of an ID.
func TestForeignCharacters(t *testing.T) {
	m, plain := registered(), pgtype.NewMap()
	for _, v := range []struct {
		oid    uint32
		format int16
		src    string
		target any
	}{
		{pgtype.NameOID, text, "abcdefghij", new(sno.ID)},
		{pgtype.NameOID, binary, "abcdefghij", new(sno.ID)},
		{pgtype.NameOID, text, "abcdefghijabcdefghij", new(scru160.ID)},
		{pgtype.NameOID, text, "abcdefghijabcdefghij", new(scru160.Binary)},
		{pgtype.UnknownOID, text, "abcdefghij", new(sno.ID)},
		{pgtype.XMLOID, text, "<abcdefg/>", new(sno.ID)},
		{pgtype.XMLOID, text, "<abcdefghijabcdefg/>", new(scru160.ID)},
		{pgtype.JSONPathOID, text, `"abcdefgh"`, new(sno.ID)},
		{pgtype.ACLItemOID, text, "a=r/abcdef", new(sno.ID)},
		{pgtype.NumericOID, text, "1234567890123", new(nanoflake.Text)},
		{pgtype.NumericOID, text, "1234567890123", new(ulidflake.Text)},
		{pgtype.BitOID, text, "1010101010101", new(nanoflake.Text)},
		{pgtype.VarbitOID, text, "1010101010101", new(ulidflake.ScalableText)},
		{pgtype.RecordOID, binary, "\x00\x00\x00\x01\x00\x00\x00\x14\x00\x00\x00\x08\x00\x00\x00\x00\x00\x00\x00\x05", new(scru160.ID)},
	} {
		if err := plain.Scan(v.oid, v.format, []byte(v.src), v.target); err != nil {
			t.Errorf("OID %d: pgx alone does not read %q into a %T: %v", v.oid, v.src, v.target, err)
		}
		reflect.ValueOf(v.target).Elem().SetZero()
		if err := m.Scan(v.oid, v.format, []byte(v.src), v.target); err == nil || !reflect.ValueOf(v.target).Elem().IsZero() {
			t.Errorf("OID %d: %q is read into a %T: %v, %v", v.oid, v.src, v.target, v.target, err)
		}
	}
	// A name holds texts.
	for _, format := range []int16{binary, text} {
		src, err := m.Encode(pgtype.NameOID, format, short.Text(), nil)
		if err != nil || string(src) != short.String() {
			t.Errorf("format %d: %q, %v", format, src, err)
		}
		var got sno.Text
		if err := m.Scan(pgtype.NameOID, format, src, &got); err != nil || got.ID() != short {
			t.Errorf("format %d: %v, %v", format, got, err)
		}
	}
}

// The error of an integer out of range has the decimal digits.
func TestIntegerErrors(t *testing.T) {
	m := registered()
	for _, v := range []struct {
		value  int64
		target any
	}{{-5, new(nanoflake.ID)}, {-6, new(ulidflake.ID)}, {-7, new(ulidflake.ScalableID)}, {int64(snowflakesi.Max) + 1, new(snowflakesi.ID)}} {
		src, err := m.Encode(pgtype.Int8OID, binary, v.value, nil)
		if err != nil {
			t.Fatal(err)
		}
		err = m.Scan(pgtype.Int8OID, binary, src, v.target)
		if bad, ok := errors.AsType[*iderr.ParseError](err); !ok || bad.Input != strconv.FormatInt(v.value, 10) || !errors.Is(err, iderr.ErrRange) {
			t.Errorf("%d into a %T: %v", v.value, v.target, err)
		}
	}
}

// A codec that a program has registered before keeps all values but IDs. Register twice is Register
// once.
func TestDelegates(t *testing.T) {
	m := pgtype.NewMap()
	m.RegisterType(&pgtype.Type{Name: "text", OID: pgtype.TextOID, Codec: shouting{pgtype.TextCodec{}}})
	for range 2 {
		pgxid.Register(m)
		got, err := m.Encode(pgtype.TextOID, text, "word", nil)
		if err != nil || string(got) != "word" { // pgx writes strings by itself in the format of text
			t.Errorf("%q, %v", got, err)
		}
		if got, err = m.Encode(pgtype.TextOID, binary, "word", nil); err != nil || string(got) != "WORD" {
			t.Errorf("%q, %v", got, err)
		}
		if got, err = m.Encode(pgtype.TextArrayOID, text, []nanoflake.Text{id.Text()}, nil); err != nil || string(got) != "{"+id.String()+"}" {
			t.Errorf("%q, %v", got, err)
		}
	}
	plain := pgtype.NewMap()
	for _, v := range []struct {
		oid   uint32
		value any
	}{
		{pgtype.Int8OID, int64(5)}, {pgtype.Int8OID, 7}, {pgtype.Int8OID, pgtype.Int8{Int64: 5, Valid: true}}, {pgtype.TextOID, "a"},
		{pgtype.ByteaOID, []byte{1}}, {pgtype.UUIDOID, [16]byte{5}}, {pgtype.Float8OID, 1.5}, {pgtype.JSONBOID, map[string]int{"a": 1}},
		{pgtype.Int8ArrayOID, []int64{1, 2}}, {pgtype.TextArrayOID, []string{"a", "b"}}, {0, []string{"a"}}, {0, int64(5)},
	} {
		for _, format := range []int16{binary, text} {
			want, errPlain := plain.Encode(v.oid, format, v.value, nil)
			got, err := m.Encode(v.oid, format, v.value, nil)
			if !bytes.EqualFold(got, want) || (err == nil) != (errPlain == nil) {
				t.Errorf("%T: %q, %v; want %q", v.value, got, err, want)
			}
		}
	}
}

// shouting is a codec of a program.
type shouting struct{ pgtype.TextCodec }

func (s shouting) PlanEncode(m *pgtype.Map, oid uint32, format int16, value any) pgtype.EncodePlan {
	if _, ok := value.(string); ok {
		return shoutingPlan{}
	}
	return s.TextCodec.PlanEncode(m, oid, format, value)
}

type shoutingPlan struct{}

func (shoutingPlan) Encode(value any, buf []byte) ([]byte, error) {
	return append(buf, strings.ToUpper(value.(string))...), nil
}

type (
	orderID struct{ nanoflake.ID }
	nothing struct{ nanoflake.ID }

	pointing   struct{ *nanoflake.ID }
	deep       struct{ pointing }
	interfaced struct {
		Interface
	}
	kindOfPointing struct{}
	own            nanoflake.ID
	asText         struct{ nanoflake.ID }
	traced         struct {
		*tracer
		nanoflake.ID
	}
	tracer struct{ Name string }
)

// Interface has the methods of IDs and of their pointers.
type Interface interface {
	pgxid.ID
	sql.Scanner
	encoding.BinaryUnmarshaler
	encoding.TextUnmarshaler
}

func (nothing) Stored() shape.Stored { return shape.Stored{} }

func (p pointing) Compare(q pointing) int { return p.ID.Compare(*q.ID) }

func (kindOfPointing) IDPrefix() string { return "p" }

// own has the methods of an ID, and embeds none.
func (o own) Value() (driver.Value, error)       { return nanoflake.ID(o).Value() }
func (o own) MarshalBinary() ([]byte, error)     { return nanoflake.ID(o).MarshalBinary() }
func (o own) MarshalText() ([]byte, error)       { return nanoflake.ID(o).MarshalText() }
func (o own) IsZero() bool                       { return o == 0 }
func (o own) Stored() pgxid.Stored               { return nanoflake.ID(o).Stored() }
func (o *own) Scan(src any) error                { return (*nanoflake.ID)(o).Scan(src) }
func (o *own) UnmarshalBinary(data []byte) error { return (*nanoflake.ID)(o).UnmarshalBinary(data) }
func (o *own) UnmarshalText(text []byte) error   { return (*nanoflake.ID)(o).UnmarshalText(text) }

// asText embeds an ID, and stores it in columns of text.
func (a asText) Value() (driver.Value, error) { return a.Text().Value() }
func (a asText) Stored() pgxid.Stored         { return a.Text().Stored() }

func (a *asText) Scan(src any) error {
	var read nanoflake.Text
	err := read.Scan(src)
	a.ID = read.ID()
	return err
}

// RegisterType refuses types without an ID, and keeps the types of earlier calls.
func TestRegisterType(t *testing.T) {
	m := pgtype.NewMap()
	if err := pgxid.RegisterType[nothing](m); !errors.Is(err, iderr.ErrType) || !strings.Contains(err.Error(), "pgxid_test.nothing has no ID of a format") {
		t.Error(err)
	}
	for want, err := range map[string]error{
		"embedded *nanoflake.ID that is nil":         pgxid.RegisterType[pointing](m),
		"pgxid_test.deep has an embedded *nanoflake": pgxid.RegisterType[deep](m),
		"embedded pgxid_test.Interface that is nil":  pgxid.RegisterType[interfaced](m),
		"embed an ID, and no pointer or interface":   pgxid.RegisterType[typed.ID[pointing, kindOfPointing]](m),
	} {
		if _, ok := errors.AsType[*iderr.ParseError](err); !ok || !errors.Is(err, iderr.ErrType) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if err := pgxid.RegisterType[traced](m); err != nil {
		t.Errorf("an embedded pointer to another type: %v", err)
	}
	if err := errors.Join(pgxid.RegisterType[orderID](m), pgxid.RegisterType[nanoflake.Text](m), pgxid.RegisterType[own](m), pgxid.RegisterType[asText](m)); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Encode(0, text, own(5), nil); err != nil || string(got) != "5" {
		t.Errorf("a type with methods of its own: %q, %v", got, err)
	}
	if got, err := m.Encode(0, text, asText{5}, nil); err != nil || string(got) != "0000000000005" {
		t.Errorf("an ID in a column of text: %q, %v", got, err)
	}
	pgxid.Register(m)
	if got, err := m.Encode(0, text, []orderID{{5}}, nil); err != nil || string(got) != "{5}" {
		t.Errorf("%q, %v", got, err)
	}
	var order orderID
	if err := m.Scan(pgtype.Int8OID, binary, []byte{0, 0, 0, 0, 0, 0, 0, 5}, &order); err != nil || order.ID != 5 {
		t.Errorf("%v, %v", order, err)
	}
	if _, err := m.Encode(pgtype.TextOID, text, orderID{5}, nil); !errors.Is(err, iderr.ErrType) {
		t.Errorf("a later Register forgets the type: %v", err)
	}
}

// Array writes the text of an array.
func TestArray(t *testing.T) {
	for want, v := range map[string]driver.Valuer{
		`{}`:                                pgxid.Array[nanoflake.ID](nil),
		`{1,2}`:                             pgxid.Array([]nanoflake.ID{1, 2}),
		`{"0abcdefghijkl"}`:                 pgxid.Array([]nanoflake.Text{id.Text()}),
		`{"\\x0102030405060708090a"}`:       pgxid.Array([]sno.ID{short}),
		`{NULL,1}`:                          pgxid.Array([]sql.Null[nanoflake.ID]{{}, {V: 1, Valid: true}}),
		`{NULL}`:                            pgxid.Array([]*nanoflake.ID{nil}),
		`{NULL,2,NULL}`:                     pgxid.Array([]driver.Valuer{nil, nanoflake.ID(2), (*nanoflake.ID)(nil)}),
		`{"a\\b\"c","NULL",""}`:             pgxid.Array([]word{`a\b"c`, "NULL", ""}),
		`{"` + short.UUID().String() + `"}`: pgxid.Array([]sno.UUID{short.UUID()}),
	} {
		testkit.Call(v.Value()).Gives(t, want)
	}
	for _, a := range []driver.Valuer{pgxid.Array([]nanoflake.ID{1, 0}), pgxid.Array([]sno.ID{short, {}}), pgxid.Array([]*sno.ID{nil, {}}), pgxid.Array([]sno.UUID{short.UUID(), {}})} {
		v, err := a.Value()
		if list, ok := errors.AsType[*iderr.ListError](err); !ok || list.Index != 1 || !errors.Is(err, iderr.ErrNoID) || v == nil {
			t.Errorf("the zero ID: %v, %v", v, err)
		}
	}
	if _, err := pgxid.Array([]float{1.5}).Value(); !errors.Is(err, iderr.ErrType) || !strings.Contains(err.Error(), "a value of type float64 holds no ID") {
		t.Errorf("a float: %v", err)
	}
	for name, m := range map[string]*pgtype.Map{"pgx": pgtype.NewMap(), "pgxid": registered()} {
		got, err := m.Encode(pgtype.Int8ArrayOID, text, pgxid.Array([]driver.Valuer{nil, nanoflake.ID(2)}), nil)
		if err != nil || string(got) != "{NULL,2}" {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}

type (
	word  string
	float float64
)

func (w word) Value() (driver.Value, error)  { return string(w), nil }
func (f float) Value() (driver.Value, error) { return float64(f), nil }

// Register gives the map of a connection the types of IDs.
func ExampleRegister() {
	m := pgtype.NewMap() // in a program: the TypeMap of a connection
	pgxid.Register(m)

	_, err := m.Encode(pgtype.TextOID, pgtype.TextFormatCode, nanoflake.ID(1), nil)
	fmt.Println(errors.Is(err, iderr.ErrType))
	ids, err := m.Encode(0, pgtype.TextFormatCode, []nanoflake.ID{1, 2}, nil) // as in the mode exec
	fmt.Println(string(ids), err)
	// Output:
	// true
	// {1,2} <nil>
}

func ExampleRegisterType() {
	type OrderKind struct{}
	type OrderID = typed.ID[nanoflake.ID, OrderKind]

	m := pgtype.NewMap() // in a program: the TypeMap of a connection
	if err := pgxid.RegisterType[OrderID](m); err != nil {
		fmt.Println(err)
		return
	}
	order := typed.As[OrderKind](nanoflake.ID(1))
	_, err := m.Encode(pgtype.Int8OID, pgtype.BinaryFormatCode, order, nil)
	fmt.Println(err)
	// Output: <nil>
}

func ExampleArray() {
	ids := []scru160.Binary{scru160.Max().Binary()}
	v, err := pgxid.Array(ids).Value() // db.Query("select … where id = any($1)", pgxid.Array(ids))
	fmt.Println(v, err)
	// Output: {"\\xffffffffffffffffffffffffffffffffffffffff"} <nil>
}
