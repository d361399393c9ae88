// Package server serves time-ordered unique IDs to programs in any language, by RESP, HTTP and gRPC.
package server

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/settings"
	"github.com/firn-id/firn/server/internal/supply"
)

// A Config says what a server does. The zero Config listens on [DefaultListen], and has a generator for each format
// by the format's name. [Load] reads a Config from a file, [Config.Check] finds faults, and [New] takes the Config.
// The tags are for Load.
type Config struct {
	// Listen are the addresses that speak RESP, HTTP and gRPC, each as host:port. Port 0 is any free port. nil means
	// [DefaultListen]; an empty list means no such address.
	Listen []string `toml:"listen"`
	// RESP is an address for RESP alone, as host:port; "" for none.
	RESP string `toml:"resp"`
	// Unix is the path of a socket that speaks RESP, HTTP and gRPC; "" for none.
	Unix string `toml:"unix"`
	// Insecure lets the server listen beyond the machine without TLS.
	Insecure bool `toml:"insecure"`
	// TLS has the files of the server's certificate.
	TLS TLS `toml:"tls"`
	// Tokens is the file with the tokens of clients; "" lets every client do everything.
	Tokens string `toml:"tokens"`
	// Hosts are names of the server that requests of HTTP may have in the header Host, beside addresses and localhost.
	Hosts []string `toml:"hosts"`

	// Generators are the named generators. nil means a generator for each format.
	Generators []Generator
	Limits     Limits
	Lease      Lease
	// Drain is how long a server that stops finishes requests, 1ms to 10m; a longer time than [DefaultDrain] can exceed
	// the time that supervisors allow. 0 means DefaultDrain.
	Drain time.Duration

	// DefaultStore is the address of the store for generators that name none.
	DefaultStore string
	// OpenStore opens the store at an address, and for "" the default store, which DefaultStore then names for people.
	// nil means [lease.OpenStore], for which the program imports the packages of the stores.
	OpenStore func(ctx context.Context, address string) (driver.Store, error)

	// Version is the version of the program, for metrics and clients; "" means the version of this module.
	Version string
	// Log gets what operators have to know. nil means [slog.Default].
	Log *slog.Logger
	// OpenSocket opens a socket; nil means [Listen]. A program that gets sockets from systemd has its own.
	OpenSocket func(network, address string) (net.Listener, error)
	// Ready, if not nil, is called when all sockets are open. An error ends the server.
	Ready func() error
	// Notify, if not nil, gets the events of all leases, beside the Log. Notify must return soon.
	Notify func(generator string, e lease.Event)

	file *settings.File // the file of Load; nil without a file
}

// TLS has the files of a certificate in the form PEM. The server reads the files again when they change.
type TLS struct {
	Cert string `toml:"cert"` // the chain of certificates, with the server's own first
	Key  string `toml:"key"`  // the private key
	CA   string `toml:"ca"`   // the authorities that sign the clients' certificates; "" asks clients for no certificate
}

// Limits are the limits of a server.
type Limits struct {
	IDs         int           `toml:"ids" zero:"default"`         // the most IDs of a request, 1000 to 1000000; 0 means [DefaultIDs]
	Connections int           `toml:"connections" zero:"default"` // the most open connections, 1 to 1000000; 0 means [DefaultConnections]
	Wait        time.Duration // the longest wait of a request for IDs, 1ms to 1m; 0 means [DefaultWait]
}

// Lease has settings of all leases. See [lease.Config] for what they mean.
type Lease struct {
	Window     time.Duration // 100ms to 1h; 0 means [lease.DefaultWindow]
	Holder     string        `toml:"holder"`      // the server's name for operators; "" means the program, the process and the host
	TrustClock bool          `toml:"trust-clock"` // use the clock even if the store disagrees
}

// The defaults of a [Config].
const (
	DefaultListen      = "127.0.0.1:7433"
	DefaultIDs         = supply.DefaultIDs
	DefaultConnections = 16384
	DefaultWait        = supply.DefaultWait
	DefaultDrain       = 8 * time.Second
)

// A Generator is a generator by its name. The settings of a format have the names that the flags of firn new have.
type Generator struct {
	Name   string // in requests: up to 100 lower-case letters, digits, '.', '_', '@', ':' and '-'
	Format string `toml:"format"` // nanoflake, ulidflake, ulidflake-scalable, snowflakesi, scru160 or sno

	Workers int      `toml:"workers" zero:"default"` // how many workers the generator leases: each adds its IDs to a tick; 0 means 1
	Store   string   `toml:"store"`                  // the address of the store; "" means Config.DefaultStore
	Pool    string   `toml:"pool"`                   // the pool in the store; "" means the pool that all generators of the settings have
	Create  bool     `toml:"create"`                 // make a missing pool; see [lease.Config.Create]
	Fenced  bool     `toml:"fenced"`                 // lease the times of a format without workers
	Keys    []string `toml:"keys"`                   // patterns for keys of INCR that the generator serves: each has one '*', at its end

	Epoch         time.Time // the time of timestamp 0; zero means the default of the format
	ClockBits     int       `toml:"clock-bits" zero:"default"`     // bits of snowflakesi's timestamp, 40 or 41; 0 means 40
	MachineBits   *int      `toml:"machine-bits"`                  // bits of snowflakesi's machine ID; nil means the default
	CounterBits   int       `toml:"counter-bits"`                  // bits of scru160's random16 for the counter, 0 to 16
	NodeBits      int       `toml:"node-bits"`                     // bits of scru160's random16 for a node ID, 0 to 16
	Micro         bool      `toml:"micro"`                         // the counter of scru160 counts in microseconds
	IncrementBits int       `toml:"increment-bits" zero:"default"` // bits of the random increment of Ulid-Flakes; 0 means 8
	StartBits     *int      `toml:"start-bits"`                    // random bits of the start of scru160's counter; nil means the default
	Reset         bool      `toml:"reset"`                         // the sequence of snowflakesi begins at 0 in each millisecond
	Meta          int       `toml:"meta"`                          // the metabyte of sno, 0 to 255
}

// withDefaults returns the Config with a value for each setting that has a default.
func (c *Config) withDefaults() Config {
	d := *c
	if d.Listen == nil {
		d.Listen = []string{DefaultListen}
	}
	if d.Generators == nil {
		for _, f := range inspect.Formats() {
			d.Generators = append(d.Generators, Generator{Name: f.Name(), Format: f.Name()})
		}
	}
	d.Limits.IDs = cmp.Or(d.Limits.IDs, DefaultIDs)
	d.Limits.Connections = cmp.Or(d.Limits.Connections, DefaultConnections)
	d.Limits.Wait = cmp.Or(d.Limits.Wait, DefaultWait)
	d.Lease.Window = cmp.Or(d.Lease.Window, lease.DefaultWindow)
	d.Drain = cmp.Or(d.Drain, DefaultDrain)
	if d.OpenStore == nil {
		d.OpenStore = func(ctx context.Context, address string) (driver.Store, error) {
			return lease.OpenStore(ctx, cmp.Or(address, d.DefaultStore))
		}
	}
	if d.Version == "" {
		d.Version = metrics.Module()
	}
	if d.Log == nil {
		d.Log = slog.Default()
	}
	return d
}

// A ConfigError is a fault of a [Config].
type ConfigError struct {
	File string // the file of [Load]; "" without a file
	Line int    // the line of the setting in the file; 0 if the file does not have the setting
	Key  string // the setting as files name it, such as generators.order.workers; "" for a fault of the file's syntax
	Text string // the fault and its remedy
	Err  error  // the cause, or nil
}

func (e *ConfigError) Error() string {
	return (*settings.Error)(e).Error()
}

func (e *ConfigError) Unwrap() error { return e.Err }

// A ListenError says that the server could not listen.
type ListenError struct {
	Setting string // as files name it: listen, resp or unix
	Address string // the address, or the path of a socket
	Err     error  // the cause
}

func (e *ListenError) Error() string { return "listen on " + e.Address + ": " + e.Err.Error() }

func (e *ListenError) Unwrap() error { return e.Err }

// StoreError returns err as a *[ConfigError] of the address of a generator's store, with its place in the file of [Load].
func (c *Config) StoreError(g *Generator, err error) error {
	return c.generatorError(g, "store", "%w", err)
}

// fileError returns the error of the setting that names a file, if the server cannot open the file. Another error has
// the name of the file in its text, and stays.
func (c *Config) fileError(err error) error {
	at, ok := errors.AsType[*fs.PathError](err)
	if !ok {
		return err
	}
	for _, set := range []struct{ key, path string }{{"tokens", c.Tokens}, {"tls.cert", c.TLS.Cert}, {"tls.key", c.TLS.Key}, {"tls.ca", c.TLS.CA}} {
		if set.path == at.Path {
			return c.errorf(set.key, "%w", err)
		}
	}
	return err
}

// errorf returns the error of a setting that is of no generator, with its place in the file.
func (c *Config) errorf(key, format string, args ...any) error {
	return (*ConfigError)(c.file.Errorf(strings.Split(key, "."), format, args...))
}

// generatorError returns the error of a setting of a generator, or of the generator without a setting.
func (c *Config) generatorError(g *Generator, setting, format string, args ...any) error {
	path := []string{"generators", clip(g.Name), setting}
	if setting == "" {
		path = path[:2]
	}
	return (*ConfigError)(c.file.Errorf(path, format, args...))
}
