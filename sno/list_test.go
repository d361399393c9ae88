package sno_test

import (
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

var list = testkit.List[sno.ID]{
	Shortest:  16,
	AppendAll: sno.AppendAll,
	ParseAll:  sno.ParseAll,
	Append:    sno.ID.AppendText,
	Parse:     sno.Parse,
	Some:      randomID,
}

func TestLists(t *testing.T)    { list.Lists(t); list.Hostile(t) }
func FuzzParseAll(f *testing.F) { list.Fuzz(f) }

func BenchmarkAppendAll(b *testing.B) {
	buf := make([]byte, 0, 64*len(bench.ids))
	for b.Loop() {
		buf, _ = sno.AppendAll(buf[:0], bench.ids[:], '\n')
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(bench.ids)), "ns/ID")
}

func BenchmarkParseAll(b *testing.B) {
	text, _ := sno.AppendAll(nil, bench.ids[:], '\n')
	ids := make([]sno.ID, 0, len(bench.ids)+1)
	for b.Loop() {
		ids, _ = sno.ParseAll(ids[:0], text, '\n')
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(bench.ids)), "ns/ID")
}
