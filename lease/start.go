package lease

import (
	"cmp"
	"context"
	"reflect"
	"sync"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// A Generator is a generator for a lease. The generators of all formats are Generators;
// set Leased in their Config. A program's own generator becomes a Generator by its method ForLease.
type Generator interface {
	// ForLease returns the methods that a lease calls.
	ForLease() grant.Grantee
}

// Start leases a worker for the generator, and renews the lease until Close. When Start returns
// without an error, the generator can mint. The context bounds Start only: the lease goes on after
// the context ends.
//
// Start takes the worker from the pool Config.Pool, or else from the generator's own pool (see
// [grant.Spec]). If the store has no such pool, the error is [ErrNoPool], with two exceptions. Start
// creates any missing pool if Config.Create is set. And in a store of one machine (a
// [driver.Local]), Start creates the generator's own pool. The event [Created] reports a new pool.
//
// If all workers are taken, Start waits for at most Config.Wait. The errors of Start are:
//
//   - *[NoWorkerError], or *[HeldError] for a chosen worker: no worker came free in time
//   - *[SkewError]: the clock is wrong
//   - [ErrNoPool], or *[MismatchError] for a pool of other IDs than the generator's
//   - [ErrMissing], [ErrDamaged], [ErrRecovering], [ErrRolledBack] or [ErrVersion]: the state of the
//     pool's records
//   - *[driver.Error]: the store failed
//   - [ErrConfig] for a setting in Config
//   - [ErrLeased] if the generator has a lease
//   - an error of the generator, such as *iderr.ConfigError for a generator made without Leased
//   - the error of the context
//
// With Config.Background, Start does not wait for the store: see there. A program that also has to
// open its store through an outage calls [OpenAndStart].
//
// A generator has one lease in its life, and ends with the lease. To start again, make
// another generator.
func Start(ctx context.Context, store driver.Store, generator Generator, c Config) (*Lease, error) {
	l, free, err := prepare(generator, c)
	if err != nil {
		return nil, err
	}
	l.store, l.within = store, l.config.timed(store)
	return l.start(ctx, free)
}

// OpenAndStart opens a store, and calls [Start]. The lease owns the store, and closes the store when
// the lease is closed. Open returns a store that nothing else closes, such as
//
//	func(ctx context.Context) (driver.Store, error) { return lease.OpenStore(ctx, address) }
//
// With Config.Background, OpenAndStart does not wait for the store: the lease calls open in the
// background, until open succeeds. A call has a context of five times Config.Timeout. Without
// Background, open is called once, and its error is the error of OpenAndStart.
func OpenAndStart(ctx context.Context, open func(context.Context) (driver.Store, error), generator Generator, c Config) (*Lease, error) {
	l, free, err := prepare(generator, c)
	if err != nil {
		return nil, err
	}
	l.opener = newOpener(open, l.config)
	if !c.Background {
		store, err := open(ctx)
		if err != nil {
			free()
			return nil, err
		}
		l.keepStore(store)
	}
	return l.start(ctx, free)
}

// prepare makes a lease for a generator, after all checks that need no store. Call free if the lease
// does not start.
func prepare(generator Generator, c Config) (l *Lease, free func(), err error) {
	g := generator.ForLease()
	wanted, err := g.Pool()
	if err != nil {
		return nil, nil, err
	}
	if c.clock == nil {
		c.clock = g.Now
	}
	if c, err = c.settle(wanted.Layout); err != nil {
		return nil, nil, err
	}
	name := cmp.Or(c.Pool, wanted.Name)
	if err := cmp.Or(checkName(name), checkLayout(wanted.Layout)); err != nil {
		return nil, nil, err
	}
	if free, err = engage(generator); err != nil {
		return nil, nil, err
	}
	l = newLease(name, g, c)
	l.wanted = wanted
	return l, free, nil
}

// start takes the first worker, or lets the lease's goroutine do so, and keeps the worker.
func (l *Lease) start(ctx context.Context, free func()) (*Lease, error) {
	err := ctx.Err()
	switch {
	case l.config.Background && err == nil:
		l.startSearch()
	case err == nil:
		err = l.keep(ctx)
	}
	if err != nil {
		l.closeStore()
		free()
		return nil, err
	}
	l.goOn(ctx, free)
	return l, nil
}

// openPool opens the store, if the lease has to, and the pool.
func (l *Lease) openPool(ctx context.Context) error {
	if l.store == nil {
		store, err := l.opener.open(ctx)
		if err != nil {
			return err
		}
		l.keepStore(store)
	}
	var p *Pool
	var created bool
	var err error
	local, ok := l.store.(driver.Local)
	if l.config.Create || ok && local.Local() && l.config.Pool == "" {
		p, l.opened, created, err = openOrCreate(ctx, l.within, l.name, l.wanted.Layout, l.config.clock())
	} else {
		p, l.opened, err = open(ctx, l.within, l.name, l.wanted.Layout)
	}
	if err != nil {
		return err
	}
	p.store = l.store
	l.use(p, l.within)
	if created {
		l.notify(Event{Kind: Created, Worker: -1})
	}
	return nil
}

// engaged has the generators that have leases.
var engaged sync.Map

// engage notes that a lease has the generator, until free is called. The error is ErrLeased if another
// lease has the generator. The generator would get the intervals of both leases, of which each gives
// back what the generator has from the other.
func engage(generator Generator) (free func(), err error) {
	if !reflect.TypeOf(generator).Comparable() {
		return func() {}, nil
	}
	if _, found := engaged.LoadOrStore(generator, true); found {
		return nil, ErrLeased
	}
	return func() { engaged.Delete(generator) }, nil
}
