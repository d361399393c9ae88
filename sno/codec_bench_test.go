package sno_test

import (
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/sno"
)

// bench is what the benchmarks go through: IDs of all kinds, and their texts.
var bench struct {
	ids        [64]sno.ID
	texts, hex [64]string
	bytes      [64][]byte // the texts
}

func init() {
	random := rand.New(rand.NewPCG(1, 2))
	for i := range bench.ids {
		bench.ids[i] = randomID(random)
		bench.texts[i], bench.hex[i] = bench.ids[i].String(), bench.ids[i].Hex()
		bench.bytes[i] = []byte(bench.texts[i])
	}
}

func BenchmarkAppendText(b *testing.B) {
	buf := make([]byte, 0, 64)
	for i := 0; b.Loop(); i++ {
		buf, _ = bench.ids[i&63].AppendText(buf[:0])
	}
}

func BenchmarkString(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_ = bench.ids[i&63].String()
	}
}

func BenchmarkParse(b *testing.B) {
	var id sno.ID
	for i := 0; b.Loop(); i++ {
		id, _ = sno.Parse(bench.texts[i&63])
	}
	_ = id
}

func BenchmarkUnmarshalText(b *testing.B) {
	var id sno.ID
	for i := 0; b.Loop(); i++ {
		_ = id.UnmarshalText(bench.bytes[i&63])
	}
}

func BenchmarkHex(b *testing.B) {
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		_ = bench.ids[i&63].Hex()
	}
}

func BenchmarkParseHex(b *testing.B) {
	var id sno.ID
	for i := 0; b.Loop(); i++ {
		id, _ = sno.ParseHex(bench.hex[i&63])
	}
	_ = id
}
