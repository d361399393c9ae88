//go:build unix

package torture

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/firn-id/firn/internal/freeze"
)

// Supported tells whether this system can stop and kill processes as a run has to.
const Supported = true

// detach keeps the terminal's signals from a process: whether it is stopped or ends is the
// run's business.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func pause(p *os.Process) error { return p.Signal(syscall.SIGSTOP) }

func resume(p *os.Process) error { return p.Signal(syscall.SIGCONT) }

func terminate(p *os.Process) error { return p.Signal(syscall.SIGTERM) }

// terminated are the signals that ask a process to end.
var terminated = []os.Signal{syscall.SIGTERM}

// wasKilled tells whether a process that has ended was killed.
func wasKilled(s *os.ProcessState) bool { return endedBy(s, syscall.SIGKILL) }

// wasTerminated tells whether a process ended by what asks it to end, which it does if it
// has just started.
func wasTerminated(s *os.ProcessState) bool { return endedBy(s, syscall.SIGTERM) }

func endedBy(s *os.ProcessState, signal syscall.Signal) bool {
	status, ok := s.Sys().(syscall.WaitStatus)
	return ok && status.Signaled() && status.Signal() == signal
}

// isStopped tells whether a process stands still as a whole.
func isStopped(pid int) (bool, error) { return freeze.Frozen(pid) }
