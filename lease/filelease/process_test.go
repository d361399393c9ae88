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
	if args := os.Getenv(crowdEnv); args != "" {
		if err := mint(strings.Split(args, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// defect returns the hooks of a Store with a defect.
func defect(name string) hooks {
	h := plain
	switch name {
	case "unlocked":
		h.unlocked = true
	case "unchecked":
		h.unchecked = true
	}
	if name != "" { // let others go ahead between reading and locking
		h.note = func(step, _, _ string) {
			if step == "open" {
				time.Sleep(rand.N(2 * time.Millisecond))
			}
		}
	}
	return h
}

// child increments, and writes a byte after each acknowledgement.
func child(args []string) error {
	if len(args) > 3 {
		mask, err := strconv.ParseInt(args[3], 8, 0)
		if err != nil {
			return err
		}
		umask(int(mask))
	}
	s, err := open(args[0], named, defect(args[2]))
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
