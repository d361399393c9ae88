package cell

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/typed"
	"github.com/firn-id/firn/ulidflake"
)

// columnOf returns the column of a Go type.
func columnOf(stored shape.Stored) Column {
	f := stored.Format
	switch stored.Column.Type {
	case shape.Bigint:
		return Column{Postgres: "BIGINT", MariaDB: "BIGINT", SQLite: "INTEGER"}
	case shape.Varchar:
		v := fmt.Sprintf("(%d)", f.Text.Most)
		return Column{Postgres: "VARCHAR" + v + ` COLLATE "C"`, MariaDB: "VARCHAR" + v + " CHARACTER SET ascii COLLATE ascii_bin", SQLite: "TEXT"}
	case shape.Bytea:
		return Column{Postgres: "BYTEA", MariaDB: fmt.Sprintf("BINARY(%d)", f.Size), SQLite: "BLOB", Bytes: f.Size}
	}
	return Column{Postgres: "UUID", MariaDB: "UUID", SQLite: "TEXT"}
}

// newKind returns the kind of a Go type, without FromInt64 and Zeros.
func newKind[T interface {
	ID
	Stored() shape.Stored
}](ids []T, absent T, show func(T) string) Kind[T] {
	stored := absent.Stored()
	return Kind[T]{Type: stored.Column.GoType, Column: columnOf(stored), IDs: ids, Absent: absent, Show: show}
}

// hostile are bytes that a driver could take for the syntax of SQL or of a text: quotes, backslashes,
// zeros, bytes that are not UTF-8. Some columns cut off or pad spaces and zeros at the end.
var hostile = []string{
	"'; DROP TABLE rows;--", `''""\\''""\\''""\\''""`, `\x00\x00\x00\x00\x00\x00`, "$1 ? ?? :id @p1 $2 $",
	"\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\x06\x00\x07\x00\x08\x00\x09\x00\x0a", "\xff\xfe\xc3\x28\xa0\xa1\xe2\x28\xa1\xf0\x28\x8c\x28\xff\xfe\xc0\xaf\xed\xa0\x80",
	"12345678901234567890", "                    ", "x\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
	"\r\n\t\x1a\b%_\r\n\t\x1a\b%_\r\n\t\x1a\b%", "nullnullnullnullnull",
}

const randoms = 6

// integers returns the smallest values, the largest values, random values, and the given values.
func integers[T ~int64](largest T, more ...T) []T {
	r := rand.New(rand.NewPCG(20, 26))
	ids := append([]T{1, 2, largest - 1, largest}, more...)
	for range randoms {
		ids = append(ids, T(r.Uint64()&uint64(largest)))
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// octetsOf returns the smallest value, the largest value, random values, hostile values, and the given
// values.
func octetsOf[T any](n int, from func([]byte) (T, error), more ...T) []T {
	r := rand.New(rand.NewPCG(20, 26))
	values := []string{string(append(make([]byte, n-1), 1)), string(slices.Repeat([]byte{255}, n))}
	for _, s := range hostile {
		values = append(values, s[:n])
	}
	for range randoms {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(r.Uint32())
		}
		values = append(values, string(b))
	}
	ids := more
	for _, v := range values {
		id, err := from([]byte(v))
		if err != nil {
			panic(err)
		}
		ids = append(ids, id)
	}
	return ids
}

func each[T, U any](values []T, f func(T) U) []U {
	var out []U
	for _, v := range values {
		out = append(out, f(v))
	}
	return out
}

// decimals are texts of IDs, and decimal forms of other IDs.
var decimals = []string{"1234567890123", "0000000000007", "1000000000000", "0000001234567"}

// number returns the kind of a type of integers.
func number[T interface {
	ID
	~int64
	Stored() shape.Stored
}](ids []T, from func(int64) (T, error)) Kind[T] {
	k := newKind(ids, 3, func(id T) string { return strconv.FormatInt(int64(id), 10) })
	k.FromInt64 = from
	return k
}

// Nanoflake returns the kind of [nanoflake.ID].
func Nanoflake() Kind[nanoflake.ID] {
	return number(integers(nanoflake.Max, append(each(decimals, nanoflake.MustParse), 1234567890123)...), nanoflake.FromInt64)
}

// NanoflakeText returns the kind of [nanoflake.Text].
func NanoflakeText() Kind[nanoflake.Text] {
	as := nanoflake.ID.Text
	return newKind(each(Nanoflake().IDs, as), as(3), nanoflake.Text.String)
}

// Ulidflake returns the kind of [ulidflake.ID].
func Ulidflake() Kind[ulidflake.ID] {
	return number(integers(ulidflake.Max, append(each(decimals, ulidflake.MustParse), 1234567890123)...), ulidflake.FromInt64)
}

// UlidflakeText returns the kind of [ulidflake.Text].
func UlidflakeText() Kind[ulidflake.Text] {
	as := ulidflake.ID.Text
	return newKind(each(Ulidflake().IDs, as), as(3), ulidflake.Text.String)
}

// Scalable returns the kind of [ulidflake.ScalableID].
func Scalable() Kind[ulidflake.ScalableID] {
	return number(integers(ulidflake.MaxScalable, append(each(decimals, ulidflake.MustParseScalable), 1234567890123)...), ulidflake.ScalableFromInt64)
}

// ScalableText returns the kind of [ulidflake.ScalableText].
func ScalableText() Kind[ulidflake.ScalableText] {
	as := ulidflake.ScalableID.Text
	return newKind(each(Scalable().IDs, as), as(3), ulidflake.ScalableText.String)
}

// Snowflake returns the kind of [snowflakesi.ID].
func Snowflake() Kind[snowflakesi.ID] {
	return number(integers(snowflakesi.Max, 1234567890123, 12345678), snowflakesi.FromInt64)
}

// SCRU160 returns the kind of [scru160.ID].
func SCRU160() Kind[scru160.ID] {
	ids := octetsOf(scru160.Size, scru160.FromBytes, scru160.MustParse("12345678901234567890123456789012"))
	slices.SortFunc(ids, scru160.ID.Compare)
	return newKind(ids, scru160.MustParse("00000000000000000000000000000003"), scru160.ID.String)
}

// SCRU160Binary returns the kind of [scru160.Binary].
func SCRU160Binary() Kind[scru160.Binary] {
	as, k := scru160.ID.Binary, SCRU160()
	return newKind(each(k.IDs, as), as(k.Absent), func(id scru160.Binary) string { return hex.EncodeToString(id.Bytes()) })
}

// Sno returns the kind of [sno.ID].
func Sno() Kind[sno.ID] {
	ids := octetsOf(sno.SizeBinary, sno.FromBinaryBytes, sno.MustParse("2345678923456789"))
	sno.Sort(ids)
	k := newKind(ids, sno.ID{3}, func(id sno.ID) string { return hex.EncodeToString(id.Bytes()) })
	k.Zeros = true
	return k
}

// SnoText returns the kind of [sno.Text].
func SnoText() Kind[sno.Text] {
	return newKind(each(Sno().IDs, sno.ID.Text), sno.ID{3}.Text(), sno.Text.String)
}

// SnoUUID returns the kind of [sno.UUID].
func SnoUUID() Kind[sno.UUID] {
	return newKind(each(Sno().IDs, sno.ID.UUID), sno.ID{3}.UUID(), sno.UUID.String)
}

// Typed returns the kind with the type [typed.ID], whose columns are those of the plain ID.
func Typed[K any, T interface {
	typed.Untyped[T]
	ID
}](k Kind[T]) Kind[typed.ID[T, K]] {
	as := typed.As[K, T]
	return Kind[typed.ID[T, K]]{Type: "typed.ID[" + k.Type + "]", Column: k.Column, IDs: each(k.IDs, as), Absent: as(k.Absent), Zeros: k.Zeros}
}
