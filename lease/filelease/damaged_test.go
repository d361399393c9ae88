//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// TestDamaged: a damaged file is reported, and is neither read nor overwritten.
func TestDamaged(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, plain)
	rev := mustPut(t, s, "a/1", string(sample), driver.None)
	path := s.file("a/1")
	whole := testkit.Must(os.ReadFile(path))
	check := func(content []byte, want error) {
		t.Helper()
		testkit.OK(t, os.WriteFile(path, content, 0o600))
		_, err := s.Get(t.Context(), "a/1")
		wantError(t, err, want)
		if !strings.Contains(err.Error(), path) {
			t.Errorf("%v does not name the file", err)
		}
		for _, rev := range []driver.Revision{driver.None, rev} {
			wantError(t, testkit.Err(s.Put(t.Context(), "a/1", nil, rev)), want)
		}
		if now, err := os.ReadFile(path); err != nil || string(now) != string(content) {
			t.Errorf("the file has become %q, %v", now, err)
		}
	}
	for i := range whole {
		check(whole[:i], driver.ErrDamaged)
	}
	check(append(whole, 0), driver.ErrDamaged)
	check(make([]byte, maxFile+1), driver.ErrDamaged)
	check([]byte("firn 2 1 00000000\n"), driver.ErrVersion)

	os.WriteFile(path, whole, 0o600)
	wantEntry(t, s, "a/1", string(sample))
	os.WriteFile(s.file("a/2"), whole, 0o600)
	wantError(t, testkit.Err(s.Get(t.Context(), "a/2")), driver.ErrDamaged)

	os.Mkdir(s.file("a/3"), 0o700)
	wantError(t, testkit.Err(s.Get(t.Context(), "a/3")), driver.ErrDamaged)
	if err := mkfifo(s.file("a/4")); err == nil {
		wantError(t, testkit.Err(s.Get(t.Context(), "a/4")), driver.ErrDamaged)
	}
}

// TestReplaceDamaged: a Put at the revision of a damaged entry replaces the entry, unless the entry
// has changed in the meantime. No revision comes twice.
func TestReplaceDamaged(t *testing.T) {
	s := mustOpen(t, t.TempDir(), plain)
	seen := map[driver.Revision]bool{}
	note := func(rev driver.Revision) driver.Revision {
		if rev == driver.None || seen[rev] {
			t.Errorf("revision %q", rev)
		}
		seen[rev] = true
		return rev
	}
	rev := note(mustPut(t, s, "a/1", "one", driver.None))
	whole := testkit.Must(os.ReadFile(s.file("a/1")))
	for _, content := range []string{"", "x", "firn 1 7 00000000\nfoo", strings.Repeat("x", int(maxFile)+1)} {
		testkit.OK(t, os.WriteFile(s.file("a/1"), []byte(content), 0o600))
		e, err := s.Get(t.Context(), "a/1")
		wantError(t, err, driver.ErrDamaged)
		if e.Revision == driver.None {
			t.Fatalf("%q has no revision", content)
		}
		wantError(t, testkit.Err(s.Put(t.Context(), "a/1", nil, rev)), driver.ErrDamaged)
		rev = note(mustPut(t, s, "a/1", "again", e.Revision))
		wantEntry(t, s, "a/1", "again")
		wantError(t, testkit.Err(s.Put(t.Context(), "a/1", nil, e.Revision)), driver.ErrConflict)
		rev = note(mustPut(t, s, "a/1", "again", rev))
	}
	// An entry that was restored in the meantime stays.
	os.WriteFile(s.file("a/1"), []byte("x"), 0o600)
	e, err := s.Get(t.Context(), "a/1")
	wantError(t, err, driver.ErrDamaged)
	os.WriteFile(s.file("a/1"), whole, 0o600)
	wantError(t, testkit.Err(s.Put(t.Context(), "a/1", nil, e.Revision)), driver.ErrConflict)
	wantEntry(t, s, "a/1", "one")
	// No Put replaces an entry of an unknown version.
	os.WriteFile(s.file("a/1"), []byte("firn 2 1 00000000\n"), 0o600)
	if e, err := s.Get(t.Context(), "a/1"); e.Revision != driver.None || !errors.Is(err, driver.ErrVersion) {
		t.Errorf("%+v, %v", e, err)
	}
	os.Mkdir(s.file("a/2"), 0o700)
	if e, err := s.Get(t.Context(), "a/2"); e.Revision != driver.None || !errors.Is(err, driver.ErrDamaged) {
		t.Errorf("%+v, %v", e, err)
	}
}

// TestRestored: an entry is restored from a copy, and then changed. A Put at the revision of the
// lost entry is in conflict.
func TestRestored(t *testing.T) {
	s := mustOpen(t, t.TempDir(), plain)
	mustPut(t, s, "a", "1", driver.None)
	old, _ := os.ReadFile(s.file("a"))
	e, _ := s.Get(t.Context(), "a")
	lost := mustPut(t, s, "a", "2", e.Revision)
	os.WriteFile(s.file("a"), old, 0o600)
	mustPut(t, s, "a", "3", e.Revision)
	wantError(t, testkit.Err(s.Put(t.Context(), "a", nil, lost)), driver.ErrConflict)
}

// symlink makes a symbolic link. It skips the test where the system makes none: Windows may need a
// privilege, and wine reports a success.
func symlink(t *testing.T, to, path string) {
	t.Helper()
	err := os.Symlink(to, path)
	if err == nil {
		_, err = os.Readlink(path)
	}
	if err != nil && runtime.GOOS == "windows" {
		t.Skipf("this system makes no symbolic links: %v", err)
	}
	testkit.OK(t, err)
}

func TestSymlinks(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, plain)
	rev := mustPut(t, s, "a/1", "one", driver.None)
	for _, link := range [][2]string{{"1=", "a/2="}, {"loop=", "a/loop="}, {".", "a/around"}} {
		symlink(t, link[0], filepath.Join(dir, link[1]))
	}
	for _, key := range []string{"a/2", "a/loop"} {
		wantError(t, testkit.Err(s.Get(t.Context(), key)), driver.ErrUnsafe)
		wantError(t, testkit.Err(s.Put(t.Context(), key, nil, rev)), driver.ErrUnsafe)
		wantError(t, testkit.Err(s.Put(t.Context(), key, nil, driver.None)), driver.ErrUnsafe)
	}
	for _, key := range []string{"a/around/1", "a/around/2", "a/around/new"} { // another root can have another folder behind the link
		wantError(t, testkit.Err(s.Get(t.Context(), key)), driver.ErrUnsafe)
		wantError(t, testkit.Err(s.Confirm(t.Context(), key)), driver.ErrUnsafe)
		wantError(t, testkit.Err(s.List(t.Context(), "a/around/")), driver.ErrUnsafe)
		wantError(t, testkit.Err(s.Put(t.Context(), key, nil, driver.None)), driver.ErrUnsafe)
		wantError(t, testkit.Err(s.Put(t.Context(), key, nil, rev)), driver.ErrUnsafe)
	}
	list, err := s.List(t.Context(), "")
	wantError(t, err, driver.ErrUnsafe)
	if len(list) != 3 || list[0].Err != nil || !errors.Is(list[1].Err, driver.ErrUnsafe) || !errors.Is(list[2].Err, driver.ErrUnsafe) {
		t.Errorf("List = %v", list)
	}
	os.Symlink("loop", filepath.Join(dir, "loop"))
	wantError(t, testkit.Err(Open(filepath.Join(dir, "loop"))), syscall.ELOOP)

	// The store's directory may be behind a link, but a part of a store is not a store.
	symlink(t, filepath.Join(dir, "a"), filepath.Join(dir, "part"))
	wantError(t, testkit.Err(Open(filepath.Join(dir, "part"))), driver.ErrUnsafe, driver.ErrCopied)
	symlink(t, t.TempDir(), filepath.Join(dir, "link"))
	mustPut(t, mustOpen(t, filepath.Join(dir, "link"), plain), "b/c", "", driver.None)
}

func TestInTheWay(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, plain)
	os.WriteFile(filepath.Join(dir, "a"), nil, 0o600)
	wantError(t, testkit.Err(s.Get(t.Context(), "a/b")), driver.ErrUnavailable, errNotDir)
	wantError(t, testkit.Err(s.Put(t.Context(), "a/b", nil, driver.None)), driver.ErrUnavailable, errNotDir)
	wantError(t, testkit.Err(Open(filepath.Join(dir, "a"))), driver.ErrUnavailable, errNotDir)
	wantError(t, testkit.Err(Open(filepath.Join(dir, "a", "b"))), driver.ErrUnavailable, errNotDir)
	wantError(t, testkit.Err(Open("")), driver.ErrUnavailable)
}

// TestMeddling: a Put whose files are removed during the Put fails, and leaves no file.
func TestMeddling(t *testing.T) {
	var meddle func(temp string)
	h := plain
	h.sync = func(f *os.File) error {
		if strings.HasPrefix(filepath.Base(f.Name()), tempPrefix) && meddle != nil {
			meddle(f.Name())
		}
		return nil
	}
	s := mustOpen(t, t.TempDir(), h)
	rev := mustPut(t, s, "a", "one", driver.None)
	if runtime.GOOS != "windows" { // which removes no file that is being written
		meddle = func(temp string) { os.Remove(temp) }
		wantError(t, testkit.Err(s.Put(t.Context(), "a", []byte("two"), rev)), driver.ErrUnavailable, fs.ErrNotExist)
		wantError(t, testkit.Err(s.Put(t.Context(), "b", nil, driver.None)), driver.ErrUnavailable, fs.ErrNotExist)
		wantEntry(t, s, "a", "one")
	}
	meddle = func(string) {
		os.Remove(s.file("a"))
		os.Mkdir(s.file("a"), 0o700)
	}
	wantError(t, testkit.Err(s.Put(t.Context(), "a", []byte("two"), rev)), driver.ErrUnavailable)
	wantNoTemp(t, s.dir)
}
