package testkit

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
)

func (g Generation[T]) tryFills(t *testing.T) {
	t.Run("tick", g.tryFillTick)
	t.Run("clock behind", g.tryFillBehind)
	t.Run("lease", g.tryFillLeased)
	t.Run("no lease", g.unleased)
	t.Run("waiters", g.tryFillBesideWaiters)
	t.Run("goroutines", g.tryFillBesideNext)
}

// tries asks TryFill for n IDs, in a bubble. TryFill does not wait, and makes IDs in order. If TryFill makes
// fewer IDs than n, its error is the error of TryNext.
func (g Generation[T]) tries(t testing.TB, gen Generator[T], n int) ([]T, error) {
	t.Helper()
	began := time.Now()
	dst := make([]T, n)
	n, err := gen.TryFill(dst)
	if waited := time.Since(began); waited != 0 {
		t.Fatalf("TryFill waited %v", waited)
	}
	if n < 0 || n > len(dst) || (err == nil) != (n == len(dst)) {
		t.Fatalf("TryFill made %d of %d IDs: %v", n, len(dst), err)
	}
	for i, id := range dst {
		if (id == *new(T)) != (i >= n) {
			t.Fatalf("place %d has the ID %v after %d IDs", i, id, n)
		}
		if i > 0 && i < n && id.Compare(dst[i-1]) <= 0 { // increases costs much
			g.increases(t, dst[i-1], id)
		}
	}
	if err != nil {
		if _, want := gen.TryNext(); want == nil || err.Error() != want.Error() {
			t.Fatalf("the error of TryFill is %v, and that of TryNext is %v", err, want)
		}
	}
	return dst[:n], err
}

// refuses checks that TryFill makes no ID and returns the error.
func (g Generation[T]) refuses(t testing.TB, gen Generator[T], want error, when string) {
	t.Helper()
	ids, err := g.tries(t, gen, 3)
	if Is(t, err, want, "%s", when); len(ids) > 0 {
		t.Errorf("%s: %d IDs", when, len(ids))
	}
}

// exhausts takes the rest of a tick, in a bubble.
func (g Generation[T]) exhausts(t testing.TB, gen Generator[T]) []T {
	t.Helper()
	const most = 1 << 20 // IDs in a tick, of any format
	ids, err := g.tries(t, gen, g.Most+1)
	for err == nil && len(ids) <= most { // leased, a generator can have a wider sequence
		var more []T
		more, err = g.tries(t, gen, g.Most+1)
		ids = append(ids, more...)
	}
	if !errors.Is(err, iderr.ErrExhausted) || errors.Is(err, iderr.ErrClockBackwards) || g.Exhausted != nil && !errors.Is(err, g.Exhausted) {
		t.Errorf("more IDs than a tick has: %v", err)
	}
	return ids
}

// tryFillTick exhausts a tick in two parts.
func (g Generation[T]) tryFillTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(g.now()))
		gen := g.newGenerator(t, nil, 0)
		ids, err := g.tries(t, gen, g.Least)
		OK(t, err)
		_, err = g.tries(t, gen, 0)
		OK(t, err)
		ids = append(ids, g.exhausts(t, gen)...)
		if len(ids) > g.Most {
			t.Errorf("%d IDs of a tick", len(ids))
		}
		_, err = g.tries(t, gen, 0) // nothing is missing
		OK(t, err)
		g.refuses(t, gen, iderr.ErrExhausted, "an exhausted tick")
		now := g.tick(time.Now())
		seen := make(map[T]bool)
		for i, id := range ids {
			switch {
			case !g.Time(id).Equal(now):
				t.Fatalf("%v is of %v, want %v", id, g.Time(id), now)
			case g.Unordered && seen[id]:
				t.Fatalf("%v twice", id)
			case g.Unordered:
				seen[id] = true
			case i > 0 && id.Compare(ids[i-1]) <= 0:
				t.Fatalf("%v follows %v", id, ids[i-1])
			}
		}
		made := uint64(len(ids))
		if u := gen.Usage(); u.IDs != made || u.Exhausted != 1 || u.Waits != 0 {
			t.Errorf("after %d IDs: %+v", made, u)
		}

		time.Sleep(g.Unit)
		next, err := g.tries(t, gen, 1)
		OK(t, err)
		g.must(t, time.Now())(next[0], nil)
		g.increases(t, ids[made-1], next[0])
		if u := gen.Usage(); u.IDs != made+1 || u.Exhausted != 1 || u.Waits != 0 {
			t.Errorf("after %d IDs: %+v", made+1, u)
		}
	})
}

// tryFillBehind sets the clock back until TryFill makes no ID.
func (g Generation[T]) tryFillBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, maxBackward := range []time.Duration{-1, 0} {
			clock := At(g.now())
			gen := g.newGenerator(t, clock.Now, maxBackward)
			_, err := g.tries(t, gen, 1)
			OK(t, err)
			for range 3 { // the clock is behind all time lines of a generator
				clock.Step(-time.Second)
				_, err = g.tries(t, gen, 1)
			}
			if !g.Holds || maxBackward < 0 {
				g.refuses(t, gen, iderr.ErrClockBackwards, "a clock that is behind")
			} else if !errors.Is(err, iderr.ErrExhausted) && !errors.Is(err, iderr.ErrClockBackwards) {
				OK(t, err)
			}
			Same(t, gen.Usage().Waits, 0)
		}
	})
}

// tryFillLeased asks for IDs before, in, and after the interval of a lease.
func (g Generation[T]) tryFillLeased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(g.now()))
		gen, err := g.New(Setup{Leased: true})
		OK(t, err)
		l, why := gen.ForLease(), errors.New("why")
		g.refuses(t, gen, iderr.ErrFenced, "no grant")
		l.Refuse(why)
		g.refuses(t, gen, why, "no grant, for a reason")
		l.Delay(iderr.ErrFenced)
		g.refuses(t, gen, iderr.ErrFenced, "a late grant")
		now := g.tick(time.Now())
		OK(t, l.Grant(0, now, now.Add(g.Unit)))
		if ids := g.exhausts(t, gen); len(ids) < g.Least {
			t.Errorf("%d IDs of the tick, want at least %d", len(ids), g.Least)
		}
		time.Sleep(g.Unit)
		g.refuses(t, gen, iderr.ErrFenced, "the end of the interval")
		OK(t, l.Grant(0, now, now.Add(9*g.Unit)))
		_, err = g.tries(t, gen, 1)
		OK(t, err)
		l.Seal(why)
		g.refuses(t, gen, why, "the end of the lease")
		Same(t, gen.Usage().Waits, 0)
	})
}

// unleased asks a generator that no lease has started for IDs, by all methods.
func (g Generation[T]) unleased(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(g.now()))
		gen, err := g.New(Setup{Leased: true})
		OK(t, err)
		check := func(name, want string, err error) {
			t.Helper()
			if !errors.Is(err, iderr.ErrFenced) || err.Error() != g.Format+": "+want {
				t.Errorf("%s: %v", name, err)
			}
		}
		for range 2 {
			const want = "no lease: call lease.Start"
			check("TryNext", want, Err(gen.TryNext()))
			check("TryFill", want, Err(gen.TryFill(make([]T, 3))))
			check("Next", want, Err(gen.Next(t.Context())))
			check("Fill", want, Err(gen.Fill(t.Context(), make([]T, 3))))
			for _, err := range gen.Seq(t.Context(), 3) {
				check("Seq", want, err)
			}
			OK(t, gen.ForLease().Grant(0, time.Now(), time.Now())) // grants nothing
		}
		now := g.tick(time.Now())
		OK(t, gen.ForLease().Grant(0, now, now.Add(g.Unit)))
		OK(t, Err(gen.Next(t.Context())))
		time.Sleep(g.Unit)
		check("TryNext", "outside the granted interval", Err(gen.TryNext()))
	})
}

// tryFillBesideWaiters asks for IDs while a caller of Next waits, to whom the next ID belongs.
func (g Generation[T]) tryFillBesideWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := At(g.now())
		gen := g.newGenerator(t, clock.Now, 0)
		g.exhausts(t, gen)
		got := make(chan T)
		go func() {
			id, err := gen.Next(t.Context())
			if err != nil {
				t.Error(err)
			}
			got <- id
		}()
		synctest.Wait() // the caller waits
		g.refuses(t, gen, iderr.ErrExhausted, "beside a waiter in an exhausted tick")
		clock.Step(g.Unit) // time stands still, so the waiter does not see the tick
		g.refuses(t, gen, iderr.ErrExhausted, "beside a waiter in a tick with IDs")
		id := g.must(t, clock.Now())(<-got, nil)
		clock.Step(g.Unit)
		ids, err := g.tries(t, gen, 1)
		OK(t, err)
		g.increases(t, id, ids[0])
		Same(t, gen.Usage().Waits, 1)
	})
}

// tryFillBesideNext has goroutines call TryFill and Next in turn.
func (g Generation[T]) tryFillBesideNext(t *testing.T) {
	gen := g.newGenerator(t, nil, 0)
	made := g.concurrently(t, func(ids []T) ([]T, error) {
		run := make([]T, 1+len(ids)%37)
		n, err := gen.TryFill(run)
		if (err == nil) != (n == len(run)) || err != nil && !errors.Is(err, iderr.ErrExhausted) && !errors.Is(err, iderr.ErrClockBackwards) {
			return ids, fmt.Errorf("TryFill made %d of %d IDs: %w", n, len(run), err)
		}
		id, err := gen.Next(context.Background())
		return append(append(ids, run[:n]...), id), err
	})
	if u := gen.Usage(); u.IDs != uint64(made) && !g.Short { // random increments can drop a word
		t.Errorf("after %d IDs: %+v", made, u)
	}
}
