package torture

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/pause"
)

// A process is a process that the run has started.
type process struct {
	number int
	ids    string
	cmd    *exec.Cmd
	orders *json.Encoder
	stderr bytes.Buffer
	asked  bool          // to end
	step   atomic.Int64  // the last step of the clock that the process has done
	done   chan struct{} // closed after the end
}

// start starts a process with its first orders.
func start(command func() (*exec.Cmd, error), o orders) (*process, error) {
	cmd, err := command()
	if err != nil {
		return nil, err
	}
	p := &process{number: o.Process, ids: idsPath(o.Place.Dir, o.Process), cmd: cmd, done: make(chan struct{})}
	cmd.Stderr = &p.stderr
	detach(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
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
			if step, err := strconv.ParseInt(lines.Text(), 10, 64); err == nil {
				p.step.Store(step)
			}
		}
		cmd.Wait() // errors are in the ProcessState
		close(p.done)
	}()
	p.orders = json.NewEncoder(in)
	p.orders.Encode(o) // a process that has ended ignores orders
	return p, nil
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

// finish asks the process to end.
func (p *process) finish() {
	p.asked = true
	terminate(p.cmd.Process)
}

// ends waits for the end of a process that was asked to end.
func (p *process) ends(ctx context.Context, within time.Duration) error {
	select {
	case <-p.done:
		return p.fine()
	case <-ctx.Done():
		return nil
	case <-time.After(within):
		return fmt.Errorf("process %d did not end when it was asked to", p.number)
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

// A slot runs one process after another. The processes of a slot share a clock and a network.
type slot struct {
	*runner
	index   int
	place   place // as its processes see it
	network *network
	process *process
	step    int64
	offset  time.Duration // of the clock
}

// newSlot makes a slot, and its network to the store's servers, of which there are none if the network is
// left alone.
func (r *runner) newSlot(index int) (*slot, error) {
	s := &slot{runner: r, index: index, place: r.place}
	var by []string
	var err error
	if s.network, by, err = newNetwork(r.Servers); err == nil && r.Via != nil {
		s.place.Store = r.Via(by)
	}
	return s, err
}

// run does the planned actions until the run is over, and ends the last process.
func (s *slot) run(ctx context.Context) error {
	warm, calm := sync.OnceFunc(s.cold.Done), sync.OnceFunc(s.stormy.Done)
	defer calm()
	defer warm()
	if err := s.start(); err != nil {
		return err
	}
	defer func() { s.process.kill() }()
	if err := s.warm(ctx); err != nil {
		return err
	}
	warm()
	s.begin()
	for plan := newPlan(s.Config, s.index); ctx.Err() == nil; {
		of, late := s.choices()
		if of == nil {
			break
		}
		a := plan.next(of)
		if late {
			a.after = min(a.after, 10*time.Millisecond)
			for s.process.size() == 0 && !s.over() && ctx.Err() == nil { // a process that had no worker yet shows nothing
				if err := s.wait(ctx, 5*time.Millisecond); err != nil {
					return err
				}
			}
		}
		if err := s.wait(ctx, a.after); err != nil {
			return err
		}
		number := s.process.number
		happened, err := s.do(ctx, a)
		if err == nil {
			err = s.note(a.kind, a.size, number, happened)
		}
		if err != nil {
			return err
		}
	}
	calm()
	s.stormy.Wait()
	return s.judge(ctx)
}

// idles reports whether the slot's processes make an ID only now and then, as some do in large
// runs.
func (s *slot) idles() bool { return s.index%3 == 2 }

// rate returns how many IDs a process makes in a second. Idle processes make none to speak of, and a process that
// stood still catches up.
func (s *slot) rate() float64 {
	busy := s.Processes - s.Processes/3
	return max(float64(s.IDs)/s.Duration.Seconds()/float64(busy), 100)
}

// start starts a process in the slot.
func (s *slot) start() error {
	number := int(s.number.Add(1))
	p, err := start(s.Command, orders{Place: s.place, Format: s.format.name, Process: number, Window: s.Window, Rate: s.rate(),
		Messages: s.Messages, Idle: s.idles(), Background: s.process == nil || number%2 == 0, Offset: s.offset.Microseconds()})
	if err != nil {
		return err
	}
	s.process = p
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, p)
	return nil
}

// warm waits for the first ID. Faults begin when all processes have had a worker: in a pool with
// few used workers, one clock far ahead would become the time of the pool.
func (s *slot) warm(ctx context.Context) error {
	for late := time.Now().Add(10*s.Window + patience); s.process.size() == 0 && ctx.Err() == nil; {
		if time.Now().After(late) {
			return fmt.Errorf("process %d makes no IDs", s.process.number)
		}
		if err := s.wait(ctx, 5*time.Millisecond); err != nil { // the process may give up on a busy machine
			return err
		}
	}
	return nil
}

// wait waits, and replaces a process that ends by itself.
func (s *slot) wait(ctx context.Context, d time.Duration) error {
	for timer := time.After(d); ; {
		select {
		case <-ctx.Done():
			return nil
		case <-timer:
			return s.revive()
		case <-s.process.done:
			if err := s.revive(); err != nil {
				return err
			}
		}
	}
}

// revive starts a process if the last one has ended.
func (s *slot) revive() error {
	select {
	case <-s.process.done:
		if err := s.process.fine(); err != nil {
			return err
		}
		return s.start()
	default:
		return nil
	}
}

// do does an action, and reports whether it had its effect.
func (s *slot) do(ctx context.Context, a action) (happened bool, err error) {
	switch a.kind {
	case kill:
		switch a.size {
		case twice:
			s.process.kill()
			if err := s.revive(); err != nil {
				return false, err
			}
			time.Sleep(time.Duration(s.process.number%8) * 25 * time.Millisecond)
		case standing:
			suspend(s.process.cmd.Process) // the process may have ended: no harm
		case returning:
			s.process.finish()
			time.Sleep(time.Duration(s.process.number%8) * time.Millisecond)
		}
		happened = s.process.kill()
	case stop:
		happened = suspend(s.process.cmd.Process) == nil
		pause.For(ctx, a.lasts)
		resume(s.process.cmd.Process)
	case step:
		happened = s.set(ctx, s.offset+a.change)
		err = s.wait(ctx, a.lasts)
		if !a.stays {
			s.set(ctx, 0)
		}
	case cutRequests, cutReplies, delay:
		s.network.set(map[kind]weather{cutRequests: {loseRequests: true}, cutReplies: {loseReplies: true}, delay: {delay: s.Window / 8}}[a.kind])
		err = s.wait(ctx, a.lasts)
		happened = s.network.set(weather{}) > 0
	case finish:
		s.process.finish()
		err = s.process.ends(ctx, 5*s.Window+patience)
		happened = err == nil && ctx.Err() == nil
	}
	if err == nil {
		err = s.revive()
	}
	return happened, err
}

// set sets the clock, and reports whether the process has done so.
func (s *slot) set(ctx context.Context, offset time.Duration) bool {
	if offset == s.offset {
		return true
	}
	s.offset = offset
	s.step++
	s.process.orders.Encode(orders{Offset: offset.Microseconds(), Step: int(s.step)})
	// A busy machine, or a starting process, takes a while.
	for late := time.Now().Add(5*s.Window + 2*time.Second); s.process.step.Load() != s.step; {
		select {
		case <-s.process.done:
			return false
		case <-time.After(time.Millisecond):
		}
		if ctx.Err() != nil || time.Now().After(late) {
			return false
		}
	}
	return true
}

// judge has the process show that it makes IDs, and end. This is two windows after the last fault, and then the
// time in which a process learns of a lost worker. A process without a worker has nothing to show.
func (s *slot) judge(ctx context.Context) error {
	s.set(ctx, 0)
	if err := s.wait(ctx, 2*s.Window+2*timeout(s.Window)+time.Second); err != nil || ctx.Err() != nil {
		return err
	}
	s.process.orders.Encode(orders{Last: true})
	return s.process.ends(ctx, 8*s.Window+2*patience)
}
