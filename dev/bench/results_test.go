package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/dev/bench/chart"
)

// Each benchmark runs under a name of its own and reports all values that the tables and charts show.
func TestBenchmarks(t *testing.T) {
	before := flag.Lookup("test.benchtime").Value.String()
	defer flag.Set("test.benchtime", before)
	if err := flag.Set("test.benchtime", "1x"); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, group := range groups {
		all := benchmarks(group, 2)
		if len(all) == 0 {
			t.Errorf("%s has no benchmarks", group)
		}
		for _, b := range all {
			if seen[b.name] || !strings.HasPrefix(b.name, group+"/") {
				t.Errorf("the name %s is not its own", b.name)
			}
			seen[b.name] = true
			if group == groupSort {
				continue // a million IDs take a while; the subjects' test has a thousand
			}
			var failed error
			r := testing.Benchmark(func(tb *testing.B) { failed = b.run(tb) })
			if failed != nil {
				t.Errorf("%s: %v", b.name, failed)
				continue
			}
			units := []string{"ns/op", "allocs/op"}
			if group == groupSaturation {
				units = []string{"ns/op", "%cap", "IDs/s"}
				if _, known := cpuTime(); known {
					units = append(units, "cores", "cpu-ns/ID")
				}
			}
			for _, unit := range units {
				if v, ok := r.Extra[unit]; !ok || math.IsNaN(v) || v < 0 || v == 0 && unit == "ns/op" {
					t.Errorf("%s reports %v %s", b.name, v, unit)
				}
			}
		}
	}
	for _, l := range limits() {
		if !seen[l.measure.name] {
			t.Errorf("%s: no benchmark %s", l.what, l.measure.name)
		}
		for _, other := range []string{l.peer, l.floor} {
			if other != "" && !seen[other] {
				t.Errorf("%s: no benchmark %s", l.what, other)
			}
		}
	}
	for _, p := range []plan{full, hasty} {
		for _, group := range groups {
			if p.time[group] <= 0 {
				t.Errorf("a plan of %d rounds has no time for %s", p.rounds, group)
			}
		}
	}
}

// A benchmark that fails says why.
func TestBenchmarkFails(t *testing.T) {
	why := errors.New("why")
	s := &subject{name: "x", next: func() (loop, error) { return func(int) error { return why }, nil }, cap: capacity{1, time.Millisecond}}
	for name, run := range map[string]func(b *testing.B) error{
		"below":    func(b *testing.B) error { return belowCap(b, s, s.next) },
		"parallel": func(b *testing.B) error { return parallel(b, s, 2) },
		"saturate": func(b *testing.B) error { return saturate(b, s, s.next, 2) },
	} {
		var failed error
		testing.Benchmark(func(b *testing.B) { failed = run(b) })
		if !errors.Is(failed, why) {
			t.Errorf("%s: %v", name, failed)
		}
	}
}

func TestMedian(t *testing.T) {
	for _, v := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{9, 1, 2}, 2}, {[]float64{4, 1, 900, 2}, 3}} {
		given := slices.Clone(v.values)
		if got := median(v.values); got != v.want || !slices.Equal(given, v.values) {
			t.Errorf("median(%v) = %v, and changes its argument to %v", given, got, v.values)
		}
	}
	if !math.IsNaN(median(nil)) {
		t.Error("nothing has a median")
	}
}

func TestCoreCounts(t *testing.T) {
	for cores, want := range map[int][]int{1: nil, 2: {2}, 3: {2, 3}, 8: {2, 4, 8}, 12: {2, 4, 8, 12}} {
		if got := coreCounts(cores); !slices.Equal(got, want) {
			t.Errorf("%d cores: %v", cores, got)
		}
	}
}

func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{0.12345: "0.123", 0.5: "0.5", 1.256: "1.26", 12.34: "12.3", 12: "12", 99.94: "99.9", 244.4: "244", 1000: "1000"} {
		if got := chart.Digits(v); got != want {
			t.Errorf("%v is written %s", v, got)
		}
	}
	if got := times(30, 12); got != "2.5 ×" {
		t.Errorf("30 is %s as much as 12", got)
	}
	if got := times(30, 0); got != "" {
		t.Errorf("30 is %s as much as 0", got)
	}
}

// raw has measurements of some subjects in a run with two cores, two or three of each benchmark.
const raw = `goos: linux
goarch: amd64
cpu: Some Processor
cores: 2
go: go1.2.3
date: 2026-02-03
github.com/rs/xid: v1.6.0
BenchmarkNext/id=nanoflake-2  100  9 ns/op  0 B/op  0 allocs/op
BenchmarkNext/id=nanoflake-2  100  10 ns/op  0 B/op  0 allocs/op
BenchmarkNext/id=nanoflake-2  100  900 ns/op  0 B/op  0 allocs/op
BenchmarkNext/id=sno-2  100  13 ns/op  0 B/op  0 allocs/op
BenchmarkNext/id=bwmarrin-snowflake-2  100  30 ns/op  0 B/op  0 allocs/op
BenchmarkNext/id=rs-xid-2  100  52 ns/op  0 B/op  0 allocs/op
BenchmarkNext/id=oklog-ulid-2  100  69 ns/op  16 B/op  1 allocs/op
BenchmarkParallel/id=nanoflake/cores=2-2  100  14 ns/op  0 B/op  0 allocs/op
BenchmarkParallel/id=rs-xid/cores=2-2  100  35 ns/op  0 B/op  0 allocs/op
BenchmarkNext/id=time-since-2  100  24 ns/op
BenchmarkSaturation/id=nanoflake/goroutines=1-2  100  244 ns/op  99.95 %cap  4094000 IDs/s  0.1 cores  24 cpu-ns/ID
BenchmarkSaturation/id=bwmarrin-snowflake/goroutines=1-2  100  244 ns/op  99.8 %cap  4090000 IDs/s  1 cores  240 cpu-ns/ID
BenchmarkEncode/id=sno-2  100  4 ns/op  0 B/op  0 allocs/op
BenchmarkEncode/id=rs-xid-2  100  12 ns/op  0 B/op  0 allocs/op
BenchmarkDecode/id=rs-xid-2  100  16 ns/op  0 B/op  0 allocs/op
BenchmarkSort/id=sno-2  3  19000000 ns/op  1 B/op  1 allocs/op
BenchmarkSort/id=sno-by-comparison-2  3  152000000 ns/op  0 B/op  0 allocs/op
tags: purego
BenchmarkNext/id=nanoflake-2  100  28 ns/op  0 B/op  0 allocs/op
`

func mustParse(t *testing.T, text string) *results {
	t.Helper()
	r, err := parse(strings.NewReader(text), "test")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestParse(t *testing.T) {
	r := mustParse(t, raw)
	for k, want := range map[key]float64{
		{"Next/id=nanoflake", "", "ns/op"}:                        10,
		{"Next/id=nanoflake", portable, "ns/op"}:                  28,
		{"Parallel/id=nanoflake/cores=2", "", "ns/op"}:            14,
		{"Saturation/id=nanoflake/goroutines=1", "", "cpu-ns/ID"}: 24,
		{"Saturation/id=nanoflake/goroutines=1", "", "%cap"}:      99.95,
		{"Sort/id=sno", "", "ns/op"}:                              19e6,
		{"Next/id=oklog-ulid", "", "allocs/op"}:                   1,
	} {
		if got, ok := r.median(k); !ok || math.Abs(got.Center-want) > 1e-6*want {
			t.Errorf("%+v is %v, %t", k, got.Center, ok)
		}
	}
	if _, ok := r.median(key{"Next/id=scru160", "", "ns/op"}); ok {
		t.Error("what was not measured has a value")
	}
	for k, want := range map[string]string{"cpu": "Some Processor", "github.com/rs/xid": "v1.6.0", "go": "go1.2.3"} {
		if r.config[k] != want {
			t.Errorf("%s is %q", k, r.config[k])
		}
	}
	for _, bad := range []string{"", "goos: linux\n", "BenchmarkNext/id=sno-2 100 x ns/op\n"} {
		if _, err := parse(strings.NewReader(bad), "test"); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// parse reads the output of writeConfig, which names the measured versions.
func TestConfig(t *testing.T) {
	var b bytes.Buffer
	if err := writeConfig(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString("BenchmarkX 1 1 ns/op\n")
	r := mustParse(t, b.String())
	for _, k := range []string{"goos", "goarch", configCores, configGo, configDate} {
		if r.config[k] == "" {
			t.Errorf("no %s in\n%s", k, &b)
		}
	}
	if info := r.config["github.com/rs/xid"]; info != "" && info[0] != 'v' {
		t.Errorf("version %q", info)
	}
}

func TestTable(t *testing.T) {
	page := string(table(mustParse(t, raw)))
	for _, want := range []string{
		"Some Processor, 2 cores", "go1.2.3", "github.com/rs/xid v1.6.0",
		"| Nanoflakes, one goroutine, below its cap | ≤ 12 ns | 10 ns | yes |  | bwmarrin/snowflake 30 ns | 3 × |",
		"| Nanoflakes, likewise, portable | ≤ 30 ns | 28 ns | yes | time.Since alone 24 ns | bwmarrin/snowflake 30 ns | 1.07 × |",
		"| sno, one goroutine, below its cap | ≤ 12 ns | 13 ns | **no** |  | rs/xid 52 ns | 4 × |",
		"| Nanoflakes, two goroutines on two cores, per ID | ≤ 15 ns | 14 ns | yes |  | rs/xid 35 ns | 2.5 × |",
		"| SCRU160 | ≤ 28 ns | not measured |  |  |  |  |",
		"| Nanoflakes at saturation, share of the cap | ≥ 99.90 % | 99.95 % | yes |  | bwmarrin/snowflake 99.80 % | 0.998 × |",
		"| Nanoflakes at saturation, cores used | ≤ 0.15 cores | 0.1 cores | yes |  | bwmarrin/snowflake 1 cores | 10 × |",
		"| encode into a buffer, sno | ≤ 2 ns | 4 ns | **no** | a call that copies 10 bytes 3.5 ns | rs/xid 12 ns | 3 × |",
		"| sort 1 M sno IDs | ≤ 20 ms | 19 ms | yes |  | sno IDs by slices.SortFunc 152 ms | 8 × |",
		"| **Firn Nanoflakes** | 10 | ∞ | 0 |  |",
		"| rs/xid | 52 | ∞ | 0 | 4 × Firn sno |",
		"| oklog/ulid | 69 | ∞ | 1 |  |",
		"| **Firn Nanoflakes** | 10 | 14 |  |",
		"| bwmarrin/snowflake | 1 | 4.09 | 99.80 | 1.000 | 240 | 10 × Firn Nanoflakes |",
		"| sno IDs by slices.SortFunc | 152 | ∞ | 0 | 8 × Firn sno |",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the table does not have\n%s", want)
		}
	}
	if t.Failed() {
		t.Log(page)
	}
	if nanoflake, xid := strings.Index(page, "| **Firn Nanoflakes** | 10"), strings.Index(page, "| rs/xid | 52"); nanoflake > xid {
		t.Error("the fastest is not first")
	}
	if strings.Contains(page, "\n| time.Since alone") {
		t.Error("a bound is shown as a peer")
	}
}

func TestLimit(t *testing.T) {
	most, least := limit{bound: 12}, limit{bound: 99.9, atLeast: true}
	if !most.met(12) || most.met(12.01) || !least.met(99.9) || least.met(99.89) {
		t.Error("a limit does not hold where it should, or the other way around")
	}
}

// Every chart is well-formed, shows its rows, and has colours for dark pages.
func TestCharts(t *testing.T) {
	all := charts(mustParse(t, raw))
	want := map[string][]string{
		"next":       {"Firn Nanoflakes", "rs/xid", "52", "oklog/ulid"},
		"parallel":   {"Firn Nanoflakes", "14", "others, 2 cores"},
		"text":       {"Firn sno", "rs/xid", "16", "Firn, written"},
		"sort":       {"Firn sno", "19", "152"},
		"saturation": {"0.1", "100.0 % of 4.1 M IDs/s", "bwmarrin/snowflake"},
	}
	if len(all) != len(want) {
		t.Errorf("%d charts", len(all))
	}
	for _, c := range all {
		svg, err := c.Draw()
		if err != nil {
			t.Fatalf("%s: %v", c.File, err)
		}
		var text strings.Builder
		shapes := 0
		for in := xml.NewDecoder(bytes.NewReader(svg)); ; {
			token, err := in.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", c.File, err)
			}
			switch token := token.(type) {
			case xml.CharData:
				text.Write(token)
				text.WriteByte('\n')
			case xml.StartElement:
				if token.Name.Local == "rect" {
					shapes++
				}
			}
		}
		if shapes < 2*len(c.Rows) { // a bar and its track
			t.Errorf("%s has %d rows and %d shapes", c.File, len(c.Rows), shapes)
		}
		for _, s := range append(want[c.File], c.Unit) {
			if !strings.Contains(text.String(), s+"\n") {
				t.Errorf("%s does not show %q: %q", c.File, s, &text)
			}
		}
		if title := strings.Join(strings.Fields(text.String()), " "); !strings.Contains(title, c.Title) {
			t.Errorf("%s does not show its title: %q", c.File, title)
		}
		if bytes.Count(svg, []byte(`<rect class="firn"`)) < 2 { // one is in the legend
			t.Errorf("%s has no bar in Firn's colour", c.File)
		}
		if n := strings.Count(string(svg), "@media (prefers-color-scheme: dark)"); n != 1 {
			t.Errorf("%s has colours for dark pages %d times", c.File, n)
		}
	}
}

// The charts of the documents are the charts of the stored measurements.
func TestStoredCharts(t *testing.T) {
	stored := filepath.Join("results", rawFile)
	file, err := os.Open(stored)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r, err := parse(file, stored)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range charts(r) {
		drawn, err := c.Draw()
		if err != nil {
			t.Fatal(err)
		}
		if was, err := os.ReadFile(filepath.Join("results", c.File+".svg")); err != nil || !bytes.Equal(was, drawn) {
			t.Errorf("%s is not the chart of the measurements, %v: go run -C dev ./bench -from bench/results/bench.txt", c.File, err)
		}
	}
}

// Without measurements there are no charts.
func TestNoCharts(t *testing.T) {
	if all := charts(mustParse(t, "cores: 1\nBenchmarkX 1 1 ns/op\n")); len(all) != 0 {
		t.Errorf("%d charts", len(all))
	}
}

// With -from the command writes the table and the charts of existing measurements.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	from, out := filepath.Join(dir, "raw"), filepath.Join(dir, "out")
	if err := os.WriteFile(from, []byte(raw), 0o666); err != nil {
		t.Fatal(err)
	}
	var printed bytes.Buffer
	if err := run([]string{"-from", from, "-out", out}, &printed, io.Discard); err != nil {
		t.Fatal(err)
	}
	if written, err := os.ReadFile(filepath.Join(out, tableFile)); err != nil || !bytes.Equal(written, printed.Bytes()) {
		t.Errorf("what is printed is not the table: %v\n%s", err, &printed)
	}
	for _, name := range []string{rawFile, tableFile, "next.svg", "saturation.svg", "sort.svg"} {
		if info, err := os.Stat(filepath.Join(out, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	for _, args := range [][]string{{"-from", filepath.Join(dir, "none"), "-out", out}, {"x"}, {"-from", os.DevNull, "-out", out}} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
