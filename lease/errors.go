package lease

import (
	"errors"
	"fmt"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease/driver"
)

// Errors of pools and leases. Test for them with [errors.Is]; the error types below have details, and
// [RemedyFor] says what helps.
var (
	// ErrNoWorker: all workers of the pool are taken. A [NoWorkerError] says until when.
	ErrNoWorker = errors.New("no worker is free")
	// ErrHeld: another lease holds the chosen worker. A [HeldError] names the holder.
	ErrHeld = errors.New("the worker is held")
	// ErrLeaseExpired: the lease was not renewed in time. An [ExpiredError] has the cause.
	ErrLeaseExpired = errors.New("the lease has expired")
	// ErrStarting: a lease that starts in the background has no worker yet. A [StartingError] says why.
	ErrStarting = errors.New("the lease is starting")
	// ErrLost: the lease does not hold its worker any more. A [LostError] names the holder.
	ErrLost = errors.New("the lease has lost the worker")
	// ErrClockSkew: the clock disagrees with the store. A [SkewError] says by how much.
	ErrClockSkew = errors.New("the clock is wrong")
	// ErrPoolMismatch: the pool is for other IDs. A [MismatchError] names the difference.
	ErrPoolMismatch = errors.New("the pool is for other IDs")
	// ErrNoPool: the store has no such pool.
	ErrNoPool = errors.New("no such pool")
	// ErrPoolExists: the store has the pool already.
	ErrPoolExists = errors.New("the pool exists")
	// ErrMissing: a record is gone. The worker may be in use, so no lease gets the worker before
	// the pool was recovered, see [RecoverPool].
	ErrMissing = errors.New("a record is missing")
	// ErrDamaged: this program has not written the record, or the record is another pool's. The
	// pool must be recovered.
	ErrDamaged = driver.ErrDamaged
	// ErrRecovering: a recovery of the pool is under way, or was interrupted, see [RecoverPool].
	ErrRecovering = errors.New("the pool is being recovered")
	// ErrRecovered: the pool was recovered, and all earlier leases have ended.
	ErrRecovered = errors.New("the pool was recovered")
	// ErrRolledBack: the store has lost acknowledged changes. The store was restored from a backup,
	// for example, or the pool was deleted and created again. The pool must be recovered.
	ErrRolledBack = errors.New("the store has gone back in time")
	// ErrVersion: an unknown version of this program wrote the record.
	ErrVersion = driver.ErrVersion
	// ErrLeased: another lease has the generator.
	ErrLeased = errors.New("the generator has a lease: make another generator for another lease")
	// ErrClosed: the lease was closed.
	ErrClosed = errors.New("the lease is closed")
	// ErrUnrecorded: the history of a worker names nobody at a time. An [UnrecordedError] says how
	// far back the history goes.
	ErrUnrecorded = errors.New("nobody is recorded")
	// ErrConfig: a setting is out of range.
	ErrConfig = errors.New("invalid configuration")
)

// A PoolError names the pool of an error without a type of its own, such as [ErrNoPool].
type PoolError struct {
	Pool string
	Err  error
}

func (e *PoolError) Error() string { return "pool " + e.Pool + ": " + e.Err.Error() }

func (e *PoolError) Unwrap() error { return e.Err }

// ofPool returns a PoolError with a text.
func ofPool(pool, format string, args ...any) error {
	return &PoolError{pool, fmt.Errorf(format, args...)}
}

// A NoWorkerError reports that no worker of a pool came free while the caller waited. The error is
// [ErrNoWorker] to errors.Is and, if the context ended the wait, the context's error.
type NoWorkerError struct {
	Pool      string
	Workers   int       // how many workers the pool has
	Soonest   time.Time // when the first interval ends, if its holder does not renew it
	Recovered bool      // the pool was recovered, and no lease gets a worker before Soonest
	Ahead     bool      // no lease holds a worker, but all workers are used up to Soonest at least, ahead of the clock

	// Excluded: no lease of this pool holds some workers, but generators of other pools on this
	// machine use them, such as generators of another user. The end of these generators is not
	// known. Holder names one of their processes, or says how to find it.
	Excluded bool
	Holder   string
}

func (e *NoWorkerError) Error() string {
	if e.Recovered {
		return fmt.Sprintf("pool %s: %s: %s, and no lease gets a worker before %s", e.Pool, ErrNoWorker, ErrRecovered, timeText(e.Soonest))
	}
	if e.Ahead {
		return fmt.Sprintf("pool %s: %s: no lease holds one, but the timestamps of all %d are used up to %s at least",
			e.Pool, ErrNoWorker, e.Workers, timeText(e.Soonest))
	}
	if e.Excluded {
		return fmt.Sprintf("pool %s: %s: of the %d, processes with another pool on this machine, such as another user's, use the free ones%s",
			e.Pool, ErrNoWorker, e.Workers, named(e.Holder))
	}
	return fmt.Sprintf("pool %s: %s: all %d are taken, the first until %s",
		e.Pool, ErrNoWorker, e.Workers, timeText(e.Soonest))
}

func (e *NoWorkerError) Unwrap() error { return ErrNoWorker }

// named returns the name of a process, in brackets.
func named(process string) string {
	if process == "" {
		return ""
	}
	return " (" + process + ")"
}

// A HeldError names the holder of the chosen worker. The error is [ErrHeld] to errors.Is.
type HeldError struct {
	Pool   string
	Worker int
	Holder string    // the holder's description of itself, or with Excluded its process; empty if the holder has gone
	Until  time.Time // when the interval ends, if the holder does not renew it

	// Excluded: a process with another pool on this machine, such as another user's, uses the
	// worker. Until is zero then.
	Excluded bool
}

func (e *HeldError) Error() string {
	if e.Excluded {
		return fmt.Sprintf("pool %s: worker %d: %s by a process with another pool on this machine, such as another user's%s",
			e.Pool, e.Worker, ErrHeld, named(e.Holder))
	}
	by := "by " + e.Holder + " until "
	if e.Holder == "" {
		by = "by nobody, but its timestamps are used up to "
	}
	return fmt.Sprintf("pool %s: worker %d: %s %s%s", e.Pool, e.Worker, ErrHeld, by, timeText(e.Until))
}

func (e *HeldError) Unwrap() error { return ErrHeld }

// An ExpiredError is the error of a generator after its lease has expired. The error is
// [ErrLeaseExpired] to errors.Is, and the error of the last renewal.
type ExpiredError struct {
	Pool   string
	Worker int
	Until  time.Time // where the lease ended
	Cause  error     // why the lease was not renewed
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("pool %s: worker %d: %s at %s: %v", e.Pool, e.Worker, ErrLeaseExpired, timeText(e.Until), e.Cause)
}

func (e *ExpiredError) Unwrap() []error { return []error{ErrLeaseExpired, iderr.ErrFenced, e.Cause} }

// An AheadError reports that a generator has made IDs ahead of its clock, which was wrong then or is wrong now. The
// generator makes no IDs before the clock is there. The error is iderr.ErrClockBackwards to errors.Is.
type AheadError struct {
	Pool   string
	Worker int
	Until  time.Time     // the generator has made IDs with later times
	By     time.Duration // how far ahead of the clock that was
}

func (e *AheadError) Error() string {
	return fmt.Sprintf("pool %s: worker %d: IDs were made %s ahead of the clock, and the next is made after %s",
		e.Pool, e.Worker, span(e.By.Round(time.Millisecond)), timeText(e.Until))
}

func (e *AheadError) Unwrap() error { return iderr.ErrClockBackwards }

// An UnrecordedError reports that the history of a worker names nobody at a time. The error is
// [ErrUnrecorded] to errors.Is.
type UnrecordedError struct {
	Pool   string
	Worker int
	At     time.Time
	Known  time.Time // the earliest time with a name; zero if there are no names
}

func (e *UnrecordedError) Error() string {
	known := "no holder of the worker is known"
	if !e.Known.IsZero() {
		known = "the earliest known holder is of " + timeText(e.Known)
	}
	return fmt.Sprintf("pool %s: worker %d: %s at %s: %s",
		e.Pool, e.Worker, ErrUnrecorded, timeText(e.At), known)
}

func (e *UnrecordedError) Unwrap() error { return ErrUnrecorded }

// A StartingError is the error of a generator whose lease starts in the background and has no worker
// yet. Callers of a method that waits get the error if their context ends first. The error is
// [ErrStarting] and iderr.ErrFenced to errors.Is, and the error of the last try.
type StartingError struct {
	Pool  string
	Since time.Time // when Start was called
	Cause error     // why the last try has failed; nil before the first try has failed
}

func (e *StartingError) Error() string {
	text := fmt.Sprintf("pool %s: %s since %s, and has no worker yet", e.Pool, ErrStarting, timeText(e.Since))
	if e.Cause != nil {
		text += ": " + e.Cause.Error()
	}
	return text
}

func (e *StartingError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrStarting, iderr.ErrFenced}
	}
	return []error{ErrStarting, iderr.ErrFenced, e.Cause}
}

// A SkewError says how far the clock is from the store's knowledge of the time. The error is
// [ErrClockSkew] to errors.Is.
type SkewError struct {
	Pool      string
	Now       time.Time // by the clock
	Reference time.Time // if OfStore, the store's time; otherwise the end of most workers' intervals if Now is before, or the last use of the pool
	OfStore   bool      // the store has a clock
}

func (e *SkewError) Error() string {
	by, where := e.Now.Sub(e.Reference).Round(time.Second), "ahead of"
	if by < 0 {
		by, where = -by, "behind"
	}
	of := "what most records of the pool say"
	switch {
	case e.OfStore:
		of = "the store's time"
	case where == "ahead of":
		of = "the last use of the pool"
	}
	return fmt.Sprintf("pool %s: %s: it says %s, %s %s %s (%s)",
		e.Pool, ErrClockSkew, timeText(e.Now), span(by), where, of, timeText(e.Reference))
}

func (e *SkewError) Unwrap() error { return ErrClockSkew }

// A MismatchError names a setting in which a pool differs from the caller's. The error is
// [ErrPoolMismatch] to errors.Is.
type MismatchError struct {
	Pool  string
	Field string // "format", "epoch", "unit", "widths", "workers"
	Have  string // the pool's setting
	Want  string // the caller's setting
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("pool %s: %s: its %s is %s, not %s", e.Pool, ErrPoolMismatch, e.Field, e.Have, e.Want)
}

func (e *MismatchError) Unwrap() error { return ErrPoolMismatch }

// A waitError has the reason for a wait, and the error of the context that ended the wait.
type waitError struct{ err, end error }

func (e *waitError) Error() string { return e.err.Error() + " (" + e.end.Error() + ")" }

func (e *waitError) Unwrap() []error { return []error{e.err, e.end} }

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

// span writes a long duration in days or years.
func span(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= 730*day:
		return fmt.Sprintf("%d years", d/(365*day))
	case d >= 2*day:
		return fmt.Sprintf("%d days", d/day)
	}
	return d.String()
}
