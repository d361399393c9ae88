package confirm_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/nanoflake"
)

// BenchmarkStart starts leases of a new pool with 1024 workers, 64 at a time. TestStartTraffic of package
// lease bounds the requests and the bytes of a start, in pools of any size.
//
//	go test -C lease/internal/tests ./confirm -run '^$' -bench Start -benchtime 1x
func BenchmarkStart(b *testing.B) {
	for _, s := range stores {
		b.Run(s.name, func(b *testing.B) {
			store, pools := s.open(b), 0
			defer store.Close()
			for _, leases := range []int{1, 128, 1000} {
				b.Run(fmt.Sprint(leases), func(b *testing.B) {
					var took time.Duration
					for range b.N {
						b.StopTimer()
						pools++
						pool := fmt.Sprintf("p%d", pools)
						wanted := testkit.Must(generator(b).ForLease().Pool())
						testkit.Must(lease.Create(b.Context(), store, pool, wanted.Layout))
						start := func(ctx context.Context) (*lease.Lease, error) {
							c := lease.Config{Pool: pool, Window: time.Minute, First: time.Minute, Timeout: 10 * time.Second}
							return lease.Start(ctx, store, generator(b), c)
						}
						b.StartTimer()
						before := processor(b)
						held := startAll(b, leases, start)
						took += processor(b) - before
						b.StopTimer()
						for _, l := range held {
							testkit.OK(b, l.Close())
						}
					}
					b.ReportMetric(float64(took.Nanoseconds())/float64(b.N*leases), "processor-ns/start")
				})
			}
		})
	}
}

func generator(b *testing.B) *nanoflake.Generator {
	return testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true}))
}

// startAll starts n leases, 64 at a time.
func startAll(b *testing.B, n int, start func(context.Context) (*lease.Lease, error)) []*lease.Lease {
	held, turns := make([]*lease.Lease, n), make(chan bool, 64)
	var all sync.WaitGroup
	for i := range held {
		turns <- true
		all.Go(func() {
			defer func() { <-turns }()
			var err error
			if held[i], err = start(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
	all.Wait()
	if b.Failed() {
		b.FailNow()
	}
	return held
}
