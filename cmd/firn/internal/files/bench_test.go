package files

import (
	"bufio"
	"bytes"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
)

// texts returns the texts of IDs, a line each.
func texts(tb testing.TB, k kind, ids [][]byte) []byte {
	var out []byte
	write := k.of.Descriptor().Writer()
	for _, id := range ids {
		var err error
		if out, err = write(out, id); err != nil {
			tb.Fatal(err)
		}
		out = append(out, '\n')
	}
	return out
}

func BenchmarkVerify(b *testing.B) {
	for _, f := range formats.All() {
		k := kind{f.Name(), f, kinds()[0].set}
		b.Run(k.name, func(b *testing.B) {
			random := rand.New(rand.NewPCG(1, 1))
			ids := interleaved(random, k.streams(b, 8, 100_000))
			in := texts(b, k, ids)
			for b.Loop() {
				s := &cli.Streams{In: bytes.NewReader(in), Out: bufio.NewWriter(io.Discard), Err: io.Discard}
				f := verifyFlags{memory: defaultMemory, lines: 10}
				if err := f.run(b.Context(), s, intake.Source{Format: k.of, Shape: k.shape(), Detect: true}); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(len(ids))/float64(b.N), "ns/ID")
		})
	}
}
