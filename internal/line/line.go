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
	free       *place     // places to use again, so that waiting allocates nothing
}

// place is one caller's, in line.
//
// It parks on a condition rather than a channel: channels belong to the bubble of
// testing/synctest that made them, and a place is used again by others.
type place struct {
	turn  sync.Cond
	state placeState // written with mu held
	word  uint64     // set when served
	ctx   context.Context
	next  *place
}

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
		for p.state == standing {
			p.turn.Wait()
		}
		state, word := p.state, p.word
		l.putAside(p)
		switch state {
		case served:
			l.mu.Unlock()
			return word, 1, nil
		case ended:
			l.mu.Unlock()
			return 0, 0, l.endOf(ctx)
		}
	}
	if !l.busy.Swap(true) {
		l.formed.Add(1)
	}
	l.mu.Unlock()
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
		l.dismiss()
		clock.Pause(pause)
	}
}

// leave ends the lead of a caller. One who got a run of words takes one for each caller in
// line first, as far as the tick goes. Then the line is handed over.
func (l *Line) leave(source Source, run int) {
	l.count.Add(-1)
	l.mu.Lock()
	defer l.mu.Unlock()
	defer l.handOver()
	for run > 0 && l.head != nil {
		var word uint64
		if word, run, _, _ = source.Try(1); run > 0 {
			l.head.word = word
			l.count.Add(-1)
			l.call(served)
		}
	}
}

func (l *Line) endOf(ctx context.Context) error {
	return fmt.Errorf("%s: waiting for the next ID: %w", l.Name, ctx.Err())
}

// join adds a place at the end of the line. mu is held, as in all that follow
// but dismiss.
func (l *Line) join(ctx context.Context) *place {
	p := l.free
	if p == nil {
		p = new(place)
		p.turn.L = &l.mu
	} else {
		l.free = p.next
	}
	p.state, p.ctx, p.next = standing, ctx, nil
	if l.head == nil {
		l.head = p
	} else {
		l.tail.next = p
	}
	l.tail = p
	return p
}

// putAside keeps a place that was called out of the line for the next caller.
func (l *Line) putAside(p *place) {
	p.ctx = nil
	p.next, l.free = l.free, p
}

// call takes the first out of the line and wakes it.
func (l *Line) call(s placeState) {
	p := l.head
	l.head = p.next
	p.state = s
	p.turn.Signal()
}

// handOver makes the first in line the leader; with none, the line is gone.
func (l *Line) handOver() {
	if l.head != nil {
		l.call(leading)
		return
	}
	l.busy.Store(false)
}

// dismiss sends those away whose context is done. The leader does it for all at
// each look at the clock, 1 to 5 ms apart, so that parking needs no channel.
func (l *Line) dismiss() {
	l.mu.Lock()
	defer l.mu.Unlock()
	var last *place // of those who stay
	for link := &l.head; *link != nil; {
		p := *link
		if !p.done() {
			last, link = p, &p.next
			continue
		}
		if *link = p.next; p.next == nil {
			l.tail = last
		}
		l.count.Add(-1)
		p.state = ended
		p.turn.Signal()
	}
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
