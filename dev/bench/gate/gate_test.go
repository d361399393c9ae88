package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/services"
)

func TestCounts(t *testing.T) {
	const text = "# why\n# so\n\ntoolchain go1.2\n\nb/TryNext 12.5\na/Parse   3\n"
	c, err := parseCounts([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if want := map[string]float64{"b/TryNext": 12.5, "a/Parse": 3}; c.toolchain != "go1.2" || !maps.Equal(c.perID, want) {
		t.Fatalf("%+v", c)
	}
	written := c.format([]byte(text), []string{"a/Parse", "b/TryNext"})
	if !bytes.HasPrefix(written, []byte("# why\n# so\n\ntoolchain")) {
		t.Errorf("the header is gone:\n%s", written)
	}
	again, err := parseCounts(written)
	if err != nil || again.toolchain != c.toolchain || !maps.Equal(again.perID, c.perID) {
		t.Errorf("%+v, %v", again, err)
	}
	for bad, where := range map[string]string{
		"a 1\nb\n": "line 2", "a 1 2": "line 1", "a x": "line 1", "a 0": "line 1", "a -3": "line 1", "a Inf": "line 1", "a NaN": "line 1", "a 1\na 2": "line 2",
	} {
		if _, err := parseCounts([]byte(bad)); err == nil || !strings.Contains(err.Error(), where) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

func TestTotal(t *testing.T) {
	if n, err := total([]byte("version: 1\nevents: Ir\n\nfn=(1) x\n7 13\n\ntotals: 2827628\n")); n != 2827628 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	for _, bad := range []string{"", "totals: 0\n", "totals: x\n", "summary: 7\n"} {
		if n, err := total([]byte(bad)); err == nil {
			t.Errorf("%q has the total %d", bad, n)
		}
	}
}

func TestCompare(t *testing.T) {
	allowed := func() counts { return counts{"", map[string]float64{"a": 100, "b": 10}} }
	for _, v := range []struct {
		what    string
		counted map[string]float64
		wrong   []string // what the error names; nil for no error
	}{
		{"the same", map[string]float64{"a": 100, "b": 10}, nil},
		{"fewer", map[string]float64{"a": 50, "b": 9}, nil},
		{"within the tolerance", map[string]float64{"a": 102.9, "b": 10.29}, nil},
		{"too many", map[string]float64{"a": 103.1, "b": 10}, []string{"a: 103.1", "-update"}},
		{"both too many", map[string]float64{"a": 200, "b": 11}, []string{"a: 200", "b: 11"}},
		{"a new one", map[string]float64{"a": 100, "b": 10, "c": 1}, []string{"c: 1.0", "does not say"}},
		{"one is gone", map[string]float64{"a": 100}, []string{"b: in the file"}},
	} {
		var out strings.Builder
		err := compare(&out, slices.Sorted(maps.Keys(v.counted)), v.counted, allowed())
		if (err != nil) != (v.wrong != nil) {
			t.Errorf("%s: %v", v.what, err)
		}
		for _, want := range v.wrong {
			if !strings.Contains(fmt.Sprint(err), want) {
				t.Errorf("%s: the error does not have %q: %v", v.what, want, err)
			}
		}
		for name := range v.counted {
			if !strings.Contains(out.String(), name) {
				t.Errorf("%s: the table does not have %s:\n%s", v.what, name, &out)
			}
		}
	}
}

// The file in the repository has a count for each path, and nothing else.
func TestFile(t *testing.T) {
	text, err := os.ReadFile("counts.txt")
	if err != nil {
		t.Fatal(err)
	}
	c, err := parseCounts(text)
	if err != nil {
		t.Fatal(err)
	}
	output, err := exec.Command("go", "run", "./paths").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(output))
	if got := slices.Sorted(maps.Keys(c.perID)); !slices.Equal(got, slices.Sorted(slices.Values(names))) {
		t.Errorf("counts of %q, and the paths are %q", got, names)
	}
	if written := c.format(text, names); !bytes.Equal(written, text) {
		t.Errorf("not as -update writes it:\n%s", written)
	}
}

// The gate finds a slower library, and passes the present library. The test builds and counts both.
func TestSlowdownIsFound(t *testing.T) {
	services.Full(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("instructions are counted on linux/amd64 alone")
	}
	if _, err := exec.LookPath("valgrind"); err != nil {
		services.Missing(t, "valgrind is not installed, which counts instructions")
	}
	for _, v := range []struct{ path, file, in, more string }{
		{"nanoflake/TryNext", "nanoflake/generator.go", "func (g *Generator) TryNext() (ID, error) {", " g.ExpiresAt();"},
		{"sno/Parse", "sno/text.go", "func Parse(s string) (ID, error) {", " _, _ = ParseHex(s);"},
	} {
		t.Run(v.path, func(t *testing.T) {
			now := countWith(t, v.path, 0)
			allowed := counts{perID: map[string]float64{v.path: now}}
			again := map[string]float64{v.path: countWith(t, v.path, now)}
			if err := compare(io.Discard, []string{v.path}, again, allowed); err != nil {
				t.Error(err)
			}
			slow := map[string]float64{v.path: countWith(t, v.path, now, edit{v.file, v.in, v.in + v.more})}
			if err := compare(io.Discard, []string{v.path}, slow, allowed); err == nil || !strings.Contains(err.Error(), v.path) {
				t.Errorf("%.1f instructions an ID have become %.1f: %v", now, slow[v.path], err)
			}
		})
	}
}

func countWith(t *testing.T, path string, most float64, edits ...edit) float64 {
	t.Helper()
	p, err := build(edits...)
	if err != nil {
		t.Fatal(err)
	}
	defer p.remove()
	n, err := p.least(path, most)
	if err != nil {
		t.Fatal(err)
	}
	return n
}
