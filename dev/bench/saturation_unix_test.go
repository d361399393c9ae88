//go:build unix

package bench

import (
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// BenchmarkSaturation makes IDs with several goroutines as fast as the generator allows, and reports
// the share of the cap, the cores in use, and the processor time of an ID. The -benchtime must be a
// second or more.
func BenchmarkSaturation(b *testing.B) {
	for _, n := range []int{1, 8} {
		for _, s := range subjects {
			if s.cap > 0 {
				b.Run(fmt.Sprintf("id=%s/goroutines=%d", s.name, n), func(b *testing.B) { saturate(b, &s, n) })
			}
		}
	}
}

func saturate(b *testing.B, s *subject, goroutines int) {
	const chunk = 50
	var ids atomic.Int64
	var over atomic.Bool
	var wg sync.WaitGroup
	run, tick := s.next(b), s.ticks()
	share := func() {
		if err := run(chunk); err != nil {
			b.Error(err)
			over.Store(true)
		}
		ids.Add(chunk)
	}
	await(tick)
	before, start := cpuTime(), time.Now()
	for range goroutines - 1 {
		wg.Go(func() {
			for !over.Load() {
				share()
			}
		})
	}
	for b.Loop() && !over.Load() {
		share()
	}
	for last := tickOf(time.Now(), tick); tickOf(time.Now(), tick) == last && !over.Load(); {
		share() // to the end of the tick: only whole ticks can be compared with their caps
	}
	n, end, used := float64(ids.Load()), time.Now(), cpuTime()-before
	over.Store(true)
	wg.Wait()
	took := end.Sub(start)
	b.ReportMetric(float64(took)/n, "ns/op")
	b.ReportMetric(n/took.Seconds(), "IDs/s")
	b.ReportMetric(100*n/(s.cap*float64(tickOf(end, tick)-tickOf(start, tick))), "%cap")
	b.ReportMetric(used.Seconds()/took.Seconds(), "cores")
	b.ReportMetric(float64(used)/n, "cpu-ns/ID")
}

// cpuTime returns the processor time that the process has used.
func cpuTime() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
