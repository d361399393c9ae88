package lease

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// A testClock is the time of a bubble of testing/synctest. The time begins before the epoch of the
// formats, and may be set.
type testClock struct{ offset atomic.Int64 }

func newTestClock() *testClock {
	c := &testClock{}
	c.offset.Store(int64(30 * 365 * 24 * time.Hour))
	return c
}

func (c *testClock) now() time.Time        { return time.Now().Add(time.Duration(c.offset.Load())) }
func (c *testClock) step(by time.Duration) { c.offset.Add(int64(by)) }

// A testLog keeps the events of a lease.
type testLog struct {
	mu     sync.Mutex
	events []Event
}

func (l *testLog) add(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// kinds returns the kinds of events, without repetitions in a row.
func (l *testLog) kinds() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var kinds []string
	for _, e := range l.events {
		kinds = append(kinds, e.Kind.String())
	}
	return strings.Join(slices.Compact(kinds), " ")
}

func (l *testLog) last(t *testing.T, kind EventKind) Event {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, e := range slices.Backward(l.events) {
		if e.Kind == kind {
			return e
		}
	}
	t.Fatalf("nothing was %v: %v", kind, l.events)
	return Event{}
}

// start starts a lease in an opened pool.
func (p *Pool) start(ctx context.Context, g grant.Grantee, c Config) (*Lease, error) {
	l, err := p.kept(ctx, g, c)
	if err == nil {
		l.goOn(ctx, func() {})
	}
	return l, err
}

// kept is start without the renewals.
func (p *Pool) kept(ctx context.Context, g grant.Grantee, c Config) (*Lease, error) {
	c, err := c.settle(p.layout)
	if err != nil {
		return nil, err
	}
	return p.keep(ctx, c.timed(p.store), g, c)
}

func generator(t *testing.T, c *testClock) *nanoflake.Generator {
	t.Helper()
	g, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true, Clock: c.now})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// keep takes a lease for a new generator.
func keep(t *testing.T, p *Pool, clock *testClock, c Config) (*nanoflake.Generator, *Lease, *testLog) {
	t.Helper()
	g, log := generator(t, clock), new(testLog)
	c.clock, c.Notify = clock.now, log.add
	l, err := p.start(t.Context(), g.ForLease(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return g, l, log
}

// mints checks that a generator mints, as the lease's worker.
func mints(t *testing.T, g *nanoflake.Generator, l *Lease) {
	t.Helper()
	if id, err := g.TryNext(); err != nil || id.GeneratorID() != l.Worker() {
		t.Errorf("an ID of worker %d: %v, %v", l.Worker(), id, err)
	}
}

// In a test of switched, the store is unreachable while down is set.
func switched(store driver.Store) (s driver.Store, down *atomic.Bool) {
	down = new(atomic.Bool)
	return &hooked{Store: store, before: func(string, string) error {
		if down.Load() {
			return driver.ErrUnavailable
		}
		return nil
	}}, down
}

func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 4)
		g, l, log := keep(t, p, clock, Config{Holder: "me"})
		if l.Pool() != p || l.Err() != nil || l.Until().Sub(clock.now()) > time.Second {
			t.Errorf("at first: %v, until %v, %v", l.Pool(), l.Until(), l.Err())
		}
		for range 1000 {
			mints(t, g, l)
			time.Sleep(97 * time.Millisecond)
		}
		if left := l.Until().Sub(clock.now()); left < 7*time.Second || left > 10*time.Second {
			t.Errorf("%v are left of 10 s", left)
		}
		used, _, err := p.Workers(t.Context())
		if err != nil || len(used) != 1 || used[0].Holder != "me" || !used[0].Held || used[0].Number != l.Worker() || !used[0].Until.Equal(l.Until()) {
			t.Errorf("Workers: %+v, %v", used, err)
		}
		mints(t, g, l)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := l.Close(); err != nil {
			t.Errorf("Close again: %v", err)
		}
		if _, err := g.TryNext(); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if used, _, err = p.Workers(t.Context()); err != nil || used[0].Held || used[0].Holder != "" || used[0].Until.Sub(clock.now()) > 2*time.Millisecond {
			t.Errorf("after Close: %+v, %v", used, err)
		}
		if got := log.kinds(); got != "acquired renewed released" {
			t.Errorf("events: %s", got)
		}
		for i, e := range log.events[:len(log.events)-1] {
			if e.Pool != "p" || e.Worker != l.Worker() || !e.From.Before(e.Until) || i > 0 && e.From.Before(log.events[i-1].Until) {
				t.Errorf("event %d is %+v", i, e)
			}
		}
		// The next lease gets the worker at once, and a later interval.
		_, next, log2 := keep(t, p, clock, Config{Worker: Number(l.Worker()), Wait: -1})
		if next.Worker() != l.Worker() || log2.events[0].From.Before(log.last(t, Released).Until) {
			t.Errorf("after %v comes %v", log.last(t, Released), log2.events[0])
		}
	})
}

// Leases of one process have a worker each.
func TestWorkersOfOneProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 10)
		seen := map[int]bool{}
		for range 10 {
			g, l, _ := keep(t, p, clock, Config{Wait: -1})
			mints(t, g, l)
			seen[l.Worker()] = true
		}
		if len(seen) != 10 {
			t.Errorf("10 leases have the workers %v", seen)
		}
		_, err := p.start(t.Context(), generator(t, clock).ForLease(), Config{Wait: -1, clock: clock.now})
		var none *NoWorkerError
		if !errors.As(err, &none) || !errors.Is(err, ErrNoWorker) || none.Workers != 10 || none.Pool != "p" ||
			none.Soonest.Before(clock.now()) || none.Soonest.Sub(clock.now()) > time.Second {
			t.Errorf("for the 11th: %v", err)
		}
	})
}

// die ends a lease like a crash: nothing is given back.
func die(l *Lease) {
	l.stop()
	<-l.done
}

// Start waits for the workers of dead processes. Start does not wait for holders that renew.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		_, first, _ := keep(t, p, clock, Config{})
		time.Sleep(5 * time.Second)
		began := time.Now()
		_, err := p.start(t.Context(), generator(t, clock).ForLease(), Config{clock: clock.now})
		if waited := time.Since(began); !errors.Is(err, ErrNoWorker) || waited > 4*time.Second {
			t.Errorf("after %v, with a holder who lives: %v", waited, err)
		}
		for _, worker := range []Choice{{}, Number(0)} { // a wait that was asked for is waited out
			began = time.Now()
			_, err = p.start(t.Context(), generator(t, clock).ForLease(), Config{Worker: worker, Wait: time.Minute, clock: clock.now})
			if waited := time.Since(began); !errors.Is(err, ErrNoWorker) && !errors.Is(err, ErrHeld) || waited < 59*time.Second || waited > time.Minute {
				t.Errorf("after %v of a minute, with a holder who lives: %v", waited, err)
			}
		}

		die(first)
		left := first.Until().Sub(clock.now())
		if _, err := p.start(t.Context(), generator(t, clock).ForLease(), Config{Wait: -1, clock: clock.now}); !errors.Is(err, ErrNoWorker) {
			t.Errorf("without a wait: %v", err)
		}
		began = time.Now()
		_, err = p.start(t.Context(), generator(t, clock).ForLease(), Config{Wait: time.Second, clock: clock.now})
		if waited := time.Since(began); !errors.Is(err, ErrNoWorker) || waited > time.Second || waited < 800*time.Millisecond {
			t.Errorf("it waited for %v of 1 s: %v", waited, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 1050*time.Millisecond) // between two looks
		defer cancel()
		if _, err := p.start(ctx, generator(t, clock).ForLease(), Config{clock: clock.now}); !errors.Is(err, ErrNoWorker) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a wait that was ended: %v", err)
		}
		g, l, _ := keep(t, p, clock, Config{})
		mints(t, g, l)
		if waited := time.Since(began); waited < left || waited > left+200*time.Millisecond {
			t.Errorf("it waited for %v, and %v were left", waited, left)
		}
	})
}

// If the store tells of changes, a waiting lease gets a worker as soon as the worker is given back,
// and makes few requests until then.
func TestWaitWatching(t *testing.T) {
	for _, worker := range []Choice{{}, Number(0)} {
		synctest.Test(t, func(t *testing.T) {
			looks := 0
			watched := faults.NewWatched(&hooked{Store: memlease.New(), before: func(op, key string) error {
				if op == "list" || op == "get" && key == workerKey("p", 0) {
					looks++
				}
				return nil
			}})
			clock, p := newTestClock(), mustCreate(t, watched, 1)
			_, first, _ := keep(t, p, clock, Config{Window: 5 * time.Minute, First: 5 * time.Minute})
			began, after := time.Now(), 30*time.Second+137*time.Millisecond
			time.AfterFunc(after, func() { first.Close() })
			looks = 0
			keep(t, p, clock, Config{Worker: worker, Wait: time.Minute})
			if waited := time.Since(began); waited < after || waited > after+5*time.Millisecond {
				t.Errorf("it waited for %v, and the worker was given back after %v", waited, after)
			}
			if looks > 22 {
				t.Errorf("it looked %d times in 30 s", looks)
			}
		})
	}
}

// If the store does not tell of changes, a waiting lease makes longer pauses, the more records a
// try reads.
func TestWaitPrice(t *testing.T) {
	for workers, most := range map[int]int{1: 102, 100: 102, 400: 27, 4000: 7} {
		synctest.Test(t, func(t *testing.T) {
			looks := 0
			clock, store := newTestClock(), memlease.New()
			p := mustCreate(t, store, workers)
			for worker := 0; worker < workers; {
				for grown := min(worker+64, workers); worker < grown; worker++ {
					r := p.unused(worker, p.term())
					r.Until, r.Attempt = clock.now().Add(time.Hour).UnixMicro(), "x"
					r.Window, r.Incarnation = time.Hour.Microseconds(), "somebody"
					put(t, store, workerKey("p", worker), encode(r))
				}
			}
			r, _, err := readPool(t.Context(), store, "p")
			if err != nil {
				t.Fatal(err)
			}
			r.Made = [][2]int{{0, workers}}
			put(t, store, poolKey("p"), encode(r))
			p.store = &hooked{Store: store, before: func(op, _ string) error {
				if op == "list" {
					looks++
				}
				return nil
			}}
			_, err = p.start(t.Context(), generator(t, clock).ForLease(), Config{clock: clock.now, Wait: 10 * time.Second})
			if !errors.Is(err, ErrNoWorker) || looks > most || looks < most*9/10-1 {
				t.Errorf("%d workers: %d looks in 10 s, want %d or a little less: %v", workers, looks, most, err)
			}
		})
	}
}

func TestNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), memlease.New()
		p := mustCreate(t, store, 1000)
		g, l, _ := keep(t, p, clock, Config{Worker: Number(700), Holder: "the first"})
		mints(t, g, l)
		if l.Worker() != 700 {
			t.Errorf("the worker is %d, not 700", l.Worker())
		}
		time.Sleep(5 * time.Second)
		began := time.Now()
		_, err := p.start(t.Context(), generator(t, clock).ForLease(), Config{Worker: Number(700), clock: clock.now})
		var held *HeldError
		if !errors.As(err, &held) || !errors.Is(err, ErrHeld) || held.Worker != 700 || held.Holder != "the first" || held.Pool != "p" {
			t.Errorf("the same again: %v", err)
		}
		if waited := time.Since(began); waited > 4*time.Second {
			t.Errorf("it took %v to see that the holder lives", waited)
		}

		die(l)
		began, left := time.Now(), l.Until().Sub(clock.now())
		g2, l2, _ := keep(t, p, clock, Config{Worker: Number(700)})
		mints(t, g2, l2)
		if waited := time.Since(began); waited < left || waited > left+200*time.Millisecond {
			t.Errorf("it waited for %v, and %v were left", waited, left)
		}
		if used, count, err := p.Workers(t.Context()); len(used) != 1 || count != 1 || err != nil {
			t.Errorf("Workers: %v, %d, %v", used, count, err)
		}
	})
}

func TestExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, pool := newTestClock(), mustCreate(t, memlease.New(), 2)
		store, down := switched(pool.store)
		pool.store = store
		g, l, log := keep(t, pool, clock, Config{})
		time.Sleep(20 * time.Second)
		down.Store(true)
		until := l.Until()
		for clock.now().Before(until) {
			mints(t, g, l)
			time.Sleep(10 * time.Millisecond)
		}
		if err := l.Err(); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("Err is %v", err)
		}
		time.Sleep(time.Second)
		_, err := g.TryNext()
		var expired *ExpiredError
		if !errors.As(err, &expired) || !errors.Is(err, ErrLeaseExpired) || !errors.Is(err, iderr.ErrFenced) || !errors.Is(err, driver.ErrUnavailable) ||
			!expired.Until.Equal(until) || expired.Worker != l.Worker() || expired.Pool != "p" {
			t.Errorf("after the end: %v", err)
		}
		if _, err := g.Next(t.Context()); !errors.Is(err, ErrLeaseExpired) {
			t.Errorf("Next waits for nothing: %v", err)
		}
		down.Store(false)
		time.Sleep(time.Second)
		mints(t, g, l)
		if got := log.kinds(); got != "acquired renewed failing expired renewed" {
			t.Errorf("events: %s", got)
		}
		if e := log.last(t, Failing); e.Left <= 0 || e.Left > 10*time.Second || e.Err == nil {
			t.Errorf("failing: %+v", e)
		}
		if l.Err() != nil {
			t.Errorf("Err is still %v", l.Err())
		}
	})
}

func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		store, down := switched(p.store)
		q := *p
		q.store = store
		g, l, log := keep(t, &q, clock, Config{})
		time.Sleep(5 * time.Second)
		lost := l.Worker()
		down.Store(true)
		_, l2, _ := keep(t, p, clock, Config{Worker: Number(lost), Holder: "the second"})
		if l2.Worker() != lost {
			t.Fatalf("the second has worker %d", l2.Worker())
		}
		time.Sleep(time.Second)
		down.Store(false)
		time.Sleep(time.Second)
		mints(t, g, l)
		if l.Worker() == lost {
			t.Errorf("it still has worker %d", lost)
		}
		if got := log.kinds(); got != "acquired renewed failing expired lost acquired" && got != "acquired renewed failing expired lost acquired renewed" {
			t.Errorf("events: %s", got)
		}
		var held *HeldError
		if e := log.last(t, Lost); e.Worker != lost || !errors.As(e.Err, &held) || held.Holder != "the second" {
			t.Errorf("lost: %+v", e)
		}
	})
}

// replaced returns a lease that lost the pool's only worker while the store was down, the generator
// and the log of the lease, and the present holder of the worker.
func replaced(t *testing.T) (*nanoflake.Generator, *Lease, *testLog, *Lease) {
	t.Helper()
	clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
	store, down := switched(p.store)
	q := *p
	q.store = store
	g, l, log := keep(t, &q, clock, Config{})
	down.Store(true)
	_, l2, _ := keep(t, p, clock, Config{})
	down.Store(false)
	time.Sleep(20 * time.Second)
	return g, l, log, l2
}

// A lease without its lost worker, and without another free worker, takes the first worker that
// comes free.
func TestLostAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, l, log, l2 := replaced(t)
		if _, err := g.TryNext(); !errors.Is(err, ErrLeaseExpired) || !errors.Is(err, ErrNoWorker) {
			t.Errorf("without a worker: %v", err)
		}
		if l.Err() == nil {
			t.Error("Err is nil")
		}
		l2.Close()
		time.Sleep(time.Second)
		mints(t, g, l)
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if got := log.last(t, Released); got.Worker != 0 {
			t.Errorf("%+v", got)
		}
	})
}

func TestCloseWithoutStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		store, down := switched(p.store)
		p.store = store
		g, l, log := keep(t, p, clock, Config{})
		down.Store(true)
		if err := l.Close(); !errors.Is(err, driver.ErrUnavailable) || !errors.Is(l.Close(), driver.ErrUnavailable) {
			t.Errorf("Close: %v", err)
		}
		if _, err := g.TryNext(); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
		if got := log.kinds(); got != "acquired" {
			t.Errorf("events: %s", got)
		}
	})
}

// A store may be readable and not writable: such a store has lost nothing.
func TestCloseReadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		full, down := errors.New("no space left"), false
		p.store = &hooked{Store: p.store, before: func(op, _ string) error {
			if down && op == "put" {
				return fmt.Errorf("%w: %w", driver.ErrUnavailable, full)
			}
			return nil
		}}
		_, l, _ := keep(t, p, clock, Config{})
		time.Sleep(20 * time.Second) // some renewals
		synctest.Wait()
		down = true
		if err := l.Close(); !errors.Is(err, full) || errors.Is(err, ErrRolledBack) {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestCloseAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		for range 20 {
			_, l, _ := keep(t, p, clock, Config{Wait: -1})
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		used, _, err := p.Workers(t.Context())
		if err != nil || used[0].Until.Sub(clock.now()) > grace {
			t.Errorf("20 leases without an ID used up %v: %v", used[0].Until.Sub(clock.now()), err)
		}
	})
}

func TestStoreClock(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, -61 * time.Second, -59 * time.Second, 0, 59 * time.Second, 61 * time.Second, 87600 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			clock, right := newTestClock(), newTestClock()
			clock.step(by)
			p := mustCreate(t, faults.Clocked{Store: memlease.New(), Time: right.now}, 2)
			c := Config{clock: clock.now, Wait: -1}
			l, err := p.start(t.Context(), generator(t, clock).ForLease(), c)
			var skew *SkewError
			wrong := by.Abs() > time.Minute
			if wrong != errors.As(err, &skew) || wrong != errors.Is(err, ErrClockSkew) {
				t.Fatalf("a clock that is wrong by %v: %v", by, err)
			}
			if wrong && (skew.Now.Sub(skew.Reference) != by || !skew.OfStore) {
				t.Errorf("%+v", skew)
			}
			if !wrong {
				l.Close()
			}
			c.MaxSkew = by.Abs() + time.Millisecond
			if l, err = p.start(t.Context(), generator(t, clock).ForLease(), c); err != nil {
				t.Fatalf("with MaxSkew %v: %v", c.MaxSkew, err)
			}
			l.Close()
			c.MaxSkew, c.TrustClock = 0, true
			if l, err = p.start(t.Context(), generator(t, clock).ForLease(), c); err != nil {
				t.Fatalf("with TrustClock: %v", err)
			}
			l.Close()
		})
	}
}

// If the store has no clock, its records stand for the time.
func TestRecordsClock(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for _, test := range []struct {
		by    time.Duration
		wrong bool
	}{
		{-2 * time.Minute, true}, {-time.Minute, false}, {0, false}, {time.Hour, false}, {year - time.Hour, false}, {year + time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock, right := newTestClock(), newTestClock()
			p := mustCreate(t, memlease.New(), 20)
			for range 3 {
				keep(t, p, right, Config{})
			}
			clock.step(test.by)
			c := Config{clock: clock.now, Wait: -1}
			l, err := p.start(t.Context(), generator(t, clock).ForLease(), c)
			var skew *SkewError
			if test.wrong != errors.As(err, &skew) || test.wrong && skew.OfStore {
				t.Fatalf("a clock that is wrong by %v: %v", test.by, err)
			}
			if test.wrong {
				c.TrustClock = true
				if l, err = p.start(t.Context(), generator(t, clock).ForLease(), c); err != nil {
					t.Fatal(err)
				}
			}
			l.Close()
		})
	}
}

// A renewal notices a clock that has jumped to an impossible time.
func TestClockJumps(t *testing.T) {
	for name, far := range map[string]time.Duration{"records": 2 * 365 * 24 * time.Hour, "clock": 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			clock, right := newTestClock(), newTestClock()
			var store driver.Store = memlease.New()
			if name == "clock" {
				store = faults.Clocked{Store: store, Time: right.now}
			}
			g, l, log := keep(t, mustCreate(t, store, 2), clock, Config{})
			time.Sleep(10 * time.Second)
			clock.step(far)
			time.Sleep(10 * time.Second)
			if _, err := g.TryNext(); !errors.Is(err, ErrClockSkew) || !errors.Is(err, ErrLeaseExpired) {
				t.Errorf("a clock that is %v ahead, by the store's %s: %v", far, name, err)
			}
			clock.step(-far)
			time.Sleep(10 * time.Second)
			mints(t, g, l)
			if got := log.kinds(); got != "acquired renewed expired renewed" {
				t.Errorf("events: %s", got)
			}
		})
	}
}

// If the clock goes back, the generator reports an error, and the lease waits until the clock is
// right.
func TestClockGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		g, l, log := keep(t, mustCreate(t, memlease.New(), 2), clock, Config{})
		time.Sleep(20 * time.Second)
		mints(t, g, l)
		until := l.Until()
		clock.step(-time.Hour)
		time.Sleep(10 * time.Second)
		if _, err := g.TryNext(); !errors.Is(err, iderr.ErrClockBackwards) {
			t.Errorf("%v", err)
		}
		if !l.Until().Equal(until) {
			t.Errorf("it was renewed until %v, from %v", l.Until(), until)
		}
		clock.step(time.Hour)
		time.Sleep(time.Second)
		mints(t, g, l)
		if got := log.kinds(); got != "acquired renewed" {
			t.Errorf("events: %s", got)
		}
	})
}

// Lost replies cost nothing: the lease finds the stored changes.
func TestRepliesLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		p.store = mute{p.store}
		g, l, log := keep(t, p, clock, Config{})
		for range 300 {
			mints(t, g, l)
			time.Sleep(97 * time.Millisecond)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if got := log.kinds(); got != "acquired renewed released" {
			t.Errorf("events: %s", got)
		}
	})
}

// mute is a store without replies to changes of workers' records.
type mute struct{ driver.Store }

func (m mute) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	made, err := m.Store.Put(ctx, key, value, rev)
	if rev == driver.None || strings.HasSuffix(key, "/pool") {
		return made, err
	}
	return driver.None, &driver.Error{Store: "mute", Op: "put", Key: key, Err: driver.ErrUnavailable}
}

func TestConfig(t *testing.T) {
	layout := testLayout(4)
	c, err := Config{}.settle(layout)
	if err != nil {
		t.Fatal(err)
	}
	if c.Window != DefaultWindow || c.First != DefaultFirst || c.Timeout != DefaultTimeout || c.MaxSkew != DefaultMaxSkew ||
		c.MaxIdle != DefaultMaxIdle || c.Wait != DefaultWindow+5*time.Second || c.Holder == "" || c.Notify == nil || c.world == nil {
		t.Errorf("the defaults are %+v", c)
	}
	if c, err = (Config{Window: 100 * time.Millisecond, Holder: strings.Repeat("x", 999)}).settle(layout); err != nil ||
		c.First != c.Window || c.Timeout != 30*time.Millisecond || len(c.Holder) > maxHolder {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = (Config{Wait: -1, Worker: Number(3)}).settle(layout); err != nil || c.Wait >= 0 {
		t.Errorf("%+v, %v", c, err)
	}
	coarse := layout
	coarse.Unit = time.Second
	for name, test := range map[string]struct {
		c      Config
		layout grant.Layout
	}{
		"Window":    {Config{Window: 9 * time.Millisecond}, layout},
		"Window of": {Config{Window: 2 * time.Second}, coarse},
		"First":     {Config{First: 2 * time.Millisecond}, layout},
		"First 11s": {Config{First: 11 * time.Second}, layout},
		"Timeout":   {Config{Timeout: -1}, layout},
		"MaxSkew":   {Config{MaxSkew: -1}, layout},
		"MaxIdle":   {Config{MaxIdle: time.Millisecond}, layout},
		"worker 4":  {Config{Worker: Number(4)}, layout},
		"worker -1": {Config{Worker: Number(-1)}, layout},
	} {
		_, err := test.c.settle(test.layout)
		if field, _, _ := strings.Cut(name, " of"); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", name, err)
		}
		p := &Pool{layout: test.layout}
		if _, err := p.start(t.Context(), nil, test.c); !errors.Is(err, ErrConfig) {
			t.Errorf("Start with %s: %v", name, err)
		}
	}
}

// All times of records are whole ticks, on either side of the epoch.
func TestTicks(t *testing.T) {
	for _, unit := range []time.Duration{time.Microsecond, time.Millisecond, 4 * time.Millisecond, time.Second} {
		epoch := time.UnixMicro(1_262_304_000_000_777)
		l := &Lease{pool: &Pool{layout: grant.Layout{Epoch: epoch, Unit: unit}}}
		us := unit.Microseconds()
		for _, tick := range []int64{-1_000_000, -1, 0, 1, 999_999_999} {
			at := epoch.UnixMicro() + tick*us
			if l.roundDown(at) != at || l.roundUp(at) != at {
				t.Errorf("unit %v: tick %d is rounded", unit, tick)
			}
			if us > 1 && (l.roundDown(at+1) != at || l.roundDown(at+us-1) != at || l.roundUp(at+1) != at+us || l.roundUp(at-us+1) != at) {
				t.Errorf("unit %v: tick %d is badly rounded", unit, tick)
			}
		}
	}
}

func TestErrorTexts(t *testing.T) {
	at := time.UnixMilli(1_700_000_000_500).UTC()
	const stamp = "2023-11-14T22:13:20.5Z"
	cause := fmt.Errorf("%w: x", driver.ErrUnavailable)
	for want, err := range map[string]error{
		"pool p: no worker is free: of the 4, processes with another pool on this machine, such as another user's, use the free ones: wait until such a process ends":                                &NoWorkerError{Pool: "p", Workers: 4, Excluded: true},
		"pool p: worker 3: the worker is held by a process with another pool on this machine, such as another user's: ask for another one, or for none":                                              &HeldError{Pool: "p", Worker: 3, Excluded: true},
		"pool p: no worker is free: all 4 are taken, the first until " + stamp + ": wait, or stop a process that holds a worker":                                                                     &NoWorkerError{Pool: "p", Workers: 4, Soonest: at},
		"pool p: no worker is free: no lease holds one, but the timestamps of all 4 are used up to " + stamp + " at least: the clock was ahead, or is behind now: set the clock, or wait until then": &NoWorkerError{Pool: "p", Workers: 4, Soonest: at, Ahead: true},
		"pool p: no worker is free: the pool was rescued, and no lease gets a worker before " + stamp + ": try again then":                                                                           &NoWorkerError{Pool: "p", Workers: 4, Soonest: at, Rescued: true},
		"pool p: worker 3: the worker is held by me until " + stamp + ": ask for another one, or for none":                                                                                           &HeldError{Pool: "p", Worker: 3, Holder: "me", Until: at},
		"pool p: worker 3: the worker is held by nobody, but its timestamps are used up to " + stamp + ": ask for another one, or for none":                                                          &HeldError{Pool: "p", Worker: 3, Until: at},
		"pool p: worker 3: the lease has expired at " + stamp + ": store unavailable: x":                                                                                                             &ExpiredError{"p", 3, at, cause},
		"pool p: the clock is wrong: it says " + stamp + ", 1m30s behind the store's time (2023-11-14T22:14:50.5Z): set the clock; if the clock is right, trust it (TrustClock)":                     &SkewError{Pool: "p", Now: at, Reference: at.Add(90 * time.Second), OfStore: true},
		"pool p: the pool is for other IDs: its unit is 1ms, not 4ms: name the pool of these IDs; use the settings of this pool only if these IDs are meant to be of this pool":                      &MismatchError{"p", "unit", "1ms", "4ms"},
	} {
		if err.Error() != want {
			t.Errorf("it says\n\t%s\nnot\n\t%s", err, want)
		}
	}
	for _, test := range []struct {
		by    time.Duration
		store bool
		want  string
	}{
		{400 * 24 * time.Hour, false, "400 days ahead of the last use of the pool"},
		{-3650 * 24 * time.Hour, false, "10 years behind what most records of the pool say"},
		{47 * time.Hour, true, "47h0m0s ahead of the store's time"},
	} {
		if err := (&SkewError{Now: at.Add(test.by), Reference: at, OfStore: test.store}); !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q", err, test.want)
		}
	}
	for err, is := range map[error][]error{
		&NoWorkerError{}:            {ErrNoWorker},
		&HeldError{}:                {ErrHeld},
		&ExpiredError{Cause: cause}: {ErrLeaseExpired, iderr.ErrFenced, driver.ErrUnavailable},
		&SkewError{}:                {ErrClockSkew},
		&MismatchError{}:            {ErrPoolMismatch},
		&waitError{&HeldError{}, context.Canceled}:     {ErrHeld, context.Canceled},
		&driver.Error{Err: ErrDamaged, Advice: "pray"}: {ErrDamaged, driver.ErrDamaged},
	} {
		for _, target := range is {
			if !errors.Is(err, target) {
				t.Errorf("%T is not %v", err, target)
			}
		}
	}
}

func TestEvents(t *testing.T) {
	names := []string{"unknown", "acquired", "renewed", "failing", "expired", "lost", "released", "withdrawn", "waiting", "created", "shared", "unknown"}
	for i, want := range names {
		if got := EventKind(i).String(); got != want {
			t.Errorf("kind %d is %s, not %s", i, got, want)
		}
	}
	cause := errors.New("x")
	at := time.UnixMilli(1_700_000_000_500)
	attrs := func(e Event) (keys []string) {
		for _, a := range e.LogValue().Group() {
			keys = append(keys, a.Key)
		}
		return keys
	}
	var _ slog.LogValuer = Event{}
	for _, test := range []struct {
		e    Event
		want []string
	}{
		{Event{Kind: Renewed, From: at, Until: at}, []string{"event", "pool", "worker", "until"}},
		{Event{Kind: Failing, Until: at, Left: 1, Err: cause}, []string{"event", "pool", "worker", "until", "left", "err"}},
		{Event{Kind: Lost, Err: cause}, []string{"event", "pool", "worker", "err"}},
		{Event{Kind: Waiting, Worker: -1, Until: at, Err: cause}, []string{"event", "pool", "until", "err"}},
		{Event{Kind: Created, Worker: -1}, []string{"event", "pool"}},
	} {
		got := attrs(test.e)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%v is logged with %v, want %v", test.e.Kind, got, test.want)
		}
	}
}

// A pool knows the time of its creation: the first worker cannot make a time years ahead the
// pool's, and a worker with a clock an hour ahead does not stand for all.
func TestYoungPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		right, ahead := newTestClock(), newTestClock()
		p := mustCreate(t, memlease.New(), 4)
		ahead.step(87600 * time.Hour)
		if _, err := p.start(t.Context(), generator(t, ahead).ForLease(), Config{clock: ahead.now, Wait: -1}); !errors.Is(err, ErrClockSkew) {
			t.Fatalf("the first clock is ten years ahead: %v", err)
		}
		behind := newTestClock()
		behind.step(-time.Hour)
		if _, err := p.start(t.Context(), generator(t, behind).ForLease(), Config{clock: behind.now, Wait: -1}); !errors.Is(err, ErrClockSkew) {
			t.Fatalf("the first clock is an hour behind: %v", err)
		}
		ahead.step(-87599 * time.Hour)
		for _, c := range []*testClock{ahead, right, right} {
			l, err := p.start(t.Context(), generator(t, c).ForLease(), Config{clock: c.now, Wait: -1})
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		}
		// After years with workers in use all the time, the clock is as right as before.
		for range 3 {
			right.step(300 * 24 * time.Hour)
			ahead.step(300 * 24 * time.Hour)
			time.Sleep(time.Minute)
		}
		l, err := p.start(t.Context(), generator(t, right).ForLease(), Config{clock: right.now, Wait: -1})
		if err != nil {
			t.Fatal(err)
		}
		l.Close()
	})
}

// stuck is a store with records that cannot be written.
type stuck struct {
	driver.Store
	key string
}

func (s stuck) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if strings.HasPrefix(key, workersKey("p")) && key <= s.key && rev != driver.None {
		return driver.None, &driver.Error{Store: "stuck", Op: "put", Key: key, Err: driver.ErrUnavailable}
	}
	return s.Store.Put(ctx, key, value, rev)
}

// Records may be unwritable: a stopped process may hold a lock. A lease then takes a worker without
// a record. If all workers have records, the lease reports the error.
func TestStuckRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), memlease.New()
		p := mustCreate(t, store, 6)
		keep(t, p, clock, Config{}) // makes the first four records
		p.store = stuck{store, workerKey("p", 3)}
		_, l, _ := keep(t, p, clock, Config{})
		if l.Worker() < 4 {
			t.Errorf("worker %d, whose record cannot be written", l.Worker())
		}
		p.store = stuck{store, workerKey("p", 5)}
		if _, err := p.start(t.Context(), generator(t, clock).ForLease(), Config{clock: clock.now}); !errors.Is(err, driver.ErrUnavailable) {
			t.Error(err)
		}
	})
}

// The memory of failed requests does not grow with the length of an outage, and no request that may
// still be done is forgotten.
func TestManyAttempts(t *testing.T) {
	// outage makes the lease's requests fail after ten seconds; end does the first failed request
	// late, and ends the failures.
	outage := func(t *testing.T) (g *nanoflake.Generator, l *Lease, log *testLog, end func()) {
		var mu sync.Mutex
		var late func() // the first request of the outage, which is done when it is over
		down := false
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		p.store = &hookedPut{Store: p.store, put: func(put func() (driver.Revision, error)) (driver.Revision, error) {
			mu.Lock()
			defer mu.Unlock()
			if !down {
				return put()
			}
			if late == nil {
				late = func() { put() }
			}
			return driver.None, &driver.Error{Store: "p", Op: "put", Err: driver.ErrUnavailable}
		}}
		g, l, log = keep(t, p, clock, Config{Window: time.Minute})
		time.Sleep(10 * time.Second)
		mu.Lock()
		down = true
		mu.Unlock()
		return g, l, log, func() {
			mu.Lock()
			defer mu.Unlock()
			if late == nil {
				t.Fatal("no request was made")
			}
			late()
			down = false
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g, l, log, end := outage(t)
		time.Sleep(49 * time.Second)
		end()
		time.Sleep(time.Second)
		mints(t, g, l)
		if got := log.kinds(); got != "acquired renewed failing renewed" {
			t.Errorf("events: %s", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, l, _, _ := outage(t)
		time.Sleep(50 * time.Second)
		l.Close() // after which nobody changes what it remembers
		if a := l.attempts[0]; len(l.attempts) != 1 || a.count < 10 {
			t.Errorf("after an outage it remembers %+v", l.attempts)
		}
	})
}

// hookedPut is a store with a function for changes of workers' records.
type hookedPut struct {
	driver.Store
	put func(put func() (driver.Revision, error)) (driver.Revision, error)
}

func (h *hookedPut) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	put := func() (driver.Revision, error) { return h.Store.Put(context.WithoutCancel(ctx), key, value, rev) }
	if rev == driver.None || strings.HasSuffix(key, "/pool") {
		return put()
	}
	return h.put(put)
}

// A pool is in use if any worker is in use; most of the workers that were ever used need not be. So
// an operator who trusts the clock once is believed from then on. A record years ahead says
// nothing.
func TestIdlePool(t *testing.T) {
	const day = 24 * time.Hour
	for name, test := range map[string]struct {
		used      []time.Duration // before now
		reference time.Duration   // of the error, before now; 0 for none
	}{
		"all are old":                 {[]time.Duration{400 * day, 500 * day, 600 * day}, 400 * day},
		"one is in use":               {[]time.Duration{400 * day, 500 * day, 0}, 0},
		"one was used months ago":     {[]time.Duration{400 * day, 364 * day, 500 * day}, 0},
		"one is years ahead":          {[]time.Duration{400 * day, 500 * day, -3650 * day}, 400 * day},
		"the only one is years ahead": {[]time.Duration{-3650 * day}, 0},
		"most are years ahead":        {[]time.Duration{400 * day, -3650 * day, -3000 * day, -3650 * day}, -3000 * day},
		"the only one is old":         {[]time.Duration{400 * day}, 400 * day},
		"none was used":               {nil, 700 * day},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock := newTestClock()
			clock.step(700 * day) // since the pool was created
			store := memlease.New()
			p := mustCreate(t, store, 8)
			if _, err := p.grow(t.Context(), -1); err != nil {
				t.Fatal(err)
			}
			for worker, before := range test.used {
				r := p.unused(worker, p.term())
				r.Until, r.Attempt = clock.now().Add(-before).UnixMicro(), "x"
				put(t, store, workerKey("p", worker), encode(r))
			}
			c := Config{clock: clock.now, Wait: -1}
			checked := p.CheckClock(t.Context(), c)
			l, err := p.start(t.Context(), generator(t, clock).ForLease(), c)
			if fmt.Sprint(err) != fmt.Sprint(checked) {
				t.Errorf("%s: CheckClock says %v, Start %v", name, checked, err)
			}
			var skew *SkewError
			if test.reference == 0 {
				if err != nil {
					t.Errorf("%s: %v", name, err)
					return
				}
				l.Close()
				return
			}
			if !errors.As(err, &skew) || clock.now().Sub(skew.Reference).Round(time.Second) != test.reference {
				t.Errorf("%s: %v, want a reference %v ago", name, err, test.reference)
				return
			}
			if test.reference < 0 {
				return // it takes as many to outvote the others
			}
			c.TrustClock = true
			if err := p.CheckClock(t.Context(), c); err != nil {
				t.Errorf("%s: trusted: %v", name, err)
			}
			if l, err = p.start(t.Context(), generator(t, clock).ForLease(), c); err != nil {
				t.Fatalf("%s: trusted: %v", name, err)
			}
			l.Close()
			c.TrustClock = false
			for range 3 {
				if l, err = p.start(t.Context(), generator(t, clock).ForLease(), c); err != nil {
					t.Fatalf("%s: after it was trusted once: %v", name, err)
				}
				l.Close()
			}
		})
	}
}

// CheckClock asks the store's clock if the store has a clock, and reports invalid settings.
func TestCheckClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, right := newTestClock(), newTestClock()
		clock.step(-2 * time.Minute)
		p := mustCreate(t, faults.Clocked{Store: memlease.New(), Time: right.now}, 2)
		var skew *SkewError
		if err := p.CheckClock(t.Context(), Config{clock: clock.now}); !errors.As(err, &skew) || !skew.OfStore {
			t.Error(err)
		}
		if err := p.CheckClock(t.Context(), Config{clock: right.now}); err != nil {
			t.Error(err)
		}
		if err := p.CheckClock(t.Context(), Config{MaxSkew: -1}); !errors.Is(err, ErrConfig) {
			t.Error(err)
		}
		store, down := switched(p.store)
		p.store = store
		down.Store(true)
		if err := p.CheckClock(t.Context(), Config{clock: right.now}); !errors.Is(err, driver.ErrUnavailable) {
			t.Error(err)
		}
	})
}

// If no lease holds a worker, and a clock that was ahead has used up all workers, the error does
// not say that the workers are taken.
func TestWorkersAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		keep := func(which ...Choice) (*Lease, error) {
			c := Config{clock: clock.now, Wait: -1}
			if len(which) > 0 {
				c.Worker = which[0]
			}
			return p.start(t.Context(), generator(t, clock).ForLease(), c)
		}
		for worker := range 2 {
			l, err := keep(Number(worker))
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if err := l.Close(); err != nil {
				t.Fatal(err)
			}
		}
		until := clock.now()
		clock.step(-40 * time.Second)
		var none *NoWorkerError
		if _, err := keep(); !errors.As(err, &none) || !none.Ahead || none.Soonest.Before(until.Add(-2*time.Second)) {
			t.Errorf("%v", err)
		}
		clock.step(39 * time.Second)
		l, err := keep() // the first of them is free again
		if err != nil {
			t.Fatal(err)
		}
		clock.step(-39 * time.Second)
		if _, err := keep(); !errors.As(err, &none) || none.Ahead {
			t.Errorf("one is held: %v", err)
		}
		l.Close()
	})
}
