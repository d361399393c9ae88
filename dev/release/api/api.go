// Package api compares the exported API of two trees of the project: what programs can import from
// the published modules, without commands and internal packages.
//
// Package apidiff decides which changes break programs. Both trees are compiled for Linux on amd64.
package api

import (
	"context"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/mod/module"
	"golang.org/x/tools/go/packages"

	"github.com/firn-id/firn/dev/release/tree"
)

// A Change is a change of the exported API.
type Change struct {
	Package string // the import path
	Name    string // for example Config.Create; empty for the package
	Message string // what changed, with the name
	Break   bool   // the change can break a program
	File    string // the file of the name from the top folder of the new tree; of the old tree if Line is 0
	Line    int
}

// Names returns the names by which people call what changed: Config.Create and lease.Config.Create,
// or for a package lease and the import path.
func (c Change) Names() []string {
	prefix, _, _ := module.SplitPathVersion(c.Package)
	last := path.Base(prefix)
	if c.Name == "" {
		return []string{last, c.Package}
	}
	return []string{c.Name, last + "." + c.Name}
}

// an exports value has the packages of a tree.
type exports struct {
	dir      string
	fset     *token.FileSet
	packages map[string]*types.Package
}

// Compare returns the changes from a tree to a later tree, sorted by package and name.
func Compare(ctx context.Context, before, after *tree.Tree) ([]Change, error) {
	was, err := load(ctx, before)
	if err != nil {
		return nil, err
	}
	is, err := load(ctx, after)
	if err != nil {
		return nil, err
	}
	var changes []Change
	for importPath, p := range was.packages {
		now, ok := is.packages[importPath]
		if !ok {
			changes = append(changes, Change{Package: importPath, Message: "package removed", Break: true, File: was.folder(p)})
			continue
		}
		for _, c := range apidiff.Changes(p, now).Changes {
			change := Change{Package: importPath, Name: name(c.Message), Message: c.Message, Break: !c.Compatible}
			change.File, change.Line = is.find(now, change.Name)
			if change.Line == 0 {
				change.File, _ = was.find(p, change.Name)
			}
			changes = append(changes, change)
		}
	}
	for importPath, p := range is.packages {
		if _, ok := was.packages[importPath]; !ok {
			changes = append(changes, Change{Package: importPath, Message: "package added", File: is.folder(p)})
		}
	}
	slices.SortFunc(changes, func(a, b Change) int {
		if c := strings.Compare(a.Package, b.Package); c != 0 {
			return c
		}
		return strings.Compare(a.Message, b.Message)
	})
	return changes, nil
}

// name returns the name in a message of package apidiff. Messages are like
//
//	Config.Create: removed
//	(*Map[K, V]).Get: changed from func() to func(int)
//	inner.Name, method set of *Outer: removed
//	io.Reader.Read: added
func name(message string) string {
	name, _, _ := strings.Cut(message, ": ")
	if open, end := strings.Index(name, "["), strings.LastIndex(name, "]"); open >= 0 && open < end {
		name = name[:open] + name[end+1:] // type parameters of a receiver
	}
	name, _, _ = strings.Cut(name, ", ")
	name = strings.NewReplacer("(*", "", ")", "").Replace(name)
	return name[strings.LastIndex(name, "/")+1:]
}

// find returns the place of a name of a package, or of the type with the name, or else of the
// package.
func (e *exports) find(p *types.Package, name string) (file string, line int) {
	first, rest, _ := strings.Cut(name, ".")
	object := p.Scope().Lookup(first)
	if object == nil {
		return e.folder(p), 0
	}
	if rest != "" {
		part, _, _ := types.LookupFieldOrMethod(object.Type(), true, p, rest)
		if part != nil && part.Pkg() == p { // and not promoted from a type of another module
			object = part
		}
	}
	position := e.fset.Position(object.Pos())
	return e.relative(position.Filename), position.Line
}

// folder returns the folder of a package.
func (e *exports) folder(p *types.Package) string {
	for _, name := range p.Scope().Names() {
		if at := e.fset.Position(p.Scope().Lookup(name).Pos()); at.IsValid() {
			return path.Dir(e.relative(at.Filename))
		}
	}
	return p.Path()
}

// relative returns a path from the top folder, with slashes.
func (e *exports) relative(file string) string {
	if rel, err := filepath.Rel(e.dir, file); err == nil {
		return filepath.ToSlash(rel)
	}
	return file
}

// load compiles what programs can import from the published modules.
func load(ctx context.Context, t *tree.Tree) (*exports, error) {
	config := &packages.Config{
		Context: ctx,
		Mode:    packages.NeedName | packages.NeedFiles,
		Dir:     t.Dir,
		Env: append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOFLAGS=-mod=readonly",
			"GOWORK="+filepath.Join(t.Dir, "go.work")),
	}
	var patterns []string
	for _, m := range t.Published() {
		patterns = append(patterns, "./"+path.Join(m.Dir, "..."))
	}
	all, err := loadPackages(config, patterns)
	if err != nil {
		return nil, err
	}
	var imports []string
	for _, p := range all {
		if p.Name != "main" && !slices.Contains(strings.Split(p.PkgPath, "/"), "internal") {
			imports = append(imports, p.PkgPath)
		}
	}
	// go list would take no pattern for the package of the folder, which may have no Go files.
	e := &exports{t.Dir, token.NewFileSet(), map[string]*types.Package{}}
	if len(imports) == 0 {
		return e, nil
	}
	config.Mode |= packages.NeedTypes
	config.Fset = e.fset
	exported, err := loadPackages(config, imports)
	if err != nil {
		return nil, err
	}
	for _, p := range exported {
		e.packages[p.PkgPath] = p.Types
	}
	return e, nil
}

// loadPackages loads packages without errors.
func loadPackages(config *packages.Config, patterns []string) ([]*packages.Package, error) {
	list, err := packages.Load(config, patterns...)
	if err != nil {
		return nil, fmt.Errorf("packages in %s: %w", config.Dir, err)
	}
	for _, p := range list {
		for _, e := range p.Errors {
			err = errors.Join(err, fmt.Errorf("package %s: %w", p.PkgPath, e))
		}
	}
	return list, err
}
