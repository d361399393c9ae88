package nanoflake_test

import (
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
)

var list = testkit.List[nanoflake.ID]{
	Shortest:  13,
	AppendAll: nanoflake.AppendAll,
	ParseAll:  nanoflake.ParseAll,
	Append:    nanoflake.ID.AppendText,
	Parse:     nanoflake.Parse,
	Some:      func(r *rand.Rand) nanoflake.ID { return nanoflake.ID(r.Int64() >> r.IntN(63)) },
	NoID:      []nanoflake.ID{-1, -1 << 63},
	More:      []string{"0", "7en9rb30swmf", "007en9rb30swmf", "zzzzzzzzzzzzz", "07EN9RB30SWMF"},
}

func TestLists(t *testing.T)    { list.Lists(t); list.Hostile(t) }
func FuzzParseAll(f *testing.F) { list.Fuzz(f) }

func BenchmarkAppendAll(b *testing.B) {
	buf := make([]byte, 0, 64*len(bench.ids))
	for b.Loop() {
		buf, _ = nanoflake.AppendAll(buf[:0], bench.ids[:], '\n')
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(bench.ids)), "ns/ID")
}

func BenchmarkParseAll(b *testing.B) {
	text, _ := nanoflake.AppendAll(nil, bench.ids[:], '\n')
	ids := make([]nanoflake.ID, 0, len(bench.ids)+1)
	for b.Loop() {
		ids, _ = nanoflake.ParseAll(ids[:0], text, '\n')
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(bench.ids)), "ns/ID")
}
