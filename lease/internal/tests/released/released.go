// Package released tests stores with servers against entries written by released versions. See
// lease/testdata and VERSIONING.md.
//
// A test of package lease has the whole scenario. The tests with servers have the forms of two
// pools: the keys, the values and the tables of the server.
package released

import (
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/internal/frozen"
)

const testdata = "../../../testdata" // from the folder of a store's tests

var write = flag.String("compat.write", "", "write the form of `VERSION`, which is not released yet, into lease/testdata")

// Space is the name in testdata for the place of a test's store: a schema, a prefix, a bucket.
const Space = "SPACE"

// A Server is a server with the place of a store.
type Server interface {
	// Load puts content into the empty place, without the store.
	Load(content string) error
	// Open returns the store.
	Open() driver.Store
	// Dump returns the content of the place, in the form of Load. It writes constants for values
	// that differ from write to write.
	Dump() (content string, err error)
}

// Test tests that a store reads the file of each released version, and can change the entries of the
// file. Test also tests that the store writes entries in the form of the newest file.
func Test(t *testing.T, file string, start func(t *testing.T) Server) {
	folders, err := frozen.Folders(testdata)
	if err != nil {
		t.Fatal(err)
	}
	newest := folders[len(folders)-1]
	if *write != "" {
		writeForm(t, file, start(t))
		return
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			content, err := os.ReadFile(filepath.Join(folder, file))
			if err != nil {
				t.Fatal(err)
			}
			old := start(t)
			if err := old.Load(string(content)); err != nil {
				t.Fatal(err)
			}
			reads(t, old.Open(), entries(t, folder))
			same(t, "after a change of each entry", old, string(content))
			if folder == newest {
				fresh := start(t)
				put(t, fresh.Open(), entries(t, folder))
				same(t, "this version writes another form: if an older version would misread the form, raise its version; "+
					"then write the stores of the next release with -compat.write (VERSIONING.md)", fresh, string(content))
			}
		})
	}
}

// entries returns the values of two pools in a folder's store of files, by their keys.
func entries(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	root := filepath.Join(folder, "files")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		key, ok := strings.CutSuffix(filepath.ToSlash(name), "=")
		if pool, _, _ := strings.Cut(key, "/"); err != nil || !ok || pool != "-z.eu_1@b-" && pool != "rescued" {
			return err
		}
		content, err := os.ReadFile(path)
		_, found[key], _ = strings.Cut(string(content), "\n") // after the line of the file
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("%s has the entries %q: %v", root, found, err)
	}
	return found
}

func put(t *testing.T, store driver.Store, entries map[string]string) {
	t.Helper()
	if p, ok := store.(driver.Preparer); ok {
		if err := p.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		if _, err := store.Put(t.Context(), key, []byte(entries[key]), driver.None); err != nil {
			t.Fatal(err)
		}
	}
}

// reads checks that the store has the entries, and writes each entry again.
func reads(t *testing.T, store driver.Store, want map[string]string) {
	t.Helper()
	list, err := store.List(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	got := make(map[string]string)
	for _, e := range list {
		got[e.Key] = string(e.Value)
	}
	if !maps.Equal(got, want) {
		t.Fatalf("the entries are\n%q, want\n%q", got, want)
	}
	for key, value := range want {
		e, err := store.Get(t.Context(), key)
		if err != nil || string(e.Value) != value {
			t.Fatalf("%s is %q, %v; want %q", key, e.Value, err, value)
		}
		if _, err := store.Put(t.Context(), key, e.Value, e.Revision); err != nil {
			t.Fatal(err)
		}
	}
}

func same(t *testing.T, what string, s Server, want string) {
	t.Helper()
	if got, err := s.Dump(); err != nil || got != want {
		t.Errorf("%s: %v\n%s\nwant\n%s", what, err, got, want)
	}
}

// writeForm writes the file of the version under development.
func writeForm(t *testing.T, file string, s Server) {
	if err := frozen.Writable(*write, exec.CommandContext(t.Context(), "git", "tag", "--list").Output); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(testdata, *write)
	put(t, s.Open(), entries(t, folder))
	content, err := s.Dump()
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, file), []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println("wrote", filepath.Join(folder, file))
}
