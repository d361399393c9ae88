//go:build linux || darwin || freebsd || openbsd || dragonfly

package filelease

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// childEnv makes the test binary increment a counter. The value is the directory, the number of
// increments, the defect, and an optional umask.
const childEnv = "FIRN_FILELEASE_CHILD"

func TestMain(m *testing.M) {
	if args := os.Getenv(childEnv); args != "" {
		if err := child(strings.Split(args, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child increments, and writes a byte after each acknowledgement.
func child(args []string) error {
	if len(args) > 3 {
		umask, err := strconv.ParseInt(args[3], 8, 0)
		if err != nil {
			return err
		}
		syscall.Umask(int(umask))
	}
	h := plain
	switch args[2] {
	case "unlocked":
		h.unlocked = true
	case "unchecked":
		h.unchecked = true
	}
	if args[2] != "" { // let others go ahead between reading and locking
		h.note = func(step, _, _ string) {
			if step == "open" {
				time.Sleep(rand.N(2 * time.Millisecond))
			}
		}
	}
	s, err := open(args[0], named, h)
	if err != nil {
		return err
	}
	times, err := strconv.Atoi(args[1])
	for range times {
		if err := increment(context.Background(), s, "a/counter"); err != nil {
			return err
		}
		os.Stdout.Write([]byte{'+'})
	}
	return err
}

func startChild(t *testing.T, dir string, times int, defect string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%d\n%s", childEnv, dir, times, defect))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

// count has processes increment a counter at the same time, and returns the counter.
func count(t *testing.T, processes, times int, defect string) int {
	t.Helper()
	dir := t.TempDir()
	var cmds []*exec.Cmd
	for range processes {
		cmd, out := startChild(t, dir, times, defect)
		cmds = append(cmds, cmd)
		go out.WriteTo(drain{})
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	return counter(t, dir)
}

// drain is io.Discard without ReadFrom, which would read everything in one go.
type drain struct{}

func (drain) Write(p []byte) (int, error) { return len(p), nil }

func counter(t *testing.T, dir string) int {
	t.Helper()
	e, err := mustOpen(t, dir, plain).Get(t.Context(), "a/counter")
	if err != nil {
		t.Fatal(err)
	}
	n, err := strconv.Atoi(string(e.Value))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestProcesses(t *testing.T) {
	times := 100
	if testing.Short() {
		times = 20
	}
	if n := count(t, 8, times, ""); n != 8*times {
		t.Errorf("8 processes have incremented %d times each, to %d", times, n)
	}
}

// TestKnownBad: the count of TestProcesses goes wrong without a lock, and with a lock on a file
// that has been replaced.
func TestKnownBad(t *testing.T) {
	const processes, times = 4, 25
	if n := count(t, processes, times, "slow"); n != processes*times {
		t.Errorf("as it should be: %d increments of %d", n, processes*times)
	}
	for _, defect := range []string{"unlocked", "unchecked"} {
		if n := count(t, processes, times, defect); n >= processes*times {
			t.Errorf("%s: no increment of %d is lost", defect, n)
		}
	}
}

// TestKill kills processes while the processes write, and finds all acknowledged changes.
func TestKill(t *testing.T) {
	rounds := 15
	if testing.Short() {
		rounds = 3
	}
	dir := t.TempDir()
	acknowledged, killed, temps := 0, 0, 0
	for range rounds {
		const processes = 3
		counts := make(chan int, processes)
		var cmds []*exec.Cmd
		for range processes {
			cmd, out := startChild(t, dir, 1<<30, "")
			if _, err := out.ReadByte(); err != nil {
				t.Fatal(err)
			}
			cmds = append(cmds, cmd)
			go func() {
				n := 1
				for ; ; n++ {
					if _, err := out.ReadByte(); err != nil {
						break
					}
				}
				counts <- n
			}()
		}
		for _, cmd := range cmds {
			time.Sleep(rand.N(10 * time.Millisecond))
			cmd.Process.Kill()
		}
		for range cmds {
			acknowledged += <-counts
		}
		for _, cmd := range cmds {
			cmd.Wait()
			if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() && status.Signal() == syscall.SIGKILL {
				killed++
			}
		}
		if n := counter(t, dir); n < acknowledged || n > acknowledged+killed {
			t.Fatalf("%d increments, of which %d were acknowledged, and %d processes killed", n, acknowledged, killed)
		}
	}
	if killed != rounds*3 {
		t.Errorf("%d processes of %d were killed", killed, rounds*3)
	}
	list, err := mustOpen(t, dir, plain).List(t.Context(), "")
	if len(list) != 1 || err != nil {
		t.Errorf("List = %v, %v", list, err)
	}
	filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if strings.HasPrefix(d.Name(), tempPrefix) {
			temps++
		}
		return err
	})
	t.Logf("%d acknowledged, %d killed, %d temporary files left", acknowledged, killed, temps)
}

// inChild runs the rest of a test in a child process, and reports whether the caller is the child.
// The function change prepares the start of the child.
func inChild(t *testing.T, change func(*exec.Cmd)) bool {
	t.Helper()
	env := "FIRN_FILELEASE_IN_" + t.Name()
	if os.Getenv(env) != "" {
		return true
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), env+"=1")
	if change != nil {
		change(cmd)
	}
	out, err := cmd.CombinedOutput()
	if _, started := err.(*exec.ExitError); err != nil && !started {
		t.Skipf("the system does not permit to start a process so: %v", err)
	}
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a process of its own: %v\n%s", err, out)
	}
	return false
}

// failedPut fails the test unless a Put of a big value fails and changes nothing.
func failedPut(t *testing.T, s *Store, key string, rev driver.Revision, want ...error) {
	t.Helper()
	before, err := s.Get(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(t.Context(), key, make([]byte, driver.MaxValue), rev)
	wantAdvice(t, err, want...)
	wantEntry(t, s, key, string(before.Value))
	wantNoTemp(t, s.dir)
	_, err = s.Put(t.Context(), "new/entry", make([]byte, driver.MaxValue), driver.None)
	wantAdvice(t, err, want...)
	_, err = s.Get(t.Context(), "new/entry")
	wantError(t, err, driver.ErrNotFound)
	wantNoTemp(t, s.dir)
}

func TestFileSizeLimit(t *testing.T) {
	if !inChild(t, nil) {
		return
	}
	s := mustOpen(t, t.TempDir(), plain)
	rev := mustPut(t, s, "a/b", "one", driver.None)
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1000, Max: 1000}); err != nil {
		t.Skip(err)
	}
	failedPut(t, s, "a/b", rev, driver.ErrUnavailable, syscall.EFBIG)
	mustPut(t, s, "a/b", "two", rev)
}

// TestPermission runs as a user without rights. The system does not check the rights of root.
func TestPermission(t *testing.T) {
	if !inChild(t, func(cmd *exec.Cmd) {
		if os.Getuid() != 0 {
			return
		}
		dir, err := os.MkdirTemp("", "filelease")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
		exe, err := os.ReadFile(cmd.Path)
		if err != nil {
			t.Fatal(err)
		}
		cmd.Path, cmd.Dir = filepath.Join(dir, "test"), dir
		for _, err := range []error{
			os.WriteFile(cmd.Path, exe, 0o755), os.Chmod(cmd.Path, 0o755), os.Mkdir(filepath.Join(dir, "tmp"), 0o777),
			os.Chmod(filepath.Join(dir, "tmp"), 0o777), os.Chmod(dir, 0o755),
		} {
			if err != nil {
				t.Fatal(err)
			}
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
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}

	mode(filepath.Join(dir, "a"), 0o500)
	_, err := s.Put(t.Context(), "a/b", nil, rev)
	wantAdvice(t, err, driver.ErrUnavailable, syscall.EACCES)
	_, err = s.Put(t.Context(), "a/new", nil, driver.None)
	wantAdvice(t, err, driver.ErrUnavailable, syscall.EACCES)
	wantEntry(t, s, "a/b", "one")

	mode(filepath.Join(dir, "a"), 0o300) // what cannot be read cannot be synced
	_, err = s.Put(t.Context(), "a/b", nil, rev)
	wantAdvice(t, err, driver.ErrUnavailable, syscall.EACCES)
	_, err = s.List(t.Context(), "a/")
	wantAdvice(t, err, driver.ErrUnavailable, syscall.EACCES)
	wantEntry(t, s, "a/b", "one")

	if err := os.Mkdir(filepath.Join(dir, "above"), 0o300); err != nil { // nor one on the way
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "above", "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err = s.Put(t.Context(), "above/a/b", nil, driver.None)
	wantAdvice(t, err, driver.ErrUnavailable, syscall.EACCES)
	mode(filepath.Join(dir, "above"), 0o700)

	mode(filepath.Join(dir, "a"), 0o700)
	mode(s.file("a/b"), 0)
	_, err = s.Get(t.Context(), "a/b")
	wantAdvice(t, err, driver.ErrUnavailable, syscall.EACCES)
	_, err = s.Put(t.Context(), "a/b", nil, rev)
	wantAdvice(t, err, driver.ErrUnavailable, syscall.EACCES)
	mode(s.file("a/b"), 0o600)
	mustPut(t, s, "a/b", "two", rev)

	for _, m := range []fs.FileMode{0o500, 0o300, 0} {
		mode(dir, m)
		_, err := Open(dir)
		wantAdvice(t, err, driver.ErrUnavailable, syscall.EACCES)
		_, err = Open(filepath.Join(dir, "below"))
		if m != 0o300 {
			wantAdvice(t, err, driver.ErrUnavailable, syscall.EACCES)
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
