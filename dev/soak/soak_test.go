package soak

import (
	"context"
	"encoding/binary"
	"errors"
	"flag"
	"testing"
	"time"

	systemclock "github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
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
			clock := NewClock(start, 1)
			read := clock.Now
			if system {
				read = nil
				set := func(time.Time) time.Time { return clock.Now() }
				systemclock.Set.Store(&set)
				defer systemclock.Set.Store(nil)
			}
			open, err := f.open(read)
			if err != nil {
				t.Fatal(err)
			}
			s := &Soak{
				Clock: clock, Shift: f.shift, IDs: *draw, Most: 100 * max(*draw, 1_000_000),
				Least:    Events{Boundaries: max(*draw/10_000, 10), Backwards: 1, Steps: 1},
				Progress: func(ids int64) { t.Logf("%d million IDs", ids/1_000_000) },
			}
			// A slow machine exhausts the last tick only while the clock is behind. A generator that
			// continues in that tick then says that the clock is behind.
			if f.waits {
				s.Least.Exhausted = 1
			}
			for range goroutines {
				s.Sources = append(s.Sources, open())
			}
			began := time.Now()
			ids, happened, err := s.Run(t.Context())
			took := time.Since(began)
			t.Logf("%s: %d IDs in %v, %.1f million a second; %d timestamps, %d steps back; "+
				"TryNext found %d times an exhausted tick and %d times the clock behind",
				f.name, ids, took.Round(time.Millisecond), float64(ids)/1e6/took.Seconds(),
				happened.Boundaries, happened.Steps, happened.Exhausted, happened.Backwards)
			if err != nil {
				t.Fatal(err)
			}
		})
	}
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

// TestSoakFindsDuplicates draws from a faulty generator.
func TestSoakFindsDuplicates(t *testing.T) {
	var first, twice *Violation
	for seed := uint64(0); seed < 100 && twice == nil; seed++ {
		clock := NewClock(start, seed)
		s := twoAtomicsSoak(clock, goroutines)
		ids, happened, err := s.Run(t.Context())
		if errors.As(err, &first) {
			t.Logf("after %d IDs of %d timestamps: %v", ids, happened.Boundaries, err)
		}
		twice = violation(err, Duplicate)
	}
	if twice == nil {
		t.Error("two atomics, and no duplicate was found")
	}
}

// With one goroutine the same generator is right, and the soak must find no fault.
func TestSoakAcquits(t *testing.T) {
	s := twoAtomicsSoak(NewClock(start, 1), 1)
	s.Most = 500_000
	s.IDs = s.Most
	if _, _, err := s.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

func twoAtomicsSoak(clock *Clock, goroutines int) *Soak {
	s := &Soak{Clock: clock, Shift: 22, IDs: 1 << 40, Most: 10_000_000}
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
