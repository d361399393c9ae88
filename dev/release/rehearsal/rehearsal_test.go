package rehearsal

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/firn-id/firn/dev/release/tree"
	"github.com/firn-id/firn/internal/testing/services"
)

const (
	firn  = "github.com/firn-id/firn"
	redis = "lease/redislease"
)

// TestMutants makes a mistake in the tree. The step for the mistake must fail. If the mistake were
// published, a step of users must fail, too.
func TestMutants(t *testing.T) {
	services.Full(t) // the test publishes the tree several times
	for _, c := range []struct {
		name   string
		change func(dir string) error
		step   string // the step that finds the mistake
		file   string // which the problem names
		words  []string
		users  func(context.Context, *stage) error // what fails if the mistake is published, or nil
		wants  string                              // the words of that failure
	}{
		{
			name: "a replacement", change: inMod("cmd/firn", func(f *modfile.File) error { return f.AddReplace(firn, "", "../..", "") }),
			step: "check", file: "cmd/firn/go.mod", words: []string{"replaces " + firn, "delete the line"},
			users: func(ctx context.Context, s *stage) error { return s.install(ctx) }, wants: "replace directives",
		},
		{
			name: "a version that nobody has", change: inMod(redis, func(f *modfile.File) error { return f.AddRequire(firn, "v0.0.0") }),
			step: "check", file: "lease/redislease/go.mod", words: []string{"v0.0.0", "write " + firn + " v"},
		},
		{
			name: "a dependency of tests",
			change: func(dir string) error {
				source := "package redislease\n\nimport _ \"github.com/anishathalye/porcupine\"\n"
				return errors.Join(
					os.WriteFile(filepath.Join(dir, redis, "mutant_test.go"), []byte(source), 0o666),
					inMod(redis, func(f *modfile.File) error { return f.AddRequire("github.com/anishathalye/porcupine", "v1.3.1") })(dir),
				)
			},
			step: "lean", file: "lease/redislease/go.mod", words: []string{"porcupine", "only tests need", "move the tests"},
			users: func(ctx context.Context, s *stage) error {
				dir, err := s.folder("user")
				if err != nil {
					return err
				}
				source := "package main\n\nimport _ \"" + firn + "/lease/redislease\"\n\nfunc main() {}\n"
				if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(source), 0o666); err != nil {
					return err
				}
				_, err = s.build(ctx, dir, firn, firn+"/lease/redislease")
				return err
			},
			wants: "porcupine, which the program does not need",
		},
		{
			name:   "a missing line of go.sum",
			change: inSum(func(lines []string) []string { return lines[1:] }),
			step:   "tidy", file: "lease/redislease/go.sum", words: []string{"\n\t+", "-C dev ./release tidy"},
		},
		{
			name: "a line of go.sum too many",
			change: inSum(func(lines []string) []string {
				return append(lines, "golang.org/x/sys v0.1.0 h1:kunALQeHf1/185U1i0GOB/fy1IPRDDpuoOOqRReG57U=\n")
			}),
			step: "tidy", file: "lease/redislease/go.sum", words: []string{"\n\t-golang.org/x/sys v0.1.0", "-C dev ./release tidy"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newTestStage(t, c.change)
			err := s.until(t, c.step)
			problem, ok := errors.AsType[tree.Problem](err)
			if !ok || problem.File != c.file {
				t.Fatalf("%s: %v, want a problem of %s", c.step, err, c.file)
			}
			for _, word := range c.words {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%s: %v, want %q", c.step, err, word)
				}
			}
			if c.users == nil {
				return
			}
			if c.step == "check" {
				if err := s.publish(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := c.users(t.Context(), s); err == nil || !strings.Contains(err.Error(), c.wants) {
				t.Errorf("the user's step: %v, want %q", err, c.wants)
			}
		})
	}
}

// until takes the steps for the module redislease up to a step, and returns the error of that step.
func (s *stage) until(t *testing.T, step string) error {
	t.Helper()
	ctx := t.Context()
	var module tree.Module
	for _, m := range s.tree.Modules {
		if m.Dir == redis {
			module = m
		}
	}
	for _, next := range []struct {
		name string
		run  func() error
	}{
		{"check", func() error { return s.check(ctx) }},
		{"publish", func() error { return s.publish(ctx) }},
		{"tidy", func() error { return s.tidy(ctx, module) }},
		{"lean", func() error { return s.lean(ctx, module) }},
	} {
		err := next.run()
		if next.name == step {
			return err
		}
		if err != nil && step != "lean" {
			t.Fatalf("%s, before %s: %v", next.name, step, err)
		}
	}
	t.Fatal("no such step")
	return nil
}

// TestUnused has a published module that no program uses.
func TestUnused(t *testing.T) {
	s := newTestStage(t, nil)
	for _, m := range s.tree.Published() {
		s.used[m.Path] = true
	}
	if err := s.complete(t.Context()); err != nil {
		t.Error(err)
	}
	delete(s.used, firn+"/lease/pglease")
	if err := s.complete(t.Context()); err == nil || !strings.Contains(err.Error(), "lease/pglease") {
		t.Errorf("no program uses pglease: %v", err)
	}
}

func TestWantIDs(t *testing.T) {
	for text, n := range map[string]int{"": 1, "0549x5l2itvr4\n": 1, "hello\n": 1, "\n\n": 0 + 2} {
		if err := wantIDs(text, n); err == nil {
			t.Errorf("%q is taken for %d new IDs", text, n)
		}
	}
}

func newTestStage(t *testing.T, change func(dir string) error) *stage {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the proxy of the rehearsal is a folder whose path is part of a URL, and paths of Windows are not")
	}
	if change == nil {
		change = func(string) error { return nil }
	}
	s, err := newStage(t.Context(), ".", change)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// inMod returns a change of the go.mod in a folder.
func inMod(folder string, change func(*modfile.File) error) func(dir string) error {
	return func(dir string) error {
		file := filepath.Join(dir, filepath.FromSlash(folder), "go.mod")
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		f, err := modfile.Parse(file, data, nil)
		if err != nil {
			return err
		}
		if err := change(f); err != nil {
			return err
		}
		if data, err = f.Format(); err != nil {
			return err
		}
		return os.WriteFile(file, data, 0o666)
	}
}

// inSum returns a change of the lines of redislease's go.sum.
func inSum(change func(lines []string) []string) func(dir string) error {
	return func(dir string) error {
		file := filepath.Join(dir, filepath.FromSlash(redis), "go.sum")
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		lines := strings.SplitAfter(string(bytes.TrimSpace(data))+"\n", "\n")
		return os.WriteFile(file, []byte(strings.Join(change(lines), "")), 0o666)
	}
}
