//go:build linux || darwin || freebsd || openbsd || dragonfly || windows

package filelease

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/turn"
)

// childEnv makes the test binary increment a counter. The value is the directory, the number of
// increments, and an optional umask.
const childEnv = "FIRN_FILELEASE_CHILD"

func TestMain(m *testing.M) {
	args := os.Getenv(childEnv)
	if args == "" {
		os.Exit(m.Run())
	}
	if err := child(strings.Split(args, "\n")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child increments, and writes a byte after each acknowledgement.
func child(args []string) error {
	if len(args) > 2 {
		mask, err := strconv.ParseInt(args[2], 8, 0)
		if err != nil {
			return err
		}
		umask(int(mask))
	}
	s, err := open(args[0], false, plain)
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

func startChild(t *testing.T, dir string, times int) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%d", childEnv, dir, times))
	cmd.Stderr = os.Stderr
	out := testkit.Must(cmd.StdoutPipe())
	testkit.OK(t, cmd.Start())
	return cmd, bufio.NewReader(out)
}

func counter(t *testing.T, dir string) int {
	t.Helper()
	e := testkit.Must(mustOpen(t, dir, plain).Get(t.Context(), "a/counter"))
	return testkit.Must(strconv.Atoi(string(e.Value)))
}

// TestGap: another writer increments between the reading and the locking of an entry. No increment is lost.
func TestGap(t *testing.T) {
	dir := t.TempDir()
	other := mustOpen(t, dir, plain)
	add := func(s *Store) {
		testkit.OK(t, increment(t.Context(), s, "a/counter"))
	}
	add(other)
	passed := false
	h := plain
	h.note = func(step, path, _ string) {
		if step == "open" && path == other.file("a/counter") && !passed {
			passed = true
			add(other)
		}
	}
	add(mustOpen(t, dir, h))
	if n := counter(t, dir); n != 3 || !passed {
		t.Errorf("%d increments of 3; a writer has passed the gap: %v", n, passed)
	}
}

// TestKill kills processes while the processes write, and finds all acknowledged changes.
func TestKill(t *testing.T) {
	turn.Take(t)
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
			cmd, out := startChild(t, dir, 1<<30)
			testkit.Must(out.ReadByte())
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
			if wasKilled(cmd.ProcessState) {
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
	exe := testkit.Must(os.Executable())
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
		t.Skipf("in a process of its own, the test skips: %s", out)
	}
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("in a process of its own: %v\n%s", err, out)
	}
	return false
}
