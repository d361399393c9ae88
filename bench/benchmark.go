package main

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A benchmark measures one thing of one subject. Its names are group, then key=value
// pairs, so that benchstat can compare by any of them.
type benchmark struct {
	name string
	run  func(b *testing.B) error
}

// group names, the first part of a benchmark's name.
const (
	groupNext       = "Next"       // IDs one at a time, below the cap, by one goroutine
	groupParallel   = "Parallel"   // the same by several, a core for each
	groupBatch      = "Batch"      // IDs many at a time, below the cap
	groupSeq        = "Seq"        // IDs from an iterator, below the cap
	groupSaturation = "Saturation" // all IDs that can be had
	groupEncode     = "Encode"     // texts into a buffer
	groupString     = "String"     // texts as strings
	groupDecode     = "Decode"     // texts read
	groupSort       = "Sort"       // a million IDs
)

var groups = []string{groupNext, groupParallel, groupBatch, groupSeq, groupSaturation, groupEncode, groupString, groupDecode, groupSort}

const sortIDs = 1_000_000

// crowd is how many goroutines ask at once where more than one do at saturation.
const crowd = 8

// benchmarks returns those of a group, for up to so many cores.
func benchmarks(group string, cores int) []benchmark {
	var all []benchmark
	add := func(s *subject, more string, run func(b *testing.B) error) {
		all = append(all, benchmark{name(group, s.name, more), run})
	}
	for i := range subjects {
		s := &subjects[i]
		switch group {
		case groupNext:
			if s.next != nil {
				add(s, "", func(b *testing.B) error { return below(b, s, s.next) })
			}
		case groupParallel:
			for _, n := range coreCounts(cores) {
				if s.next != nil {
					add(s, fmt.Sprintf("/cores=%d", n), func(b *testing.B) error { return parallel(b, s, n) })
				}
			}
		case groupBatch:
			if s.batch != nil {
				add(s, "", func(b *testing.B) error { return below(b, s, s.batch) })
			}
		case groupSeq:
			if s.seq != nil {
				add(s, "", func(b *testing.B) error { return below(b, s, s.seq) })
			}
		case groupSaturation:
			for _, n := range []int{1, crowd} {
				if s.next != nil && s.cap.ids > 0 {
					add(s, fmt.Sprintf("/goroutines=%d", n), func(b *testing.B) error { return saturate(b, s, s.next, n) })
				}
			}
			if s.ticks != nil {
				add(s, "/goroutines=1", func(b *testing.B) error { return saturate(b, s, s.ticks, 1) })
			}
		case groupSort:
			if s.sort != nil {
				add(s, "", func(b *testing.B) error { return sorts(b, s) })
			}
		default:
			if s.codec == nil {
				continue
			}
			if c, err := s.codec(); err != nil || c.of(group) != nil {
				add(s, "", func(b *testing.B) error { return converts(b, s, group) })
			}
		}
	}
	return all
}

// name returns a benchmark's name.
func name(group, subject, more string) string { return group + "/id=" + subject + more }

// coreCounts returns 2, 4, 8 and so on up to the cores, and all of them.
func coreCounts(cores int) []int {
	var counts []int
	for n := 2; n < cores; n *= 2 {
		counts = append(counts, n)
	}
	if cores > 1 {
		counts = append(counts, cores)
	}
	return counts
}

// A meter takes the time of f, which handles n IDs, over and over, and reports the median
// per ID as ns/op, so that what happens once in a while, a page fault or another process's
// turn, is no part of it. The benchmark's own count, N, is how often f ran.
type meter struct {
	n    int
	took []float64 // in ns per ID
	mem  runtime.MemStats
}

func newMeter(n int) *meter {
	m := &meter{n: n, took: make([]float64, 0, 1<<16)}
	runtime.ReadMemStats(&m.mem)
	return m
}

func (m *meter) time(f func() error) error {
	start := time.Now()
	err := f()
	m.took = append(m.took, float64(time.Since(start))/float64(m.n))
	return err
}

func (m *meter) report(b *testing.B) {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	ids := float64(m.n) * float64(len(m.took))
	b.ReportMetric(median(m.took), "ns/op")
	b.ReportAllocs()
	b.ReportMetric(math.Round(float64(now.Mallocs-m.mem.Mallocs)/ids), "allocs/op")
	b.ReportMetric(math.Round(float64(now.TotalAlloc-m.mem.TotalAlloc)/ids), "B/op")
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	v = slices.Sorted(slices.Values(v))
	return (v[(len(v)-1)/2] + v[len(v)/2]) / 2
}

// below measures a generator below its cap. It waits, by reading the clock, for a tick to
// begin, and then takes the time of a burst of fewer IDs than a tick has: so no generator
// ever has to wait for the next tick, and each meets a new tick once in a burst. Peers with
// and without a cap and Firn are measured alike.
func below(b *testing.B, s *subject, generator func() (loop, error)) error {
	burst, tick := s.pace()
	made, err := generator()
	if err != nil {
		return err
	}
	if err := made(burst); err != nil { // what is only done once
		return err
	}
	m := newMeter(burst)
	for b.Loop() {
		await(tick)
		if err := m.time(func() error { return made(burst) }); err != nil {
			return err
		}
	}
	m.report(b)
	return nil
}

// await returns at the beginning of the next tick.
func await(tick time.Duration) {
	for now := tickOf(time.Now(), tick); tickOf(time.Now(), tick) == now; {
	}
}

// tickOf returns the number of the tick that t is in.
func tickOf(t time.Time, tick time.Duration) int64 { return t.UnixNano() / int64(tick) }

// parallel measures a generator below its cap with so many goroutines that share it. They
// are there from the start and begin a burst at once, each with its share; its time ends
// with the last of them. So ns/op is the time in which all of them together make one ID.
func parallel(b *testing.B, s *subject, goroutines int) error {
	made, err := s.next()
	if err != nil {
		return err
	}
	size, tick := s.pace()
	share := size / goroutines
	var (
		burst, done atomic.Int64 // bursts begun, shares made
		failed      atomic.Pointer[error]
		wg          sync.WaitGroup
	)
	take := func() {
		if err := made(share); err != nil {
			failed.Store(&err)
		}
	}
	const over = -1
	for range goroutines - 1 {
		wg.Go(func() {
			for seen := int64(0); ; {
				now := burst.Load()
				if now == over {
					return
				}
				if now != seen {
					seen = now
					take()
					done.Add(1)
				}
			}
		})
	}
	defer wg.Wait()
	defer burst.Store(over)

	m := newMeter(share * goroutines)
	for i := int64(1); b.Loop(); i++ {
		await(tick)
		_ = m.time(func() error {
			burst.Store(i)
			take()
			for done.Load() < i*int64(goroutines-1) {
			}
			return nil
		})
		if err := failed.Load(); err != nil {
			return *err
		}
	}
	m.report(b)
	return nil
}

// saturate asks for IDs, by so many goroutines, as fast as they come. It reports the share
// that they get of what the layout allows in the ticks that they run in, the cores that the
// process uses for it, and what an ID takes of one. It wants a -benchtime of a second or more.
func saturate(b *testing.B, s *subject, generator func() (loop, error), goroutines int) error {
	made, err := generator()
	if err != nil {
		return err
	}
	const chunk = 50
	var (
		ids    atomic.Int64
		over   atomic.Bool
		failed atomic.Pointer[error]
		wg     sync.WaitGroup
	)
	take := func() {
		if err := made(chunk); err != nil {
			failed.Store(&err)
			over.Store(true)
		}
		ids.Add(chunk)
	}
	await(s.cap.tick)
	before, known := cpuTime()
	start := time.Now()
	for range goroutines - 1 {
		wg.Go(func() {
			for !over.Load() {
				take()
			}
		})
	}
	for b.Loop() && failed.Load() == nil {
		take()
	}
	for last := tickOf(time.Now(), s.cap.tick); tickOf(time.Now(), s.cap.tick) == last && failed.Load() == nil; {
		take() // what is left of the tick, so that whole ticks are compared with their caps
	}
	n := float64(ids.Load())
	end := time.Now()
	after, _ := cpuTime()
	over.Store(true)
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	took := end.Sub(start)
	b.ReportMetric(float64(took)/n, "ns/op")
	b.ReportMetric(n/took.Seconds(), "IDs/s")
	b.ReportMetric(100*n/(s.cap.ids*float64(tickOf(end, s.cap.tick)-tickOf(start, s.cap.tick))), "%cap")
	if known {
		b.ReportMetric((after-before).Seconds()/took.Seconds(), "cores")
		b.ReportMetric(float64(after-before)/n, "cpu-ns/ID")
	}
	return nil
}

// of returns what a group measures of a codec; nil if it has none.
func (c *codec) of(group string) func() error {
	switch {
	case group == groupEncode && c.encode != nil:
		return func() error { c.encode(); return nil }
	case group == groupString && c.str != nil:
		return func() error { c.str(); return nil }
	case group == groupDecode && c.decode != nil:
		return c.decode
	}
	return nil
}

// converts measures a codec, over all its IDs several times.
func converts(b *testing.B, s *subject, group string) error {
	c, err := s.codec()
	if err != nil {
		return err
	}
	f := c.of(group)
	const passes = 8
	m := newMeter(passes * codecIDs)
	for b.Loop() {
		if err := m.time(func() error {
			for range passes {
				if err := f(); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	m.report(b)
	return nil
}

// sorts measures the sorting of a million IDs, as one generator makes them and then shuffled.
func sorts(b *testing.B, s *subject) error {
	sorter, err := s.sort(sortIDs)
	if err != nil {
		return err
	}
	m := newMeter(1) // one slice
	for b.Loop() {
		sorter.shuffle()
		_ = m.time(func() error { sorter.sort(); return nil })
	}
	m.report(b)
	return nil
}
