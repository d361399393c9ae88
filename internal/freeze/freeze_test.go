//go:build unix

package freeze_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/freeze"
	"github.com/firn-id/firn/internal/testing/wait"
)

// counts is an output that counts its bytes.
type counts struct {
	mu sync.Mutex
	n  int
}

func (c *counts) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n += bytes.Count(b, []byte("\n"))
	return len(b), nil
}

func (c *counts) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.n
}

// asProcess is an environment variable. If it is 1, the test program writes lines for ever.
const asProcess = "FIRN_FREEZE_TEST_PROCESS"

func TestMain(m *testing.M) {
	for os.Getenv(asProcess) == "1" {
		if _, err := os.Stdout.WriteString("on\n"); err != nil {
			os.Exit(1) // the test has ended
		}
	}
	os.Exit(m.Run())
}

func TestProcess(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), asProcess+"=1")
	out := new(counts)
	child.Stdout = out
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Process.Kill()
	pid := child.Process.Pid
	moves := func() bool {
		before := out.now()
		return wait.For(func() bool { return out.now() > before })
	}
	if frozen, err := freeze.Frozen(pid); !moves() || frozen || err != nil {
		t.Fatalf("before: %v, %v", frozen, err)
	}
	for range 3 {
		if err := freeze.Process(pid); err != nil {
			t.Fatal(err)
		}
		if frozen, err := freeze.Frozen(pid); !frozen || err != nil {
			t.Errorf("stopped: %v, %v", frozen, err)
		}
		// Lines that are still in the pipe come for a while.
		wait.Until(t, "it writes no more", func() bool {
			before := out.now()
			time.Sleep(50 * time.Millisecond) // long enough for a process that goes on to write many lines
			return out.now() == before
		})
		if err := child.Process.Signal(syscall.SIGCONT); err != nil || !moves() {
			t.Fatalf("it does not go on: %v", err)
		}
	}
	child.Process.Kill()
	if runtime.GOOS == "linux" { // now a child that nobody has waited for
		wait.Until(t, "the process has ended", func() bool {
			frozen, err := freeze.Frozen(pid)
			if frozen || err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatalf("killed: %v, %v", frozen, err)
			}
			return err != nil
		})
	}
	child.Wait()
	if err := freeze.Process(pid); err == nil {
		t.Error("a process that has ended was stopped")
	}
}
