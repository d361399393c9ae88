package lease

import (
	"context"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// timed is a store that gives each request so much time.
type timed struct {
	driver.Store
	world world
	limit time.Duration
	took  *time.Duration // how long the last Put did, about; nil if nobody asks
}

func (t timed) Get(ctx context.Context, key string) (driver.Entry, error) {
	ctx, cancel := t.world.timeout(ctx, t.limit)
	defer cancel()
	return t.Store.Get(ctx, key)
}

func (t timed) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	ctx, cancel := t.world.timeout(ctx, t.limit)
	defer cancel()
	return t.Store.List(ctx, prefix)
}

func (t timed) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	ctx, cancel := t.world.timeout(ctx, t.limit)
	defer cancel()
	if t.took != nil {
		began := t.world.now()
		defer func() { *t.took = min(max(t.world.now().Sub(began), 0), t.limit) }()
	}
	return t.Store.Put(ctx, key, value, rev)
}

// now returns the store's own time, if it has one.
func (t timed) now(ctx context.Context) (now time.Time, ok bool, err error) {
	clock, ok := t.Store.(driver.Clock)
	if !ok {
		return now, false, nil
	}
	ctx, cancel := t.world.timeout(ctx, t.limit)
	defer cancel()
	now, err = clock.Now(ctx)
	return now, true, err
}

// watch returns a channel that gets a value after changes below the prefix, until ctx ends; nil if
// the store does not tell of changes, or not now.
func (t timed) watch(ctx context.Context, prefix string) <-chan struct{} {
	watcher, ok := t.Store.(driver.Watcher)
	if !ok {
		return nil
	}
	changes, err := watcher.Watch(ctx, prefix)
	if err != nil {
		return nil // who waits looks by itself
	}
	return changes
}
