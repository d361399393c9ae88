//go:build linux

package filelease

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
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
		if err != nil {
			t.Fatal(err)
		}
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
	wantAdvice(t, testkit.Err(Open(dir)), driver.ErrUnavailable, syscall.EROFS)
	wantAdvice(t, testkit.Err(Open(dir+"/new")), driver.ErrUnavailable, syscall.EROFS)
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
