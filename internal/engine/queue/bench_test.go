//go:build unix

package queue_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/engine/queue"
)

// A ticker is a Source that has some words in each millisecond.
type ticker struct {
	each int64
	tick int64
	used int64
}

func (s *ticker) Delayed() error { return nil }

func (s *ticker) Try(n int) (uint64, int, time.Duration, error) {
	now := time.Now()
	if tick := now.UnixMilli(); tick != s.tick {
		s.tick, s.used = tick, 0
	}
	if s.used == s.each {
		return 0, 0, time.Millisecond - time.Duration(now.Nanosecond())%time.Millisecond, nil
	}
	run := min(int64(n), s.each-s.used)
	s.used += run
	return 1, int(run), 0, nil
}

// A crowd is a number of callers. Each stands in the queue until its context ends, again and again.
type crowd struct {
	queue   queue.Queue
	served  atomic.Int64
	all     sync.WaitGroup
	cancels []context.CancelFunc
}

// gather starts callers that stand in the queue, each with its own context.
func gather(callers int, s queue.Source) *crowd {
	c := new(crowd)
	for range callers {
		ctx, cancel := context.WithCancel(context.Background())
		c.cancels = append(c.cancels, cancel)
		c.all.Go(func() {
			for {
				if _, _, err := c.queue.Stand(ctx, 1, s); err != nil {
					return
				}
				c.served.Add(1)
			}
		})
	}
	for c.queue.Len() < callers {
		time.Sleep(time.Millisecond)
	}
	return c
}

func (c *crowd) cancel() {
	for _, cancel := range c.cancels {
		cancel()
	}
	c.all.Wait()
}

// BenchmarkCrowd reports two shares: of 256 words a millisecond, how many the queue hands out to
// callers with contexts, and how much of a core the process uses.
func BenchmarkCrowd(b *testing.B) {
	for _, callers := range []int{1, 1000, 100_000} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			const each = 256
			c := gather(callers, &ticker{each: each})
			defer c.cancel()
			served, cpu := c.served.Load(), cpuTime(b)
			for b.Loop() {
				time.Sleep(100 * time.Millisecond)
			}
			rate := float64(c.served.Load()-served) / b.Elapsed().Seconds()
			b.ReportMetric((cpuTime(b)-cpu).Seconds()/b.Elapsed().Seconds(), "cores")
			b.ReportMetric(rate, "words/s")
			b.ReportMetric(100*rate/each/1000, "%cap")
		})
	}
}

// BenchmarkCancel measures how soon callers return after their contexts end. 100 000 callers stand
// in a queue without words. Either all contexts end, or the context of one more caller at the end of
// the queue.
func BenchmarkCancel(b *testing.B) {
	const callers = 100_000
	b.Run("all", func(b *testing.B) {
		var cpu time.Duration
		for b.Loop() {
			b.StopTimer()
			c := gather(callers, new(ticker))
			cpu -= cpuTime(b)
			b.StartTimer()
			c.cancel()
			cpu += cpuTime(b)
		}
		b.ReportMetric(cpu.Seconds()*1e3/float64(b.N), "cpu-ms/op")
	})
	b.Run("one", func(b *testing.B) {
		c := gather(callers, new(ticker))
		defer c.cancel()
		for b.Loop() {
			ctx, cancel := context.WithCancel(context.Background())
			done := make(chan struct{})
			go func() {
				defer close(done)
				c.queue.Stand(ctx, 1, new(ticker))
			}()
			for c.queue.Len() <= callers {
				time.Sleep(10 * time.Microsecond)
			}
			cancel()
			<-done
		}
	})
}

func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
