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
	"sync/atomic"
	"time"
)

// A process is a process that the run has started.
type process struct {
	number, slot int
	idle         bool // makes an ID only now and then
	began, ended int64
	cmd          *exec.Cmd
	stderr       bytes.Buffer
	ids          string

	mu    sync.Mutex // guards orders
	stdin io.WriteCloser
	asked bool // to end

	news  chan news
	waits atomic.Bool   // the process has started while its store was away
	done  chan struct{} // closed after the end
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
			switch err := json.Unmarshal(lines.Bytes(), &n); {
			case err != nil:
			case n.Waits:
				p.waits.Store(true)
			default:
				p.news <- n
			}
		}
		cmd.Wait() // errors are in the ProcessState
		p.ended = realNow()
		close(p.done)
	}()
	p.tell(o)
	return p, nil
}

// tell sends orders. A process that has ended ignores them.
func (p *process) tell(o orders) {
	line, err := json.Marshal(o)
	if err != nil {
		panic(err) // orders can always be encoded
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stdin.Write(append(line, '\n'))
}

// size returns the length of the log of IDs.
func (p *process) size() int64 {
	info, err := os.Stat(p.ids)
	if err != nil {
		return 0 // no log yet
	}
	return info.Size()
}

// kill kills the process, and reports whether the kill ended it.
func (p *process) kill() bool {
	p.cmd.Process.Kill()
	<-p.done
	return wasKilled(p.cmd.ProcessState)
}

// freeze stops the process, and waits until the process stands still.
func (p *process) freeze() error {
	if err := pause(p.cmd.Process); err != nil {
		return err
	}
	return p.frozen(5 * time.Second)
}

// frozen returns an error unless the process stands still within a time.
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

// fine returns an error if the process ended in an unplanned way.
func (p *process) fine() error {
	state := p.cmd.ProcessState
	if wasKilled(state) || state.Success() || p.asked && wasTerminated(state) {
		return nil
	}
	return fmt.Errorf("process %d failed: %v: %s", p.number, state, bytes.TrimSpace(p.stderr.Bytes()))
}
