package soak

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"testing"
	"time"

	systemclock "github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

var draw = flag.Int64("ids", 300_000, "IDs to draw from each generator")

const goroutines = 8

// start is the first time of the clock, later than every format's epoch.
var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// TestSoak checks that all IDs of a generator are distinct and in order with a very bad clock.
// Meanwhile ticks begin, are exhausted, and are ahead of the clock. The test sets the system's
// clock, so generators read the clock as they do in use.
func TestSoak(t *testing.T) { soakAll(t, true) }

// TestSoakReading is TestSoak with a program's own clock. Generators read this clock for each ID.
func TestSoakReading(t *testing.T) { soakAll(t, false) }

func soakAll(t *testing.T, system bool) {
	for _, f := range []struct {
		name  string
		shift uint
		waits bool // waits for a clock that is behind, and does not continue in the last tick
		open  func(clock func() time.Time) (func() Source, error)
	}{
		{"nanoflake", 22, true, func(clock func() time.Time) (func() Source, error) {
			g, err := nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 7, Clock: clock})
			return share(g, number[nanoflake.ID]), err
		}},
		{"ulidflake", 20, true, func(clock func() time.Time) (func() Source, error) {
			g, err := ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 1, Clock: clock})
			return share(g, number[ulidflake.ID]), err
		}},
		{"ulidflake, random increments", 20, true, func(clock func() time.Time) (func() Source, error) {
			g, err := ulidflake.NewGenerator(ulidflake.Config{IncrementBits: 4, Clock: clock})
			return share(g, number[ulidflake.ID]), err
		}},
		{"ulidflake, scalable", 20, true, func(clock func() time.Time) (func() Source, error) {
			g, err := ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Scalability: 3, IncrementBits: 1, Clock: clock})
			return share(g, number[ulidflake.ScalableID]), err
		}},
		{"snowflakesi", 13, true, func(clock func() time.Time) (func() Source, error) {
			layout := snowflakesi.Layout{MachineBits: snowflakesi.NoMachineBits} // 13 bits of sequence
			g, err := snowflakesi.NewGenerator(snowflakesi.Config{Layout: layout, Clock: clock})
			return share(g, number[snowflakesi.ID]), err
		}},
		{"scru160", 16, false, func(clock func() time.Time) (func() Source, error) {
			g, err := scru160.NewGenerator(scru160.Config{Clock: clock})
			return share(g, prefix), err
		}},
	} {
		t.Run(f.name, func(t *testing.T) {
			clock, read := newClock(t, system)
			open := testkit.Must(f.open(read))
			s := &Soak{
				Clock: clock, Shift: f.shift, IDs: *draw, Most: 100 * max(*draw, 1_000_000),
				Least: Events{Boundaries: max(*draw/10_000, 10), Backwards: 1, Steps: 1},
			}
			// A slow machine exhausts the last tick only while the clock is behind. A generator that
			// continues in that tick then says that the clock is behind.
			// It takes 65,536 IDs in one tick, and the race detector is too slow for them.
			if f.waits {
				s.Least.Exhausted = 1
			} else if raceDetector {
				s.Least.Backwards = 0
			}
			for range goroutines {
				s.Sources = append(s.Sources, open())
			}
			s.run(t)
		})
	}
}

// newClock returns a clock, and what a generator reads: the clock, or nil for the system's clock, which
// is then set to the clock.
func newClock(t *testing.T, system bool) (clock *Clock, read func() time.Time) {
	clock = NewClock(start, 1)
	if !system {
		return clock, clock.Now
	}
	set := func(time.Time) time.Time { return clock.Now() }
	systemclock.Set.Store(&set)
	t.Cleanup(func() { systemclock.Set.Store(nil) })
	return clock, nil
}

// run runs a soak, and fails the test on an error.
func (s *Soak) run(t *testing.T) {
	t.Helper()
	s.Progress = func(ids int64) { t.Logf("%d million IDs", ids/1_000_000) }
	began := time.Now()
	ids, happened, err := s.Run(t.Context())
	took := time.Since(began)
	t.Logf("%d IDs in %v, %.1f million a second; %d timestamps, %d steps back; "+
		"TryNext found %d times an exhausted tick and %d times the clock behind",
		ids, took.Round(time.Millisecond), float64(ids)/1e6/took.Seconds(),
		happened.Boundaries, happened.Steps, happened.Exhausted, happened.Backwards)
	testkit.OK(t, err)
}

// TestSnoSoak checks that all IDs of sno are distinct. The clock goes into times that one setting of the
// tick-tock bit has used, and into times that both have used. A pool of 4 is exhausted again and again.
func TestSnoSoak(t *testing.T) {
	for _, f := range []struct {
		name        string
		min, max    uint16
		maxBackward time.Duration
		ids         int64
		round       int
		least       Events
	}{
		{"whole pool, waiting", 0, sno.MaxSequence, 0, *draw, 0, Events{max(*draw/100_000, 10), 0, 1, 1}},
		{"whole pool, not waiting", 0, sno.MaxSequence, -1, *draw, 0, Events{max(*draw/100_000, 10), 0, 1, 1}},
		{"pool of 4", 1000, 1003, 0, 1000, 2 * maxFill, Events{Boundaries: 100, Exhausted: 1, Steps: 1}},
	} {
		for name, system := range map[string]bool{"system": true, "read": false} {
			t.Run(f.name+"/"+name, func(t *testing.T) {
				clock, read := newClock(t, system)
				clock.Twice = true
				overflows := make(chan *sno.SequenceOverflowNotification) // nobody receives, which holds up no caller
				g, err := sno.NewGeneratorWith(sno.Config{
					Snapshot: &sno.GeneratorSnapshot{SequenceMin: f.min, SequenceMax: f.max},
					Clock:    read, Overflow: overflows, MaxBackward: f.maxBackward,
				})
				testkit.OK(t, err)
				s := &Soak{Clock: clock, IDs: f.ids, Try: 2, Round: f.round, Most: 100 * max(*draw, 1_000_000), Least: f.least, Ledger: NewLedger(firstSno)}
				for i := range goroutines {
					s.Sources = append(s.Sources, &snoSource{generator: g, meta: byte(i)})
				}
				s.run(t)
			})
		}
	}
}

// firstSno returns the first ID of a time.
func firstSno(t time.Time) uint64 { return uint64(t.Sub(time.Unix(sno.Epoch, 0))/sno.TimeUnit) << 17 }

// snoSource makes snos. Their integers have the unit, the tick-tock bit and the sequence.
type snoSource struct {
	generator *sno.Generator
	meta      byte
	batch     [maxFill]sno.ID
}

func snoNumber(id sno.ID) uint64 {
	return binary.BigEndian.Uint64(id[:])>>24<<16 | uint64(id.Sequence())
}

func (s *snoSource) Next(context.Context) (uint64, error) {
	return snoNumber(s.generator.New(s.meta)), nil
}

func (s *snoSource) TryNext() (uint64, error) {
	id, err := s.generator.TryNext(s.meta)
	return snoNumber(id), err
}

// Fill makes the rest one by one if the generator does not wait for a clock that is behind.
func (s *snoSource) Fill(ctx context.Context, dst []uint64) (int, error) {
	n, err := s.generator.Fill(ctx, s.meta, s.batch[:len(dst)])
	for i, id := range s.batch[:n] {
		dst[i] = snoNumber(id)
	}
	for ; errors.Is(err, sno.ErrClockBackwards) && n < len(dst); n++ {
		dst[n], _ = s.Next(ctx)
	}
	if n == len(dst) {
		err = nil
	}
	return n, err
}

// generator is the shape that all formats' generators share.
type generator[ID any] interface {
	Next(ctx context.Context) (ID, error)
	TryNext() (ID, error)
	Fill(ctx context.Context, dst []ID) (int, error)
}

// share returns a function that makes the Sources of a generator.
func share[ID any](g generator[ID], key func(ID) uint64) func() Source {
	return func() Source { return &source[ID]{generator: g, key: key} }
}

type source[ID any] struct {
	generator generator[ID]
	key       func(ID) uint64
	batch     [maxFill]ID
}

func (s *source[ID]) Next(ctx context.Context) (uint64, error) {
	id, err := s.generator.Next(ctx)
	return s.key(id), err
}

func (s *source[ID]) TryNext() (uint64, error) {
	id, err := s.generator.TryNext()
	return s.key(id), err
}

func (s *source[ID]) Fill(ctx context.Context, dst []uint64) (int, error) {
	n, err := s.generator.Fill(ctx, s.batch[:len(dst)])
	for i, id := range s.batch[:n] {
		dst[i] = s.key(id)
	}
	return n, err
}

func number[ID ~int64](id ID) uint64 { return uint64(id) }

// prefix returns the timestamp and counter of a SCRU160 ID. Prefixes must be distinct, without the
// random bits.
func prefix(id scru160.ID) uint64 { return binary.BigEndian.Uint64(id[:8]) }

// TestSoakFindsDuplicates draws from a faulty generator, and finds its duplicates by their order and by a
// ledger.
func TestSoakFindsDuplicates(t *testing.T) {
	for _, ledger := range []bool{false, true} {
		found := false
		for seed := uint64(0); seed < 100 && !found; seed++ {
			s := twoAtomicsSoak(NewClock(start, seed), goroutines, ledger)
			ids, happened, err := s.Run(t.Context())
			if found = violation(err, Duplicate) != nil; found {
				t.Logf("after %d IDs of %d timestamps: %v", ids, happened.Boundaries, err)
			}
		}
		if !found {
			t.Errorf("ledger %v: two atomics, and no duplicate was found", ledger)
		}
	}
}

func twoAtomicsSoak(clock *Clock, goroutines int, ledger bool) *Soak {
	s := &Soak{Clock: clock, Shift: 22, IDs: 1 << 40, Most: 10_000_000}
	if ledger {
		s.Ledger = NewLedger(func(t time.Time) uint64 { return uint64(t.UnixMilli()-nanoflake.DefaultEpochMilli) << 22 })
	}
	g := &twoAtomics{clock: clock.Now}
	open := share(g, number[nanoflake.ID])
	for range goroutines {
		s.Sources = append(s.Sources, open())
	}
	return s
}

// violation returns the violation of a kind in the error of Run.
func violation(err error, k Kind) *Violation {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return nil
	}
	for _, e := range joined.Unwrap() {
		if v, ok := e.(*Violation); ok && v.Kind == k {
			return v
		}
	}
	return nil
}
