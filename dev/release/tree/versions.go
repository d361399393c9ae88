package tree

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
	"golang.org/x/mod/semver"
)

// VersionsFile is the file that lists the modules of the tree, and names the version of the published
// modules. The file has the form of OpenTelemetry's multimod, with a single set of modules.
const VersionsFile = "versions.yaml"

// An entry is a module path in the file of versions.
type entry struct {
	path string
	line int
}

// versions is what the file of versions says.
type versions struct {
	version  yaml.Node
	modules  []entry
	excluded []entry
}

// bad returns the problem of a line of the file of versions.
func bad(line int, advice, format string, args ...any) error {
	return Problem{VersionsFile, line, fmt.Sprintf(format, args...), advice}
}

// parseVersions parses the file of versions.
func parseVersions(data []byte) (*versions, error) {
	var file struct {
		Sets map[string]struct {
			Version yaml.Node   `yaml:"version"`
			Modules []yaml.Node `yaml:"modules"`
		} `yaml:"module-sets"`
		Excluded []yaml.Node `yaml:"excluded-modules"`
	}
	if err := yaml.Load(data, &file, yaml.WithKnownFields(), yaml.WithUniqueKeys()); err != nil {
		line, text := 0, strings.TrimPrefix(err.Error(), "yaml: ")
		if e, ok := errors.AsType[*yaml.LoadError](err); ok {
			line, text = e.Mark.Line, e.Message
		}
		text, _, _ = strings.Cut(text, " in type ") // a type of Go
		return nil, bad(line, "mend the file: docs/releasing.md shows the form", "%s", text)
	}
	if len(file.Sets) != 1 {
		return nil, bad(0, "write one set: all published modules have one version", "module-sets has %d sets", len(file.Sets))
	}
	v := &versions{}
	for name, set := range file.Sets {
		v.version = set.Version
		if err := checkVersion(v.version); err != nil {
			return nil, err
		}
		if len(set.Modules) == 0 {
			return nil, bad(v.version.Line, "list the published modules under modules", "the set %s has no modules", name)
		}
		v.modules = entries(set.Modules)
	}
	v.excluded = entries(file.Excluded)
	seen := map[string]int{}
	for _, e := range slices.Concat(v.modules, v.excluded) {
		if e.path == "" {
			return nil, bad(e.line, "write a module path", "the entry is not a text")
		}
		if before, ok := seen[e.path]; ok {
			return nil, bad(e.line, "delete one of the two lines", "module %s is also in line %d", e.path, before)
		}
		seen[e.path] = e.line
	}
	return v, nil
}

// entries returns the texts of a list.
func entries(nodes []yaml.Node) []entry {
	list := make([]entry, 0, len(nodes))
	for _, n := range nodes {
		e := entry{line: n.Line}
		if n.Kind == yaml.ScalarNode {
			e.path = n.Value
		}
		list = append(list, e)
	}
	return list
}

func checkVersion(n yaml.Node) error {
	switch {
	case n.Kind == 0 || n.Value == "":
		return bad(n.Line, "write version: vX.Y.Z under the name of the set", "no version")
	case !Canonical(n.Value):
		return bad(n.Line, "write vX.Y.Z, or vX.Y.Z-rc.1", "version %q is not a canonical semantic version", n.Value)
	}
	return nil
}

// Canonical reports whether v is a semantic version of three numbers without build metadata.
func Canonical(v string) bool { return semver.IsValid(v) && semver.Canonical(v) == v }
