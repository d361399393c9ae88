// Package lease gives generators their worker numbers: generator IDs, machine IDs, scalabilities,
// partitions. The promise of a lease: no two generators of a pool ever make the same ID, whatever
// crashes, pauses, networks and clocks do. The promise holds as long as the store keeps every
// acknowledged change.
//
// A program opens a store, makes a generator with Leased set, and starts a lease. Errors are left
// out here; see the example of [Start].
//
//	store, err := filelease.Open("/var/lib/orders/ids") // or pglease.Open, etcdlease.Open, ...
//	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
//	held, err := lease.Start(ctx, store, gen, lease.Config{})
//	id, err := gen.Next(ctx)
//	err = held.Close()
//
// # Terms
//
// A worker is a number in IDs: generators with different workers never make equal IDs. A pool is
// the workers of one kind of generator, in a store: a directory or a database, shared by all
// processes. The store keeps a record for each used worker. The record has the time up to which the
// worker's timestamps are allocated. A lease holds a worker for one generator: the lease allocates
// intervals of timestamps up to a window ahead of the clock, grants the intervals to the generator,
// and gives back the unused rest at the end. To mint is to make IDs with the timestamps of these
// grants.
//
// # Why IDs are unique
//
// Everything rests on one rule:
//
//	A compare-and-swap on a worker's record allocates an interval of timestamps, for ever.
//	A generator mints only inside of intervals that were acknowledged to it.
//
// A lease that starts in the background cannot make an ID early either: before its first interval, the
// generator has no timestamp to mint with.
//
// A lease therefore sends no heartbeats, does not compare the clocks of processes, and decides
// nothing by a time-out. A paused process, a process cut off from the store, and a process with a
// wrong clock can mint only inside their own intervals. No other process ever gets these intervals.
//
// The protocol, the promises and the limits are in docs/leases.md. The files of the package:
//
//	stores by their addresses   open.go
//	pools and their records     pool.go, record.go, survey.go, probe.go
//	the life of a lease         lease.go, state.go, config.go
//	the start of a lease        start.go, background.go
//	the search for a worker     search.go, sample.go, grow.go, exclude.go
//	a worker's record           claim.go
//	who held a worker           holder.go
//	a strict order of answers   confirm.go
//	clocks that are wrong       skew.go, ahead.go
//	stores that hang            timed.go
//	what a program is told      event.go, errors.go, stats.go
//	stores with lost changes    recover.go
package lease
