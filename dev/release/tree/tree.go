// Package tree reads the modules of the project from the work tree, and finds what keeps them from
// being published.
//
// The modules are those whose go.mod git knows. The file of versions lists each of them, as published
// or as excluded. All published modules have one version, and require each other at this version.
// Published modules replace nothing. The file go.work replaces the version of each published module
// with the module's folder. A build in the workspace therefore takes the modules from the tree,
// whether or not the version exists.
package tree

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/firn-id/firn/dev/release/git"
)

// A Module is a module of the tree.
type Module struct {
	Path      string
	Dir       string // from the top folder, with slashes; "." for the root module
	Published bool
	File      *modfile.File
}

// GoMod returns the path of the module's go.mod from the top folder.
func (m Module) GoMod() string { return path.Join(m.Dir, "go.mod") }

// Tag returns the name of the git tag that publishes the module at a version.
func (m Module) Tag(version string) string {
	if m.Dir == "." {
		return version
	}
	return m.Dir + "/" + version
}

// A Tree is the work tree of the project.
type Tree struct {
	Dir     string // the top folder
	Version string // of the published modules
	Modules []Module
	Work    *modfile.WorkFile

	versions *versions
}

// Read reads the tree that has the folder dir. A file that Read cannot parse is a [Problem].
func Read(dir string) (*Tree, error) {
	repo, err := git.Open(dir)
	if err != nil {
		return nil, err
	}
	files, err := repo.Files("go.mod", "*/go.mod")
	if err != nil {
		return nil, err
	}
	return ReadFiles(repo.Dir, files)
}

// ReadFiles reads the tree with the top folder top. The files named go.mod declare the modules.
func ReadFiles(top string, files []string) (*Tree, error) {
	t := &Tree{Dir: top}
	data, err := t.read(VersionsFile, "run the command in the project's tree")
	if err != nil {
		return nil, err
	}
	if t.versions, err = parseVersions(data); err != nil {
		return nil, err
	}
	t.Version = t.versions.version.Value
	if data, err = t.read("go.work", "git restore go.work"); err != nil {
		return nil, err
	}
	if t.Work, err = modfile.ParseWork("go.work", data, nil); err != nil {
		return nil, parseError("go.work", err)
	}
	for _, file := range files {
		if path.Base(file) != "go.mod" || inTestdata(file) {
			continue
		}
		m, err := t.readModule(file)
		if err != nil {
			return nil, err
		}
		t.Modules = append(t.Modules, m)
	}
	slices.SortFunc(t.Modules, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	if !slices.ContainsFunc(t.Modules, func(m Module) bool { return m.Dir == "." }) {
		return nil, Problem{"go.mod", 0, "git knows no go.mod in the top folder", "add the go.mod of the root module to git"}
	}
	return t, nil
}

// read reads a file of the top folder. The advice is for a missing file.
func (t *Tree) read(file, advice string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(t.Dir, filepath.FromSlash(file)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, Problem{file, 0, "no such file in " + t.Dir, advice}
	}
	return data, err
}

// readModule reads the module of a go.mod.
func (t *Tree) readModule(file string) (Module, error) {
	data, err := t.read(file, "git knows the file: run `git restore "+file+"`, or `git rm "+file+"` if the module is gone")
	if err != nil {
		return Module{}, err
	}
	f, err := modfile.Parse(file, data, nil)
	if err != nil {
		return Module{}, parseError(file, err)
	}
	if f.Module == nil {
		return Module{}, Problem{file, 0, "no module line", "write module and the path of the module"}
	}
	m := Module{Path: f.Module.Mod.Path, Dir: path.Dir(file), File: f}
	m.Published = slices.ContainsFunc(t.versions.modules, func(e entry) bool { return e.path == m.Path })
	return m, nil
}

// Published returns the modules that a release publishes, the root module first.
func (t *Tree) Published() []Module {
	return slices.DeleteFunc(slices.Clone(t.Modules), func(m Module) bool { return !m.Published })
}

// Tags returns the names of the tags that publish the modules at a version.
func (t *Tree) Tags(version string) []string {
	var tags []string
	for _, m := range t.Published() {
		tags = append(tags, m.Tag(version))
	}
	return tags
}

// VersionLine returns the line of the version in the file of versions.
func (t *Tree) VersionLine() int { return t.versions.version.Line }

// Root returns the module of the top folder.
func (t *Tree) Root() Module {
	return t.Modules[slices.IndexFunc(t.Modules, func(m Module) bool { return m.Dir == "." })]
}

// module returns the module of a path.
func (t *Tree) module(modulePath string) (m Module, ok bool) {
	i := slices.IndexFunc(t.Modules, func(m Module) bool { return m.Path == modulePath })
	if i < 0 {
		return Module{}, false
	}
	return t.Modules[i], true
}

// parseError returns the problem of a file that package modfile cannot parse.
func parseError(file string, err error) error {
	p := Problem{file, 0, err.Error(), "mend the line"}
	if list, ok := errors.AsType[modfile.ErrorList](err); ok && len(list) > 0 {
		p.Line = list[0].Pos.Line
		first := list[0]
		first.Filename, first.Pos = "", modfile.Position{}
		p.Text = strings.TrimPrefix(first.Error(), ": ")
	}
	return p
}

// inTestdata reports whether file is in a folder that the go command ignores.
func inTestdata(file string) bool {
	return slices.Contains(strings.Split(path.Dir(file), "/"), "testdata")
}
