//go:build unix

package tests

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/testing/turn"
)

// TestUsers: users of a group share a state directory of the group. A user without the right to read a pool
// gets an error about the right, not a list without the pool.
func TestUsers(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run processes as several users")
	}
	turn.Take(t)
	const group, alice, bob, eve = 54000, 54001, 54002, 54003
	dir := t.TempDir()
	exe := copyFirn(t, dir)
	state := filepath.Join(dir, "state")
	check(t, os.Mkdir(state, 0o700), os.Chown(state, -1, group), os.Chmod(state, 0o770|fs.ModeSetgid))
	firn := func(uid uint32, args ...string) (stdout, stderr string, code int) {
		return runAs(t, exe, uid, group, uid != eve, append(args, "--state", state)...)
	}
	var wg sync.WaitGroup
	var s seen
	for i := range 10 {
		wg.Go(func() {
			out, stderr, code := firn([]uint32{alice, bob}[i%2], "new", "nanoflake", "-n", "100")
			if code != 0 {
				t.Errorf("exit code %d: %s", code, stderr)
			}
			s.note(out)
		})
	}
	wg.Wait()
	s.are(t, 1000)
	for _, uid := range []uint32{alice, bob} {
		for _, command := range []string{"list", "show nanoflake", "doctor"} {
			if out, stderr, code := firn(uid, append([]string{"pool"}, strings.Fields(command)...)...); code != 0 || stderr != "" {
				t.Errorf("firn pool %s: exit code %d\n%s%s", command, code, out, stderr)
			}
		}
	}
	if _, stderr, code := firn(eve, "new", "nanoflake"); code != cli.ExitFailed || !strings.Contains(stderr, "permission denied") {
		t.Errorf("somebody else: exit code %d: %s", code, stderr)
	}

	// doctor reports once that alice may not read a record, a record that the pool does not name yet, or the
	// folder.
	folder := filepath.Join(state, "nanoflake")
	records, err := filepath.Glob(filepath.Join(folder, "workers", "*="))
	if err != nil || len(records) == 0 {
		t.Fatalf("%q, %v", records, err)
	}
	once := func(path string) {
		t.Helper()
		out, stderr, code := firn(alice, "pool", "doctor")
		if code != cli.ExitFailed || stderr != "" || strings.Count(out, "permission denied") != 1 || strings.Count(out, "problem ") != 1 {
			t.Errorf("%s cannot be read: exit code %d\n%s%s", path, code, out, stderr)
		}
	}
	unnamed := records[0]
	for n := 0; slices.Contains(records, unnamed); n++ {
		unnamed = filepath.Join(folder, "workers", fmt.Sprintf("%05d=", n))
	}
	check(t, os.WriteFile(unnamed, nil, 0o700))
	once(unnamed)
	check(t, os.Remove(unnamed))
	for _, path := range []string{records[0], filepath.Dir(records[0])} {
		info, err := os.Stat(path)
		check(t, err)
		check(t, os.Chown(path, 0, 0), os.Chmod(path, 0o700))
		once(path)
		check(t, os.Chown(path, int(info.Sys().(*syscall.Stat_t).Uid), group), os.Chmod(path, info.Mode()))
	}

	check(t, os.Chmod(folder, 0o700), os.Chown(folder, 0, 0))
	if out, stderr, code := firn(alice, "pool", "list"); code != cli.ExitFailed || out != "" || !strings.Contains(stderr, "permission denied") {
		t.Errorf("firn pool list: exit code %d\n%s%s", code, out, stderr)
	}
	out, stderr, code := firn(alice, "pool", "doctor")
	if code != cli.ExitFailed || stderr != "" || !strings.Contains(out, "permission denied") ||
		strings.Contains(out, "there are no pools") || strings.Contains(out, "can be read") {
		t.Errorf("firn pool doctor: exit code %d\n%s%s", code, out, stderr)
	}
}

// TestRoot: root does not lock a user out of the user's directory.
func TestRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run processes as another user")
	}
	turn.Take(t)
	const service = 65534
	for _, first := range []string{"new nanoflake", "pool create nanoflake", "pool recover nanoflake --yes --no-wait --window 100ms --skew 1s"} {
		t.Run(first, func(t *testing.T) {
			dir := t.TempDir()
			exe := copyFirn(t, dir)
			state := filepath.Join(dir, "state")
			check(t, os.Mkdir(state, 0o700), os.Chown(state, service, service))
			firn := func(uid uint32, command string) {
				t.Helper()
				cmd := firnCommand(t, append(strings.Fields(command), "--state", state)...)
				cmd.Path, cmd.Dir = exe, "/"
				cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
				if out, err := output(t, cmd); err != nil {
					t.Errorf("user %d: firn %s: %v\n%s", uid, command, err, out)
				}
			}
			if strings.Contains(first, "recover") {
				firn(service, "new nanoflake")
			}
			firn(0, first)
			firn(service, "new nanoflake --no-create")
			firn(service, "pool create sno")
			firn(service, "pool doctor")
		})
	}
}

// TestDirectoryOfRoot: a user who may not use a directory that root has made gives it to the user, as the error says.
func TestDirectoryOfRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run processes as another user")
	}
	turn.Take(t)
	const service = 65534
	dir := t.TempDir()
	exe := copyFirn(t, dir)
	state := filepath.Join(dir, "state")
	firn := func(uid uint32) (stderr string, code int) {
		_, stderr, code = runAs(t, exe, uid, service, false, "new", "nanoflake", "--state", state)
		return stderr, code
	}
	if stderr, code := firn(0); code != cli.ExitOK {
		t.Fatal(stderr)
	}
	stderr, code := firn(service)
	_, hint, _ := strings.Cut(stderr, "  chown ")
	hint, _, _ = strings.Cut(hint, "\n")
	if code != cli.ExitFailed || hint != "-R USER "+state {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	words := strings.Fields("chown " + strings.Replace(hint, "USER", fmt.Sprint(service), 1))
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	if stderr, code := firn(service); err != nil || code != cli.ExitOK {
		t.Errorf("after %q (%v %s): exit code %d: %s", words, err, out, code, stderr)
	}
}

// copyFirn copies the command into a test's temporary directory, and lets every user run the copy.
func copyFirn(t *testing.T, dir string) (exe string) {
	t.Helper()
	found, err := exec.LookPath("firn")
	check(t, err)
	binary, err := os.ReadFile(found)
	check(t, err)
	exe = filepath.Join(dir, "firn")
	check(t, os.Chmod(filepath.Dir(dir), 0o711), os.Chmod(dir, 0o711), os.WriteFile(exe, binary, 0o755), os.Chmod(exe, 0o755))
	return exe
}

// runAs runs the program exe as a user, and as a member of the group if member is set.
func runAs(t *testing.T, exe string, uid, group uint32, member bool, args ...string) (stdout, stderr string, code int) {
	cmd := firnCommand(t, args...)
	cmd.Path, cmd.Dir = exe, "/"
	c := &syscall.Credential{Uid: uid, Gid: uid}
	if member {
		c.Groups = []uint32{group}
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: c}
	return capture(t, cmd)
}

// TestPermissionsOfFiles: the commands of firn pool permissions let a group share a directory with a store that one user
// has made.
func TestPermissionsOfFiles(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can run processes as several users")
	}
	turn.Take(t)
	const group, alice, bob, eve = 54010, 54011, 54012, 54013
	dir := t.TempDir()
	exe := copyFirn(t, dir)
	state := filepath.Join(dir, "the state")
	check(t, os.Mkdir(state, 0o700), os.Chown(state, alice, alice))
	firn := func(uid uint32, args ...string) (out string, code int) {
		stdout, stderr, code := runAs(t, exe, uid, group, uid != eve, append(args, "--state", state)...)
		return stdout + stderr, code
	}
	if out, code := firn(alice, "new", "nanoflake", "--worker", "3"); code != 0 {
		t.Fatal(out)
	}
	if out, code := firn(bob, "new", "nanoflake", "--worker", "3"); code == 0 {
		t.Fatalf("the directory is of one user, and another makes an ID: %s", out)
	}
	commands, stderr, code := firnRun(t, "", "pool", "permissions", "--state", state, "--user", fmt.Sprint(group))
	if code != 0 {
		t.Fatal(stderr)
	}
	if out, err := output(t, exec.Command("sh", "-e", "-c", commands)); err != nil {
		t.Fatalf("%v: %s\n%s", err, out, commands)
	}
	for range 2 {
		for _, uid := range []uint32{bob, alice} { // each replaces the record of the other
			for _, command := range []string{"new nanoflake --worker 3", "new nanoflake", "pool show nanoflake", "pool doctor"} {
				if out, code := firn(uid, strings.Fields(command)...); code != 0 {
					t.Errorf("user %d: firn %s: exit code %d: %s", uid, command, code, out)
				}
			}
		}
	}
	if out, code := firn(eve, "pool", "list"); code == 0 || !strings.Contains(out, "permission denied") {
		t.Errorf("somebody else: exit code %d: %s", code, out)
	}
}
