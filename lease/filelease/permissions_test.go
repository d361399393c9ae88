//go:build linux || darwin || freebsd || openbsd || dragonfly

package filelease

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

const (
	errNotDir       = syscall.ENOTDIR
	namesAreDurable = false // before their folder is synced
)

func umask(mask int) { syscall.Umask(mask) }

// wasKilled reports whether a process was killed.
func wasKilled(p *os.ProcessState) bool {
	status, ok := p.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == syscall.SIGKILL
}

// mkfifo makes a pipe in the place of a file.
func mkfifo(path string) error { return syscall.Mkfifo(path, 0o600) }

// failedPut fails the test unless a Put of a big value fails and changes nothing.
func failedPut(t *testing.T, s *Store, key string, rev driver.Revision, want ...error) {
	t.Helper()
	before := testkit.Must(s.Get(t.Context(), key))
	wantError(t, testkit.Err(s.Put(t.Context(), key, make([]byte, driver.MaxValue), rev)), want...)
	wantEntry(t, s, key, string(before.Value))
	wantNoTemp(t, s.dir)
	wantError(t, testkit.Err(s.Put(t.Context(), "new/entry", make([]byte, driver.MaxValue), driver.None)), want...)
	wantError(t, testkit.Err(s.Get(t.Context(), "new/entry")), driver.ErrNotFound)
	wantNoTemp(t, s.dir)
}

// TestPermission runs as a user without rights. The system does not check the rights of root.
func TestPermission(t *testing.T) {
	if !inChild(t, func(cmd *exec.Cmd) {
		if os.Getuid() != 0 {
			return
		}
		dir := testkit.Must(os.MkdirTemp("", "filelease"))
		t.Cleanup(func() { os.RemoveAll(dir) })
		exe := testkit.Must(os.ReadFile(cmd.Path))
		cmd.Path, cmd.Dir = filepath.Join(dir, "test"), dir
		for _, err := range []error{
			os.WriteFile(cmd.Path, exe, 0o755), os.Chmod(cmd.Path, 0o755), os.Mkdir(filepath.Join(dir, "tmp"), 0o777),
			os.Chmod(filepath.Join(dir, "tmp"), 0o777), os.Chmod(dir, 0o755),
		} {
			testkit.OK(t, err)
		}
		cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(dir, "tmp"))
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}) {
		return
	}
	if os.Getuid() == 0 {
		t.Fatal("this is still root")
	}
	dir := t.TempDir()
	s := mustOpen(t, dir, plain)
	rev := mustPut(t, s, "a/b", "one", driver.None)
	mode := func(path string, mode fs.FileMode) {
		t.Helper()
		testkit.OK(t, os.Chmod(path, mode))
	}

	mode(filepath.Join(dir, "a"), 0o500)
	wantError(t, testkit.Err(s.Put(t.Context(), "a/b", nil, rev)), driver.ErrUnavailable, syscall.EACCES)
	wantError(t, testkit.Err(s.Put(t.Context(), "a/new", nil, driver.None)), driver.ErrUnavailable, syscall.EACCES)
	wantEntry(t, s, "a/b", "one")

	mode(filepath.Join(dir, "a"), 0o300) // what cannot be read cannot be synced
	wantError(t, testkit.Err(s.Put(t.Context(), "a/b", nil, rev)), driver.ErrUnavailable, syscall.EACCES)
	wantError(t, testkit.Err(s.List(t.Context(), "a/")), driver.ErrUnavailable, syscall.EACCES)
	wantEntry(t, s, "a/b", "one")

	if err := os.Mkdir(filepath.Join(dir, "above"), 0o300); err != nil { // nor one on the way
		t.Fatal(err)
	}
	testkit.OK(t, os.Mkdir(filepath.Join(dir, "above", "a"), 0o700))
	wantError(t, testkit.Err(s.Put(t.Context(), "above/a/b", nil, driver.None)), driver.ErrUnavailable, syscall.EACCES)
	mode(filepath.Join(dir, "above"), 0o700)

	mode(filepath.Join(dir, "a"), 0o700)
	mode(s.file("a/b"), 0)
	wantError(t, testkit.Err(s.Get(t.Context(), "a/b")), driver.ErrUnavailable, syscall.EACCES)
	wantError(t, testkit.Err(s.Put(t.Context(), "a/b", nil, rev)), driver.ErrUnavailable, syscall.EACCES)
	mode(s.file("a/b"), 0o600)
	mustPut(t, s, "a/b", "two", rev)

	for _, m := range []fs.FileMode{0o500, 0o300, 0} {
		mode(dir, m)
		wantError(t, testkit.Err(Open(dir)), driver.ErrUnavailable, syscall.EACCES)
		_, err := Open(filepath.Join(dir, "below"))
		if m != 0o300 {
			wantError(t, err, driver.ErrUnavailable, syscall.EACCES)
		}
	}
	mode(dir, 0o700)

	// A folder above that cannot be read does not matter.
	above := filepath.Join(dir, "outside")
	s = mustOpen(t, filepath.Join(above, "store"), plain)
	mode(above, 0o300)
	mustPut(t, s, "a/b", "", driver.None)
	mode(above, 0o700)
}
