package sno_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

func wantSnapshot(t *testing.T, g *sno.Generator, wallHi, wallSafe int64, drifts, sequence uint32) {
	t.Helper()
	s := g.Snapshot()
	if s.WallHi != wallHi || s.WallSafe != wallSafe || s.Drifts != drifts || s.Sequence != sequence {
		t.Fatalf("snapshot %+v, want WallHi %d, WallSafe %d, Drifts %d, Sequence %d", s, wallHi, wallSafe, drifts, sequence)
	}
}

func TestTickTock(t *testing.T) {
	h := newHands(1000)
	g := h.generator(t, sno.GeneratorSnapshot{SequenceMin: 5, SequenceMax: 8})
	wantSnapshot(t, g, 0, 0, 0, 5)
	want(t, mustTry(t, g), 1000, 0, 5)
	want(t, mustTry(t, g), 1000, 0, 6)
	wantSnapshot(t, g, 1000, 0, 0, 6)

	h.set(900) // the first regression changes the line, without a wait
	want(t, mustTry(t, g), 900, 1, 5)
	wantSnapshot(t, g, 900, 1000, 1, 5)
	want(t, mustTry(t, g), 900, 1, 6)

	h.set(1200) // past the time before the regression
	want(t, mustTry(t, g), 1200, 1, 5)
	wantSnapshot(t, g, 1200, 1000, 1, 5)

	h.set(1001) // the second regression, into a time that the first line has not used
	want(t, mustTry(t, g), 1001, 0, 5)
	wantSnapshot(t, g, 1001, 1200, 2, 5)

	h.set(1300)
	want(t, mustTry(t, g), 1300, 0, 5)
	h.set(1200) // both lines have used this unit
	for range 3 {
		_, err := g.TryNext(0)
		wantBackwards(t, err, sno.TimeUnit)
	}
	wantSnapshot(t, g, 1300, 1200, 2, 5)
	h.setTime(at(1100).Add(time.Millisecond))
	_, err := g.TryNext(0)
	wantBackwards(t, err, 101*sno.TimeUnit-time.Millisecond)
	h.set(1) // to the epoch
	_, err = g.TryNext(0)
	wantBackwards(t, err, 1200*sno.TimeUnit)
	h.set(1201)
	want(t, mustTry(t, g), 1201, 1, 5)
	wantSnapshot(t, g, 1201, 1300, 3, 5)

	// A clock that goes on, or stands, is not a regression.
	want(t, mustTry(t, g), 1201, 1, 6)
	h.set(1202)
	want(t, mustTry(t, g), 1202, 1, 5)
	wantSnapshot(t, g, 1202, 1300, 3, 5)
}

// If the line in use is behind the other line, a small step back ends when the clock is again at the last
// unit of the line in use, however far ahead the other line is.
func TestUnsafeTimeEndsWithEitherLine(t *testing.T) {
	h := newHands(900_000 + 10_000) // an hour is 900000 units
	g := h.generator(t, sno.GeneratorSnapshot{SequenceMax: 3})
	mustTry(t, g)
	h.set(10_000)
	want(t, mustTry(t, g), 10_000, 1, 0)
	h.set(9_990)
	_, err := g.TryNext(0)
	wantBackwards(t, err, 10*sno.TimeUnit)
	h.set(10_000)
	for i := range uint16(3) {
		want(t, mustTry(t, g), 10_000, 1, i+1)
	}
	h.set(9_990) // and with the next unit if that unit is exhausted
	_, err = g.TryNext(0)
	wantBackwards(t, err, 11*sno.TimeUnit)
	h.set(10_001)
	want(t, mustTry(t, g), 10_001, 1, 0)
}

// New, Next and Fill return exactly when the clock leaves the unsafe time.
func TestWaitsInUnsafeTime(t *testing.T) {
	for name, next := range map[string]func(*sno.Generator) (sno.ID, error){
		"New":  func(g *sno.Generator) (sno.ID, error) { return g.New(0), nil },
		"Next": func(g *sno.Generator) (sno.ID, error) { return g.Next(context.Background(), 0) },
		"Fill": func(g *sno.Generator) (sno.ID, error) {
			var ids [1]sno.ID
			_, err := g.Fill(context.Background(), 0, ids[:])
			return ids[0], err
		},
	} {
		for _, longest := range []time.Duration{0, -1, time.Hour} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					intoEpoch()
					var c offsetClock
					g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}, Clock: c.now, MaxBackward: longest})
					time.Sleep(time.Minute)
					first := g.New(0)
					want(t, first, 1000+15_000, 0, 0)
					c.offset.Store(-int64(20 * time.Second))
					want(t, g.New(0), 1000+10_000, 1, 0) // at once
					time.Sleep(30 * time.Second)
					want(t, g.New(0), 1000+17_500, 1, 0)

					// The first line has used up to unit 16000, 30 s before here minus 20 s.
					const behind = 12*time.Second + 1500*time.Microsecond
					c.offset.Add(-int64(behind))
					start, by := time.Now(), behind-10*time.Second+sno.TimeUnit
					_, err := g.TryNext(0)
					wantBackwards(t, err, by)
					id, err := next(g)
					if name != "New" && longest < 0 {
						wantBackwards(t, err, by)
						return
					}
					if err != nil || time.Since(start) != by {
						t.Errorf("%v after %v, want %v", err, time.Since(start), by)
					}
					want(t, id, 1000+15_001, 0, 0)
					testkit.Same(t, g.Snapshot().Drifts, 2)
				})
			})
		}
	}
}

func TestMaxBackward(t *testing.T) {
	for _, c := range []struct {
		max   time.Duration
		back  time.Duration // from the end of the unsafe time
		waits bool
	}{
		{0, 5 * time.Second, true},
		{0, 5*time.Second + 1, false},
		{time.Second, time.Second, true},
		{time.Second, time.Second + 1, false},
		{-1, 1, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			intoEpoch()
			var clock offsetClock
			g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}, Clock: clock.now, MaxBackward: c.max})
			time.Sleep(time.Minute)
			g.New(0)
			clock.offset.Store(-int64(time.Minute))
			g.New(0)
			time.Sleep(2 * time.Minute)
			g.New(0) // both lines have used all units up to a minute and a unit ago
			clock.offset.Add(-int64(time.Minute - sno.TimeUnit + c.back))
			start := time.Now()
			_, err := g.Next(t.Context(), 0)
			if !c.waits {
				wantBackwards(t, err, c.back)
			} else if err != nil || time.Since(start) != c.back {
				t.Errorf("%v after %v, want %v", err, time.Since(start), c.back)
			}
		})
	}
}

// A scripted clock has given readings, and then those of hands.
type scripted struct {
	hands
	readings []int64
}

func (s *scripted) read() time.Time {
	if len(s.readings) > 0 {
		unit := s.readings[0]
		s.readings = s.readings[1:]
		return at(unit)
	}
	return s.hands.read()
}

// A caller that is held up between reading the clock and the word finds a word ahead of the reading. The
// clock did not go back then.
func TestStaleReading(t *testing.T) {
	c := new(scripted)
	c.set(1000)
	g := newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}, Clock: c.read})
	mustTry(t, g)
	c.readings = []int64{999}
	want(t, mustTry(t, g), 1000, 0, 1)
	c.readings = []int64{10, 1001}
	want(t, mustTry(t, g), 1001, 0, 0)
	wantSnapshot(t, g, 1001, 0, 0, 0)
	if len(c.readings) > 0 {
		t.Errorf("%d readings were not taken", len(c.readings))
	}
}

// A caller can be held up while the clock goes back and another caller changes the line. The old reading
// must not move the new line ahead to the time of the reading: both lines would be used up to there, and
// all callers would wait.
func TestStaleReadingFromBeforeRegression(t *testing.T) {
	for name, call := range map[string]func(*sno.Generator) (sno.ID, error){
		"TryNext": func(g *sno.Generator) (sno.ID, error) { return g.TryNext(0) },
		"Next":    func(g *sno.Generator) (sno.ID, error) { return g.Next(context.Background(), 0) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHands(900_000)
			var g *sno.Generator
			hold := false
			read := func() time.Time {
				now := h.read()
				if hold {
					hold = false
					h.set(1000)
					want(t, mustTry(t, g), 1000, 1, 0)
				}
				return now
			}
			g = newGenerator(t, sno.Config{Snapshot: &sno.GeneratorSnapshot{}, Clock: read})
			mustTry(t, g)
			hold = true
			id := testkit.Must(call(g))
			want(t, id, 1000, 1, 1)
			want(t, mustTry(t, g), 1000, 1, 2)
			wantSnapshot(t, g, 1000, 900_000, 1, 2)
		})
	}
}
