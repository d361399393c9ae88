//go:build linux

// Command faults tortures leases on shared stores whose real servers fail. The leader of three etcd
// members is killed, stopped and cut off; PostgreSQL crashes and stands still. -stores names other stores:
// an API server of Kubernetes with its etcd. Meanwhile the faults of firn torture
// hit the processes, their clocks, the network and the messages.
//
//	go run ./cmd/firn/internal/tests/faults -runs 120 -ids 8500000
//	go run ./cmd/firn/internal/tests/faults -stores kubernetes -runs 2 -duration 60s -window 1s -least 1
//
// Each run has its own seed, and the checks of firn torture: no ID twice, no ID outside the grants of its
// process, no time of a worker given twice. The matrix at the end shows how often each fault was planned, and
// how often the fault happened. The exit code is 1 after a violation, or if a fault happened less often
// than -least.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/torture"
	"github.com/firn-id/firn/internal/pause"
)

// asProcess runs the program as a process of a run.
const asProcess = "FIRN_FAULTS_PROCESS"

func main() {
	if os.Getenv(asProcess) == "1" {
		if err := torture.Child(os.Stdin, os.Stdout, open); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "faults:", err)
		}
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out io.Writer) error {
	m := matrix{faults: make(map[string]*torture.FaultCount)}
	var names, format string
	c := torture.Config{Command: self, Open: open, Messages: true}
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.StringVar(&names, "stores", quick, "stores to torture, of "+strings.Join(slices.Sorted(maps.Keys(stores)), ", "))
	flags.StringVar(&format, "formats", "nanoflake,sno", "formats of the IDs, in turn")
	runs := flags.Int("runs", 120, "runs, shared out among the stores")
	flags.DurationVar(&c.Duration, "duration", 12*time.Second, "of a run")
	flags.DurationVar(&c.Window, "window", 500*time.Millisecond, "of the leases")
	flags.Int64Var(&c.IDs, "ids", 8_500_000, "of a run, about")
	flags.IntVar(&c.Processes, "processes", 8, "of a run, at a time")
	seed := flags.Uint64("seed", 1, "of the first run; each has the next")
	least := flags.Int("least", 5, "how often each fault has to happen")
	if err := flags.Parse(args); err != nil {
		return err
	}
	all, formats := strings.Split(names, ","), strings.Split(format, ",")
	for i, name := range all {
		server, err := startServer(ctx, name)
		if err != nil {
			return err
		}
		for n := i; n < *runs; n += len(all) {
			c.Seed, c.Format = *seed+uint64(n), formats[n/len(all)%len(formats)]
			c.Store, c.Servers, c.Via = server.address(server.endpoints()), server.endpoints(), server.address
			sum, err := m.run(ctx, c, server)
			if err != nil {
				server.close()
				return fmt.Errorf("%s, seed %d: %w", name, c.Seed, err)
			}
			m.add(sum)
			fmt.Fprintf(out, "%s, %s, seed %d: %d IDs, %s\n", name, c.Format, c.Seed, sum.IDs, verdict(sum))
			if len(sum.Violations) > 0 {
				sum.WriteTo(out)
			}
		}
		server.close()
	}
	return m.report(out, *least)
}

// startServer starts a server of a store.
func startServer(ctx context.Context, name string) (server, error) {
	start, ok := stores[name]
	if !ok {
		return nil, fmt.Errorf("no store %q", name)
	}
	s, err := start(ctx)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return s, nil
}

// run does a run on a server that fails.
func (m *matrix) run(ctx context.Context, c torture.Config, s server) (*torture.Summary, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	faulty, repaired := context.WithCancel(ctx)
	defer repaired()
	began := make(chan struct{})
	begin := sync.OnceFunc(func() { close(began) })
	c.Progress = func(part float64, _ string) {
		if begin(); part >= 1 {
			repaired()
		}
	}
	var breaking sync.WaitGroup
	defer breaking.Wait()
	breaking.Go(func() {
		select {
		case <-began:
		case <-faulty.Done():
		}
		if err := m.breakServers(ctx, faulty, c, s); err != nil {
			cancel(err)
		}
	})
	sum, err := torture.Run(ctx, c)
	repaired()
	return sum, err
}

// breakServers does the faults of the servers in turn, until the time is up. The seed gives the order.
func (m *matrix) breakServers(ctx, faulty context.Context, c torture.Config, s server) error {
	random := rand.New(rand.NewPCG(c.Seed, 1))
	windows := func(n float64) time.Duration { return time.Duration(n * float64(c.Window)) }
	for {
		faults := s.faults()
		random.Shuffle(len(faults), func(i, j int) { faults[i], faults[j] = faults[j], faults[i] })
		for _, f := range faults {
			if pause.For(faulty, windows(1+2*random.Float64())) != nil {
				return nil
			}
			if err := f.happen(ctx, windows(0.3+1.7*random.Float64())); err != nil {
				return fmt.Errorf("%s: %w", f.name, err)
			}
			m.count(torture.FaultCount{Kind: "server", Size: f.name, Planned: 1, Happened: 1})
		}
	}
}

// self returns the command of a process of a run.
func self() (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	c := exec.Command(path)
	c.Env = append(os.Environ(), asProcess+"=1")
	return c, nil
}

func verdict(s *torture.Summary) string {
	if len(s.Violations) > 0 {
		return "violated: the logs are in " + s.Dir
	}
	return "no violation"
}

// A matrix is the result of many runs.
type matrix struct {
	runs, violated  int
	ids, grants     int64
	processes, late int
	takeOvers       int
	makers          torture.Makers
	faults          map[string]*torture.FaultCount
}

func (m *matrix) add(s *torture.Summary) {
	m.runs++
	if len(s.Violations) > 0 {
		m.violated++
	}
	m.ids += s.IDs
	m.grants += int64(s.Events["acquired"] + s.Events["renewed"])
	m.processes += s.Started
	m.late += s.Events["started away"]
	m.takeOvers += s.TakeOvers
	m.makers.Named += s.Makers.Named
	m.makers.Nobody += s.Makers.Nobody
	for _, f := range s.Faults {
		m.count(f)
	}
}

func (m *matrix) count(f torture.FaultCount) {
	at := f.Kind + "\t" + f.Size
	c := cmp.Or(m.faults[at], &torture.FaultCount{Kind: f.Kind, Size: f.Size})
	c.Planned += f.Planned
	c.Happened += f.Happened
	m.faults[at] = c
}

// report writes the matrix. The error is a violation, or a fault that did not happen.
func (m *matrix) report(out io.Writer, least int) error {
	fmt.Fprintf(out, "\n%d runs: %d IDs of %d processes, of which %d started without their store, in %d grants; %d workers taken over; "+
		"the history was asked for the makers of %d IDs, and named %d\n\n",
		m.runs, m.ids, m.processes, m.late, m.grants, m.takeOvers, m.makers.Named+m.makers.Nobody, m.makers.Named)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "fault\tof\tplanned\thappened\n")
	var seldom []string
	for _, at := range slices.Sorted(maps.Keys(m.faults)) {
		f := m.faults[at]
		fmt.Fprintf(t, "%s\t%s\t%d\t%d\n", f.Kind, f.Size, f.Planned, f.Happened)
		if f.Happened < least {
			seldom = append(seldom, strings.TrimSpace(f.Kind+" "+f.Size))
		}
	}
	t.Flush()
	switch {
	case m.violated > 0:
		return fmt.Errorf("uniqueness was violated in %d runs", m.violated)
	case len(seldom) > 0:
		return fmt.Errorf("happened less than %d times: %s", least, strings.Join(seldom, ", "))
	}
	fmt.Fprintln(out, "\nno ID twice, none outside of a grant, no time of a worker given twice")
	return nil
}
