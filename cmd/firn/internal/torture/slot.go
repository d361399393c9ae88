package torture

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"
)

// A slot runs one process after another. The processes of a slot share a clock.
type slot struct {
	*runner
	index int
	end   <-chan struct{} // closed when the run ends
	place place           // as its processes see it
	links []*link         // to the store's servers; empty if the network is left alone

	mu      sync.Mutex // guards orders to processes
	process *process
	step    int
	offset  int64
}

// run does the planned actions, and ends the last process.
func (s *slot) run(actions []action) error {
	err := s.start()
	if err == nil {
		err = s.warm()
	}
	s.cold.Done()
	if err != nil {
		return err
	}
	s.cold.Wait()
	for i, a := range actions {
		after := a.after
		if s.late.Load() {
			after = min(after, 10*time.Millisecond)
		}
		ended, err := s.idle(after)
		if err != nil {
			return err
		}
		if ended {
			for _, a := range actions[i:] {
				s.missed(a, "the run was over")
			}
			break
		}
		if s.late.Load() && a.kind != setBack && !slices.ContainsFunc(s.owed(), a.like) {
			s.missed(a, "the time was up")
			continue
		}
		if err := s.do(a); err != nil {
			return err
		}
	}
	for random := rand.New(rand.NewPCG(s.config.Seed, uint64(2+s.index))); ; {
		ended, err := s.idle(50 * time.Millisecond)
		if err != nil {
			return err
		}
		if ended {
			break
		}
		if !s.late.Load() {
			continue
		}
		if owed := s.owed(); len(owed) > 0 { // several slots may do the same action: no harm
			if err := s.do(owed[random.IntN(len(owed))]); err != nil {
				return err
			}
			s.set(0)
		}
	}
	if !s.aborted.Load() {
		if err := s.judge(); err != nil {
			return err
		}
	}
	if s.aborted.Load() {
		s.process.kill()
		return nil
	}
	if !s.finish() {
		return fmt.Errorf("process %d did not end when it was asked to", s.process.number)
	}
	return s.process.fine()
}

// idles reports whether the slot's processes make an ID only now and then, as some do in large
// runs.
func (s *slot) idles() bool { return s.index%3 == 2 }

// judge makes the process show that the process makes IDs. This is two windows after the last fault, and
// then the time in which a process learns of a lost worker. A process without a worker has nothing to show.
func (s *slot) judge() error {
	<-s.mended
	if err := s.revive(); err != nil {
		return err
	}
	s.set(0)
	timeout := max(s.config.Window*3/10, 200*time.Millisecond) // of requests, as in child.keep
	select {
	case <-time.After(2*s.config.Window + 2*timeout + time.Second):
	case <-s.process.done:
	}
	if err := s.revive(); err != nil {
		return err
	}
	s.judged.Store(true)
	s.mu.Lock()
	s.process.tell(orders{Rate: s.rate(), Offset: s.offset, Step: s.step, Prove: true})
	s.mu.Unlock()
	for late := time.After(3*s.config.Window + 5*time.Second + patience); ; {
		select {
		case n := <-s.process.news:
			if n.Proved {
				return nil
			}
		case <-s.process.done:
			return s.revive()
		case <-late:
			return nil
		}
	}
}

// warm waits for the first ID. Faults begin when all processes have had a worker: in a pool with
// few used workers, one clock far ahead would become the time of the pool.
func (s *slot) warm() error {
	for late := time.Now().Add(10*s.config.Window + patience); s.process.size() == 0; time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.process.done:
			if err := s.revive(); err != nil { // the process may give up on a busy machine
				return err
			}
		case <-s.end:
			return nil
		default:
		}
		if time.Now().After(late) {
			return fmt.Errorf("process %d makes no IDs", s.process.number)
		}
	}
	return nil
}

// start starts a process in the slot.
func (s *slot) start() error {
	number := int(s.number.Add(1))
	s.mu.Lock()
	o := orders{Place: &s.place, Format: s.format.name, Process: number, Window: s.config.Window, Messages: s.config.Messages,
		Idle: s.idles(), Late: s.process == nil || number%2 == 0, Rate: s.rate(), Offset: s.offset, Step: 0}
	p, err := start(s.config.Command, o, s.index)
	if err == nil {
		s.process = p
		s.step = 0
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	s.runner.mu.Lock()
	s.all = append(s.all, p)
	s.runner.mu.Unlock()
	return nil
}

// order sends the current orders to the process.
func (s *slot) order() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.process != nil {
		s.process.tell(orders{Rate: s.rate(), Offset: s.offset, Step: s.step})
	}
}

// idle waits, and reports whether the run ended meanwhile. A process that ends by itself is
// replaced.
func (s *slot) idle(d time.Duration) (ended bool, err error) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-s.end:
			return true, s.revive()
		case <-timer.C:
			return false, s.revive()
		case <-s.process.done:
			if err := s.revive(); err != nil {
				return false, err
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

func (s *slot) missed(a action, why string) {
	if a.kind != setBack {
		s.note(fault{Kind: a.kind, Size: a.name, Slot: s.index, At: realNow(), Why: why})
	}
}

// do does an action.
func (s *slot) do(a action) error {
	f := fault{Kind: a.kind, Size: a.name, Slot: s.index, Process: s.process.number, At: realNow()}
	var err error
	switch a.kind {
	case kill:
		f.Happened, err = s.kill(a.how)
		if err == nil && a.how == twice {
			s.note(f)
			time.Sleep(a.size)
			f.Process, f.At = s.process.number, realNow()
			f.Happened, err = s.kill(plainly)
		}
	case stop:
		why := s.stop(a.size)
		if f.Happened = why == nil; !f.Happened {
			f.Why = why.Error()
		}
	case stepBy:
		before := s.offset
		var gone, seen bool
		f.Happened, seen, gone = s.set(before + a.size.Microseconds())
		for try := 0; gone && try < 3; try++ { // a process that gives up sees no step
			s.mu.Lock()
			s.offset = before
			s.mu.Unlock()
			if err := s.revive(); err != nil {
				return err
			}
			f.Process = s.process.number
			f.Happened, seen, gone = s.set(before + a.size.Microseconds())
		}
		f.unseen = !seen
		f.Step = s.step
	case setBack:
		s.set(0)
		return nil
	case cutRequests, cutReplies, delay:
		if why := s.weather(a); why != nil {
			f.Why = why.Error()
		} else {
			f.Happened = true
		}
	case finish:
		if f.Happened = s.finish(); !f.Happened {
			return fmt.Errorf("process %d did not end when it was asked to", s.process.number)
		}
		err = s.revive()
	}
	s.note(f)
	return err
}

// kill kills the process and starts another.
func (s *slot) kill(how manner) (killed bool, err error) {
	switch how {
	case stopping:
		s.process.freeze() // the process may have ended: no harm
	case closing:
		s.process.asked = true
		terminate(s.process.cmd.Process)
		time.Sleep(time.Duration(s.process.number%8) * time.Millisecond)
	}
	killed = s.process.kill()
	return killed, s.revive()
}

// stop stops the process for a time. The error is that the process did not stand still all the
// time.
func (s *slot) stop(d time.Duration) error {
	p := s.process
	defer resume(p.cmd.Process)
	if err := p.freeze(); err != nil {
		return err
	}
	size := p.size()
	select {
	case <-time.After(d):
	case <-s.end:
		return fmt.Errorf("the run was over")
	}
	if err := p.frozen(0); err != nil {
		return err
	}
	if grown := p.size() - size; grown > 0 {
		return fmt.Errorf("its log grew by %d bytes", grown)
	}
	return nil
}

// connect makes the network between the slot's processes and the store's servers.
func (s *slot) connect() error {
	if s.config.Via == nil {
		return nil
	}
	var by []string
	for _, server := range s.config.Servers {
		l, err := newLink(server)
		if err != nil {
			s.disconnect()
			return err
		}
		s.links = append(s.links, l)
		by = append(by, l.address())
	}
	s.place.Store = s.config.Via(by)
	return nil
}

func (s *slot) disconnect() {
	for _, l := range s.links {
		l.close()
	}
}

// weather makes the slot's network bad for a time. The error is that no traffic was affected.
func (s *slot) weather(a action) error {
	bad := map[kind]weather{cutRequests: {loseRequests: true}, cutReplies: {loseReplies: true}, delay: {delay: s.config.Window / 8}}
	spell := begin(s.links, bad[a.kind])
	select {
	case <-time.After(a.size):
	case <-s.end:
	}
	switch c := spell.end(); {
	case a.kind == cutRequests && c.lostRequests == 0:
		return errors.New("there was no request")
	case a.kind == cutReplies && (c.lostReplies == 0 || c.passed == 0):
		return errors.New("there was no request with a reply")
	case a.kind == delay && c.delayed == 0:
		return errors.New("nothing went either way")
	}
	return nil
}

// set sets the clock, and waits for the effect. taken reports whether the process has noted the
// step, seen whether the step had an effect, and gone whether the process ended before.
func (s *slot) set(offset int64) (taken, seen, gone bool) {
	s.mu.Lock()
	if offset == s.offset {
		s.mu.Unlock()
		return true, true, false
	}
	s.offset = offset
	s.step++
	step := s.step
	s.mu.Unlock()
	s.order()
	// A busy machine, or a starting process, takes a while.
	late := time.After(5*s.config.Window + 2*time.Second)
	for {
		select {
		case n := <-s.process.news:
			if n.Step != step {
				continue
			}
			if taken = true; n.Seen || s.idles() { // an idle process does not look for effects
				return true, n.Seen, false
			}
		case <-s.process.done:
			return taken, false, true
		case <-s.end:
			return taken, false, false
		case <-late:
			return taken, false, false
		}
	}
}

// finish asks the process to end, and reports whether the process ended.
func (s *slot) finish() bool {
	p := s.process
	p.asked = true
	terminate(p.cmd.Process)
	select {
	case <-p.done:
		return true
	case <-time.After(5*s.config.Window + patience):
		return false
	}
}
