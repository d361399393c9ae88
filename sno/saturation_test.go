//go:build unix

package sno_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/sno"
)

// BenchmarkSaturation asks for IDs without a pause; 4 ms have the size of the pool. The benchmark
// reports the part of the IDs made, the part of a core in use, and the smallest and the largest share
// of a goroutine, with 1 for a fair share. Set -benchtime to some seconds.
func BenchmarkSaturation(b *testing.B) {
	for _, c := range []struct{ pool, goroutines, batch int }{
		{4, 64, 1},
		// The IDs left to make are counted in batches, so as not to measure the count.
		{65536, 1, 1024},
		{65536, 8, 1024},
	} {
		b.Run(fmt.Sprintf("pool=%d/goroutines=%d", c.pool, c.goroutines), func(b *testing.B) {
			g := newGenerator(b, sno.Config{Snapshot: &sno.GeneratorSnapshot{SequenceMax: uint16(c.pool - 1)}})
			shares := make([]int64, c.goroutines)
			var left atomic.Int64
			left.Store(int64(b.N))
			var all sync.WaitGroup
			before, start := cpuTime(b), time.Now()
			for i := range shares {
				all.Go(func() {
					made, batch := int64(0), int64(c.batch)
					for {
						n := min(left.Add(-batch)+batch, batch)
						if n <= 0 {
							break
						}
						for range n {
							g.New(0)
						}
						made += n
					}
					shares[i] = made
				})
			}
			all.Wait()
			took := time.Since(start)
			b.ReportMetric(100*float64(b.N)/took.Seconds()/float64(250*c.pool), "%cap")
			b.ReportMetric((cpuTime(b)-before).Seconds()/took.Seconds(), "cores")
			b.ReportMetric(float64(b.N)/took.Seconds(), "IDs/s")
			if c.goroutines > 1 {
				fair := float64(b.N) / float64(c.goroutines)
				b.ReportMetric(float64(slices.Min(shares))/fair, "smallest-share")
				b.ReportMetric(float64(slices.Max(shares))/fair, "largest-share")
			}
		})
	}
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
