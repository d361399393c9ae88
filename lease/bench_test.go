package lease_test

import (
	"slices"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
)

// BenchmarkFence measures what a lease adds to an ID: generators with one and without one make
// IDs in turn, some at a time, and the medians of the times are compared. The generators' clock
// is the benchmark's, and has a tick for some hundred IDs, so that neither a clock nor spent ticks
// are measured.
func BenchmarkFence(b *testing.B) {
	store, c := memlease.New(), lease.Config{Window: 240 * time.Hour, First: 240 * time.Hour, TrustClock: true}
	clock := func(unit time.Duration) func() time.Time {
		now, n := time.Now().Add(time.Minute).Truncate(unit), 0 // a tick begins, well inside the lease
		return func() time.Time {
			if n++; n&511 == 0 {
				now = now.Add(unit)
			}
			return now
		}
	}
	b.Run("nanoflake", func(b *testing.B) {
		without := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7, Clock: clock(time.Millisecond)}))
		with, l, err := startNanoflake(b.Context(), store, nanoflake.Config{Clock: clock(time.Millisecond)}, c)
		if err != nil {
			b.Fatal(err)
		}
		defer l.Close()
		inTurn(b,
			func() error { _, err := without.TryNext(); return err },
			func() error { _, err := with.TryNext(); return err })
	})
	b.Run("sno", func(b *testing.B) {
		without := testkit.Must(sno.NewGeneratorWith(sno.Config{Clock: clock(sno.TimeUnit)}))
		with := testkit.Must(sno.NewGeneratorWith(sno.Config{Leased: true, Clock: clock(sno.TimeUnit)}))
		l := testkit.Must(lease.Start(b.Context(), store, with, c))
		defer l.Close()
		inTurn(b,
			func() error { _, err := without.TryNext(7); return err },
			func() error { _, err := with.TryNext(7); return err })
	})
}

// inTurn reports the median time of an ID of each, and the difference.
func inTurn(b *testing.B, without, with func() error) {
	const some = 500
	times := [2][]float64{}
	for b.Loop() {
		for i, next := range []func() error{without, with} {
			start := time.Now()
			for range some {
				testkit.OK(b, next())
			}
			times[i] = append(times[i], float64(time.Since(start))/some)
		}
	}
	slices.Sort(times[0])
	slices.Sort(times[1])
	unfenced, fenced := times[0][len(times[0])/2], times[1][len(times[1])/2]
	b.ReportMetric(0, "ns/op") // it is of many IDs
	b.ReportMetric(unfenced, "unfenced-ns/ID")
	b.ReportMetric(fenced, "fenced-ns/ID")
	b.ReportMetric(fenced-unfenced, "more-ns/ID")
}
