package etcdtest

import (
	"syscall"

	"github.com/firn-id/firn/internal/freeze"
)

const supported = true

// attributes are of a process that a signal from the terminal does not reach, and that is killed when its
// parent ends, however that ends.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

func (p *process) freeze() error { return freeze.Process(p.cmd.Process.Pid) }
func (p *process) thaw() error   { return p.cmd.Process.Signal(syscall.SIGCONT) }
