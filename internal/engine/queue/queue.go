// Package queue holds the waiters: callers waiting for the next tick of a generator.
//
// The first waiter leads the queue. The leader sleeps until the next tick begins, outside the lock.
// Then the leader takes a word for itself and a word for each waiter behind, first come, first
// served. When the tick is exhausted, the first of the remaining waiters becomes the leader. A tick
// therefore wakes only as many waiters as the tick can serve, and a generator needs a single
// precise sleep.
//
// While the queue is busy, new callers join the queue. Callers of methods without a wait get an
// error. Otherwise new callers at the start of each tick could exhaust the tick before the queue is
// served, for ever.
package queue

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/engine/clock"
)

// A Source issues words to a queue.
type Source interface {
	// Try issues a run of up to n words. It returns the first word and the length of the run. If no
	// word is available, Try returns a run of 0 and the pause before the next try. If waiting does
	// not help, Try returns an error.
	Try(n int) (word uint64, run int, pause time.Duration, err error)
	// Delayed returns why a word may take long, and nil if words come soon. A waiter whose context
	// ends reports it.
	Delayed() error
}

// Queue is the queue of a generator. The zero Queue is empty and ready for use.
type Queue struct {
	Name string // the first word of the queue's errors

	busy   atomic.Bool   // the queue has a leader; written with mu held
	count  atomic.Int32  // number of waiters, with the leader
	formed atomic.Uint64 // how often the queue has formed; written with mu held

	mu         sync.Mutex // held briefly: to join, to serve or to leave
	head, tail *place     // the waiters behind the leader
	looked     *place     // dismiss continues behind this place; nil means at the head
}

// A place is the place of a waiter.
//
// The waiter parks on a condition, not on a channel: other callers use the place again, and a
// channel made in a bubble of testing/synctest is of no use outside the bubble. Each condition has
// a mutex. Waiters waking at the same time therefore do not queue for the queue's mutex.
type place struct {
	ctx  context.Context
	next *place // guarded by the queue's mu

	mu    sync.Mutex // guards the fields below
	turn  sync.Cond
	state placeState
	word  uint64 // set if served
}

// places keeps places for later waiters, to avoid allocations.
var places = sync.Pool{New: func() any {
	p := new(place)
	p.turn.L = &p.mu
	return p
}}

type placeState uint8

const (
	standing placeState = iota
	served              // word belongs to the waiter
	leading             // the waiter leads
	ended               // the waiter's context has ended
)

// Busy reports whether callers stand in the queue. The next words belong to these waiters.
func (q *Queue) Busy() bool { return q.busy.Load() }

// Len returns the number of waiters, with the leader.
func (q *Queue) Len() int { return int(q.count.Load()) }

// Formed returns how often the queue has formed. If the number has not changed and the queue is busy,
// the queue has been busy all the while.
func (q *Queue) Formed() uint64 { return q.formed.Load() }

// Stand waits in the queue until the source has a word for the caller, as long as ctx allows. A nil ctx
// never ends. A leader gets a run of up to n words; other waiters get a single word.
func (q *Queue) Stand(ctx context.Context, n int, source Source) (uint64, int, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	q.count.Add(1)
	q.mu.Lock()
	if q.busy.Load() {
		p := q.join(ctx)
		q.mu.Unlock()
		switch state, word := p.wait(); state {
		case served:
			return word, 1, nil
		case ended:
			return 0, 0, q.endOf(ctx, source)
		}
	} else {
		q.busy.Store(true)
		q.formed.Add(1)
		q.mu.Unlock()
	}
	return q.lead(ctx, n, source)
}

// lead waits for the next tick on behalf of the queue.
//
// The source and the context may call code of the program. If this code panics or calls
// [runtime.Goexit], the deferred leave hands the queue over.
func (q *Queue) lead(ctx context.Context, n int, source Source) (word uint64, run int, err error) {
	defer func() { q.leave(source, run) }()
	for {
		var pause time.Duration
		word, run, pause, err = source.Try(n)
		switch {
		case run > 0:
			return word, run, nil
		case err == nil && ctx.Err() != nil:
			err = q.endOf(ctx, source)
		}
		if err != nil {
			return 0, 0, err
		}
		if !q.dismiss(pause) {
			clock.Pause(pause)
		}
	}
}

// leave ends the lead of a caller. A leader that got words first takes a word for each waiter,
// until the tick is exhausted. Then leave hands the queue over. A waiter whose context has ended
// gets no word.
func (q *Queue) leave(source Source, run int) {
	q.count.Add(-1)
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.handOver()
	for run > 0 && q.head != nil {
		if q.head.done() {
			q.count.Add(-1)
			q.wakeFirst(ended, 0)
			continue
		}
		var word uint64
		if word, run, _, _ = source.Try(1); run > 0 {
			q.count.Add(-1)
			q.wakeFirst(served, word)
		}
	}
}

func (q *Queue) endOf(ctx context.Context, source Source) error {
	return &endError{q.Name, ctx.Err(), source.Delayed()}
}

// An endError is the error of a waiter whose context has ended. Thousands of waiters can return at
// the same time. fmt.Errorf would take half of the total time, since it grows the stack of each
// goroutine.
type endError struct {
	name string
	err  error // of the context
	why  error // why no word came; nil if words come soon
}

func (e *endError) Error() string {
	if e.why != nil {
		return fmt.Sprintf("%s: waiting for the first ID: %v: %v", e.name, e.err, e.why)
	}
	return fmt.Sprintf("%s: waiting for the next ID: %v", e.name, e.err)
}

func (e *endError) Unwrap() []error {
	if e.why != nil {
		return []error{e.err, e.why}
	}
	return []error{e.err}
}

// join adds a place at the end of the queue. mu is held.
func (q *Queue) join(ctx context.Context) *place {
	p := places.Get().(*place)
	p.state, p.ctx = standing, ctx
	if q.head == nil {
		q.head = p
	} else {
		q.tail.next = p
	}
	q.tail = p
	return p
}

// wakeFirst takes the first place out of the queue and wakes its waiter. mu is held.
func (q *Queue) wakeFirst(s placeState, word uint64) {
	p := q.head
	if q.head = p.next; q.head == nil {
		q.tail = nil
	}
	if q.looked == p {
		q.looked = nil
	}
	p.wake(s, word)
}

// handOver makes the first waiter the leader, or ends the queue if it is empty. mu is held.
func (q *Queue) handOver() {
	if q.head != nil {
		q.wakeFirst(leading, 0)
		return
	}
	q.busy.Store(false)
}

const (
	// perLook is the pause for each look at a context. A look takes up to 0.1 µs in a long queue,
	// where no cache has the context.
	perLook = time.Microsecond
	// maxEnded is the most waiters for a dismiss to send away, in 0.3 ms.
	maxEnded = 1024
)

// dismiss sends waiters away whose contexts have ended. The leader calls dismiss before each pause.
// A parked waiter therefore needs no channel.
//
// A dismiss looks at a part of the queue, at as many contexts as the pause allows. The next dismiss
// continues behind this part. The leader therefore spends at most a tenth of its pauses on
// contexts, in a queue of any length. A waiter whose context ends returns after at most two pauses
// of up to 5 ms, and a millisecond more for each 1000 waiters.
//
// A waiter sent away does not count as a look. After maxEnded of these waiters, dismiss returns
// true, since there may be more. The leader then skips the pause, and tries for words before the
// next dismiss.
func (q *Queue) dismiss(pause time.Duration) (more bool) {
	looks := max(1, int(min(pause, clock.Longest)/perLook))
	q.mu.Lock()
	defer q.mu.Unlock()
	for dismissed := 0; looks > 0; {
		link := &q.head
		if q.looked != nil {
			link = &q.looked.next
		}
		p := *link
		if p == nil {
			q.looked = nil
			return false
		}
		if !p.done() {
			q.looked = p
			looks--
			continue
		}
		if dismissed == maxEnded {
			return true
		}
		if *link = p.next; p.next == nil {
			q.tail = q.looked
		}
		q.count.Add(-1)
		p.wake(ended, 0)
		dismissed++
	}
	return false
}

// wait parks the waiter until its place is taken out of the queue. It then gives the place to
// places.
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

// wake ends the wait of a waiter. The place must already be out of the queue, since the waiter gives
// the place to places.
func (p *place) wake(s placeState, word uint64) {
	p.mu.Lock()
	p.state, p.word = s, word
	p.turn.Signal()
	p.mu.Unlock()
}

// done reports whether the waiter's context has ended. If the context panics, done returns true:
// the waiter then asks the context, and the panic reaches the waiter, not the leader.
func (p *place) done() (done bool) {
	defer func() {
		if recover() != nil {
			done = true
		}
	}()
	return p.ctx.Err() != nil
}
