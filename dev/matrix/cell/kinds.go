package cell

import (
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// integer is the column of the formats of 64 bits.
var integer = Column{Postgres: "BIGINT", MariaDB: "BIGINT", SQLite: "INTEGER"}

func text(n int) Column {
	v := fmt.Sprintf("(%d)", n)
	return Column{
		Postgres: "VARCHAR" + v + ` COLLATE "C"`, MariaDB: "VARCHAR" + v + " CHARACTER SET ascii COLLATE ascii_bin", SQLite: "TEXT",
	}
}

func octets(n int) Column {
	return Column{Postgres: "BYTEA", MariaDB: fmt.Sprintf("BINARY(%d)", n), SQLite: "BLOB", Bytes: n}
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

// Nanoflake returns the kind of [nanoflake.ID].
func Nanoflake() Kind[nanoflake.ID] {
	return Kind[nanoflake.ID]{
		Type: "nanoflake.ID", Column: integer, FromInt64: nanoflake.FromInt64, Absent: 3,
		IDs:  integers(nanoflake.Max, append(each(decimals, nanoflake.MustParse), 1234567890123)...),
		Show: func(id nanoflake.ID) string { return strconv.FormatInt(id.Int64(), 10) },
	}
}

// NanoflakeText returns the kind of [nanoflake.Text].
func NanoflakeText() Kind[nanoflake.Text] {
	as := nanoflake.ID.Text
	return Kind[nanoflake.Text]{
		Type: "nanoflake.Text", Column: text(13), IDs: each(Nanoflake().IDs, as), Absent: as(3), Show: nanoflake.Text.String,
	}
}

// Ulidflake returns the kind of [ulidflake.ID].
func Ulidflake() Kind[ulidflake.ID] {
	return Kind[ulidflake.ID]{
		Type: "ulidflake.ID", Column: integer, FromInt64: ulidflake.FromInt64, Absent: 3,
		IDs:  integers(ulidflake.Max, append(each(decimals, ulidflake.MustParse), 1234567890123)...),
		Show: func(id ulidflake.ID) string { return strconv.FormatInt(id.Int64(), 10) },
	}
}

// UlidflakeText returns the kind of [ulidflake.Text].
func UlidflakeText() Kind[ulidflake.Text] {
	as := ulidflake.ID.Text
	return Kind[ulidflake.Text]{
		Type: "ulidflake.Text", Column: text(13), IDs: each(Ulidflake().IDs, as), Absent: as(3), Show: ulidflake.Text.String,
	}
}

// Scalable returns the kind of [ulidflake.ScalableID].
func Scalable() Kind[ulidflake.ScalableID] {
	return Kind[ulidflake.ScalableID]{
		Type: "ulidflake.ScalableID", Column: integer, FromInt64: ulidflake.ScalableFromInt64, Absent: 3,
		IDs:  integers(ulidflake.MaxScalable, append(each(decimals, ulidflake.MustParseScalable), 1234567890123)...),
		Show: func(id ulidflake.ScalableID) string { return strconv.FormatInt(id.Int64(), 10) },
	}
}

// ScalableText returns the kind of [ulidflake.ScalableText].
func ScalableText() Kind[ulidflake.ScalableText] {
	as := ulidflake.ScalableID.Text
	return Kind[ulidflake.ScalableText]{
		Type: "ulidflake.ScalableText", Column: text(13), IDs: each(Scalable().IDs, as), Absent: as(3),
		Show: ulidflake.ScalableText.String,
	}
}

// Snowflake returns the kind of [snowflakesi.ID].
func Snowflake() Kind[snowflakesi.ID] {
	return Kind[snowflakesi.ID]{
		Type: "snowflakesi.ID", Column: integer, FromInt64: snowflakesi.FromInt64, IDs: integers(snowflakesi.Max, 1234567890123, 12345678), Absent: 3,
		Show: func(id snowflakesi.ID) string { return strconv.FormatInt(id.Int64(), 10) },
	}
}

// SCRU160 returns the kind of [scru160.ID].
func SCRU160() Kind[scru160.ID] {
	ids := octetsOf(scru160.Size, scru160.FromBytes, scru160.MustParse("12345678901234567890123456789012"))
	slices.SortFunc(ids, scru160.ID.Compare)
	return Kind[scru160.ID]{
		Type: "scru160.ID", Column: text(32), IDs: ids, Absent: scru160.MustParse("00000000000000000000000000000003"), Show: scru160.ID.String,
	}
}

// SCRU160Binary returns the kind of [scru160.Binary].
func SCRU160Binary() Kind[scru160.Binary] {
	as := scru160.ID.Binary
	k := SCRU160()
	return Kind[scru160.Binary]{
		Type: "scru160.Binary", Column: octets(scru160.Size), IDs: each(k.IDs, as), Absent: as(k.Absent),
		Show: func(id scru160.Binary) string { return hex.EncodeToString(id.Bytes()) },
	}
}

// Sno returns the kind of [sno.ID].
func Sno() Kind[sno.ID] {
	ids := octetsOf(sno.SizeBinary, sno.FromBinaryBytes, sno.MustParse("2345678923456789"))
	sno.Sort(ids)
	return Kind[sno.ID]{
		Type: "sno.ID", Column: octets(sno.SizeBinary), IDs: ids, Absent: sno.ID{3},
		Show:  func(id sno.ID) string { return hex.EncodeToString(id.Bytes()) },
		Zeros: true,
	}
}

// SnoText returns the kind of [sno.Text].
func SnoText() Kind[sno.Text] {
	as := sno.ID.Text
	return Kind[sno.Text]{Type: "sno.Text", Column: text(16), IDs: each(Sno().IDs, as), Absent: as(sno.ID{3}), Show: sno.Text.String}
}

// SnoUUID returns the kind of [sno.UUID].
func SnoUUID() Kind[sno.UUID] {
	return Kind[sno.UUID]{
		Type: "sno.UUID", Column: Column{Postgres: "UUID", MariaDB: "UUID", SQLite: "TEXT"},
		IDs: each(Sno().IDs, sno.ID.UUID), Absent: sno.ID{3}.UUID(), Show: sno.UUID.String,
	}
}
