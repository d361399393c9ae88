package servers_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// opened returns a function for a test, which opens stores. The end of the test closes the stores.
func opened[S driver.Store](t *testing.T, open func(context.Context, string) (S, error)) func(addr string) S {
	return func(addr string) S {
		t.Helper()
		s, err := open(t.Context(), addr)
		testkit.OK(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
}

// wantError is like storetest.Fails, and checks that the error shows no token.
func wantError(t *testing.T, err, kind error, token string, parts ...string) {
	t.Helper()
	storetest.Fails(t, "the error", err, kind, parts...)
	if token != "" && err != nil && strings.Contains(err.Error(), token) {
		t.Error("the error shows the token")
	}
}

// everything uses a store as programs and operators do.
func everything(t *testing.T, store driver.Store) {
	t.Helper()
	testkit.OK(t, minter.Create(t.Context(), store))
	for range 2 {
		gen, l, err := minter.Start(t.Context(), store, lease.Config{})
		testkit.OK(t, err)
		_, err = gen.Next()
		testkit.OK(t, err)
		testkit.OK(t, l.Close())
	}
	changes, err := store.(driver.Watcher).Watch(t.Context(), "")
	testkit.OK(t, err)
	_, err = store.Put(t.Context(), "x", []byte("y"), driver.None)
	testkit.OK(t, err)
	changed(t, changes, "Put")
	_, err = lease.RecoverPool(t.Context(), store, minter.Pool, lease.RecoveryConfig{})
	testkit.OK(t, err)
	findings, err := lease.Inspect(t.Context(), store)
	testkit.OK(t, err)
	for _, f := range findings {
		if f.Loses {
			t.Errorf("it loses: %s", f.Text)
		}
	}
}

func changed(t *testing.T, changes <-chan struct{}, what string) {
	t.Helper()
	if _, ok := wait.Receive(t, "what a watch tells of "+what, changes); !ok {
		t.Fatalf("the watch has ended before %s", what)
	}
}

// watched changes an entry some times, and waits for the watch to report each change. A watch may report a
// change more than once, so the first values can be of earlier changes. watched calls the function each
// after each change.
func watched(t *testing.T, store driver.Store, key string, changes <-chan struct{}, each func()) driver.Revision {
	t.Helper()
	e, err := store.Get(t.Context(), key)
	testkit.OK(t, err)
	for range watchedTimes {
		e.Revision, err = store.Put(t.Context(), key, []byte("0"), e.Revision)
		testkit.OK(t, err)
		changed(t, changes, "a change of "+key)
		each()
	}
	return e.Revision
}

const watchedTimes = 10

// A writer changes an entry again and again, and keeps the acknowledged change.
type writer struct {
	store driver.Store
	key   string

	mu    sync.Mutex
	acked int // the last acknowledged number
	count int // of acknowledged changes
	is    driver.Revision
	doubt map[int]bool // numbers since, which may have been written
	fault error
}

func (w *writer) done() (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.count, w.fault
}

func (w *writer) run(ctx context.Context) {
	w.doubt = make(map[int]bool)
	for n := 1; ctx.Err() == nil; n++ {
		rev, err := w.store.Put(ctx, w.key, []byte(strconv.Itoa(n)), w.is)
		w.mu.Lock()
		if err == nil {
			w.acked, w.is = n, rev
			w.count++
			clear(w.doubt)
		} else if w.doubt[n] = true; ctx.Err() == nil {
			w.fault = errors.Join(w.fault, w.look(ctx))
		}
		w.mu.Unlock()
	}
}

// look reads the entry, and returns an error if the store has lost an acknowledged change.
func (w *writer) look(ctx context.Context) error {
	e, err := w.store.Get(ctx, w.key)
	switch {
	case errors.Is(err, driver.ErrNotFound) && w.acked == 0, errors.Is(err, driver.ErrUnavailable):
		return nil
	case err != nil:
		return fmt.Errorf("%s, after %d was acknowledged at %q: %w", w.key, w.acked, w.is, err)
	}
	n, err := strconv.Atoi(string(e.Value))
	switch {
	case err != nil:
		return err
	case n == w.acked && e.Revision == w.is:
	case w.doubt[n] && e.Revision != w.is:
		w.acked, w.is = n, e.Revision
		w.count++
		clear(w.doubt)
	default:
		return fmt.Errorf("%s is %d at %q, after %d was acknowledged at %q", w.key, n, e.Revision, w.acked, w.is)
	}
	return nil
}

// survive changes entries of stores all the time while the servers fail. Each fault ends by mending the servers. survive
// returns an error if an acknowledged change is lost, or if a store does not go on.
func survive(parent context.Context, stores []driver.Store, faults ...func()) error {
	ctx, cancel := context.WithCancel(parent)
	defer cancel()
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	var writers []*writer
	for i, s := range stores {
		w := &writer{store: s, key: fmt.Sprintf("w/%d", i)}
		writers = append(writers, w)
		all.Go(func() { w.run(ctx) })
	}
	for i := range len(faults) + 1 {
		for _, w := range writers {
			if err := w.progress(); err != nil {
				return fmt.Errorf("after %d faults: %w", i, err)
			}
		}
		if i < len(faults) {
			faults[i]()
		}
	}
	cancel()
	all.Wait()
	var errs []error
	for _, w := range writers {
		var err error
		wait.For(func() bool { _, err = w.store.Get(parent, w.key); return err == nil })
		errs = append(errs, err, w.fault, w.look(parent))
	}
	return errors.Join(errs...)
}

// progress waits until a writer has made more changes.
func (w *writer) progress() error {
	before, _ := w.done()
	var err error
	if !wait.For(func() bool {
		var n int
		n, err = w.done()
		return err != nil || n >= before+10
	}) {
		return fmt.Errorf("%s is not changed any more", w.key)
	}
	return err
}

// survive detects a store that forgets an acknowledged change.
func TestSurvive(t *testing.T) {
	for _, forgets := range []bool{false, true} {
		s := &forgetful{Store: memlease.New(), empty: memlease.New()}
		err := survive(t.Context(), []driver.Store{s}, func() { s.forgets.Store(forgets) })
		if (err != nil) != forgets {
			t.Errorf("a store that forgets: %v; the error is %v", forgets, err)
		}
	}
}

// A forgetful is a store in memory that can forget all changes.
type forgetful struct {
	driver.Store
	empty   driver.Store
	forgets atomic.Bool
}

func (f *forgetful) present() driver.Store {
	if f.forgets.Load() {
		return f.empty
	}
	return f.Store
}

func (f *forgetful) Get(ctx context.Context, key string) (driver.Entry, error) {
	return f.present().Get(ctx, key)
}

func (f *forgetful) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	return f.present().Put(ctx, key, value, rev)
}
