package faults

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// Clocked is a store with a clock, which a test sets.
type Clocked struct {
	driver.Store
	Time func() time.Time
}

// Now returns the time of the clock.
func (c Clocked) Now(ctx context.Context) (time.Time, error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, &driver.Error{Store: c.String(), Op: "now", Err: fmt.Errorf("%w: %w", driver.ErrUnavailable, err)}
	}
	return c.Time(), nil
}

// Confirm calls Confirm of the store.
func (c Clocked) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return confirm(ctx, c.Store, key)
}

// confirm calls Confirm of a store. If the store is no [driver.Confirmer], the error is
// [driver.ErrUnconfirmable].
func confirm(ctx context.Context, store driver.Store, key string) (driver.Entry, error) {
	if c, ok := store.(driver.Confirmer); ok {
		return c.Confirm(ctx, key)
	}
	return driver.Entry{}, &driver.Error{Store: store.String(), Op: "confirm", Key: key, Err: driver.ErrUnconfirmable}
}

// Watched is a store that reports the changes made through it.
type Watched struct {
	driver.Store
	watches watches
}

// NewWatched returns a Watched on a store.
func NewWatched(store driver.Store) *Watched { return &Watched{Store: store} }

type watches struct {
	mu  sync.Mutex
	all map[chan struct{}]string
}

// Confirm calls Confirm of the store.
func (w *Watched) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return confirm(ctx, w.Store, key)
}

// Put changes the entry and signals the watches of its key.
func (w *Watched) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	made, err := w.Store.Put(ctx, key, value, rev)
	w.watches.mu.Lock()
	defer w.watches.mu.Unlock()
	for c, prefix := range w.watches.all {
		if strings.HasPrefix(key, prefix) {
			driver.Signal(c)
		}
	}
	return made, err
}

// Watch returns a channel that gets a value after each change of a key with the prefix.
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
