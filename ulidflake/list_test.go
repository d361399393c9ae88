package ulidflake_test

import (
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/ulidflake"
)

var list = testkit.List[ulidflake.ID]{
	Shortest:  13,
	AppendAll: ulidflake.AppendAll,
	ParseAll:  ulidflake.ParseAll,
	Append:    ulidflake.ID.AppendText,
	Parse:     ulidflake.Parse,
	Some:      func(r *rand.Rand) ulidflake.ID { return ulidflake.ID(r.Int64() >> r.IntN(63)) },
	NoID:      []ulidflake.ID{-1, -1 << 63},
	More:      []string{"00cmxb6tak4sa"},
}

var listScalable = testkit.List[ulidflake.ScalableID]{
	Shortest:  13,
	AppendAll: ulidflake.AppendAllScalable,
	ParseAll:  ulidflake.ParseAllScalable,
	Append:    ulidflake.ScalableID.AppendText,
	Parse:     ulidflake.ParseScalable,
	Some:      func(r *rand.Rand) ulidflake.ScalableID { return ulidflake.ScalableID(r.Int64() >> r.IntN(63)) },
	NoID:      []ulidflake.ScalableID{-1, -1 << 63},
	More:      []string{"00cmxb6tak4sa"},
}

func TestLists(t *testing.T)    { list.Lists(t); list.Hostile(t) }
func FuzzParseAll(f *testing.F) { list.Fuzz(f) }

func TestListsScalable(t *testing.T)    { listScalable.Lists(t); listScalable.Hostile(t) }
func FuzzParseAllScalable(f *testing.F) { listScalable.Fuzz(f) }

func BenchmarkAppendAll(b *testing.B) {
	buf := make([]byte, 0, 64*len(bench.ids))
	for b.Loop() {
		buf, _ = ulidflake.AppendAll(buf[:0], bench.ids[:], '\n')
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(bench.ids)), "ns/ID")
}

func BenchmarkParseAll(b *testing.B) {
	text, _ := ulidflake.AppendAll(nil, bench.ids[:], '\n')
	ids := make([]ulidflake.ID, 0, len(bench.ids)+1)
	for b.Loop() {
		ids, _ = ulidflake.ParseAll(ids[:0], text, '\n')
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(bench.ids)), "ns/ID")
}
