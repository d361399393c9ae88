package lease

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// recovers runs a recovery of the pool p, and fails unless the error is want. After an error no record
// may have changed, and recovers returns nil.
func recovers(t *testing.T, name string, store driver.Store, c RecoveryConfig, want error) *Recovery {
	t.Helper()
	before := fmt.Sprint(backUp(t, store))
	done, err := RecoverPool(t.Context(), store, "p", c)
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

// No interval from before a recovery is given again, not even if the backup does not know the lease
// or the worker. Earlier leases go on to the end of the interval, and later with new workers.
func TestRecovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), newRestored()
		p := mustCreate(t, store, 8)
		empty := backUp(t, store)
		var leases []*Lease
		var generators []*nanoflake.Generator
		var logs []*testLog
		mint := distinct(t)
		for range 6 { // so that there are records made twice
			g, l, log := keep(t, p, clock, Config{})
			leases, generators, logs = append(leases, l), append(generators, g), append(logs, log)
		}
		time.Sleep(20 * time.Second)
		store.restore(t, empty)
		done := mustRecover(t, store, clock)
		now := clock.now()
		if want := now.Add(DefaultWindow + DefaultMaxSkew + grace + 4*time.Millisecond); !done.Floor.Equal(want) {
			t.Errorf("the floor is %v, not %v", done.Floor, want)
		}
		if at, floor := done.Pool.Recovered(); !at.Equal(now) || !floor.Equal(done.Floor) {
			t.Errorf("it was recovered at %v with the floor %v, not %v and %v", at, floor, now, done.Floor)
		}
		for clock.now().Before(done.Floor) {
			for i, g := range generators {
				if minted := mint(g); minted != clock.now().Before(leases[i].Until()) {
					t.Fatalf("at %v, with times until %v, it mints: %v", clock.now(), leases[i].Until(), minted)
				}
			}
			err := tries(t, p, clock, Config{Wait: -1})
			var none *NoWorkerError
			if !errors.As(err, &none) || !none.Recovered || !none.Soonest.Equal(done.Floor) {
				t.Fatalf("before the floor: %v", err)
			}
			time.Sleep(777 * time.Millisecond)
		}
		time.Sleep(2 * time.Second)
		for i, g := range generators {
			if !mint(g) {
				t.Errorf("it mints nothing after the floor: %v", leases[i].Err())
			}
			if got := logs[i].kinds(); got != "acquired renewed lost waiting failing expired acquired recovered renewed" && got != "acquired renewed lost waiting failing expired acquired recovered" {
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
		testkit.OK(t, leases[0].Close())
		// The number of new records depends on how many leases wanted a worker at the same moment.
		if _, made, err := p.Workers(t.Context()); made < len(leases) || made > 8 || err != nil {
			t.Errorf("%d workers, %v", made, err)
		}
	})
}

// After a store has gone back, leases take nothing from the store until the pool was recovered, and
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
			mustRecover(t, store, clock)
			time.Sleep(75 * time.Second)
			mints(t, g, l)
			if err := l.Close(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Close after a recovery has nothing to give back. Close after a restore without a recovery reports the
// restore.
func TestCloseRecovered(t *testing.T) {
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
		testkit.Is(t, first.Close(), ErrRolledBack, "after a restore")
		before := mustRecover(t, store, clock)
		testkit.OK(t, third.Close())
		if used, _, err := p.Workers(t.Context()); err != nil || len(used) != 1 || used[0].Until.Before(before.Floor) {
			t.Errorf("%+v, %v", used, err)
		}
	})
}

// A recovery may die after any request: the pool is then unchanged or refused, and the next recovery
// finishes.
func TestRecoveryInterrupted(t *testing.T) {
	died := errors.New("died")
	for left := range 8 {
		clock, store := newTestClock(), memlease.New()
		p := mustCreate(t, store, 6)
		testkit.Must(p.grow(t.Context(), -1))
		_, err := RecoverPool(t.Context(), dying(store, left, died), "p", RecoveryConfig{clock: clock.now, lanes: 1})
		if dies := left < 5; errors.Is(err, died) != dies || dies && !strings.Contains(err.Error(), "run it again") {
			t.Fatalf("after %d requests: %v", left, err)
		}
		for name, p := range map[string]*Pool{"was open": p, "is opened": mustOpen(t, store)} {
			switch err := tries(t, p, clock, Config{Wait: -1}); {
			case left == 0 && err == nil:
			case left > 0 && left < 5 && errors.Is(err, ErrRecovering):
			case left >= 5 && errors.Is(err, ErrNoWorker):
			default:
				t.Errorf("after %d requests a pool that %s: %v", left, name, err)
			}
		}
		clock.step(time.Hour)
		if left > 0 && left < 5 {
			testkit.Is(t, tries(t, p, clock, Config{Wait: -1}), ErrRecovering, "after %d requests and an hour", left)
		}
		done := mustRecover(t, store, clock)
		clock.step(done.Floor.Sub(clock.now()))
		if err := tries(t, p, clock, Config{Wait: -1}); err != nil {
			t.Errorf("after %d requests and another recovery: %v", left, err)
		}
	}
}

// Missing and damaged records are made again, at the floor. If another program may read a record,
// the recovery changes nothing.
func TestRecoveryRecords(t *testing.T) {
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
		testkit.Must(p.grow(t.Context(), -1))
		store := memlease.New()
		for key, value := range backUp(t, full) {
			if key == workerKey("p", 2) {
				if value = []byte(test.change(p.unused(2, p.term()))); len(value) == 0 {
					continue
				}
			}
			put(t, store, key, value)
		}
		done := recovers(t, name, store, RecoveryConfig{clock: clock.now}, test.want)
		if done == nil {
			continue
		}
		if done.Made != test.made || done.Raised != 4-test.made {
			t.Errorf("%s: %d were made and %d raised", name, done.Made, done.Raised)
		}
		all, err := done.Pool.all(t.Context())
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

// A recovery knows the longest window of all leases, whatever becomes of their records.
func TestRecoveryWindow(t *testing.T) {
	const window = 10 * time.Minute
	clock, store := newTestClock(), memlease.New()
	p := mustCreate(t, store, 4)
	holds := func(c Config) *Lease {
		c.clock, c.First = clock.now, c.Window
		return testkit.Must(p.kept(t.Context(), generator(t, clock).ForLease(), c))
	}
	covers := func(what string, done *Recovery, leases ...*Lease) {
		t.Helper()
		for _, l := range leases {
			if until := l.Until(); done.Floor.Before(until) {
				t.Errorf("%s: the floor is %v, and a lease has times until %v", what, done.Floor, until)
			}
		}
	}
	lose := func(l *Lease) { put(t, store, workerKey("p", l.Worker()), []byte("lost")) }

	long, short := holds(Config{Window: window}), holds(Config{})
	lose(long)
	first := mustRecover(t, store, clock)
	covers("a lost record", first, long, short)

	// After the recovery, no record of a worker names the window.
	clock.step(time.Minute)
	covers("a second recovery", mustRecover(t, store, clock), long)

	// Nor does the pool's record, if it was lost, too. The lease names its window again when it takes a worker.
	clock.step(2 * window)
	layouts := []grant.Layout{testLayout(4)}
	for worker := range 4 {
		put(t, store, workerKey("p", worker), []byte("lost"))
	}
	put(t, store, poolKey("p"), []byte("lost"))
	anew := testkit.Must(RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now, Layouts: layouts}))
	clock.step(anew.Floor.Sub(clock.now()))
	p = anew.Pool
	other := holds(Config{Window: 2 * window})
	lose(other)
	covers("a record made again", mustRecover(t, store, clock), other)

	// A recovery with a longer window notes that window.
	clock.step(4 * window)
	testkit.Must(RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now, Window: time.Hour}))
	clock.step(2 * time.Hour)
	if done := mustRecover(t, store, clock); done.Floor.Sub(clock.now()) < time.Hour {
		t.Errorf("the floor is in %v after a recovery with a window of an hour", done.Floor.Sub(clock.now()))
	}
}

func TestRecoveryClock(t *testing.T) {
	const year = 365 * 24 * time.Hour
	for name, test := range map[string]struct {
		clock, store time.Duration // how far they are wrong; 0 for a store without one
		used         time.Duration // one of two workers was used so far ahead of the right time
		config       RecoveryConfig
		wrong        bool
		ahead        int
	}{
		"right":                              {},
		"ahead of the store":                 {clock: 2 * time.Minute, store: 1, wrong: true},
		"behind the store":                   {clock: -2 * time.Minute, store: 1, wrong: true},
		"about that of the store":            {clock: 59 * time.Second, store: 1},
		"as far as it may be":                {clock: 2 * time.Minute, store: 1, config: RecoveryConfig{Skew: 3 * time.Minute}},
		"trusted":                            {clock: 2 * time.Minute, store: 1, config: RecoveryConfig{TrustClock: true}},
		"years ahead":                        {clock: 2 * year, wrong: true},
		"years ahead and trusted":            {clock: 2 * year, config: RecoveryConfig{TrustClock: true}},
		"behind a worker":                    {clock: -10 * time.Minute, used: time.Second, wrong: true},
		"behind a worker, as far as may be":  {clock: -10 * time.Minute, used: time.Second, config: RecoveryConfig{Skew: 11 * time.Minute}},
		"of a worker that was far ahead":     {used: year, wrong: true},
		"and that of a worker was far ahead": {used: year, config: RecoveryConfig{TrustClock: true}, ahead: 1},
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
			done, err := RecoverPool(t.Context(), store, "p", test.config)
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

// A second recovery with a shorter wait does not lower the floor.
func TestRecoveryAgain(t *testing.T) {
	clock, store := newTestClock(), memlease.New()
	p := mustCreate(t, store, 4)
	testkit.Must(p.grow(t.Context(), -1))
	first := testkit.Must(RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now, Skew: time.Hour}))
	second := mustRecover(t, store, clock)
	if !second.Floor.Equal(first.Floor) || second.Pool.term().generation <= first.Pool.term().generation {
		t.Errorf("%+v after %+v", second.Pool.term(), first.Pool.term())
	}
}

func TestRecoveryErrors(t *testing.T) {
	clock, store := newTestClock(), memlease.New()
	for name, c := range map[string]RecoveryConfig{"window": {Window: -1}, "skew": {Skew: time.Microsecond}} {
		testkit.Is(t, testkit.Err(RecoverPool(t.Context(), store, "p", c)), ErrConfig, "%s", name)
	}
	if _, err := RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now}); !errors.Is(err, ErrNoPool) {
		t.Errorf("without a pool: %v", err)
	}
	mustCreate(t, store, 4)
	broken := &hooked{Store: store, before: func(op, key string) error { return driver.ErrUnavailable }}
	if _, err := RecoverPool(t.Context(), broken, "p", RecoveryConfig{clock: clock.now}); !errors.Is(err, driver.ErrUnavailable) {
		t.Errorf("without a store: %v", err)
	}
	put(t, store, poolKey("p"), []byte("{"))
	if _, err := RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now}); !errors.Is(err, ErrDamaged) {
		t.Errorf("of a pool that is damaged: %v", err)
	}
}

// Lost replies do not undo the work of a recovery.
func TestRecoveryRepliesLost(t *testing.T) {
	clock, store := newTestClock(), memlease.New()
	p := mustCreate(t, store, 4)
	testkit.Must(p.grow(t.Context(), -1))
	deaf := &hooked{Store: store, around: func(c call) error {
		err := c.do(c.ctx)
		if c.op == "put" {
			return driver.ErrUnavailable
		}
		return err
	}}
	testkit.Must(RecoverPool(t.Context(), deaf, "p", RecoveryConfig{clock: clock.now}))
}

// A record from before a recovery, not named by the pool, is raised before its worker is used.
func TestGrowAfterRecovery(t *testing.T) {
	clock, store := newTestClock(), memlease.New()
	p := mustCreate(t, store, 6)
	late := p.unused(1, p.term())
	done := mustRecover(t, store, clock)
	put(t, store, workerKey("p", 1), encode(late)) // it was under way
	low := p.unused(2, done.Pool.term())
	low.From, low.Until = 0, 5000
	put(t, store, workerKey("p", 2), encode(low))
	if grown, err := p.grow(t.Context(), -1); !grown || err != nil {
		t.Fatal(grown, err)
	}
	all, err := p.all(t.Context())
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

// A process that knows of a recovery notices if the pool has gone back to before.
func TestPoolRolledBack(t *testing.T) {
	clock, store := newTestClock(), newRestored()
	p := mustCreate(t, store, 6)
	backup := backUp(t, store)
	mustRecover(t, store, clock)
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
	testkit.OK(t, err)
	grown := r.withMade(0)
	put(t, store, poolKey("p"), encode(&grown))
	put(t, store, workerKey("p", 0), encode(q.unused(0, term{generation: 7, floor: 7000})))
	if _, _, err := q.Workers(t.Context()); !errors.Is(err, ErrRolledBack) {
		t.Error(err)
	}
	clock.step(time.Minute)
	mustRecover(t, store, clock)
	if _, _, err := p.Workers(t.Context()); err != nil {
		t.Error(err)
	}
}
