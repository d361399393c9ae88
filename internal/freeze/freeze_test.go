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
)

// counts is an output that is counted.
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

func TestProcess(t *testing.T) {
	yes := exec.Command("yes")
	out := new(counts)
	yes.Stdout = out
	if err := yes.Start(); err != nil {
		t.Skip("there is no program yes:", err)
	}
	defer yes.Process.Kill()
	pid := yes.Process.Pid
	moves := func() bool {
		before := out.now()
		for range 10_000 {
			if time.Sleep(time.Millisecond); out.now() > before {
				return true
			}
		}
		return false
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
		time.Sleep(50 * time.Millisecond) // for what is still in the pipe
		before := out.now()
		if time.Sleep(50 * time.Millisecond); out.now() != before {
			t.Error("it goes on while it is stopped")
		}
		if err := yes.Process.Signal(syscall.SIGCONT); err != nil || !moves() {
			t.Fatalf("it does not go on: %v", err)
		}
	}
	yes.Process.Kill()
	for runtime.GOOS == "linux" { // now a child that nobody has waited for
		frozen, err := freeze.Frozen(pid)
		if errors.Is(err, os.ErrProcessDone) {
			break
		}
		if frozen || err != nil {
			t.Fatalf("killed: %v, %v", frozen, err)
		}
	}
	yes.Wait()
	if err := freeze.Process(pid); err == nil {
		t.Error("a process that has ended was stopped")
	}
}
