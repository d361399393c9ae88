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

// A benchmark measures one group of one subject. Its name is the group and then pairs key=value:
// benchstat can compare by each key.
type benchmark struct {
	name string
	run  func(b *testing.B) error
}

// The groups. A group is the first part of the name of a benchmark.
const (
	groupNext       = "Next"       // IDs one at a time, below the cap, by one goroutine
	groupParallel   = "Parallel"   // the same by several goroutines, a core for each
	groupBatch      = "Batch"      // IDs many at a time, below the cap
	groupSeq        = "Seq"        // IDs from an iterator, below the cap
	groupSaturation = "Saturation" // all IDs that the layout allows
	groupEncode     = "Encode"     // texts into a buffer
	groupString     = "String"     // texts as strings
	groupDecode     = "Decode"     // texts read
	groupSort       = "Sort"       // a million IDs
)

var groups = []string{groupNext, groupParallel, groupBatch, groupSeq, groupSaturation, groupEncode, groupString, groupDecode, groupSort}

const sortIDs = 1_000_000

// crowd is how many goroutines share a generator at saturation, in the benchmarks with several.
const crowd = 8

// benchmarks returns the benchmarks of a group, for up to so many cores.
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
				add(s, "", func(b *testing.B) error { return belowCap(b, s, s.next) })
			}
		case groupParallel:
			for _, n := range coreCounts(cores) {
				if s.next != nil {
					add(s, fmt.Sprintf("/cores=%d", n), func(b *testing.B) error { return parallel(b, s, n) })
				}
			}
		case groupBatch:
			if s.batch != nil {
				add(s, "", func(b *testing.B) error { return belowCap(b, s, s.batch) })
			}
		case groupSeq:
			if s.seq != nil {
				add(s, "", func(b *testing.B) error { return belowCap(b, s, s.seq) })
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
				add(s, "", func(b *testing.B) error { return sortAll(b, s) })
			}
		default:
			if s.codec == nil {
				continue
			}
			if c, err := s.codec(); err != nil || c.operation(group) != nil {
				add(s, "", func(b *testing.B) error { return convert(b, s, group) })
			}
		}
	}
	return all
}

// name returns a benchmark's name.
func name(group, subject, more string) string { return group + "/id=" + subject + more }

// coreCounts returns 2, 4, 8 and so on, and at last the number of cores.
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

// A meter measures the time of a function that handles n IDs, many times, and reports the median per
// ID as ns/op. Rare events, such as a page fault or the turn of another process, do not move the
// median. The benchmark's own count N is the number of measurements.
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

// belowCap measures a generator below its cap. belowCap reads the clock until a tick begins, and then
// measures a burst of fewer IDs than a tick has. No generator waits for the next tick, and each meets a
// new tick once in a burst. Firn, peers with a cap and peers without one are measured alike.
func belowCap(b *testing.B, s *subject, generator func() (loop, error)) error {
	burst, tick := s.pace()
	run, err := generator()
	if err != nil {
		return err
	}
	if err := run(burst); err != nil { // the work of the first call
		return err
	}
	m := newMeter(burst)
	for b.Loop() {
		await(tick)
		if err := m.time(func() error { return run(burst) }); err != nil {
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

// parallel measures a generator below its cap that several goroutines share. The goroutines run from
// the start and begin a burst together, each with its share. The time ends with the last goroutine:
// ns/op is the time in which all goroutines together make one ID.
func parallel(b *testing.B, s *subject, goroutines int) error {
	run, err := s.next()
	if err != nil {
		return err
	}
	size, tick := s.pace()
	share := size / goroutines
	var (
		burst, done atomic.Int64 // bursts begun, shares run
		failed      atomic.Pointer[error]
		wg          sync.WaitGroup
	)
	makeShare := func() {
		if err := run(share); err != nil {
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
					makeShare()
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
			makeShare()
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

// saturate makes IDs with several goroutines as fast as the generator allows. saturate reports the
// share of the cap, the cores in use, and the processor time of an ID. The -benchtime must be a second
// or more.
func saturate(b *testing.B, s *subject, generator func() (loop, error), goroutines int) error {
	run, err := generator()
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
	makeShare := func() {
		if err := run(chunk); err != nil {
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
				makeShare()
			}
		})
	}
	for b.Loop() && failed.Load() == nil {
		makeShare()
	}
	for last := tickOf(time.Now(), s.cap.tick); tickOf(time.Now(), s.cap.tick) == last && failed.Load() == nil; {
		makeShare() // to the end of the tick: only whole ticks can be compared with their caps
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

// operation returns what a group measures of the codec, nil if the codec cannot do it.
func (c *codec) operation(group string) func() error {
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

// convert measures a codec: several passes over all its IDs.
func convert(b *testing.B, s *subject, group string) error {
	c, err := s.codec()
	if err != nil {
		return err
	}
	f := c.operation(group)
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

// sortAll measures the sorting of a million shuffled IDs of one generator.
func sortAll(b *testing.B, s *subject) error {
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
