package lease

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// An Event is something that happened to a lease. [Config.Notify] gets the events.
type Event struct {
	Kind EventKind
	Pool string // the name of the pool

	// Worker is the number of the worker. In Waiting, -1 means that the lease waits for any worker. In
	// Created and Ended, and in Failing before the first worker, Worker is -1.
	Worker int

	// From is the start of the interval, in Acquired and Renewed; otherwise zero.
	From time.Time

	// Until is the end of the lease's interval. In Released, Until is where the worker's next
	// interval can begin. In Waiting, Until is when a worker may come free. In Created and Ended,
	// and in Failing before the first worker, Until is zero.
	Until time.Time

	// Left is how long the generator can go on to mint, in Failing; otherwise zero.
	Left time.Duration

	// Took is how long the fault lasted, in Recovered; otherwise zero.
	Took time.Duration

	// Err is the reason, in Failing, Expired, Lost, Waiting, Ahead and Ended. Otherwise Err is nil.
	Err error
}

// An EventKind is a kind of [Event].
type EventKind uint8

const (
	// Acquired: the lease has a worker: the first worker or, after Lost, another worker.
	Acquired EventKind = iota + 1
	// Renewed: the lease has the worker's next interval.
	Renewed
	// Failing: a renewal has failed. The lease will try again. With Worker -1, the lease starts in the
	// background, and has no worker yet. The event then comes for the first try that failed, for each
	// other kind of error, and otherwise about once a minute.
	Failing
	// Expired: the interval has ended without a renewal, and the generator returns errors. The
	// lease will try again.
	Expired
	// Lost: the lease has lost its worker, and takes another worker. Usually the interval had
	// ended, and another lease took the worker. If Err is [ErrRecovered], the pool was recovered. If
	// Err is [ErrRolledBack], the pool must be recovered; the lease waits for the recovery.
	Lost
	// Released: the lease has given the worker back: the lease was closed, or the generator has
	// refused the worker.
	Released
	// Withdrawn: the clock was ahead, and the lease has taken back the interval there, from Until
	// on. No ID was made in the interval. The lease allocates another interval at once.
	Withdrawn
	// Waiting: no worker is free, or another process is writing the pool's record, and the lease waits. The event
	// comes once a wait, and again if the reason changes.
	Waiting
	// Created: [Start] has created the pool, because the store had no such pool. Created comes before
	// Acquired. After the first start of a deployment, Created means that the address of the store is
	// wrong, or that the store was lost.
	Created
	// Ended: a start in the background has failed for good, with an error that no retry can mend. The
	// generator returns the error from then on. Mend the cause, and start the program again.
	Ended
	// Ahead: the clock was ahead while the generator made IDs there, and has come right. The generator keeps its order:
	// it makes no IDs before Until, or later. Err is an *[AheadError].
	Ahead
	// Recovered: the fault that Failing, Expired, Lost, Waiting or Ahead has told of is over. The event comes once, after
	// Acquired or Renewed, or when the clock has caught up.
	Recovered
)

// String returns the kind in a word.
func (k EventKind) String() string {
	words := [...]string{"unknown", "acquired", "renewed", "failing", "expired", "lost", "released", "withdrawn", "waiting", "created", "ended",
		"ahead", "recovered"}
	if int(k) >= len(words) {
		k = 0
	}
	return words[k]
}

// LogValue implements [slog.LogValuer]: an Event is a group of attributes.
func (e Event) LogValue() slog.Value {
	attrs := []slog.Attr{slog.String("event", e.Kind.String()), slog.String("pool", e.Pool)}
	if e.Worker >= 0 {
		attrs = append(attrs, slog.Int("worker", e.Worker))
	}
	if !e.Until.IsZero() {
		attrs = append(attrs, slog.Time("until", e.Until))
	}
	if e.Kind == Failing && e.Worker >= 0 {
		attrs = append(attrs, slog.Duration("left", e.Left))
	}
	if e.Took > 0 {
		attrs = append(attrs, slog.Duration("took", e.Took))
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
	if l.closed() || l.gone() {
		return
	}
	l.post(e)
	l.deliverFreely()
}

// deliverFreely is deliver without work, which the caller holds.
func (l *Lease) deliverFreely() {
	l.work.unlock()
	defer l.lockWork()
	l.deliver()
}

// post queues an event for deliver, and an event Recovered after the first one without a fault.
func (l *Lease) post(e Event) {
	e.Pool = l.name
	l.mu.Lock()
	defer l.mu.Unlock()
	l.events = append(l.events, e)
	switch e.Kind {
	case Failing, Expired, Lost, Waiting, Ahead:
		if l.fault.IsZero() {
			l.fault = time.Now()
		}
	case Acquired, Renewed:
		if !l.fault.IsZero() && e.Until.After(l.config.clock()) { // the store may have answered too late
			l.events = append(l.events, l.faultOver(e.Worker, e.Until))
		}
	}
}

// faultOver returns the event for the end of a fault. The caller holds mu.
func (l *Lease) faultOver(worker int, until time.Time) Event {
	took := time.Since(l.fault)
	l.fault = time.Time{}
	return Event{Kind: Recovered, Pool: l.name, Worker: worker, Until: until, Took: took}
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
	what := ""
	if none, ok := errors.AsType[*NoWorkerError](err); ok {
		what, e.Until = fmt.Sprint("a worker ", none.Recovered, none.Ahead), none.Soonest
	} else if held, ok := errors.AsType[*HeldError](err); ok {
		what, e.Until = "that of "+held.Holder, held.Until
	} else if errors.Is(err, driver.ErrBusy) {
		what = "another process"
	}
	if what != "" && what != l.waiting {
		l.waiting = what
		l.notify(e)
	}
}
