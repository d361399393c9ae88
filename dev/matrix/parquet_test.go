package matrix

import (
	"bytes"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/firn-id/firn/dev/matrix/cell"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/typed"
)

// TestParquet writes and reads rows with IDs of each type by parquet-go, which goes by the kind of
// a type: an integer, or bytes of a fixed length. parquet-go panics on a typed.ID, as docs/typed.md
// says.
func TestParquet(t *testing.T) {
	parquetRows(t, cell.Nanoflake())
	parquetRows(t, cell.NanoflakeText())
	parquetRows(t, cell.Ulidflake())
	parquetRows(t, cell.UlidflakeText())
	parquetRows(t, cell.Scalable())
	parquetRows(t, cell.ScalableText())
	parquetRows(t, cell.Snowflake())
	parquetRows(t, cell.SCRU160())
	parquetRows(t, cell.SCRU160Binary())
	parquetRows(t, cell.Sno())
	parquetRows(t, cell.SnoText())
	parquetRows(t, cell.SnoUUID())
	defer func() {
		if recover() == nil {
			t.Error("parquet-go no longer panics on a typed.ID")
		}
	}()
	parquet.SchemaOf(struct{ ID typed.ID[nanoflake.ID, label] }{})
}

func parquetRows[T cell.ID](t *testing.T, k cell.Kind[T]) {
	t.Helper()
	type row struct {
		ID    T
		Other *T
	}
	var rows []row
	for i := range k.IDs {
		rows = append(rows, row{k.IDs[i], nil}, row{k.IDs[i], &k.IDs[0]})
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatalf("%s: %v", k.Type, err)
	}
	got, err := parquet.Read[row](bytes.NewReader(b.Bytes()), int64(b.Len()))
	same := func(a, b row) bool {
		return a.ID == b.ID && (a.Other == nil) == (b.Other == nil) && (a.Other == nil || *a.Other == *b.Other)
	}
	if err != nil || !slices.EqualFunc(got, rows, same) {
		t.Errorf("%s: %v, %v", k.Type, got, err)
	}
}
