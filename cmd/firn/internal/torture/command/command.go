// Package command has the command firn torture. Package torture is the engine.
package command

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/stores"
	"github.com/firn-id/firn/cmd/firn/internal/torture"
	"github.com/firn-id/firn/lease/address"
	"github.com/firn-id/firn/lease/driver"
)

// tortureFlags are the flags of firn torture.
type tortureFlags struct {
	torture.Config
	ids     cli.Count
	store   stores.Address
	state   stores.Directory
	network bool
	json    bool
}

// New returns the command firn torture.
func New(s *cli.Streams) *cobra.Command {
	f := tortureFlags{ids: -1}
	cmd := &cobra.Command{
		Use:   "torture",
		Short: "Check that leases survive crashes, stops and clock jumps",
		Example: `  firn torture
  firn torture --processes 4 --duration 30s --window 200ms --ids 1000000
  firn torture --store etcd://127.0.0.1:2379/torture?timeout=1s --network`,
		Args: cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return f.run(cmd.Context(), s)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.Format, "format", "nanoflake", "make IDs of this `FORMAT`")
	flags.IntVar(&f.Processes, "processes", 8, "run this many processes at a time")
	flags.DurationVar(&f.Duration, "duration", 10*time.Minute, "run for this long")
	flags.Var(&f.ids, "ids", "make about this many (default 10 million a minute)")
	flags.DurationVar(&f.Window, "window", time.Second, "window of the leases")
	flags.Uint64Var(&f.Seed, "seed", 0, "repeat the faults of the run with this seed")
	flags.Var(&f.store, "store", "make the pool in this store")
	flags.BoolVar(&f.network, "network", false, "torture the network to the store, too")
	flags.Var(&f.state, "state", "keep the pool and the logs below this directory")
	flags.BoolVar(&f.Keep, "keep", false, "keep the pool and the logs after a run that passes")
	flags.BoolVar(&f.json, "json", false, "write the summary as a JSON object")
	flags.Lookup("ids").DefValue = ""
	cli.Complete(cmd, "format", torture.Formats()...)
	for _, flag := range []string{"processes", "duration", "ids", "window", "seed"} {
		cli.Complete(cmd, flag)
	}
	if err := cmd.RegisterFlagCompletionFunc("store", stores.CompleteStore); err != nil {
		panic(err) // no such flag
	}
	if err := cmd.MarkFlagDirname("state"); err != nil {
		panic(err) // no such flag
	}
	cmd.AddCommand(&cobra.Command{
		Use:    "process",
		Hidden: true, // firn torture starts it
		Args:   cli.NoArguments,
		RunE:   func(*cobra.Command, []string) error { return torture.Child(s.In, os.Stdout, openStore) },
	})
	return cmd
}

// openStore opens the store at an address. It makes a missing directory.
func openStore(ctx context.Context, addr string) (driver.Store, error) {
	store, _, err := stores.At(addr).Open(ctx)
	return store, err
}

// check returns an error if flags are out of range.
func (f *tortureFlags) check() error {
	format := f.Format
	f.Format, f.State = strings.ToLower(f.Format), string(f.state)
	switch {
	case !slices.Contains(torture.Formats(), f.Format):
		return cli.BadFlag("format", format, "is not "+cli.List(torture.Formats(), "or"))
	case f.Processes < 2 || f.Processes > 100:
		return cli.BadFlag("processes", strconv.Itoa(f.Processes), "is not in 2 to 100")
	case f.Window < 50*time.Millisecond || f.Window > time.Minute:
		return cli.BadFlag("window", f.Window.String(), "is not between 50ms and 1m")
	case f.Duration < 20*f.Window:
		return cli.BadFlag("duration", f.Duration.String(), "is less than 20 windows")
	}
	if f.IDs = int64(f.ids); f.IDs < 0 {
		f.IDs = int64(f.Duration.Minutes() * 10e6)
	}
	return f.checkStore()
}

// checkStore prepares a run on a store that is not in files.
func (f *tortureFlags) checkStore() error {
	if f.store == "" {
		if f.network {
			return cli.Usagef("--network: needs --store")
		}
		return nil
	}
	addr := string(f.store)
	if _, err := stores.KindOf(addr); err != nil {
		return stores.BadAddress("--store", err)
	}
	f.Store, f.Open, f.Messages = addr, openStore, true
	if !f.network {
		return nil
	}
	a, err := address.Parse(addr)
	if err != nil {
		return stores.BadAddress("--store", err)
	}
	if a.Scheme == "kubernetes" {
		return f.throughAPI(a)
	}
	if len(a.Hosts) == 0 {
		return cli.Usagef("--network: the address of the store names no host")
	}
	port := ports[a.Scheme]
	if a.Text("sentinel", "") != "" {
		port = "26379"
	}
	f.Servers = a.Endpoints(port, "")
	f.Via = func(servers []string) string { return address.WithHosts(addr, servers) }
	return nil
}

// ports are the ports of servers whose address names none.
var ports = map[string]string{
	"etcd": "2379", "postgres": "5432", "redis": "6379", "rediss": "6379", "http": "80", "https": "443",
}

// throughAPI prepares --network for Kubernetes. The host of such an address is a namespace; the
// server is a setting.
func (f *tortureFlags) throughAPI(a *address.Address) error {
	u, err := url.Parse(a.Text("server", ""))
	if err != nil || u.Hostname() == "" {
		return cli.Usagef("--network: name the API server and its port, in the address of the store: server=https://HOST:PORT")
	}
	f.Servers = []string{net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), ports[u.Scheme]))}
	f.Via = func(servers []string) string {
		through := *u
		through.Host = servers[0]
		return address.WithSetting(f.Store, "server", through.String())
	}
	return nil
}

func (f *tortureFlags) run(ctx context.Context, s *cli.Streams) error {
	f.Command = func() (*exec.Cmd, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		return exec.Command(self, "torture", "process"), nil
	}
	progress := cli.NewProgress(s)
	f.Progress = func(part float64, text string) { progress.Say("%s, %.0f%%", text, 100*part) }
	// UntilSignal would end this process before the processes that it has started.
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	defer signal.Stop(signals)
	defer s.Cleanup.Take()()
	go func() {
		select {
		case sig := <-signals:
			cancel(cli.Interrupted{Signal: sig})
		case <-ctx.Done():
		}
	}()
	sum, err := torture.Run(ctx, f.Config)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return err
	case f.json:
		if err := cli.WriteJSON(s.Out, sum); err != nil {
			return err
		}
	default:
		sum.WriteTo(s.Out)
	}
	switch {
	case len(sum.Violations) > 0:
		return errors.New("uniqueness was violated: the logs are in " + sum.Dir)
	case len(sum.Missing) > 0:
		return errors.New("faults that were planned did not happen: " + cli.List(sum.Missing, "and"))
	}
	return nil
}
