package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/server/internal/strict"
	"github.com/firn-id/firn/server/internal/supply"
	"github.com/firn-id/firn/snowflakesi"
)

// supply returns the generators of the Config, or a *[ConfigError].
func (c *Config) supply() (supply.Config, error) {
	d := c.withDefaults()
	s := supply.Config{Wait: d.Limits.Wait,
		Lease: lease.Config{Window: d.Lease.Window, Holder: d.Lease.Holder, TrustClock: d.Lease.TrustClock}}
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
		if made.Recipe.Leased {
			made.Store = stores.of(g.Store)
			made.Open = func(ctx context.Context) (driver.Store, error) { return d.OpenStore(ctx, g.Store) }
			if err := pools.add(c, &g, made, spec); err != nil {
				return s, err
			}
		}
		s.Generators = append(s.Generators, made)
	}
	return s, nil
}

// key returns the key of a setting of the generator in a file.
func (g *Generator) key(setting string) string {
	name := g.Name
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != "" || name == "" {
		name = fmt.Sprintf("%q", clip(name)) // as TOML has names with other characters
	}
	return "generators." + name + "." + setting
}

// checkNames checks the name and the keys of a generator beside those of the generators before.
func (c *Config) checkNames(g *Generator, names map[string]bool, keys map[string]string) error {
	whole := strings.TrimSuffix(g.key(""), ".")
	switch {
	case driver.CheckKey(strings.ReplaceAll(g.Name, ":", "-")) != nil || strings.Contains(g.Name, "/"):
		return c.errorf(whole, "is no name of a generator: want 1 to %d lower-case letters, digits, '.', '_', '@', ':' and '-', without a '.' at the beginning",
			driver.MaxName)
	case names[g.Name]:
		return c.errorf(whole, "is given twice: give one of the generators another name")
	}
	names[g.Name] = true
	for _, k := range g.Keys {
		odd := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
		switch {
		case !strings.HasSuffix(k, "*") || strings.Count(k, "*") > 1:
			return c.errorf(g.key("keys"), "%q is no pattern: want one '*', at the end, as in order:*", clip(k))
		case strings.ContainsFunc(k, odd) || len(k) > driver.MaxName:
			return c.errorf(g.key("keys"), "%q is no pattern: want at most %d printable bytes", clip(k), driver.MaxName)
		case keys[k] == g.Name:
			return c.errorf(g.key("keys"), "%q is given twice: leave out one of the two", k)
		case keys[k] != "":
			return c.errorf(g.key("keys"), "%q is a pattern of the generator %s too: leave out one of the two", k, keys[k])
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
	if err := c.checkOptions(g, d); err != nil {
		return made, pool, err
	}
	r := shape.Recipe{Settings: shape.Settings{Epoch: g.Epoch, ClockBits: g.ClockBits, CounterBits: g.CounterBits, NodeBits: g.NodeBits, Microseconds: g.Micro},
		IncrementBits: g.IncrementBits, StartBits: g.StartBits, Reset: g.Reset, Meta: byte(g.Meta)}
	if g.MachineBits != nil {
		if r.MachineBits = *g.MachineBits; r.MachineBits == 0 {
			r.MachineBits = snowflakesi.NoMachineBits
		}
	}
	form, err := d.Of(r.Settings)
	if err != nil {
		return made, pool, c.setting(g, err)
	}
	_, hasWorker := form.LastWorker()
	r.Leased = hasWorker || g.Fenced
	if err := c.checkLease(g, &form, hasWorker); err != nil {
		return made, pool, err
	}
	generator, err := d.New(r)
	if err != nil {
		return made, pool, c.setting(g, err)
	}
	if r.Leased {
		if pool, err = generator.ForLease().Pool(); err != nil {
			return made, pool, c.setting(g, err)
		}
	}
	return supply.Generator{Name: g.Name, Format: format, Recipe: r, Workers: max(g.Workers, 1), Pool: g.Pool, Create: g.Create, Keys: g.Keys}, pool, nil
}

func (c *Config) unknownFormat(g *Generator) error {
	var names []string
	for _, f := range inspect.Formats() {
		names = append(names, f.Name())
	}
	if near := strict.Nearest(g.Format, names); near != "" {
		return c.errorf(g.key("format"), "unknown format %q: did you mean %s?", clip(g.Format), near)
	}
	return c.errorf(g.key("format"), "unknown format %q: the formats are %s", clip(g.Format), strings.Join(names, ", "))
}

// checkOptions returns an error for a setting that the format does not have, or whose value no format takes.
func (c *Config) checkOptions(g *Generator, d *shape.Format) error {
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"epoch", !g.Epoch.IsZero()}, {"clock-bits", g.ClockBits != 0}, {"machine-bits", g.MachineBits != nil}, {"counter-bits", g.CounterBits != 0},
		{"node-bits", g.NodeBits != 0}, {"micro", g.Micro}, {"increment-bits", g.IncrementBits != 0}, {"start-bits", g.StartBits != nil},
		{"reset", g.Reset}, {"meta", g.Meta != 0},
	} {
		if o.given && !d.Has(o.name) {
			return c.errorf(g.key(o.name), "%s has no such setting: leave it out", d.Name)
		}
	}
	switch {
	case g.Meta < 0 || g.Meta > math.MaxUint8:
		return c.errorf(g.key("meta"), "%d is not in 0 to %d", g.Meta, math.MaxUint8)
	case g.MachineBits != nil && *g.MachineBits < 0:
		return c.errorf(g.key("machine-bits"), "%d is negative: want 0 or more", *g.MachineBits)
	}
	return nil
}

// checkLease checks the settings for leases.
func (c *Config) checkLease(g *Generator, form *shape.Shape, hasWorker bool) error {
	if hasWorker && g.Fenced {
		return c.errorf(g.key("fenced"), "%s leases its times with its worker: leave out fenced", g.Format)
	}
	if hasWorker || g.Fenced {
		if most := form.Workers(); g.Workers < 0 || g.Workers > most {
			return c.errorf(g.key("workers"), "%d is not in 1 to %d, the workers of %s", g.Workers, most, g.Format)
		}
		return c.checkStore(g)
	}
	var of []string
	for _, o := range []struct {
		name  string
		given bool
	}{{"workers", g.Workers != 0}, {"store", g.Store != ""}, {"pool", g.Pool != ""}, {"create", g.Create}} {
		if o.given {
			of = append(of, o.name)
		}
	}
	switch {
	case len(of) == 0:
		return nil
	case g.Workers < 0 || g.Workers > 1: // more than a fenced lease has
		return c.errorf(g.key("workers"), "%s has no worker, and leases nothing: leave out %s", g.Format, strings.Join(of, " and "))
	}
	return c.errorf(g.key(of[0]), "%s has no worker, and leases nothing: leave out %s, or add fenced = true to lease its times", g.Format, strings.Join(of, " and "))
}

// checkStore checks the address of the store, and the name of the pool.
func (c *Config) checkStore(g *Generator) error {
	addr := g.Store
	if c.OpenStore == nil {
		addr = cmp.Or(addr, c.DefaultStore)
		if addr == "" {
			return c.errorf(g.key("store"), "is missing, and there is no default store: give an address")
		}
	}
	if addr != "" {
		if _, err := address.ParseAlone(addr); err != nil {
			text := strings.TrimPrefix(err.Error(), driver.ErrAddress.Error()+": ") // without the address, which may have a secret
			return c.errorf(g.key("store"), "is no address of a store: %s", text)
		}
	}
	if g.Pool != "" && (driver.CheckKey(g.Pool) != nil || strings.Contains(g.Pool, "/")) {
		return c.errorf(g.key("pool"), "%q is no name of a pool: want up to %d lower-case letters, digits, '.', '_', '@' and '-'", clip(g.Pool), driver.MaxName)
	}
	return nil
}

// setting returns the error of a format as the error of a setting.
func (c *Config) setting(g *Generator, err error) error {
	if bad, ok := errors.AsType[*iderr.ConfigError](err); ok {
		if key, ok := settings[bad.Field]; ok {
			return c.errorf(g.key(key), "%s is not %s", bad.Value, strings.Replace(bad.Want, " or NoMachineBits", ", or 0", 1))
		}
	}
	if bad, ok := errors.AsType[*iderr.TimeError](err); ok && !g.Epoch.IsZero() {
		if bad.Time.Before(bad.First) {
			return c.errorf(g.key("epoch"), "is not in the past")
		}
		return c.errorf(g.key("epoch"), "is too long ago: its timestamps ended at %s", bad.Last.Format("2006-01-02"))
	}
	return c.errorf(strings.TrimSuffix(g.key(""), "."), "%v", err)
}

// settings are the settings of files, by the fields of formats' configurations.
var settings = map[string]string{
	"Epoch": "epoch", "ClockBits": "clock-bits", "MachineBits": "machine-bits", "IncrementBits": "increment-bits", "Start": "start-bits",
	"ExtraCounterBits": "counter-bits", "NodeBits": "node-bits",
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
func (p poolUses) add(c *Config, g *Generator, made supply.Generator, spec grant.Spec) error {
	name := cmp.Or(g.Pool, spec.Name)
	use := p[[2]string{made.Store, name}]
	if use == nil {
		use = &poolUse{first: g.Name, layout: spec.Layout}
		p[[2]string{made.Store, name}] = use
	}
	if l := spec.Layout; l.Format != use.layout.Format || !l.Epoch.Equal(use.layout.Epoch) || l.Unit != use.layout.Unit || !slices.Equal(l.Widths, use.layout.Widths) {
		return c.errorf(g.key("pool"), "pool %s is for other IDs in the generator %s: give the same format, epoch and widths, or another pool", name, use.first)
	}
	if use.workers += made.Workers; use.workers > spec.Layout.Workers {
		return c.errorf(g.key("workers"), "pool %s has %d workers, and the generators of the pool want %d: give fewer workers",
			name, spec.Layout.Workers, use.workers)
	}
	return nil
}
