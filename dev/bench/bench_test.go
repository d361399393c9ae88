// Package bench measures Firn and other packages at the same work. README.md says how.
package bench

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A subject is one way to make IDs, Firn's or a peer's, and to read and write them.
//
// Each subject has loops of its own, written out, which call its functions directly. A loop that is
// generic over the type of ID calls through a dictionary, without inlining. Measured in one run, a
// generic loop took up to 2.8 times as long over AppendText and 1.9 times over Parse, for IDs that
// are arrays. Fill, with 1000 IDs a call, took the same.
type subject struct {
	name  string        // the format of Firn, or the owner and the module of a peer
	cap   float64       // IDs in a tick; 0 if the layout has no limit, or a limit beyond reach
	tick  time.Duration // 0 for a millisecond
	burst int           // how many IDs a loop makes in a tick below the cap; 0 for burstIDs

	next  func(b *testing.B) loop // one ID at a time
	batch func(b *testing.B) loop // batchIDs at a time; nil if the generator cannot
	codec func(b *testing.B) codec
	sort  func(b *testing.B) (shuffle, sort func())
}

// A loop makes n IDs, one after the other. It is safe for concurrent use.
type loop func(n int) error

// A codec writes and reads codecIDs IDs in each call. A function is nil if the package has none.
type codec struct{ encode, decode loop }

const (
	burstIDs = 3000 // fewer than any cap in a millisecond, but sonyflake's
	batchIDs = 1000
	codecIDs = 512 // few enough for the first cache of the processor
	sortIDs  = 1_000_000
)

var subjects = slices.Concat(firnSubjects, peerSubjects)

func BenchmarkNext(b *testing.B) {
	each(b, func(s *subject) func(b *testing.B) loop { return s.next }, belowCap)
}

func BenchmarkBatch(b *testing.B) {
	each(b, func(s *subject) func(b *testing.B) loop { return s.batch }, belowCap)
}

func BenchmarkParallel(b *testing.B) {
	cores := runtime.GOMAXPROCS(0)
	for _, s := range subjects {
		if cores > 1 && s.next != nil {
			b.Run(fmt.Sprintf("id=%s/cores=%d", s.name, cores), func(b *testing.B) { parallel(b, &s, cores) })
		}
	}
}

func BenchmarkEncode(b *testing.B) { each(b, coding(func(c codec) loop { return c.encode }), convert) }
func BenchmarkDecode(b *testing.B) { each(b, coding(func(c codec) loop { return c.decode }), convert) }

// BenchmarkSort sorts a million shuffled IDs of one generator.
func BenchmarkSort(b *testing.B) {
	for _, s := range subjects {
		if s.sort == nil {
			continue
		}
		b.Run("id="+s.name, func(b *testing.B) {
			shuffle, sort := s.sort(b)
			for b.Loop() {
				b.StopTimer()
				shuffle()
				b.StartTimer()
				sort()
			}
		})
	}
}

// each runs a benchmark of all subjects that have a loop.
func each(b *testing.B, of func(*subject) func(*testing.B) loop, run func(*testing.B, *subject, loop)) {
	for _, s := range subjects {
		if generator := of(&s); generator != nil {
			b.Run("id="+s.name, func(b *testing.B) { run(b, &s, generator(b)) })
		}
	}
}

func coding(of func(codec) loop) func(*subject) func(*testing.B) loop {
	return func(s *subject) func(*testing.B) loop {
		if s.codec == nil {
			return nil
		}
		return func(b *testing.B) loop { return of(s.codec(b)) }
	}
}

// convert measures a codec.
func convert(b *testing.B, _ *subject, run loop) {
	if run == nil {
		b.Skip("the package has no such function")
	}
	m := newMeter(codecIDs)
	for b.Loop() {
		m.time(b, func() error { return run(codecIDs) })
	}
	m.report(b)
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

func (m *meter) time(b *testing.B, f func() error) {
	start := time.Now()
	err := f()
	m.took = append(m.took, float64(time.Since(start))/float64(m.n))
	if err != nil {
		b.Fatal(err)
	}
}

func (m *meter) report(b *testing.B) {
	var now runtime.MemStats
	runtime.ReadMemStats(&now)
	slices.Sort(m.took)
	b.ReportMetric(m.took[len(m.took)/2], "ns/op")
	ids := float64(m.n * len(m.took))
	b.ReportAllocs()
	b.ReportMetric(math.Round(float64(now.Mallocs-m.mem.Mallocs)/ids), "allocs/op")
	b.ReportMetric(math.Round(float64(now.TotalAlloc-m.mem.TotalAlloc)/ids), "B/op")
}

// belowCap measures a generator below its cap. belowCap reads the clock until a tick begins, and then
// measures a burst of fewer IDs than a tick has. No generator waits for the next tick, and each meets a
// new tick once in a burst. Firn, peers with a cap and peers without one are measured alike.
func belowCap(b *testing.B, s *subject, run loop) {
	burst := cmp.Or(s.burst, burstIDs)
	if err := run(burst); err != nil { // the work of the first call
		b.Fatal(err)
	}
	m := newMeter(burst)
	for b.Loop() {
		await(s.ticks())
		m.time(b, func() error { return run(burst) })
	}
	m.report(b)
}

// parallel measures a generator below its cap that several goroutines share. The goroutines run from
// the start and begin a burst together, each with its share: with b.RunParallel they would reach the
// cap. The time ends with the last goroutine: ns/op is the time in which all goroutines together make
// one ID.
func parallel(b *testing.B, s *subject, goroutines int) {
	run, share := s.next(b), cmp.Or(s.burst, burstIDs)/goroutines
	var bursts, done atomic.Int64 // bursts begun, shares run
	var wg sync.WaitGroup
	const over = -1
	for range goroutines - 1 {
		wg.Go(func() {
			for seen := int64(0); ; {
				now := bursts.Load()
				if now == over {
					return
				}
				if now != seen {
					seen = now
					if err := run(share); err != nil {
						b.Error(err)
					}
					done.Add(1)
				}
			}
		})
	}
	defer wg.Wait()
	defer bursts.Store(over)
	m := newMeter(share * goroutines)
	for i := int64(1); b.Loop(); i++ {
		await(s.ticks())
		m.time(b, func() error {
			bursts.Store(i)
			err := run(share)
			for done.Load() < i*int64(goroutines-1) {
			}
			return err
		})
	}
	m.report(b)
}

func (s *subject) ticks() time.Duration { return cmp.Or(s.tick, time.Millisecond) }

// await returns at the beginning of the next tick.
func await(tick time.Duration) {
	for now := tickOf(time.Now(), tick); tickOf(time.Now(), tick) == now; {
	}
}

// tickOf returns the number of the tick that t is in.
func tickOf(t time.Time, tick time.Duration) int64 { return t.UnixNano() / int64(tick) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// last returns f as a loop. f returns the last ID, so the compiler has to make the whole ID.
//
// Loops over generators whose IDs are arrays drop the IDs instead. Go returns arrays in memory, and a
// copy of an array that is still in the store buffer takes about 10 ns if an atomic operation follows.
// The copy is a price of making IDs back to back, not of making an ID. The generators' functions are
// too large for inlining, so a dropped ID is made in full.
func last[T any](f func(n int) (T, error)) loop {
	return func(n int) error {
		_, err := f(n)
		return err
	}
}

// batches returns a loop that fills slices by f.
func batches[T any](f func([]T) (int, error)) loop {
	dst := make([]T, batchIDs)
	return func(n int) error {
		for ; n > 0; n -= batchIDs {
			if _, err := f(dst[:min(n, batchIDs)]); err != nil {
				return err
			}
		}
		return nil
	}
}

// codecOf returns a codec for IDs that f makes. encode writes all IDs, each over the ID before it.
// decode reads all texts and returns the last ID.
func codecOf[T comparable](f func() (T, error), text func(T) string, encode func(buf []byte, ids []T) []byte,
	decode func(texts []string) (T, error)) (c codec) {
	ids := makeIDs(codecIDs, f)
	texts := make([]string, len(ids))
	for i := range ids {
		texts[i] = strings.Clone(text(ids[i]))
	}
	if encode != nil {
		buf := make([]byte, 0, 64)
		c.encode = func(int) error {
			if got := encode(buf, ids); string(got) != texts[codecIDs-1] {
				return fmt.Errorf("%v was written as %q", ids[codecIDs-1], got)
			}
			return nil
		}
	}
	if decode != nil {
		c.decode = func(int) error {
			id, err := decode(texts)
			if err == nil && id != ids[codecIDs-1] {
				err = fmt.Errorf("%s was read as another ID, %v", texts[codecIDs-1], id)
			}
			return err
		}
	}
	return c
}

// makeIDs returns n IDs that f makes.
func makeIDs[T any](n int, f func() (T, error)) []T {
	ids := make([]T, n)
	for i := range ids {
		ids[i] = must(f())
	}
	return ids
}

// sorterOf returns functions that shuffle n IDs that f makes, always in the same way, and sort them.
func sorterOf[T any](f func() (T, error), by func([]T)) (shuffle, sort func()) {
	shuffled := makeIDs(sortIDs, f)
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(shuffled), func(i, j int) {
		shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
	})
	ids := slices.Clone(shuffled)
	return func() { copy(ids, shuffled) }, func() { by(ids) }
}
