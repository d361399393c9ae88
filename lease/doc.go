// Package lease gives generators worker numbers that cannot collide: generator IDs, machine IDs,
// scalabilities, partitions.
//
// A [Pool] is the workers of one kind of generator, in a store. A [Lease] keeps a [Generator] in
// work: it takes a worker, allots times of it, a window ahead of the clock, and gives back what is
// left at the end. The rule that all rests on:
//
//	A compare-and-swap on a worker's record allocates an interval of timestamps, for ever.
//	A generator mints only inside of intervals that were acknowledged to it.
//
// So no owner has to be known to be dead, no clocks are compared, and nothing depends on a time to
// live: a process that is paused, cut off or wrong about the time can mint inside its own
// intervals only, which nobody else is ever given.
//
//	pools and their records      pool.go, record.go, survey.go
//	the life of a lease, and its settings    lease.go, state.go, config.go
//	the search for a worker, and its record    search.go, claim.go, grow.go
//	clocks that are wrong    skew.go
//	times ahead of the clock    ahead.go
//	stores that hang    timed.go
//	what a program sees of it    event.go, errors.go
//	after the store has lost something    rescue.go
//
// Package leased makes generators of all formats with a lease in one call; docs/leases.md has the
// protocol, its promises and what it does not cover.
package lease
