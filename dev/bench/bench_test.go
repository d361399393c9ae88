package main

import (
	"runtime"
	"testing"
)

func BenchmarkNext(b *testing.B)       { runGroup(b, groupNext) }
func BenchmarkParallel(b *testing.B)   { runGroup(b, groupParallel) }
func BenchmarkBatch(b *testing.B)      { runGroup(b, groupBatch) }
func BenchmarkSeq(b *testing.B)        { runGroup(b, groupSeq) }
func BenchmarkSaturation(b *testing.B) { runGroup(b, groupSaturation) }
func BenchmarkEncode(b *testing.B)     { runGroup(b, groupEncode) }
func BenchmarkString(b *testing.B)     { runGroup(b, groupString) }
func BenchmarkDecode(b *testing.B)     { runGroup(b, groupDecode) }
func BenchmarkSort(b *testing.B)       { runGroup(b, groupSort) }

// runGroup runs what the command runs, under the same names.
func runGroup(b *testing.B, group string) {
	for _, bench := range benchmarks(group, runtime.GOMAXPROCS(0)) {
		b.Run(bench.name[len(group)+1:], func(b *testing.B) {
			if err := bench.run(b); err != nil {
				b.Fatal(err)
			}
		})
	}
}
