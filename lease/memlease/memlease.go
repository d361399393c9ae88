// Package memlease keeps the entries of leases in memory, for tests.
package memlease

import (
	"bytes"
	"context"
	"strconv"
	"strings"
	"sync"

	"github.com/firn-id/firn/lease/driver"
)

// A Store keeps entries in memory. It implements [driver.Store] by its [driver.Handle], and
// [driver.Batcher], [driver.Confirmer] and [driver.Local]. The entries end with the process: only tests should trust
// the Store with leases.
type Store struct {
	*driver.Handle
	entries *entries
}

type entries struct {
	mu    sync.Mutex
	byKey map[string]driver.Entry
	last  uint64 // the revision made last, of any key
}

var (
	_ driver.Store     = (*Store)(nil)
	_ driver.Batcher   = (*Store)(nil)
	_ driver.Confirmer = (*Store)(nil)
	_ driver.Local     = (*Store)(nil)
)

// New returns a store without entries.
func New() *Store { return open(&entries{byKey: make(map[string]driver.Entry)}) }

// Open returns another handle on the same entries, as another process would have. Each handle is
// closed by itself.
func (s *Store) Open() *Store { return open(s.entries) }

func open(e *entries) *Store {
	return &Store{entries: e, Handle: driver.New(driver.Backend{Address: "memory", Get: e.get, List: e.list, Put: e.put})}
}

// Confirm returns the entry of a key now: there is one copy of the entries.
func (s *Store) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return driver.Confirm(ctx, s.Handle, key, s.entries.get)
}

// Batch returns 4, so that a small pool grows, too.
func (s *Store) Batch() int { return 4 }

// GetAll returns the entries of keys.
func (s *Store) GetAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	return driver.GetAll(ctx, s.Handle, keys, func(ctx context.Context, keys []string) (all []driver.Entry, err error) {
		for _, key := range keys {
			if e, err := s.entries.get(ctx, key); err == nil {
				all = append(all, e)
			}
		}
		return all, nil
	})
}

// CreateAll creates the entries that don't exist.
func (s *Store) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	return driver.CreateAll(ctx, s.Handle, entries, func(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
		revs := make([]driver.Revision, len(entries))
		for i, e := range entries {
			revs[i], _ = s.entries.put(ctx, e.Key, e.Value, driver.None) // or ErrConflict
		}
		return revs, nil
	})
}

// Local returns true: no other machine, and no other process, sees the entries.
func (s *Store) Local() bool { return true }

func (e *entries) get(_ context.Context, key string) (driver.Entry, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	entry, ok := e.byKey[key]
	if !ok {
		return driver.Entry{}, driver.ErrNotFound
	}
	entry.Value = bytes.Clone(entry.Value)
	return entry, nil
}

// list returns the entries of one moment.
func (e *entries) list(_ context.Context, prefix string) ([]driver.Entry, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var list []driver.Entry
	for key, entry := range e.byKey {
		if strings.HasPrefix(key, prefix) {
			entry.Value = bytes.Clone(entry.Value)
			list = append(list, entry)
		}
	}
	return list, nil
}

// put either makes the change or returns an error, never both.
func (e *entries) put(_ context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.byKey[key].Revision != rev {
		return driver.None, driver.ErrConflict
	}
	e.last++
	rev = driver.Revision(strconv.FormatUint(e.last, 10))
	e.byKey[key] = driver.Entry{Key: key, Value: bytes.Clone(value), Revision: rev}
	return rev, nil
}
