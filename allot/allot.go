// Package allot is what a lease and a generator know of each other: which pool the generator's
// worker is of, and the calls by which the lease gives the generator a worker and intervals.
//
// A program that makes IDs does not need this package: lease.Start takes the generators of all
// formats as they are. The author of another generator implements [Generator], and returns the
// implementation from a method ForLease.
package allot

import "time"

// A Layout says which IDs the workers of a pool make. Generators that differ in one of its fields
// make IDs that their workers do not tell apart, so such generators must not share a pool.
type Layout struct {
	Format  string        // the name of the format
	Epoch   time.Time     // the time of timestamp 0
	Unit    time.Duration // of the timestamp: whole microseconds
	Widths  []int         // the bits of the fields, from the highest
	Workers int           // the number of workers: 0 to Workers-1
}

// A Pool is the pool that a generator takes its worker from, unless the program names another pool.
type Pool struct {
	Name   string // the name of the format, and what is not the format's default
	Layout Layout
}

// A Generator is a generator as its lease sees it. Its methods are safe for concurrent use, beside
// callers who ask the generator for IDs. A lease calls them one at a time.
//
// Grants are never taken back without the consent of the generator: after Allot returns nil, the
// generator may mint in the interval, whatever becomes of the lease. The generator must mint
// nowhere else.
type Generator interface {
	// Pool returns the pool of the generator. It returns an error if the generator was not made
	// to be leased: if it has a worker of its own, for instance.
	Pool() (Pool, error)

	// Now returns the time of the clock that the generator reads.
	Now() time.Time

	// Allot lets the generator mint as the worker in the whole ticks of [from, until). Intervals
	// that were allotted before stay valid; the part of the interval that lies before their end is
	// ignored. Allot returns an error if the worker is not in 0 to Layout.Workers-1.
	Allot(worker int, from, until time.Time) error

	// Withdraw takes back the interval that begins after a gap and that the generator has not
	// entered, and returns the end of the intervals that remain. The generator has minted nothing
	// from there on.
	Withdraw() time.Time

	// Refuse sets the error that callers get outside of the allotted intervals, until the next
	// call of Allot. Without such an error callers who can wait do.
	Refuse(why error)

	// Seal ends the generator for good: callers get an error that wraps why. Seal returns the
	// first time from which on the generator has minted nothing. Further calls change nothing and
	// return the same time.
	Seal(why error) time.Time
}
