// Package minter has a generator for tests of leases. The IDs are plain structs, and a test can
// compare each ID with the lease. The generator knows no format.
package minter

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// Pool is the name of the pool that generators of this package belong to.
const Pool = "minter"

// Workers is the number of workers in the pool.
const Workers = 1024

// layout is what the pool is for.
func layout() grant.Layout {
	return grant.Layout{Format: Pool, Epoch: time.UnixMilli(0).UTC(), Unit: time.Millisecond, Widths: []int{42, 10, 12}, Workers: Workers}
}

// Create creates the pool.
func Create(ctx context.Context, store driver.Store) error {
	_, err := lease.Create(ctx, store, Pool, layout())
	return err
}

// Start returns a generator with a worker of the pool, and the lease of the generator. The pool
// must exist.
func Start(ctx context.Context, store driver.Store, c lease.Config) (*Generator, *lease.Lease, error) {
	return StartAt(ctx, store, time.Now, c)
}

// StartAt is [Start] for a generator that reads the clock.
func StartAt(ctx context.Context, store driver.Store, clock func() time.Time, c lease.Config) (*Generator, *lease.Lease, error) {
	g := &Generator{clock: clock}
	c.Pool = Pool // so that a store of one machine does not create the pool
	l, err := lease.Start(ctx, store, g, c)
	if err != nil {
		return nil, nil, err
	}
	return g, l, nil
}

// An ID is unique if no two leases have overlapping intervals of a worker.
type ID struct {
	Worker   int
	Tick     int64 // in milliseconds since 1970
	Sequence int
}

// ErrEarly reports that the next interval of the generator has not begun.
var ErrEarly = errors.New("the interval has not begun")

// A Generator makes IDs in the intervals that a lease grants. It is safe for concurrent use.
type Generator struct {
	clock func() time.Time

	mu      sync.Mutex
	entered interval // of the IDs that the generator makes
	ahead   interval // after a gap, or of another worker; empty if there is no such interval
	last    ID
	refusal error
	sealed  bool
}

// An interval is the ticks of a worker in [from, until).
type interval struct {
	worker      int
	from, until int64
}

// TryNext returns an ID at the time of the clock. The error is [ErrEarly] or the error that the
// lease has set.
func (g *Generator) TryNext() (ID, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.sealed {
		return ID{}, g.refusal
	}
	tick := max(g.clock().UnixMilli(), g.last.Tick)
	if g.ahead.until > 0 && tick >= g.ahead.from {
		g.entered, g.ahead = g.ahead, interval{}
	}
	switch {
	case tick < g.entered.until && tick >= g.entered.from:
	case g.refusal != nil:
		return ID{}, g.refusal
	default:
		return ID{}, ErrEarly
	}
	id := ID{Worker: g.entered.worker, Tick: tick}
	if tick == g.last.Tick {
		id.Sequence = g.last.Sequence + 1
	}
	g.last = id
	return id, nil
}

// Next is like [Generator.TryNext], but waits until the interval begins.
func (g *Generator) Next() (ID, error) {
	for {
		id, err := g.TryNext()
		if !errors.Is(err, ErrEarly) {
			return id, err
		}
		time.Sleep(time.Millisecond)
	}
}

// ForLease implements [lease.Generator].
func (g *Generator) ForLease() grant.Grantee { return g }

// Pool implements [grant.Grantee].
func (g *Generator) Pool() (grant.Spec, error) {
	return grant.Spec{Name: Pool, Layout: layout()}, nil
}

// Now implements [grant.Grantee].
func (g *Generator) Now() time.Time { return g.clock() }

// Grant implements [grant.Grantee].
func (g *Generator) Grant(worker int, from, until time.Time) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	next := interval{worker, from.Add(time.Millisecond - 1).UnixMilli(), until.UnixMilli()}
	next.from = max(next.from, g.entered.until)
	if g.sealed || next.until <= next.from {
		return nil
	}
	switch {
	case g.ahead.until == next.from && g.ahead.worker == worker:
		g.ahead.until = next.until
	case g.entered.until == next.from && g.entered.worker == worker:
		g.entered.until, g.ahead = next.until, interval{}
	default:
		g.ahead = next
	}
	g.refusal = nil
	return nil
}

// Withdraw implements [grant.Grantee].
func (g *Generator) Withdraw() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.ahead = interval{}
	return time.UnixMilli(g.entered.until)
}

// Refuse implements [grant.Grantee].
func (g *Generator) Refuse(why error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.sealed {
		g.refusal = why
	}
}

// Delay implements [grant.Grantee].
func (g *Generator) Delay(why error) { g.Refuse(why) }

// Seal implements [grant.Grantee].
func (g *Generator) Seal(why error) time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.sealed {
		g.sealed, g.refusal = true, why
	}
	return time.UnixMilli(g.last.Tick + 1)
}
