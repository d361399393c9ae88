package lease

import (
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
//   - [ErrMissing], [ErrDamaged], [ErrRescuing], [ErrRolledBack] or [ErrVersion]: the state of the
//     pool's records
//   - *[driver.Error]: the store failed
//   - [ErrConfig] for a setting in Config
//   - [ErrLeased] if the generator has a lease
//   - an error of the generator, such as *iderr.ConfigError for a generator made without Leased
//   - the error of the context
//
// A generator has one lease in its life, and ends with the lease. To start again, make
// another generator.
func Start(ctx context.Context, store driver.Store, generator Generator, c Config) (*Lease, error) {
	g := generator.ForLease()
	wanted, err := g.Pool()
	if err != nil {
		return nil, err
	}
	if c.clock == nil {
		c.clock = g.Now
	}
	name := wanted.Name
	local, ok := store.(driver.Local)
	create := c.Create || ok && local.Local() && c.Pool == ""
	if c.Pool != "" {
		name = c.Pool
	}
	if c, err = c.settle(wanted.Layout); err != nil {
		return nil, err
	}
	within := c.timed(store)
	var p *Pool
	if create {
		p, c.created, err = openOrCreate(ctx, within, name, wanted.Layout)
	} else {
		p, err = Open(ctx, within, name, wanted.Layout)
	}
	if err != nil {
		return nil, err
	}
	p.store = store
	free, err := engage(generator)
	if err != nil {
		return nil, err
	}
	l, err := p.keep(ctx, within, g, c)
	if err != nil {
		free()
		return nil, err
	}
	l.goOn(ctx, free)
	return l, nil
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
