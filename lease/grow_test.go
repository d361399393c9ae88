package lease

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/memlease"
)

// busy returns a slow store, which does simultaneous requests one after the other and counts them.
func busy() (*hooked, *atomic.Int64) {
	var mu sync.Mutex
	var free time.Time // when it has done all that has come
	requests := new(atomic.Int64)
	return &hooked{Store: memlease.New(), batch: 16, before: func(string, string) error {
		requests.Add(1)
		mu.Lock()
		now := time.Now()
		if free.Before(now) {
			free = now
		}
		free = free.Add(100 * time.Microsecond)
		pause := free.Sub(now)
		mu.Unlock()
		time.Sleep(time.Millisecond + pause)
		return nil
	}}, requests
}

// The requests of many leases that start at once are in proportion to their number. Each lease needs a few
// requests: at a new pool, at a pool with records for all or most leases, for any worker, and for a
// Number each. The records are of one range, so that the pool's record has room for workers with a Number.
func TestManyAtOnce(t *testing.T) {
	for _, test := range []struct {
		n, workers, made int
		named            bool
		most             int64 // requests of each, on average
	}{
		{1, 1024, 0, false, 7},
		{2, 1024, 0, false, 15},
		{16, 1024, 0, false, 15},
		{64, 1024, 0, false, 20},
		{256, 1024, 0, false, 30},
		{256, 256, 0, false, 30},
		{256, 65536, 0, false, 30},
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
				clock := newTestClock()
				store, requests := busy()
				p := mustCreate(t, store, test.workers)
				for made := 0; made < test.made; made++ {
					testkit.Must(p.grow(t.Context(), made))
				}
				testkit.OK(t, p.note(t.Context(), time.Hour.Microseconds())) // the first of such leases does
				requests.Store(0)
				var all sync.WaitGroup
				leases := make([]*Lease, test.n)
				for i := range leases {
					all.Go(func() {
						c := Config{clock: clock.now, Window: time.Hour, First: time.Hour, Timeout: time.Minute}
						if test.named {
							c.Worker = Number(i)
						}
						var err error
						if leases[i], err = try(t, p, clock, c); err != nil {
							t.Error(err)
						}
					})
				}
				all.Wait()
				if n := requests.Load(); n > test.most*int64(test.n) {
					t.Errorf("%d requests, more than %d a lease", n, test.most)
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
				if ranges := made(t, store); len(ranges) != 1 {
					t.Errorf("the records are of the workers %v", ranges)
				}
			})
		})
	}
}

// fill makes the pool name workers far apart until the pool's record is full.
func fill(t *testing.T, p *Pool) {
	t.Helper()
	for worker := 10000; ; worker += 32 {
		_, err := p.grow(t.Context(), worker)
		if errors.Is(err, ErrConfig) {
			return
		}
		testkit.OK(t, err)
	}
}

// A pool without room for workers far apart has room for workers next to others, even after a
// process died making the records.
func TestGrowFull(t *testing.T) {
	store, died := memlease.New(), errors.New("died")
	p := mustCreate(t, store, 65536)
	testkit.Must(p.grow(t.Context(), -1))
	fill(t, p)
	crashed := *p
	crashed.store = dying(store, 1, died)
	testkit.Is(t, testkit.Err(crashed.grow(t.Context(), -1)), died, "grow")
	for range 3 {
		if grown, err := p.grow(t.Context(), -1); !grown || err != nil {
			t.Errorf("%v, %v", grown, err)
		}
	}
}

// A pool without room for more workers can be recovered.
func TestRecoveryFull(t *testing.T) {
	store := memlease.New()
	p := mustCreate(t, store, 65536)
	fill(t, p)
	if _, err := RecoverPool(t.Context(), store, "p", RecoveryConfig{TrustClock: true}); err != nil {
		t.Errorf("%.200v", err)
	}
}
