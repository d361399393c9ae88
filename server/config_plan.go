package server

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/server/internal/access"
	"github.com/firn-id/firn/server/internal/certs"
)

// A Plan is what a server of a [Config] would do, with the faults that stand in its way.
type Plan struct {
	Config                     // with the defaults
	Expires time.Time          // the end of the certificate's validity; zero without TLS
	Known   int                // how many tokens the file has; -1 for a file with a fault
	Makes   []PlannedGenerator // in the order of the Config
	Faults  []error            // of the certificate and the tokens
}

// A PlannedGenerator is a generator of a [Plan].
type PlannedGenerator struct {
	Generator
	Leases    int    // how many workers the generator leases; 0 for a generator without leases
	PoolName  string // the pool of the workers
	StoreName string // where the pool is, without secrets
	Exists    bool   // the pool is there
	Err       error  // why the generator will make no IDs, or nil
}

// Plan says what a server would do. Plan reads the files of the certificate and the tokens, and looks into the stores,
// where it makes and leases nothing. In a Config for Plan, OpenStore returns a nil store for a directory that does not
// exist and that a server would make. The error is that of [Config.Check].
func (c *Config) Plan(ctx context.Context) (*Plan, error) {
	made, err := c.check()
	if err != nil {
		return nil, err
	}
	p, leases := &Plan{Config: c.withDefaults(), Makes: made.plans}, made.Lease
	p.readFiles()
	var looks sync.WaitGroup
	stores := map[string]func() (driver.Store, error){}
	for i := range p.Makes {
		g, made, spec := &p.Makes[i], made.Generators[i], made.pools[i]
		if g.Leases == 0 {
			continue
		}
		if stores[made.Store] == nil {
			stores[made.Store] = sync.OnceValues(func() (driver.Store, error) {
				ctx, cancel := context.WithTimeout(ctx, patience)
				defer cancel()
				return made.Open(ctx)
			})
		}
		open := stores[made.Store]
		looks.Go(func() { g.Exists, g.Err = look(ctx, open, g, spec, leases) })
	}
	looks.Wait()
	for _, open := range stores {
		if store, err := open(); err == nil && store != nil {
			store.Close()
		}
	}
	return p, nil
}

// readFiles reads the files of the certificate and the tokens.
func (p *Plan) readFiles() {
	if p.TLS.Cert != "" {
		if c, err := p.certificate(nil); err != nil {
			p.Faults = append(p.Faults, err)
		} else {
			p.Expires = c.Expires()
		}
	}
	if p.Tokens != "" {
		if a, err := p.access(nil); err != nil {
			p.Faults, p.Known = append(p.Faults, err), -1
		} else {
			p.Known = a.Tokens()
		}
	}
}

// access reads the tokens of a Config with its defaults. reloaded, if not nil, gets the result of each later reading.
func (c *Config) access(reloaded func(error)) (*access.Access, error) {
	var names []string
	for _, g := range c.Generators {
		names = append(names, g.Name)
	}
	a, err := access.New(access.Config{Path: c.Tokens, Burst: c.Limits.IDs, Generators: names, Log: c.Log, Reloaded: reloaded})
	return a, c.fileError(err)
}

// certificate reads the certificate of a Config with its defaults, as access reads the tokens.
func (c *Config) certificate(reloaded func(error)) (*certs.Certs, error) {
	t, err := certs.New(c.TLS.Cert, c.TLS.Key, c.TLS.CA, c.Log, reloaded)
	return t, c.fileError(err)
}

// patience is how long Plan waits for a store to open, and then for its answers.
const patience = 5 * time.Second

// look reports whether the pool of a generator exists. open returns nil if there is no directory yet. The error says why
// a server would get no worker.
func look(ctx context.Context, open func() (driver.Store, error), g *PlannedGenerator, spec grant.Spec, c lease.Config) (exists bool, err error) {
	store, err := open()
	if err != nil {
		return false, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	makes := g.Create || g.PoolName == spec.Name // a store of one machine needs no Create
	switch {
	case store == nil && makes:
		return false, nil
	case store == nil:
		return false, fmt.Errorf("pool %s: %w: create it (lease.Create), or set create = true", g.PoolName, lease.ErrNoPool)
	}
	local, ok := store.(driver.Local)
	p, err := lease.Open(ctx, store, g.PoolName, spec.Layout)
	if errors.Is(err, lease.ErrNoPool) && (g.Create || ok && local.Local() && makes) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if skew, ok := errors.AsType[*lease.SkewError](p.CheckClock(ctx, c)); ok {
		return true, skew
	}
	return true, nil // other errors of records keep a server from some workers only
}

// Leases returns the generators that lease workers, in the order of the Config. It looks into no store. The error is that
// of [Config.Check].
func (c *Config) Leases() ([]PlannedGenerator, error) {
	made, err := c.generators()
	return slices.DeleteFunc(made.plans, func(g PlannedGenerator) bool { return g.Leases == 0 }), err
}
