package drivertest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// A broken store is a handle on a good store, with some methods replaced.
type broken struct {
	driver.Store
	get    func(ctx context.Context, key string) (driver.Entry, error)
	list   func(ctx context.Context, prefix string) ([]driver.Entry, error)
	put    func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error)
	string func() string
	close  func() error
	now    func(ctx context.Context) (time.Time, error)

	confirm func(ctx context.Context, key string) (driver.Entry, error)

	createAll func(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error)
}

func (b *broken) Batch() int { return 16 }

func (b *broken) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	return b.createAll(ctx, entries)
}

func (b *broken) GetAll(ctx context.Context, keys []string) (all []driver.Entry, err error) {
	for _, key := range slices.Sorted(slices.Values(keys)) {
		e, err := b.get(ctx, key)
		switch {
		case err == nil:
			all = append(all, e)
		case !errors.Is(err, driver.ErrNotFound):
			return nil, err
		}
	}
	return all, nil
}

func (b *broken) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return b.confirm(ctx, key)
}

func (b *broken) Get(ctx context.Context, key string) (driver.Entry, error) { return b.get(ctx, key) }

func (b *broken) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	return b.list(ctx, prefix)
}

func (b *broken) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	return b.put(ctx, key, value, rev)
}

func (b *broken) String() string { return b.string() }

func (b *broken) Close() error { return b.close() }

func (b *broken) Now(ctx context.Context) (time.Time, error) { return b.now(ctx) }

// blind puts a value at any revision.
func blind(ctx context.Context, s driver.Store, key string, value []byte) (driver.Revision, error) {
	for {
		e, err := s.Get(ctx, key)
		if err != nil && !errors.Is(err, driver.ErrNotFound) {
			return driver.None, err
		}
		if rev, err := s.Put(ctx, key, value, e.Revision); !errors.Is(err, driver.ErrConflict) {
			return rev, err
		}
	}
}

// onGet and onList change the results of Get and of List.
func onGet(b *broken, change func(*driver.Entry)) {
	b.get = func(ctx context.Context, key string) (driver.Entry, error) {
		e, err := b.Store.Get(ctx, key)
		change(&e)
		return e, err
	}
}

func onList(b *broken, change func(prefix string, list []driver.Entry) []driver.Entry) {
	b.list = func(ctx context.Context, prefix string) ([]driver.Entry, error) {
		list, err := b.Store.List(ctx, "")
		if err != nil {
			return nil, err
		}
		return change(prefix, list), nil
	}
}

// each makes a store whose handles have a change, and share nothing else.
func each(change func(*broken)) func() func(*broken) { return func() func(*broken) { return change } }

// puts, gets and lists make stores with another Put, with other results of Get, and with other results of List.
func puts(change func(s driver.Store, p put) (driver.Revision, error)) func() func(*broken) {
	return each(func(b *broken) {
		b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
			return change(b.Store, put{ctx, key, value, rev})
		}
	})
}

// A put is a call of Put.
type put struct {
	ctx   context.Context
	key   string
	value []byte
	rev   driver.Revision
}

func (p put) to(s driver.Store) (driver.Revision, error) { return s.Put(p.ctx, p.key, p.value, p.rev) }

func gets(change func(*driver.Entry)) func() func(*broken) {
	return each(func(b *broken) { onGet(b, change) })
}

func lists(change func(prefix string, list []driver.Entry) []driver.Entry) func() func(*broken) {
	return each(func(b *broken) { onList(b, change) })
}

func having(prefix string, list []driver.Entry) []driver.Entry {
	return slices.DeleteFunc(list, func(e driver.Entry) bool { return !strings.HasPrefix(e.Key, prefix) })
}

// A revisionMap maps the revisions of a store to other revisions.
type revisionMap map[driver.Revision]driver.Revision

// rename numbers the revisions that a handle makes. The function next returns the numbers.
func (outer revisionMap) rename(b *broken, next func() int) {
	onGet(b, func(e *driver.Entry) { e.Revision = outer[e.Revision] })
	onList(b, func(prefix string, list []driver.Entry) []driver.Entry {
		for i := range list {
			list[i].Revision = outer[list[i].Revision]
		}
		return having(prefix, list)
	})
	get, list := b.get, b.list
	b.get = func(ctx context.Context, key string) (driver.Entry, error) {
		renaming.Lock()
		defer renaming.Unlock()
		return get(ctx, key)
	}
	b.list = func(ctx context.Context, prefix string) ([]driver.Entry, error) {
		renaming.Lock()
		defer renaming.Unlock()
		return list(ctx, prefix)
	}
	b.put = func(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
		renaming.Lock()
		defer renaming.Unlock()
		e, _ := b.Store.Get(ctx, key)
		inner := e.Revision
		if outer[inner] != rev {
			inner = "another"
		}
		made, err := b.Store.Put(ctx, key, value, inner)
		if err != nil {
			return driver.None, err
		}
		outer[made] = driver.Revision(fmt.Sprint(next()))
		return outer[made], nil
	}
}

var renaming sync.Mutex // of all revisionMaps

const givenSecret = "XYZZY"

// brokenSpace returns a function that opens handles on a store in memory with a defect.
func brokenSpace(store func() func(*broken)) func() driver.Store {
	inner, change := memlease.New(), store()
	return func() driver.Store {
		h := faults.Clocked{Store: inner.Open(), Time: time.Now}
		b := &broken{Store: h, get: h.Get, list: h.List, put: h.Put, string: h.String, close: h.Close, now: h.Now}
		b.createAll = func(ctx context.Context, entries []driver.Entry) (revs []driver.Revision, err error) {
			if slices.ContainsFunc(entries, func(e driver.Entry) bool { return driver.CheckKey(e.Key) != nil || len(e.Value) > driver.MaxValue }) {
				return inner.CreateAll(ctx, entries) // which fails
			}
			for _, e := range entries {
				rev, err := b.put(ctx, e.Key, e.Value, driver.None)
				if err != nil && !errors.Is(err, driver.ErrConflict) {
					return nil, err
				}
				revs = append(revs, rev)
			}
			return revs, nil
		}
		b.confirm = func(ctx context.Context, key string) (driver.Entry, error) { return b.get(ctx, key) }
		change(b)
		return b
	}
}

// TestDefects shows that the suites find each defect, and that each check finds a defect.
func TestDefects(t *testing.T) {
	all := append(slices.Concat(checks, leaseChecks), check{"Faults", func(s *space) { historyWithFaults(s, s.fresh, 1) }})
	finds := make(map[string]bool)
	for _, d := range defects {
		for _, test := range d.caught {
			finds[test] = true
		}
		t.Run(d.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range all {
				if slices.Contains(d.caught, c.name) && !fails(t, func(t testing.TB) {
					c.run(&space{TB: t, fresh: brokenSpace(d.store), secrets: []string{givenSecret}})
				}) {
					t.Errorf("%s does not find it", c.name)
				}
			}
		})
	}
	for _, c := range slices.Concat(checks, leaseChecks) {
		if !finds[c.name] {
			t.Errorf("%s is not known to find any defect", c.name)
		}
	}
	run(t, all, func(*testing.T) func() driver.Store {
		return brokenSpace(each(func(*broken) {})) // without a defect
	}, []string{givenSecret})
}

// fails reports whether a test fails.
func fails(t *testing.T, test func(testing.TB)) bool {
	f := &failing{TB: t}
	over := make(chan struct{})
	go func() { // which Fatalf ends
		defer close(over)
		test(f)
	}()
	<-over
	return f.failed.Load()
}

// A failing test notes that a check has failed, and goes on.
type failing struct {
	testing.TB
	failed atomic.Bool
}

func (f *failing) Errorf(format string, args ...any) { f.Error(fmt.Sprintf(format, args...)) }
func (f *failing) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

func (f *failing) Error(args ...any) {
	f.failed.Store(true)
	f.Log(args...)
}

func (f *failing) Fatal(args ...any) {
	f.Error(args...)
	runtime.Goexit()
}
