package testkit

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Module is the path of the root module.
const Module = "github.com/firn-id/firn"

// Imports returns the imports of each package below the directory, for all build tags, with or
// without those of tests. The directory names a package, with slashes; "." is the root. This includes
// the other modules of the repository.
func Imports(dir string, tests bool) (map[string][]string, error) {
	imports := make(map[string][]string)
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && file != dir):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go") && !tests:
			return nil
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, filepath.Dir(file))
		if err != nil {
			return err
		}
		pkg := filepath.ToSlash(rel)
		imports[pkg] = append(imports[pkg], nil...) // so that a package without imports has an entry
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if own, ok := strings.CutPrefix(name, Module); ok {
				name = path.Join(".", own)
			}
			if !slices.Contains(imports[pkg], name) {
				imports[pkg] = append(imports[pkg], name)
			}
		}
		return nil
	})
	return imports, err
}

// A Rule says what packages must not import, and why.
type Rule struct {
	Of      []string // packages of the repository; "all" means every package
	Never   []string // forbidden imports; a trailing /... includes the packages below, and a leading ! takes packages out
	Only    []string // the only allowed imports, if not nil
	Through bool     // imports through other packages of the repository count as well
	But     []string // packages of the repository whose own imports do not count
	Why     string
}

func matches(patterns []string, name string) (found bool) {
	for _, p := range patterns {
		p, out := strings.CutPrefix(p, "!")
		below, ok := strings.CutSuffix(p, "/...")
		if p == "all" || name == below || ok && strings.HasPrefix(name, below+"/") {
			found = !out
		}
	}
	return found
}

// Broken returns the imports that break the rules, in words.
func Broken(imports map[string][]string, rules []Rule) []string {
	var broken []string
	for pkg := range imports {
		for _, r := range rules {
			if !matches(r.Of, pkg) {
				continue
			}
			reached := map[string]string{} // by import: the importing package
			var reach func(from string)
			reach = func(from string) {
				if matches(r.But, from) {
					return
				}
				for _, name := range imports[from] {
					if _, ok := reached[name]; ok {
						continue
					}
					reached[name] = from
					if r.Through {
						reach(name)
					}
				}
			}
			reach(pkg)
			for name, from := range reached {
				if matches(r.Never, name) && name != pkg || r.Only != nil && !matches(r.Only, name) {
					broken = append(broken, fmt.Sprintf("%s imports %s (in %s): %s", pkg, name, from, r.Why))
				}
			}
		}
	}
	slices.Sort(broken)
	return broken
}
