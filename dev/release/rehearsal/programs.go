package rehearsal

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"text/template"
	"time"

	"github.com/firn-id/firn/dev/release/tree"
	"github.com/firn-id/firn/nanoflake"
)

// A store is a package of a store, and a server for programs that use the package.
type store struct {
	Package string
	Scheme  string // of addresses
	start   func(context.Context) (addr string, stop func(), err error)
}

//go:embed testdata
var testdata embed.FS

var templates = template.Must(template.ParseFS(testdata, "testdata/*.tmpl"))

// write writes a file from a template.
func (s *stage) write(file, name string, stores ...store) error {
	var b bytes.Buffer
	data := struct {
		Root   string
		Stores []store
	}{s.tree.Root().Path, stores}
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return err
	}
	return os.WriteFile(file, b.Bytes(), 0o666)
}

// install installs the command as a user does, and makes IDs.
func (s *stage) install(ctx context.Context) error {
	dir, err := s.folder("installer")
	if err != nil {
		return err
	}
	c := command{dir, s.env}
	path := s.tree.Root().Path + "/cmd/firn"
	if _, err := c.run(ctx, "go", "install", path+"@"+s.tree.Version); err != nil {
		return err
	}
	s.used[path] = true
	out, err := c.run(ctx, s.bin("firn"), "new", "nanoflake", "-n", "3")
	if err != nil {
		return err
	}
	if err := wantIDs(out, 3); err != nil {
		return err
	}
	if out, err = c.run(ctx, s.bin("firn"), "version"); err != nil {
		return err
	}
	if !strings.Contains(out, s.tree.Version) {
		return fmt.Errorf("firn version prints %q, without %s", out, s.tree.Version)
	}
	return nil
}

// hello builds and runs the program that README prints.
func (s *stage) hello(ctx context.Context) error {
	dir, err := s.folder("hello")
	if err != nil {
		return err
	}
	source, err := os.ReadFile(filepath.Join(s.copied(), "examples", "hello", "main.go"))
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "main.go"), source, 0o666); err != nil {
		return err
	}
	program, err := s.build(ctx, dir, s.tree.Root().Path)
	if err != nil {
		return err
	}
	out, err := command{dir, s.env}.run(ctx, program, filepath.Join(dir, "leases"))
	if err != nil {
		return err
	}
	id, _, _ := strings.Cut(out, " ")
	return wantIDs(id, 1)
}

// build builds the program in a folder, and returns the path of the program. The program's module
// gets the modules with the paths, at the version of the release. The first go mod tidy marks the
// modules that the program imports; a second go mod tidy must change nothing. The program's module
// graph must be lean.
func (s *stage) build(ctx context.Context, dir string, paths ...string) (program string, err error) {
	if err := s.get(ctx, dir, paths...); err != nil {
		return "", err
	}
	program = filepath.Join(dir, "program")
	for _, args := range [][]string{{"build", "-o", program, "."}, {"vet", "./..."}, {"mod", "tidy", "-diff"}} {
		if _, err := (command{dir, s.env}).run(ctx, "go", args...); err != nil {
			return "", err
		}
	}
	return program, s.graph(ctx, dir)
}

// get makes a module in a folder, and gets the modules with the paths.
func (s *stage) get(ctx context.Context, dir string, paths ...string) error {
	get := []string{"get"}
	for _, path := range paths {
		s.used[path] = true
		get = append(get, path+"@"+s.tree.Version)
	}
	for _, args := range [][]string{{"mod", "init", "example.com/" + filepath.Base(dir)}, get, {"mod", "tidy"}} {
		if _, err := (command{dir, s.env}).run(ctx, "go", args...); err != nil {
			return err
		}
	}
	return nil
}

// author runs the suite of package drivertest on a store.
func (s *stage) author(ctx context.Context) error {
	dir, err := s.folder("store")
	if err != nil {
		return err
	}
	if err := s.write(filepath.Join(dir, "store_test.go"), "author_test.go.tmpl"); err != nil {
		return err
	}
	root := s.tree.Root().Path
	if err := s.get(ctx, dir, root, root+"/lease/drivertest"); err != nil {
		return err
	}
	_, err = command{dir, s.env}.run(ctx, "go", "test", "-short")
	return err
}

// program builds a program that uses stores, and runs the program twice.
func (s *stage) program(ctx context.Context, stores ...store) error {
	name := "all"
	if len(stores) == 1 {
		name = stores[0].Package
	}
	dir, err := s.folder(name)
	if err != nil {
		return err
	}
	if err := s.write(filepath.Join(dir, "main.go"), "stores.go.tmpl", stores...); err != nil {
		return err
	}
	program, err := s.build(ctx, dir, s.modules(stores)...)
	if err != nil {
		return err
	}
	var addresses []string
	for _, st := range stores {
		addr, stop, err := st.start(ctx)
		if err != nil {
			return fmt.Errorf("the server for %s: %w", st.Package, err)
		}
		defer stop()
		addresses = append(addresses, addr)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var ids string
	for range 2 {
		out, err := command{dir, s.env}.run(ctx, program, addresses...)
		if err != nil {
			return err
		}
		ids += out
	}
	return wantIDs(ids, 2*len(stores))
}

// pgx builds and runs a program that gives pgx the types of IDs.
func (s *stage) pgx(ctx context.Context) error { return s.user(ctx, "pgxid", 1) }

// serve builds and runs a program that serves IDs, and takes them.
func (s *stage) serve(ctx context.Context) error { return s.user(ctx, "server", 2) }

// user builds and runs the program for a module beside the root module. The program prints n IDs.
func (s *stage) user(ctx context.Context, module string, n int) error {
	dir, err := s.folder(module)
	if err != nil {
		return err
	}
	if err := s.write(filepath.Join(dir, "main.go"), module+".go.tmpl"); err != nil {
		return err
	}
	root := s.tree.Root().Path
	program, err := s.build(ctx, dir, root, root+"/"+module)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	out, err := command{dir, s.env}.run(ctx, program)
	if err != nil {
		return err
	}
	return wantIDs(out, n)
}

// modules returns the paths of the modules that have the packages of stores, and of the root module.
func (s *stage) modules(stores []store) []string {
	paths := []string{s.tree.Root().Path}
	for _, st := range stores {
		for _, m := range s.tree.Published() {
			if m.Dir == "lease/"+st.Package {
				paths = append(paths, m.Path)
			}
		}
	}
	return paths
}

// wantIDs returns an error unless a text has n lines, each with an ID of the past minutes.
func wantIDs(text string, n int) error {
	lines := strings.Fields(text)
	if len(lines) != n {
		return fmt.Errorf("the program prints %q instead of IDs on %d lines", text, n)
	}
	for _, line := range lines {
		id, err := nanoflake.Parse(line)
		if err != nil {
			return err
		}
		if age := time.Since(id.Time(nanoflake.DefaultEpoch())); age < -time.Minute || age > 10*time.Minute {
			return fmt.Errorf("the ID %s is %v old", line, age)
		}
	}
	return nil
}

// complete returns an error unless the users have used each published module.
func (s *stage) complete(context.Context) error {
	var problems []error
	for _, m := range s.tree.Published() {
		if !s.used[m.Path] {
			problems = append(problems, tree.Problem{File: "dev/release/rehearsal/programs.go", Text: "no program uses the published module " + m.Path,
				Advice: "add a program that does"})
		}
	}
	return errors.Join(problems...)
}
