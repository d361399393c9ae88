package lease

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// busy is a slow store: simultaneous requests are done one after the other.
type busy struct {
	driver.Store
	mu                sync.Mutex
	free              time.Time // when it has done all that has come
	gets, lists, puts atomic.Int64
}

func (b *busy) wait(n *atomic.Int64) {
	n.Add(1)
	b.mu.Lock()
	now := time.Now()
	if b.free.Before(now) {
		b.free = now
	}
	b.free = b.free.Add(100 * time.Microsecond)
	pause := b.free.Sub(now)
	b.mu.Unlock()
	time.Sleep(time.Millisecond + pause)
}

func (b *busy) Get(ctx context.Context, key string) (driver.Entry, error) {
	b.wait(&b.gets)
	return b.Store.Get(ctx, key)
}

func (b *busy) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	b.wait(&b.lists)
	return b.Store.List(ctx, prefix)
}

func (b *busy) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	b.wait(&b.puts)
	return b.Store.Put(ctx, key, value, rev)
}

// The requests of a crowd of leases grow in proportion to the crowd. Each lease needs a few
// requests: at a new pool, at a pool with records for all or most leases, for any worker, and for a
// Number each.
func TestCrowd(t *testing.T) {
	for _, test := range []struct {
		n, workers, made int
		named            bool
		most             int64 // requests of each, on average
	}{
		{1, 1024, 0, false, 9},
		{2, 1024, 0, false, 15},
		{16, 1024, 0, false, 15},
		{64, 1024, 0, false, 15},
		{256, 1024, 0, false, 15},
		{256, 256, 0, false, 25},
		{256, 65536, 0, false, 15},
		{256, 1024, 256, false, 25},
		{256, 1024, 200, false, 25},
		{256, 1024, 0, true, 15},
	} {
		name := fmt.Sprintf("%d leases of %d workers, %d made", test.n, test.workers, test.made)
		if test.named {
			name += ", named"
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock, store := newTestClock(), &busy{Store: memlease.New()}
				p := mustCreate(t, store, test.workers)
				for made := 0; made < test.made; made++ {
					testkit.Must(p.grow(t.Context(), made))
				}
				store.gets.Store(0)
				store.lists.Store(0)
				store.puts.Store(0)
				began := time.Now()
				var all sync.WaitGroup
				leases := make([]*Lease, test.n)
				for i := range leases {
					all.Go(func() {
						c := Config{clock: clock.now, Window: time.Hour, First: time.Hour, Timeout: time.Minute}
						if test.named {
							c.Worker = Number(i)
						}
						var err error
						if leases[i], err = p.start(t.Context(), generator(t, clock).ForLease(), c); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				gets, lists, puts := store.gets.Load(), store.lists.Load(), store.puts.Load()
				t.Logf("%d gets, %d lists and %d puts, in %v", gets, lists, puts, time.Since(began))
				if requests := gets + lists + puts; requests > test.most*int64(test.n) {
					t.Errorf("%d requests, more than %d a lease", requests, test.most)
				}
				workers := make(map[int]bool)
				for _, l := range leases {
					if l != nil {
						workers[l.Worker()] = true
						defer l.Close()
					}
				}
				if len(workers) != test.n {
					t.Errorf("%d leases have %d workers", test.n, len(workers))
				}
			})
		})
	}
}

// fill makes the pool name workers far apart until the pool's record is full.
func fill(t *testing.T, p *Pool) {
	t.Helper()
	for worker := 10000; ; worker += 10 {
		if _, err := p.grow(t.Context(), worker); errors.Is(err, ErrConfig) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// A pool without room for workers far apart has room for workers next to others, even after a
// process died making the records.
func TestGrowFull(t *testing.T) {
	store, died := memlease.New(), errors.New("died")
	p := mustCreate(t, store, 65536)
	testkit.Must(p.grow(t.Context(), -1))
	fill(t, p)
	puts, dying := 0, *p
	dying.store = &hooked{Store: store, before: func(op, _ string) error {
		if op == "put" {
			if puts++; puts > 1 {
				return died
			}
		}
		return nil
	}}
	if _, err := dying.grow(t.Context(), -1); !errors.Is(err, died) {
		t.Fatal(err)
	}
	for range 3 {
		if grown, err := p.grow(t.Context(), -1); !grown || err != nil {
			t.Errorf("%v, %v", grown, err)
		}
	}
}

// A pool without room for more workers can be rescued.
func TestRescueFull(t *testing.T) {
	store := memlease.New()
	p := mustCreate(t, store, 65536)
	fill(t, p)
	if _, err := Rescue(t.Context(), store, "p", RescueConfig{TrustClock: true}); err != nil {
		t.Errorf("%.200v", err)
	}
}

// A crowd in a pool of many workers leaves room in the pool's record, for workers with a Number.
func TestGrowCrowd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &busy{Store: memlease.New()}
		p := mustCreate(t, store, 65536)
		var all sync.WaitGroup
		for range 1500 {
			all.Go(func() {
				if _, err := p.grow(t.Context(), -1); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		r, _, err := readPool(t.Context(), store, "p")
		if err != nil {
			t.Fatal(err)
		}
		if size := len(encode(r)); size > driver.MaxValue/2 {
			t.Errorf("%d workers in %d ranges take %d bytes", r.count(), len(r.Made), size)
		}
	})
}
