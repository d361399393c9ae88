package lease

import (
	"errors"
	"fmt"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease/driver"
)

// What can go wrong with pools and leases. Test for them with [errors.Is]; the types below
// say more.
var (
	// ErrNoWorker: all workers of the pool are taken; a [NoWorkerError] says until when.
	ErrNoWorker = errors.New("no worker is free")
	// ErrHeld: the worker that was asked for is another lease's; a [HeldError] says whose.
	ErrHeld = errors.New("the worker is held")
	// ErrLeaseExpired: the lease was not renewed in time; an [ExpiredError] says why.
	ErrLeaseExpired = errors.New("the lease has expired")
	// ErrClockSkew: the clock disagrees with the store; a [SkewError] says how far.
	ErrClockSkew = errors.New("the clock is wrong")
	// ErrPoolMismatch: the pool is for other IDs; a [MismatchError] says in what.
	ErrPoolMismatch = errors.New("the pool is for other IDs")
	// ErrNoPool: the store has no such pool.
	ErrNoPool = errors.New("no such pool")
	// ErrPoolExists: the store has the pool already.
	ErrPoolExists = errors.New("the pool exists")
	// ErrMissing: a record that was made is gone. A worker without a record could be
	// anybody's, so nobody gets it before the pool was rescued, see [Rescue].
	ErrMissing = errors.New("a record is missing")
	// ErrDamaged: a record is none that this program has written, or another pool's. The
	// pool has to be rescued.
	ErrDamaged = driver.ErrDamaged
	// ErrRescuing: a rescue of the pool is under way, or was interrupted, see [Rescue].
	ErrRescuing = errors.New("the pool is being rescued")
	// ErrRescued: the pool was rescued, which has ended all leases that there were.
	ErrRescued = errors.New("the pool was rescued")
	// ErrRolledBack: the store has lost changes that it had acknowledged, as one has that was
	// restored from a backup, or a pool that was deleted and created again. The pool has to be
	// rescued.
	ErrRolledBack = errors.New("the store has gone back in time")
	// ErrVersion: a record was written by a version of this program that is not known.
	ErrVersion = driver.ErrVersion
	// ErrClosed: the lease was closed.
	ErrClosed = errors.New("the lease is closed")
	// ErrConfig: a setting is out of its range.
	ErrConfig = errors.New("invalid configuration")
)

// A NoWorkerError says that all workers of a pool were taken for as long as the caller
// waited. It is [ErrNoWorker] to errors.Is, and what ended the wait.
type NoWorkerError struct {
	Pool    string
	Workers int       // how many the pool has
	Soonest time.Time // when the first of them runs out, if its holder does not renew it
	Rescued bool      // nobody gets one before Soonest, since the pool was rescued
	Ahead   bool      // nobody has one: their times are used up to Soonest at least, which is ahead of the clock

	// Excluded says that generators of other pools of this machine, such as those of another
	// user, use the workers that nobody has in this pool. When they end is not known.
	Excluded bool
}

func (e *NoWorkerError) Error() string {
	if e.Rescued {
		return fmt.Sprintf("pool %s: %s: %s, and nobody gets one before %s: try again then", e.Pool, ErrNoWorker, ErrRescued, timeText(e.Soonest))
	}
	if e.Ahead {
		return fmt.Sprintf("pool %s: %s: nobody has one, but the times of all %d are used up to %s at least: the clock was ahead, or is behind: set it, or wait until then",
			e.Pool, ErrNoWorker, e.Workers, timeText(e.Soonest))
	}
	if e.Excluded {
		return fmt.Sprintf("pool %s: %s: processes with another pool on this machine, such as another user's, use those of the %d that are left: wait for one to end",
			e.Pool, ErrNoWorker, e.Workers)
	}
	return fmt.Sprintf("pool %s: %s: all %d are taken, the first until %s: wait for one, or stop a process that holds one",
		e.Pool, ErrNoWorker, e.Workers, timeText(e.Soonest))
}

func (e *NoWorkerError) Unwrap() error { return ErrNoWorker }

// A HeldError says who holds the worker that was asked for. It is [ErrHeld] to errors.Is.
type HeldError struct {
	Pool   string
	Worker int
	Holder string    // what the holder says of itself; empty if it has gone
	Until  time.Time // when its time runs out, if it does not renew it

	// Excluded says that the holder is of another pool on this machine, such as another user's.
	// Holder is empty then, and Until is zero.
	Excluded bool
}

func (e *HeldError) Error() string {
	if e.Excluded {
		return fmt.Sprintf("pool %s: worker %d: %s by a process with another pool on this machine, such as another user's: ask for another one, or for none",
			e.Pool, e.Worker, ErrHeld)
	}
	by := "by " + e.Holder + " until "
	if e.Holder == "" {
		by = "by nobody, but its times are used up to "
	}
	return fmt.Sprintf("pool %s: worker %d: %s %s%s: ask for another one, or for none", e.Pool, e.Worker, ErrHeld, by, timeText(e.Until))
}

func (e *HeldError) Unwrap() error { return ErrHeld }

// An ExpiredError is what a generator's callers get after the end of its lease. It is
// [ErrLeaseExpired] to errors.Is, and the error of the last try to renew it.
type ExpiredError struct {
	Pool   string
	Worker int
	Until  time.Time // where the lease ended
	Cause  error     // why it was not renewed
}

func (e *ExpiredError) Error() string {
	return fmt.Sprintf("pool %s: worker %d: %s at %s: %v", e.Pool, e.Worker, ErrLeaseExpired, timeText(e.Until), e.Cause)
}

func (e *ExpiredError) Unwrap() []error { return []error{ErrLeaseExpired, iderr.ErrFenced, e.Cause} }

// A SkewError says how far the clock is from what the store knows of the time. It is
// [ErrClockSkew] to errors.Is.
type SkewError struct {
	Pool      string
	Now       time.Time // the clock's
	Reference time.Time // where the times of most workers end if Now is before, else where the last ones do; or when the pool was created
	OfStore   bool      // Reference is the store's own time
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
	return fmt.Sprintf("pool %s: %s: it says %s, which is %s %s %s (%s): set the clock, or say that it is to be trusted if it is right",
		e.Pool, ErrClockSkew, timeText(e.Now), span(by), where, of, timeText(e.Reference))
}

func (e *SkewError) Unwrap() error { return ErrClockSkew }

// A MismatchError says in what a pool differs from the one that was asked for. It is
// [ErrPoolMismatch] to errors.Is.
type MismatchError struct {
	Pool  string
	Field string // "format", "epoch", "unit", "widths", "workers"
	Have  string // the pool's
	Want  string // the one asked for
}

func (e *MismatchError) Error() string {
	return fmt.Sprintf("pool %s: %s: its %s is %s, not %s: use the settings that it was created with; other IDs have a pool of their own", e.Pool, ErrPoolMismatch, e.Field, e.Have, e.Want)
}

func (e *MismatchError) Unwrap() error { return ErrPoolMismatch }

// waitError is what one waited for when the wait was ended, and what ended it.
type waitError struct{ err, end error }

func (e *waitError) Error() string { return e.err.Error() + " (" + e.end.Error() + ")" }

func (e *waitError) Unwrap() []error { return []error{e.err, e.end} }

func timeText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }

// span writes a long duration in days and years, which hours are no measure of.
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
