package tests

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/inspect"
)

// newArgs returns the arguments that make IDs of a format.
func newArgs(name string, more ...string) []string {
	args := []string{"new", name}
	if f, _ := inspect.Lookup(name); f.Worker() != "" {
		args = append(args, "--worker", "5")
	}
	return append(args, more...)
}

// TestNewOrder: a run's IDs are distinct and in order, over many batches.
func TestNewOrder(t *testing.T) {
	const n = 3*formats.MaxBatch + 7
	for _, name := range formats.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := firnRun(t, "", newArgs(name, "-n", strconv.Itoa(n), "--as", "hex")...)
			if code != 0 || stderr != "" {
				t.Fatalf("exit code %d, stderr %q", code, stderr)
			}
			ids, whole := strings.CutSuffix(stdout, "\n")
			lines := strings.Split(ids, "\n")
			if !whole || len(lines) != n {
				t.Fatalf("%d lines, not %d; the last is whole: %v", len(lines), n, whole)
			}
			for i, line := range lines {
				if _, err := hex.DecodeString(line); err != nil {
					t.Fatalf("line %d: %v", i+1, err)
				}
				if i > 0 && line <= lines[i-1] {
					t.Fatalf("line %d: %s follows %s", i+1, line, lines[i-1])
				}
			}
		})
	}
}

// TestNewForms: whichever way the IDs of a run are written, inspect reads it, and reads
// the worker number and the canonical form back.
func TestNewForms(t *testing.T) {
	for _, f := range inspect.Formats() {
		for _, form := range f.Forms() {
			if !slices.Contains(formats.WrittenForms, form) {
				continue
			}
			t.Run(f.Name()+"/"+form.String(), func(t *testing.T) {
				t.Parallel()
				stdout, _, code := firnRun(t, "", newArgs(f.Name(), "-n", "50", "--as", form.String())...)
				if code != 0 {
					t.Fatalf("exit code %d", code)
				}
				lines := strings.Fields(stdout)
				if len(lines) != 50 {
					t.Fatalf("%d lines", len(lines))
				}
				for _, line := range lines {
					info, err := f.Inspect(line, form, inspect.Settings{})
					check(t, err)
					if again := (map[inspect.Form]string{inspect.Text: info.ID, inspect.Int: info.Int, inspect.Hex: info.Hex})[form]; again != line {
						t.Errorf("%s reads back as %s", line, again)
					}
					worker := slices.IndexFunc(info.Fields, func(field inspect.Field) bool {
						return field.Name == strings.ReplaceAll(strings.ToLower(f.Worker()), " ", "_")
					})
					if f.Worker() != "" && (worker < 0 || info.Fields[worker].Value != "5") {
						t.Errorf("%s is not of worker 5: %+v", line, info.Fields)
					}
				}
			})
		}
	}
}

// TestNewJSON: the objects of new are those of inspect.
func TestNewJSON(t *testing.T) {
	for _, name := range formats.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			objects, _, code := firnRun(t, "", newArgs(name, "-n", "20", "--json")...)
			if code != 0 || strings.Count(objects, "\n") != 20 {
				t.Fatalf("exit code %d, %q", code, objects)
			}
			var ids strings.Builder
			for object := range strings.SplitSeq(strings.TrimSpace(objects), "\n") {
				_, id, _ := strings.Cut(object, `"id":"`)
				id, _, _ = strings.Cut(id, `"`)
				ids.WriteString(id + "\n")
			}
			if again, _, _ := firnRun(t, ids.String(), "inspect", name, "--json"); again != objects {
				t.Errorf("new:\n%sinspect:\n%s", objects, again)
			}
		})
	}
}
