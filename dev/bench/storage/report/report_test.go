package report

import (
	"bytes"
	"encoding/xml"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/firn-id/firn/dev/bench/storage/keys"
	"github.com/firn-id/firn/dev/bench/storage/measure"
	"github.com/firn-id/firn/dev/bench/storage/servers"
)

// sample returns a run of two formats: a row takes serial 1 ms, 2 ms and 4 ms in the three rounds, and
// sno twice as long.
func sample(t *testing.T) *Run {
	t.Helper()
	var results []measure.Result
	for round, serial := range []float64{1, 4, 2} {
		for format, factor := range map[string]float64{keys.Serial: 1, "sno": 2} {
			for _, phase := range []measure.Phase{measure.Bulk, measure.One, measure.Several, measure.Random, measure.Recent, measure.Size} {
				for metric, v := range map[servers.Metric]float64{
					measure.Rows: 1000, measure.Seconds: serial * factor, servers.LogBytes: 150_000 * factor, servers.IndexReads: 0,
					servers.IndexBytes: 32_000, servers.TableBytes: 117_000, servers.SecondBytes: 22_000, servers.LeafDensity: 90,
				} {
					results = append(results, measure.Result{Server: servers.PostgreSQL, Round: round + 1, Format: format, Phase: phase, Metric: metric, Value: v})
				}
			}
		}
	}
	r, err := New(measure.Plan{Rounds: 3, Connections: 4}, []measure.Machine{
		{Server: servers.PostgreSQL, Version: "15.1", Settings: []servers.Setting{{Name: "fsync", Value: "on"}}},
	}, results)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSummary(t *testing.T) {
	r := sample(t)
	rate := r.rate(servers.PostgreSQL, measure.Bulk)
	if got, want := rate.of(keys.Serial), (summary{500, 250, 1000}); got != want {
		t.Errorf("serial: %v, want %v", got, want)
	}
	// The rounds differ by a factor of four, and the ratio within a round does not.
	if got, want := relative(rate).of("sno"), (summary{0.5, 0.5, 0.5}); got != want {
		t.Errorf("sno beside serial: %v, want %v", got, want)
	}
	if got := rate.of("uuidv4"); !math.IsNaN(got.median) {
		t.Errorf("a format without measurements: %v", got)
	}
	if got, _ := summarize([]float64{4, 1, 3, 2}); got != (summary{2.5, 1, 4}) {
		t.Errorf("an even number of values: %v", got)
	}
}

func TestFiles(t *testing.T) {
	r, dir := sample(t), t.TempDir()
	if err := r.Write(dir); err != nil {
		t.Fatal(err)
	}
	again, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r, again) {
		t.Error("the run read is not the run written")
	}
	tables := string(r.Tables())
	for _, want := range []string{"## PostgreSQL: bulk load", "| **sno** | 250 | 0.5 (0.5–0.5) |", "| serial | 500 | 1 (1–1) |", "PostgreSQL 15.1: fsync=on"} {
		if !strings.Contains(tables, want) {
			t.Errorf("the tables do not have %q:\n%s", want, tables)
		}
	}
	if strings.Contains(tables, "NaN") || strings.Contains(tables, "Inf") {
		t.Error("the tables have NaN or an infinity")
	}
	charts, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil || len(charts) != 4 {
		t.Fatalf("%d charts, %v", len(charts), err)
	}
	for _, path := range charts {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(content, []byte(">sno</text>")) {
			t.Errorf("%s has no sno", path)
		}
		for d := xml.NewDecoder(bytes.NewReader(content)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for name, spoil := range map[string]func(string) string{
		"no number":         func(s string) string { return strings.Replace(s, ",1000\n", ",many\n", 1) },
		"another column":    func(s string) string { return strings.Replace(s, "server,", "host,", 1) },
		"a line too long":   func(s string) string { return s + "a,1,b,c,d,5,6\n" },
		"an empty document": func(string) string { return "" },
	} {
		dir := t.TempDir()
		if err := sample(t).Write(dir); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, measurementsFile)
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(spoil(string(content))), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(dir); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
