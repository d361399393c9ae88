//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// plain are the hooks of Open.
var plain = hooks{filesystem: statfs, here: here, sync: (*os.File).Sync}

func noSync(*os.File) error { return nil }

func mustOpen(t testing.TB, dir string, h hooks) *Store {
	t.Helper()
	return testkit.Must(open(dir, false, h))
}

func mustPut(t testing.TB, s *Store, key, value string, rev driver.Revision) driver.Revision {
	t.Helper()
	next, err := s.Put(t.Context(), key, []byte(value), rev)
	if err != nil {
		t.Fatalf("Put(%s): %v", key, err)
	}
	return next
}

func wantEntry(t testing.TB, s *Store, key, value string) {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil || string(e.Value) != value {
		t.Errorf("Get(%s) = %q, %v; want %q", key, e.Value, err, value)
	}
}

// wantError fails the test unless err is a [driver.Error] with a store, and is each of the errors.
func wantError(t testing.TB, err error, want ...error) {
	t.Helper()
	var e *driver.Error
	if !errors.As(err, &e) || e.Store == "" || e.Op == "" {
		t.Errorf("the error %v is not a driver.Error with a store and an operation", err)
		return
	}
	for _, w := range want {
		if !errors.Is(err, w) {
			t.Errorf("the error %v is not %v", err, w)
		}
	}
}

// wantRefusal checks that each call of a store fails, also a Put of a new entry, and returns the errors.
func wantRefusal(t testing.TB, s *Store, key string, rev driver.Revision, want ...error) []error {
	t.Helper()
	all := []error{testkit.Err(s.Get(t.Context(), key)), testkit.Err(s.List(t.Context(), "")), testkit.Err(s.List(t.Context(), key[:1]+"/")),
		testkit.Err(s.Put(t.Context(), key, nil, rev)), testkit.Err(s.Put(t.Context(), key, nil, driver.None)),
		testkit.Err(s.Put(t.Context(), key+"/new", nil, driver.None))}
	for _, err := range all {
		wantError(t, err, want...)
	}
	return all
}

// wantNoTemp checks that no temporary file is left.
func wantNoTemp(t testing.TB, dir string) {
	t.Helper()
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(filepath.Base(path), tempPrefix) {
			t.Errorf("%s is left", path)
		}
		return nil
	})
}

// increment adds one to the number in an entry, by compare-and-swap.
func increment(ctx context.Context, s *Store, key string) error {
	for {
		e, err := s.Get(ctx, key)
		if err != nil && !errors.Is(err, driver.ErrNotFound) {
			return err
		}
		n, _ := strconv.Atoi(string(e.Value))
		_, err = s.Put(ctx, key, []byte(strconv.Itoa(n+1)), e.Revision)
		if !errors.Is(err, driver.ErrConflict) {
			return err
		}
	}
}

// TestEntries: an entry is a file beside its folder, which the user alone can read.
func TestEntries(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "er")
	s := mustOpen(t, dir, plain)
	ctx := t.Context()
	mustPut(t, s, "a/b/0007", "two", mustPut(t, s, "a/b/0007", "one", driver.None))
	mustPut(t, s, "a/b", "", driver.None)
	mustPut(t, s, "a/b/0007/x", "x", driver.None)
	wantError(t, testkit.Err(s.Put(ctx, "../c", nil, driver.None)), driver.ErrKey)
	wantError(t, testkit.Err(s.Get(ctx, ".firn-0")), driver.ErrKey)
	if runtime.GOOS != "windows" { // whose paths may have 32767 characters
		_, err := s.Put(ctx, strings.Repeat("k/", 2500)+"k", nil, driver.None) // each name is short enough
		wantError(t, err, driver.ErrKey, syscall.ENAMETOOLONG)
	}

	var files []string
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		info, _ := d.Info()
		path, _ = filepath.Rel(dir, path)
		files = append(files, fmt.Sprint(filepath.ToSlash(path), " ", info.Mode()))
		return err
	})
	want := []string{". drwx------", ".place -rw-------", "a drwx------", "a/b drwx------", "a/b/0007 drwx------", "a/b/0007/x= -rw-------",
		"a/b/0007= -rw-------", "a/b= -rw-------"}
	if runtime.GOOS == "windows" { // where a file for the locks is added, and Go knows no rights
		want = []string{". drwxrwxrwx", ".lock -rw-rw-rw-", ".place -rw-rw-rw-", "a drwxrwxrwx", "a/b drwxrwxrwx", "a/b/0007 drwxrwxrwx",
			"a/b/0007/x= -rw-rw-rw-", "a/b/0007= -rw-rw-rw-", "a/b= -rw-rw-rw-"}
	}
	if !slices.Equal(files, want) {
		t.Errorf("the files are %q, want %q", files, want)
	}
}

func TestList(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, dir, plain)
	keys := []string{"a", "a-b", "a.b/x", "a/b", "a/b/c", "a/b1", "b/0001", "b/0002"} // in the order of bytes
	for _, key := range keys {
		mustPut(t, s, key, key, driver.None)
	}
	for _, name := range []string{".firn-0123456789abcdef", ".x=", "README", "X=", "a/b~", "a/notes", "b/.hidden", "b/0001=.orig"} {
		testkit.OK(t, os.WriteFile(filepath.Join(dir, name), []byte("not an entry"), 0o600))
	}
	os.MkdirAll(filepath.Join(dir, ".git", "a"), 0o700)
	for _, prefix := range []string{"", "a", "a/", "a/b", "a/b/", "b/00", "b/0002", "b/00/", "c", "..", "../", "/", "A/", "b/../a", "."} {
		list, err := s.List(t.Context(), prefix)
		if err != nil {
			t.Errorf("List(%q): %v", prefix, err)
		}
		var got, want []string
		for _, e := range list {
			got = append(got, e.Key)
			wantEntry(t, s, e.Key, string(e.Value))
		}
		for _, key := range keys {
			if strings.HasPrefix(key, prefix) {
				want = append(want, key)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("List(%q) = %q, want %q", prefix, got, want)
		}
	}

	// Each damaged entry is reported in its place.
	for _, key := range []string{"a/b", "b/0002"} {
		testkit.OK(t, os.Truncate(s.file(key), 5))
	}
	list, err := s.List(t.Context(), "")
	wantError(t, err, driver.ErrDamaged)
	if len(list) != len(keys) {
		t.Errorf("%d entries, not %d", len(list), len(keys))
	}
	for _, e := range list {
		damaged := e.Key == "a/b" || e.Key == "b/0002"
		if errors.Is(e.Err, driver.ErrDamaged) != damaged || damaged && !strings.Contains(e.Err.Error(), s.file(e.Key)) || e.Revision == driver.None {
			t.Errorf("%s: revision %q, %v", e.Key, e.Revision, e.Err)
		}
	}
}

// TestListWhileWritten: each list has all entries while other handles replace entries.
func TestListWhileWritten(t *testing.T) {
	s := mustOpen(t, t.TempDir(), hooks{filesystem: statfs, here: here, sync: noSync})
	for i := range 50 {
		mustPut(t, s, fmt.Sprintf("p/%04d", i), "0", driver.None)
	}
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			for n := i; ctx.Err() == nil; n++ {
				if err := increment(ctx, s, fmt.Sprintf("p/%04d", n%50)); err != nil && ctx.Err() == nil {
					t.Error(err)
				}
			}
		})
	}
	lists := 200
	if testing.Short() {
		lists = 20
	}
	for range lists {
		if list, err := s.List(ctx, "p/"); len(list) != 50 || err != nil {
			t.Errorf("%d entries, %v", len(list), err)
		}
	}
	stop()
	wg.Wait()
	wantNoTemp(t, s.dir)
}

// TestLocked: a stopped writer holds up other writers of the same entry, until their contexts end.
// Readers, and writers of other entries, do not wait.
func TestLocked(t *testing.T) {
	s := mustOpen(t, t.TempDir(), plain)
	rev := mustPut(t, s, "a/1", "one", driver.None)
	other := mustPut(t, s, "a/2", "two", driver.None)
	f := testkit.Must(s.openEntry("a/1"))
	unlock, err := s.tryLock("a/1", f)
	if unlock == nil || err != nil {
		t.Fatal(unlock == nil, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	wantError(t, testkit.Err(s.Put(ctx, "a/1", []byte("new"), rev)), driver.ErrUnavailable, context.DeadlineExceeded)
	wantEntry(t, s, "a/1", "one")
	if list, err := s.List(t.Context(), "a/"); len(list) != 2 || err != nil {
		t.Errorf("List = %v, %v", list, err)
	}
	mustPut(t, s, "a/2", "new", other)
	wantError(t, testkit.Err(s.Put(t.Context(), "a/1", nil, "1-00000000")), driver.ErrConflict)
	unlock()
	mustPut(t, s, "a/1", "new", rev)
}

// TestGone: a directory is removed, an empty one takes its place, and then another store. The store is not empty, does
// not make the directory again, and does not use another directory in the same place.
func TestGone(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	s := mustOpen(t, dir, plain)
	rev := mustPut(t, s, "a/b", "x", driver.None)
	testkit.OK(t, os.Rename(dir, dir+".old")) // which keeps the inode, so that no other gets its number
	wantRefusal(t, s, "a/b", rev, driver.ErrUnavailable)
	testkit.OK(t, os.Mkdir(dir, 0o700))
	wantRefusal(t, s, "a/b", rev, driver.ErrUnavailable)
	other := mustOpen(t, dir, plain)
	if same := mustPut(t, other, "a/b", "x", driver.None); same != rev {
		t.Fatalf("revision %q, not %q", same, rev)
	}
	for _, err := range wantRefusal(t, s, "a/b", rev, driver.ErrUnavailable) {
		if !strings.Contains(fmt.Sprint(err), "replaced by another directory") {
			t.Error(err)
		}
	}
	wantEntry(t, other, "a/b", "x")
	testkit.OK(t, errors.Join(os.RemoveAll(dir), os.Rename(dir+".old", dir)))
	mustPut(t, s, "a/b", "y", rev)
}

func TestRefused(t *testing.T) {
	dir := t.TempDir()
	h := plain
	h.filesystem = func(string) (filesystem, error) { return byMagic(0x6969), nil }
	_, err := open(dir, false, h)
	wantError(t, err, driver.ErrUnsafe)
	if !strings.Contains(err.Error(), "NFS") {
		t.Errorf("%v does not name the filesystem", err)
	}
	h.filesystem = func(string) (filesystem, error) { return filesystem{}, syscall.EIO }
	wantError(t, testkit.Err(open(dir, false, h)), driver.ErrUnavailable, syscall.EIO)

	// A directory is mounted below the store.
	h.filesystem = func(path string) (filesystem, error) {
		if path == filepath.Join(dir, "nfs") {
			return byMagic(0x6969), nil
		}
		return byMagic(0xef53), nil
	}
	s := mustOpen(t, dir, h)
	mustPut(t, s, "ext4/a", "", driver.None)
	wantError(t, testkit.Err(s.Put(t.Context(), "nfs/a", nil, driver.None)), driver.ErrUnsafe)

	h.filesystem = func(string) (filesystem, error) { return byMagic(0x01021994), nil }
	os.Chmod(dir, 0o777)
	found, err := mustOpen(t, dir, h).Inspect(t.Context())
	if runtime.GOOS == "windows" { // where the rights of a folder are not looked at
		found = append(found, driver.Finding{Text: "every user"})
	}
	if err != nil || len(found) != 2 || !found[0].Loses || !strings.Contains(found[0].Text, "tmpfs") || !strings.Contains(found[1].Text, "every user") {
		t.Errorf("Inspect = %+v, %v", found, err)
	}
}

// TestSweep: files of killed writers are removed, and files of running writers stay.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	rev := mustPut(t, mustOpen(t, dir, plain), "a/b", "", driver.None)
	old, young := filepath.Join(dir, "a", tempPrefix+"0"), filepath.Join(dir, "a", tempPrefix+"1")
	for _, path := range []string{old, young} {
		os.WriteFile(path, sample, 0o600)
	}
	then := time.Now().Add(-2 * tempAge)
	os.Chtimes(old, then, then)
	s := mustOpen(t, dir, plain)
	if _, err := s.List(t.Context(), ""); err != nil {
		t.Error(err)
	}
	mustPut(t, s, "a/b", "x", rev)
	testkit.Is(t, testkit.Err(os.Stat(old)), fs.ErrNotExist, "the old file")
	testkit.OK(t, testkit.Err(os.Stat(young)))
}

func TestString(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a b%c#")
	above := filepath.ToSlash(filepath.Dir(dir))
	if runtime.GOOS == "windows" {
		above = "/" + above
	}
	if s := mustOpen(t, dir, plain).String(); s != "file://"+above+"/a%20b%25c%23" {
		t.Errorf("String = %s", s)
	}
}

// free reports whether a group can have a resource.
func free(t *testing.T, s *Store, resource, group string) bool {
	t.Helper()
	release, err := s.Exclude(resource, group)
	if release != nil {
		release()
	}
	if err != nil && !errors.Is(err, driver.ErrConflict) {
		t.Fatal(err)
	}
	return release != nil
}

// anyDisk are the hooks of a system with lasting filesystems. The temporary directories of the machine
// may be on others.
var anyDisk = hooks{filesystem: func(string) (filesystem, error) { return filesystem{name: "ext4"}, nil }, here: here, sync: (*os.File).Sync}

// untold are the hooks of a system that cannot tell a copy.
var untold = hooks{filesystem: anyDisk.filesystem, here: func(string) (place, error) { return place{Version: placeVersion, Inode: 1}, nil }, sync: anyDisk.sync}

// twin returns a store in a directory that no system can tell from the others with the identity.
func twin(t *testing.T, identity string) *Store {
	t.Helper()
	dir := t.TempDir()
	content := testkit.Must(json.Marshal(place{Version: placeVersion, Store: identity, Inode: 1}))
	testkit.OK(t, os.WriteFile(filepath.Join(dir, placeFile), content, 0o600))
	return mustOpen(t, dir, untold)
}
