package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/options"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/server/internal/settings"
	"github.com/firn-id/firn/server/internal/supply"
)

// generators are the generators of a Config, and in the same order what they lease.
type generators struct {
	supply.Config
	plans []PlannedGenerator
	pools []grant.Spec // the zero Spec for a generator without leases
}

// generators returns the generators of the Config, or a *[ConfigError].
func (c *Config) generators() (s generators, err error) {
	d := c.withDefaults()
	s.Wait = d.Limits.Wait
	s.Lease = lease.Config{Window: d.Lease.Window, Holder: d.Lease.Holder, TrustClock: d.Lease.TrustClock}
	stores := storeNames{"": d.DefaultStore}
	if c.OpenStore == nil { // DefaultStore is an address, which may have a secret
		stores = storeNames{}
		stores[""] = stores.of(d.DefaultStore)
	}
	names, keys, pools := map[string]bool{}, map[string]string{}, poolUses{}
	for _, g := range d.Generators {
		if err := c.checkNames(&g, names, keys); err != nil {
			return s, err
		}
		made, spec, err := c.generator(&g)
		if err != nil {
			return s, err
		}
		plan := PlannedGenerator{Generator: g}
		if made.Recipe.Leased {
			made.Store = stores.of(g.Store)
			made.Open = func(ctx context.Context) (driver.Store, error) { return d.OpenStore(ctx, g.Store) }
			plan.Leases, plan.PoolName, plan.StoreName = made.Workers, cmp.Or(g.Pool, spec.Name), made.Store
			if err := pools.add(c, &plan, spec.Layout); err != nil {
				return s, err
			}
		}
		s.Generators, s.plans, s.pools = append(s.Generators, made), append(s.plans, plan), append(s.pools, spec)
	}
	return s, nil
}

// checkNames checks the name and the keys of a generator beside those of the generators before.
func (c *Config) checkNames(g *Generator, names map[string]bool, keys map[string]string) error {
	switch {
	case driver.CheckName(strings.ReplaceAll(g.Name, ":", "-")) != nil:
		return c.generatorError(g, "", "is no name of a generator: want 1 to %d lower-case letters, digits, '.', '_', '@', "+
			"':' and '-', without a '.' at the beginning", driver.MaxName)
	case names[g.Name]:
		return c.generatorError(g, "", "is given twice: give one of the generators another name")
	}
	names[g.Name] = true
	for _, k := range g.Keys {
		odd := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
		switch {
		case !strings.HasSuffix(k, "*") || strings.Count(k, "*") > 1:
			return c.generatorError(g, "keys", "%q is no pattern: want one '*', at the end, as in order:*", clip(k))
		case strings.ContainsFunc(k, odd) || len(k) > driver.MaxName:
			return c.generatorError(g, "keys", "%q is no pattern: want at most %d printable bytes", clip(k), driver.MaxName)
		case keys[k] == g.Name:
			return c.generatorError(g, "keys", "%q is given twice: leave out one of the two", k)
		case keys[k] != "":
			return c.generatorError(g, "keys", "%q is a pattern of the generator %s too: leave out one of the two", k, keys[k])
		}
		keys[k] = g.Name
	}
	return nil
}

// storeNames are the names of stores for people, by their addresses. Equal names are the same store.
type storeNames map[string]string

// of returns the name of the store of an address: the address without its settings and secrets, and a number if
// another address has the same name.
func (n storeNames) of(addr string) string {
	if scheme, rest, err := driver.SplitAddress(addr); err == nil {
		addr = scheme + "://" + rest // of all spellings
	}
	if name, ok := n[addr]; ok {
		return name
	}
	base := ""
	if a, err := address.ParseAlone(addr); err == nil {
		base = a.String()
	}
	name := base
	for i := 2; slices.Contains(slices.Collect(maps.Values(n)), name); i++ {
		name = fmt.Sprintf("%s (%d)", base, i)
	}
	n[addr] = name
	return name
}

// generator returns a generator of the Config, and its pool if it leases workers.
func (c *Config) generator(g *Generator) (made supply.Generator, pool grant.Spec, err error) {
	format, ok := inspect.Lookup(g.Format)
	if !ok {
		return made, pool, c.unknownFormat(g)
	}
	d := format.Descriptor()
	r, err := g.options().Recipe(d)
	if err != nil {
		return made, pool, c.optionError(g, err)
	}
	if r.Leased, err = c.checkLease(g, d, r.Settings); err != nil {
		return made, pool, err
	}
	generator, err := d.New(r)
	if err == nil && r.Leased {
		pool, err = generator.ForLease().Pool()
	}
	made = supply.Generator{Name: g.Name, Format: format, Recipe: r, Workers: max(g.Workers, 1),
		Pool: g.Pool, Create: g.Create, Keys: g.Keys}
	return made, pool, c.optionError(g, err)
}

// unknownFormat returns the error of a generator without a format, or with an unknown one.
func (c *Config) unknownFormat(g *Generator) error {
	if g.Format == "" {
		return c.generatorError(g, "format", "is missing: want a format, as in format = \"nanoflake\"")
	}
	var names []string
	for _, f := range inspect.Formats() {
		names = append(names, f.Name())
	}
	near := settings.Suggest(g.Format, names, "the formats are ")
	return c.generatorError(g, "format", "unknown format %q: %s", clip(g.Format), near)
}

// options returns the options of the format that are given.
func (g *Generator) options() *options.Set {
	s := &options.Set{Epoch: g.Epoch, Micro: g.Micro, Reset: g.Reset, Fenced: g.Fenced, Numbers: map[string]int{}}
	for name, n := range map[string]int{"clock-bits": g.ClockBits, "counter-bits": g.CounterBits, "node-bits": g.NodeBits,
		"increment-bits": g.IncrementBits, "meta": g.Meta} {
		if n != 0 {
			s.Numbers[name] = n
		}
	}
	for name, n := range map[string]*int{"machine-bits": g.MachineBits, "start-bits": g.StartBits} {
		if n != nil {
			s.Numbers[name] = *n
		}
	}
	return s
}

// optionError returns an error of a format's options as the error of a setting. A nil error is nil.
func (c *Config) optionError(g *Generator, err error) error {
	bad, ok := errors.AsType[*options.Error](err)
	switch {
	case err == nil:
		return nil
	case !ok:
		return c.generatorError(g, "", "%v", err)
	case bad.Value == "":
		return c.generatorError(g, bad.Option, "%s", bad.Reason)
	}
	return c.generatorError(g, bad.Option, "%s %s", bad.Value, bad.Reason)
}

// checkLease checks the settings for leases, and reports whether the generator leases workers, or its times.
func (c *Config) checkLease(g *Generator, d *shape.Format, set shape.Settings) (leases bool, err error) {
	form, err := d.Of(set)
	if err != nil {
		return false, err
	}
	if _, hasWorker := form.LastWorker(); hasWorker || g.Fenced {
		if most := form.Workers(); g.Workers < 0 || g.Workers > most {
			return true, c.generatorError(g, "workers", "%d is not in 1 to %d, the workers of %s", g.Workers, most, g.Format)
		}
		return true, c.checkStore(g)
	}
	for _, o := range []struct {
		setting string
		given   bool
	}{{"workers", g.Workers != 0}, {"store", g.Store != ""}, {"pool", g.Pool != ""}, {"create", g.Create}} {
		if o.given {
			return false, c.generatorError(g, o.setting, "%s has no worker, and leases nothing: leave out %s, "+
				"or add fenced = true to lease its times", g.Format, o.setting)
		}
	}
	return false, nil
}

// checkStore checks the address of the store, and the name of the pool.
func (c *Config) checkStore(g *Generator) error {
	addr := g.Store
	if c.OpenStore == nil {
		addr = cmp.Or(addr, c.DefaultStore)
		if addr == "" {
			return c.generatorError(g, "store", "is missing, and there is no default store: give an address")
		}
	}
	if addr != "" {
		if _, err := address.ParseAlone(addr); err != nil {
			text := strings.TrimPrefix(err.Error(), driver.ErrAddress.Error()+": ") // without the address, which may have a secret
			return c.generatorError(g, "store", "is no address of a store: %s", text)
		}
	}
	if g.Pool != "" && driver.CheckName(g.Pool) != nil {
		return c.generatorError(g, "pool", "%q is no name of a pool: want up to %d lower-case letters, digits, "+
			"'.', '_', '@' and '-'", clip(g.Pool), driver.MaxName)
	}
	return nil
}

// poolUses are what generators take from pools, by store and pool.
type poolUses map[[2]string]*poolUse

type poolUse struct {
	first   string // the first generator
	layout  grant.Layout
	workers int
}

// add adds a generator's part of a pool. Generators of one pool have the same layout, and want no more workers than
// the pool has.
func (p poolUses) add(c *Config, g *PlannedGenerator, l grant.Layout) error {
	pool := [2]string{g.StoreName, g.PoolName}
	use := p[pool]
	if use == nil {
		use = &poolUse{first: g.Name, layout: l}
		p[pool] = use
	}
	alike := l.Format == use.layout.Format && l.Epoch.Equal(use.layout.Epoch) && l.Unit == use.layout.Unit &&
		slices.Equal(l.Widths, use.layout.Widths)
	if !alike {
		return c.generatorError(&g.Generator, "pool", "pool %s is for other IDs in the generator %s: give the same format, "+
			"epoch and widths, or another pool", g.PoolName, use.first)
	}
	if use.workers += g.Leases; use.workers > l.Workers {
		return c.generatorError(&g.Generator, "workers", "pool %s has %d workers, and the generators of the pool want %d: "+
			"give fewer workers", g.PoolName, l.Workers, use.workers)
	}
	return nil
}
