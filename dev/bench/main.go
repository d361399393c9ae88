// Command bench measures Firn and other packages at the same work in one run. It writes a table with
// ratios, charts, and the measurements in the format of benchstat. Run it in the repository's root:
//
//	go run -C dev ./bench                                  # about four minutes, into bench/results
//	go run -C dev ./bench -quick                           # about 40 s, into a folder of its own
//	go run -C dev ./bench -from bench/results/bench.txt    # the table and the charts anew
//
// The same measurements are also benchmarks of package testing:
//
//	go test -C dev -run '^$' -bench Next -count 10 ./bench
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/firn-id/firn/dev/bench/chart"
)

func main() {
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return
		}
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

const (
	rawFile   = "bench.txt"
	tableFile = "table.md"
)

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	quick := flags.Bool("quick", false, "measure for a shorter time, to see that all is well: not for the docs")
	out := flags.String("out", "", "`folder` to write to (default bench/results; with -quick, a temporary one)")
	from := flags.String("from", "", "measure nothing: read the measurements from this `file`")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	dir, err := folder(*out, *quick)
	if err != nil {
		return err
	}

	var raw []byte
	if *from != "" {
		raw, err = os.ReadFile(*from)
	} else {
		p := full
		if *quick {
			p = hasty
		}
		raw, err = p.measure(stderr)
	}
	if err != nil {
		return err
	}
	if err := write(dir, raw); err != nil {
		return err
	}
	table, err := os.ReadFile(filepath.Join(dir, tableFile))
	if err != nil {
		return err
	}
	if _, err := stdout.Write(table); err != nil {
		return err
	}
	fmt.Fprintln(stderr, "written to", dir)
	return nil
}

// folder returns the folder for the results, and makes it if needed.
func folder(out string, quick bool) (string, error) {
	switch {
	case out != "":
		return out, os.MkdirAll(out, 0o777)
	case quick:
		return os.MkdirTemp("", "firn-bench-")
	}
	out = filepath.Join("bench", "results")
	if _, err := os.Stat("bench"); err != nil {
		return "", errors.New("no folder bench here: run the command in the folder dev, or set -out")
	}
	return out, os.MkdirAll(out, 0o777)
}

// write writes the measurements, the table and the charts.
func write(dir string, raw []byte) error {
	r, err := parse(bytes.NewReader(raw), rawFile)
	if err != nil {
		return err
	}
	files := map[string][]byte{rawFile: raw, tableFile: table(r)}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			return err
		}
	}
	return chart.Save(dir, charts(r))
}

// A plan says how long and how often each group is measured. Each round measures all subjects in
// turn: a disturbance of the machine then affects all subjects alike.
type plan struct {
	rounds int
	time   map[string]time.Duration // of a benchmark in a round
	once   map[string]int           // groups with another number of rounds
}

var (
	full = plan{
		rounds: 10,
		time: map[string]time.Duration{
			groupNext: 150 * time.Millisecond, groupParallel: 150 * time.Millisecond, groupBatch: 100 * time.Millisecond, groupSeq: 100 * time.Millisecond,
			groupEncode: 40 * time.Millisecond, groupString: 40 * time.Millisecond, groupDecode: 40 * time.Millisecond,
			groupSaturation: 2 * time.Second, groupSort: 500 * time.Millisecond,
		},
		once: map[string]int{groupSaturation: 3, groupSort: 6},
	}
	hasty = plan{
		rounds: 3,
		time: map[string]time.Duration{
			groupNext: 50 * time.Millisecond, groupParallel: 50 * time.Millisecond, groupBatch: 50 * time.Millisecond, groupSeq: 50 * time.Millisecond,
			groupEncode: 20 * time.Millisecond, groupString: 20 * time.Millisecond, groupDecode: 20 * time.Millisecond,
			groupSaturation: 700 * time.Millisecond, groupSort: 100 * time.Millisecond,
		},
		once: map[string]int{groupSaturation: 1, groupSort: 1},
	}
)

// measure runs all benchmarks and returns the results in Go's format for benchmarks.
func (p plan) measure(progress io.Writer) ([]byte, error) {
	testing.Init()
	var raw bytes.Buffer
	if err := writeConfig(&raw); err != nil {
		return nil, err
	}
	cores := runtime.GOMAXPROCS(0)
	for round := range p.rounds {
		for _, group := range groups {
			if n, ok := p.once[group]; ok && round >= n {
				continue
			}
			fmt.Fprintf(progress, "round %d of %d: %s\n", round+1, p.rounds, group)
			each := p.time[group]
			if group == groupParallel {
				each /= time.Duration(max(1, len(coreCounts(cores))))
			}
			if err := flag.Set("test.benchtime", each.String()); err != nil {
				return nil, err
			}
			for _, b := range benchmarks(group, cores) {
				var failed error
				r := testing.Benchmark(func(tb *testing.B) { failed = b.run(tb) })
				if failed != nil {
					return nil, fmt.Errorf("%s: %w", b.name, failed)
				}
				fmt.Fprintf(&raw, "Benchmark%s-%d\t%s\t%s\n", b.name, cores, r, r.MemString())
			}
		}
	}
	fmt.Fprintln(progress, "built without assembly, for the portable clock and codecs")
	if err := p.measurePortable(&raw); err != nil {
		fmt.Fprintln(progress, "bench: not measured:", err) // the go command is missing, say
	}
	return raw.Bytes(), nil
}

// portable is the build tag for Firn without assembly.
const portable = "purego"

// measurePortable measures Firn built without assembly, in another process.
func (p plan) measurePortable(raw *bytes.Buffer) error {
	fmt.Fprintf(raw, "%s: %s\n", configTags, portable)
	for _, group := range []string{groupNext, groupEncode, groupDecode} {
		cmd := exec.Command("go", "test", "-tags", portable, "-run", "^$", "-bench", "^Benchmark"+group+"$/^id=("+firnNames+")$",
			"-benchtime", p.time[group].String(), "-count", fmt.Sprint(p.rounds), "github.com/firn-id/firn/dev/bench")
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		output, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("go test -tags %s: %w: %s", portable, err, &stderr)
		}
		for line := range bytes.Lines(output) {
			if bytes.HasPrefix(line, []byte("Benchmark")) {
				raw.Write(line)
			}
		}
	}
	return nil
}
