// Package grant is the contract between a generator and its lease. A generator names the pool of
// its workers. A lease gives the generator a worker and intervals of timestamps.
//
// A program that makes IDs does not need this package: lease.Start takes the generators of all
// formats. The author of another generator implements [Grantee], and returns the implementation
// from a method ForLease. The example of lease.Generator is a small generator.
package grant

import "time"

// A Layout describes the IDs that the workers of a pool make. Generators with different Layouts can
// make equal IDs with different workers, and must not share a pool.
type Layout struct {
	Format  string        // the name of the format
	Epoch   time.Time     // the time of timestamp 0
	Unit    time.Duration // the length of a tick: one step of the timestamp, in whole microseconds
	Widths  []int         // the widths of the fields in bits, from the highest field
	Workers int           // the number of workers, which are 0 to Workers-1
}

// A Spec names the pool of a generator's workers, and describes their IDs. A program can give the pool another name.
type Spec struct {
	Name   string // the name of the format, and each setting that is not the format's default
	Layout Layout

	// ExpiresAt is the first time without a timestamp. The zero time means that the generator does
	// not know. A pool does not depend on ExpiresAt.
	ExpiresAt time.Time
}

// A Grantee holds the methods of a generator for its lease. The methods must be safe for
// concurrent use with callers of the generator. A lease calls one method at a time.
//
// A grant is an interval, acknowledged by a call of Grant that returns nil. The generator may mint in
// the interval from then on, whatever becomes of the lease. The generator must mint nowhere else.
// Only Withdraw and Seal take grants back, and the generator decides how much.
type Grantee interface {
	// Pool returns the pool of the generator. Pool returns an error for a generator that was not
	// made for a lease, and for a generator that has ended.
	Pool() (Spec, error)

	// Now returns the time of the generator's clock.
	Now() time.Time

	// Grant gives the generator the interval [from, until): the generator may mint as the worker in
	// each whole tick of the interval. Earlier grants stay valid. Grant ignores the part of the interval
	// before the end of the latest grant. If the worker is not in 0 to Layout.Workers-1, Grant
	// returns an error.
	Grant(worker int, from, until time.Time) error

	// Withdraw drops the latest grant if the grant begins after a gap, and the generator has not
	// minted there yet. Withdraw returns the end of the remaining grants. The generator has minted
	// nothing from this end on.
	Withdraw() time.Time

	// Refuse sets the error that callers get outside of the grants, until the next call of Grant.
	// Without such an error, callers of a method that can wait do wait.
	Refuse(why error)

	// Delay says that no grant has come yet, and that a grant may come at any time: in a moment or in
	// hours. Callers of a method that can wait do wait, as long as their contexts allow. Other callers
	// get an error that wraps why, and so do waiting callers whose context ends. A lease calls Delay
	// only before the first grant. The next call of Delay, Grant, Refuse or Seal takes its place.
	Delay(why error)

	// Seal ends the generator for good. Callers get an error that wraps why. Seal returns a time
	// from which on the generator has minted nothing, and never will. Later calls change nothing
	// and return the same time.
	Seal(why error) time.Time
}
