//go:build unix

package nanoflake_test

import (
	"context"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/nanoflake"
)

// BenchmarkSaturation asks for IDs without a pause; a millisecond has 4096. The benchmark reports the
// share of one goroutine, and the part of a core in use. Set -benchtime to some seconds.
func BenchmarkSaturation(b *testing.B) {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{})
	if err != nil {
		b.Fatal(err)
	}
	ctx := context.Background()
	before, start := cpuTime(b), time.Now()
	n := 0
	for b.Loop() {
		if _, err := gen.Next(ctx); err != nil {
			b.Fatal(err)
		}
		n++
	}
	took := time.Since(start)
	b.ReportMetric(100*float64(n)/took.Seconds()/4_096_000, "%cap")
	b.ReportMetric((cpuTime(b)-before).Seconds()/took.Seconds(), "cores")
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
