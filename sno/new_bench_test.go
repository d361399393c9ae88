package sno_test

import (
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/sno"
)

// BenchmarkOne takes the time of the calls that make one ID. Each burst begins with a time unit and
// uses a part of the unit, so no call waits for another unit. The figure is the median of the bursts.
func BenchmarkOne(b *testing.B) {
	const burst = 8192
	g, err := sno.NewGenerator(&sno.GeneratorSnapshot{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	ctx := b.Context()
	var id sno.ID
	for _, v := range []struct {
		name string
		make func()
	}{
		{"call=TryNext", func() {
			for range burst {
				id, _ = g.TryNext(7)
			}
		}},
		{"call=Next", func() {
			for range burst {
				id, _ = g.Next(ctx, 7)
			}
		}},
		{"call=Generator.New", func() {
			for range burst {
				id = g.New(7)
			}
		}},
		{"call=New", func() {
			for range burst {
				id = sno.New(7)
			}
		}},
	} {
		b.Run(v.name, func(b *testing.B) {
			v.make() // what is done once
			var took []float64
			for b.Loop() {
				now := time.Now()
				time.Sleep(now.Truncate(sno.TimeUnit).Add(sno.TimeUnit).Sub(now))
				start := time.Now()
				v.make()
				took = append(took, float64(time.Since(start))/burst)
			}
			slices.Sort(took)
			b.ReportMetric(took[len(took)/2], "ns/op")
		})
	}
	if id.IsZero() {
		b.Error("the zero ID")
	}
}
