package lease

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
)

// A placed store says that its entries are in a place. It knows so of an entry that there is; if early is set, also of
// one that there is not.
type placed struct {
	driver.Store
	place string
	early bool
}

func (s *placed) Get(ctx context.Context, key string) (driver.Entry, error) {
	e, err := s.Store.Get(ctx, key)
	if err == nil || s.early && errors.Is(err, driver.ErrNotFound) {
		e.Place = s.place
	}
	return e, err
}

// TestCopy: a pool in a copy of its store is refused until a recovery adopts it, and then in the original.
func TestCopy(t *testing.T) {
	for name, begin := range map[string]func(t *testing.T, clock *testClock, original *placed){
		"of a new pool": func(t *testing.T, _ *testClock, s *placed) { mustCreate(t, s, 8) },
		"of a new pool in a store that knows its place before": func(t *testing.T, _ *testClock, s *placed) {
			s.early = true
			mustCreate(t, s, 8)
		},
		"of a pool that had no place": func(t *testing.T, clock *testClock, s *placed) {
			mustCreate(t, s.Store, 8)
			testkit.OK(t, tries(t, mustOpen(t, s), clock, Config{}))
		},
		"of a pool that had no place, and was recovered": func(t *testing.T, clock *testClock, s *placed) {
			mustCreate(t, s.Store, 8)
			mustRecover(t, s, clock)
		},
		"of a pool that was lost": func(t *testing.T, clock *testClock, s *placed) {
			recovers(t, "anew", s, RecoveryConfig{clock: clock.now, Layouts: []grant.Layout{testLayout(8)}, Create: true}, nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := newTestClock()
				original := &placed{Store: memlease.New(), place: "here"}
				begin(t, clock, original)
				copied := &placed{Store: original.Store, place: "there"}
				p := mustOpen(t, original)
				if p.Place() != "here" {
					t.Errorf("the pool is of %q", p.Place())
				}
				refused := func(s driver.Store) {
					t.Helper()
					_, err := Open(t.Context(), s, "p", testLayout(8))
					testkit.Is(t, err, driver.ErrCopied, "Open")
					testkit.Is(t, err, driver.ErrUnsafe, "Open")
					if r := RemedyFor(err); r.Kind != driver.RemedyCopy || r.Pool != "p" {
						t.Errorf("the remedy is %+v", r)
					}
					testkit.Is(t, tries(t, mustOpen(t, s), clock, Config{}), driver.ErrCopied, "a lease")
					recovers(t, "as the original", s, RecoveryConfig{clock: clock.now}, driver.ErrCopied)
				}
				refused(copied)
				done := recovers(t, "the copy", copied, RecoveryConfig{clock: clock.now, Adopt: true}, nil)
				refused(original)
				clock.step(done.Floor.Sub(clock.now()))
				testkit.OK(t, tries(t, done.Pool, clock, Config{}))
				testkit.OK(t, tries(t, mustOpen(t, copied), clock, Config{}))
			})
		})
	}
}

// TestCopyMeanwhile: a lease that takes a worker while its address comes to lead to a copy gives the generator no interval.
func TestCopyMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		store := &placed{Store: memlease.New(), place: "here"}
		p := mustCreate(t, store, 8)
		moves := &moving{placed: store}
		p.store = moves
		_, err := try(t, p, clock, Config{Wait: -1})
		testkit.Is(t, err, driver.ErrCopied, "the lease")
		nothingHeld(t, store, "after the error")
	})
}

// A moving store is the copy from the first change of a worker's record on.
type moving struct{ *placed }

func (s *moving) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if _, ok := workerOf("p", key); ok && rev != driver.None {
		s.place = "there"
	}
	return s.placed.Put(ctx, key, value, rev)
}

// TestCopiedFolder: a pool whose folder is copied into another store of files is refused there.
func TestCopiedFolder(t *testing.T) {
	dirs := [2]string{t.TempDir(), t.TempDir()}
	var stores [2]*filelease.Store
	for i, dir := range dirs {
		stores[i] = testkit.Must(filelease.Open(dir))
		testkit.Must(create(t.Context(), stores[i], []string{"p", "q"}[i], testLayout(8), 0, time.Now()))
	}
	testkit.OK(t, os.CopyFS(filepath.Join(dirs[1], "p"), os.DirFS(filepath.Join(dirs[0], "p"))))
	for i, want := range []error{nil, driver.ErrCopied} {
		testkit.Is(t, testkit.Err(Open(t.Context(), stores[i], "p", testLayout(8))), want, "the pool in store %d", i)
	}
}
