// Package lease gives generators worker numbers without collisions: generator IDs, machine IDs,
// scalabilities, partitions.
//
// A [Pool] is the workers of one kind of generator, in a store. A [Lease] keeps a [Generator]
// working: the lease takes a worker, allots intervals of the worker's timestamps a window ahead of
// the clock, and gives back the unused rest at the end. Everything rests on one rule:
//
//	A compare-and-swap on a worker's record allocates an interval of timestamps, for ever.
//	A generator mints only inside of intervals that were acknowledged to it.
//
// So leases watch no process for life, compare no clocks of processes, and decide nothing by a
// time-out. A paused process, a process cut off from the store, and a process with a wrong clock
// can mint only inside their own intervals. No other process is ever given these intervals.
//
//	pools and their records     pool.go, record.go, survey.go
//	the life of a lease         lease.go, state.go, config.go
//	the search for a worker     search.go, grow.go, exclude.go
//	a worker's record           claim.go
//	clocks that are wrong       skew.go, ahead.go
//	stores that hang            timed.go
//	what a program is told      event.go, errors.go
//	stores with lost changes    rescue.go
//
// Package leased makes generators of all formats with a lease in one call. The protocol, the
// promises and the limits are in docs/leases.md.
package lease
