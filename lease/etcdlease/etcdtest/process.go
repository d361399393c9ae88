package etcdtest

import (
	"os/exec"
	"runtime"
	"sync"
)

// A process is one that was started, until it is gone.
type process struct {
	cmd    *exec.Cmd
	killed bool // by kill
	done   chan struct{}
}

func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// kill returns when the process is gone.
func (p *process) kill() {
	if p.alive() {
		p.killed = true
		p.cmd.Process.Kill()
	}
	<-p.done
}

// spawner starts processes. Where they end with their parent, they do with the parent's thread: so there
// is one for all, which does not end before the program.
var spawner = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

func spawn(cmd *exec.Cmd) (*process, error) {
	cmd.SysProcAttr = attributes()
	started := make(chan error)
	spawner() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, done: make(chan struct{})}
	go func() {
		cmd.Wait()
		close(p.done)
	}()
	return p, nil
}
