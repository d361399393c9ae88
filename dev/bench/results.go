package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/perf/benchfmt"
	"golang.org/x/perf/benchmath"
)

// Keys of the configuration: the machine and the versions of the results.
const (
	configGo    = "go"
	configCPU   = "cpu"
	configCores = "cores"
	configClock = "clocksource"
	configDate  = "date"
	configTags  = "tags" // build tags
)

// writeConfig writes the configuration of the process and the machine.
func writeConfig(w io.Writer) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return fmt.Errorf("the program does not know its modules")
	}
	lines := [][2]string{
		{"goos", runtime.GOOS}, {"goarch", runtime.GOARCH}, {configCPU, cpuid.CPU.BrandName},
		{configCores, fmt.Sprint(runtime.GOMAXPROCS(0))}, {configClock, clocksource()},
		{configGo, runtime.Version()}, {configDate, time.Now().UTC().Format(time.DateOnly)},
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOAMD64", "GOARM64":
			lines = append(lines, [2]string{strings.ToLower(s.Key), s.Value})
		case "-tags":
			lines = append(lines, [2]string{configTags, s.Value})
		}
	}
	for _, m := range info.Deps {
		if slices.ContainsFunc(subjects, func(s subject) bool { return s.module == m.Path }) {
			lines = append(lines, [2]string{m.Path, m.Version})
		}
	}
	for _, l := range lines {
		if l[1] != "" {
			if _, err := fmt.Fprintf(w, "%s: %s\n", l[0], l[1]); err != nil {
				return err
			}
		}
	}
	return nil
}

// clocksource returns the name of the kernel's clock, "" if the kernel does not name it.
func clocksource() string {
	name, _ := os.ReadFile("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	return strings.TrimSpace(string(name))
}

// Results are the measurements of a run.
type results struct {
	config map[string]string // without the build tags
	values map[key][]float64
}

// A key names measurements of one kind: the benchmark without the number of processors, the build
// tags, and the unit.
type key struct{ name, tags, unit string }

// parse reads results in Go's benchmark format.
func parse(r io.Reader, file string) (*results, error) {
	res := &results{config: make(map[string]string), values: make(map[key][]float64)}
	in := benchfmt.NewReader(r, file)
	for in.Scan() {
		switch rec := in.Result().(type) {
		case *benchfmt.SyntaxError:
			return nil, rec
		case *benchfmt.Result:
			var tags string
			for _, c := range rec.Config {
				if c.Key == configTags {
					tags = string(c.Value)
				} else {
					res.config[c.Key] = string(c.Value)
				}
			}
			base, parts := rec.Name.Parts()
			var name strings.Builder
			name.WriteString(string(base))
			for _, part := range parts {
				if part[0] != '-' {
					name.WriteString(string(part))
				}
			}
			for _, v := range rec.Values {
				if v.OrigUnit != "" {
					v.Value, v.Unit = v.OrigValue, v.OrigUnit
				}
				k := key{name.String(), tags, v.Unit}
				res.values[k] = append(res.values[k], v.Value)
			}
		}
	}
	if err := in.Err(); err != nil {
		return nil, err
	}
	if len(res.values) == 0 {
		return nil, fmt.Errorf("%s: no results", file)
	}
	return res, nil
}

// median returns the median of the measurements with its confidence interval; ok is false if there
// are no measurements.
func (r *results) median(k key) (s benchmath.Summary, ok bool) {
	v := r.values[k]
	if len(v) == 0 {
		return s, false
	}
	return benchmath.AssumeNothing.Summary(benchmath.NewSample(slices.Clone(v), &benchmath.DefaultThresholds), 0.95), true
}

// ns returns the time of a benchmark.
func (r *results) ns(name string) (benchmath.Summary, bool) { return r.median(key{name, "", "ns/op"}) }
