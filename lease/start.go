package lease

import (
	"context"

	"github.com/firn-id/firn/allot"
	"github.com/firn-id/firn/lease/driver"
)

// A Generator is a generator that a lease can serve: one of any format, made with Config.Leased, or
// a program's own.
type Generator interface {
	// ForLease returns the generator as its lease sees it.
	ForLease() allot.Generator
}

// Start leases a worker for the generator, and renews the lease until Close. Start returns when the
// generator can mint.
//
// The worker is of the pool that the generator names, or of Config.Pool. If the store has no such
// pool, Start creates the pool that the generator names if the store is of one machine (a
// [driver.Local]), and any pool if Config.Create is set. Otherwise Start returns an error that is
// [ErrNoPool].
//
// Start waits for Config.Wait if all workers are taken. Its errors are a *[NoWorkerError], a
// *[HeldError], a *[SkewError], a *[MismatchError] if the pool was created for other IDs than the
// generator makes, errors that are [ErrConfig], a *[driver.Error] of the store and its records,
// and those of the generator: a *iderr.ConfigError if the generator was not made to be leased.
//
// A generator has one lease. The generator ends with the lease: make another generator to start
// again.
func Start(ctx context.Context, store driver.Store, generator Generator, c Config) (*Lease, error) {
	g := generator.ForLease()
	wanted, err := g.Pool()
	if err != nil {
		return nil, err
	}
	if c.clock == nil {
		c.clock = g.Now
	}
	open, name := Open, wanted.Name
	local, ok := store.(driver.Local)
	if c.Create || ok && local.Local() && c.Pool == "" {
		open = OpenOrCreate
	}
	if c.Pool != "" {
		name = c.Pool
	}
	settled, err := c.settle(wanted.Layout)
	if err != nil {
		return nil, err
	}
	p, err := open(ctx, timed{store, settled.world, settled.Timeout, nil, new(turn)}, name, wanted.Layout)
	if err != nil {
		return nil, err
	}
	p.store = store
	return p.start(ctx, g, c)
}
