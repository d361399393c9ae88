package drivertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// RunLeases tests leases on a store, with a simple generator of its own. Each check calls newSpace
// once, and is a subtest:
//
//	Pool      a pool is created once, and all handles see the pool
//	Held      a worker that one process holds is refused to another process
//	Handover  processes take the same worker one after another, and no ID comes twice
//	Workers   processes at the same time have different workers, and give all workers back
//	Renewal   a lease is renewed while the generator mints
//	Regained  a lease confirms its worker; not while another lease holds the worker, and afterwards only since the return,
//	          in a store that is a driver.Confirmer
//	Skew      a clock that disagrees with the store's clock is refused, in a store that is a driver.Clock
//
// RunLeases takes about five seconds, and closes all handles.
func RunLeases(t *testing.T, newSpace func(t *testing.T) (open func() driver.Store)) {
	run(t, leaseChecks, newSpace, nil)
}

var leaseChecks = []check{
	{"Pool", pool},
	{"Held", held},
	{"Handover", handover},
	{"Workers", workers},
	{"Renewal", renewal},
	{"Regained", regained},
	{"Skew", skew},
}

// The windows of leases in the tests. A lease with a long window needs no renewal: a busy machine may
// take seconds for a request, and may stand still itself.
const (
	longWindow  = wait.Patience
	shortWindow = 4 * time.Second
)

// config returns the settings of a lease without a wait for a worker, with a first window as long
// as the others.
func config(worker lease.Choice, window time.Duration) lease.Config {
	return lease.Config{Worker: worker, Window: window, First: window, Timeout: window, Wait: -1}
}

// create creates the pool of the tests.
func (s *space) create(h driver.Store) {
	s.Helper()
	if err := minter.Create(s.Context(), h); err != nil {
		s.Fatalf("creating a pool: %v", err)
	}
}

// A process is a generator with a lease, on a handle of their own.
type process struct {
	*minter.Generator
	lease  *lease.Lease
	handle driver.Store
}

// start starts a process. The test must end the process.
func (s *space) start(c lease.Config) *process {
	s.Helper()
	p := &process{handle: s.fresh()}
	var err error
	if p.Generator, p.lease, err = minter.Start(s.Context(), p.handle, c); err != nil {
		p.handle.Close()
		s.Fatalf("taking a lease: %v", err)
	}
	s.Cleanup(func() { p.lease.Close() })
	return p
}

// end ends a process, whose lease must have had no trouble.
func (s *space) end(p *process) {
	s.Helper()
	if err := p.lease.Err(); err != nil {
		s.Errorf("renewing the lease: %v", err)
	}
	if err := p.lease.Close(); err != nil {
		s.Errorf("closing the lease: %v", err)
	}
	if err := p.handle.Close(); err != nil {
		s.Errorf("Close: %v", err)
	}
}

// An idSet is the IDs that a test has seen.
type idSet map[minter.ID]bool

// mint makes an ID, and adds the ID.
func (seen idSet) mint(s *space, p *process) {
	s.Helper()
	id, err := p.Next()
	seen.add(s, p, id, err)
}

// add adds an ID that a process has made. The ID must be new and of the lease's worker.
func (seen idSet) add(s *space, p *process, id minter.ID, err error) {
	s.Helper()
	if err != nil || seen[id] || id.Worker != p.lease.Worker() {
		s.Fatalf("an ID of worker %d: %+v, %v; seen before: %v", p.lease.Worker(), id, err, seen[id])
	}
	seen[id] = true
}

// pool creates a pool by one handle, and opens the pool by another.
func pool(s *space) {
	h, other := s.open(), s.open()
	if _, _, err := minter.Start(s.Context(), h, lease.Config{}); !errors.Is(err, lease.ErrNoPool) {
		s.Errorf("a lease of a pool that was not created: %v; want an error that is ErrNoPool", err)
	}
	s.create(h)
	for _, h := range []driver.Store{h, other} {
		if err := minter.Create(s.Context(), h); !errors.Is(err, lease.ErrPoolExists) {
			s.Errorf("creating the pool again: %v; want an error that is ErrPoolExists", err)
		}
		if names, err := lease.Names(s.Context(), h); err != nil || len(names) != 1 || names[0] != minter.Pool {
			s.Errorf("the store has the pools %q, %v; want %q", names, err, minter.Pool)
		}
	}
}

// held has a process ask for the worker of another process.
func held(s *space) {
	s.create(s.open())
	seen := make(idSet)
	first := s.start(config(lease.Number(7), longWindow))
	if _, second, err := minter.Start(s.Context(), s.open(), config(lease.Number(7), longWindow)); !errors.Is(err, lease.ErrHeld) {
		if second != nil {
			second.Close()
		}
		s.Errorf("a lease of a worker that is held: %v; want an error that is ErrHeld", err)
	}
	seen.mint(s, first)
	s.end(first)
}

// handover has processes take the same worker, each as soon as the last process has ended.
func handover(s *space) {
	s.create(s.open())
	seen := make(idSet)
	for range 4 {
		p := s.start(config(lease.Number(7), longWindow))
		if p.lease.Worker() != 7 {
			s.Fatalf("the lease has worker %d, want 7", p.lease.Worker())
		}
		for range 10_000 {
			seen.mint(s, p)
		}
		s.end(p)
		if _, err := p.Next(); !errors.Is(err, lease.ErrClosed) {
			s.Errorf("after Close: %v, want an error that is ErrClosed", err)
		}
	}
}

// workers has three processes at a time, three times.
func workers(s *space) {
	h := s.open()
	s.create(h)
	seen := make(idSet)
	for range 3 {
		taken := make(map[int]bool)
		var running []*process
		for range 3 {
			p := s.start(config(lease.Choice{}, longWindow))
			if taken[p.lease.Worker()] {
				s.Fatalf("two leases have worker %d", p.lease.Worker())
			}
			taken[p.lease.Worker()] = true
			for range 1000 {
				seen.mint(s, p)
			}
			running = append(running, p)
		}
		for _, p := range running {
			s.end(p)
		}
	}
	p, err := lease.Lookup(s.Context(), h, minter.Pool)
	if err != nil {
		s.Fatalf("looking up the pool: %v", err)
	}
	used, _, err := p.Workers(s.Context())
	if err != nil || len(used) < 3 {
		s.Errorf("%d workers were used, %v; want 3 or more", len(used), err)
	}
	for _, w := range used {
		if w.Held {
			s.Errorf("worker %d is held, but all leases are closed", w.Number)
		}
	}
}

// renewal has two processes with the same worker in turn. Each process lives for several renewals. A
// store or a machine that stands still for a window fences a process. The process then goes on. A store
// that answers with an error fails the check at once.
func renewal(s *space) {
	s.create(s.open())
	seen := make(idSet)
	for range 2 {
		p := s.start(config(lease.Number(7), shortWindow))
		until := p.lease.Until()
		for range 2 {
			wait.Until(s.TB, "the lease is renewed", func() bool {
				id, err := p.Next()
				answered := errors.Is(err, driver.ErrUnavailable) && !errors.Is(err, context.DeadlineExceeded)
				if errors.Is(err, lease.ErrLeaseExpired) && !answered {
					return false
				}
				seen.add(s, p, id, err)
				return !p.lease.Until().Equal(until)
			})
			until = p.lease.Until()
		}
		s.end(p)
	}
}

// skew has a clock that is an hour ahead of the store's.
func skew(s *space) {
	h := s.open()
	if _, ok := h.(driver.Clock); !ok {
		s.Skip("the store has no time of its own")
	}
	s.create(h)
	_, l, err := minter.StartAt(s.Context(), h, func() time.Time { return time.Now().Add(time.Hour) }, lease.Config{})
	if skewed, ok := errors.AsType[*lease.SkewError](err); !ok || !skewed.OfStore {
		if l != nil {
			l.Close()
		}
		s.Errorf("a lease with a clock that is an hour ahead: %v; want a *lease.SkewError of the store's time", err)
	}
}
