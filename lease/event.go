package lease

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// An Event is something that happened to a lease.
type Event struct {
	Kind   EventKind
	Pool   string
	Worker int           // Waiting: -1 if any will do
	From   time.Time     // Acquired, Renewed: the start of the interval
	Until  time.Time     // the end of the lease's interval; Released: where the worker's next interval can begin; Waiting: when to expect a worker
	Left   time.Duration // Failing: how long minting can go on
	Err    error         // Failing, Expired, Lost, Waiting: why
}

// An EventKind says what happened.
type EventKind uint8

const (
	// Acquired: the lease has a worker: the first or, after Lost, another worker.
	Acquired EventKind = iota + 1
	// Renewed: the lease has the worker's next interval.
	Renewed
	// Failing: a renewal has failed. The lease will try again.
	Failing
	// Expired: the interval has ended, and the generator refuses to mint.
	Expired
	// Lost: the lease has lost its worker, and takes another worker. Usually the interval had
	// ended, and another lease took the worker. If Err is [ErrRescued], the pool was rescued. If
	// Err is [ErrRolledBack], the pool must be rescued; the lease waits for the rescue.
	Lost
	// Released: the lease was closed, and the worker given back.
	Released
	// Withdrawn: the clock was ahead, and the lease has taken back the interval there, from Until
	// on. No ID was made in the interval. The lease allocates another interval at once.
	Withdrawn
	// Waiting: no worker is free, and the lease waits. Err says why, and Until when to expect a
	// worker. The event comes once a wait, and again if the reason changes.
	Waiting
)

// String returns the kind in a word.
func (k EventKind) String() string {
	switch k {
	case Acquired:
		return "acquired"
	case Renewed:
		return "renewed"
	case Failing:
		return "failing"
	case Expired:
		return "expired"
	case Lost:
		return "lost"
	case Released:
		return "released"
	case Withdrawn:
		return "withdrawn"
	case Waiting:
		return "waiting"
	}
	return "unknown"
}

// LogValue makes an Event a group of its own in logs.
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("event", e.Kind.String()), slog.String("pool", e.Pool)}
	if e.Worker >= 0 {
		attrs = append(attrs, slog.Int("worker", e.Worker))
	}
	if !e.Until.IsZero() {
		attrs = append(attrs, slog.Time("until", e.Until))
	}
	if e.Kind == Failing {
		attrs = append(attrs, slog.Duration("left", e.Left))
	}
	if e.Err != nil {
		attrs = append(attrs, slog.Any("err", e.Err))
	}
	return slog.GroupValue(attrs...)
}

// notify calls Notify with an event. The caller holds work. During the call notify releases work,
// since Notify may call Close. A closed lease has no more events, except the events that Close
// posts.
func (l *Lease) notify(e Event) {
	if l.closed() {
		return
	}
	l.post(e)
	l.work.Unlock()
	defer l.work.Lock()
	l.deliver()
}

// post queues an event for deliver.
func (l *Lease) post(e Event) {
	e.Pool = l.pool.name
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
}

// deliver calls Notify with the queued events. If a call of Notify is under way, deliver returns at
// once, and the goroutine of that call delivers them next.
func (l *Lease) deliver() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.delivering {
		return
	}
	l.delivering = true
	defer func() { l.delivering = false }()
	for len(l.events) > 0 {
		e := l.events[0]
		l.events = l.events[1:]
		func() {
			l.mu.Unlock()
			defer l.mu.Lock()
			l.config.Notify(e)
		}()
	}
}

// tellWait raises Waiting if err is the reason for a wait, once for each reason.
func (l *Lease) tellWait(err error) {
	e := Event{Kind: Waiting, Worker: -1, Err: err}
	if l.config.Worker.named {
		e.Worker = l.config.Worker.number
	}
	var none *NoWorkerError
	var held *HeldError
	what := ""
	switch {
	case errors.As(err, &none):
		what, e.Until = fmt.Sprint("a worker ", none.Rescued, none.Ahead), none.Soonest
	case errors.As(err, &held):
		what, e.Until = "that of "+held.Holder, held.Until
	}
	if what != "" && what != l.waiting {
		l.waiting = what
		l.notify(e)
	}
}
