package testkit

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/usage"
)

func (g Generation[T]) fill(t *testing.T) {
	// Within a tick and over its end, with a fixed clock.
	clock := At(g.now())
	gen := g.newGenerator(t, clock.Now, 0)
	if n, err := gen.Fill(context.Background(), nil); n != 0 || err != nil {
		t.Errorf("Fill of nothing: %d, %v", n, err)
	}
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	dst := make([]T, g.Most+3)
	n, err := gen.Fill(canceled, dst)
	if n < g.Least || n > g.Most || !errors.Is(err, context.Canceled) {
		t.Errorf("Fill made %d, %v; want %d to %d", n, err, g.Least, g.Most)
	}
	seen := make(map[T]bool)
	for i, id := range dst[:n] {
		g.must(t, clock.Now())(id, nil)
		if i > 0 {
			g.increases(t, dst[i-1], id)
		}
		if g.Unordered {
			if seen[id] {
				t.Fatalf("%v twice", id)
			}
			seen[id] = true
		}
	}
	for _, id := range dst[n:] {
		if id != *new(T) {
			t.Fatalf("Fill wrote %v behind its end", id)
		}
	}

	// Over the ends of several ticks.
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(g.now()))
		gen := g.newGenerator(t, nil, 0)
		size := min(2*g.Most+7, 100_000)
		if g.Short {
			size = 300 // waiting takes some real time even in a bubble
		}
		dst := make([]T, size)
		if n, err := gen.Fill(context.Background(), dst); n != len(dst) || err != nil {
			t.Fatalf("Fill: %d, %v", n, err)
		}
		for i := range dst[1:] {
			g.increases(t, dst[i], dst[i+1])
		}
	})
}

// seq is fill for the iterator of Seq.
func (g Generation[T]) seq(t *testing.T) {
	clock := At(g.now())
	gen := g.newGenerator(t, clock.Now, 0)
	canceled, cancel := context.WithCancel(context.Background())
	cancel()
	var all []T
	var last error
	for id, err := range gen.Seq(canceled, -1) {
		if last = err; err == nil {
			g.must(t, clock.Now())(id, nil)
			all = append(all, id)
		}
	}
	if len(all) < g.Least || len(all) > g.Most || !errors.Is(last, context.Canceled) {
		t.Errorf("Seq made %d, %v; want %d to %d", len(all), last, g.Least, g.Most)
	}
	clock.Step(g.Unit)
	n := 0
	for id, err := range gen.Seq(context.Background(), min(g.Least, 5)) {
		g.must(t, clock.Now())(id, err)
		all = append(all, id)
		n++
	}
	if n != min(g.Least, 5) {
		t.Errorf("Seq made %d", n)
	}
	for i := range all[1:] {
		g.increases(t, all[i], all[i+1])
	}
	if g.Least < 1024 {
		return // a tick may have too few IDs for the checks below
	}
	n = 0
	for id, err := range gen.Seq(context.Background(), 1000) {
		g.must(t, clock.Now())(id, err) // also after another caller has an ID of a later tick
		if n++; n%7 == 0 {
			clock.Step(g.Unit)
			g.must(t, clock.Now())(gen.TryNext())
		}
	}
	if n != 1000 {
		t.Errorf("Seq made %d beside TryNext", n)
	}
}

func (g Generation[T]) goroutines(t *testing.T) {
	gen := g.newGenerator(t, nil, 0)
	g.concurrently(t, func(ids []T) ([]T, error) {
		id, err := gen.Next(context.Background())
		if ids = append(ids, id); len(ids)%50 > 0 || err != nil {
			return ids, err
		}
		run := make([]T, 3)
		n, err := gen.Fill(context.Background(), run)
		return append(ids, run[:n]...), err
	})
}

// concurrently has goroutines append IDs by the function more, until each goroutine has many. The IDs are
// distinct, and those of a goroutine are in order. concurrently returns the number of IDs.
func (g Generation[T]) concurrently(t *testing.T, more func(ids []T) ([]T, error)) int {
	const callers = 4
	each := min(4*g.Most, 2000)
	if g.Short {
		each = 200
	}
	all := make([][]T, callers)
	var wg sync.WaitGroup
	for i := range all {
		wg.Go(func() {
			for len(all[i]) < each {
				var err error
				if all[i], err = more(all[i]); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	seen := make(map[T]bool)
	for _, ids := range all {
		for i, id := range ids {
			if seen[id] {
				t.Fatalf("%v twice", id)
			}
			seen[id] = true
			if i > 0 {
				g.increases(t, ids[i-1], id)
			}
		}
	}
	return len(seen)
}

// faults has a clock panic or call runtime.Goexit. Only the caller at the clock may end. A server
// can then recover from the panic and continue to make IDs.
func (g Generation[T]) faults(t *testing.T) {
	if g.Holds && g.Most > 1<<17 {
		return // takes too long to exhaust
	}
	for name, end := range map[string]func(){"panic": func() { panic("no time") }, "Goexit": runtime.Goexit} {
		synctest.Test(t, func(t *testing.T) {
			clock := At(g.now())
			var broken atomic.Bool
			gen := g.newGenerator(t, func() time.Time {
				if broken.CompareAndSwap(true, false) {
					end()
				}
				return clock.Now()
			}, 0)

			// Callers wait, since the clock is behind or, for generators that hold, the tick is
			// exhausted.
			var last T
			if !g.Holds {
				clock.Step(time.Second)
				last = g.must(t, clock.Now())(gen.TryNext())
				clock.Step(-time.Second)
			} else {
				all := g.drain(t, gen, clock.Now())
				last = all[len(all)-1]
			}
			ids := make(chan T, 10)
			ended := make(chan any, 10)
			for range 4 {
				go func() {
					defer func() { ended <- recover() }()
					id, err := gen.Next(t.Context())
					if err != nil {
						t.Error(err)
					}
					ids <- id
				}()
				synctest.Wait()
			}
			broken.Store(true)
			time.Sleep(20 * time.Millisecond)
			synctest.Wait()
			if len(ended) != 1 || len(ids) != 0 {
				t.Fatalf("%s: %d callers have ended, with %d IDs", name, len(ended), len(ids))
			}
			if p := <-ended; (p != nil) != (name == "panic") {
				t.Errorf("%s: a caller ended with the panic %v", name, p)
			}

			// The other callers still wait, as long as their contexts allow, and get their IDs.
			if n, err := gen.Fill(deadline(t, 20*time.Millisecond), make([]T, 2)); n != 0 || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%s: Fill: %d, %v", name, n, err)
			}
			for range 4 {
				clock.Step(time.Second) // a new tick has at least one ID
				time.Sleep(20 * time.Millisecond)
			}
			synctest.Wait()
			for range 3 {
				if len(ids) == 0 {
					t.Fatalf("%s: a caller has got no ID", name)
				}
				id := <-ids
				if g.Time(id).Before(g.Time(last)) || id == last {
					t.Errorf("%s: %v follows %v", name, id, last)
				}
			}
			clock.Step(g.Unit)
			g.must(t, clock.Now())(gen.TryNext())
		})
	}
}

func (g Generation[T]) zero(t *testing.T) {
	gen := g.Zero()
	gen.ExpiresAt()
	Same(t, gen.Usage(), usage.Usage{})
	_, err := gen.TryNext()
	_, next := gen.Next(context.Background())
	_, fill := gen.Fill(context.Background(), make([]T, 1))
	_, try := gen.TryFill(make([]T, 1))
	for _, err := range []error{err, next, fill, try} {
		if !errors.Is(err, iderr.ErrNotReady) || !strings.HasPrefix(err.Error(), "firn: ") {
			t.Errorf("a generator that NewGenerator did not make: %v", err)
		}
	}
}
