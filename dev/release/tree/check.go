package tree

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// Check returns what keeps the modules of the tree from being published, sorted by file and line.
func (t *Tree) Check() []Problem {
	c := &checker{Tree: t}
	c.checkList()
	for _, m := range t.Modules {
		c.checkPath(m)
		c.checkRequires(m)
		if m.Published {
			c.checkPublished(m)
		} else {
			c.checkReplaces(m)
			if c.Apart(m) {
				c.checkApart(m)
			}
		}
	}
	c.checkUses()
	c.checkWorkReplaces()
	Sort(c.problems)
	return c.problems
}

// A checker collects problems.
type checker struct {
	*Tree
	problems []Problem
}

// add adds a problem. The line is the line of a statement, or nil.
func (c *checker) add(file string, line *modfile.Line, advice, format string, args ...any) {
	p := Problem{File: file, Text: fmt.Sprintf(format, args...), Advice: advice}
	if line != nil {
		p.Line = line.Start.Line
	}
	c.problems = append(c.problems, p)
}

// checkList compares the lists of the file of versions with the go.mod files.
func (c *checker) checkList() {
	list := slices.Concat(c.versions.modules, c.versions.excluded)
	listed := func(m Module) bool {
		return slices.ContainsFunc(list, func(e entry) bool { return e.path == m.Path })
	}
	for _, m := range c.Modules {
		if !listed(m) {
			c.add(m.GoMod(), m.File.Module.Syntax, "add "+m.Path+" to modules there if a release publishes the module, or to excluded-modules",
				"module %s is not in %s", m.Path, VersionsFile)
		}
	}
	for _, e := range list {
		if _, ok := c.module(e.path); !ok {
			c.problems = append(c.problems, Problem{VersionsFile, e.line, "git knows no go.mod of module " + e.path,
				"add the module's go.mod to git, or delete the line if the module is gone"})
		}
	}
}

// checkPath checks that users find the module under its path.
func (c *checker) checkPath(m Module) {
	prefix, major, ok := module.SplitPathVersion(c.Root().Path)
	if !ok {
		return // modfile has refused the path
	}
	want := path.Join(prefix, m.Dir)
	if m.Published {
		want += major
	}
	if m.Path != want && m.Dir != "." {
		c.add(m.GoMod(), m.File.Module.Syntax, "write module "+want, "module path %s does not fit the folder %s", m.Path, m.Dir)
		return
	}
	if m.Published && module.CheckPathMajor(c.Version, major) != nil {
		c.add(m.GoMod(), m.File.Module.Syntax,
			"from v2.0.0 on, the path of each published module ends with the major version, for example "+prefix+"/v2",
			"module path %s does not fit version %s", m.Path, c.Version)
	}
}

// own reports whether a module path belongs to the project.
func (c *checker) own(modulePath string) bool {
	prefix, _, _ := module.SplitPathVersion(c.Root().Path)
	return modulePath == prefix || strings.HasPrefix(modulePath, prefix+"/")
}

// checkRequires checks the module's requirements of modules of the project.
func (c *checker) checkRequires(m Module) {
	for _, r := range m.File.Require {
		if !c.own(r.Mod.Path) {
			continue
		}
		other, known := c.module(r.Mod.Path)
		switch {
		case !known:
			c.add(m.GoMod(), r.Syntax, "delete the line, or add the module's go.mod to git", "the tree has no module %s", r.Mod.Path)
		case other.Published && r.Mod.Version != c.Version:
			c.add(m.GoMod(), r.Syntax, "write "+r.Mod.Path+" "+c.Version,
				"the line requires %s at %s; %s has %s", r.Mod.Path, r.Mod.Version, VersionsFile, c.Version)
		case other.Published:
		case m.Published:
			c.add(m.GoMod(), r.Syntax, "move the code that imports the module to a module that no release publishes",
				"module %s is published and requires %s, which no release publishes", m.Path, r.Mod.Path)
		case r.Mod.Version != none && r.Mod.Version != noneOfTidy:
			c.add(m.GoMod(), r.Syntax, "write "+r.Mod.Path+" "+none,
				"the line requires %s at %s; no release publishes the module", r.Mod.Path, r.Mod.Version)
		}
	}
}

// The versions of modules that no release publishes: as people write the version, and as go mod tidy
// does.
const (
	none       = "v0.0.0"
	noneOfTidy = "v0.0.0-00010101000000-000000000000"
)

// checkPublished checks what may stand in the go.mod of a published module.
func (c *checker) checkPublished(m Module) {
	const others = "builds of other modules ignore the line; require a version that needs no such line"
	for _, r := range m.File.Replace {
		advice := "delete the line: " + others
		if other, ok := c.module(r.Old.Path); ok && other.Published {
			advice = "delete the line: go.work replaces the published modules for builds of the tree"
		} else if c.own(r.Old.Path) {
			advice = "delete the line, and import no module that no release publishes"
		}
		c.add(m.GoMod(), r.Syntax, advice, "published module %s replaces %s", m.Path, r.Old.Path)
	}
	for _, e := range m.File.Exclude {
		c.add(m.GoMod(), e.Syntax, "delete the line: "+others, "published module %s excludes %s %s", m.Path, e.Mod.Path, e.Mod.Version)
	}
	if m.File.Go == nil {
		c.add(m.GoMod(), nil, "write a go line as in go.mod", "published module %s has no go line", m.Path)
	} else if want := c.Root().File.Go; want != nil && m.File.Go.Version != want.Version {
		c.add(m.GoMod(), m.File.Go.Syntax, "write the same version in all published modules",
			"the line says go %s; go.mod of the root module says go %s", m.File.Go.Version, want.Version)
	}
}

// checkReplaces checks the replacements in the go.mod of a module that no release publishes.
func (c *checker) checkReplaces(m Module) {
	for _, r := range m.File.Replace {
		other, known := c.module(r.Old.Path)
		local := r.New.Version == ""
		switch {
		case known && other.Published && !c.Apart(m):
			c.add(m.GoMod(), r.Syntax, "delete the line: go.work replaces the published modules",
				"the line replaces %s, which a release publishes", r.Old.Path)
		case known && (!local || path.IsAbs(r.New.Path) || path.Join(m.Dir, r.New.Path) != other.Dir):
			c.add(m.GoMod(), r.Syntax, "write replace "+r.Old.Path+" => "+relative(m.Dir, other.Dir),
				"the line replaces %s with %s, not with the module's folder", r.Old.Path, r.New.Path)
		case known:
		case c.own(r.Old.Path):
			c.add(m.GoMod(), r.Syntax, "delete the line", "the tree has no module %s", r.Old.Path)
		case local:
			c.add(m.GoMod(), r.Syntax, "delete the line, and require a version of "+r.Old.Path,
				"the line replaces %s with the folder %s, which other clones may not have", r.Old.Path, r.New.Path)
		}
	}
}

// checkApart checks that a module with a workspace of its own takes the published modules from the tree.
func (c *checker) checkApart(m Module) {
	for _, r := range m.File.Require {
		other, known := c.module(r.Mod.Path)
		replaced := slices.ContainsFunc(m.File.Replace, func(re *modfile.Replace) bool { return re.Old.Path == r.Mod.Path })
		if known && other.Published && !replaced {
			c.add(m.GoMod(), r.Syntax, "write replace "+other.Path+" => "+relative(m.Dir, other.Dir),
				"go.work does not have module %s, and the module does not replace %s", m.Path, other.Path)
		}
	}
}

// Apart reports whether a folder of the module has a workspace of its own, so that go.work does not
// have the module.
func (t *Tree) Apart(m Module) bool {
	for dir := m.Dir; dir != "."; dir = path.Dir(dir) {
		if _, err := os.Stat(filepath.Join(t.Dir, filepath.FromSlash(dir), "go.work")); err == nil {
			return true
		}
	}
	return false
}

// relative returns the path from one folder of the tree to another, as replace wants it.
func relative(from, to string) string {
	rel, err := filepath.Rel(filepath.FromSlash(from), filepath.FromSlash(to))
	if err != nil {
		return "the relative path of " + to // both paths begin in the top folder
	}
	if rel = filepath.ToSlash(rel); !strings.HasPrefix(rel, ".") {
		rel = "./" + rel
	}
	return rel
}

// checkUses checks that the workspace has all modules that share code.
func (c *checker) checkUses() {
	used := map[string]bool{}
	for _, u := range c.Work.Use {
		dir := path.Clean(u.Path)
		used[dir] = true
		if !slices.ContainsFunc(c.Modules, func(m Module) bool { return m.Dir == dir }) {
			c.add("go.work", u.Syntax, "delete the line, or add the folder's go.mod to git", "git knows no go.mod in %s", u.Path)
		}
	}
	for _, m := range c.Modules {
		alone := !m.Published && !slices.ContainsFunc(m.File.Require, func(r *modfile.Require) bool { return c.own(r.Mod.Path) })
		if !alone && !used[m.Dir] && (m.Published || !c.Apart(m)) {
			c.add("go.work", nil, "write use "+workPath(m.Dir), "module %s is not in use", m.Path)
		}
	}
}

// workPath returns a folder as go.work names it.
func workPath(dir string) string {
	if dir == "." {
		return dir
	}
	return "./" + dir
}

// checkWorkReplaces checks that the workspace takes the published modules, and nothing else, from
// folders of the tree.
func (c *checker) checkWorkReplaces() {
	replaced := map[string]bool{}
	for _, r := range c.Work.Replace {
		m, known := c.module(r.Old.Path)
		if !known || !m.Published {
			c.add("go.work", r.Syntax, "delete the line: go.work replaces only the published modules",
				"the line replaces %s, which no release publishes", r.Old.Path)
			continue
		}
		want := c.workReplace(m)
		switch {
		case r.Old.Version != c.Version:
			at := r.Old.Version
			if at == "" {
				at = "all versions"
			}
			c.add("go.work", r.Syntax, "write "+want, "the line replaces %s of %s; %s has %s", at, m.Path, VersionsFile, c.Version)
		case r.New.Version != "" || path.IsAbs(r.New.Path) || path.Clean(r.New.Path) != m.Dir:
			c.add("go.work", r.Syntax, "write "+want, "the line replaces %s with %s, not with the module's folder", m.Path, r.New.Path)
		}
		replaced[m.Path] = true
	}
	for _, m := range c.Published() {
		if !replaced[m.Path] {
			c.add("go.work", nil, "write replace "+c.workReplace(m), "go.work does not replace the published module %s", m.Path)
		}
	}
}

// workReplace returns the replacement of a published module in go.work.
func (t *Tree) workReplace(m Module) string {
	return fmt.Sprintf("%s %s => %s", m.Path, t.Version, workPath(m.Dir))
}
