package lease

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// A missing or damaged pool's record is made again from the workers' records or, if nothing is left,
// from the single given layout.
func TestRecoveryAnew(t *testing.T) {
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
		testkit.Must(p.grow(t.Context(), -1))
		store, content := memlease.New(), backUp(t, full)
		test.change(content)
		for key, value := range content {
			put(t, store, key, value)
		}
		done := recovers(t, name, store, RecoveryConfig{clock: clock.now, Layouts: test.layouts, Create: test.create}, test.want)
		if done == nil {
			continue
		}
		if done.Made != test.made || done.Raised != test.raised || done.Anew != (name != "not lost at all") || (done.Pool.UUID() == p.UUID()) != test.same ||
			done.Pool.Layout().Workers != 8 {
			t.Errorf("%s: %+v of %s, and was %s", name, done, done.Pool.UUID(), p.UUID())
		}
		testkit.Is(t, tries(t, done.Pool, clock, Config{Wait: -1}), ErrNoWorker, "%s: before the floor", name)
		clock.step(done.Floor.Sub(clock.now()))
		q, err := Open(t.Context(), store, "p", right)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for _, p := range []*Pool{q, done.Pool} {
			if err := tries(t, p, clock, Config{Wait: -1}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		p.store = store // one that was open
		if err := tries(t, p, clock, Config{Wait: -1}); test.same && err != nil || !test.same && !errors.Is(err, errRemade) {
			t.Errorf("%s: a pool that was open: %v", name, err)
		}
	}
}

// A pool loses its own record, or all records, beside working leases. The leases mint to the end of
// their intervals, and after the recovery no ID comes twice.
func TestRecoveryAnewBesideLeases(t *testing.T) {
	for _, all := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			clock, store := newTestClock(), newRestored()
			p := mustCreate(t, store, 8)
			mint := distinct(t)
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
			done := testkit.Must(RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now, Layouts: []grant.Layout{testLayout(8)}, Create: all}))
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

// If the store itself finds entries damaged, the other entries stay visible, and a recovery replaces
// the damaged ones.
func TestRecoveryUnreadable(t *testing.T) {
	clock, dir := newTestClock(), t.TempDir()
	store := compatOpen(t, openFiles, dir)
	defer store.Close()
	file := func(key string) string { return filepath.Join(dir, filepath.FromSlash(key)+"=") }
	spoil := func(keys ...string) {
		for _, key := range keys {
			testkit.OK(t, os.WriteFile(file(key), []byte("x"), 0o600))
		}
	}
	p := mustCreate(t, store, 16)
	testkit.Must(p.grow(t.Context(), -1)) // names workers 0 to 7
	spoil(workerKey("p", 1), workerKey("p", 3), workerKey("p", 10))
	testkit.Is(t, testkit.Err(p.all(t.Context())), ErrDamaged, "the records")
	if found, err := Survey(t.Context(), store); err != nil || len(found) != 1 || found[0].Made != 8 || len(found[0].Workers) != 2 || found[0].Workers[1].Number != 3 ||
		!errors.Is(found[0].Workers[1].Err, ErrDamaged) || !errors.Is(found[0].Err, ErrDamaged) {
		t.Errorf("%+v, %v", found, err)
	}
	testkit.Is(t, tries(t, p, clock, Config{Wait: -1}), ErrDamaged, "a lease")
	spoil(poolKey("p"))
	if found, err := Survey(t.Context(), store); err != nil || len(found) != 1 || found[0].Pool != nil || !errors.Is(found[0].Err, ErrDamaged) {
		t.Errorf("%+v, %v", found, err)
	}
	done, err := RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now, Layouts: []grant.Layout{testLayout(16)}})
	if err != nil || !done.Anew || done.Made != 3 || done.Raised != 6 {
		t.Fatalf("%+v, %v", done, err)
	}
	testkit.OK(t, testkit.Err(store.List(t.Context(), "")))
	clock.step(done.Floor.Sub(clock.now()))
	testkit.OK(t, tries(t, p, clock, Config{Wait: -1}))
	// If no Put can replace an entry, the recovery changes nothing.
	testkit.OK(t, errors.Join(os.Remove(file(workerKey("p", 2))), os.Mkdir(file(workerKey("p", 2)), 0o700)))
	before := mustOpen(t, store).term()
	testkit.Is(t, testkit.Err(RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now})), ErrDamaged, "a folder")
	if after := mustOpen(t, store).term(); after != before {
		t.Errorf("%+v after %+v", after, before)
	}
}
