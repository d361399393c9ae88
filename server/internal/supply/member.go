package supply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/usage"
)

// A member is one worker of a [Source]: a generator, and the lease of the generator.
type member struct {
	source *Source
	now    atomic.Pointer[making]

	mu     sync.Mutex
	before usage.Usage // of the generators before the present one
	leases lease.Stats // the counters of the leases before the present one
}

// A making is a generator of a member. A generator ends with its lease, and the member makes another.
type making struct {
	generator shape.Generator
	held      atomic.Pointer[lease.Lease] // nil before the store is open, and without a lease
}

// errSetup marks the error of a lease that has ended for a reason that only an operator can mend.
var errSetup = errors.New("the lease has ended, and is tried again")

// retry is the pause between the end of a lease and the next lease, and the longest pause between tries to open a store.
const retry = 5 * time.Second

// renew makes another generator for the member.
func (m *member) renew() error {
	g, err := m.source.Format.Descriptor().New(m.source.Recipe)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if old := m.now.Load(); old != nil {
		m.before = sum(m.before, old.generator.Usage())
		if held := old.held.Load(); held != nil {
			m.leases = together(m.leases, held.Stats())
		}
	}
	m.now.Store(&making{generator: g})
	return nil
}

// stats returns the present generator and its lease or nil, what all generators of the member have done, and the numbers
// of the lease with the counters of all leases of the member.
func (m *member) stats() (shape.Generator, *lease.Lease, usage.Usage, lease.Stats) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now.Load()
	held := now.held.Load()
	var s lease.Stats
	if held != nil {
		s = held.Stats()
	}
	return now.generator, held, sum(m.before, now.generator.Usage()), together(m.leases, s)
}

// together adds the counters of earlier leases to those of a lease.
func together(before, s lease.Stats) lease.Stats {
	s.Renewals += before.Renewals
	s.Failures += before.Failures
	return s
}

// sum adds the counters of a generator to those of earlier generators.
func sum(before, u usage.Usage) usage.Usage {
	u.IDs += before.IDs
	u.Worst = max(u.Worst, before.Worst)
	u.Waits += before.Waits
	u.Exhausted += before.Exhausted
	u.ClockSteps += before.ClockSteps
	return u
}

// run leases workers for the member until the Set is closed.
func (m *member) run() {
	ctx := m.source.life
	for {
		err := m.lease(ctx)
		if ctx.Err() != nil {
			return
		}
		if err := m.renew(); err != nil { // as good as impossible: the settings were accepted before
			m.tell(err)
		}
		m.now.Load().generator.ForLease().Refuse(fmt.Errorf("%w: %w: %w", iderr.ErrFenced, errSetup, err))
		if pause.For(ctx, retry) != nil {
			return
		}
	}
}

// lease holds a lease of the member's generator, and returns why the lease has ended.
func (m *member) lease(ctx context.Context) error {
	s, now := m.source, m.now.Load()
	store, err := m.open(ctx)
	if err != nil {
		return err
	}
	c := s.lease
	c.Pool, c.Create, c.Background = s.Pool, s.Create, true
	if s.notify != nil {
		c.Notify = func(e lease.Event) { s.notify(s, e) }
	}
	held, err := lease.Start(ctx, store, now.generator, c)
	if err != nil {
		m.tell(err)
		return err
	}
	now.held.Store(held)
	select {
	case <-held.Done():
		return held.Err()
	case <-ctx.Done():
	}
	err = held.Close()
	<-held.Done() // a lease that was starting gives back a worker that came late
	return err
}

// open opens the store, however long that takes.
func (m *member) open(ctx context.Context) (driver.Store, error) {
	began := time.Now()
	m.delay(began, nil)
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, retry) {
		store, err := m.source.store.get(ctx)
		if err == nil {
			return store, nil
		}
		m.tell(err)
		m.delay(began, err)
		if err := pause.For(ctx, wait); err != nil {
			return nil, err
		}
	}
}

// delay makes callers wait for the first worker. cause is why the last try has failed.
func (m *member) delay(since time.Time, cause error) {
	g := m.now.Load().generator
	g.ForLease().Delay(&lease.StartingError{Pool: m.source.poolName(g), Since: since, Cause: cause})
}

// tell counts and tells the error of a lease that does not start.
func (m *member) tell(err error) {
	m.mu.Lock()
	m.leases.Failures++
	m.mu.Unlock()
	if m.source.failed != nil {
		m.source.failed(m.source, err)
	}
}

// clock returns the time of the generator's clock.
func (s *Source) clock() time.Time {
	if s.Recipe.Clock != nil {
		return s.Recipe.Clock()
	}
	return time.Now()
}

// poolName returns the name of the pool that the generator's lease takes.
func (s *Source) poolName(g shape.Generator) string {
	if s.Pool != "" {
		return s.Pool
	}
	spec, _ := g.ForLease().Pool()
	return spec.Name
}

// An opened is a store that generators share: a program has one connection to a store, however many generators it has.
type opened struct {
	open func(context.Context) (driver.Store, error)

	mu    sync.Mutex
	store driver.Store
}

// patience is how long a store may take to open. Members that wait for the store learn the cause at the end.
const patience = 10 * time.Second

// get opens the store, or returns the open store.
func (o *opened) get(ctx context.Context) (driver.Store, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store != nil {
		return o.store, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	store, err := o.open(ctx)
	if err == nil {
		o.store = store
	}
	return store, err
}

func (o *opened) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.store != nil {
		o.store.Close()
	}
}

// A State is how far a worker of a generator has come.
type State string

// The states of a worker.
const (
	Idle     State = "idle"     // no request has come yet
	Starting State = "starting" // the lease has no worker yet
	Ready    State = "ready"    // the generator makes IDs
	Lost     State = "lost"     // the window has ended, and the lease tries to go on
	Ended    State = "ended"    // the lease has ended, and the server tries another
)

// A Worker is a worker of a generator, at one moment.
type Worker struct {
	State  State
	Number int // -1 before the first worker, and without a lease
	Pool   string
	Until  time.Time     // the end of the window; zero without a lease
	Left   time.Duration // how long the worker can go on without the store
	Lease  lease.Stats   // with the counters of earlier leases
	Usage  usage.Usage   // with the counters of earlier generators
	Err    error         // why the state is not Ready, or the error of the last renewal
}

// Workers returns the workers of the generator at this moment.
func (s *Source) Workers() []Worker {
	all := make([]Worker, len(s.members))
	for i, m := range s.members {
		all[i] = m.look()
	}
	return all
}

func (m *member) look() Worker {
	g, held, used, leased := m.stats()
	w := Worker{Number: -1, Usage: used, Lease: leased, Pool: m.source.poolName(g)}
	switch {
	case !m.source.Recipe.Leased:
		w.State, w.Pool = Ready, ""
		return w
	case !m.source.begun.Load():
		w.State = Idle
		return w
	case held == nil:
		w.State = Starting
		_, w.Err = g.Share().TryAppendBinary(nil, 1) // no ID: the generator has no lease
		if errors.Is(w.Err, errSetup) {
			w.State = Ended
		}
		return w
	}
	w.Number, w.Until, w.Left, w.Err = held.Worker(), held.Until(), leased.Left, held.Err()
	switch {
	case w.Left > 0:
		w.State = Ready
	case w.Number < 0:
		w.State = Starting
	default:
		w.State = Lost
	}
	return w
}

// Serving returns an error if no worker of the generator can make IDs: the reason of the first worker.
func (s *Source) Serving() error {
	if s.life.Err() != nil {
		return reason.Draining.New("generator %s: the server is stopping", s.Name)
	}
	if now := s.clock(); now.Before(s.Shape.Start()) || !now.Before(s.Shape.End()) {
		return s.explain(context.Background(), fmt.Errorf("%w: the timestamps go from %v to %v, and the clock says %v",
			iderr.ErrTimeRange, s.Shape.Start(), s.Shape.End(), now.UTC()))
	}
	var first error
	for _, m := range s.members {
		w := m.look()
		switch {
		case w.State == Ready || w.State == Idle:
			return nil
		case first != nil:
		case w.State == Starting && w.Err != nil && !errors.Is(w.Err, lease.ErrStarting): // the error of the last try
			first = fmt.Errorf("%w: %w", lease.ErrStarting, w.Err)
		default:
			first = cmp.Or(w.Err, lease.ErrStarting)
		}
	}
	return s.explain(context.Background(), fmt.Errorf("%w: %w", iderr.ErrFenced, first))
}
