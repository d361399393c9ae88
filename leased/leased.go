// Package leased gives generators a leased worker, each in one call:
//
//	gen, lease, err := leased.Nanoflake(ctx, nanoflake.Config{}, leased.Options{})
//	if err != nil {
//		return err
//	}
//	defer lease.Close()
//	id, err := gen.Next(ctx)
//
// The generator is the format's own, with a generator ID that no other one has at that time,
// whatever crashes, pauses and clocks do: see package lease. Formats without a worker get a lease
// of their times alone, so that a machine never makes an ID twice over restarts.
//
// The zero Options keep the pool in files of the user. Generators of several users of a Linux
// machine never have a worker at the same time; users who share no directory do not remember
// each other's times over a restart with the clock set back. In a container, and where files are
// lost at a restart, the zero Options are refused: name a directory on a volume that all
// containers of the machine share, or a store.
package leased

import (
	"context"
	"fmt"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// Options say where the worker comes from. The zero Options take any worker of the pool that is
// kept in files of this user on this machine, and is created when it is first used. Pools of
// several users do not collide while their processes run; users whose clock can go back while a
// process restarts, containers and machines need a directory or a store that they share.
type Options struct {
	// Store is where the pool is; nil means the files under Dir.
	Store driver.Store

	// Dir is the folder of the files, if Store is nil. "" means the user's own, which is refused
	// where it is lost with a container or at a restart: see filelease.OpenDefault.
	Dir string

	// Pool is the pool's name. "" means one that follows from the format and the settings.
	Pool string

	// Create creates the pool in Store if there is none. Only set it for a store that cannot
	// be the wrong one.
	Create bool

	// Lease says which worker is taken, and how it is kept.
	Lease lease.Config
}

// A Pool is the name and the layout of the pool that a generator's configuration asks for.
type Pool struct {
	Name   string
	Layout lease.Layout
}

// keep takes a worker for a generator that was made without an error.
func keep[G lease.Generator](ctx context.Context, g G, err error, wanted func() Pool, o Options, clock func() time.Time) (made G, _ *lease.Lease, _ error) {
	if err != nil {
		return made, nil, err
	}
	store, open := o.Store, lease.Open
	if store == nil {
		if store, err = Embedded(o.Dir); err != nil {
			return made, nil, err
		}
	}
	if o.Create || o.Store == nil {
		open = lease.OpenOrCreate
	}
	p := wanted()
	if o.Pool != "" {
		p.Name = o.Pool
	}
	if o.Lease.Clock == nil {
		o.Lease.Clock = clock
	}
	pool, err := open(ctx, store, p.Name, p.Layout)
	if err != nil {
		return made, nil, err
	}
	l, err := pool.Keep(ctx, g, o.Lease)
	if err != nil {
		return made, nil, err
	}
	return g, l, nil
}

// Embedded returns the store of files in the folder, "" meaning the user's own: see
// filelease.OpenDefault.
func Embedded(dir string) (driver.Store, error) {
	open := filelease.OpenDefault
	if dir != "" {
		open = func() (*filelease.Store, error) { return filelease.Open(dir) }
	}
	store, err := open()
	if err != nil {
		return nil, err // and no *filelease.Store in an interface, which would not be nil
	}
	return store, nil
}

// named returns the pool's name: the format's, and what is not as usual.
func named(format string, epoch, usual time.Time) string {
	if epoch.IsZero() || epoch.Equal(usual) {
		return format
	}
	return fmt.Sprintf("%s@%d", format, epoch.UnixMilli())
}

func orUsual(epoch, usual time.Time) time.Time {
	if epoch.IsZero() {
		return usual
	}
	return epoch
}

// Nanoflake returns a generator with a leased generator ID, one of 1024, and the lease.
// GeneratorID and Allotted are not to be set.
func Nanoflake(ctx context.Context, c nanoflake.Config, o Options) (*nanoflake.Generator, *lease.Lease, error) {
	c.Allotted = true
	g, err := nanoflake.NewGenerator(c)
	return keep(ctx, g, err, func() Pool { return NanoflakePool(c) }, o, c.Clock)
}

// NanoflakePool returns the pool of generators with that configuration.
func NanoflakePool(c nanoflake.Config) Pool {
	return Pool{named("nanoflake", c.Epoch, nanoflake.DefaultEpoch()), lease.Layout{Format: "nanoflake",
		Epoch: orUsual(c.Epoch, nanoflake.DefaultEpoch()), Unit: time.Millisecond,
		Widths: []int{41, 10, 12}, Workers: nanoflake.MaxGeneratorID + 1}}
}

// UlidFlake returns a generator with leased times, and the lease. The stand-alone version has no
// worker: one generator of the pool mints at a time.
func UlidFlake(ctx context.Context, c ulidflake.Config, o Options) (*ulidflake.Generator, *lease.Lease, error) {
	c.Allotted = true
	g, err := ulidflake.NewGenerator(c)
	return keep(ctx, g, err, func() Pool { return UlidFlakePool(c) }, o, c.Clock)
}

// UlidFlakePool returns the pool of generators with that configuration.
func UlidFlakePool(c ulidflake.Config) Pool {
	return Pool{named("ulidflake", c.Epoch, ulidflake.DefaultEpoch()), lease.Layout{Format: "ulidflake",
		Epoch: orUsual(c.Epoch, ulidflake.DefaultEpoch()), Unit: time.Millisecond,
		Widths: []int{43, 20}, Workers: 1}}
}

// ScalableUlidFlake returns a generator with a leased scalability, one of 32, and the lease.
// Scalability and Allotted are not to be set.
func ScalableUlidFlake(ctx context.Context, c ulidflake.ScalableConfig, o Options) (*ulidflake.ScalableGenerator, *lease.Lease, error) {
	c.Allotted = true
	g, err := ulidflake.NewScalableGenerator(c)
	return keep(ctx, g, err, func() Pool { return ScalableUlidFlakePool(c) }, o, c.Clock)
}

// ScalableUlidFlakePool returns the pool of generators with that configuration.
func ScalableUlidFlakePool(c ulidflake.ScalableConfig) Pool {
	return Pool{named("ulidflake-scalable", c.Epoch, ulidflake.DefaultEpoch()), lease.Layout{Format: "ulidflake-scalable",
		Epoch: orUsual(c.Epoch, ulidflake.DefaultEpoch()), Unit: time.Millisecond,
		Widths: []int{43, 15, 5}, Workers: ulidflake.MaxScalability + 1}}
}

// SnowflakeSI returns a generator with a leased machine ID, one of those of the layout, and the
// lease. MachineID and Allotted are not to be set.
func SnowflakeSI(ctx context.Context, c snowflakesi.Config, o Options) (*snowflakesi.Generator, *lease.Lease, error) {
	c.Allotted = true
	g, err := snowflakesi.NewGenerator(c)
	return keep(ctx, g, err, func() Pool { return SnowflakeSIPool(c) }, o, c.Clock)
}

// SnowflakeSIPool returns the pool of generators with that configuration.
func SnowflakeSIPool(c snowflakesi.Config) Pool {
	clock, machine, sequence := c.Layout.Widths()
	format := "snowflakesi"
	if usual := snowflakesi.DefaultLayout(); clock != usual.ClockBits || machine != usual.MachineBits {
		format = fmt.Sprintf("snowflakesi-%d-%d", clock, machine)
	}
	return Pool{named(format, c.Epoch, snowflakesi.DefaultEpoch()), lease.Layout{Format: "snowflakesi",
		Epoch: orUsual(c.Epoch, snowflakesi.DefaultEpoch()), Unit: time.Millisecond,
		Widths: []int{clock, machine, sequence}, Workers: c.Layout.MaxMachineID() + 1}}
}

// SCRU160 returns a generator with a leased node ID, of as many as NodeBits hold, and the lease.
// Without NodeBits its times are leased, and one generator of the pool mints at a time. NodeID,
// Restart and Allotted are not to be set.
func SCRU160(ctx context.Context, c scru160.Config, o Options) (*scru160.Generator, *lease.Lease, error) {
	c.Allotted = true
	g, err := scru160.NewGenerator(c)
	return keep(ctx, g, err, func() Pool { return SCRU160Pool(c) }, o, c.Clock)
}

// SCRU160Pool returns the pool of generators with that configuration.
func SCRU160Pool(c scru160.Config) Pool {
	p := Pool{"scru160", lease.Layout{Format: "scru160", Epoch: time.UnixMilli(0).UTC(), Unit: time.Millisecond,
		Widths: []int{48, 16 + c.ExtraCounterBits, c.NodeBits}, Workers: 1 << min(max(c.NodeBits, 0), 16)}}
	if c.ExtraCounterBits != 0 || c.NodeBits != 0 {
		p.Name = fmt.Sprintf("scru160-%d-%d", c.ExtraCounterBits, c.NodeBits)
	}
	if c.Counter == scru160.CounterMicroseconds {
		p.Name += "-us"
		p.Layout.Unit = time.Microsecond
	}
	return p
}

// Sno returns a generator with a leased partition, one of 65536, and the lease. Snapshot and
// Allotted are not to be set.
func Sno(ctx context.Context, c sno.Config, o Options) (*sno.Generator, *lease.Lease, error) {
	c.Allotted = true
	g, err := sno.NewGeneratorWith(c)
	return keep(ctx, g, err, func() Pool { return SnoPool() }, o, c.Clock)
}

// SnoPool returns the pool of sno generators.
func SnoPool() Pool {
	return Pool{"sno", lease.Layout{Format: "sno", Epoch: time.UnixMilli(sno.Epoch * 1000).UTC(), Unit: sno.TimeUnit,
		Widths: []int{39, 1, 8, 16, 16}, Workers: sno.MaxPartition + 1}}
}
