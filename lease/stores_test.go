package lease

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// A call is a request to a store.
type call struct {
	ctx     context.Context
	op, key string
	rev     driver.Revision // of a put
	do      func(context.Context) error
}

// changes reports whether the call changes the record of a worker.
func (c call) changes() bool {
	return c.op == "put" && c.rev != driver.None && !strings.HasSuffix(c.key, "/pool")
}

// hooked is a store with failures, or with requests of others in between: before comes before each
// call, and around makes the call and returns the error. Either may be nil. A call for several entries has the
// key of the first.
type hooked struct {
	driver.Store
	before func(op, key string) error
	around func(call) error
	batch  int          // 4 if 0
	read   atomic.Int64 // the bytes of all values that calls have returned
}

// note counts the values of entries as read.
func (h *hooked) note(entries ...driver.Entry) {
	for _, e := range entries {
		h.read.Add(int64(len(e.Value)))
	}
}

func (h *hooked) call(c call) (err error) {
	if h.before != nil {
		err = h.before(c.op, c.key)
	}
	switch {
	case err != nil:
	case h.around != nil:
		err = h.around(c)
	default:
		err = c.do(c.ctx)
	}
	if _, ok := errors.AsType[*driver.Error](err); err != nil && !ok {
		err = &driver.Error{Store: h.String(), Op: c.op, Key: c.key, Err: err}
	}
	return err
}

func (h *hooked) Get(ctx context.Context, key string) (e driver.Entry, err error) {
	err = h.call(call{ctx: ctx, op: "get", key: key, do: func(ctx context.Context) (err error) { e, err = h.Store.Get(ctx, key); return err }})
	h.note(e)
	return e, err
}

// Confirm calls a store that is a driver.Confirmer.
func (h *hooked) Confirm(ctx context.Context, key string) (e driver.Entry, err error) {
	err = h.call(call{ctx: ctx, op: "confirm", key: key, do: func(ctx context.Context) (err error) {
		e, err = h.Store.(driver.Confirmer).Confirm(ctx, key)
		return err
	}})
	return e, err
}

func (h *hooked) List(ctx context.Context, prefix string) (list []driver.Entry, err error) {
	err = h.call(call{ctx: ctx, op: "list", key: prefix, do: func(ctx context.Context) (err error) { list, err = h.Store.List(ctx, prefix); return err }})
	h.note(list...)
	return list, err
}

func (h *hooked) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (made driver.Revision, err error) {
	err = h.call(call{ctx: ctx, op: "put", key: key, rev: rev, do: func(ctx context.Context) (err error) { made, err = h.Store.Put(ctx, key, value, rev); return err }})
	if err != nil {
		return driver.None, err
	}
	return made, nil
}

func (h *hooked) Batch() int { return cmp.Or(h.batch, 4) }

func (h *hooked) GetAll(ctx context.Context, keys []string) (all []driver.Entry, err error) {
	err = h.call(call{ctx: ctx, op: "get", key: keys[0], do: func(ctx context.Context) (err error) {
		all, err = h.Store.(driver.Batcher).GetAll(ctx, keys)
		return err
	}})
	h.note(all...)
	return all, err
}

func (h *hooked) CreateAll(ctx context.Context, entries []driver.Entry) (revs []driver.Revision, err error) {
	err = h.call(call{ctx: ctx, op: "put", key: entries[0].Key, do: func(ctx context.Context) (err error) {
		revs, err = h.Store.(driver.Batcher).CreateAll(ctx, entries)
		return err
	}})
	return revs, err
}

// A traffic counts the requests to a store.
type traffic struct {
	*hooked
	requests, lists atomic.Int64
}

func newTraffic(store driver.Store) *traffic {
	t := new(traffic)
	t.hooked = &hooked{Store: store, batch: 100, before: func(op, _ string) error {
		t.requests.Add(1)
		if op == "list" {
			t.lists.Add(1)
		}
		return nil
	}}
	return t
}

// counts returns the requests since the last call, how many of them are lists, and the bytes of the values
// that were read.
func (t *traffic) counts() (requests, lists, read int) {
	return int(t.requests.Swap(0)), int(t.lists.Swap(0)), int(t.read.Swap(0))
}

// cutOff returns the pool of a process whose store is unreachable while down is set.
func cutOff(p *Pool) (q *Pool, down *atomic.Bool) {
	down = new(atomic.Bool)
	cut := *p
	cut.store = &hooked{Store: p.store, before: func(string, string) error {
		if down.Load() {
			return driver.ErrUnavailable
		}
		return nil
	}}
	return &cut, down
}

// mute returns a store that makes changes, and replies to no change of a worker's record.
func mute(store driver.Store) driver.Store {
	return &hooked{Store: store, around: func(c call) error {
		err := c.do(c.ctx)
		if c.changes() {
			return driver.ErrUnavailable
		}
		return err
	}}
}

// dying returns a store that makes some changes, and then returns an error: its process has died.
func dying(store driver.Store, changes int, died error) driver.Store {
	return &hooked{Store: store, before: func(op, _ string) error {
		if op != "put" {
			return nil
		}
		if changes--; changes < 0 {
			return died
		}
		return nil
	}}
}

// An excluding store makes claims on the machine.
type excluding struct {
	driver.Store
	exclude func(resource, group string) (release func(), err error)
}

func (e excluding) Exclude(resource, group string) (func(), error) { return e.exclude(resource, group) }

// A testBackup is a copy of a store.
type testBackup map[string][]byte

func backUp(t *testing.T, store driver.Store) testBackup {
	t.Helper()
	entries := testkit.Must(store.List(t.Context(), ""))
	b := testBackup{}
	for _, e := range entries {
		b[e.Key] = e.Value
	}
	return b
}

// restored is a store that can go back to a backup.
type restored struct {
	now atomic.Pointer[memlease.Store]
}

func newRestored() *restored {
	r := &restored{}
	r.now.Store(memlease.New())
	return r
}

func (r *restored) Get(ctx context.Context, key string) (driver.Entry, error) {
	return r.now.Load().Get(ctx, key)
}

func (r *restored) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	return r.now.Load().List(ctx, prefix)
}

func (r *restored) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	return r.now.Load().Put(ctx, key, value, rev)
}

func (r *restored) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return r.now.Load().Confirm(ctx, key)
}

func (r *restored) String() string { return "restored" }

func (r *restored) Close() error { return nil }

func (r *restored) restore(t *testing.T, b testBackup) {
	t.Helper()
	store := memlease.New()
	for range 1000 { // revisions that nobody has used
		put(t, store, "x/x", nil)
	}
	for key, value := range b {
		put(t, store, key, value)
	}
	r.now.Store(store)
}
