package lease

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// A troubled store returns an error from each request while it has one, and notes the requests.
type troubled struct {
	hooked
	mu    sync.Mutex
	err   error
	tries []time.Time // the requests that failed
	asked int
}

func newTroubled(err error) *troubled { return troubledIn(memlease.New(), err) }

// troubledIn returns a troubled connection to a store.
func troubledIn(store driver.Store, err error) *troubled {
	s := &troubled{err: err}
	s.hooked = hooked{Store: store, before: func(string, string) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.asked++; s.err != nil {
			s.tries = append(s.tries, time.Now())
		}
		return s.err
	}}
	return s
}

func (s *troubled) mend() { s.fail(nil) }

func (s *troubled) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *troubled) failed() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.tries)
}

func (s *troubled) requests() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

// background starts a lease in the background.
func background(t *testing.T, store driver.Store, clock *testClock, c Config) (*nanoflake.Generator, *Lease, *testLog) {
	t.Helper()
	g, log := generator(t, clock), new(testLog)
	c.Background, c.Notify = true, log.add
	l := testkit.Must(Start(t.Context(), store, g, c))
	t.Cleanup(func() { l.Close() })
	return g, l, log
}

// A lease starts while its store is down for an hour. Callers wait, or get the reason, and mint soon
// after the store is back.
func TestBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), newTroubled(driver.ErrUnavailable)
		g, l, log := background(t, store, clock, Config{Create: true})
		began := time.Now()
		starting := func(err error) bool {
			var e *StartingError
			return errors.As(err, &e) && errors.Is(err, ErrStarting) && errors.Is(err, iderr.ErrFenced) && e.Pool == "nanoflake" && e.Since.Equal(clock.now().Add(-time.Since(began)))
		}
		if err := testkit.Err(g.TryNext()); !starting(err) {
			t.Errorf("TryNext at once: %v", err)
		}
		var all sync.WaitGroup
		for i := range 4 {
			all.Go(func() {
				id, err := g.Next(t.Context())
				if took := time.Since(began); err != nil || id.GeneratorID() != l.Worker() || took < time.Hour || took > time.Hour+8*time.Second {
					t.Errorf("caller %d after %v: %v, %v", i, took, id, err)
				}
			})
			all.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				if err := testkit.Err(g.Next(ctx)); !starting(err) || !errors.Is(err, driver.ErrUnavailable) || !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("Next until its context ends: %v", err)
				}
			})
		}
		time.Sleep(time.Hour)
		if err := testkit.Err(g.TryNext()); !starting(err) || !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("TryNext: %v", err)
		}
		if !errors.Is(l.Err(), driver.ErrUnavailable) || l.Worker() != -1 || l.Pool() != nil || !l.Until().IsZero() {
			t.Errorf("the lease has worker %d of %v until %v: %v", l.Worker(), l.Pool(), l.Until(), l.Err())
		}
		s := l.Stats()
		if s.Left != 0 || s.Renewals != 0 || s.Failures != uint64(len(store.failed())) || s.Failures < 500 || s.Failures > 2000 {
			t.Errorf("%+v after %d tries", s, len(store.failed()))
		}
		log.want(t, "failing")
		if n := len(log.events); n < 50 || n > 62 {
			t.Errorf("%d events in an hour", n)
		}
		if e := log.last(t, Failing); e.Worker != -1 || e.Pool != "nanoflake" || !errors.Is(e.Err, driver.ErrUnavailable) {
			t.Errorf("%+v", e)
		}
		store.mend()
		all.Wait()
		log.want(t, "failing created acquired recovered")
		time.Sleep(time.Minute)
		log.want(t, "failing created acquired recovered renewed")
		if l.Pool().Name() != "nanoflake" || l.Err() != nil {
			t.Errorf("pool %v, %v", l.Pool(), l.Err())
		}
		testkit.OK(t, l.Close())
		nothingHeld(t, store, "closed")
	})
}

// After each error that an operator can mend, the search goes on, and ends well once the error is
// gone.
func TestBackgroundRetries(t *testing.T) {
	for _, err := range []error{driver.ErrUnavailable, driver.ErrUnsafe, ErrDamaged, ErrMissing, ErrRecovering, ErrRolledBack, &SkewError{},
		driver.ErrConflict, &NoWorkerError{}, &HeldError{}, context.DeadlineExceeded, context.Canceled, errors.New("another")} {
		synctest.Test(t, func(t *testing.T) {
			clock, store := newTestClock(), newTroubled(fmt.Errorf("asking: %w", err))
			g, l, log := background(t, store, clock, Config{Create: true})
			time.Sleep(time.Hour)
			if got := testkit.Err(g.TryNext()); !errors.Is(got, ErrStarting) || !errors.Is(got, err) || !errors.Is(l.Err(), err) {
				t.Errorf("%v: %v, %v", err, got, l.Err())
			}
			store.mend()
			time.Sleep(10 * time.Second)
			mints(t, g, l)
			if got := log.kinds(); !strings.HasSuffix(strings.ReplaceAll(got, " recovered", ""), "created acquired renewed") {
				t.Errorf("%v: events: %s", err, got)
			}
		})
	}
}

// A refusing generator takes no worker.
type refusing struct{ *nanoflake.Generator }

var errRefusing = errors.New("no such worker")

func (g refusing) ForLease() grant.Grantee { return refusingLease{g.Generator.ForLease()} }

type refusingLease struct{ grant.Grantee }

func (refusingLease) Grant(int, time.Time, time.Time) error { return errRefusing }

// Each error that no retry can mend ends the search: the error is the generator's for good, the
// lease's, and an event. The lease asks nothing more.
func TestBackgroundEnds(t *testing.T) {
	other := testLayout(7)
	for name, c := range map[string]struct {
		want    error
		prepare func(*troubled)
		refuses bool
		open    error
	}{
		"no pool":   {want: ErrNoPool, prepare: func(*troubled) {}},
		"other IDs": {want: ErrPoolMismatch, prepare: func(s *troubled) { testkit.Must(Create(context.Background(), s.Store, "nanoflake", other)) }},
		"version":   {want: ErrVersion, prepare: func(s *troubled) { s.fail(fmt.Errorf("reading: %w", ErrVersion)) }},
		"setting":   {want: ErrConfig, prepare: func(s *troubled) { s.fail(fmt.Errorf("writing: %w", ErrConfig)) }},
		"a generator": {want: errRefusing, refuses: true, prepare: func(s *troubled) {
			testkit.Must(Create(context.Background(), s.Store, "nanoflake", testLayout(1024)))
		}},
		"address": {want: driver.ErrAddress, open: fmt.Errorf("opening: %w", driver.ErrAddress)},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock, store, log := newTestClock(), newTroubled(driver.ErrUnavailable), new(testLog)
				nano := generator(t, clock)
				var g Generator = nano
				if c.refuses {
					g = refusing{nano}
				}
				opens := new(atomic.Int32)
				l := testkit.Must(OpenAndStart(t.Context(), func(context.Context) (driver.Store, error) {
					if opens.Add(1) > 3 && c.open != nil {
						return nil, c.open
					}
					if c.open != nil {
						return nil, driver.ErrUnavailable
					}
					return &closing{Store: store}, nil
				}, g, Config{Background: true, TrustClock: true, Notify: log.add}))
				var waits sync.WaitGroup
				waits.Go(func() { testkit.Is(t, testkit.Err(nano.Next(t.Context())), c.want, "a caller that waits") })
				time.Sleep(time.Minute)
				store.mend()
				if c.prepare != nil {
					c.prepare(store)
				}
				waits.Wait()
				synctest.Wait()
				if got := log.kinds(); !strings.HasPrefix(got, "failing ") || strings.Count(got, "ended") != 1 || !strings.HasSuffix(got, " ended") {
					t.Errorf("the events are %s", got)
				}
				e := log.last(t, Ended)
				if !errors.Is(e.Err, c.want) || e.Worker != -1 || e.Pool != "nanoflake" || !errors.Is(l.Err(), c.want) || l.Left() != 0 || l.Worker() != -1 || !l.Until().IsZero() {
					t.Errorf("%+v; %v, worker %d until %v", e, l.Err(), l.Worker(), l.Until())
				}
				<-l.Done()
				asked, opened := store.requests(), opens.Load()
				time.Sleep(time.Hour)
				if store.requests() != asked || opens.Load() != opened {
					t.Error("the search goes on")
				}
				testkit.Is(t, testkit.Err(nano.TryNext()), c.want, "an hour later")
				testkit.OK(t, l.Close())
				testkit.Is(t, testkit.Err(nano.TryNext()), c.want, "closed")
				testkit.Is(t, l.Err(), c.want, "closed")
				if c.refuses {
					nothingHeld(t, store.Store, name)
					if made := len(testkit.Must(store.List(t.Context(), workersKey("nanoflake")))); made > 16 {
						t.Errorf("%d workers have records: the search goes through the pool", made)
					}
				}
			})
		})
	}
}

// Start returns at once what needs no store.
func TestBackgroundChecks(t *testing.T) {
	clock, store := newTestClock(), newTroubled(driver.ErrUnavailable)
	c := Config{Background: true, clock: clock.now}
	start := func(g Generator, c Config) error { return testkit.Err(Start(t.Context(), store, g, c)) }
	bad := c
	bad.Window = -1
	testkit.Is(t, start(generator(t, clock), bad), ErrConfig, "a window")
	bad = c
	bad.Pool = "Nanoflake"
	testkit.Is(t, start(generator(t, clock), bad), ErrConfig, "a name")
	testkit.Is(t, start(testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Clock: clock.now})), c), iderr.ErrConfig, "a generator without Leased")
	g := generator(t, clock)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	testkit.Is(t, testkit.Err(Start(ended, store, g, c)), context.Canceled, "a context that has ended")
	l := testkit.Must(Start(t.Context(), store, g, c))
	testkit.Is(t, start(g, c), ErrLeased, "a second lease")
	l.Close()
	testkit.Is(t, start(g, c), ErrClosed, "a closed lease's generator")
}

// Leases that start at once do not try at once.
func TestBackgroundJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const leases = 50
		clock, stores := newTestClock(), make([]*troubled, leases)
		for i := range stores {
			stores[i] = newTroubled(driver.ErrUnavailable)
			background(t, stores[i], clock, Config{Create: true})
		}
		began := time.Now()
		time.Sleep(10 * time.Minute)
		slots := make(map[time.Duration]int) // of 100 ms
		tries := 0
		for _, s := range stores {
			for _, at := range s.failed() {
				slots[at.Sub(began)/(100*time.Millisecond)]++
				tries++
			}
		}
		if slots[0] < leases {
			t.Errorf("%d first tries at once", slots[0])
		}
		delete(slots, 0)
		most := 0
		for slot, n := range slots {
			if slot > 100 { // after 10 s
				most = max(most, n)
			}
		}
		t.Logf("%d tries of %d leases in 10 minutes, at most %d in 100 ms", tries, leases, most)
		if most > leases/2 || tries < leases*60 || tries > leases*200 {
			t.Errorf("%d tries, %d of them in 100 ms", tries, most)
		}
	})
}

// Close during any request of the search takes no time, though the store heeds no context. A worker
// that comes late is given back, and callers get the error of a closed lease.
func TestBackgroundClose(t *testing.T) {
	const fresh = 30 // more requests than a start in a new store makes
	ends := make(map[string]int)
	for hangs := range fresh {
		for _, takes := range []time.Duration{time.Second, time.Minute} { // of the hanging request
			synctest.Test(t, func(t *testing.T) {
				clock, plain := newTestClock(), memlease.New()
				asked, op := 0, ""
				store := &hooked{Store: plain, around: func(c call) error {
					if asked++; asked == hangs+1 {
						op = c.op + " " + c.key
						time.Sleep(takes)
						return c.do(context.Background())
					}
					return c.do(c.ctx)
				}}
				g, l, log := background(t, store, clock, Config{Create: true})
				var waits sync.WaitGroup
				waits.Go(func() {
					for { // until the lease is closed
						if _, err := g.Next(t.Context()); err != nil {
							testkit.Is(t, err, ErrClosed, "a caller that waits")
							return
						}
						time.Sleep(time.Millisecond)
					}
				})
				time.Sleep(100 * time.Millisecond)
				synctest.Wait()
				began, searches := time.Now(), l.Worker() < 0
				err := l.Close()
				if took := time.Since(began); searches && (took > 0 || err != nil) {
					t.Errorf("Close during %s took %v: %v", op, took, err)
				}
				if again := l.Close(); again != err {
					t.Errorf("Close again: %v, not %v", again, err)
				}
				waits.Wait()
				if l.Left() != 0 {
					t.Errorf("%v left", l.Left())
				}
				<-l.Done()
				synctest.Wait() // a request that hangs still has the variables
				if took := time.Since(began); took > min(takes, 3*DefaultTimeout) {
					t.Errorf("%s: the lease ends after %v", op, took)
				}
				testkit.Is(t, l.Err(), ErrClosed, "%s: the error", op)
				if takes < time.Minute {
					nothingHeld(t, plain, op)
					ends[op+": "+log.kinds()]++
				}
				requests := asked
				time.Sleep(takes + time.Second)
				synctest.Wait()
				if asked != requests {
					t.Errorf("the lease goes on after %s", op)
				}
			})
		}
	}
	t.Logf("%v", ends)
	if !slices.ContainsFunc(slices.Collect(maps.Keys(ends)), func(end string) bool { return strings.HasSuffix(end, ": created released") }) {
		t.Error("no worker came after Close")
	}
}

// Close ends a search that pauses, and a search that waits for a worker, at once.
func TestBackgroundCloseInPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, inner := newTestClock(), memlease.New()
		_, holder, _ := background(t, inner, clock, Config{Create: true, Worker: Number(7)})
		time.Sleep(time.Minute)
		store := troubledIn(inner, nil)
		g, l, log := background(t, store, clock, Config{Worker: Number(7)})
		time.Sleep(time.Minute)
		if err := testkit.Err(g.TryNext()); !errors.Is(err, ErrHeld) || !errors.Is(err, ErrStarting) {
			t.Errorf("TryNext: %v", err)
		}
		log.want(t, "waiting")
		store.fail(driver.ErrUnavailable)
		time.Sleep(time.Minute)
		log.want(t, "waiting failing")
		store.mend()
		time.Sleep(time.Minute)
		began := time.Now()
		for _, closes := range []*Lease{l, l, holder} {
			testkit.OK(t, closes.Close())
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %v", took)
		}
		synctest.Wait()
		<-l.Done()
		nothingHeld(t, store, "closed")
		log.want(t, "waiting failing")

		// The next lease gets the worker as soon as the holder gives it back.
		_, holder, _ = background(t, store, clock, Config{Worker: Number(7)})
		time.Sleep(time.Minute)
		g, l, log = background(t, store, clock, Config{Worker: Number(7)})
		time.Sleep(time.Hour)
		log.want(t, "waiting")
		testkit.OK(t, holder.Close())
		time.Sleep(3 * time.Second)
		mints(t, g, l)
		log.want(t, "waiting acquired recovered renewed", "waiting acquired recovered")
	})
}

// Close within Notify ends a search, at each of its events.
func TestBackgroundCloseInNotify(t *testing.T) {
	for _, kind := range []EventKind{Failing, Created, Acquired, Ended} {
		synctest.Test(t, func(t *testing.T) {
			clock, store, log := newTestClock(), newTroubled(driver.ErrUnavailable), new(testLog)
			g := generator(t, clock)
			var l *Lease
			ready := make(chan bool)
			c := Config{Background: true, Create: kind != Ended, Notify: func(e Event) {
				<-ready
				if log.add(e); e.Kind == kind {
					testkit.OK(t, l.Close())
				}
			}}
			l = testkit.Must(Start(t.Context(), store, g, c))
			close(ready)
			time.Sleep(time.Minute)
			store.mend()
			time.Sleep(time.Minute)
			<-l.Done()
			want := map[EventKind]string{Failing: "failing", Created: "failing created", Acquired: "failing created acquired recovered released", Ended: "failing ended"}[kind]
			log.want(t, want)
			testkit.OK(t, l.Close())
			if kind != Ended {
				testkit.Is(t, testkit.Err(g.TryNext()), ErrClosed, "%v", kind)
				nothingHeld(t, store.Store, kind.String())
			}
		})
	}
}

// A closing store notes that it was closed.
type closing struct {
	driver.Store
	closed atomic.Int32
}

func (c *closing) Close() error {
	c.closed.Add(1)
	return nil
}

// OpenAndStart opens the store in the background, for as long as that takes, and closes the store
// after Close.
func TestOpenAndStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store, down := newTestClock(), &closing{Store: memlease.New()}, atomic.Bool{}
		open := func(context.Context) (driver.Store, error) {
			if down.Load() {
				return nil, driver.OpenError("there", driver.ErrUnavailable, "")
			}
			return store, nil
		}
		for _, inBackground := range []bool{false, true} {
			down.Store(true)
			g, c := generator(t, clock), Config{Background: inBackground, Create: true}
			l, err := OpenAndStart(t.Context(), open, g, c)
			if !inBackground {
				testkit.Is(t, err, driver.ErrUnavailable, "open fails")
				down.Store(false)
				l, err = OpenAndStart(t.Context(), open, g, c)
			} else {
				time.Sleep(time.Hour)
				testkit.Is(t, testkit.Err(g.TryNext()), driver.ErrUnavailable, "open fails")
				down.Store(false)
				time.Sleep(8 * time.Second)
			}
			testkit.OK(t, err)
			mints(t, g, l)
			before := store.closed.Load()
			testkit.OK(t, l.Close())
			testkit.OK(t, l.Close())
			synctest.Wait()
			testkit.Same(t, store.closed.Load(), before+1)
			nothingHeld(t, store, "closed")
		}
		// A start that fails closes the store too.
		before := store.closed.Load()
		_, err := OpenAndStart(t.Context(), open, generator(t, clock), Config{Pool: "mien"})
		testkit.Is(t, err, ErrNoPool, "a pool that is missing")
		testkit.Same(t, store.closed.Load(), before+1)
		g := generator(t, clock)
		l := testkit.Must(OpenAndStart(t.Context(), open, g, Config{Pool: "mien", Background: true}))
		testkit.Is(t, testkit.Err(g.Next(t.Context())), ErrNoPool, "a pool that is missing")
		synctest.Wait()
		testkit.Same(t, store.closed.Load(), before+2)
		testkit.OK(t, l.Close())
		testkit.Same(t, store.closed.Load(), before+2)
	})
}

// A call of open that heeds no context delays nothing: Close returns at once, and the store that comes
// late is closed. There is one such call at a time.
func TestOpenHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), &closing{Store: memlease.New()}
		inside, calls := new(atomic.Int32), new(atomic.Int32)
		g := generator(t, clock)
		l := testkit.Must(OpenAndStart(t.Context(), func(context.Context) (driver.Store, error) {
			if calls.Add(1); inside.Add(1) > 1 {
				t.Error("two calls at once")
			}
			defer inside.Add(-1)
			time.Sleep(time.Minute)
			return store, nil
		}, g, Config{Background: true, Create: true}))
		time.Sleep(30 * time.Second)
		if err := testkit.Err(g.TryNext()); !errors.Is(err, driver.ErrUnavailable) || !strings.Contains(err.Error(), errHangs.Error()) {
			t.Errorf("TryNext: %v", err)
		}
		time.Sleep(5*time.Minute + 10*time.Second)
		closed, called := store.closed.Load(), calls.Load()
		if closed != called-1 || called < 4 {
			t.Errorf("%d of %d stores are closed", closed, called)
		}
		began := time.Now()
		testkit.OK(t, l.Close())
		if took := time.Since(began); took > 0 {
			t.Errorf("Close took %v", took)
		}
		testkit.Is(t, testkit.Err(g.TryNext()), ErrClosed, "closed")
		time.Sleep(time.Second)
		<-l.Done() // though the call goes on
		testkit.Same(t, inside.Load(), 1)
		time.Sleep(time.Minute)
		testkit.Same(t, store.closed.Load(), called)
	})
}
