// Package driver defines the stores of package lease, and does the common work of all stores.
//
// A store keeps small values under keys. Each entry has a revision. Put compares and swaps: Put
// changes an entry only if the entry still has the revision named by the caller. The safety of
// leases rests on nothing else: no owner, no time to live and no synchronized clock.
//
// # How to write a store
//
// A new store is a type that embeds a [Handle]. See the example of [New] for a complete store.
//
//  1. Choose how the database names a version of an entry. A [Revision] must never come back for
//     the same key, also after an entry is changed and changed back. A Revision should not come back
//     after a restore from a backup either.
//  2. Write a function that gets one entry, with a linearizable read: from the leader or by a
//     majority, never from a cache or a replica. Return [ErrNotFound] only if the database reports a
//     missing entry. A wrong table, or a proxy's 404, is another error.
//  3. Write a function that lists the entries whose keys begin with a prefix, in any order. For an
//     unreadable entry, put the reason into Err.
//  4. Write a function that puts a value by compare-and-swap in a single request of the database.
//     Return only when the change outlasts a crash of the server. Return [ErrConflict] if the entry
//     has another revision. Do not repeat a request that may have reached the server; switch off
//     retries in the client.
//  5. Write Diagnose, which turns each error of the database's client into a kind of error and a
//     [Remedy]. Keep secrets out of errors.
//  6. If the database counts its changes, note the count of each answer ([Progress]). Return an
//     error by [Latch] when the count goes backwards or when another database answers: a revision
//     there can belong to another change.
//  7. Write Open. Make a [Backend] of these functions and a Handle of the Backend by [New], and
//     check by [Do] that the database answers. Package lease/address reads addresses, and
//     [Register] makes them known to lease.OpenStore.
//  8. Add the optional abilities of the database as methods of your type, each by [Call] or [Do]:
//     [Clock], [Preparer], [Inspector], [Excluder], [Lister], [Local]; [Watcher], by [Watch]; [Batcher], by
//     [GetAll] and [CreateAll]; and [Confirmer], by [Confirm], but only if the database can.
//  9. Set the [Entry.Place] of entries, if the database can tell copies. Calls must fail that reach another
//     place than an earlier call of the store.
//  10. Run the suite of lease/drivertest on the store. Add tests of your own for crashes, after
//     which acknowledged changes must still be there, and for each fault of the server.
package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Revision names one version of an entry. Revisions are opaque. A store never uses a revision
// again for the same key: an entry that is changed and changed back has a new revision.
type Revision string

// None is the revision of an entry that does not exist.
const None Revision = ""

// An Entry is the value of a key at one revision.
type Entry struct {
	Key      string
	Value    []byte
	Revision Revision

	// Place says where the entry is, for operators and in at most [MaxPlace] bytes: it stays the same over changes of the
	// entry and restarts of the server, and differs in each copy of the entry that the store can tell. Empty if
	// the store tells no copies. A pool's record names its place, and a lease refuses it in another one.
	Place string

	// Err says why List could not read the entry. The entry then has no Value. The entry has a
	// Revision only if a Put at the Revision replaces the entry.
	Err error
}

// A Store keeps entries for many processes. It is safe for concurrent use.
//
// Methods should return when the context ends. A lease does not wait for a method that hangs, and
// makes no other request of the store until the method returns.
//
// Keys are names joined by '/'. A name has lower-case letters, digits, '.', '_', '@' and '-', does
// not begin with a '.', and has at most [MaxName] bytes. Values have at most [MaxValue] bytes.
type Store interface {
	// Get returns the entry of a key at some moment during the call (the read is linearizable), or
	// an error that is ErrNotFound. With ErrNotFound the entry has the Place that it would have, if the store
	// knows.
	//
	// With ErrDamaged, Get may return the entry's key and revision. A Put at the revision replaces
	// the damaged entry. Only a recovery of the pool does this.
	Get(ctx context.Context, key string) (Entry, error)

	// List returns the entries whose keys begin with the prefix, in the order of keys. Each entry
	// is as Get returns it. The entries need not be of one moment.
	//
	// List returns unreadable entries with an Err beside all others, and returns the first Err.
	// After any other error the list may be incomplete.
	List(ctx context.Context, prefix string) ([]Entry, error)

	// Put sets the value of a key if the entry has the revision rev, and returns the new revision.
	// If rev is None, Put creates the entry, provided there is no entry yet. The change is durable
	// when Put returns: no crash of a process or a machine undoes the change.
	//
	// ErrConflict says that the entry has another revision. A store that repeats requests may have
	// made the other revision by this very call. After any other error the change may have been
	// made, may be made later, or may never be made.
	Put(ctx context.Context, key string, value []byte, rev Revision) (Revision, error)

	// String returns the address of the store, without secrets.
	String() string

	// Close releases the resources of the store. It changes no entry.
	Close() error
}

const (
	MaxName  = 100  // the longest name in a key, in bytes
	MaxValue = 4096 // the longest value, in bytes
	MaxGet   = 100  // the most keys of a GetAll
	MaxPlace = 200  // the longest Place of an entry, in bytes
)

// A Clock is a Store with a clock, for example of a database server.
type Clock interface {
	// Now returns the store's time at some moment during the call.
	Now(ctx context.Context) (time.Time, error)
}

// A Preparer is a Store that needs preparation before the first pool, for example a database
// without the table. Of all calls of package lease, only lease.Create prepares a store, and lease.RecoverPool
// with RecoveryConfig.Create: elsewhere, a wrong address would go unnoticed.
type Preparer interface {
	// Prepare prepares the store. If the store is prepared already, Prepare does nothing.
	Prepare(ctx context.Context) error
}

// A Watcher is a Store that reports changes. Waiting leases then need not poll.
type Watcher interface {
	// Watch returns a channel that gets a value after an entry with the prefix was changed, and
	// after changes may have been missed. Many changes give one value if nobody receives meanwhile.
	// A value is only a hint to look: no value may come while the store is out of reach. The
	// channel is closed when ctx ends or the store is closed.
	Watch(ctx context.Context, prefix string) (<-chan struct{}, error)
}

// An Inspector is a Store that can check whether the settings of its server keep the promises of
// [Store.Put].
type Inspector interface {
	// Inspect returns what loses changes or refuses them, the worst first. It returns nothing if all is
	// well. With an error, it returns what it found before.
	Inspect(ctx context.Context) ([]Finding, error)
}

// A Confirmer is a Store that can prove what an entry is now. lease.Lease.Confirm needs the ability.
//
// A strictly ordered service confirms each answer. Other calls of leases need less. A server that
// was cut off, and replaced by another server, may return the past from Get: no Put can succeed
// there. A Store must not be a Confirmer if such a server answers without asking others. It must
// not be a Confirmer either if the database acknowledges a change before its possible successors
// have the change.
type Confirmer interface {
	// Confirm returns the entry of a key as Get does, at some moment after the call began. At that
	// moment no server had acknowledged a later change of the entry, reachable or not. If a cut-off
	// server cannot know, Confirm must fail: it never answers from a cache, a replica, or the
	// result of another call.
	Confirm(ctx context.Context, key string) (Entry, error)
}

// A Batcher is a Store that can read and create several entries in one request. In other stores, a lease makes a
// request for each entry.
type Batcher interface {
	// Batch returns how many entries CreateAll takes at most. A pool grows by so many records at a time.
	Batch() int

	// GetAll returns the entries of at most MaxGet keys, those that exist, as Get does, in the order of the keys.
	// Unreadable entries have an Err, and the first is the error, as in List.
	GetAll(ctx context.Context, keys []string) ([]Entry, error)

	// CreateAll creates the entries that don't exist, as Put does with None, and leaves the others as they are.
	// It returns the revisions of the new entries, and None for each entry that existed. After an error, any
	// of the entries may have been created, or may be created later.
	CreateAll(ctx context.Context, entries []Entry) ([]Revision, error)
}

// A Lister is a Store that can list keys without reading the entries, for tools.
type Lister interface {
	// Keys returns the keys that begin with the prefix, in order. The name of a folder and a slash
	// stand for the keys below a folder that cannot be read.
	Keys(ctx context.Context, prefix string) ([]string, error)
}

// A Finding is a fact about a store for its operators.
type Finding struct {
	// Loses says that the store can lose an acknowledged change. Duplicate IDs can follow.
	Loses bool
	// Blocks says that leases of this user cannot be taken or renewed, since the store refuses the changes.
	Blocks bool
	// Text states the fact and the consequence, as a sentence without a full stop.
	Text string
	// Advice says in words which setting to use instead. It may be empty.
	Advice string
	// Remedy is the kind of help that the fact needs beyond the Advice, such as [RemedyMove]. It may be empty.
	Remedy Remedy
}

// WorstFirst sorts findings: findings that say Loses come first, and then findings that say Blocks.
// Otherwise findings keep their order.
func WorstFirst(findings []Finding) []Finding {
	rank := func(f Finding) int {
		switch {
		case f.Loses:
			return 0
		case f.Blocks:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(findings, func(a, b Finding) int { return cmp.Compare(rank(a), rank(b)) })
	return findings
}

// A Reopener is a Store that can be opened again after it has refused all calls (see [Latch]). A lease goes on with
// the new Store only if the pool's records are not older than those that the lease knows.
type Reopener interface {
	// Reopen opens the store as the program has done, but makes nothing. The Store itself goes on to refuse calls.
	Reopen(ctx context.Context) (Store, error)
}

// An Excluder is a Store beside which the machine can have the same store again, for example a copy of a directory. It
// keeps the pools of both from using a worker at the same time.
type Excluder interface {
	// Exclude claims a resource for a group until release is called or the process ends. Members of
	// the group share the resource. The error is ErrConflict while another group has the resource, and
	// an *ExcludedError if the store knows of the process.
	Exclude(resource, group string) (release func(), err error)
}

// An ExcludedError reports that another group has a resource. The error is [ErrConflict] to errors.Is.
type ExcludedError struct {
	// Holder names the process that has the resource, or says how to find the process. It can take
	// as long as a look at all processes.
	Holder func() string
}

func (e *ExcludedError) Error() string {
	return "in use by another store on this machine: " + e.Holder()
}

func (e *ExcludedError) Is(err error) bool { return err == ErrConflict }

// Local is a Store that can report whether a lease may create a missing pool by itself. In a Store
// without the method, no lease does: in a store of many machines, a missing pool can mean a wrong
// address, and a new pool would hide the mistake.
type Local interface {
	// Local reports whether all processes with the store's pools run on this machine, and the
	// program does not demand existing pools.
	Local() bool
}

// The kinds of errors, for [errors.Is].
var (
	// ErrNotFound reports that the entry does not exist.
	ErrNotFound = errors.New("not found")
	// ErrConflict reports that the entry has another revision.
	ErrConflict = errors.New("changed meanwhile")
	// ErrDamaged reports an entry with invalid content.
	ErrDamaged = errors.New("damaged")
	// ErrVersion reports an entry of an unknown version of this program.
	ErrVersion = errors.New("written by another version")
	// ErrUnsafe reports a store or a place that cannot keep the promises of a Store.
	ErrUnsafe = errors.New("unsafe store")
	// ErrCopied reports a copy of a store, which gives out the same workers and timestamps as the original. Such an
	// error is ErrUnsafe, too.
	ErrCopied = errors.New("the store is a copy of another")
	// ErrUnavailable reports that the store does not answer or cannot be written.
	ErrUnavailable = errors.New("store unavailable")
	// ErrRefused is an ErrUnavailable that does not pass by itself: the user is not let in or has no
	// right, or there is no such directory, database, table, keys or bucket. A program that starts
	// should end, instead of waiting for the store.
	ErrRefused error = refusedError{}
	// ErrBusy is an ErrUnavailable of one entry, which another process writes, or was stopped while it wrote. Waiting
	// leases try again.
	ErrBusy error = busyError{}
	// ErrKey reports an invalid key or value.
	ErrKey = errors.New("invalid key or value")
	// ErrUnconfirmable reports a Store that is not a Confirmer.
	ErrUnconfirmable = errors.New("the store cannot confirm")
	// ErrAddress reports an invalid address of a store.
	ErrAddress = errors.New("invalid address of a store")
)

// refusedError is ErrRefused, with the words of ErrUnavailable.
type refusedError struct{}

func (refusedError) Error() string        { return ErrUnavailable.Error() }
func (refusedError) Is(target error) bool { return target == ErrUnavailable }

// busyError is ErrBusy, with the words of ErrUnavailable.
type busyError struct{}

func (busyError) Error() string        { return ErrUnavailable.Error() }
func (busyError) Is(target error) bool { return target == ErrUnavailable }

// An Error names the failed operation of a store, the reason, and the kind of help.
type Error struct {
	Store  string // the address of the store
	Op     string // the operation: "get", "list", "put", "open" or an optional ability
	Key    string // the key, or "" if the error is not about one key
	Err    error  // one of the kinds above, or an error that wraps one
	Remedy Remedy // what helps; "" if that follows from Err

	// Latched: the Store refuses all calls with this error from now on, see [Latch].
	Latched bool
}

func (e *Error) Error() string {
	s := e.Store + ": " + e.Op
	if e.Key != "" {
		s += " " + e.Key
	}
	return s + ": " + e.Err.Error()
}

func (e *Error) Unwrap() error { return e.Err }

// CheckKey returns an error, which is ErrKey, if the key is invalid.
func CheckKey(key string) error {
	for name := range strings.SplitSeq(key, "/") {
		switch {
		case name == "":
			return fmt.Errorf("%w: %.200q has an empty name", ErrKey, key)
		case len(name) > MaxName:
			return fmt.Errorf("%w: %.200q has a name of %d bytes", ErrKey, key, len(name))
		case name[0] == '.' || strings.ContainsFunc(name, foreign):
			return fmt.Errorf("%w: %.200q has a character, or a first character, that names do not have", ErrKey, key)
		}
	}
	return nil
}

// CheckName is CheckKey for a name, which has no slash.
func CheckName(name string) error {
	if strings.Contains(name, "/") {
		return fmt.Errorf("%w: %.200q has a slash, and is no name", ErrKey, name)
	}
	return CheckKey(name)
}

// CheckPrefix returns an error, which is ErrKey, if no valid key begins with the prefix.
func CheckPrefix(prefix string) error {
	if CheckKey(prefix) == nil { // a key begins with itself
		return nil
	}
	return CheckKey(prefix + "a")
}

func foreign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._@-", r)
}
