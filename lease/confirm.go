package lease

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// A LostError is the error of [Lease.Confirm] if the record of the lease's worker is not the lease's.
// The error is [ErrLost] to errors.Is. The lease finds out at its next renewal, and takes another
// worker by itself.
type LostError struct {
	Pool   string
	Worker int
	Holder string    // the holder's description of itself; empty if nobody holds the worker
	Until  time.Time // where the holder's interval ends, or where the worker's next interval can begin
}

func (e *LostError) Error() string {
	to := "to " + e.Holder + " until "
	if e.Holder == "" {
		to = "to nobody, and its timestamps are used up to "
	}
	return fmt.Sprintf("pool %s: worker %d: %s %s%s",
		e.Pool, e.Worker, ErrLost, to, timeText(e.Until))
}

func (e *LostError) Unwrap() error { return ErrLost }

// Confirm reports whether the lease holds its worker. If the error is nil, the store's record of the
// worker was the lease's at a moment after the call of Confirm. Since is the time from which on the
// lease has held the worker without a break, by the record.
//
// A service that answers in the strict order of IDs makes an ID, calls Confirm, and then answers.
// If Confirm returns an error, or a since after the ID's time, the service throws the ID away and
// makes another. Each ID answered then is greater than each ID of the same worker that any process
// had answered before the ID was made. How late the answer arrives is up to the service. Without
// Confirm, a process can be stopped between reading its clock and answering. The process goes on
// later, and answers with a small ID after its successor's greater IDs. The IDs are unique either
// way.
//
// Strict order is a property of one worker: use one worker ([Number]), or a format without workers. IDs
// of two workers are ordered by the clocks of two processes.
//
// Many callers share one look at the record: a look serves the callers that came before it began, and
// a later caller waits for the next look. A caller may make many IDs before one call. Config.Timeout
// bounds a look, and a caller waits for at most two looks; the end of ctx ends the wait of this caller
// alone. Looks and renewals do not wait for each other. Confirm is safe for concurrent use, also within
// Config.Notify. The errors are:
//
//   - *[LostError]: another lease holds the worker, or nobody
//   - [ErrClosed]: the lease was closed
//   - *[StartingError]: the lease starts in the background, and has no worker yet. After the event
//     [Ended], the error of the generator
//   - [ErrRecovered]: the pool was recovered, and the lease has ended
//   - [ErrRolledBack], [ErrMissing], [ErrDamaged] or [ErrVersion]: the state of the record
//   - a *[driver.Error] that is [driver.ErrUnconfirmable]: the store cannot confirm. A store that can is a
//     [driver.Confirmer]. Redis cannot: a server that was cut off answers there, and does not
//     know that another has taken its place
//   - any other *[driver.Error]: the store failed, and nothing is known
//   - the error of the context
func (l *Lease) Confirm(ctx context.Context) (since time.Time, err error) {
	if err := ctx.Err(); err != nil {
		return time.Time{}, context.Cause(ctx)
	}
	look := l.looks.join(l)
	if err := await(ctx, l.config.world, look.done); err != nil {
		return time.Time{}, err
	}
	return look.since, look.err
}

// looks has the callers of Confirm share looks. One look is under way at a time.
//
// A look never shares a lock, or the turn of a hanging request, with the lease's renewals.
type looks struct {
	store timed

	mu   sync.Mutex
	next *look // for callers that came since the last look began; nil if there are none
	busy bool  // a goroutine makes looks
}

// A look is one linearizable read of a worker's record. Since and err are set when done is closed.
type look struct {
	done  chan struct{}
	since time.Time
	err   error
}

// join returns the next look: a look that begins later.
func (c *looks) join(l *Lease) *look {
	c.mu.Lock()
	if c.next == nil {
		c.next = &look{done: make(chan struct{})}
	}
	next, idle := c.next, !c.busy
	c.busy = true
	c.mu.Unlock()
	if idle {
		l.config.world.spawn(l.keepLooking)
	}
	return next
}

// begin closes the next look to callers, and returns the look; or nil if there is none.
func (c *looks) begin() *look {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := c.next
	c.next, c.busy = nil, next != nil
	return next
}

// keepLooking makes looks while there are callers.
func (l *Lease) keepLooking() {
	for {
		// Callers that the last look has answered make IDs and come again: let them come before the
		// next look begins. Without the pause, a quick store would serve few callers a look.
		runtime.Gosched()
		look := l.looks.begin()
		if look == nil {
			return
		}
		look.since, look.err = l.look()
		close(look.done)
	}
}

// expected is what a lease knows of its record, for looks. A published expected never changes.
type expected struct {
	worker     int
	generation int64
	least      int64 // the record ends there or later, whichever request of the lease came last

	// after is where the intervals of the last worker end. IDs before may be of the last worker.
	after int64
}

// expect publishes what the lease expects of its record. The caller holds work.
func (l *Lease) expect() {
	l.expecting.Store(&expected{worker: l.held.Worker, generation: l.held.Generation, least: l.least, after: l.after})
}

// look looks at the record of the lease's worker. It uses no result of a renewal: a renewal may be
// under way, and the reply may have been lost.
func (l *Lease) look() (since time.Time, err error) {
	for {
		switch before, ending := l.expecting.Load(), l.ending.Load(); {
		case ending != nil:
			return time.Time{}, *ending
		case before == nil:
			return time.Time{}, &StartingError{Pool: l.name, Since: l.began, Cause: l.failure()}
		default:
			e, err := l.looks.store.confirm(context.Background(), workerKey(l.pool.name, before.worker))
			since, err := l.judge(e, err, before)
			against := errors.Is(err, ErrLost) || errors.Is(err, ErrRecovered) || errors.Is(err, ErrRolledBack)
			if against && l.expecting.Load() != before {
				continue // the lease has changed the record, or has another worker, meanwhile
			}
			return since, err
		}
	}
}

// judge returns what a look has shown: an entry of the store, or an error.
func (l *Lease) judge(e driver.Entry, err error, want *expected) (since time.Time, _ error) {
	if errors.Is(err, driver.ErrNotFound) {
		return since, l.pool.missing(want.worker)
	}
	if ending := l.ending.Load(); err != nil && ending != nil { // Close may have closed the store
		return since, *ending
	}
	if err != nil {
		return since, err
	}
	got, err := l.pool.read(e, want.worker, want.generation)
	rolledBack := func() error { return unusable(l.pool.store, e.Key, ErrRolledBack) }
	switch {
	case errors.Is(err, errAhead):
		return since, l.pool.recovered(want.worker)
	case errors.Is(err, ErrRecovering): // of an earlier generation than the lease's own record
		return since, rolledBack()
	case err != nil:
		return since, err
	case got.Incarnation == "" && l.ending.Load() != nil:
		return since, *l.ending.Load()
	case got.Incarnation != l.incarnation:
		return since, &LostError{Pool: l.name, Worker: want.worker, Holder: got.Holder, Until: time.UnixMicro(got.Until).UTC()}
	case got.Until < want.least:
		return since, rolledBack()
	}
	if since = got.tenure(); since.UnixMicro() < want.after {
		since = time.UnixMicro(want.after).UTC()
	}
	return since, nil
}

// confirm returns the entry of a key by a linearizable look.
func (t timed) confirm(ctx context.Context, key string) (driver.Entry, error) {
	confirmer, ok := t.store().(driver.Confirmer)
	if !ok {
		return driver.Entry{}, &driver.Error{Store: t.store().String(), Op: "confirm", Key: key, Err: driver.ErrUnconfirmable}
	}
	return ask(ctx, t, "confirm", key, func(ctx context.Context) (driver.Entry, error) { return confirmer.Confirm(ctx, key) })
}
