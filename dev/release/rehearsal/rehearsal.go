// Package rehearsal does with the tree what users do after a release.
//
// The package publishes the modules to a module proxy of its own, which is a folder. The go command
// makes the files of the proxy from the tags of a copy of the tree, as the public proxies do. Then
// the package installs the command, and builds and runs programs that use the modules, in empty
// folders, without a workspace, and with an empty module cache. The other modules come from the
// module cache of the machine or from the proxies of GOPROXY.
//
// In the copy of the tree, the package checks that modules are tidy, and that published modules have
// no requirement for tests alone.
package rehearsal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/firn-id/firn/dev/release/tree"
)

// Run rehearses a release of the tree that has the folder dir, and reports each step to log. Run
// takes the work tree with all changes, committed or not, except files that git ignores. An error
// that is a [tree.Problem], or joins problems, names a file to change.
func Run(ctx context.Context, dir string, log io.Writer) error {
	s, err := newStage(ctx, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	began := time.Now()
	for _, step := range s.steps() {
		start := time.Now()
		if err := step.run(ctx); err != nil {
			return fmt.Errorf("%s: %w", step.name, err)
		}
		fmt.Fprintf(log, "%6.1fs  %s\n", time.Since(start).Seconds(), step.name)
	}
	fmt.Fprintf(log, "%6.1fs  in all, for %d published modules at %s\n", time.Since(began).Seconds(), len(s.tree.Published()), s.tree.Version)
	return nil
}

// A step is a part of the rehearsal.
type step struct {
	name string
	run  func(context.Context) error
}

func (s *stage) steps() []step {
	steps := []step{
		{"check the go.mod files, go.work and the versions", s.check},
		{"publish the modules", s.publish},
		{"install the command, and make IDs", s.install},
		{"run the program of README", s.hello},
		{"test a store, as the author of the store does", s.author},
	}
	for _, st := range stores {
		steps = append(steps, step{"run a program with " + st.Package, func(ctx context.Context) error { return s.program(ctx, st) }})
	}
	return append(steps,
		step{"run a program with all stores", func(ctx context.Context) error { return s.program(ctx, stores...) }},
		step{"run a program with pgxid", s.pgx},
		step{"run a program with the server", s.serve},
		step{"use all published modules", s.complete},
		step{"tidy the modules that require modules of the tree", func(ctx context.Context) error { return s.tidy(ctx, s.dependent()...) }},
		step{"look for requirements of tests", func(ctx context.Context) error { return s.lean(ctx, s.tree.Published()...) }},
	)
}

// A stage is a folder with a copy of the tree, the proxy, and the folders of users.
type stage struct {
	dir  string
	env  []string // of a user
	tree *tree.Tree

	used map[string]bool // the paths of the published modules that users have used
}

// newStage copies the tree that has the folder dir, changes the copy, and commits the copy.
func newStage(ctx context.Context, dir string, changes ...func(dir string) error) (*stage, error) {
	temp, err := os.MkdirTemp("", "firn-release-")
	if err != nil {
		return nil, err
	}
	s := &stage{dir: temp, used: make(map[string]bool)}
	if err := s.prepare(ctx, dir, changes); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *stage) prepare(ctx context.Context, dir string, changes []func(dir string) error) (err error) {
	if err := s.copyTree(dir); err != nil {
		return err
	}
	for _, change := range changes {
		if err := change(s.copied()); err != nil {
			return err
		}
	}
	if err := s.commit(); err != nil {
		return err
	}
	if s.tree, err = tree.Read(s.copied()); err != nil {
		return err
	}
	s.env, err = s.userEnv(ctx)
	return err
}

// check returns the problems of the tree.
func (s *stage) check(context.Context) error {
	var problems []error
	for _, p := range s.tree.Check() {
		problems = append(problems, p)
	}
	return errors.Join(problems...)
}

// Close removes the folder.
func (s *stage) Close() error { return os.RemoveAll(s.dir) }

// folder makes a new folder of the stage.
func (s *stage) folder(name string) (string, error) {
	dir := filepath.Join(s.dir, name)
	return dir, os.Mkdir(dir, 0o777)
}

func (s *stage) copied() string    { return filepath.Join(s.dir, "tree") }
func (s *stage) published() string { return filepath.Join(s.dir, "published") }
func (s *stage) bin(name string) string {
	return filepath.Join(s.dir, "bin", name)
}
