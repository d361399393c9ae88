package lease

import (
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
)

// machine is where separate stores exclude each other's pools.
type machine struct {
	mu     sync.Mutex
	groups map[string][]string // that have claimed a resource
}

// claims returns the number of claims.
func (m *machine) claims() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, groups := range m.groups {
		n += len(groups)
	}
	return n
}

func (m *machine) exclude(resource, group string) (func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, g := range m.groups[resource] {
		if g != group {
			return nil, &driver.ExcludedError{Holder: func() string { return "process 7" }}
		}
	}
	m.groups[resource] = append(m.groups[resource], group)
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.groups[resource] = m.groups[resource][1:]
	}), nil
}

// twoPools returns pools of two stores on a machine.
func twoPools(t *testing.T, workers int) (m *machine, first, second *Pool) {
	m = &machine{groups: make(map[string][]string)}
	return m, mustCreate(t, excluding{memlease.New(), m.exclude}, workers), mustCreate(t, excluding{memlease.New(), m.exclude}, workers)
}

func TestExcluded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 8
		m, first, second := twoPools(t, workers)
		clock := newTestClock()
		taken := make(map[int]bool)
		var leases []*Lease
		for i := range workers {
			p := []*Pool{first, second}[i%2]
			_, l, _ := keep(t, p, clock, Config{})
			if taken[l.Worker()] {
				t.Errorf("worker %d is taken twice", l.Worker())
			}
			taken[l.Worker()] = true
			leases = append(leases, l)
		}
		var none *NoWorkerError
		if _, err := try(t, second, clock, Config{Wait: -1}); !errors.As(err, &none) || !none.Excluded || !strings.Contains(err.Error(), "(process 7)") {
			t.Errorf("with all workers taken: %v", err)
		}
		var held *HeldError
		if _, err := try(t, second, clock, Config{Worker: Number(leases[0].Worker()), Wait: -1}); !errors.As(err, &held) || !held.Excluded || !strings.Contains(err.Error(), "(process 7)") {
			t.Errorf("the other pool's worker by its number: %v", err)
		}

		if n := m.claims(); n != workers {
			t.Errorf("%d claims of %d leases", n, workers)
		}

		// A waiting lease gets the worker after the other pool's generator was sealed.
		for _, c := range []Config{{Wait: time.Minute}, {Wait: time.Minute, Worker: Number(leases[2].Worker())}} {
			i := 0
			if c.Worker != (Choice{}) {
				i = 2
			}
			time.AfterFunc(time.Second, func() { leases[i].Close() })
			_, l, _ := keep(t, second, clock, c)
			if l.Worker() != leases[i].Worker() {
				t.Errorf("worker %d, not %d", l.Worker(), leases[i].Worker())
			}
			defer l.Close()
		}
		for _, l := range leases {
			l.Close()
		}
		if n := m.claims(); n != 2 {
			t.Errorf("%d claims are left of 2 leases", n)
		}
	})
}

// TestExcludedMany: another pool uses most workers, or all. A lease finds the free worker, or returns an
// error, and makes few records.
func TestExcludedMany(t *testing.T) {
	const workers, left = 1000, 700
	for _, all := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			m, _, p := twoPools(t, workers)
			for worker := range workers {
				if all || worker != left {
					testkit.Must(m.exclude(fmt.Sprintf("%s %d", p.hash, worker), "another pool"))
				}
			}
			clock := newTestClock()
			l, err := try(t, p, clock, Config{Wait: -1})
			var none *NoWorkerError
			switch {
			case all && (!errors.As(err, &none) || !none.Excluded):
				t.Errorf("Start = %v", err)
			case !all && err != nil:
				t.Error(err)
			case !all && l.Worker() != left:
				t.Errorf("worker %d is taken", l.Worker())
			}
			if _, made, err := p.Workers(t.Context()); err != nil || made > 32 {
				t.Errorf("%d records were made, %v", made, err)
			}
			want := workers
			if n := m.claims(); n != want {
				t.Errorf("%d claims, not %d", n, want)
			}
			if l != nil {
				l.Close()
			}
		})
	}
}

// TestExcludedLost: the claim of a lost worker lasts until the generator can no longer mint as the worker,
// whatever the clock says, and not longer.
func TestExcludedLost(t *testing.T) {
	const window = 10 * time.Second
	for _, ahead := range []time.Duration{0, time.Hour, -5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			m, first, second := twoPools(t, 2)
			clock := newTestClock()
			g, l, log := keep(t, first, clock, Config{Window: window, First: window, TrustClock: true})
			lost := l.Worker()
			other := Config{Worker: Number(lost), Wait: -1, Window: window, TrustClock: true, clock: clock.now}
			began := time.Now()
			l.lockWork()
			l.lose(errors.New("lost"))
			l.work.unlock()
			time.Sleep(time.Second) // while the lease takes another worker
			clock.step(ahead)
			for time.Since(began) < window+max(0, -ahead) {
				l2, err := try(t, second, clock, other)
				if err == nil {
					l2.Close()
				}
				var held *HeldError
				if !errors.As(err, &held) || !held.Excluded {
					t.Fatalf("%v after the loss, with the clock set by %v, another pool's lease of the worker: %v", time.Since(began), ahead, err)
				}
				time.Sleep(time.Second)
			}
			clock.step(-max(0, ahead))
			time.Sleep(time.Second)
			mints(t, g, l)
			if n := m.claims(); n != 1 || l.Worker() == lost {
				t.Errorf("%d claims of a lease with worker %d, after worker %d: %s", n, l.Worker(), lost, log.kinds())
			}
			_, l2, _ := keep(t, second, clock, other)
			l2.Close()
			l.Close()
			if n := m.claims(); n != 0 {
				t.Errorf("%d claims are left", n)
			}
		})
	}
}

// TestExcludedSlowly: other pools use all workers, and claims are slow because there are many. A lease
// waits no longer than its Wait, and a try.
func TestExcludedSlowly(t *testing.T) {
	for _, wait := range []time.Duration{-1, 2 * time.Second, 10 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			clock, p := newTestClock(), mustCreate(t, excluding{memlease.New(), slow}, 10_000)
			began := time.Now()
			_, err := try(t, p, clock, Config{Wait: wait})
			var none *NoWorkerError
			if !errors.As(err, &none) || !none.Excluded {
				t.Errorf("Start = %v", err)
			}
			if took, most := time.Since(began), max(wait, 0)+DefaultTimeout+often; took > most {
				t.Errorf("with a wait of %v, Start took %v", wait, took)
			}
		})
	}
}

// slow is the claim of a worker that another store has claimed.
func slow(string, string) (func(), error) {
	time.Sleep(10 * time.Millisecond)
	return nil, driver.ErrConflict
}

// TestExcludedNotBroken: an error of the machine is not a conflict.
func TestExcludedNotBroken(t *testing.T) {
	broken := errors.New("broken")
	clock, p := newTestClock(), mustCreate(t, excluding{memlease.New(), func(string, string) (func(), error) { return nil, broken }}, 4)
	testkit.Is(t, testkit.Err(try(t, p, clock, Config{})), broken, "Start")
}
