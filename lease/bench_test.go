package lease_test

import (
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
)

// BenchmarkFence shows what a lease adds to an ID. The clock of the generators has a tick for some
// hundred IDs, so that the benchmark measures neither a clock nor exhausted ticks.
func BenchmarkFence(b *testing.B) {
	clock := func(unit time.Duration) func() time.Time {
		now, n := time.Now().Add(time.Minute).Truncate(unit), 0 // a tick begins, well inside the lease
		return func() time.Time {
			if n++; n&511 == 0 {
				now = now.Add(unit)
			}
			return now
		}
	}
	bench := func(name string, next func() error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				testkit.OK(b, next())
			}
		})
	}
	for name, leased := range map[string]bool{"without": false, "with": true} {
		n := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: leased, Clock: clock(time.Millisecond)}))
		s := testkit.Must(sno.NewGeneratorWith(sno.Config{Leased: leased, Clock: clock(sno.TimeUnit)}))
		if leased {
			c := lease.Config{Window: lease.MaxWindow, First: lease.MaxWindow, TrustClock: true}
			for _, g := range []lease.Generator{n, s} {
				defer testkit.Must(lease.Start(b.Context(), memlease.New(), g, c)).Close()
			}
		}
		bench("nanoflake/"+name, func() error { _, err := n.TryNext(); return err })
		bench("sno/"+name, func() error { _, err := s.TryNext(7); return err })
	}
}
