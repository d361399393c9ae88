package nanoflake_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/nanoflake"
)

// BenchmarkBeside runs a goroutine that only computes beside a generator at saturation, and reports
// what each of the two gets while callers of the generator wait in different ways. The ways take turns
// of 200 ms, and the metrics are medians of ratios within a round, so that a busy machine disturbs them little.
// Run it with
//
//	go test ./nanoflake -run '^$' -bench Beside -benchtime 20x
//
// The ways are:
//
//	next    Next waits
//	sleep   a caller of TryNext waits with time.Sleep for the next millisecond: what Next is compared with
//	lease   Next waits for a lease to grant times, and there are none
//	nobody  there is no generator
//
// The ratios are the work of the computing goroutine beside next and beside lease, as a percentage of its
// work beside sleep and beside nobody, and the IDs of next as a percentage of the IDs of sleep.
func BenchmarkBeside(b *testing.B) {
	for _, procs := range []int{1, 2} {
		b.Run(fmt.Sprintf("procs=%d", procs), func(b *testing.B) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
			beside(b)
		})
	}
}

func beside(b *testing.B) {
	const turn = 200 * time.Millisecond
	gen, err := nanoflake.NewGenerator(nanoflake.Config{})
	if err != nil {
		b.Fatal(err)
	}
	next := func(ctx context.Context) error {
		_, err := gen.Next(ctx)
		return err
	}
	sleep := func(context.Context) error {
		_, err := gen.TryNext()
		for errors.Is(err, iderr.ErrExhausted) {
			time.Sleep(time.Millisecond - time.Duration(time.Now().Nanosecond())%time.Millisecond)
			_, err = gen.TryNext()
		}
		return err
	}
	leased, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		b.Fatal(err)
	}
	lease := func(ctx context.Context) error {
		_, err := leased.Next(ctx)
		return err
	}
	if err := leased.ForLease().Grant(0, time.Now(), time.Now().Add(3*time.Millisecond)); err != nil {
		b.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond) // until that time has passed
	nobody := func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}

	ways := []func(context.Context) error{next, sleep, lease, nobody}
	var workBySleep, workByNobody, leaseByNobody, idsBySleep []float64
	for b.Loop() {
		ids, work := make([]float64, len(ways)), make([]float64, len(ways)) // per second
		for i, way := range ways {
			began := time.Now()
			ctx, cancel := context.WithTimeout(context.Background(), turn)
			var stop atomic.Bool
			done := make(chan float64)
			go func() { done <- compute(&stop) }()
			for ctx.Err() == nil {
				if err := way(ctx); err == nil {
					ids[i]++
				} else if !errors.Is(err, context.DeadlineExceeded) {
					b.Fatal(err)
				}
			}
			stop.Store(true)
			work[i] = <-done / time.Since(began).Seconds()
			ids[i] /= time.Since(began).Seconds()
			cancel()
		}
		workBySleep = append(workBySleep, work[0]/work[1])
		workByNobody = append(workByNobody, work[0]/work[3])
		leaseByNobody = append(leaseByNobody, work[2]/work[3])
		idsBySleep = append(idsBySleep, ids[0]/ids[1])
	}
	percent := func(ratios []float64) float64 {
		slices.Sort(ratios)
		return 100 * ratios[len(ratios)/2]
	}
	b.ReportMetric(percent(workBySleep), "%work/sleep")
	b.ReportMetric(percent(workByNobody), "%work/nobody")
	b.ReportMetric(percent(leaseByNobody), "%work-lease/nobody")
	b.ReportMetric(percent(idsBySleep), "%IDs/sleep")
}

// compute works until it is stopped, without a pause, and returns how much it did.
func compute(stop *atomic.Bool) (work float64) {
	for x := uint64(1); !stop.Load(); work++ {
		for range 1000 {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
		}
		computed.Store(x)
	}
	return work
}

var computed atomic.Uint64 // so that the work is not left out
