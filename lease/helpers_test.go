package lease

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
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

func (c *testClock) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

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

// want fails the test unless the kinds of events are one of some texts.
func (l *testLog) want(t *testing.T, kinds ...string) {
	t.Helper()
	if got := l.kinds(); !slices.Contains(kinds, got) {
		t.Errorf("the events are %s; want %q", got, kinds)
	}
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
	l := p.lease(c.timed(p.store), g, c)
	if err := l.keep(ctx); err != nil {
		return nil, err
	}
	return l, nil
}

func generator(t *testing.T, c *testClock) *nanoflake.Generator {
	t.Helper()
	return testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true, Clock: c.now}))
}

// try starts a lease for a new generator.
func try(t *testing.T, p *Pool, clock *testClock, c Config) (*Lease, error) {
	t.Helper()
	c.clock = clock.now
	return p.start(t.Context(), generator(t, clock).ForLease(), c)
}

// keep takes a lease for a new generator.
func keep(t *testing.T, p *Pool, clock *testClock, c Config) (*nanoflake.Generator, *Lease, *testLog) {
	t.Helper()
	g, log := generator(t, clock), new(testLog)
	c.clock, c.Notify = clock.now, log.add
	l := testkit.Must(p.start(t.Context(), g.ForLease(), c))
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

// die ends a lease like a crash: nothing is given back.
func die(l *Lease) {
	l.lockWork()
	l.close()
	l.work.unlock()
	l.seal.lock(realWorld{})
	l.shut = true // the generator is not sealed either
	l.seal.unlock()
	l.Close()
	<-l.Done()
}

func mustCreate(t *testing.T, store driver.Store, workers int) *Pool {
	t.Helper()
	return testkit.Must(create(t.Context(), store, "p", testLayout(workers), 0, newTestClock().now()))
}

// put writes a value over any other value.
func put(t *testing.T, store driver.Store, key string, value []byte) {
	t.Helper()
	e, err := store.Get(t.Context(), key)
	if err != nil && !errors.Is(err, driver.ErrNotFound) {
		t.Fatal(err)
	}
	testkit.Must(store.Put(t.Context(), key, value, e.Revision))
}

// made returns the workers named by the pool's record.
func made(t *testing.T, store driver.Store) [][2]int {
	t.Helper()
	r, _, err := readPool(t.Context(), store, "p")
	testkit.OK(t, err)
	return r.Made
}

// nothingHeld fails the test if a lease holds a worker of any pool.
func nothingHeld(t *testing.T, store driver.Store, what string) {
	t.Helper()
	for _, e := range testkit.Must(store.List(t.Context(), "")) {
		if strings.Contains(e.Key, "/workers/") && strings.Contains(string(e.Value), `"incarnation"`) {
			t.Errorf("%s: %s is held: %s", what, e.Key, e.Value)
		}
	}
}

func mustRecover(t *testing.T, store driver.Store, clock *testClock) *Recovery {
	t.Helper()
	return testkit.Must(RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now}))
}

// tries starts and closes a lease.
func tries(t *testing.T, p *Pool, clock *testClock, c Config) error {
	t.Helper()
	l, err := try(t, p, clock, c)
	if err == nil {
		l.Close()
	}
	return err
}

func mustOpen(t *testing.T, store driver.Store) *Pool {
	t.Helper()
	return testkit.Must(Lookup(t.Context(), store, "p"))
}

// distinct returns a function that makes an ID of a generator, and reports whether the generator had one.
// An ID that was made before, by any generator of the function, fails the test.
func distinct(t *testing.T) func(*nanoflake.Generator) bool {
	seen := map[nanoflake.ID]bool{}
	return func(g *nanoflake.Generator) bool {
		id, err := g.TryNext()
		if err == nil && seen[id] {
			t.Errorf("%v is made twice", id)
		}
		seen[id] = true
		return err == nil
	}
}
