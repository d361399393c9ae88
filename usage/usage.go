// Package usage has the counters of a generator. The generators of all formats return the counters from
// their method Usage.
package usage

// Usage is what a generator has done since its constructor returned. No call that makes an ID takes
// longer for the counters: a generator counts when a tick ends.
//
// The counters never fall from one call of Usage to the next, except for Second. Rates are differences
// between two calls.
type Usage struct {
	// IDs is the number of IDs made. While no call is under way, the number is exact for all formats
	// but Ulid-Flake with random increments. During calls, the number may lack IDs of the present
	// calls of Next, Fill, TryFill and Seq. The number may be too large by one ID for each call that
	// ends without an ID during the call of Usage: because a random increment passed the largest value
	// of a millisecond, or because the lease ended. Such a number stays until the IDs have caught up.
	IDs uint64

	// Second is the share of the capacity that was used in the last full second of the clock, from 0
	// to 1. Ticks without an ID count as unused. The capacity of a tick is the number of IDs that the
	// format has for a tick. If ticks start at random numbers or rise by random increments, the
	// capacity is the mean of this number.
	Second float64

	// Worst is the largest share of any second so far, from 0 to 1, with the present second.
	Worst float64

	// Waits is the number of calls that had to wait: for the next tick, for a clock that is behind, or
	// for a lease.
	Waits uint64

	// Exhausted is the number of ticks in which a call found no ID left.
	Exhausted uint64

	// ClockSteps is the number of times that a call found the clock behind the last ID. Other steps of
	// the clock do not count.
	ClockSteps uint64
}
