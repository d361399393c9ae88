// Package advice has what the errors of pools and stores advise where times that were given out could
// be given out again. All of it is safe to do to the letter, beside processes that go on: nothing is
// begun anew but by a rescue, which keeps everybody waiting until what was given out is over. The
// command line says what to type in the place of "(lease.Rescue…)".
package advice

const (
	// Damaged is for an entry that cannot be read.
	Damaged = "rescue the pool (lease.Rescue), which makes the entry anew; do not repair, move or delete entries"

	// Lost is for a place in which there is nothing of leases, though there may have been.
	Lost = "if there were pools, they are lost: rescue each instead of creating it (lease.Rescue, with its layout)"

	// Forgotten is for a store that has lost changes.
	Forgotten = "stop all processes that use its pools, and rescue the pools before any of them is started again (lease.Rescue, with its layout if a pool is gone)"
)

// Move is for pools that cannot stay where they are. It says where to, as in "in another table".
func Move(to string) string {
	return "to go on " + to + ", stop all processes that use this one, and rescue its pools there before any of them is started again (lease.Rescue there, with their layouts)"
}
