package testkit

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/usage"
)

// A Generator has the methods of the generators of all formats.
type Generator[T any] interface {
	Next(context.Context) (T, error)
	TryNext() (T, error)
	Fill(context.Context, []T) (int, error)
	TryFill([]T) (int, error)
	Seq(context.Context, int) iter.Seq2[T, error]
	ExpiresAt() time.Time
	ForLease() grant.Grantee
	Usage() usage.Usage
}

// A Setup has the settings common to all generators.
type Setup struct {
	Clock       func() time.Time
	MaxBackward time.Duration
	Leased      bool // in place of a worker of the configuration
}

// A Generation is a configuration of a generator, and its promises.
type Generation[T ID[T]] struct {
	Name   string // name of the configuration
	Format string
	New    func(Setup) (Generator[T], error)
	Zero   func() Generator[T] // returns the zero value of the generator

	Unit        time.Duration     // length of a tick
	First, Last time.Time         // starts of the first and the last tick
	Time        func(T) time.Time // start of an ID's tick
	Least, Most int               // bounds of the number of IDs in a tick
	Unordered   bool              // IDs are not in order within a tick
	Short       bool              // a tick often has far fewer IDs than Most
	Holds       bool              // continues in the last tick if the clock is behind
	Lines       bool              // continues at once if the clock is behind, in another time line
	Exhausted   error             // the error of an exhausted tick, besides ErrExhausted
}

// now returns a time in the middle of a tick, for fixed clocks.
func (g Generation[T]) now() time.Time {
	return time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).Add(g.Unit * 7 / 10)
}

func (g Generation[T]) tick(t time.Time) time.Time { return t.Truncate(g.Unit).UTC() }

// newGenerator returns a generator with the clock.
func (g Generation[T]) newGenerator(t testing.TB, clock func() time.Time, maxBackward time.Duration) Generator[T] {
	t.Helper()
	gen, err := g.New(Setup{Clock: clock, MaxBackward: maxBackward})
	if err != nil {
		t.Fatalf("NewGenerator: %v", err)
	}
	return gen
}

// must returns a function that fails the test on an error, or for an ID of another tick than that
// of at.
func (g Generation[T]) must(t testing.TB, at time.Time) func(T, error) T {
	t.Helper()
	return func(id T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		if got := g.Time(id); !got.Equal(g.tick(at)) {
			t.Fatalf("%v is of %v, want %v", id, got, g.tick(at))
		}
		return id
	}
}

// increases checks that an ID is greater than the ID before.
func (g Generation[T]) increases(t testing.TB, before, id T) {
	t.Helper()
	if c := id.Compare(before); c == 0 || c < 0 && (!g.Unordered || g.Time(id).Before(g.Time(before))) {
		t.Fatalf("%v follows %v", id, before)
	}
}

// drain exhausts the tick and returns its IDs.
func (g Generation[T]) drain(t testing.TB, gen Generator[T], at time.Time) []T {
	t.Helper()
	var all []T
	for len(all) <= g.Most {
		id, err := gen.TryNext()
		if err != nil {
			if !errors.Is(err, iderr.ErrExhausted) || errors.Is(err, iderr.ErrClockBackwards) ||
				g.Exhausted != nil && !errors.Is(err, g.Exhausted) {
				t.Fatalf("an exhausted tick gives %v", err)
			}
			if id != *new(T) {
				t.Fatalf("%v beside an error", id)
			}
			break
		}
		g.must(t, at)(id, nil)
		if len(all) > 0 {
			g.increases(t, all[len(all)-1], id)
		}
		all = append(all, id)
	}
	if g.Unordered {
		seen := make(map[T]bool)
		for _, id := range all {
			if seen[id] {
				t.Fatalf("%v twice", id)
			}
			seen[id] = true
		}
	}
	return all
}

// Run runs all checks of the configurations.
func Run[T ID[T]](t *testing.T, all []Generation[T]) {
	for _, g := range all {
		t.Run(g.Name, func(t *testing.T) {
			t.Run("capacity", g.capacity)
			t.Run("range", g.timeRange)
			t.Run("fill", g.fill)
			t.Run("try fill", g.tryFills)
			t.Run("seq", g.seq)
			t.Run("goroutines", g.goroutines)
			t.Run("zero", g.zero)
			if g.Lines {
				return
			}
			t.Run("backwards", g.backwards)
			t.Run("backwards and waiting", g.waiting)
			t.Run("clock that panics", g.faults)
		})
	}
}

func (g Generation[T]) capacity(t *testing.T) {
	clock := At(g.now())
	gen := g.newGenerator(t, clock.Now, 0)
	ticks := 2
	if g.Most > 1<<17 {
		ticks = 1 // enough for the count
	}
	for i := range ticks {
		all := g.drain(t, gen, clock.Now())
		if len(all) < g.Least || len(all) > g.Most {
			t.Errorf("a tick has %d IDs, want %d to %d", len(all), g.Least, g.Most)
		}
		for range 3 {
			if id, err := gen.TryNext(); !errors.Is(err, iderr.ErrExhausted) {
				t.Errorf("an exhausted tick gives %v, %v", id, err)
			}
		}
		if i == 0 {
			g.usageOfTick(t, gen, len(all))
		}
		clock.Set(g.tick(clock.Now()).Add(g.Unit - 1)) // the last instant of the tick
		if id, err := gen.TryNext(); !errors.Is(err, iderr.ErrExhausted) {
			t.Errorf("an exhausted tick gives %v, %v", id, err)
		}
		clock.Step(1)
		g.increases(t, all[len(all)-1], g.must(t, clock.Now())(gen.TryNext()))
		clock.Step(g.Unit * 17 / 10)
	}
	g.usageLater(t, gen, clock)
}

// backwardsBy checks that the calls return a ClockError with exactly the duration by.
func (g Generation[T]) backwardsBy(t testing.TB, gen Generator[T], by time.Duration, waits bool) {
	t.Helper()
	check := func(name string, err error) {
		t.Helper()
		e, ok := errors.AsType[*iderr.ClockError](err)
		if !ok || !errors.Is(err, iderr.ErrClockBackwards) || errors.Is(err, iderr.ErrExhausted) {
			t.Fatalf("%s with the clock %v behind: %v", name, by, err)
		}
		if e.By != by || e.Format != g.Format {
			t.Errorf("%s: %s, by %v; want %v", name, e.Format, e.By, by)
		}
	}
	_, err := gen.TryNext()
	check("TryNext", err)
	n, err := gen.TryFill(make([]T, 3))
	if check("TryFill", err); n != 0 {
		t.Errorf("TryFill made %d", n)
	}
	if !waits {
		_, err = gen.Next(context.Background())
		check("Next", err)
		n, err = gen.Fill(context.Background(), make([]T, 3))
		check("Fill", err)
		if n != 0 {
			t.Errorf("Fill made %d", n)
		}
	}
}

func (g Generation[T]) backwards(t *testing.T) {
	clock := At(g.now())
	for _, maxBackward := range []time.Duration{-1, 0, 3 * g.Unit} {
		allowed := maxBackward
		switch {
		case maxBackward < 0:
			allowed = 0
		case maxBackward == 0:
			allowed = 5 * time.Second
		}
		clock.Set(g.now())
		gen := g.newGenerator(t, clock.Now, maxBackward)
		last := g.must(t, clock.Now())(gen.TryNext())
		for _, behind := range []time.Duration{g.Unit, allowed, allowed + g.Unit, 1000*allowed + 123456*g.Unit} {
			if behind == 0 {
				continue
			}
			// Early and late in its tick.
			for _, within := range []time.Duration{0, g.Unit - 1} {
				clock.Set(g.tick(g.now()).Add(within - behind))
				if g.Holds && behind <= allowed {
					if g.Least > 8 { // enough IDs for the checks below
						id := g.must(t, g.now())(gen.TryNext())
						g.increases(t, last, id)
						last = id
					}
					continue
				}
				g.backwardsBy(t, gen, behind, behind <= allowed)
			}
		}
		clock.Set(g.now().Add(2 * g.Unit)) // the clock has caught up
		g.increases(t, last, g.must(t, clock.Now())(gen.TryNext()))
	}
}

// waiting checks the waits of Next, in a bubble.
func (g Generation[T]) waiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(g.now())) // a bubble begins in 2000, before epochs
		var ahead time.Duration
		gen := g.newGenerator(t, func() time.Time { return time.Now().Add(ahead) }, 4*time.Second)
		ctx := context.Background()
		at := g.tick(time.Now())
		last, err := gen.Next(ctx)
		if err != nil || !g.Time(last).Equal(at) {
			t.Fatalf("%v of %v, %v; want %v", last, g.Time(last), err, at)
		}

		// If the clock is set back by up to MaxBackward, Next waits or holds.
		ahead = -3 * time.Second
		before := time.Now()
		id, err := gen.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		g.increases(t, last, id)
		waited := time.Since(before)
		switch {
		case g.Least == 1 && g.Holds:
		case g.Holds && (waited != 0 || !g.Time(id).Equal(at)):
			t.Errorf("waited %v for an ID of %v, though it holds %v", waited, g.Time(id), at)
		case !g.Holds && (waited < 3*time.Second-g.Unit || waited > 3*time.Second+10*time.Millisecond):
			t.Errorf("waited %v", waited)
		}

		// Next waits as long as the context allows.
		if !g.Holds {
			ahead -= 3 * time.Second
			for _, ctx := range contexts(t) {
				before = time.Now()
				id, err = gen.Next(ctx.Context)
				if !errors.Is(err, ctx.want) || id != *new(T) || time.Since(before) < ctx.at || time.Since(before) > ctx.at+10*time.Millisecond {
					t.Errorf("%v, %v after %v; want %v", id, err, time.Since(before), ctx.want)
				}
				n, err := gen.Fill(ctx.Context, make([]T, 2))
				if n != 0 || !errors.Is(err, ctx.want) {
					t.Errorf("Fill: %d, %v", n, err)
				}
			}
		}
		//lint:ignore SA1012 a nil context must not panic
		if _, err := gen.Next(nil); err != nil {
			t.Error(err)
		}

		// If the clock is set back further, Next does not wait. Time has passed, so the last ID is
		// new.
		time.Sleep(10 * time.Second)
		ahead = 0
		if _, err := gen.Next(ctx); err != nil {
			t.Fatal(err)
		}
		at = time.Now()
		ahead = -4*time.Second - g.Unit
		g.backwardsBy(t, gen, 4*time.Second+g.Unit, false)
		if waited := time.Since(at); waited != 0 {
			t.Errorf("waited %v for an error", waited)
		}

		// In an exhausted tick, Next waits for the next tick.
		ahead = 0
		time.Sleep(time.Second)
		clock := At(time.Now())
		gen = g.newGenerator(t, clock.Now, 0)
		all := g.drain(t, gen, clock.Now())
		n, err := gen.Fill(deadline(t, 20*time.Millisecond), make([]T, 2))
		if n != 0 || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Fill in an exhausted tick: %d, %v", n, err)
		}
		go func() {
			time.Sleep(50 * time.Millisecond)
			clock.Step(g.Unit)
		}()
		before = time.Now()
		//lint:ignore SA1012 as above
		id, err = gen.Next(nil)
		if err != nil || !g.Time(id).Equal(g.tick(clock.Now())) {
			t.Fatalf("%v, %v", id, err)
		}
		g.increases(t, all[len(all)-1], id)
		if waited := time.Since(before); waited < 50*time.Millisecond || waited > 60*time.Millisecond {
			t.Errorf("waited %v for the next tick", waited)
		}
		if u := gen.Usage(); u.Waits != 2 || u.Exhausted != 1 || u.IDs != uint64(len(all))+1 {
			t.Errorf("after two waits and %d IDs: %+v", len(all)+1, u)
		}
	})
}

type endingContext struct {
	context.Context
	want error
	at   time.Duration
}

func contexts(t *testing.T) []endingContext {
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	return []endingContext{
		{canceled, context.Canceled, 0},
		{deadline(t, time.Second), context.DeadlineExceeded, time.Second},
	}
}

func deadline(t *testing.T, d time.Duration) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	t.Cleanup(cancel)
	return ctx
}

// outOfRange checks that the error is a TimeError of the time.
func (g Generation[T]) outOfRange(t testing.TB, name string, at time.Time, err error) {
	t.Helper()
	e, ok := errors.AsType[*iderr.TimeError](err)
	if !ok || !errors.Is(err, iderr.ErrTimeRange) || errors.Is(err, iderr.ErrExhausted) || errors.Is(err, iderr.ErrClockBackwards) {
		t.Errorf("%s at %v: %v", name, at, err)
		return
	}
	if errors.Is(err, iderr.ErrRange) != at.After(g.Last) {
		t.Errorf("%s at %v: %v is the error of an ID that is too large, or is not", name, at, err)
	}
	if e.Format != g.Format || !e.Time.Equal(at) || !e.First.Equal(g.First) || !e.Last.Equal(g.Last) {
		t.Errorf("%s at %v: %#v; want %v to %v", name, at, e, g.First, g.Last)
	}
}

func (g Generation[T]) timeRange(t *testing.T) {
	for _, at := range []time.Time{g.First, g.First.Add(g.Unit - 1), g.Last, g.Last.Add(g.Unit - 1)} {
		g.must(t, at)(g.newGenerator(t, At(at).Now, 0).TryNext())
	}
	clock := At(g.now())
	gen := g.newGenerator(t, clock.Now, 0)
	if got := gen.ExpiresAt(); !got.Equal(g.Last.Add(g.Unit)) || got.Location() != time.UTC {
		t.Errorf("ExpiresAt is %v, want %v", got, g.Last.Add(g.Unit))
	}
	for _, began := range []bool{false, true} {
		if began {
			g.must(t, g.now())(gen.TryNext())
		}
		for _, at := range append(Extremes(), g.First.Add(-1), g.First.Add(-g.Unit), gen.ExpiresAt(), gen.ExpiresAt().Add(g.Unit)) {
			clock.Set(at)
			_, err := g.New(Setup{Clock: clock.Now})
			g.outOfRange(t, "NewGenerator", at, err)
			_, err = gen.TryNext()
			if g.outOfRange(t, "TryNext", at, err); t.Failed() {
				return // the other times would fail as well
			}
			_, err = gen.Next(context.Background())
			g.outOfRange(t, "Next", at, err)
			n, err := gen.Fill(context.Background(), make([]T, 2))
			g.outOfRange(t, "Fill", at, err)
			tried, err := gen.TryFill(make([]T, 2))
			g.outOfRange(t, "TryFill", at, err)
			if n+tried != 0 {
				t.Errorf("Fill made %d, and TryFill %d", n, tried)
			}
		}
		clock.Set(g.now())
	}
	clock.Step(g.Unit)
	g.must(t, clock.Now())(gen.Next(context.Background()))
}

// Extremes returns times outside the range of every format. Counted in milliseconds or
// microseconds, some of these times wrap around to times within the range.
func Extremes() []time.Time {
	const now = 1_780_000_000 // seconds
	return []time.Time{
		{}, time.Date(-300000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(300000, 1, 1, 0, 0, 0, 0, time.UTC),
		time.Unix(1<<62, 0), time.Unix(-1<<62, 0), time.Unix(1<<62, 999999999), time.Unix(-1<<62, 999999999),
		time.Unix(1<<63-1, 0), time.Unix(-1<<63, 0),
		time.Unix(1<<61+now, 0), time.Unix(-1<<61+now, 0), // 2^61 s are a multiple of 2^64 ms
		time.Unix(1<<58+now, 0), time.Unix(-1<<58+now, 0), // and 2^58 s of 2^64 µs
	}
}
