//go:build unix

package tests

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/firn-id/firn/internal/testing/turn"
	"github.com/firn-id/firn/internal/testing/wait"
)

// TestTortureInterrupted: a signal ends the processes too, and leaves nothing.
func TestTortureInterrupted(t *testing.T) {
	t.Parallel()
	turn.Take(t)
	dir := t.TempDir()
	cmd := exec.Command("firn", "torture", "--processes", "3", "--duration", "10m", "--state", dir)
	out, err := cmd.StderrPipe()
	check(t, err)
	start(t, cmd)
	wait.Until(t, "three processes make IDs", func() bool {
		logs, err := filepath.Glob(filepath.Join(dir, "*", "*.ids"))
		return err == nil && len(logs) >= 3 && !slices.ContainsFunc(logs, func(path string) bool {
			info, err := os.Stat(path)
			return err != nil || info.Size() == 0
		})
	})
	check(t, cmd.Process.Signal(syscall.SIGINT))
	if n, err := out.Read(make([]byte, 1)); n > 0 {
		t.Errorf("it wrote to stderr, %v", err)
	}
	checkSignaled(t, cmd.Wait(), syscall.SIGINT)
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
