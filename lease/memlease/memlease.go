// Package memlease is a store of leases in memory, for tests, and [Faulty], which makes
// any store lose, delay and repeat what it is told.
package memlease

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// A Store is a handle on entries in memory. It is gone with its process, so that
// nothing but a test should trust it with leases.
type Store struct {
	entries *entries
	closed  atomic.Bool
}

type entries struct {
	mu    sync.Mutex
	byKey map[string]driver.Entry
	last  uint64 // the revision made last, of any key
}

var (
	_ driver.Store = (*Store)(nil)
	_ driver.Local = (*Store)(nil)
)

// New returns a store without entries.
func New() *Store {
	return &Store{entries: &entries{byKey: make(map[string]driver.Entry)}}
}

// Handle returns another handle on the same entries, as another process would have.
// Each is closed by itself.
func (s *Store) Handle() *Store { return &Store{entries: s.entries} }

// Get is as [driver.Store] says.
func (s *Store) Get(ctx context.Context, key string) (driver.Entry, error) {
	if err := s.check(ctx, driver.CheckKey(key)); err != nil {
		return driver.Entry{}, s.fail("get", key, err)
	}
	s.entries.mu.Lock()
	defer s.entries.mu.Unlock()
	e, ok := s.entries.byKey[key]
	if !ok {
		return driver.Entry{}, s.fail("get", key, driver.ErrNotFound)
	}
	e.Value = bytes.Clone(e.Value)
	return e, nil
}

// List is as [driver.Store] says. Its entries are of one moment.
func (s *Store) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	if err := s.check(ctx, nil); err != nil {
		return nil, s.fail("list", prefix, err)
	}
	s.entries.mu.Lock()
	defer s.entries.mu.Unlock()
	var list []driver.Entry
	for _, key := range slices.Sorted(maps.Keys(s.entries.byKey)) {
		if strings.HasPrefix(key, prefix) {
			e := s.entries.byKey[key]
			e.Value = bytes.Clone(e.Value)
			list = append(list, e)
		}
	}
	return list, nil
}

// Put is as [driver.Store] says, but durable only as long as the process. It either
// makes the change or returns an error, never both.
func (s *Store) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	err := driver.CheckKey(key)
	if err == nil && len(value) > driver.MaxValue {
		err = fmt.Errorf("%w: a value of %d bytes, and %d are the most", driver.ErrKey, len(value), driver.MaxValue)
	}
	if err := s.check(ctx, err); err != nil {
		return driver.None, s.fail("put", key, err)
	}
	s.entries.mu.Lock()
	defer s.entries.mu.Unlock()
	if s.entries.byKey[key].Revision != rev {
		return driver.None, s.fail("put", key, driver.ErrConflict)
	}
	s.entries.last++
	rev = driver.Revision(strconv.FormatUint(s.entries.last, 10))
	s.entries.byKey[key] = driver.Entry{Key: key, Value: bytes.Clone(value), Revision: rev}
	return rev, nil
}

// Local returns true: no other machine, and no other process, sees the entries.
func (s *Store) Local() bool { return true }

// String returns "memory".
func (s *Store) String() string { return "memory" }

// Close closes this handle: its calls fail from now on.
func (s *Store) Close() error {
	s.closed.Store(true)
	return nil
}

// check returns why a call is refused, which may be that its arguments are bad.
func (s *Store) check(ctx context.Context, bad error) error {
	if s.closed.Load() {
		return fmt.Errorf("%w: closed", driver.ErrUnavailable)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%w: %w", driver.ErrUnavailable, err)
	}
	return bad
}

func (s *Store) fail(op, key string, err error) error {
	return &driver.Error{Store: s.String(), Op: op, Key: key, Err: err}
}

// Clocked is a store with a time of its own, which a test sets.
type Clocked struct {
	driver.Store
	Time func() time.Time
}

// Now is as [driver.Clock] says.
func (c Clocked) Now(ctx context.Context) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, &driver.Error{Store: c.String(), Op: "now", Err: fmt.Errorf("%w: %w", driver.ErrUnavailable, err)}
	}
	return c.Time(), nil
}

// Watched is a store that tells of the changes that are made through it.
type Watched struct {
	driver.Store
	watches watches
}

// NewWatched returns a store that tells of changes.
func NewWatched(store driver.Store) *Watched { return &Watched{Store: store} }

type watches struct {
	mu  sync.Mutex
	all map[chan struct{}]string
}

// Put is as [driver.Store] says.
func (w *Watched) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	made, err := w.Store.Put(ctx, key, value, rev)
	w.watches.mu.Lock()
	defer w.watches.mu.Unlock()
	for c, prefix := range w.watches.all {
		if strings.HasPrefix(key, prefix) {
			select {
			case c <- struct{}{}:
			default:
			}
		}
	}
	return made, err
}

// Watch is as [driver.Watcher] says.
func (w *Watched) Watch(ctx context.Context, prefix string) (<-chan struct{}, error) {
	c := make(chan struct{}, 1)
	w.watches.mu.Lock()
	defer w.watches.mu.Unlock()
	if w.watches.all == nil {
		w.watches.all = make(map[chan struct{}]string)
	}
	w.watches.all[c] = prefix
	context.AfterFunc(ctx, func() {
		w.watches.mu.Lock()
		defer w.watches.mu.Unlock()
		delete(w.watches.all, c)
		close(c)
	})
	return c, nil
}
