package undo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/wait"
)

// asVictim names the end of a process of tests that leaves a file and a process.
const asVictim = "FIRN_UNDO_TEST_END"

var remove = New("file", func(_ context.Context, what string) error {
	if err := os.Remove(what); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
})

var never = New("nothing", func(_ context.Context, what string) error { return errors.New("cannot undo " + what) })

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// TestVictim is the test that leaves things behind. It prints their names, and ends as asVictim says.
func TestVictim(t *testing.T) {
	end := os.Getenv(asVictim)
	if end == "" {
		t.Skip("TestNothingStays runs this test in processes of its own")
	}
	path := filepath.Join(os.Getenv("DIR"), "file")
	remove.AtEnd(t, path)
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", "sleep 1000 & echo $$ $!; wait")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} // no signal of a terminal reaches it
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pids, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	fmt.Print("left ", path, " ", pids)
	switch end {
	case "pass":
	case "fail":
		t.Fatal("it fails")
	case "panic":
		panic("it panics")
	case "exit":
		os.Exit(3)
	default: // a signal
		select {}
	}
}

// TestNothingStays ends processes of tests in all ways.
func TestNothingStays(t *testing.T) {
	signals := map[string]syscall.Signal{"SIGINT": syscall.SIGINT, "SIGTERM": syscall.SIGTERM, "SIGQUIT": syscall.SIGQUIT, "SIGKILL": syscall.SIGKILL}
	for _, end := range []string{"pass", "fail", "panic", "exit", "SIGINT", "SIGTERM", "SIGQUIT", "SIGKILL", "time out"} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			var timeout time.Duration // 0 means none
			if end == "time out" {
				timeout = 100 * time.Millisecond
			}
			victim, lines, line := begin(t, end, timeout)
			for line == "" && 0 < timeout && timeout < wait.Patience { // the time was up before the victim had left anything
				timeout *= 2
				victim, lines, line = begin(t, end, timeout)
			}
			var path string
			var pids [2]int
			if _, err := fmt.Sscanf(line, "left %s %d %d", &path, &pids[0], &pids[1]); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if sig, ok := signals[end]; ok {
				syscall.Kill(-victim.Process.Pid, sig) // as a terminal does
			}
			go lines.WriteTo(discard{})
			wait.Until(t, "the file is gone", func() bool {
				_, err := os.Stat(path)
				return errors.Is(err, fs.ErrNotExist)
			})
			for _, pid := range pids {
				wait.Until(t, "the process is gone", func() bool { return !runs(pid) })
			}
		})
	}
}

// begin begins a victim that ends in a way, and returns the first line that the victim prints. The reader
// has the rest.
func begin(t *testing.T, end string, timeout time.Duration) (victim *exec.Cmd, rest *bufio.Reader, line string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestVictim$", "-test.timeout="+timeout.String())
	for _, v := range os.Environ() {
		if !strings.HasPrefix(v, mark+"=") {
			cmd.Env = append(cmd.Env, v)
		}
	}
	cmd.Env = append(cmd.Env, asVictim+"="+end, "DIR="+t.TempDir())
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Wait() })
	rest = bufio.NewReader(out)
	line, _ = rest.ReadString('\n')
	return cmd, rest, line
}

type discard struct{}

func (discard) Write(b []byte) (int, error) { return len(b), nil }

// runs reports whether a process runs. A process that has ended may wait for its parent.
func runs(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	_, state, _ := strings.Cut(string(stat), ") ")
	return err == nil && !strings.HasPrefix(state, "Z")
}

// TestKeeperFails has a keeper that cannot undo, and says so.
func TestKeeperFails(t *testing.T) {
	if os.Getenv(asVictim) == "unable" {
		never.AtEnd(t, "a change")
		os.Exit(0)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestKeeperFails$")
	cmd.Env = append(os.Environ(), asVictim+"=unable")
	out, _ := cmd.CombinedOutput() // ends when the keeper has ended
	if want := "undoing nothing a change after the end of its test: cannot undo a change"; !strings.Contains(string(out), want) {
		t.Errorf("%q has no %q", out, want)
	}
}

func TestLeft(t *testing.T) {
	got := left(strings.NewReader("+\"a b\"\n+\"c\\n\"\n+\"d\"\n-\"d\"\n-\"e\"\n+\"a b\"\n-\"a b\"\n"))
	if len(got) != 2 || got[0] != "c\n" || got[1] != "a b" {
		t.Errorf("%q are left", got)
	}
}
