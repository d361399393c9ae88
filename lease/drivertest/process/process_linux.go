package process

import (
	"syscall"

	"github.com/firn-id/firn/internal/freeze"
)

// Supported reports whether processes can be started here.
const Supported = true

func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Freeze stops the process (SIGSTOP), and returns when it stands still.
func (p *Process) Freeze() error { return freeze.Process(p.Pid()) }

// Thaw lets a process go on that was stopped.
func (p *Process) Thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
