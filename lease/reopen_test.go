package lease

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// An address leads to a store, and at times to another one. Its handles refuse all calls after the answer of another
// store, and after a failed sync.
type address struct {
	mu     sync.Mutex
	to     driver.Store
	fault  func(put func()) // of the next change, once: it may make the change
	failed []byte           // the value of the change
}

func (a *address) lead(to driver.Store) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.to = to
}

// failNext lets the next change fail to be synced.
func (a *address) failNext(fault func(put func())) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fault = fault
}

func (a *address) store() driver.Store {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.to
}

func (a *address) open() *reopened {
	of := a.store()
	now := func() (driver.Store, error) {
		if to := a.store(); to == of {
			return to, nil
		}
		return nil, driver.Latch(fmt.Errorf("%w: another store answers", driver.ErrUnsafe))
	}
	return &reopened{driver.New(driver.Backend{
		Address: "test",
		Get: func(ctx context.Context, key string) (driver.Entry, error) {
			to, err := now()
			if err != nil {
				return driver.Entry{}, err
			}
			return to.Get(ctx, key)
		},
		List: func(ctx context.Context, prefix string) ([]driver.Entry, error) {
			to, err := now()
			if err != nil {
				return nil, err
			}
			return to.List(ctx, prefix)
		},
		Put: func(ctx context.Context, key string, value []byte, rev driver.Revision) (made driver.Revision, err error) {
			to, err := now()
			if err != nil {
				return driver.None, err
			}
			a.mu.Lock()
			fault := a.fault
			a.fault = nil
			if fault != nil {
				a.failed = bytes.Clone(value)
			}
			a.mu.Unlock()
			if fault == nil {
				return to.Put(ctx, key, value, rev)
			}
			fault(func() { made, err = to.Put(ctx, key, value, rev) })
			return driver.None, driver.Latch(errors.New("fsync: input/output error"))
		},
	}), a}
}

// A reopened store is a handle that can be opened again.
type reopened struct {
	*driver.Handle
	at *address
}

func (s *reopened) Reopen(context.Context) (driver.Store, error) { return s.at.open(), nil }

// startAt starts a lease with a window of a second. Notify checks that no interval comes from a change that failed.
func (a *address) startAt(t *testing.T, clock *testClock, c Config) (*nanoflake.Generator, *Lease, *testLog) {
	t.Helper()
	g, log := generator(t, clock), new(testLog)
	c.Create, c.Window = true, time.Second
	c.Notify = func(e Event) {
		log.add(e)
		if e.Kind != Renewed && e.Kind != Acquired {
			return
		}
		found := testkit.Must(a.store().Get(context.Background(), workerKey("nanoflake", e.Worker)))
		if bytes.Equal(found.Value, a.failed) {
			t.Errorf("the interval up to %v is of a change that was not synced", e.Until)
		}
	}
	l := testkit.Must(Start(t.Context(), a.open(), g, c))
	t.Cleanup(func() { l.Close() })
	return g, l, log
}

// TestReopenAfterSync: a lease goes on after a failed sync, whether or not the change is there.
func TestReopenAfterSync(t *testing.T) {
	for name, fault := range map[string]func(put func()){
		"the change is there": func(put func()) { put() },
		"it is not":           func(func()) {},
	} {
		for _, c := range []Config{{}, {Worker: Number(7)}} {
			t.Run(fmt.Sprint(name, c.Worker), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					clock, a := newTestClock(), &address{to: memlease.New()}
					g, l, log := a.startAt(t, clock, c)
					worker, distinct := l.Worker(), distinct(t)
					distinct(g)
					for range 3 {
						a.failNext(fault)
						for range 20 {
							time.Sleep(100 * time.Millisecond)
							distinct(g)
						}
					}
					mints(t, g, l)
					if l.Worker() != worker || l.Err() != nil {
						t.Errorf("the worker is %d, and was %d: %v", l.Worker(), worker, l.Err())
					}
					log.want(t, "created acquired renewed"+strings.Repeat(" failing renewed recovered renewed", 3), "created acquired renewed")
				})
			})
		}
	}
}

// TestReopenElsewhere: for three seconds an address leads to a store without the pool, or with another pool of the name.
func TestReopenElsewhere(t *testing.T) {
	for _, there := range []string{"nothing", "a pool"} {
		t.Run(there, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock, home := newTestClock(), memlease.New()
				a, other := &address{to: home}, memlease.New()
				if there == "a pool" {
					testkit.Must(create(t.Context(), other, "nanoflake", testkit.Must(generator(t, clock).ForLease().Pool()).Layout, 0, clock.now()))
				}
				before := fmt.Sprint(backUp(t, other))
				g, l, _ := a.startAt(t, clock, Config{})
				distinct := distinct(t)
				distinct(g)
				a.lead(other)
				time.Sleep(3 * time.Second)
				if err := testkit.Err(g.TryNext()); !errors.Is(err, ErrLeaseExpired) || !refusesAll(l.Err()) {
					t.Errorf("in the other store: %v, %v", err, l.Err())
				}
				if after := fmt.Sprint(backUp(t, other)); after != before {
					t.Errorf("the other store was %s, and is %s", before, after)
				}
				a.lead(home)
				time.Sleep(2 * time.Second)
				distinct(g)
				mints(t, g, l)
			})
		})
	}
}

// TestReopenRestored: a store that is older than the last renewal gives the lease no interval until the pool is recovered.
func TestReopenRestored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, a := newTestClock(), &address{to: memlease.New()}
		g, l, log := a.startAt(t, clock, Config{})
		backup := backUp(t, a.to)
		time.Sleep(2 * time.Second)
		mints(t, g, l)
		old := memlease.New()
		for key, value := range backup {
			put(t, old, key, value)
		}
		a.failNext(func(func()) { a.lead(old) })
		time.Sleep(10 * time.Second)
		if err := testkit.Err(g.TryNext()); !errors.Is(err, ErrRolledBack) {
			t.Errorf("in the restored store: %v", err)
		}
		done := testkit.Must(RecoverPool(t.Context(), old, "nanoflake", RecoveryConfig{clock: clock.now}))
		time.Sleep(done.Floor.Sub(clock.now()) + 2*time.Second)
		mints(t, g, l)
		if got := log.kinds(); !strings.Contains(got, " lost ") || !strings.Contains(got, " acquired recovered") {
			t.Errorf("the events are %s", got)
		}
	})
}

// TestReopenRecovered: the pool is recovered while the store refuses all calls.
func TestReopenRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, a := newTestClock(), &address{to: memlease.New()}
		g, l, log := a.startAt(t, clock, Config{})
		a.failNext(func(func()) {
			testkit.Must(RecoverPool(context.Background(), a.to, "nanoflake", RecoveryConfig{clock: clock.now, Skew: time.Millisecond}))
		})
		time.Sleep(time.Minute)
		mints(t, g, l)
		if lost := log.last(t, Lost); !errors.Is(lost.Err, ErrRecovered) {
			t.Errorf("the worker was lost: %v", lost.Err)
		}
	})
}

// TestReopenInBackground: the first change of a search fails to be synced.
func TestReopenInBackground(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, a := newTestClock(), &address{to: memlease.New()}
		a.failNext(func(put func()) { put() })
		g, l, _ := a.startAt(t, clock, Config{Background: true})
		time.Sleep(2 * time.Second)
		mints(t, g, l)
	})
}
