package snowflakesi_test

import (
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

var list = testkit.List[snowflakesi.ID]{
	Shortest:  1,
	AppendAll: snowflakesi.AppendAll,
	ParseAll:  snowflakesi.ParseAll,
	Append:    snowflakesi.ID.AppendText,
	Parse:     snowflakesi.Parse,
	Some: func(r *rand.Rand) snowflakesi.ID {
		return snowflakesi.ID(r.Int64N(int64(snowflakesi.Max)) >> r.IntN(53))
	},
	NoID: []snowflakesi.ID{-1, snowflakesi.Max + 1},
	More: []string{"0", "00000007"},
}

func TestLists(t *testing.T)    { list.Lists(t); list.Hostile(t) }
func FuzzParseAll(f *testing.F) { list.Fuzz(f) }

func BenchmarkAppendAll(b *testing.B) {
	buf := make([]byte, 0, 64*len(bench.ids))
	for b.Loop() {
		buf, _ = snowflakesi.AppendAll(buf[:0], bench.ids[:], '\n')
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(bench.ids)), "ns/ID")
}

func BenchmarkParseAll(b *testing.B) {
	text, _ := snowflakesi.AppendAll(nil, bench.ids[:], '\n')
	ids := make([]snowflakesi.ID, 0, len(bench.ids)+1)
	for b.Loop() {
		ids, _ = snowflakesi.ParseAll(ids[:0], text, '\n')
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(bench.ids)), "ns/ID")
}
