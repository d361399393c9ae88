package process

import (
	"os/exec"
	"syscall"

	"github.com/firn-id/firn/internal/freeze"
)

// Supported reports whether processes can be started here.
const Supported = true

// bind lets a command end with this process, and detaches the command from the terminal.
func bind(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = new(syscall.SysProcAttr)
	}
	cmd.SysProcAttr.Setpgid = true
	if cmd.SysProcAttr.Pdeathsig == 0 {
		cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	}
}

// Freeze stops the process (SIGSTOP), and returns when the process stands still.
func (p *Process) Freeze() error { return freeze.Process(p.Pid()) }

// Thaw ends a Freeze.
func (p *Process) Thaw() error { return p.cmd.Process.Signal(syscall.SIGCONT) }
