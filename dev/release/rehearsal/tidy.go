package rehearsal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/firn-id/firn/dev/release/tree"
)

// dependent returns the modules that take modules of the project from a proxy. The go command tidies all other
// modules itself: those that require no module of the project, and those that replace what they require.
func (s *stage) dependent() []tree.Module {
	return slices.DeleteFunc(slices.Clone(s.tree.Modules), func(m tree.Module) bool {
		return s.tree.Apart(m) || !slices.ContainsFunc(m.File.Require, func(r *modfile.Require) bool { return s.own(r.Mod.Path) })
	})
}

// tidy returns a problem for each file that go mod tidy changes.
func (s *stage) tidy(ctx context.Context, modules ...tree.Module) error {
	var problems []error
	for _, m := range modules {
		changed, err := s.tidied(ctx, m)
		if err != nil {
			return err
		}
		for _, c := range changed {
			problems = append(problems, tree.Problem{File: c.file, Text: "go mod tidy changes the file:\n" + c.difference(),
				Advice: "go run -C dev ./release tidy"})
		}
	}
	return errors.Join(problems...)
}

// A change is a file that go mod tidy has changed.
type change struct {
	file          string // from the top folder, with slashes
	before, after []byte
}

// tidied runs go mod tidy in the copy of a module, and returns the changed files. Lines of go.sum
// about the project's own modules do not count: the hashes are known when a release is tagged, and
// no build needs the lines. A build of the tree has the workspace, and a build of another module has
// the other module's go.sum.
func (s *stage) tidied(ctx context.Context, m tree.Module) (changed []change, err error) {
	dir := filepath.Join(s.copied(), filepath.FromSlash(m.Dir))
	files := []string{"go.mod", "go.sum"}
	var before [][]byte
	for _, name := range files {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		before = append(before, data)
	}
	if _, err := (command{dir, s.env}).run(ctx, "go", "mod", "tidy"); err != nil {
		return nil, fmt.Errorf("%s: %w", m.Dir, err)
	}
	for i, name := range files {
		after, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if name == "go.sum" {
			after = s.withoutOwn(after)
		}
		if string(after) != string(before[i]) {
			changed = append(changed, change{path.Join(m.Dir, name), before[i], after})
		}
	}
	return changed, nil
}

// withoutOwn returns a go.sum without the lines about the project's own modules.
func (s *stage) withoutOwn(sum []byte) []byte {
	var kept strings.Builder
	for line := range strings.Lines(string(sum)) {
		if path, _, _ := strings.Cut(line, " "); !s.own(path) {
			kept.WriteString(line)
		}
	}
	return []byte(kept.String())
}

// difference returns the lines that have come and gone.
func (c change) difference() string {
	before, after := strings.Split(string(c.before), "\n"), strings.Split(string(c.after), "\n")
	var lines []string
	for _, line := range before {
		if !slices.Contains(after, line) {
			lines = append(lines, "\t-"+line)
		}
	}
	for _, line := range after {
		if !slices.Contains(before, line) {
			lines = append(lines, "\t+"+line)
		}
	}
	if len(lines) == 0 {
		return "\tthe order of the lines"
	}
	return strings.Join(lines, "\n")
}

// Tidy tidies the go.mod and go.sum files of the modules that require modules of the project, in the
// tree that has the folder dir. Tidy returns the paths of the files that have changed. The go command
// alone cannot tidy these modules: they require a version that is not published yet.
func Tidy(ctx context.Context, dir string) ([]string, error) {
	s, err := newStage(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := cmp.Or(s.check(ctx), s.publish(ctx)); err != nil {
		return nil, err
	}
	original, err := tree.Read(dir)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, m := range s.dependent() {
		changed, err := s.tidied(ctx, m)
		if err != nil {
			return files, err
		}
		for _, c := range changed {
			if err := os.WriteFile(filepath.Join(original.Dir, filepath.FromSlash(c.file)), c.after, 0o666); err != nil {
				return files, err
			}
			files = append(files, c.file)
		}
	}
	return files, nil
}

// lean returns a problem for each requirement that only the tests of a module need. The requirement
// would be in the module graph of every user. Call lean after tidy: tidy completes the go.sum of the
// copy.
func (s *stage) lean(ctx context.Context, modules ...tree.Module) error {
	var problems []error
	for _, m := range modules {
		needed, err := s.needed(ctx, filepath.Join(s.copied(), filepath.FromSlash(m.Dir)))
		if err != nil {
			return fmt.Errorf("%s: %w", m.Dir, err)
		}
		for _, r := range m.File.Require {
			if !needed[r.Mod.Path] {
				problems = append(problems, tree.Problem{File: m.GoMod(), Line: r.Syntax.Start.Line,
					Text:   fmt.Sprintf("published module %s requires %s, which only tests need", m.Path, r.Mod.Path),
					Advice: "move the tests to a module that no release publishes"})
			}
		}
	}
	return errors.Join(problems...)
}

// systems are the systems whose files decide what a module needs.
var systems = []string{"linux", "darwin", "windows", "freebsd"}

// needed returns the paths of the modules with the packages that are built for the packages in a
// folder and below.
func (s *stage) needed(ctx context.Context, dir string) (map[string]bool, error) {
	needed := make(map[string]bool)
	for _, system := range systems {
		c := command{dir, append(slices.Clone(s.env), "GOOS="+system)}
		out, err := c.run(ctx, "go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "./...")
		if err != nil {
			return nil, err
		}
		for _, module := range strings.Fields(out) {
			needed[module] = true
		}
	}
	return needed, nil
}

// graph returns an error if the project's modules bring modules into the module graph of the program
// in a folder that the program does not need.
func (s *stage) graph(ctx context.Context, dir string) error {
	needed, err := s.needed(ctx, dir)
	if err != nil {
		return err
	}
	out, err := command{dir, s.env}.run(ctx, "go", "mod", "graph")
	if err != nil {
		return err
	}
	for line := range strings.Lines(out) {
		from, to, _ := strings.Cut(strings.TrimSpace(line), " ")
		to, _, _ = strings.Cut(to, "@")
		if s.own(from) && !needed[to] && to != "go" && to != "toolchain" {
			return fmt.Errorf("the module graph of a program that uses %s has %s, which the program does not need", from, to)
		}
	}
	return nil
}

// own reports whether a path, with or without a version, belongs to a module of the project.
func (s *stage) own(path string) bool {
	rest, ok := strings.CutPrefix(path, s.tree.Root().Path)
	return ok && (rest == "" || strings.ContainsAny(rest[:1], "/@"))
}
