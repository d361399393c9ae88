// Package advice has the advice in errors of pools and stores where timestamps could be given out a
// second time. All advice is safe if followed to the letter, also beside running processes: only a
// rescue starts records from the beginning, and a rescue makes all leases wait until the intervals
// given out before are over. The command line replaces "(lease.Rescue…)" by the command to type.
package advice

const (
	// Damaged is for an entry that cannot be read.
	Damaged = "rescue the pool (lease.Rescue), which makes the entry again; do not repair, move or delete entries"

	// Lost is for a place without pools that may have had pools before.
	Lost = "if there were pools, they are lost: rescue each instead of creating it (lease.Rescue, with Layouts and Create)"

	// Forgotten is for a store that has lost changes.
	Forgotten = "stop all processes that use its pools, and rescue the pools before any of them is started again (lease.Rescue, with Layouts and Create if a pool is gone)"
)

// Move is for pools that must move. The parameter names the new place, as in "in another table".
func Move(to string) string {
	return "to go on " + to + ", stop all processes that use this one, and rescue its pools there before any of them is started again (lease.Rescue there, with Layouts and Create)"
}
