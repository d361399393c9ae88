// Command storage measures tables whose primary keys are IDs of different formats, in PostgreSQL and
// MariaDB. The command starts servers of its own with a small cache, and writes tables, charts and the
// measurements. Run the command in the repository's root, on Linux with both servers installed:
//
//	go run -C dev ./bench/storage                                # about 25 minutes, into bench/storage/results
//	go run -C dev ./bench/storage -quick                         # a minute, into a folder of its own
//	go run -C dev ./bench/storage -from bench/storage/results    # the tables and the charts again
//
// The servers put their files into the system's folder for temporary files: TMPDIR names another.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/firn-id/firn/dev/bench/storage/keys"
	"github.com/firn-id/firn/dev/bench/storage/measure"
	"github.com/firn-id/firn/dev/bench/storage/report"
	"github.com/firn-id/firn/dev/bench/storage/servers"
)

func main() {
	// The servers are removed with their files when the run is interrupted.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "storage:", err)
		os.Exit(1)
	}
}

// quickSizes are the flags of a short run.
var quickSizes = map[string]string{"rows": "100000", "inserts": "2000", "lookups": "1000", "rounds": "1"}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	p := measure.Plan{Chunk: 200_000, Pace: keys.Realistic()}
	flags := flag.NewFlagSet("storage", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.IntVar(&p.Rows, "rows", 1_000_000, "rows of the bulk load into PostgreSQL, `n`; MariaDB gets a fifth")
	flags.IntVar(&p.Inserts, "inserts", 30_000, "rows added one by one, `n` on one connection and n on several")
	flags.IntVar(&p.Batch, "batch", 100, "rows added one by one in a transaction, `n`")
	flags.IntVar(&p.Connections, "connections", 4, "number of several connections, `n`")
	flags.IntVar(&p.Lookups, "lookups", 5000, "rows found by key, `n` of all rows and n of the rows added last")
	flags.IntVar(&p.Rounds, "rounds", 3, "measure all formats `n` times, each time in another order")
	flags.IntVar(&p.Pace.PerSecond, "pace", p.Pace.PerSecond, "IDs in a second of the simulated clock, `n` of all workers")
	flags.IntVar(&p.Pace.Workers, "workers", p.Pace.Workers, "workers that make the IDs in turns, `n`")
	flags.Uint64Var(&p.Seed, "seed", 1, "`number` that decides the order of formats and the rows to find")
	cache := flags.Int("cache", 8, "cache of each server, in `MiB`")
	serverNames := flags.String("servers", strings.Join(servers.Names, ","), "`names` of the servers to measure")
	formatNames := flags.String("formats", "", "`names` of the formats to measure (default all)")
	quick := flags.Bool("quick", false, "measure few rows, to see that all is well: not for the docs")
	out := flags.String("out", "", "`folder` to write to (default bench/storage/results; with -quick, a temporary one)")
	from := flags.String("from", "", "measure nothing: read the measurements from this `folder`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if *quick {
		given := make(map[string]bool)
		flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
		for name, value := range quickSizes {
			if !given[name] {
				if err := flags.Set(name, value); err != nil {
					return err
				}
			}
		}
	}
	p.Options.Cache = *cache << 10
	p.Servers = strings.Split(*serverNames, ",")
	var err error
	if p.Formats, err = formats(*formatNames); err != nil {
		return err
	}
	if err := p.Check(); err != nil {
		return err
	}

	var r *report.Run
	dir := *from
	if dir != "" {
		if r, err = report.Read(dir); err != nil {
			return err
		}
		if *out != "" {
			dir = *out
		}
	}
	if *from == "" || *out != "" {
		if dir, err = folder(*out, *quick); err != nil {
			return err
		}
	}
	if r == nil {
		results, machines, err := measure.Run(ctx, p, stderr)
		if err != nil {
			return err
		}
		if r, err = report.New(p, machines, results); err != nil {
			return err
		}
	}
	if err := r.Write(dir); err != nil {
		return err
	}
	if _, err := stdout.Write(r.Tables()); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "written to", dir)
	return nil
}

// formats returns the formats with the names, all if there are no names.
func formats(names string) (all []*keys.Format, err error) {
	if names == "" {
		for i := range keys.Formats {
			all = append(all, &keys.Formats[i])
		}
		return all, nil
	}
	for name := range strings.SplitSeq(names, ",") {
		f, err := keys.Find(name)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	return all, nil
}

// folder returns the folder for the results, and makes it if needed.
func folder(out string, quick bool) (string, error) {
	switch {
	case out != "":
		return out, os.MkdirAll(out, 0o777)
	case quick:
		return os.MkdirTemp("", "firn-storage-results-")
	}
	out = filepath.Join("bench", "storage", "results")
	if _, err := os.Stat(filepath.Dir(out)); err != nil {
		return "", errors.New("no folder bench/storage here: run the command in the folder dev, or set -out")
	}
	return out, os.MkdirAll(out, 0o777)
}
