package servers_test

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
)

// wantError is like storetest.Fails, and checks that the error shows no token.
func wantError(t *testing.T, err, kind error, token string, parts ...string) {
	t.Helper()
	storetest.Fails(t, "the error", err, kind, parts...)
	if token != "" && err != nil && strings.Contains(err.Error(), token) {
		t.Error("the error shows the token")
	}
}

// watched changes an entry some times, and waits for the watch to report each change. A watch may report a
// change more than once, so the first values can be of earlier changes. watched calls the function each
// after each change.
func watched(t *testing.T, store driver.Store, key string, changes <-chan struct{}, each func()) driver.Revision {
	t.Helper()
	e := testkit.Must(store.Get(t.Context(), key))
	for range watchedTimes {
		e.Revision = testkit.Must(store.Put(t.Context(), key, []byte("0"), e.Revision))
		storetest.Told(t, "a change of "+key, changes)
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
