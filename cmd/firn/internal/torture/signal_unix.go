//go:build unix

package torture

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/firn-id/firn/internal/freeze"
)

// Supported reports whether this system can stop and kill processes as a run needs.
const Supported = true

// detach keeps signals of the terminal from a process: only the run stops and ends processes.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// suspend stops a process, and returns when all its threads stand still.
func suspend(p *os.Process) error {
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		return err // it has ended, and its number may be that of another process
	}
	return freeze.Process(p.Pid)
}

func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// terminated are the signals that ask a process to end.
var terminated = []os.Signal{syscall.SIGTERM}

// wasKilled reports whether a process was killed.
func wasKilled(s *os.ProcessState) bool { return endedBy(s, syscall.SIGKILL) }

// wasTerminated reports whether a signal of terminated ended a process. A process that has just
// started ends so.
func wasTerminated(s *os.ProcessState) bool { return endedBy(s, syscall.SIGTERM) }

func endedBy(s *os.ProcessState, signal syscall.Signal) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == signal
}
