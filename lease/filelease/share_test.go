//go:build linux || darwin || freebsd || openbsd || dragonfly

package filelease

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
)

// A user is a number for processes of a test, with a group of its own. The system need not know the
// user.
type user struct {
	id     uint32
	groups []uint32
}

const ourGroup = 54000

var alice, bob, eve = user{54001, []uint32{ourGroup}}, user{54002, []uint32{ourGroup}}, user{54003, nil}

// asUser returns a command that runs this test's binary as a user.
func asUser(t *testing.T, u user, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(publicBinary(t))
	cmd.Env = append(os.Environ(), childEnv+"="+strings.Join(args, "\n"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: u.id, Gid: u.id, Groups: u.groups}}
	return cmd
}

// publicBinary returns a copy of this test's binary that all users can run.
func publicBinary(t *testing.T) string {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("only root can run processes as several users")
	}
	exe := testkit.Must(os.ReadFile(os.Args[0]))
	path := filepath.Join(publicDir(t), "test")
	testkit.OK(t, errors.Join(os.WriteFile(path, exe, 0o755), os.Chmod(path, 0o755)))
	return path
}

// publicDir returns a directory that all users can reach.
func publicDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	testkit.OK(t, errors.Join(os.Chmod(filepath.Dir(dir), 0o711), os.Chmod(dir, 0o711)))
	return dir
}

// TestUsers: all users with rights to a directory share the store, whatever their umasks. Other
// users have no access.
func TestUsers(t *testing.T) {
	const times = 50
	for _, test := range []struct {
		mode         fs.FileMode // of the store's directory
		gid          int
		file, folder fs.FileMode // what is made in it
		users        []user
		other        string // what becomes of somebody else
	}{
		{0o770 | fs.ModeSetgid, ourGroup, 0o640, 0o770 | fs.ModeSetgid, []user{alice, bob}, "permission denied"},
		{0o770, ourGroup, 0o640, 0o770, []user{alice, bob}, "permission denied"},
		{0o777, 0, 0o644, 0o777, []user{alice, bob, eve}, ""},
		{0o777 | fs.ModeSticky, 0, 0o644, 0o777, []user{alice, bob, eve}, ""},
		{0o757, 0, 0o644, 0o777, []user{alice, bob}, ""}, // not of the group
		{0o707, 0, 0o644, 0o777, []user{alice, bob}, ""},
	} {
		t.Run(test.mode.String(), func(t *testing.T) {
			dir := filepath.Join(publicDir(t), "store")
			testkit.OK(t, errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, -1, test.gid), os.Chmod(dir, test.mode)))
			var cmds []*exec.Cmd
			for i := range 2 * len(test.users) {
				cmd := asUser(t, test.users[i/2], dir, fmt.Sprint(times), "077")
				cmd.Stderr = os.Stderr
				testkit.OK(t, cmd.Start())
				cmds = append(cmds, cmd)
			}
			for _, cmd := range cmds {
				testkit.OK(t, cmd.Wait())
			}
			if t.Failed() {
				return
			}
			if n := counter(t, dir); n != len(cmds)*times {
				t.Errorf("%d processes have incremented %d times each, to %d", len(cmds), times, n)
			}
			for path, want := range map[string]fs.FileMode{"a": fs.ModeDir | test.folder, "a/counter=": test.file} {
				info := testkit.Must(os.Stat(filepath.Join(dir, path)))
				if info.Mode() != want {
					t.Errorf("%s has the mode %v, not %v", path, info.Mode(), want)
				}
				if gid := group(info); test.gid != 0 && gid != test.gid {
					t.Errorf("%s is of group %d, not %d", path, gid, test.gid)
				}
			}
			out, err := asUser(t, eve, dir, "1", "077").CombinedOutput()
			if (err == nil) != (test.other == "") || !strings.Contains(string(out), test.other) {
				t.Errorf("somebody else: %v: %s", err, out)
			}
		})
	}
}

// TestShareFolders: all folders of a key are shared. A process may die between making a folder and
// sharing the folder; the next writer then shares the folder.
func TestShareFolders(t *testing.T) {
	dir := t.TempDir()
	testkit.OK(t, os.Chmod(dir, 0o750))
	check := func(paths ...string) {
		t.Helper()
		for _, path := range paths {
			if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != 0o750 {
				t.Errorf("%s: %v, %v", path, info.Mode(), err)
			}
		}
	}
	rev := mustPut(t, mustOpen(t, dir, plain), "a/b/c", "one", driver.None)
	check("a", "a/b")
	testkit.OK(t, os.Chmod(filepath.Join(dir, "a/b"), 0o700))
	mustPut(t, mustOpen(t, dir, plain), "a/b/c", "two", rev)
	check("a/b")
}

// TestRoot: what root makes in the directory of a user, the user can use.
func TestRoot(t *testing.T) {
	nobody := user{id: 65534}
	binary := publicBinary(t) // skips unless this is root
	for _, mode := range []fs.FileMode{0o700, 0o770 | fs.ModeSetgid, 0o755} {
		dir := filepath.Join(publicDir(t), "store")
		testkit.OK(t, errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, int(nobody.id), ourGroup), os.Chmod(dir, mode)))
		s := mustOpen(t, dir, anyDisk)
		rev := mustPut(t, s, "a/counter", "1", driver.None)
		mustPut(t, s, "a/counter", "2", rev)
		mustPut(t, s, "a/b/c", "", driver.None)
		testkit.OK(t, s.Adopt())
		seen := make(map[string]bool)
		testkit.OK(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			seen[strings.TrimPrefix(path, dir)] = true
			info, err := os.Lstat(path)
			if err == nil && (owner(info) != int(nobody.id) || group(info) != ourGroup) {
				t.Errorf("%v: %s is of user %d and group %d", mode, path, owner(info), group(info))
			}
			return err
		}))
		for _, name := range []string{"/" + placeFile, "/a", "/a/counter=", "/a/b", "/a/b/c="} {
			if !seen[name] {
				t.Errorf("%s was not made", name)
			}
		}
		cmd := asUser(t, nobody, dir, "1", "077")
		cmd.Path = binary
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v: the user: %v: %s", mode, err, out)
		}
		if n := counter(t, dir); n != 3 {
			t.Errorf("the counter is %d", n)
		}
	}
}

// TestRootAndLinks: a user's symbolic link does not make root give away or share a folder of root.
func TestRootAndLinks(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can give files away")
	}
	dir, outside := filepath.Join(t.TempDir(), "store"), filepath.Join(t.TempDir(), "outside")
	testkit.OK(t, errors.Join(os.Mkdir(dir, 0o700), os.Chown(dir, 65534, ourGroup), os.Chmod(dir, 0o770),
		os.Mkdir(outside, 0o700), os.Symlink(outside, filepath.Join(dir, "a"))))
	wantError(t, testkit.Err(mustOpen(t, dir, plain).Put(t.Context(), "a/b", nil, driver.None)), driver.ErrUnsafe)
	if info, err := os.Stat(outside); err != nil || owner(info) != 0 || group(info) == ourGroup || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
