package server

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/firn-id/firn/server/internal/strict"
)

// file is the form of a configuration. docs/server-configuration.md has all settings.
type file struct {
	Listen   strict.Value[[]string]      `toml:"listen"`
	RESP     strict.Value[string]        `toml:"resp"`
	Unix     strict.Value[string]        `toml:"unix"`
	Insecure strict.Value[bool]          `toml:"insecure"`
	Tokens   strict.Value[string]        `toml:"tokens"`
	Hosts    strict.Value[[]string]      `toml:"hosts"`
	Drain    strict.Value[time.Duration] `toml:"drain"`

	TLS struct {
		Cert strict.Value[string] `toml:"cert"`
		Key  strict.Value[string] `toml:"key"`
		CA   strict.Value[string] `toml:"ca"`
	} `toml:"tls"`

	Limits struct {
		IDs         strict.Value[int]           `toml:"ids"`
		Connections strict.Value[int]           `toml:"connections"`
		Wait        strict.Value[time.Duration] `toml:"wait"`
	} `toml:"limits"`

	Lease struct {
		Window     strict.Value[time.Duration] `toml:"window"`
		Holder     strict.Value[string]        `toml:"holder"`
		TrustClock strict.Value[bool]          `toml:"trust-clock"`
	} `toml:"lease"`

	Generators map[string]fileGenerator `toml:"generators"`
}

type fileGenerator struct {
	Format  strict.Value[string]   `toml:"format"`
	Workers strict.Value[int]      `toml:"workers"`
	Store   strict.Value[string]   `toml:"store"`
	Pool    strict.Value[string]   `toml:"pool"`
	Create  strict.Value[bool]     `toml:"create"`
	Fenced  strict.Value[bool]     `toml:"fenced"`
	Keys    strict.Value[[]string] `toml:"keys"`

	Epoch         strict.Value[time.Time] `toml:"epoch"`
	ClockBits     strict.Value[int]       `toml:"clock-bits"`
	MachineBits   strict.Value[int]       `toml:"machine-bits"`
	CounterBits   strict.Value[int]       `toml:"counter-bits"`
	NodeBits      strict.Value[int]       `toml:"node-bits"`
	Micro         strict.Value[bool]      `toml:"micro"`
	IncrementBits strict.Value[int]       `toml:"increment-bits"`
	StartBits     strict.Value[int]       `toml:"start-bits"`
	Reset         strict.Value[bool]      `toml:"reset"`
	Meta          strict.Value[int]       `toml:"meta"`
}

// Load reads the Config from a file of TOML. A name that Load does not know is an error, and so is a value of another
// type. Errors about the text of the file are a *[ConfigError], with the line. Load does not call [Config.Check], so
// the caller can change the Config before.
func Load(path string) (Config, error) {
	data, err := strict.Read(path, nil)
	if err != nil {
		return Config{}, configError(err)
	}
	var f file
	read, err := strict.Decode(path, data, &f)
	if err != nil {
		return Config{}, configError(err)
	}
	c := Config{
		RESP: f.RESP.V, Unix: f.Unix.V, Insecure: f.Insecure.V, Tokens: f.Tokens.V, Hosts: f.Hosts.V, Drain: f.Drain.V,
		TLS:    TLS{Cert: f.TLS.Cert.V, Key: f.TLS.Key.V, CA: f.TLS.CA.V},
		Limits: Limits{IDs: f.Limits.IDs.V, Connections: f.Limits.Connections.V, Wait: f.Limits.Wait.V},
		Lease:  Lease{Window: f.Lease.Window.V, Holder: f.Lease.Holder.V, TrustClock: f.Lease.TrustClock.V},
		file:   read,
	}
	if f.Listen.Given {
		c.Listen = f.Listen.V
	}
	if err := c.noZeros(&f); err != nil {
		return Config{}, err
	}
	for name, g := range f.Generators {
		made, err := c.ofFile(name, &g)
		if err != nil {
			return Config{}, err
		}
		c.Generators = append(c.Generators, made)
	}
	slices.SortFunc(c.Generators, func(a, b Generator) int { return strings.Compare(a.Name, b.Name) })
	return c, nil
}

// configError turns an error of package strict into a ConfigError.
func configError(err error) error {
	if e, ok := errors.AsType[*strict.Error](err); ok {
		return (*ConfigError)(e)
	}
	return err
}

// noZeros returns an error for a setting that is empty, where the Config has the empty value for the default.
func (c *Config) noZeros(f *file) error {
	for key, v := range map[string]strict.Value[string]{
		"resp": f.RESP, "unix": f.Unix, "tokens": f.Tokens, "tls.cert": f.TLS.Cert, "tls.key": f.TLS.Key, "tls.ca": f.TLS.CA, "lease.holder": f.Lease.Holder,
	} {
		if v.Given && v.V == "" {
			return c.errorf(key, "is empty: leave out the setting, or give a value")
		}
	}
	switch {
	case f.Limits.IDs.Given && f.Limits.IDs.V == 0:
		return c.badIDs(0)
	case f.Limits.Connections.Given && f.Limits.Connections.V == 0:
		return c.badConnections(0)
	case f.Limits.Wait.Given && f.Limits.Wait.V == 0:
		return c.badWait(0)
	case f.Lease.Window.Given && f.Lease.Window.V == 0:
		return c.badWindow(0)
	case f.Drain.Given && f.Drain.V == 0:
		return c.badDrain(0)
	}
	return nil
}

// ofFile returns a generator of the file.
func (c *Config) ofFile(name string, f *fileGenerator) (Generator, error) {
	g := Generator{
		Name: name, Format: f.Format.V, Workers: f.Workers.V, Store: f.Store.V, Pool: f.Pool.V, Create: f.Create.V, Fenced: f.Fenced.V,
		Keys: f.Keys.V, Epoch: f.Epoch.V, ClockBits: f.ClockBits.V, CounterBits: f.CounterBits.V, NodeBits: f.NodeBits.V, Micro: f.Micro.V,
		IncrementBits: f.IncrementBits.V, Reset: f.Reset.V, Meta: f.Meta.V,
	}
	if f.MachineBits.Given {
		g.MachineBits = &f.MachineBits.V
	}
	if f.StartBits.Given {
		g.StartBits = &f.StartBits.V
	}
	key := g.key("")
	switch {
	case !f.Format.Given:
		return g, c.errorf(key+"format", "is missing: want a format, as in format = \"nanoflake\"")
	case f.Workers.Given && g.Workers == 0:
		return g, c.errorf(key+"workers", "is 0: want the number of workers, from 1 on, or leave out the setting")
	case f.ClockBits.Given && g.ClockBits == 0:
		return g, c.errorf(key+"clock-bits", "is 0: want 40 or 41")
	case f.IncrementBits.Given && g.IncrementBits == 0:
		return g, c.errorf(key+"increment-bits", "is 0: want 1 or more, or leave out the setting")
	case f.Epoch.Given && g.Epoch.IsZero():
		return g, c.errorf(key+"epoch", "is not between the years 1 and 9999")
	case f.Store.Given && g.Store == "":
		return g, c.errorf(key+"store", "is empty: leave out the setting for the default store, or give an address")
	case f.Pool.Given && g.Pool == "":
		return g, c.errorf(key+"pool", "is empty: leave out the setting for the usual pool, or give a name")
	}
	return g, nil
}
