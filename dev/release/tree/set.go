package tree

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
)

// A change is the new content of a file.
type change struct {
	file string
	data []byte
}

// Set writes a version of the published modules into the file of versions, the go.mod files and
// go.work, and returns the files that changed. Comments stay. If Set cannot parse a file or the
// version is invalid, no file changes.
func (t *Tree) Set(version string) ([]string, error) {
	if !Canonical(version) {
		return nil, fmt.Errorf("%q is not a canonical semantic version; write vX.Y.Z, or vX.Y.Z-rc.1", version)
	}
	_, major, _ := module.SplitPathVersion(t.Root().Path)
	if err := module.CheckPathMajor(version, major); err != nil {
		return nil, Problem{"go.mod", t.Root().File.Module.Syntax.Start.Line, "module path " + t.Root().Path + " does not fit version " + version,
			"from v2.0.0 on, first end the path of each published module with the major version"}
	}
	versions, err := t.setVersions(version)
	if err != nil {
		return nil, err
	}
	changes := []change{{VersionsFile, versions}}
	for _, m := range t.Modules {
		data, err := t.setRequires(m, version)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.GoMod(), err)
		}
		changes = append(changes, change{m.GoMod(), data})
	}
	work, err := t.setReplaces(version)
	if err != nil {
		return nil, fmt.Errorf("go.work: %w", err)
	}
	return t.write(append(changes, change{"go.work", work}))
}

// write writes the files whose content changes, and returns their paths.
func (t *Tree) write(changes []change) ([]string, error) {
	var written []string
	for _, c := range changes {
		file := filepath.Join(t.Dir, filepath.FromSlash(c.file))
		before, err := os.ReadFile(file)
		if err == nil && bytes.Equal(before, c.data) {
			continue
		}
		if err == nil {
			err = os.WriteFile(file, c.data, 0o666) // the file exists, and keeps its mode
		}
		if err != nil {
			return written, fmt.Errorf("%w; mend the cause and run the command again", err)
		}
		written = append(written, c.file)
	}
	return written, nil
}

// setVersions returns the file of versions with another version. All other bytes stay.
func (t *Tree) setVersions(version string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(t.Dir, VersionsFile))
	if err != nil {
		return nil, err
	}
	node := t.versions.version
	lines := strings.SplitAfter(string(data), "\n")
	line := &lines[node.Line-1]
	before, after := (*line)[:node.Column-1], (*line)[node.Column-1:]
	i := strings.Index(after, node.Value) // after a quotation mark, perhaps
	if i < 0 {
		return nil, bad(node.Line, "write version: vX.Y.Z in one line", "the version is not plain text")
	}
	*line = before + after[:i] + version + after[i+len(node.Value):]
	data = []byte(strings.Join(lines, ""))
	if again, err := parseVersions(data); err != nil || again.version.Value != version {
		return nil, bad(node.Line, "write version: vX.Y.Z in one line", "the version is not plain text")
	}
	return data, nil
}

// setRequires returns the go.mod of a module with another version of the published modules.
func (t *Tree) setRequires(m Module, version string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(t.Dir, filepath.FromSlash(m.GoMod())))
	if err != nil {
		return nil, err
	}
	f, err := modfile.Parse(m.GoMod(), data, nil)
	if err != nil {
		return nil, err
	}
	changed := false
	for _, r := range f.Require {
		if other, ok := t.module(r.Mod.Path); ok && other.Published && r.Mod.Version != version {
			if err := f.AddRequire(r.Mod.Path, version); err != nil {
				return nil, err
			}
			changed = true
		}
	}
	if !changed {
		return data, nil
	}
	return f.Format()
}

// setReplaces returns go.work with replacements of another version.
func (t *Tree) setReplaces(version string) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(t.Dir, "go.work"))
	if err != nil {
		return nil, err
	}
	f, err := modfile.ParseWork("go.work", data, nil)
	if err != nil {
		return nil, err
	}
	for _, m := range t.Published() {
		i := slices.IndexFunc(f.Replace, func(r *modfile.Replace) bool { return r.Old.Path == m.Path })
		if i < 0 {
			if err := f.AddReplace(m.Path, version, workPath(m.Dir), ""); err != nil {
				return nil, err
			}
			continue
		}
		line := f.Replace[i].Syntax
		path := slices.Index(line.Token, modfile.AutoQuote(m.Path))
		line.Token = slices.Concat(line.Token[:path+1], []string{version, "=>", workPath(m.Dir)})
	}
	f.SortBlocks()
	f.Cleanup()
	return modfile.Format(f.Syntax), nil
}
