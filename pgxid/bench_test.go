package pgxid_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/pgxid"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
)

// A subject of the benchmarks is a value, a destination, and the column.
type subject struct {
	name   string
	oid    uint32
	format int16
	value  any
	target any
}

func subjects() []subject {
	id := nanoflake.ID(0x0123456789abcdef)
	long := scru160.Max()
	short := sno.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	number, bytes := int64(id), long.Bytes()
	word := id.String()
	return []subject{
		{"int64", pgtype.Int8OID, binary, number, new(int64)},
		{"int64 with Int64Value", pgtype.Int8OID, binary, valuer(id), new(valuer)},
		{"nanoflake.ID", pgtype.Int8OID, binary, id, new(nanoflake.ID)},
		{"string", pgtype.TextOID, text, word, new(string)},
		{"nanoflake.Text", pgtype.TextOID, text, id.Text(), new(nanoflake.Text)},
		{"scru160.ID in text", pgtype.TextOID, text, long, new(scru160.ID)},
		{"[]byte", pgtype.ByteaOID, binary, bytes, new([]byte)},
		{"[20]byte with BytesValue", pgtype.ByteaOID, binary, array20(long), new(array20)},
		{"scru160.Binary", pgtype.ByteaOID, binary, long.Binary(), new(scru160.Binary)},
		{"scru160.ID in bytea", pgtype.ByteaOID, binary, long, new(scru160.ID)},
		{"sno.ID", pgtype.ByteaOID, binary, short, new(sno.ID)},
		{"[16]byte", pgtype.UUIDOID, binary, [16]byte(short.UUID()), new([16]byte)},
		{"sno.UUID", pgtype.UUIDOID, binary, short.UUID(), new(sno.UUID)},
	}
}

// A valuer has the methods of package pgtype for integers, as a type can have that imports pgtype.
type valuer int64

func (v valuer) Int64Value() (pgtype.Int8, error) {
	return pgtype.Int8{Int64: int64(v), Valid: true}, nil
}

func (v *valuer) ScanInt64(n pgtype.Int8) error {
	*v = valuer(n.Int64)
	return nil
}

// An array20 has the methods of package pgtype for bytes.
type array20 [20]byte

func (a array20) BytesValue() ([]byte, error) { return a[:], nil }

func (a *array20) ScanBytes(b []byte) error {
	if len(b) != len(a) {
		return errors.New("wrong length")
	}
	*a = array20(b)
	return nil
}

// both runs a benchmark with the map of pgx, and with a map that knows the IDs.
func both(b *testing.B, run func(*testing.B, *pgtype.Map, subject)) {
	for _, s := range subjects() {
		plain, registered := pgtype.NewMap(), pgtype.NewMap()
		pgxid.Register(registered)
		b.Run(fmt.Sprintf("%s/pgx", s.name), func(b *testing.B) { run(b, plain, s) })
		b.Run(fmt.Sprintf("%s/pgxid", s.name), func(b *testing.B) { run(b, registered, s) })
	}
}

func BenchmarkEncode(b *testing.B) {
	both(b, func(b *testing.B, m *pgtype.Map, s subject) {
		buf := make([]byte, 0, 64)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := m.Encode(s.oid, s.format, s.value, buf); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkScan reads a value by a plan, as rows of pgx do.
func BenchmarkScan(b *testing.B) {
	both(b, func(b *testing.B, m *pgtype.Map, s subject) {
		src, err := m.Encode(s.oid, s.format, s.value, nil)
		if err != nil {
			b.Fatal(err)
		}
		plan := m.PlanScan(s.oid, s.format, s.target)
		b.ReportAllocs()
		for b.Loop() {
			if err := plan.Scan(src, s.target); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkPlan makes the plan of a scan, as a query does for each column.
func BenchmarkPlan(b *testing.B) {
	both(b, func(b *testing.B, m *pgtype.Map, s subject) {
		b.ReportAllocs()
		for b.Loop() {
			m.PlanScan(s.oid, s.format, s.target)
		}
	})
}

// BenchmarkRegister is the work for a new connection.
func BenchmarkRegister(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		pgxid.Register(pgtype.NewMap())
	}
}
