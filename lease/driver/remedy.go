package driver

// A Remedy is the kind of help that an error or a [Finding] needs. docs/runbook.md has the steps for each.
// An error without one follows from its kind: see lease.RemedyFor.
type Remedy string

const (
	RemedyWait        Remedy = "wait"        // nothing: the fault passes by itself
	RemedyConnect     Remedy = "connect"     // start the server, or make it reachable from this host
	RemedyAddress     Remedy = "address"     // fix the address of the store
	RemedyPermissions Remedy = "permissions" // grant this user what leases need
	RemedySettings    Remedy = "settings"    // fix the server: its settings, its limits or its disk
	RemedyStore       Remedy = "store"       // name a store: none was given
	RemedyMove        Remedy = "move"        // use another place: this one can't keep leases
	RemedyCreate      Remedy = "create"      // create the pool if there never was one, recover it if it's lost
	RemedyRecover     Remedy = "recover"     // recover the pool, beside its running processes
	RemedyRestored    Remedy = "restored"    // stop all processes, and recover all pools before any of them starts again
	RemedyCopy        Remedy = "copy"        // use the original of this copy, or recover all pools of the copy if it's gone
	RemedyWorker      Remedy = "worker"      // stop a process that holds a worker, or use another worker
	RemedyPool        Remedy = "pool"        // name the pool of these IDs
	RemedyClock       Remedy = "clock"       // set the clock
	RemedyVersion     Remedy = "version"     // use the version of this program that wrote the entry
	RemedyRestart     Remedy = "restart"     // find the cause in the system's log; a lease goes on by itself
)

// Remedies returns all kinds of help, for documents.
func Remedies() []Remedy {
	return []Remedy{RemedyWait, RemedyConnect, RemedyAddress, RemedyPermissions, RemedySettings, RemedyStore, RemedyMove,
		RemedyCreate, RemedyRecover, RemedyRestored, RemedyCopy, RemedyWorker, RemedyPool, RemedyClock, RemedyVersion, RemedyRestart}
}
