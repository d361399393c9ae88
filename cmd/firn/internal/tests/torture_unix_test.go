//go:build unix

package tests

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

// TestTortureInterrupted: a signal ends the processes too, and leaves nothing.
func TestTortureInterrupted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command("firn", "torture", "--processes", "3", "--duration", "10m", "--state", dir)
	out, err := cmd.StderrPipe() // open for as long as one of them is there
	if err != nil {
		t.Fatal(err)
	}
	start(t, cmd)
	time.Sleep(time.Second)
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	ended := time.AfterFunc(30*time.Second, func() { cmd.Process.Kill() })
	defer ended.Stop()
	if n, err := out.Read(make([]byte, 1)); n > 0 {
		t.Errorf("it wrote to stderr, %v", err)
	}
	checkSignaled(t, cmd.Wait(), syscall.SIGINT)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
