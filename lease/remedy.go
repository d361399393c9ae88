package lease

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease/driver"
)

// A Remedy is what helps against an error. docs/runbook.md has the steps for each Kind.
type Remedy struct {
	Kind driver.Remedy // "" if no remedy is known, or the error says it all
	Pool string        // the pool of the error, or ""

	// Lost says that the record of the pool itself can't be read. A recovery then needs the pool's layout.
	Lost bool

	// Until is when the fault passes by itself at the earliest. It is zero if that isn't known.
	Until time.Time
}

// RemedyFor returns what helps against an error of this package or of a store. All steps of a remedy
// are safe beside running processes, unless the remedy says to stop them.
func RemedyFor(err error) Remedy {
	var (
		r        Remedy
		expired  *ExpiredError
		starting *StartingError
		none     *NoWorkerError
		held     *HeldError
		ahead    *AheadError
		skew     *SkewError
		mismatch *MismatchError
		lost     *LostError
		pool     *PoolError
		store    *driver.Error
	)
	switch {
	case errors.As(err, &expired): // first, since the cause may be any error below
		r = RemedyFor(expired.Cause)
		r.Pool = expired.Pool
	case errors.As(err, &starting):
		r = Remedy{Kind: driver.RemedyWait}
		if starting.Cause != nil {
			r = RemedyFor(starting.Cause)
		}
		r.Pool = starting.Pool
	case errors.As(err, &none):
		r = Remedy{Kind: driver.RemedyWorker, Pool: none.Pool, Until: none.Soonest}
		switch {
		case none.Recovered:
			r.Kind = driver.RemedyWait
		case none.Ahead:
			r.Kind = driver.RemedyClock
		}
	case errors.As(err, &held):
		r = Remedy{Kind: driver.RemedyWorker, Pool: held.Pool, Until: held.Until}
		if held.Holder == "" && !held.Excluded {
			r.Kind = driver.RemedyClock // ahead of it, or it is behind
		}
	case errors.As(err, &ahead):
		r = Remedy{Kind: driver.RemedyClock, Pool: ahead.Pool, Until: ahead.Until}
	case errors.As(err, &skew):
		r = Remedy{Kind: driver.RemedyClock, Pool: skew.Pool}
	case errors.As(err, &mismatch):
		r = Remedy{Kind: driver.RemedyPool, Pool: mismatch.Pool}
	case errors.As(err, &lost):
		r = Remedy{Kind: driver.RemedyWait, Pool: lost.Pool} // the lease takes a worker again by itself
	default:
		r.Kind = kindOf(err).remedy
		if errors.As(err, &store) {
			r.Pool, _, _ = strings.Cut(store.Key, "/")
			r.Kind = cmp.Or(store.Remedy, r.Kind)
			_, ofPool := poolOf(store.Key)
			r.Lost = ofPool && (errors.Is(err, ErrMissing) || errors.Is(err, ErrDamaged))
		}
		if errors.As(err, &pool) {
			r.Pool = pool.Pool
		}
	}
	return r
}

// A kind is a kind of error, and what helps against it.
type kind struct {
	err    error
	remedy driver.Remedy
}

// kinds are the kinds of errors without a type of their own. The first that matches counts.
var kinds = []kind{
	{ErrNoPool, driver.RemedyCreate},
	{ErrPoolExists, driver.RemedyPool},
	{ErrRecovered, driver.RemedyWait}, // the lease takes a worker again by itself
	{ErrRecovering, driver.RemedyRecover},
	{ErrMissing, driver.RemedyRecover},
	{ErrDamaged, driver.RemedyRecover},
	{ErrRolledBack, driver.RemedyRecover},
	{ErrVersion, driver.RemedyVersion},
	{ErrClockSkew, driver.RemedyClock},
	{iderr.ErrClockBackwards, driver.RemedyClock},
	{iderr.ErrExhausted, driver.RemedyWait},
	{driver.ErrAddress, driver.RemedyAddress},
	{driver.ErrCopied, driver.RemedyCopy},
	{driver.ErrUnsafe, driver.RemedyMove},
	{driver.ErrUnconfirmable, driver.RemedyMove},
	{driver.ErrRefused, driver.RemedyPermissions},
	{driver.ErrUnavailable, driver.RemedyConnect},
}

// errOther is the kind of any other error.
var errOther = errors.New("another error")

func kindOf(err error) kind {
	for _, k := range kinds {
		if errors.Is(err, k.err) {
			return k
		}
	}
	return kind{err: errOther}
}
