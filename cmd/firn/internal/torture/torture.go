// Package torture is the fault kit: processes that lease workers and make IDs, while they
// are killed, stopped, and have their clocks set, and a check of all that they made.
//
//	plan.go               which faults, drawn from a seed
//	network.go            the network between the processes and the store, if that is tortured
//	run.go process.go     the run: it starts the processes and does that to them
//	child.go              a process: it leases a worker, and logs IDs before it uses them
//	check.go              the check of all logs, in constant memory
//	defect.go             designs that are known to be bad, which the check has to find out
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

// Config says what a run does.
type Config struct {
	Format    string
	Processes int
	Duration  time.Duration
	IDs       int64 // about as many are made, as the machine can
	Window    time.Duration
	Seed      uint64 // 0 means any
	State     string // the folder in which the run makes its own; "" means that for temporary files
	Keep      bool   // the run's folder stays, whatever comes

	// Command returns the command of a process that calls Child.
	Command func() (*exec.Cmd, error)

	// Store is the address of the store, in which the run makes a pool of its own that stays;
	// "" means files in the run's folder. Open opens it, and Child is given the same.
	Store string
	Open  Opener

	// Servers are the addresses (host:port) of the store's servers. With them and Via, which
	// returns the address of the store by way of others, in the same order, the network
	// between each process and each of them is tortured too.
	Servers []string
	Via     func(servers []string) string

	// Server, if not nil, is what breaks the store's servers.
	Server Server

	// Messages has calls of the store get lost, come late, twice or not at all, in
	// each process, whatever the store is.
	Messages bool

	// Progress, if not nil, is called about once a second.
	Progress func(Progress)

	// Chunk is how many IDs are sorted in memory; 0 means a million.
	Chunk int
}

// An Opener opens the store of an address.
type Opener func(ctx context.Context, address string) (driver.Store, error)

// A Server is what can break the servers of a store.
type Server interface {
	// Faults names what can be broken.
	Faults() []string
	// Break breaks it, for about as long as it is told, mends it, and returns an error if that
	// could not be done.
	Break(ctx context.Context, fault string, d time.Duration) error
}

// Progress is how far a run is.
type Progress struct {
	Phase  string // "run" or "check"
	Part   float64
	IDs    int64 // made or checked
	Faults int64
}

// Run tortures, and checks. It returns an error if that could not be done: what was found
// is in the Summary.
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
	sum, err := check(ctx, checkConfig{dir: dir, format: f, window: c.Window, chunk: c.Chunk, progress: c.Progress}, record)
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
		p.Pool = fmt.Sprintf("torture-%016x", rand.Uint64()) // that of another run may be there
	}
	return p
}

func (p place) open(ctx context.Context, open Opener) (driver.Store, error) {
	if p.Store == "" {
		return filelease.Open(filepath.Join(p.Dir, "store"))
	}
	return open(ctx, p.Store)
}

// create makes the pool.
func (p place) create(ctx context.Context, open Opener, f *format) error {
	store, err := p.open(ctx, open)
	if err != nil {
		return err
	}
	defer store.Close()
	if s, ok := store.(driver.Preparer); ok {
		if err := s.Prepare(ctx); err != nil {
			return err
		}
	}
	_, err = lease.Create(ctx, store, p.Pool, f.layout)
	return err
}

// A record is what the run itself knows of what happened.
type record struct {
	Processes []processRecord
	Faults    []fault
	Judged    bool // processes were asked whether they are alive
}

type processRecord struct {
	Number int
	Slot   int // processes of a slot follow one another, and share a clock
	Began  int64
	Ended  int64
	Killed bool // by SIGKILL, as its exit status says
	GaveUp bool // it ended by itself
	Idle   bool // it made an ID now and then only
}

// A fault is one that was meant to be.
type fault struct {
	Kind     kind
	Size     string `json:",omitempty"`
	Slot     int
	Process  int    // 0 if it did not come to that
	At       int64  // Unix microseconds
	Step     int    `json:",omitempty"`
	Happened bool   // as the run saw it; steps: the process acknowledged it
	Why      string `json:",omitempty"` // why it did not happen

	unseen bool // a step of which nothing was seen to come, yet
}
