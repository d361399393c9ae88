// Package torture runs processes that lease workers and make IDs, kills and stops the processes, sets
// their clocks, and checks all IDs.
//
//	plan.go       which faults, drawn from a seed
//	network.go    the network between the processes and the store
//	run.go        the run: all processes
//	slot.go       one process after another, and the faults done to them
//	child.go      a process: leases a worker, and logs IDs before use
//	confirm.go    IDs that a lease confirms, as for a strictly ordered service
//	journal.go    the files of a process
//	check.go      the check of all files, in constant memory
//	maker.go      the question which process made an ID
//
// The tests have bad designs, which the check has to find.
package torture

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
)

// Config describes a run.
type Config struct {
	Format    string
	Processes int
	Duration  time.Duration
	IDs       int64 // about how many to make; a slow machine makes fewer
	Window    time.Duration
	Seed      uint64 // 0 means a random seed
	State     string // the parent of the run's folder; "" means the folder of temporary files
	Keep      bool   // keep the run's folder in any case

	// Command returns a command that calls Child.
	Command func() (*exec.Cmd, error)

	// Store is the address of a store. The run makes a pool there, and leaves the pool. "" means
	// files in the run's folder. Open opens the store, in the run and in Child.
	Store string
	Open  Opener

	// Servers are the addresses (host:port) of the store's servers. Via returns the address of the
	// store through other servers, given in the same order. With Servers and Via, the network
	// between each process and each server is tortured too.
	Servers []string
	Via     func(servers []string) string

	// Messages makes calls of the store get lost, come late or come twice, in each process.
	Messages bool

	// Progress, if not nil, is called about once a second, once all processes make IDs. The part is 1 when
	// the time is up.
	Progress func(part float64, text string)
}

// An Opener opens the store of an address.
type Opener func(ctx context.Context, address string) (driver.Store, error)

// Run tortures and checks. Violations are in the Summary; the error is that the run itself failed.
func Run(ctx context.Context, c Config) (*Summary, error) {
	if !Supported {
		return nil, errors.New("torture needs a system that stops and kills processes by signals")
	}
	f, err := lookup(c.Format)
	if err != nil {
		return nil, err
	}
	for c.Seed == 0 {
		c.Seed = rand.Uint64() >> 32 // short enough to copy
	}
	dir, err := makeDir(c.State)
	if err != nil {
		return nil, err
	}
	sum, err := run(ctx, c, f, dir)
	if sum != nil && (c.Keep || !sum.Passed()) {
		sum.Dir = dir
	}
	if c.Keep || sum != nil && sum.Dir != "" {
		return sum, err
	}
	return sum, errors.Join(err, os.RemoveAll(dir))
}

func makeDir(state string) (string, error) {
	if state != "" {
		if err := os.MkdirAll(state, 0o700); err != nil {
			return "", err
		}
	}
	dir, err := os.MkdirTemp(state, "firn-torture-")
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

func run(ctx context.Context, c Config, f *format, dir string) (*Summary, error) {
	r, err := newRunner(ctx, c, f, dir)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	ran := time.Since(began)
	began = time.Now()
	if c.Progress != nil {
		c.Progress(1, "check")
	}
	histories, confirms, err := r.histories(ctx)
	if err != nil {
		return nil, err
	}
	k := newChecker(dir, f, r.ended(), histories)
	k.sum = r.sum
	if err := k.check(ctx); err != nil {
		return nil, err
	}
	r.sum.finish(r.hides(), confirms)
	r.sum.RunSeconds, r.sum.CheckSeconds = ran.Seconds(), time.Since(began).Seconds()
	return r.sum, nil
}

// A place is where the pool of a run is.
type place struct {
	Store string // the address; "" means files in Dir
	Dir   string
	Pool  string
}

func placeOf(c Config, dir string) place {
	p := place{Store: c.Store, Dir: dir, Pool: "torture"}
	if p.Store != "" {
		p.Pool = fmt.Sprintf("torture-%016x", rand.Uint64()) // an earlier run may have left its pool
	}
	return p
}

// open opens the store. If files that exist are missing, that is an error: they may come back.
func (p place) open(ctx context.Context, open Opener, exists bool) (driver.Store, error) {
	switch {
	case p.Store != "":
		return open(ctx, p.Store)
	case exists:
		return filelease.Open(p.files(), filelease.NoCreate)
	}
	return filelease.Open(p.files())
}

// files returns the directory of a store of files.
func (p place) files() string { return filepath.Join(p.Dir, "store") }

// create makes the pool. A busy machine may take longer than the store's time-outs.
func (p place) create(ctx context.Context, open Opener, f *format) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := persist(ctx, context.DeadlineExceeded, func() (*lease.Pool, error) {
		store, err := p.open(ctx, open, false)
		if err != nil {
			return nil, err
		}
		defer store.Close()
		pool, err := lease.Create(ctx, store, p.Pool, f.layout())
		if errors.Is(err, lease.ErrPoolExists) { // by a try before
			err = nil
		}
		return pool, err
	})
	return err
}
