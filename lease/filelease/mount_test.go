//go:build linux

package filelease

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/minter"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// mounted runs a test where the test can mount filesystems, which end with the test, and returns
// the directory of a tmpfs of 64 KiB.
func mounted(t *testing.T) (dir string, ok bool) {
	t.Helper()
	if !inNamespaces(t, newMount) {
		return "", false
	}
	dir = t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k,mode=0700"); err != nil {
		t.Skipf("the system does not permit to mount a tmpfs: %v", err)
	}
	t.Cleanup(func() { syscall.Unmount(dir, 0) })
	return dir, true
}

func TestFull(t *testing.T) {
	dir, ok := mounted(t)
	if !ok {
		return
	}
	h := plain
	h.note = func(op, path, _ string) {
		if path := filepath.Clean(path); op == "sync" && !strings.HasPrefix(path, dir) {
			t.Errorf("%s is synced, which is on another filesystem", path)
		}
	}
	s := mustOpen(t, dir, h)
	if found, err := s.Inspect(t.Context()); err != nil || len(found) != 1 || !found[0].Loses || !strings.Contains(found[0].Text, "tmpfs") {
		t.Errorf("Inspect = %+v, %v", found, err)
	}
	rev := mustPut(t, s, "a/b", "one", driver.None)
	big := make([]byte, driver.MaxValue)
	n := 0
	for ; ; n++ {
		_, err := s.Put(t.Context(), fmt.Sprint("full/", n), big, driver.None)
		if errors.Is(err, syscall.ENOSPC) {
			break
		}
		testkit.OK(t, err)
	}
	failedPut(t, s, "a/b", rev, driver.ErrUnavailable, syscall.ENOSPC)
	if n == 0 {
		t.Fatal("the filesystem was full from the start")
	}
	testkit.OK(t, errors.Join(os.Remove(s.file("full/0")), os.Remove(s.file("full/1"))))
	mustPut(t, s, "a/b", "two", rev)
	wantEntry(t, s, "a/b", "two")
}

func TestReadOnly(t *testing.T) {
	dir, ok := mounted(t)
	if !ok {
		return
	}
	s := mustOpen(t, dir, plain)
	rev := mustPut(t, s, "a/b", "one", driver.None)
	testkit.OK(t, syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""))
	failedPut(t, s, "a/b", rev, driver.ErrUnavailable, syscall.EROFS)
	wantError(t, testkit.Err(Open(dir)), driver.ErrUnavailable, syscall.EROFS)
	wantError(t, testkit.Err(Open(dir+"/new")), driver.ErrUnavailable, syscall.EROFS)
}

// TestUnmounted: the directory under a mount point is not the store.
func TestUnmounted(t *testing.T) {
	dir, ok := mounted(t)
	if !ok {
		return
	}
	s := mustOpen(t, dir, plain)
	rev := mustPut(t, s, "a", "one", driver.None)
	testkit.OK(t, syscall.Unmount(dir, 0))
	wantRefusal(t, s, "a", rev, driver.ErrUnavailable)
}

// ownMounts runs the rest of a test where its mounts are its own, and reports whether the caller is the child.
func ownMounts(t *testing.T) bool {
	t.Helper()
	if !inNamespaces(t, newMount) {
		return false
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Skipf("the system does not permit mounts of the test's own: %v", err)
	}
	return true
}

// mountOver binds a folder or a file over another, or mounts a tmpfs if from is empty.
func mountOver(t *testing.T, from, at string) {
	t.Helper()
	err := syscall.Mount(from, at, "", syscall.MS_BIND, "")
	if from == "" {
		err = syscall.Mount("tmpfs", at, "tmpfs", 0, "mode=0700")
	}
	if err != nil {
		t.Skipf("the system does not permit to mount on %s: %v", at, err)
	}
	t.Cleanup(func() { syscall.Unmount(at, syscall.MNT_DETACH) })
}

// TestFolderIsMount: a container that has the store's directory without the mounts in it would find other entries there. So a folder or
// a file of the store that is a mount of its own is refused, however it is mounted, and on each way to an entry.
func TestFolderIsMount(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	const worker, absent = "pool/workers/00007", "pool/workers/00008"
	for _, c := range []struct {
		name, at string // below the store's directory
		copied   bool   // a copy is mounted over it, else it is bound to itself
		tmpfs    bool
	}{
		{"the pool's folder on itself", "pool", false, false},
		{"a copy of the pool's folder", "pool", true, false},
		{"a copy of the workers", "pool/workers", true, false},
		{"an empty filesystem on the pool's folder", "pool", false, true},
		{"an empty filesystem on the workers", "pool/workers", false, true},
		{"an entry on itself", worker + suffix, false, false},
		{"a copy of an entry", worker + suffix, true, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := t.TempDir()
			dir, volume := filepath.Join(base, "ids"), filepath.Join(base, "volume")
			testkit.OK(t, errors.Join(os.Mkdir(dir, 0o700), os.Mkdir(volume, 0o700)))
			mountOver(t, dir, volume) // the store's directory may be a mount
			s := mustOpen(t, volume, plain)
			mustPut(t, s, "pool/pool", "", driver.None)
			rev := mustPut(t, s, worker, "one", driver.None)
			testkit.OK(t, os.CopyFS(filepath.Join(base, "copy"), os.DirFS(dir)))
			at, from := filepath.Join(volume, c.at), filepath.Join(volume, c.at)
			if c.copied {
				from = filepath.Join(base, "copy", c.at)
			}
			if c.tmpfs {
				from = ""
			}
			mountOver(t, from, at)
			what := "folder "
			if c.at == worker+suffix {
				what = "file "
			}
			refused := func(how string, err error) {
				t.Helper()
				wantError(t, err, driver.ErrUnsafe)
				if err == nil || !strings.Contains(err.Error(), "the "+what+at+" is a mount of its own") {
					t.Errorf("%s: %v", how, err)
				}
			}
			for _, s := range []*Store{s, mustOpen(t, volume, plain)} { // opened before and after
				refused("Get", testkit.Err(s.Get(t.Context(), worker)))
				refused("Confirm", testkit.Err(s.Confirm(t.Context(), worker)))
				refused("Put", testkit.Err(s.Put(t.Context(), worker, nil, rev)))
				for _, prefix := range []string{"", "pool/", "pool/workers/", worker} {
					refused("List "+prefix, testkit.Err(s.List(t.Context(), prefix)))
				}
				if what == "folder " {
					refused("Get", testkit.Err(s.Get(t.Context(), absent)))
					refused("Confirm", testkit.Err(s.Confirm(t.Context(), absent)))
					refused("Put", testkit.Err(s.Put(t.Context(), absent, nil, driver.None)))
				}
			}
			testkit.OK(t, syscall.Unmount(at, 0)) // so no file is open there
			wantEntry(t, s, worker, "one")
			wantError(t, testkit.Err(s.Get(t.Context(), absent)), driver.ErrNotFound)
			mustPut(t, s, absent, "two", driver.None)
			mustPut(t, s, worker, "three", rev)
			if list, err := s.List(t.Context(), ""); err != nil || len(list) != 3 {
				t.Errorf("List = %v, %v", list, err)
			}
		})
	}
}

// TestMountNumber: a kernel without the field of statx(2) tells the number of a mount in /proc.
func TestMountNumber(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	dir := t.TempDir()
	at := filepath.Join(dir, "a")
	testkit.OK(t, os.Mkdir(at, 0o700))
	mountOver(t, at, at)
	f := testkit.Must(openToRead(at))
	defer f.Close()
	if mountNumber(at, nil) == 0 {
		t.Skip("the system does not tell the numbers of mounts")
	}
	with := []uint64{mountNumber(dir, nil), mountNumber(at, nil), mountNumber("", f)}
	defer func(numbers map[string]uintptr) { statxNumbers = numbers }(statxNumbers)
	statxNumbers = nil
	without := []uint64{mountNumber(dir, nil), mountNumber(at, nil), mountNumber("", f)}
	if !slices.Equal(with, without) || with[0] == with[1] || with[1] != with[2] {
		t.Errorf("%d with statx, %d without", with, without)
	}
}

// TestMountWhileHeld: a copy is mounted over the workers of a live lease, also in the midst of a change.
func TestMountWhileHeld(t *testing.T) {
	if !ownMounts(t) {
		return
	}
	base := t.TempDir()
	dir, moved := filepath.Join(base, "ids"), filepath.Join(base, "copy")
	var during func()
	h := plain
	h.filesystem = func(path string) (filesystem, error) {
		if during != nil && path != dir {
			during()
		}
		return statfs(path)
	}
	s := mustOpen(t, dir, h)
	testkit.OK(t, minter.Create(t.Context(), s))
	_, l, err := minter.Start(t.Context(), s, lease.Config{Worker: lease.Number(7), Wait: wait.Patience, Timeout: wait.Patience})
	testkit.OK(t, err)
	defer l.Close()
	workers := filepath.Join(dir, minter.Pool, "workers")
	testkit.OK(t, os.CopyFS(moved, os.DirFS(workers)))

	mountOver(t, moved, workers)
	_, err = l.Confirm(t.Context())
	testkit.Is(t, err, driver.ErrUnsafe, "Confirm")
	testkit.OK(t, syscall.Unmount(workers, 0))
	testkit.OK(t, testkit.Err(l.Confirm(t.Context())))

	e := testkit.Must(s.Get(t.Context(), minter.Pool+"/workers/00007"))
	for i, from := range []string{moved, workers} {
		during = func() {
			during = nil
			mountOver(t, from, workers)
		}
		_, err := s.Put(t.Context(), e.Key, e.Value, e.Revision)
		wantError(t, err, driver.ErrUnsafe)
		if during != nil {
			t.Errorf("%d: nothing was mounted", i)
		}
		testkit.OK(t, syscall.Unmount(workers, 0))
	}
}
