package torture

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/allot"
	"github.com/firn-id/firn/lease/driver"
)

// Defects are designs that are known to be bad, which a run has to find out. Each is
// switched on by an environment variable that is 1.
const (
	// Unfenced: generators go on after the end of their times, until the lease says more:
	// ownership is what one was last told.
	Unfenced = "FIRN_TORTURE_UNFENCED"
	// BlindPut: records are written without a look at what was there.
	BlindPut = "FIRN_TORTURE_BLIND_PUT"
	// LostWrites: the store acknowledges writes that it does not do, some in a row, as a server
	// that has not copied them yet when it fails.
	LostWrites = "FIRN_TORTURE_LOST_WRITES"
	// GiveAll: a lease that ends gives back the last of the times that it has minted in too.
	GiveAll = "FIRN_TORTURE_GIVE_ALL"
	// KeepAhead: a generator keeps times that are ahead of its clock, although it has not minted in them. No ID is
	// made twice of that, and a run finds it out only if it happens late: it is none of Defects.
	KeepAhead = "FIRN_TORTURE_KEEP_AHEAD"
)

// Defects returns those that any run finds out.
func Defects() []string { return []string{Unfenced, BlindPut, LostWrites, GiveAll} }

func has(defect string) bool { return os.Getenv(defect) == "1" }

// spoil returns the store with the defects that were asked for.
func spoil(s driver.Store) driver.Store {
	if has(BlindPut) || has(LostWrites) {
		return &badStore{Store: s}
	}
	return s
}

type badStore struct {
	driver.Store
	lost atomic.Int64 // how many of the next writes are not done
}

func (s *badStore) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if has(LostWrites) && rev != driver.None {
		if rand.IntN(8) == 0 {
			s.lost.Store(8) // so many renewals are more than two windows
		}
		if s.lost.Add(-1) >= 0 {
			return rev, nil
		}
	}
	next, err := s.Store.Put(ctx, key, value, rev)
	for has(BlindPut) && rev != driver.None && errors.Is(err, driver.ErrConflict) {
		var e driver.Entry
		if e, err = s.Get(ctx, key); err == nil {
			next, err = s.Store.Put(ctx, key, value, e.Revision)
		}
	}
	return next, err
}

// fenced returns where the times end that a generator is told of.
func fenced(until time.Time) time.Time {
	if has(Unfenced) {
		return until.Add(24 * time.Hour)
	}
	return until
}

// unminted returns what a lease is told of where the unminted times begin.
func unminted(from time.Time) time.Time {
	if has(GiveAll) {
		return from.Add(-50 * time.Millisecond)
	}
	return from
}

// kept returns what a lease is told of where the times end that were not withdrawn.
func kept(g allot.Generator) time.Time {
	if has(KeepAhead) {
		return time.Unix(1<<35, 0)
	}
	return g.Withdraw()
}
