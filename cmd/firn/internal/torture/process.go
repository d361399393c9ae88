package torture

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// A process is one that the run has started.
type process struct {
	number, slot int
	idle         bool // it makes an ID now and then only
	began, ended int64
	cmd          *exec.Cmd
	stderr       bytes.Buffer
	ids          string

	mu    sync.Mutex // of what is told
	stdin io.WriteCloser
	asked bool // to end itself

	news chan news
	done chan struct{} // closed when it has ended
}

// start starts a process with its first orders.
func start(command func() (*exec.Cmd, error), o orders, slot int) (*process, error) {
	cmd, err := command()
	if err != nil {
		return nil, err
	}
	p := &process{number: o.Process, slot: slot, idle: o.Idle, began: realNow(), cmd: cmd, ids: idsPath(o.Place.Dir, o.Process),
		news: make(chan news, 1000), done: make(chan struct{})}
	cmd.Stderr = &p.stderr
	detach(cmd)
	if p.stdin, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			var n news
			if json.Unmarshal(lines.Bytes(), &n) == nil {
				p.news <- n
			}
		}
		cmd.Wait() // its errors are in the state of the process
		p.ended = realNow()
		close(p.done)
	}()
	p.tell(o)
	return p, nil
}

// tell gives orders. To a process that has ended they make no difference.
func (p *process) tell(o orders) {
	line, err := json.Marshal(o)
	if err != nil {
		panic(err) // it has nothing that cannot be encoded
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stdin.Write(append(line, '\n'))
}

// size returns how long its log of IDs is.
func (p *process) size() int64 {
	info, err := os.Stat(p.ids)
	if err != nil {
		return 0 // it has not come to that
	}
	return info.Size()
}

// kill kills the process, and tells whether that is what it ended by.
func (p *process) kill() bool {
	p.cmd.Process.Kill()
	<-p.done
	return wasKilled(p.cmd.ProcessState)
}

// freeze stops the process and waits until it stands still.
func (p *process) freeze() error {
	if err := pause(p.cmd.Process); err != nil {
		return err
	}
	return p.frozen(5 * time.Second)
}

// frozen returns an error unless the process stands still, within a time.
func (p *process) frozen(within time.Duration) error {
	for wait := time.Now().Add(within); ; time.Sleep(time.Millisecond) {
		still, err := isStopped(p.cmd.Process.Pid)
		select {
		case <-p.done:
			return fmt.Errorf("process %d has ended", p.number)
		default:
		}
		switch {
		case err != nil:
			return err
		case still:
			return nil
		case time.Now().After(wait):
			return fmt.Errorf("process %d does not stand still", p.number)
		}
	}
}

// fine returns an error if the process ended in a way that nobody meant.
func (p *process) fine() error {
	state := p.cmd.ProcessState
	if wasKilled(state) || state.Success() || p.asked && wasTerminated(state) {
		return nil
	}
	return fmt.Errorf("process %d failed: %v: %s", p.number, state, bytes.TrimSpace(p.stderr.Bytes()))
}
