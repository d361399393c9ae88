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
	"github.com/firn-id/firn/server/internal/supply"
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
	p := &Plan{Config: c.withDefaults(), Makes: made.plans}
	p.readFiles()
	look := looker{opened: map[string]*look{}}
	var looks sync.WaitGroup
	for i := range p.Makes {
		if g := &p.Makes[i]; g.Leases > 0 {
			looks.Go(func() { g.Exists, g.Err = look.at(ctx, made.Generators[i], g.PoolName, made.pools[i], made.Lease) })
		}
	}
	looks.Wait()
	look.close()
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

// A looker looks into stores, each of which is opened once.
type looker struct {
	mu     sync.Mutex
	opened map[string]*look
}

type look struct {
	once  sync.Once
	store driver.Store // nil with an error, or if there is no directory yet
	err   error
}

// patience is how long Plan waits for a store.
const patience = 5 * time.Second

// at reports whether a pool exists. The error says why a server would get no worker.
func (l *looker) at(ctx context.Context, g supply.Generator, pool string, spec grant.Spec, c lease.Config) (exists bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	l.mu.Lock()
	at := l.opened[g.Store]
	if at == nil {
		at = new(look)
		l.opened[g.Store] = at
	}
	l.mu.Unlock()
	at.once.Do(func() { at.store, at.err = g.Open(ctx) })
	makes := g.Create || pool == spec.Name // a store of one machine needs no Create
	switch {
	case at.err != nil:
		return false, at.err
	case at.store == nil && makes:
		return false, nil
	case at.store == nil:
		return false, fmt.Errorf("pool %s: %w: create it (lease.Create), or set create = true", pool, lease.ErrNoPool)
	}
	local, ok := at.store.(driver.Local)
	p, err := lease.Open(ctx, at.store, pool, spec.Layout)
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

func (l *looker) close() {
	for _, at := range l.opened {
		if at.store != nil {
			at.store.Close()
		}
	}
}

// Leases returns the generators that lease workers, in the order of the Config. It looks into no store. The error is that
// of [Config.Check].
func (c *Config) Leases() ([]PlannedGenerator, error) {
	made, err := c.generators()
	return slices.DeleteFunc(made.plans, func(g PlannedGenerator) bool { return g.Leases == 0 }), err
}
