package lease

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// A testBackup is a copy of a store.
type testBackup map[string][]byte

func backUp(t *testing.T, store driver.Store) testBackup {
	t.Helper()
	entries, err := store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	b := testBackup{}
	for _, e := range entries {
		b[e.Key] = e.Value
	}
	return b
}

// restored is a store that can go back to a backup.
type restored struct {
	now atomic.Pointer[memlease.Store]
}

func newRestored() *restored {
	r := &restored{}
	r.now.Store(memlease.New())
	return r
}

func (r *restored) Get(ctx context.Context, key string) (driver.Entry, error) {
	return r.now.Load().Get(ctx, key)
}

func (r *restored) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	return r.now.Load().List(ctx, prefix)
}

func (r *restored) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	return r.now.Load().Put(ctx, key, value, rev)
}

func (r *restored) String() string { return "restored" }
func (r *restored) Close() error   { return nil }

func (r *restored) restore(t *testing.T, b testBackup) {
	t.Helper()
	store := memlease.New()
	for range 1000 { // revisions that nobody has used
		put(t, store, "x/x", nil)
	}
	for key, value := range b {
		put(t, store, key, value)
	}
	r.now.Store(store)
}

// rescues runs a rescue of the pool p, and fails unless the error is want. After an error no record
// may have changed, and rescues returns nil.
func rescues(t *testing.T, name string, store driver.Store, c RescueConfig, want error) *Rescued {
	t.Helper()
	before := fmt.Sprint(backUp(t, store))
	done, err := Rescue(t.Context(), store, "p", c)
	if !errors.Is(err, want) || (err == nil) != (want == nil) {
		t.Errorf("%s: %v", name, err)
	}
	if err == nil {
		return done
	}
	if after := fmt.Sprint(backUp(t, store)); after != before {
		t.Errorf("%s: it has changed records", name)
	}
	return nil
}

func mustRescue(t *testing.T, store driver.Store, clock *testClock) *Rescued {
	t.Helper()
	done, err := Rescue(t.Context(), store, "p", RescueConfig{clock: clock.now})
	if err != nil {
		t.Fatal(err)
	}
	return done
}

// tries is a Start without a wait.
func tries(t *testing.T, p *Pool, clock *testClock) error {
	t.Helper()
	l, err := p.start(t.Context(), generator(t, clock).ForLease(), Config{clock: clock.now, Wait: -1})
	if err == nil {
		l.Close()
	}
	return err
}

// No interval from before a rescue is given again, not even if the backup does not know the lease
// or the worker. Earlier leases go on to the end of the interval, and later with new workers.
func TestRescue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), newRestored()
		p := mustCreate(t, store, 8)
		empty := backUp(t, store)
		seen := map[nanoflake.ID]bool{}
		var leases []*Lease
		var generators []*nanoflake.Generator
		var logs []*testLog
		mint := func(g *nanoflake.Generator) bool {
			id, err := g.TryNext()
			if err == nil && seen[id] {
				t.Errorf("%v is made twice", id)
			}
			seen[id] = true
			return err == nil
		}
		for range 6 { // so that there are records made twice
			g, l, log := keep(t, p, clock, Config{})
			leases, generators, logs = append(leases, l), append(generators, g), append(logs, log)
		}
		time.Sleep(20 * time.Second)
		store.restore(t, empty)
		done := mustRescue(t, store, clock)
		now := clock.now()
		if want := now.Add(DefaultWindow + DefaultMaxSkew + grace + 4*time.Millisecond); !done.Floor.Equal(want) {
			t.Errorf("the floor is %v, not %v", done.Floor, want)
		}
		if at, floor := done.Pool.Rescued(); !at.Equal(now) || !floor.Equal(done.Floor) {
			t.Errorf("it was rescued at %v with the floor %v, not %v and %v", at, floor, now, done.Floor)
		}
		for clock.now().Before(done.Floor) {
			for i, g := range generators {
				if minted := mint(g); minted != clock.now().Before(leases[i].Until()) {
					t.Fatalf("at %v, with times until %v, it mints: %v", clock.now(), leases[i].Until(), minted)
				}
			}
			err := tries(t, p, clock)
			var none *NoWorkerError
			if !errors.As(err, &none) || !none.Rescued || !none.Soonest.Equal(done.Floor) {
				t.Fatalf("before the floor: %v", err)
			}
			time.Sleep(777 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		for i, g := range generators {
			if !mint(g) {
				t.Errorf("it mints nothing after the floor: %v", leases[i].Err())
			}
			if got := logs[i].kinds(); got != "acquired renewed lost waiting failing expired acquired renewed" && got != "acquired renewed lost waiting failing expired acquired" {
				t.Errorf("events: %s", got)
			}
			if e := logs[i].last(t, Acquired); e.From.Before(done.Floor) {
				t.Errorf("worker %d has times from %v, before the floor %v", e.Worker, e.From, done.Floor)
			}
		}
		for range 1000 {
			time.Sleep(97 * time.Millisecond)
			for _, g := range generators {
				mint(g)
			}
		}
		if err := leases[0].Close(); err != nil {
			t.Error(err)
		}
		// The number of new records depends on how many leases wanted a worker at the same moment.
		if _, made, err := p.Workers(t.Context()); made < len(leases) || made > 8 || err != nil {
			t.Errorf("%d workers, %v", made, err)
		}
	})
}

// After a store has gone back, leases take nothing from the store until the pool was rescued, and
// report the reason.
func TestRolledBack(t *testing.T) {
	for name, when := range map[string]time.Duration{"own record": 10 * time.Second, "another's": 0, "no record": -1} {
		synctest.Test(t, func(t *testing.T) {
			clock, store := newTestClock(), newRestored()
			p := mustCreate(t, store, 8)
			backup := backUp(t, store)
			if when == 0 {
				p.grow(t.Context(), -1)
				backup = backUp(t, store)
			}
			g, l, log := keep(t, p, clock, Config{})
			time.Sleep(10 * time.Second)
			if when > 0 {
				backup = backUp(t, store)
				time.Sleep(when)
			}
			store.restore(t, backup)
			until := l.Until()
			for clock.now().Before(until) {
				mints(t, g, l)
				time.Sleep(97 * time.Millisecond)
			}
			time.Sleep(20 * time.Second)
			if _, err := g.TryNext(); !errors.Is(err, ErrRolledBack) || !errors.Is(err, ErrLeaseExpired) {
				t.Errorf("%s: %v", name, err)
			}
			if got := log.kinds(); got != "acquired renewed lost failing expired" {
				t.Errorf("%s: events: %s", name, got)
			}
			mustRescue(t, store, clock)
			time.Sleep(75 * time.Second)
			mints(t, g, l)
			if err := l.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Close after a rescue has nothing to give back. Close after a restore without a rescue reports the
// restore.
func TestCloseRescued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), newRestored()
		p := mustCreate(t, store, 8)
		_, first, _ := keep(t, p, clock, Config{})
		backup := backUp(t, store)
		_, second, _ := keep(t, p, clock, Config{})
		_, third, _ := keep(t, p, clock, Config{})
		time.Sleep(5 * time.Second)
		store.restore(t, backup)
		if err := second.Close(); err != nil { // somebody else's record, as it seems
			t.Errorf("after a restore: %v", err)
		}
		if err := first.Close(); !errors.Is(err, ErrRolledBack) {
			t.Errorf("after a restore: %v", err)
		}
		before := mustRescue(t, store, clock)
		if err := third.Close(); err != nil {
			t.Errorf("after a rescue: %v", err)
		}
		if used, _, err := p.Workers(t.Context()); err != nil || len(used) != 1 || used[0].Until.Before(before.Floor) {
			t.Errorf("%+v, %v", used, err)
		}
	})
}

// A rescue may die after any request: the pool is then unchanged or refused, and the next rescue
// finishes.
func TestRescueInterrupted(t *testing.T) {
	died := errors.New("died")
	for left := range 8 {
		clock, store := newTestClock(), memlease.New()
		p := mustCreate(t, store, 6)
		if _, err := p.grow(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		puts := left
		dying := &hooked{Store: store, before: func(op, _ string) error {
			if op != "put" {
				return nil
			}
			if puts--; puts < 0 {
				return died
			}
			return nil
		}}
		_, err := Rescue(t.Context(), dying, "p", RescueConfig{clock: clock.now, lanes: 1})
		if dies := left < 5; errors.Is(err, died) != dies || dies && !strings.Contains(err.Error(), "run it again") {
			t.Fatalf("after %d requests: %v", left, err)
		}
		for name, p := range map[string]*Pool{"was open": p, "is opened": mustOpen(t, store)} {
			switch err := tries(t, p, clock); {
			case left == 0 && err == nil:
			case left > 0 && left < 5 && errors.Is(err, ErrRescuing):
			case left >= 5 && errors.Is(err, ErrNoWorker):
			default:
				t.Errorf("after %d requests a pool that %s: %v", left, name, err)
			}
		}
		clock.step(time.Hour)
		if left > 0 && left < 5 {
			if err := tries(t, p, clock); !errors.Is(err, ErrRescuing) {
				t.Errorf("after %d requests and an hour: %v", left, err)
			}
		}
		done := mustRescue(t, store, clock)
		clock.step(done.Floor.Sub(clock.now()))
		if err := tries(t, p, clock); err != nil {
			t.Errorf("after %d requests and another rescue: %v", left, err)
		}
	}
}

func mustOpen(t *testing.T, store driver.Store) *Pool {
	t.Helper()
	p, err := Lookup(t.Context(), store, "p")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Missing and damaged records are made again, at the floor. If another program may read a record,
// the rescue changes nothing.
func TestRescueRecords(t *testing.T) {
	for name, test := range map[string]struct {
		change func(r *record) string // what is stored instead; "" for nothing
		want   error
		made   int
	}{
		"nothing":            {func(r *record) string { return string(encode(r)) }, nil, 0},
		"missing":            {func(*record) string { return "" }, nil, 1},
		"damaged":            {func(*record) string { return "{" }, nil, 1},
		"another worker's":   {func(r *record) string { r.Worker = 3; return string(encode(r)) }, nil, 1},
		"another version":    {func(r *record) string { r.Version = 3; return string(encode(r)) }, ErrVersion, 0},
		"another pool's":     {func(r *record) string { r.Pool = newUUID(); return string(encode(r)) }, nil, 1},
		"another layout's":   {func(r *record) string { r.Layout = "0123456789abcdef"; return string(encode(r)) }, nil, 1},
		"a later generation": {func(r *record) string { r.Generation = 1 << 50; return string(encode(r)) }, nil, 0},
	} {
		clock, full := newTestClock(), memlease.New()
		p := mustCreate(t, full, 8)
		if _, err := p.grow(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		store := memlease.New()
		for key, value := range backUp(t, full) {
			if key == workerKey("p", 2) {
				if value = []byte(test.change(p.unused(2, p.term()))); len(value) == 0 {
					continue
				}
			}
			put(t, store, key, value)
		}
		done := rescues(t, name, store, RescueConfig{clock: clock.now}, test.want)
		if done == nil {
			continue
		}
		if done.Made != test.made || done.Raised != 4-test.made {
			t.Errorf("%s: %d were made and %d raised", name, done.Made, done.Raised)
		}
		all, err := done.Pool.records(t.Context())
		if err != nil || len(all) != 4 {
			t.Errorf("%s: %d records, %v", name, len(all), err)
		}
		for _, s := range all {
			if s.Until != done.Floor.UnixMicro() || s.Generation != done.Pool.term().generation {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if used, _, _ := done.Pool.Workers(t.Context()); len(used) != test.made {
			t.Errorf("%s: %d workers count as used", name, len(used))
		}
	}
}

// A rescue meets a renewing lease at the latest revision.
func TestRescueRaces(t *testing.T) {
	clock, store := newTestClock(), memlease.New()
	p := mustCreate(t, store, 4)
	g := generator(t, clock)
	l, err := p.kept(t.Context(), g.ForLease(), Config{clock: clock.now, Window: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	races := 3
	racing := &hooked{Store: store, before: func(op, key string) error {
		if op == "put" && key == workerKey("p", l.Worker()) && races > 0 {
			races--
			clock.step(time.Second)
			l.work.Lock()
			defer l.work.Unlock()
			return l.renew(t.Context())
		}
		return nil
	}}
	done, err := Rescue(t.Context(), racing, "p", RescueConfig{clock: clock.now, Skew: time.Millisecond, Window: time.Minute})
	if err != nil || races > 0 {
		t.Fatal(races, err)
	}
	s, err := done.Pool.get(t.Context(), l.Worker())
	if err != nil || s.Until < l.Until().UnixMicro() || s.Until < done.Floor.UnixMicro() || s.Incarnation != "" {
		t.Errorf("the lease has times until %v, and the record says %+v, %v", l.Until(), s, err)
	}
	// The window of the lease is longer than the window in the settings.
	if done.Floor.Sub(clock.now()) < 59*time.Minute {
		t.Errorf("the floor is in %v", done.Floor.Sub(clock.now()))
	}
}

// A lease that read the pool before a rescue, and the workers after its begin, takes no worker.
func TestTakeWhileRescued(t *testing.T) {
	for _, worker := range []Choice{{}, Number(0)} {
		clock, store := newTestClock(), memlease.New()
		p := mustCreate(t, store, 4)
		if _, err := p.grow(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		died := errors.New("died")
		begun := false
		p.store = &hooked{Store: store, before: func(op, key string) error {
			if op == "list" && !begun {
				begun = true
				dying := &hooked{Store: store, before: func(op, key string) error {
					if op == "put" && key != poolKey("p") {
						return died
					}
					return nil
				}}
				if _, err := Rescue(t.Context(), dying, "p", RescueConfig{clock: clock.now}); !errors.Is(err, died) {
					t.Errorf("the rescue: %v", err)
				}
			}
			return nil
		}}
		_, err := p.start(t.Context(), generator(t, clock).ForLease(), Config{clock: clock.now, Wait: -1, Worker: worker})
		if !begun || !errors.Is(err, ErrRescuing) && !errors.Is(err, ErrNoWorker) && !errors.Is(err, ErrHeld) {
			t.Errorf("%+v: %v", worker, err)
		}
		if used, _ := store.List(t.Context(), workersKey("p")); strings.Contains(fmt.Sprintf("%s", used), "attempt") {
			t.Errorf("%+v: a worker was taken: %s", worker, used)
		}
	}
}

func TestRescueClock(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, test := range map[string]struct {
		clock, store time.Duration // how far they are wrong; 0 for a store without one
		used         time.Duration // one of two workers was used so far ahead of the right time
		config       RescueConfig
		wrong        bool
		ahead        int
	}{
		"right":                              {},
		"ahead of the store":                 {clock: 2 * time.Minute, store: 1, wrong: true},
		"behind the store":                   {clock: -2 * time.Minute, store: 1, wrong: true},
		"about that of the store":            {clock: 59 * time.Second, store: 1},
		"as far as it may be":                {clock: 2 * time.Minute, store: 1, config: RescueConfig{Skew: 3 * time.Minute}},
		"trusted":                            {clock: 2 * time.Minute, store: 1, config: RescueConfig{TrustClock: true}},
		"years ahead":                        {clock: 2 * year, wrong: true},
		"years ahead and trusted":            {clock: 2 * year, config: RescueConfig{TrustClock: true}},
		"behind a worker":                    {clock: -10 * time.Minute, used: time.Second, wrong: true},
		"behind a worker, as far as may be":  {clock: -10 * time.Minute, used: time.Second, config: RescueConfig{Skew: 11 * time.Minute}},
		"of a worker that was far ahead":     {used: year, wrong: true},
		"and that of a worker was far ahead": {used: year, config: RescueConfig{TrustClock: true}, ahead: 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			right, clock := newTestClock(), newTestClock()
			clock.step(test.clock)
			var store driver.Store = memlease.New()
			if test.store > 0 {
				store = faults.Clocked{Store: store, Time: right.now}
			}
			p := mustCreate(t, store, 4)
			for worker, by := range []time.Duration{test.used, 0} {
				c := newTestClock()
				c.step(by)
				_, l, _ := keep(t, p, c, Config{TrustClock: true, Worker: Number(worker)})
				l.Close()
			}
			before := fmt.Sprint(backUp(t, store))
			test.config.clock = clock.now
			done, err := Rescue(t.Context(), store, "p", test.config)
			if test.wrong != errors.Is(err, ErrClockSkew) || !test.wrong && err != nil {
				t.Fatalf("a clock that is %s: %v", name, err)
			}
			if err != nil {
				if fmt.Sprint(backUp(t, store)) != before {
					t.Errorf("a clock that is %s: records were changed", name)
				}
				return
			}
			if len(done.Ahead) != test.ahead {
				t.Errorf("a clock that is %s: %d workers were ahead", name, len(done.Ahead))
			}
			used, _, err := p.Workers(t.Context())
			if err != nil || len(used) != 2 {
				t.Fatal(used, err)
			}
			for _, w := range used {
				if w.Until.Before(done.Floor) || test.ahead == 0 && !w.Until.Equal(done.Floor) {
					t.Errorf("a clock that is %s: with the floor %v, worker %d is used up to %v", name, done.Floor, w.Number, w.Until)
				}
			}
			if test.ahead > 0 && used[0].Until.Sub(clock.now()) < year {
				t.Errorf("a worker that was far ahead is kept out until %v", used[0].Until)
			}
		})
	}
}

// A second rescue with a shorter wait does not lower the floor.
func TestRescueAgain(t *testing.T) {
	clock, store := newTestClock(), memlease.New()
	p := mustCreate(t, store, 4)
	if _, err := p.grow(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	first, err := Rescue(t.Context(), store, "p", RescueConfig{clock: clock.now, Skew: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	second := mustRescue(t, store, clock)
	if !second.Floor.Equal(first.Floor) || second.Pool.term().generation <= first.Pool.term().generation {
		t.Errorf("%+v after %+v", second.Pool.term(), first.Pool.term())
	}
}

func TestRescueErrors(t *testing.T) {
	clock, store := newTestClock(), memlease.New()
	for name, c := range map[string]RescueConfig{"window": {Window: -1}, "skew": {Skew: time.Microsecond}} {
		if _, err := Rescue(t.Context(), store, "p", c); !errors.Is(err, ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := Rescue(t.Context(), store, "p", RescueConfig{clock: clock.now}); !errors.Is(err, ErrNoPool) {
		t.Errorf("without a pool: %v", err)
	}
	mustCreate(t, store, 4)
	broken := &hooked{Store: store, before: func(op, key string) error { return driver.ErrUnavailable }}
	if _, err := Rescue(t.Context(), broken, "p", RescueConfig{clock: clock.now}); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("without a store: %v", err)
	}
	put(t, store, poolKey("p"), []byte("{"))
	if _, err := Rescue(t.Context(), store, "p", RescueConfig{clock: clock.now}); !errors.Is(err, ErrDamaged) {
		t.Errorf("of a pool that is damaged: %v", err)
	}
}

// A missing or damaged pool's record is made again from the workers' records or, if nothing is
// left, from the single given layout.
func TestRescueAnew(t *testing.T) {
	right, wrong := testLayout(8), testLayout(9)
	for name, test := range map[string]struct {
		change  func(s testBackup)
		layouts []grant.Layout
		create  bool
		want    error
		made    int // workers' records
		raised  int
		same    bool // the pool keeps its UUID
	}{
		"missing":                           {func(s testBackup) { delete(s, poolKey("p")) }, []grant.Layout{right}, false, nil, 0, 4, true},
		"damaged":                           {func(s testBackup) { s[poolKey("p")] = []byte("{") }, []grant.Layout{right}, false, nil, 0, 4, true},
		"of one of several":                 {func(s testBackup) { delete(s, poolKey("p")) }, []grant.Layout{wrong, right}, false, nil, 0, 4, true},
		"of another layout":                 {func(s testBackup) { delete(s, poolKey("p")) }, []grant.Layout{wrong}, false, ErrPoolMismatch, 0, 0, false},
		"of none that is given":             {func(s testBackup) { delete(s, poolKey("p")) }, nil, false, ErrMissing, 0, 0, false},
		"with a worker's, which is damaged": {func(s testBackup) { delete(s, poolKey("p")); s[workerKey("p", 2)] = nil }, []grant.Layout{right}, false, nil, 1, 3, true},
		"with all": {func(s testBackup) {
			for key := range s {
				s[key] = []byte("?")
			}
		}, []grant.Layout{right}, false, nil, 4, 0, false},
		"with all, of one of several": {func(s testBackup) {
			for key := range s {
				s[key] = []byte("?")
			}
		}, []grant.Layout{wrong, right}, false, ErrConfig, 0, 0, false},
		"with nothing left":                                  {func(s testBackup) { clear(s) }, []grant.Layout{right}, true, nil, 0, 0, false},
		"with nothing left, and no layout":                   {func(s testBackup) { clear(s) }, nil, false, ErrNoPool, 0, 0, false},
		"with nothing left, and a name that may be misspelt": {func(s testBackup) { clear(s) }, []grant.Layout{right}, false, ErrNoPool, 0, 0, false},
		"with nothing left, and Create without a layout":     {func(s testBackup) { clear(s) }, nil, true, ErrNoPool, 0, 0, false},
		"of a version that is not known":                     {func(s testBackup) { s[poolKey("p")] = []byte(`{"v":7}`) }, []grant.Layout{right}, false, ErrVersion, 0, 0, false},
		"and a worker's of another version":                  {func(s testBackup) { delete(s, poolKey("p")); s[workerKey("p", 2)] = []byte(`{"v":7}`) }, []grant.Layout{right}, false, ErrVersion, 0, 0, false},
		"not lost at all":                                    {func(s testBackup) {}, []grant.Layout{wrong, right}, true, nil, 0, 4, true},
		"not lost, and of another layout":                    {func(s testBackup) {}, []grant.Layout{wrong}, false, ErrPoolMismatch, 0, 0, false},
	} {
		clock, full := newTestClock(), memlease.New()
		p := mustCreate(t, full, 8)
		if _, err := p.grow(t.Context(), -1); err != nil {
			t.Fatal(err)
		}
		store, content := memlease.New(), backUp(t, full)
		test.change(content)
		for key, value := range content {
			put(t, store, key, value)
		}
		done := rescues(t, name, store, RescueConfig{clock: clock.now, Layouts: test.layouts, Create: test.create}, test.want)
		if done == nil {
			continue
		}
		if done.Made != test.made || done.Raised != test.raised || done.Anew != (name != "not lost at all") || (done.Pool.UUID() == p.UUID()) != test.same ||
			done.Pool.Layout().Workers != 8 {
			t.Errorf("%s: %+v of %s, and was %s", name, done, done.Pool.UUID(), p.UUID())
		}
		if err := tries(t, done.Pool, clock); !errors.Is(err, ErrNoWorker) {
			t.Errorf("%s: before the floor: %v", name, err)
		}
		clock.step(done.Floor.Sub(clock.now()))
		q, err := Open(t.Context(), store, "p", right)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range []*Pool{q, done.Pool} {
			if err := tries(t, p, clock); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		p.store = store // one that was open
		if err := tries(t, p, clock); test.same && err != nil || !test.same && !errors.Is(err, errRemade) {
			t.Errorf("%s: a pool that was open: %v", name, err)
		}
	}
}

// A pool loses its own record, or all records, beside working leases. The leases mint to the end of
// their intervals, and after the rescue no ID comes twice.
func TestRescueAnewBesideLeases(t *testing.T) {
	for _, all := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			clock, store := newTestClock(), newRestored()
			p := mustCreate(t, store, 8)
			seen := map[nanoflake.ID]bool{}
			mint := func(g *nanoflake.Generator) bool {
				id, err := g.TryNext()
				if err == nil && seen[id] {
					t.Errorf("%v is made twice", id)
				}
				seen[id] = true
				return err == nil
			}
			var generators []*nanoflake.Generator
			for range 6 {
				g, _, _ := keep(t, p, clock, Config{})
				generators = append(generators, g)
			}
			time.Sleep(7 * time.Second)
			left := backUp(t, store)
			delete(left, poolKey("p"))
			if all {
				clear(left)
			}
			store.restore(t, left)
			for range 50 {
				for _, g := range generators {
					mint(g)
				}
				time.Sleep(97 * time.Millisecond)
			}
			done, err := Rescue(t.Context(), store, "p", RescueConfig{clock: clock.now, Layouts: []grant.Layout{testLayout(8)}, Create: all})
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				g, l, _ := keep(t, done.Pool, clock, Config{Wait: 2 * time.Minute})
				if until := l.Until(); until.Before(done.Floor) {
					t.Errorf("a lease until %v, before the floor %v", until, done.Floor)
				}
				generators = append(generators, g)
			}
			minted := 0
			for range 100 {
				for _, g := range generators {
					if mint(g) {
						minted++
					}
				}
				time.Sleep(97 * time.Millisecond)
			}
			if want := map[bool]int{false: 500, true: 190}[all]; minted < want {
				t.Errorf("with all lost: %v: %d IDs after the floor", all, minted)
			}
		})
	}
}

// unreadable is a store with unreadable entries.
type unreadable struct {
	driver.Store
	mu   sync.Mutex       // a rescue writes several records at once
	keys map[string]error // why each of them cannot be read
}

// spoil makes entries unreadable.
func (u *unreadable) spoil(err error, keys ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, key := range keys {
		u.keys[key] = err
	}
}

// mend makes entries readable again.
func (u *unreadable) mend(keys ...string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, key := range keys {
		delete(u.keys, key)
	}
}

// spoiled returns the number of unreadable entries.
func (u *unreadable) spoiled() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.keys)
}

func (u *unreadable) err(key string) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if err := u.keys[key]; err != nil {
		return &driver.Error{Store: "unreadable", Op: "list", Key: key, Err: err}
	}
	return nil
}

func (u *unreadable) Get(ctx context.Context, key string) (driver.Entry, error) {
	e, err := u.Store.Get(ctx, key)
	if bad := u.err(key); bad != nil && err == nil {
		e.Value, err = nil, bad
	}
	return e, err
}

func (u *unreadable) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	entries, err := u.Store.List(ctx, prefix)
	for i := range entries {
		if bad := u.err(entries[i].Key); bad != nil {
			entries[i].Value, entries[i].Err, err = nil, bad, bad
		}
		if errors.Is(entries[i].Err, driver.ErrUnavailable) {
			entries[i].Revision = driver.None
		}
	}
	return entries, err
}

func (u *unreadable) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	rev, err := u.Store.Put(ctx, key, value, rev)
	if err == nil {
		u.mend(key)
	}
	return rev, err
}

// If the store itself finds entries damaged, the other entries stay visible, and a rescue replaces
// the damaged ones.
func TestRescueUnreadable(t *testing.T) {
	clock, store := newTestClock(), &unreadable{Store: memlease.New(), keys: map[string]error{}}
	p := mustCreate(t, store, 8)
	if _, err := p.grow(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	put(t, store, workerKey("p", 6), []byte("left by who died")) // which the pool does not name
	store.spoil(driver.ErrDamaged, workerKey("p", 1), workerKey("p", 3), workerKey("p", 6), poolKey("p"))
	if found, err := Survey(t.Context(), store); err != nil || len(found) != 1 || found[0].Pool != nil || !errors.Is(found[0].Err, ErrDamaged) {
		t.Errorf("%+v, %v", found, err)
	}
	store.mend(poolKey("p"))
	if _, _, err := p.Workers(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if found, err := Survey(t.Context(), store); err != nil || len(found) != 1 || found[0].Made != 4 || len(found[0].Workers) != 2 || found[0].Workers[1].Number != 3 ||
		!errors.Is(found[0].Workers[1].Err, ErrDamaged) || !errors.Is(found[0].Err, ErrDamaged) {
		t.Errorf("%+v, %v", found, err)
	}
	if err := tries(t, p, clock); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	store.spoil(driver.ErrDamaged, poolKey("p"))
	done, err := Rescue(t.Context(), store, "p", RescueConfig{clock: clock.now, Layouts: []grant.Layout{testLayout(8)}})
	if err != nil || !done.Anew || done.Made != 3 || done.Raised != 2 || store.spoiled() > 0 {
		t.Fatalf("%+v, %v; still damaged: %d", done, err, store.spoiled())
	}
	clock.step(done.Floor.Sub(clock.now()))
	if err := tries(t, p, clock); err != nil {
		t.Error(err)
	}
	// If an entry is unreadable for another reason, the rescue changes nothing.
	store.spoil(driver.ErrUnavailable, workerKey("p", 2))
	before := done.Pool.term()
	if _, err := Rescue(t.Context(), store, "p", RescueConfig{clock: clock.now}); !errors.Is(err, driver.ErrUnavailable) {
		t.Error(err)
	}
	store.mend(workerKey("p", 2))
	if after := mustOpen(t, store).term(); after != before {
		t.Errorf("%+v after %+v", after, before)
	}
}

// Lost replies do not undo the work of a rescue.
func TestRescueRepliesLost(t *testing.T) {
	clock, store := newTestClock(), memlease.New()
	p := mustCreate(t, store, 4)
	if _, err := p.grow(t.Context(), -1); err != nil {
		t.Fatal(err)
	}
	if _, err := Rescue(t.Context(), deaf{store}, "p", RescueConfig{clock: clock.now}); err != nil {
		t.Error(err)
	}
}

// deaf is a store without replies to changes.
type deaf struct{ driver.Store }

func (d deaf) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	d.Store.Put(ctx, key, value, rev)
	return driver.None, &driver.Error{Store: "deaf", Op: "put", Key: key, Err: driver.ErrUnavailable}
}

// A record from before a rescue, not named by the pool, is raised before its worker is used.
func TestGrowAfterRescue(t *testing.T) {
	clock, store := newTestClock(), memlease.New()
	p := mustCreate(t, store, 6)
	late := p.unused(1, p.term())
	done := mustRescue(t, store, clock)
	put(t, store, workerKey("p", 1), encode(late)) // it was under way
	low := p.unused(2, done.Pool.term())
	low.From, low.Until = 0, 5000
	put(t, store, workerKey("p", 2), encode(low))
	if grown, err := p.grow(t.Context(), -1); !grown || err != nil {
		t.Fatal(grown, err)
	}
	all, err := p.records(t.Context())
	if err != nil || len(all) != 4 {
		t.Fatal(len(all), err)
	}
	for _, s := range all {
		if s.From != done.Floor.UnixMicro() || s.Until != s.From {
			t.Errorf("worker %d has used [%d, %d), and the floor is %d", s.Worker, s.From, s.Until, done.Floor.UnixMicro())
		}
	}
	if used, _, err := p.Workers(t.Context()); len(used) > 0 || err != nil {
		t.Errorf("%+v count as used, %v", used, err)
	}
}

// A process that knows of a rescue notices if the pool has gone back to before.
func TestPoolRolledBack(t *testing.T) {
	clock, store := newTestClock(), newRestored()
	p := mustCreate(t, store, 6)
	backup := backUp(t, store)
	mustRescue(t, store, clock)
	if _, _, err := p.Workers(t.Context()); err != nil {
		t.Fatal(err)
	}
	store.restore(t, backup)
	if _, _, err := p.Workers(t.Context()); !errors.Is(err, ErrRolledBack) {
		t.Error(err)
	}
	// Half of a backup: the pool's record is older than a worker's.
	q := mustOpen(t, store)
	put(t, store, poolKey("p"), backup[poolKey("p")])
	r, _, err := readPool(t.Context(), store, "p")
	if err != nil {
		t.Fatal(err)
	}
	grown := r.withMade(0)
	put(t, store, poolKey("p"), encode(&grown))
	put(t, store, workerKey("p", 0), encode(q.unused(0, term{generation: 7, floor: 7000})))
	if _, _, err := q.Workers(t.Context()); !errors.Is(err, ErrRolledBack) {
		t.Error(err)
	}
	clock.step(time.Minute)
	mustRescue(t, store, clock)
	if _, _, err := p.Workers(t.Context()); err != nil {
		t.Error(err)
	}
}
