package tree_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/dev/release/fixture"
	"github.com/firn-id/firn/dev/release/tree"
)

// TestTree finds problems of the project's own tree.
func TestTree(t *testing.T) {
	project, err := tree.Read("../../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range project.Check() {
		t.Error(problem)
	}
}

func TestFixture(t *testing.T) {
	dir := fixture.New(t)
	project, err := tree.Read(filepath.Join(dir, "store"))
	if err != nil {
		t.Fatal(err)
	}
	if problems := project.Check(); len(problems) > 0 {
		t.Error(problems)
	}
	if got, want := project.Tags("v1.2.3"), []string{"v1.2.3", "store/sql/v1.2.3"}; !slices.Equal(got, want) {
		t.Errorf("tags %v, want %v", got, want)
	}
}

// An edit replaces a text of a file. With the text empty, the edit writes the file.
type edit struct{ file, before, after string }

// apply edits the files of a tree, and adds all to the index.
func apply(t *testing.T, dir string, edits []edit) {
	t.Helper()
	for _, e := range edits {
		if e.before != "" {
			fixture.Replace(t, dir, e.file, e.before, e.after)
			continue
		}
		file := filepath.Join(dir, filepath.FromSlash(e.file))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(e.after), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	fixture.Git(t, dir, "add", "--all")
}

const (
	root   = "example.test/snow"
	sql    = root + "/store/sql"
	helper = root + "/internal/helper"
)

// mistakes are edits of the tree, and the problems that Check finds.
var mistakes = []struct {
	name  string
	edits []edit
	want  []string
}{
	{"a module in no list", []edit{{"tools/go.mod", "", "module " + root + "/tools\n"}}, []string{
		"tools/go.mod:1: module example.test/snow/tools is not in versions.yaml; " +
			"add example.test/snow/tools to modules there if a release publishes the module, or to excluded-modules",
	}},
	{"a published module in no list", []edit{{"versions.yaml", "      - " + sql + "\n", ""}}, []string{
		"go.work:13: the line replaces example.test/snow/store/sql, which no release publishes; delete the line: go.work replaces only the published modules",
		"store/sql/go.mod:1: module example.test/snow/store/sql is not in versions.yaml; " +
			"add example.test/snow/store/sql to modules there if a release publishes the module, or to excluded-modules",
	}},
	{"a module without go.mod", []edit{{"versions.yaml", "excluded-modules:\n", "excluded-modules:\n  - " + root + "/gone\n"}}, []string{
		"versions.yaml:9: git knows no go.mod of module example.test/snow/gone; add the module's go.mod to git, or delete the line if the module is gone",
	}},
	{"a path that does not fit the folder", []edit{
		{"internal/pins/go.mod", "module " + root + "/internal/pins", "module " + root + "/pins"},
		{"versions.yaml", root + "/internal/pins", root + "/pins"},
	}, []string{
		"internal/pins/go.mod:1: module path example.test/snow/pins does not fit the folder internal/pins; write module example.test/snow/internal/pins",
	}},
	{"paths without the major version", []edit{
		{"versions.yaml", "v0.1.0", "v2.0.0"},
		{"store/sql/go.mod", "require " + root + " v0.1.0 // the store's interface", ""},
		{"internal/check/go.mod", root + " v0.1.0", ""},
		{"internal/helper/go.mod", "require " + root + " v0.1.0", ""},
		{"go.work", "\t" + root + " v0.1.0 => .\n\t" + sql + " v0.1.0 => ./store/sql\n", ""},
	}, []string{
		"go.mod:1: module path example.test/snow does not fit version v2.0.0; " +
			"from v2.0.0 on, the path of each published module ends with the major version, for example example.test/snow/v2",
		"go.work: go.work does not replace the published module example.test/snow; write replace example.test/snow v2.0.0 => .",
		"go.work: go.work does not replace the published module example.test/snow/store/sql; " +
			"write replace example.test/snow/store/sql v2.0.0 => ./store/sql",
		"store/sql/go.mod:1: module path example.test/snow/store/sql does not fit version v2.0.0; " +
			"from v2.0.0 on, the path of each published module ends with the major version, for example example.test/snow/v2",
	}},
	{"a replacement of a published module that crept in", []edit{{"store/sql/go.mod", "go 1.26.0\n", "go 1.26.0\n\nreplace " + root + " => ../..\n"}}, []string{
		"store/sql/go.mod:5: published module example.test/snow/store/sql replaces example.test/snow; " +
			"delete the line: go.work replaces the published modules for builds of the tree",
	}},
	{"a replacement of another module that crept in", []edit{{"go.mod", "go 1.26.0\n", "go 1.26.0\n\nreplace example.org/fork => example.org/mine v1.0.0\n"}}, []string{
		"go.mod:5: published module example.test/snow replaces example.org/fork; " +
			"delete the line: builds of other modules ignore the line; require a version that needs no such line",
	}},
	{"a replacement of an excluded module in a published one", []edit{{"store/sql/go.mod", "go 1.26.0\n", "go 1.26.0\n\nreplace " + helper + " => ../../internal/helper\n"}}, []string{
		"store/sql/go.mod:5: published module example.test/snow/store/sql replaces example.test/snow/internal/helper; " +
			"delete the line, and import no module that no release publishes",
	}},
	{"an exclusion", []edit{{"go.mod", "go 1.26.0\n", "go 1.26.0\n\nexclude example.org/bad v1.0.0\n"}}, []string{
		"go.mod:5: published module example.test/snow excludes example.org/bad v1.0.0; " +
			"delete the line: builds of other modules ignore the line; require a version that needs no such line",
	}},
	{"a requirement of another version", []edit{{"store/sql/go.mod", root + " v0.1.0", root + " v0.0.9"}}, []string{
		"store/sql/go.mod:5: the line requires example.test/snow at v0.0.9; versions.yaml has v0.1.0; write example.test/snow v0.1.0",
	}},
	{"a requirement of no version in an excluded module", []edit{{"internal/check/go.mod", root + " v0.1.0", root + " v0.0.0"}}, []string{
		"internal/check/go.mod:6: the line requires example.test/snow at v0.0.0; versions.yaml has v0.1.0; write example.test/snow v0.1.0",
	}},
	{"a published module that requires an excluded one", []edit{{"store/sql/go.mod", "go 1.26.0\n", "go 1.26.0\n\nrequire " + helper + " v0.0.0\n"}}, []string{
		"store/sql/go.mod:5: module example.test/snow/store/sql is published and requires example.test/snow/internal/helper, which no release publishes; " +
			"move the code that imports the module to a module that no release publishes",
	}},
	{"a version of an excluded module", []edit{{"internal/check/go.mod", helper + " v0.0.0", helper + " v0.1.0"}}, []string{
		"internal/check/go.mod:7: the line requires example.test/snow/internal/helper at v0.1.0; no release publishes the module; " +
			"write example.test/snow/internal/helper v0.0.0",
	}},
	{"a requirement of a module that is gone", []edit{{"internal/check/go.mod", helper + " v0.0.0", helper + " v0.0.0\n\t" + root + "/gone v0.0.0"}}, []string{
		"internal/check/go.mod:8: the tree has no module example.test/snow/gone; delete the line, or add the module's go.mod to git",
	}},
	{"an excluded module that replaces a published one", []edit{{"internal/helper/go.mod", "go 1.26.0\n", "go 1.26.0\n\nreplace " + root + " => ../..\n"}}, []string{
		"internal/helper/go.mod:5: the line replaces example.test/snow, which a release publishes; delete the line: go.work replaces the published modules",
	}},
	{"an excluded module replaced by another folder", []edit{{"internal/check/go.mod", "=> ../helper", "=> ../helpers"}}, []string{
		"internal/check/go.mod:10: the line replaces example.test/snow/internal/helper with ../helpers, not with the module's folder; " +
			"write replace example.test/snow/internal/helper => ../helper",
	}},
	{"an excluded module replaced by an absolute path", []edit{{"internal/check/go.mod", "=> ../helper", "=> /helper"}}, []string{
		"internal/check/go.mod:10: the line replaces example.test/snow/internal/helper with /helper, not with the module's folder; " +
			"write replace example.test/snow/internal/helper => ../helper",
	}},
	{"a replacement of a module that is gone", []edit{{"internal/check/go.mod", "go 1.26.0\n", "go 1.26.0\n\nreplace " + root + "/gone => ../gone\n"}}, []string{
		"internal/check/go.mod:5: the tree has no module example.test/snow/gone; delete the line",
	}},
	{"another module replaced by a folder", []edit{{"internal/pins/go.mod", "go 1.26.0\n", "go 1.26.0\n\nreplace example.org/fork => ../../../fork\n"}}, []string{
		"internal/pins/go.mod:5: the line replaces example.org/fork with the folder ../../../fork, which other clones may not have; " +
			"delete the line, and require a version of example.org/fork",
	}},
	{"another module replaced by a version, in an excluded module", []edit{{"internal/pins/go.mod", "go 1.26.0\n", "go 1.26.0\n\nreplace example.org/a => example.org/a v1.0.0\n"}}, nil},
	{"a module that the workspace does not use", []edit{{"go.work", "\t./internal/check\n", ""}}, []string{
		"go.work: module example.test/snow/internal/check is not in use; write use ./internal/check",
	}},
	{"a module with a workspace of its own", []edit{
		{"go.work", "\t./internal/check\n", ""}, {"internal/check/go.work", "", "go 1.26.0\n\nuse .\n"},
	}, []string{
		"internal/check/go.mod:6: go.work does not have module example.test/snow/internal/check, and the module does not replace example.test/snow; " +
			"write replace example.test/snow => ../..",
	}},
	{"a module with a workspace of its own that replaces the published modules", []edit{
		{"go.work", "\t./internal/check\n", ""}, {"internal/check/go.work", "", "go 1.26.0\n\nuse .\n"},
		{"internal/check/go.mod", "go 1.26.0\n", "go 1.26.0\n\nreplace " + root + " => ../..\n"},
	}, nil},
	{"a published module with a workspace of its own", []edit{
		{"go.work", "\t./store/sql // all of a store\n", ""}, {"store/go.work", "", "go 1.26.0\n\nuse ./sql\n"},
	}, []string{
		"go.work: module example.test/snow/store/sql is not in use; write use ./store/sql",
	}},
	{"a folder in use without a module", []edit{{"go.work", "\t./internal/check\n", "\t./internal/check\n\t./internal/gone\n"}}, []string{
		"go.work:6: git knows no go.mod in ./internal/gone; delete the line, or add the folder's go.mod to git",
	}},
	{"a published module that the workspace does not replace", []edit{{"go.work", "\t" + sql + " v0.1.0 => ./store/sql\n", ""}}, []string{
		"go.work: go.work does not replace the published module example.test/snow/store/sql; " +
			"write replace example.test/snow/store/sql v0.1.0 => ./store/sql",
	}},
	{"a replacement of another version in the workspace", []edit{{"go.work", sql + " v0.1.0", sql + " v0.0.9"}}, []string{
		"go.work:13: the line replaces v0.0.9 of example.test/snow/store/sql; versions.yaml has v0.1.0; " +
			"write example.test/snow/store/sql v0.1.0 => ./store/sql",
	}},
	{"a replacement of all versions in the workspace", []edit{{"go.work", sql + " v0.1.0", sql}}, []string{
		"go.work:13: the line replaces all versions of example.test/snow/store/sql; versions.yaml has v0.1.0; " +
			"write example.test/snow/store/sql v0.1.0 => ./store/sql",
	}},
	{"a replacement by another folder in the workspace", []edit{{"go.work", "v0.1.0 => ./store/sql", "v0.1.0 => ./store"}}, []string{
		"go.work:13: the line replaces example.test/snow/store/sql with ./store, not with the module's folder; " +
			"write example.test/snow/store/sql v0.1.0 => ./store/sql",
	}},
	{"a replacement of another module in the workspace", []edit{{"go.work", "// The tree.\n", "replace example.org/fork => ../fork\n"}}, []string{
		"go.work:10: the line replaces example.org/fork, which no release publishes; delete the line: go.work replaces only the published modules",
	}},
	{"another Go in a published module", []edit{{"store/sql/go.mod", "go 1.26.0", "go 1.26.1"}}, []string{
		"store/sql/go.mod:3: the line says go 1.26.1; go.mod of the root module says go 1.26.0; write the same version in all published modules",
	}},
	{"no Go in a published module", []edit{{"store/sql/go.mod", "go 1.26.0\n", ""}}, []string{
		"store/sql/go.mod: published module example.test/snow/store/sql has no go line; write a go line as in go.mod",
	}},
	{"a go.mod of a test", []edit{{"store/testdata/mod/go.mod", "", "module example.org/other\n"}}, nil},
	{"two problems", []edit{{"versions.yaml", "version: v0.1.0", "version: v0.2.0"}, {"internal/helper/go.mod", "require " + root + " v0.1.0", ""}, {"internal/check/go.mod", root + " v0.1.0", ""}}, []string{
		"go.work:12: the line replaces v0.1.0 of example.test/snow; versions.yaml has v0.2.0; write example.test/snow v0.2.0 => .",
		"go.work:13: the line replaces v0.1.0 of example.test/snow/store/sql; versions.yaml has v0.2.0; write example.test/snow/store/sql v0.2.0 => ./store/sql",
		"store/sql/go.mod:5: the line requires example.test/snow at v0.1.0; versions.yaml has v0.2.0; write example.test/snow v0.2.0",
	}},
}

func TestCheck(t *testing.T) {
	for _, test := range mistakes {
		t.Run(test.name, func(t *testing.T) {
			dir := fixture.New(t)
			apply(t, dir, test.edits)
			project, err := tree.Read(dir)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range project.Check() {
				got = append(got, p.Error())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("problems\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

func TestReadErrors(t *testing.T) {
	tests := []struct {
		name string
		edit edit
		want string
	}{
		{"versions: not YAML", edit{"versions.yaml", "module-sets:", "module-sets: ]"}, "versions.yaml:2: "},
		{"versions: unknown key", edit{"versions.yaml", "excluded-modules:", "excluded:"},
			"versions.yaml:8: field excluded not found; mend the file: docs/releasing.md shows the form"},
		{"versions: unknown key of a set", edit{"versions.yaml", "    modules:", "    module:"},
			"versions.yaml:5: field module not found; mend the file: docs/releasing.md shows the form"},
		{"versions: key twice", edit{"versions.yaml", "excluded-modules:", "module-sets: {}\nexcluded-modules:"},
			`versions.yaml:8: mapping key "module-sets" already defined at line 2; mend the file: docs/releasing.md shows the form`},
		{"versions: no set", edit{"versions.yaml", "", "module-sets: {}\n"},
			"versions.yaml: module-sets has 0 sets; write one set: all published modules have one version"},
		{"versions: two sets", edit{"versions.yaml", "excluded-modules:", "  more: {version: v1.0.0, modules: [a.test/b]}\nexcluded-modules:"},
			"versions.yaml: module-sets has 2 sets; write one set: all published modules have one version"},
		{"versions: no modules", edit{"versions.yaml", "", "module-sets:\n  snow:\n    version: v0.1.0\n"},
			"versions.yaml:3: the set snow has no modules; list the published modules under modules"},
		{"versions: no version", edit{"versions.yaml", "    version: v0.1.0 # of the next release\n", ""},
			"versions.yaml: no version; write version: vX.Y.Z under the name of the set"},
		{"versions: no v", edit{"versions.yaml", "version: v0.1.0", "version: 0.1.0"},
			`versions.yaml:4: version "0.1.0" is not a canonical semantic version; write vX.Y.Z, or vX.Y.Z-rc.1`},
		{"versions: two numbers", edit{"versions.yaml", "version: v0.1.0", "version: v0.1"},
			`versions.yaml:4: version "v0.1" is not a canonical semantic version; write vX.Y.Z, or vX.Y.Z-rc.1`},
		{"versions: build metadata", edit{"versions.yaml", "version: v0.1.0", "version: v0.1.0+linux"},
			`versions.yaml:4: version "v0.1.0+linux" is not a canonical semantic version; write vX.Y.Z, or vX.Y.Z-rc.1`},
		{"versions: module twice", edit{"versions.yaml", "excluded-modules:\n", "excluded-modules:\n  - example.test/snow\n"},
			"versions.yaml:9: module example.test/snow is also in line 6; delete one of the two lines"},
		{"versions: not a text", edit{"versions.yaml", "excluded-modules:\n", "excluded-modules:\n  - [a]\n"},
			"versions.yaml:9: the entry is not a text; write a module path"},
		{"go.work: unknown verb", edit{"go.work", "use (", "uses ("}, "go.work:3: unknown block type: uses; mend the line"},
		{"go.mod: bad version", edit{"store/sql/go.mod", "example.test/snow v0.1.0", "example.test/snow main"}, "store/sql/go.mod:5: "},
		{"go.mod: no module", edit{"store/sql/go.mod", "module example.test/snow/store/sql", ""},
			"store/sql/go.mod: no module line; write module and the path of the module"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			dir := fixture.New(t)
			apply(t, dir, []edit{test.edit})
			_, err := tree.Read(dir)
			problem, ok := errors.AsType[tree.Problem](err)
			if !ok {
				t.Fatalf("error %v, want a Problem", err)
			}
			if problem.Advice == "" || !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("error %q, want %q and advice", err, test.want)
			}
			t.Log(err)
		})
	}
}

func TestMissingFiles(t *testing.T) {
	tests := []struct{ file, want string }{
		{"versions.yaml", "; run the command in the project's tree"},
		{"go.work", "; git restore go.work"},
		{"store/sql/go.mod", "; git knows the file: run `git restore store/sql/go.mod`, or `git rm store/sql/go.mod` if the module is gone"},
	}
	for _, test := range tests {
		t.Run(test.file, func(t *testing.T) {
			dir := fixture.New(t)
			if err := os.Remove(filepath.Join(dir, filepath.FromSlash(test.file))); err != nil {
				t.Fatal(err)
			}
			_, err := tree.Read(dir)
			if want := test.file + ": no such file in " + dir + test.want; err == nil || err.Error() != want {
				t.Errorf("error %v, want %s", err, want)
			}
		})
	}
	t.Run("go.mod that git does not know", func(t *testing.T) {
		dir := fixture.New(t)
		fixture.Git(t, dir, "rm", "--cached", "--quiet", "go.mod")
		_, err := tree.Read(dir)
		if want := "go.mod: git knows no go.mod in the top folder; add the go.mod of the root module to git"; err == nil || err.Error() != want {
			t.Errorf("error %v, want %s", err, want)
		}
	})
}

func TestSet(t *testing.T) {
	dir := fixture.New(t)
	before := snapshot(t, dir)
	set := func(version string) []string {
		t.Helper()
		project, err := tree.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		files, err := project.Set(version)
		if err != nil {
			t.Fatal(err)
		}
		return files
	}
	want := []string{"versions.yaml", "internal/check/go.mod", "internal/helper/go.mod", "store/sql/go.mod", "go.work"}
	if got := set("v0.2.0-rc.1"); !slices.Equal(got, want) {
		t.Errorf("changed %v, want %v", got, want)
	}
	for file, text := range snapshot(t, dir) {
		wanted := before[file]
		if slices.Contains(want, file) {
			wanted = strings.ReplaceAll(wanted, "v0.1.0", "v0.2.0-rc.1")
		}
		if text != wanted {
			t.Errorf("%s is\n%s\nwant\n%s", file, text, wanted)
		}
	}
	if got := set("v0.2.0-rc.1"); len(got) > 0 {
		t.Errorf("the second time changed %v", got)
	}
	set("v0.1.0")
	for file, text := range snapshot(t, dir) {
		if text != before[file] {
			t.Errorf("%s is\n%s\nwant\n%s", file, text, before[file])
		}
	}
}

// snapshot returns the texts of all files.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	texts := map[string]string{}
	err := filepath.WalkDir(dir, func(file string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return nil
		}
		data, err := os.ReadFile(file)
		rel, _ := filepath.Rel(dir, file)
		texts[filepath.ToSlash(rel)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return texts
}

// TestSetMends sets the version of files that have wrong versions, or lack lines.
func TestSetMends(t *testing.T) {
	dir := fixture.New(t)
	apply(t, dir, []edit{
		{"versions.yaml", "version: v0.1.0", `version: "v0.1.0"`},
		{"store/sql/go.mod", "example.test/snow v0.1.0", "example.test/snow v0.0.0"},
		{"go.work", "\texample.test/snow/store/sql v0.1.0 => ./store/sql\n", ""},
		{"go.work", "example.test/snow v0.1.0 => .\n", "example.test/snow => ../snow\n"},
	})
	project, err := tree.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := project.Set("v0.3.0"); err != nil {
		t.Fatal(err)
	}
	if project, err = tree.Read(dir); err != nil {
		t.Fatal(err)
	}
	if project.Version != "v0.3.0" {
		t.Errorf("version %s", project.Version)
	}
	for _, p := range project.Check() {
		t.Error(p)
	}
}

// TestSetForms sets the version where the file has a form that Set cannot edit.
func TestSetForms(t *testing.T) {
	for _, form := range []string{"version: >-\n      v0.1.0", "version: >- # v0.1.0\n      v0.1.0", `version: "v0.1\x2e0"`} {
		dir := fixture.New(t)
		apply(t, dir, []edit{{"versions.yaml", "version: v0.1.0 # of the next release", form}})
		before := snapshot(t, dir)
		project, err := tree.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		_, err = project.Set("v0.2.0")
		if want := "versions.yaml:4: the version is not plain text; write version: vX.Y.Z in one line"; err == nil || err.Error() != want {
			t.Errorf("%q: error %v, want %s", form, err, want)
		}
		for file, text := range snapshot(t, dir) {
			if text != before[file] {
				t.Errorf("%q: %s changed", form, file)
			}
		}
	}
}

func TestSetErrors(t *testing.T) {
	dir := fixture.New(t)
	before := snapshot(t, dir)
	for version, want := range map[string]string{
		"0.2.0":        `"0.2.0" is not a canonical semantic version; write vX.Y.Z, or vX.Y.Z-rc.1`,
		"v0.2":         `"v0.2" is not a canonical semantic version; write vX.Y.Z, or vX.Y.Z-rc.1`,
		"v0.2.0+build": `"v0.2.0+build" is not a canonical semantic version; write vX.Y.Z, or vX.Y.Z-rc.1`,
		"v2.0.0": "go.mod:1: module path example.test/snow does not fit version v2.0.0; " +
			"from v2.0.0 on, first end the path of each published module with the major version",
	} {
		project, err := tree.Read(dir)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := project.Set(version); err == nil || err.Error() != want {
			t.Errorf("%s: error %v, want %s", version, err, want)
		}
	}
	for file, text := range snapshot(t, dir) {
		if text != before[file] {
			t.Errorf("%s changed", file)
		}
	}
}
