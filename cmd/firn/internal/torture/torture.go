// Package torture runs processes that lease workers and make IDs, kills and stops the processes, sets
// their clocks, and checks all IDs.
//
//	plan.go               which faults, drawn from a seed
//	network.go            the network between the processes and the store
//	run.go process.go     the run: starts the processes, and does the faults to them
//	child.go              a process: leases a worker, and logs IDs before use
//	check.go              the check of all logs, in constant memory
//	maker.go              the question which process made an ID
//	confirm.go            IDs that a lease confirms, as for a strictly ordered service
//	defect.go             bad designs, which the check has to find
package torture

import (
	"context"
	"encoding/json"
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

	// Server, if not nil, breaks the servers of the store.
	Server Server

	// Messages makes calls of the store get lost, come late or come twice, in each process.
	Messages bool

	// Progress, if not nil, is called about once a second.
	Progress func(Progress)

	// Chunk is how many IDs are sorted in memory; 0 means a million.
	Chunk int
}

// An Opener opens the store of an address.
type Opener func(ctx context.Context, address string) (driver.Store, error)

// A Server breaks the servers of a store.
type Server interface {
	// Faults returns the names of the faults.
	Faults() []string
	// Break does a fault for about the given time, then repairs the servers. The error is that the
	// fault or the repair failed.
	Break(ctx context.Context, fault string, d time.Duration) error
}

// Progress is the state of a run.
type Progress struct {
	Phase  string // "run" or "check"
	Part   float64
	IDs    int64 // made or checked
	Faults int64
}

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
	if c.Keep || err == nil && !sum.Passed() {
		if sum != nil {
			sum.Dir = dir
		}
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
	place := placeOf(c, dir)
	if err := place.create(ctx, c.Open, f); err != nil {
		return nil, err
	}
	began := time.Now()
	r := newRunner(c, f, place)
	if err := r.run(ctx); err != nil {
		return nil, err
	}
	ran := time.Since(began)
	record := r.record()
	if text, err := json.MarshalIndent(record, "", "\t"); err != nil {
		return nil, err
	} else if err := os.WriteFile(filepath.Join(dir, "run.json"), append(text, '\n'), 0o600); err != nil {
		return nil, err
	}
	began = time.Now()
	last, err := place.lastHolders(ctx, c.Open)
	if err != nil {
		return nil, err
	}
	sum, err := check(ctx, checkConfig{dir: dir, format: f, window: c.Window, chunk: c.Chunk, progress: c.Progress, holders: last}, record)
	if err != nil {
		return nil, err
	}
	sum.Seed, sum.Processes, sum.Target = c.Seed, c.Processes, c.IDs
	sum.Window, sum.Duration = c.Window.String(), c.Duration.String()
	sum.RunSeconds, sum.CheckSeconds = ran.Seconds(), time.Since(began).Seconds()
	return sum, nil
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

func (p place) open(ctx context.Context, open Opener) (driver.Store, error) {
	if p.Store == "" {
		return filelease.Open(p.files())
	}
	return open(ctx, p.Store)
}

// openAgain is open for a store that exists. A missing directory is an error: it may come back.
func (p place) openAgain(ctx context.Context, open Opener) (driver.Store, error) {
	if p.Store == "" {
		return filelease.Open(p.files(), filelease.Existing)
	}
	return open(ctx, p.Store)
}

// files returns the directory of a store of files.
func (p place) files() string { return filepath.Join(p.Dir, "store") }

// create makes the pool.
func (p place) create(ctx context.Context, open Opener, f *format) error {
	store, err := p.open(ctx, open)
	if err != nil {
		return err
	}
	defer store.Close()
	_, err = lease.Create(ctx, store, p.Pool, f.layout())
	return err
}

// A record is what the run itself saw.
type record struct {
	Processes []processRecord
	Faults    []fault
	Judged    bool // processes had to show that they make IDs
	Asked     Makers
	Misnamed  []string `json:",omitempty"` // wrong answers to the run
	Confirms  bool     // the store can confirm
	Hidden    bool     // the first processes started while their store was away
}

type processRecord struct {
	Number int
	PID    int
	Slot   int // processes of a slot run one after the other, and share a clock
	Began  int64
	Ended  int64
	Killed bool // by SIGKILL, as its exit status says
	GaveUp bool // the process ended by itself
	Idle   bool // the process made an ID only now and then
}

// A fault is a planned fault.
type fault struct {
	Kind     kind
	Size     string `json:",omitempty"`
	Slot     int
	Process  int    // 0 if the fault was never done
	At       int64  // Unix microseconds
	Step     int    `json:",omitempty"`
	Happened bool   // as the run saw the fault; steps: as the process acknowledged
	Why      string `json:",omitempty"` // why the fault did not happen

	unseen bool // a step without a visible effect yet
}
