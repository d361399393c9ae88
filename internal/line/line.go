// Package line is where callers stand who wait for the next tick of a generator.
//
// One of them leads: it sleeps until the next tick begins, outside the lock, takes a
// word for itself and then one for each caller behind it, first come, first served.
// Whoever is left when that tick is spent as well stays in line, and the first of
// them leads. So a tick wakes as many callers as it can serve, and one sleeper a
// generator needs the precise clock.
//
// While the line is busy, callers who come fresh join it or, if they do not wait, go
// away: else those who happen to call at the start of a tick could keep it spent
// before the line is served, for ever.
package line

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/clock"
)

// A Source is what a line waits for.
type Source interface {
	// Try issues a run of up to n words and returns the first and their number.
	// With none to be had it returns 0 and how long to pause before the next try,
	// or an error if waiting does not help.
	Try(n int) (word uint64, run int, pause time.Duration, err error)
}

// Line is the line of one generator. A Line is ready as it is: nobody stands in it.
type Line struct {
	Name string // the first word of its errors

	busy  atomic.Bool  // somebody leads; written with mu held, read by all
	count atomic.Int32 // those who wait for a word

	formed atomic.Uint64 // how often a line has formed; written with mu held

	mu         sync.Mutex // held for the moments it takes to join, serve or leave
	head, tail *place     // those behind the leader
	looked     *place     // dismiss continues behind this place; nil: with the first
}

// A place is the place in line of one caller.
//
// The caller parks on a condition rather than a channel: channels belong to the bubble of
// testing/synctest that made them, and other callers use the place again. Each condition has its own
// mutex, so callers that wake at the same time do not queue up for the line's mutex.
type place struct {
	ctx  context.Context
	next *place // guarded by the line's mu

	mu    sync.Mutex // guards what follows
	turn  sync.Cond
	state placeState
	word  uint64 // set when served
}

// places are used again, so that waiting allocates nothing.
var places = sync.Pool{New: func() any {
	p := new(place)
	p.turn.L = &p.mu
	return p
}}

type placeState uint8

const (
	standing placeState = iota
	served              // word is the caller's
	leading             // the caller leads
	ended               // the caller's context is done
)

// Busy tells whether callers stand in line, to whom the next words belong.
func (l *Line) Busy() bool { return l.busy.Load() }

// Len returns how many callers wait for a word, the leader included.
func (l *Line) Len() int { return int(l.count.Load()) }

// Formed returns how often a line has formed where nobody stood: the number of the present
// one, for a source that wants to know whether callers have waited all the while.
func (l *Line) Formed() uint64 { return l.formed.Load() }

// Stand waits in line until the source has a word for the caller, as long as ctx
// allows; nil stands for a context that never ends. A caller who leads may get a run
// of up to n words, the others get one.
func (l *Line) Stand(ctx context.Context, n int, source Source) (uint64, int, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	l.count.Add(1)
	l.mu.Lock()
	if l.busy.Load() {
		p := l.join(ctx)
		l.mu.Unlock()
		switch state, word := p.wait(); state {
		case served:
			return word, 1, nil
		case ended:
			return 0, 0, l.endOf(ctx)
		}
	} else {
		l.busy.Store(true)
		l.formed.Add(1)
		l.mu.Unlock()
	}
	return l.lead(ctx, n, source)
}

// lead waits for the next tick on behalf of the line.
//
// The source and the context are in part their users' own: they can panic, or end the
// goroutine with [runtime.Goexit]. Whatever way the lead ends, the line is left.
func (l *Line) lead(ctx context.Context, n int, source Source) (word uint64, run int, err error) {
	defer func() { l.leave(source, run) }()
	for {
		var pause time.Duration
		word, run, pause, err = source.Try(n)
		switch {
		case run > 0:
			return word, run, nil
		case err == nil && ctx.Err() != nil:
			err = l.endOf(ctx)
		}
		if err != nil {
			return 0, 0, err
		}
		if !l.dismiss(pause) {
			clock.Pause(pause)
		}
	}
}

// leave ends the lead of a caller. A leader that got a run of words first takes a word for each
// caller in line, as far as the tick goes. Then it hands the line over. A caller whose context has
// ended gets no word.
func (l *Line) leave(source Source, run int) {
	l.count.Add(-1)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.handOver()
	for run > 0 && l.head != nil {
		if l.head.done() {
			l.count.Add(-1)
			l.wakeFirst(ended, 0)
			continue
		}
		var word uint64
		if word, run, _, _ = source.Try(1); run > 0 {
			l.count.Add(-1)
			l.wakeFirst(served, word)
		}
	}
}

func (l *Line) endOf(ctx context.Context) error { return &endError{l.Name, ctx.Err()} }

// An endError is the error of a caller whose context has ended. Thousands of callers can return at
// a time: fmt.Errorf would take half of the time until all have, since it grows the stack of each.
type endError struct {
	name string
	err  error
}

func (e *endError) Error() string {
	return fmt.Sprintf("%s: waiting for the next ID: %v", e.name, e.err)
}

func (e *endError) Unwrap() error { return e.err }

// join adds a place at the end of the line. mu is held.
func (l *Line) join(ctx context.Context) *place {
	p := places.Get().(*place)
	p.state, p.ctx = standing, ctx
	if l.head == nil {
		l.head = p
	} else {
		l.tail.next = p
	}
	l.tail = p
	return p
}

// wakeFirst takes the first place out of the line and wakes its caller. mu is held.
func (l *Line) wakeFirst(s placeState, word uint64) {
	p := l.head
	if l.head = p.next; l.head == nil {
		l.tail = nil
	}
	if l.looked == p {
		l.looked = nil
	}
	p.wake(s, word)
}

// handOver makes the first in line the leader. Without callers in line the line is gone. mu is held.
func (l *Line) handOver() {
	if l.head != nil {
		l.wakeFirst(leading, 0)
		return
	}
	l.busy.Store(false)
}

const (
	// perLook is the pause that pays for a look at one context: a look takes up to 0.1 µs in a long
	// line, where no cache has the context.
	perLook = time.Microsecond
	// maxEnded bounds how many callers one dismiss sends away, which takes 0.3 ms.
	maxEnded = 1024
)

// dismiss sends callers away whose contexts have ended. The leader calls dismiss before each pause,
// so a parked caller needs no channel.
//
// A dismiss looks at a part of the line: at no more contexts than the pause pays for. The next
// dismiss continues behind that part. So the leader spends at most a tenth of its pauses on
// contexts, however long the line is. A caller whose context ends returns after at most two pauses,
// of up to 5 ms, and a millisecond more for each 1000 callers in line.
//
// A caller that is sent away does not count as a look. After many of them, dismiss reports that
// there may be more. The leader then looks for words before it continues, and skips the pause.
func (l *Line) dismiss(pause time.Duration) (more bool) {
	looks := max(1, int(min(pause, clock.Longest)/perLook))
	l.mu.Lock()
	defer l.mu.Unlock()
	for dismissed := 0; looks > 0; {
		link := &l.head
		if l.looked != nil {
			link = &l.looked.next
		}
		p := *link
		if p == nil {
			l.looked = nil
			return false
		}
		if !p.done() {
			l.looked = p
			looks--
			continue
		}
		if dismissed == maxEnded {
			return true
		}
		if *link = p.next; p.next == nil {
			l.tail = l.looked
		}
		l.count.Add(-1)
		p.wake(ended, 0)
		dismissed++
	}
	return false
}

// wait parks the caller until the caller is called out of the line. Afterwards the place is another
// caller's.
func (p *place) wait() (placeState, uint64) {
	p.mu.Lock()
	for p.state == standing {
		p.turn.Wait()
	}
	state, word := p.state, p.word
	p.mu.Unlock()
	p.ctx, p.next = nil, nil
	places.Put(p)
	return state, word
}

// wake ends the wait of the caller. The place must be out of the line already: the caller gives it
// to others.
func (p *place) wake(s placeState, word uint64) {
	p.mu.Lock()
	p.state, p.word = s, word
	p.turn.Signal()
	p.mu.Unlock()
}

// done tells whether the caller's context has ended. A context that panics is not the
// leader's affair: its caller is sent to see for itself.
func (p *place) done() (done bool) {
	defer func() {
		if recover() != nil {
			done = true
		}
	}()
	return p.ctx.Err() != nil
}
