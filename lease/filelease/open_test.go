//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// With NoCreate, a directory without a store is an error that names the directory's absolute path,
// and nothing is made.
func TestNoCreate(t *testing.T) {
	t.Chdir(t.TempDir())
	here := testkit.Must(os.Getwd())
	testkit.OK(t, os.Mkdir("empty", 0o700))
	testkit.OK(t, os.Mkdir("other", 0o700))
	testkit.OK(t, os.WriteFile(filepath.Join("other", "notes"), nil, 0o600))
	// Open alone makes a directory, and no store.
	testkit.Must(Open("opened"))
	for _, dir := range []string{"missing", filepath.Join("missing", "below"), "empty", "other", "opened"} {
		for _, given := range []string{dir, filepath.Join(here, dir)} {
			_, err := Open(given, NoCreate)
			wantError(t, err, driver.ErrRefused, ErrNoStore)
			if err != nil && !strings.Contains(err.Error(), ": "+filepath.Join(here, dir)+" ") {
				t.Errorf("%s: the error does not name the absolute path: %v", given, err)
			}
		}
	}
	testkit.Is(t, testkit.Err(os.Stat("missing")), fs.ErrNotExist, "missing was made")
	for dir, want := range map[string][]string{"empty": nil, "other": {"notes"}} {
		if got := listed(t, dir); !slices.Equal(got, want) {
			t.Errorf("%s has %q, not %q", dir, got, want)
		}
	}

	mustPut(t, mustOpen(t, "empty", plain), "a/b", "one", driver.None)
	s := testkit.Must(Open("empty", NoCreate))
	wantEntry(t, s, "a/b", "one")
	if s.Local() {
		t.Error("a lease may create a pool in a store that has to exist")
	}
	testkit.OK(t, os.Remove(filepath.Join("empty", placeFile)))
	wantError(t, testkit.Err(Open("empty", NoCreate)), driver.ErrUnsafe, driver.ErrCopied)
}

func listed(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries := testkit.Must(os.ReadDir(dir))
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Open and OpenCopy refuse an address, and name the directory that was meant: as a relative
// directory, an address would be another directory in each working directory.
func TestAddress(t *testing.T) {
	t.Chdir(t.TempDir())
	slash := filepath.FromSlash
	for given, want := range map[string]string{
		"file:///var/lib/my%20ids":         slash("takes the directory /var/lib/my ids, not"),
		"FILE:///var/lib/ids":              slash("takes the directory /var/lib/ids, not"),
		"file:/var/lib/ids":                slash("takes the directory /var/lib/ids, not"),
		"file://var/lib/ids":               slash("takes the directory /var/lib/ids, not"),
		"file:ids":                         slash("takes the directory /ids, not"),
		"file:///var/%zz":                  slash("takes the directory /var/%zz, not"),
		"postgres://ids:hunter2@db/app":    "not an address",
		"etcd://etcd-1/firn?token=hunter2": "not an address",
		"etcd+x.y-z://host/prefix/longer":  "not an address",
		"postgres:/ids:hunter2@db/app":     "not an address",
		"postgres//ids:hunter2@db/app":     "not an address",
		"ids:hunter2@db/app":               "not an address",
		"ids@db/app":                       "not an address",
		"db:5432/app":                      "not an address",
		"host=db password=hunter2":         "not an address",
		"x y://z":                          "not an address",
		"./redis://localhost":              "not an address",
		"/redis://localhost":               "not an address",
	} {
		for name, open := range map[string]func(string) (*Store, error){
			"Open": func(dir string) (*Store, error) { return Open(dir) }, "OpenCopy": OpenCopy} {
			_, err := open(given)
			wantError(t, err, driver.ErrAddress)
			if err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2")) {
				t.Errorf("%s(%s): %v, without %s", name, given, err, want)
			}
		}
	}
	if got := listed(t, "."); got != nil {
		t.Errorf("%q were made", got)
	}
	if filepath.Separator == '\\' {
		return // these are names of streams there
	}
	for _, dir := range []string{"./a:b", "./file:x", ".//12:30", "..//" + filepath.Base(testkit.Must(os.Getwd())) + "/a=b", "./a/b:c@d"} {
		if _, err := Open(dir); err != nil {
			t.Errorf("%s: %v", dir, err)
		}
	}
}

// Open resolves a relative directory once.
func TestRelative(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	t.Chdir(first)
	first, err := os.Getwd() // the temporary directory may be a symbolic link
	testkit.OK(t, err)
	s := mustOpen(t, "ids", plain)
	t.Chdir(second)
	mustPut(t, s, "a/b", "one", driver.None)
	wantEntry(t, mustOpen(t, filepath.Join(first, "ids"), plain), "a/b", "one")
	if got := listed(t, second); got != nil {
		t.Errorf("%q were made in another working directory", got)
	}
	t.Chdir(t.TempDir()) // Windows keeps a working directory from being removed
	testkit.OK(t, os.RemoveAll(filepath.Join(first, "ids")))
	_, err = s.Get(t.Context(), "a/b")
	wantError(t, err, driver.ErrUnavailable)
	if err != nil && !strings.Contains(err.Error(), filepath.Join(first, "ids")+" was deleted") {
		t.Errorf("the error does not name the absolute path: %v", err)
	}
}
