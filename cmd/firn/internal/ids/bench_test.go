package ids

import (
	"bytes"
	"context"
	"encoding/binary"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// BenchmarkJSON inspects lines of each format, with the format named and detected, and decimals of several candidates.
func BenchmarkJSON(b *testing.B) {
	for _, f := range inspect.Formats() {
		g := testkit.Must(f.Descriptor().New(shape.Recipe{}))
		lines := testkit.Must(g.AppendTexts(context.Background(), nil, 10_000))
		var decimals []byte
		if f.Descriptor().Integer() {
			r := testkit.Must(f.NewReader(inspect.Settings{}))
			for line := range bytes.Lines(lines) {
				id := testkit.Must(r.AppendRead(nil, bytes.TrimSpace(line)))
				decimals = append(strconv.AppendUint(decimals, binary.BigEndian.Uint64(id), 10), '\n')
			}
		}
		for name, format := range map[string]inspect.Format{"named": f, "detected": {}, "decimal": {}} {
			lines := lines
			if name == "decimal" {
				lines = decimals
			}
			if lines == nil {
				continue
			}
			b.Run(f.Name()+"/"+name, func(b *testing.B) {
				var w bytes.Buffer
				i := newInspector(b, &w, format, inspect.Settings{}, time.Now())
				i.json = true
				i.streams.Out.Reset(io.Discard)
				b.ReportAllocs()
				for b.Loop() {
					i.streams.In = bytes.NewReader(lines)
					if err := i.inspect(nil); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/10_000, "ns/line")
			})
		}
	}
}
