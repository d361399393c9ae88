// Package report writes the results of a run: the measurements as CSV, tables as Markdown, and charts
// as SVG.
package report

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"

	"github.com/firn-id/firn/dev/bench/chart"
	"github.com/firn-id/firn/dev/bench/storage/measure"
	"github.com/firn-id/firn/dev/bench/storage/servers"
)

// The files of a run.
const (
	measurementsFile = "measurements.csv"
	runFile          = "run.csv"
	tablesFile       = "tables.md"
)

// A Run is the measurements, with the machine and the settings.
type Run struct {
	facts   []fact
	results []measure.Result
}

// A fact is a line about the machine, the plan or a server.
type fact struct{ about, name, value string }

const (
	aboutMachine = "machine"
	aboutPlan    = "plan"
	version      = "version" // of a server
)

// New returns the run of a plan on this machine.
func New(p measure.Plan, machines []measure.Machine, results []measure.Result) (*Run, error) {
	r := &Run{results: results}
	add := func(about, name string, value any) { r.facts = append(r.facts, fact{about, name, fmt.Sprint(value)}) }
	add(aboutMachine, "system", runtime.GOOS+"/"+runtime.GOARCH)
	add(aboutMachine, "processor", strings.TrimSpace(cpuid.CPU.BrandName))
	add(aboutMachine, "cores", runtime.NumCPU())
	add(aboutMachine, "go", runtime.Version())
	add(aboutMachine, "date", time.Now().UTC().Format(time.DateOnly))
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil, errors.New("the program does not know its modules")
	}
	for _, m := range info.Deps {
		if slices.Contains([]string{"github.com/jackc/pgx/v5", "github.com/go-sql-driver/mysql", "github.com/gofrs/uuid/v5"}, m.Path) {
			add(aboutMachine, m.Path, m.Version)
		}
	}
	for _, v := range []struct {
		name  string
		value any
	}{
		{"rounds", p.Rounds}, {"rows", p.Rows}, {"chunk", p.Chunk}, {"inserts", p.Inserts}, {"batch", p.Batch}, {"connections", p.Connections},
		{"lookups", p.Lookups}, {"pace", p.Pace.PerSecond}, {"workers", p.Pace.Workers}, {"cache-kib", p.Options.Cache}, {"seed", p.Seed},
	} {
		add(aboutPlan, v.name, v.value)
	}
	for _, m := range machines {
		add(m.Server, version, m.Version)
		for _, s := range m.Settings {
			add(m.Server, s.Name, s.Value)
		}
	}
	return r, nil
}

// fact returns the value of a fact, "" if the run does not have the fact.
func (r *Run) fact(about, name string) string {
	for _, f := range r.facts {
		if f.about == about && f.name == name {
			return f.value
		}
	}
	return ""
}

// number returns a fact that is a number.
func (r *Run) number(about, name string) float64 {
	v, _ := strconv.ParseFloat(r.fact(about, name), 64)
	return v
}

// Write writes the measurements, the tables and the charts into a folder.
func (r *Run) Write(dir string) error {
	if err := r.writeCSV(dir); err != nil {
		return err
	}
	files := map[string][]byte{tablesFile: r.Tables()}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			return err
		}
	}
	return chart.Save(dir, r.charts())
}

var (
	factColumns   = []string{"about", "name", "value"}
	resultColumns = []string{"server", "round", "format", "phase", "metric", "value"}
)

func (r *Run) writeCSV(dir string) error {
	facts := [][]string{factColumns}
	for _, f := range r.facts {
		facts = append(facts, []string{f.about, f.name, f.value})
	}
	results := [][]string{resultColumns}
	for _, m := range r.results {
		results = append(results, []string{m.Server, strconv.Itoa(m.Round), m.Format, string(m.Phase), string(m.Metric), strconv.FormatFloat(m.Value, 'f', -1, 64)})
	}
	return errors.Join(writeFile(filepath.Join(dir, runFile), facts), writeFile(filepath.Join(dir, measurementsFile), results))
}

func writeFile(path string, lines [][]string) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(csv.NewWriter(f).WriteAll(lines), f.Close())
}

// Read reads the measurements that Write has written into a folder.
func Read(dir string) (*Run, error) {
	r := new(Run)
	facts, err := readFile(filepath.Join(dir, runFile), factColumns)
	if err != nil {
		return nil, err
	}
	for _, f := range facts {
		r.facts = append(r.facts, fact{f[0], f[1], f[2]})
	}
	results, err := readFile(filepath.Join(dir, measurementsFile), resultColumns)
	if err != nil {
		return nil, err
	}
	for i, line := range results {
		round, err := strconv.Atoi(line[1])
		value, err2 := strconv.ParseFloat(line[5], 64)
		if err := errors.Join(err, err2); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", measurementsFile, i+2, err)
		}
		r.results = append(r.results, measure.Result{
			Server: line[0], Round: round, Format: line[2], Phase: measure.Phase(line[3]), Metric: servers.Metric(line[4]), Value: value,
		})
	}
	return r, nil
}

// readFile returns the lines after the names of the columns.
func readFile(path string, columns []string) ([][]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	in := csv.NewReader(f)
	in.FieldsPerRecord = len(columns)
	lines, err := in.ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(lines) == 0 || !slices.Equal(lines[0], columns) {
		return nil, fmt.Errorf("%s: the first line must be %s", path, strings.Join(columns, ","))
	}
	return lines[1:], nil
}
