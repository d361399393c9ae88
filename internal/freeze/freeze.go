//go:build unix

// Package freeze stops processes, for torture and tests. The signal alone is not enough: the
// threads of a process stop one after the other, some time after the signal was sent, and may still
// do work.
package freeze

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Process stops a process, and returns when the process stands still. SIGCONT resumes the process.
func Process(pid int) error {
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		return err
	}
	const limit = 2 * time.Minute // far longer than a busy machine takes to stop a thread
	for deadline := time.Now().Add(limit); ; time.Sleep(time.Millisecond) {
		switch frozen, err := Frozen(pid); {
		case frozen || err != nil:
			return err
		case time.Now().After(deadline):
			return fmt.Errorf("process %d does not stand still after %v", pid, limit)
		}
	}
}

// Frozen reports whether all threads of a process stand still. If the process has ended, the error
// is os.ErrProcessDone.
func Frozen(pid int) (bool, error) {
	if runtime.GOOS != "linux" {
		out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
		return strings.HasPrefix(strings.TrimSpace(string(out)), "T"), err
	}
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil {
		return false, err
	}
	stopped := 0
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ESRCH) {
			continue // the thread has ended
		}
		if err != nil {
			return false, err
		}
		text := string(stat) // "pid (name) state …"; the name may contain any bytes
		switch state, _, _ := strings.Cut(strings.TrimSpace(text[strings.LastIndexByte(text, ')')+1:]), " "); state {
		case "Z", "X":
			continue
		case "T":
			stopped++
		default:
			return false, nil
		}
	}
	if stopped == 0 {
		return false, os.ErrProcessDone
	}
	return true, nil
}
