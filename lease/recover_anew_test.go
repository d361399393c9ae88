package lease

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
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

// unreadable is a store with unreadable entries.
type unreadable struct {
	driver.Store
	keys sync.Map // why each of them cannot be read
}

// spoil makes entries unreadable.
func (u *unreadable) spoil(err error, keys ...string) {
	for _, key := range keys {
		u.keys.Store(key, err)
	}
}

func (u *unreadable) err(key string) error {
	if why, ok := u.keys.Load(key); ok {
		return &driver.Error{Store: "unreadable", Op: "list", Key: key, Err: why.(error)}
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
		u.keys.Delete(key)
	}
	return rev, err
}

// If the store itself finds entries damaged, the other entries stay visible, and a recovery replaces
// the damaged ones.
func TestRecoveryUnreadable(t *testing.T) {
	clock, store := newTestClock(), &unreadable{Store: memlease.New()}
	p := mustCreate(t, store.Store, 8)
	testkit.Must(p.grow(t.Context(), -1))
	p.store = store
	put(t, store, workerKey("p", 6), []byte("left by who died")) // which the pool does not name
	store.spoil(driver.ErrDamaged, workerKey("p", 1), workerKey("p", 3), workerKey("p", 6), poolKey("p"))
	if found, err := Survey(t.Context(), store); err != nil || len(found) != 1 || found[0].Pool != nil || !errors.Is(found[0].Err, ErrDamaged) {
		t.Errorf("%+v, %v", found, err)
	}
	store.keys.Delete(poolKey("p"))
	if _, _, err := p.Workers(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Error(err)
	}
	if found, err := Survey(t.Context(), store); err != nil || len(found) != 1 || found[0].Made != 4 || len(found[0].Workers) != 2 || found[0].Workers[1].Number != 3 ||
		!errors.Is(found[0].Workers[1].Err, ErrDamaged) || !errors.Is(found[0].Err, ErrDamaged) {
		t.Errorf("%+v, %v", found, err)
	}
	testkit.Is(t, tries(t, p, clock, Config{Wait: -1}), ErrDamaged, "")
	store.spoil(driver.ErrDamaged, poolKey("p"))
	done, err := RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now, Layouts: []grant.Layout{testLayout(8)}})
	if err != nil || !done.Anew || done.Made != 3 || done.Raised != 2 {
		t.Fatalf("%+v, %v", done, err)
	}
	store.keys.Range(func(key, why any) bool {
		t.Errorf("%s is still unreadable: %v", key, why)
		return true
	})
	clock.step(done.Floor.Sub(clock.now()))
	testkit.OK(t, tries(t, p, clock, Config{Wait: -1}))
	// If an entry is unreadable for another reason, the recovery changes nothing.
	store.spoil(driver.ErrUnavailable, workerKey("p", 2))
	before := done.Pool.term()
	if _, err := RecoverPool(t.Context(), store, "p", RecoveryConfig{clock: clock.now}); !errors.Is(err, driver.ErrUnavailable) {
		t.Error(err)
	}
	store.keys.Delete(workerKey("p", 2))
	if after := mustOpen(t, store).term(); after != before {
		t.Errorf("%+v after %+v", after, before)
	}
}
