// Package usage has the counters of a generator. The generators of all formats return them from their
// method Usage.
package usage

// Usage is what a generator has done since it was made. Making an ID costs nothing more for it: a
// generator counts where its tick changes.
//
// All counters only grow, from one call of Usage to the next. Use the differences between two calls
// for rates.
type Usage struct {
	// IDs is the number of IDs made. The number is exact while no call is under way, for all formats
	// but Ulid-Flake with random increments. During calls, IDs may lack what a call has just made. A
	// random increment that passes the largest value of a millisecond, and a call that the end of a lease
	// interrupts, may count as an ID: at most one for each caller at that moment.
	IDs uint64

	// Second is the share of the capacity that the last full second of the clock has used, from 0 to
	// 1. Ticks without an ID count as unused. The capacity of a tick is that of the format, or its mean
	// where the sequence of a tick starts at a random number or rises by random increments.
	Second float64

	// Worst is the largest share of any second, from 0 to 1. The present second counts with what it
	// has used so far.
	Worst float64

	// Waits is how many calls had to wait: for the next tick, for a clock that is behind, or for the
	// lease.
	Waits uint64

	// Exhausted is how many ticks had no ID left for a call.
	Exhausted uint64

	// ClockSteps is how often the clock was found behind the last ID. A step of the clock that no call
	// notices does not count.
	ClockSteps uint64
}
