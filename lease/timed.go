package lease

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// timed is a store with a time limit for each request. If the store does not heed the context,
// timed abandons the request; the outcome is then unknown. Without a turn, timed waits for the
// store. All timed stores of a lease have one store, which the lease may open again.
type timed struct {
	at    *atomic.Pointer[driver.Store]
	clock func() time.Time
	world world
	limit time.Duration
	took  *time.Duration // about how long the last Put took, if not nil
	turn  *turn
}

// A turn is a lease's last abandoned request. The next request waits until the abandoned request
// has returned. A hanging store thus holds at most one goroutine of a lease.
type turn struct {
	done  <-chan struct{} // closed when the request has returned; nil if no request is abandoned
	since time.Time       // when the request was made
}

// errHangs: the store has not returned from a request in time, in spite of the context.
var errHangs = errors.New("the store does not return")

// patience is how long a store has to return after the end of the context. The error of the store
// says more than the error of the context.
const patience = 10 * time.Millisecond

// timed returns a store with the time limit of the settings.
func (c Config) timed(store driver.Store) timed {
	return timed{at: newAt(store), clock: c.clock, world: c.world, limit: c.Timeout, turn: new(turn)}
}

func newAt(store driver.Store) *atomic.Pointer[driver.Store] {
	at := new(atomic.Pointer[driver.Store])
	at.Store(&store)
	return at
}

func (t timed) store() driver.Store { return *t.at.Load() }
func (t timed) String() string      { return t.store().String() }
func (t timed) Close() error        { return t.store().Close() }

// requests returns the pool's store, with the time limit.
func (l *Lease) requests() timed { return l.pool.store.(timed) }

// do makes a request. Do returns an error if the request was abandoned, or was not made.
func (t timed) do(ctx context.Context, op, key string, request func(context.Context)) error {
	if err := ctx.Err(); err != nil {
		return t.failed(op, key, err)
	}
	ctx, cancel := t.world.timeout(ctx, t.limit)
	defer cancel()
	if t.turn == nil {
		request(ctx)
		return nil
	}
	if t.turn.done != nil {
		if err := await(ctx, t.world, t.turn.done); err != nil {
			return t.failed(op, key, fmt.Errorf("%w from a request of %s: %w", errHangs, timeText(t.turn.since), err))
		}
		t.turn.done = nil
	}
	began := t.clock()
	done := make(chan struct{})
	t.world.spawn(func() {
		defer close(done)
		request(ctx)
	})
	err := await(ctx, t.world, done)
	if err == nil {
		return nil
	}
	late, stop := t.world.timeout(context.WithoutCancel(ctx), patience)
	defer stop()
	if await(late, t.world, done) == nil {
		return nil
	}
	t.turn.done, t.turn.since = done, began
	return t.failed(op, key, fmt.Errorf("%w: %w", errHangs, err))
}

func (t timed) failed(op, key string, err error) error {
	return &driver.Error{Store: t.store().String(), Op: op, Key: key, Err: fmt.Errorf("%w: %w", driver.ErrUnavailable, err)}
}

// A result is a store's reply. Each request has a separate result: an abandoned request may write
// to the result at any time.
type result[T any] struct {
	value T
	err   error
}

// ask makes a request, and returns the result.
func ask[T any](ctx context.Context, t timed, op, key string, request func(context.Context) (T, error)) (T, error) {
	r := new(result[T])
	if err := t.do(ctx, op, key, func(ctx context.Context) { r.value, r.err = request(ctx) }); err != nil {
		var none T
		return none, err
	}
	return r.value, r.err
}

func (t timed) Get(ctx context.Context, key string) (driver.Entry, error) {
	return ask(ctx, t, "get", key, func(ctx context.Context) (driver.Entry, error) { return t.store().Get(ctx, key) })
}

func (t timed) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	return ask(ctx, t, "list", prefix, func(ctx context.Context) ([]driver.Entry, error) { return t.store().List(ctx, prefix) })
}

func (t timed) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if t.took != nil {
		began := t.clock()
		defer func() { *t.took = min(max(t.clock().Sub(began), 0), t.limit) }()
	}
	return ask(ctx, t, "put", key, func(ctx context.Context) (driver.Revision, error) { return t.store().Put(ctx, key, value, rev) })
}

// fewAtOnce is how many records a pool grows by in a store that is no driver.Batcher.
const fewAtOnce = 16

// batch returns how many entries createAll takes.
func (t timed) batch() int {
	if b, ok := t.store().(driver.Batcher); ok {
		return b.Batch()
	}
	return fewAtOnce
}

// getAll returns the entries of the keys that exist, as List does: by one request if the store can.
func (t timed) getAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	if b, ok := t.store().(driver.Batcher); ok {
		return ask(ctx, t, "get", keys[0], func(ctx context.Context) ([]driver.Entry, error) { return b.GetAll(ctx, keys) })
	}
	var entries []driver.Entry
	for _, key := range keys {
		e, err := t.Get(ctx, key)
		switch {
		case err == nil:
			entries = append(entries, e)
		case !errors.Is(err, driver.ErrNotFound):
			return nil, err
		}
	}
	return entries, nil
}

// createAll creates the entries that don't exist, as driver.Batcher says: by one request if the store can.
func (t timed) createAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	if b, ok := t.store().(driver.Batcher); ok {
		return ask(ctx, t, "put", entries[0].Key, func(ctx context.Context) ([]driver.Revision, error) { return b.CreateAll(ctx, entries) })
	}
	revs := make([]driver.Revision, len(entries))
	for i, e := range entries {
		rev, err := t.Put(ctx, e.Key, e.Value, driver.None)
		if err != nil && !errors.Is(err, driver.ErrConflict) {
			return nil, err
		}
		revs[i] = rev
	}
	return revs, nil
}

// now returns the store's own time. If ok is false, the store has no clock.
func (t timed) now(ctx context.Context) (now time.Time, ok bool, err error) {
	clock, ok := t.store().(driver.Clock)
	if !ok {
		return now, false, nil
	}
	now, err = ask(ctx, t, "time", "", clock.Now)
	return now, true, err
}

// watch returns a channel that receives after changes below the prefix, until ctx ends. It returns
// nil if the store does not tell of changes, or not now.
func (t timed) watch(ctx context.Context, prefix string) <-chan struct{} {
	watcher, ok := t.store().(driver.Watcher)
	if !ok {
		return nil
	}
	changes, err := ask(ctx, t, "watch", prefix, func(context.Context) (<-chan struct{}, error) { return watcher.Watch(ctx, prefix) })
	if err != nil {
		return nil // a waiting lease also tries from time to time
	}
	return changes
}
