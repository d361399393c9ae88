// Package driver is what package lease asks of a store, and nothing else.
//
// A store keeps small values under keys, each with a revision, and changes one only
// by compare-and-swap. That is all that the safety of leases rests on: no owner, no
// time to live, no synchronised clock. A store passes the suite of
// lease/drivertest.
package driver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Revision names one version of an entry. It is opaque, and never used again for the
// same key: an entry that is changed and changed back has a new one.
type Revision string

// None is the revision of an entry that does not exist.
const None Revision = ""

// An Entry is a key's value at one revision.
type Entry struct {
	Key      string
	Value    []byte
	Revision Revision

	// Err, in what List returns, says why the entry could not be read. It then has no
	// Value, and a Revision only if a Put at that revision replaces the entry.
	Err error
}

// A Store keeps entries. It is safe for concurrent use by many processes.
//
// Methods should return when their context ends. A lease does not wait for one that does not; it makes no
// other request until that one has returned.
//
// Keys are names of lower-case letters, digits, '.', '_', '@' and '-' joined by '/',
// none of which begins with a '.' or is longer than [MaxName]; values have at most
// [MaxValue] bytes.
type Store interface {
	// Get returns the entry of a key as it was at some moment during the call (the
	// read is linearizable), or an error that is ErrNotFound.
	//
	// With an error that is ErrDamaged it may return the entry's revision: a Put at that
	// revision replaces what is damaged. A rescue of the pool does so, and nothing else.
	Get(ctx context.Context, key string) (Entry, error)

	// List returns the entries whose keys begin with the prefix, in the order of keys.
	// Each is as Get would return it; together they need not be of one moment.
	//
	// If entries cannot be read, List returns them with their Err beside all others, and
	// the Err of one of them. After any other error the list may be incomplete.
	List(ctx context.Context, prefix string) ([]Entry, error)

	// Put makes value the key's, if its revision still is rev, and returns the new
	// revision; with None it creates the entry, if there is none. It is durable when
	// Put returns: no crash of a process or a machine undoes it.
	//
	// An error that is ErrConflict says that the entry has another revision (which a
	// store may have made of this very call, if it repeats requests by itself). After
	// any other error the change may have been made, or not, or may still be.
	Put(ctx context.Context, key string, value []byte, rev Revision) (Revision, error)

	// String returns the store's address, without secrets.
	String() string

	// Close releases what the store holds. It changes no entry.
	Close() error
}

const (
	MaxName  = 100  // the longest name in a key, in bytes
	MaxValue = 4096 // the longest value, in bytes
)

// A Clock is a Store that has a time of its own, as a database server does.
type Clock interface {
	// Now returns the store's time, at some moment during the call.
	Now(ctx context.Context) (time.Time, error)
}

// A Preparer is a Store that has to be readied once, before its first pool, as a database
// that needs a table. Other calls never do so: at a wrong address it would go unnoticed.
type Preparer interface {
	// Prepare readies the store. Where that was done before it does nothing.
	Prepare(ctx context.Context) error
}

// A Watcher is a Store that tells of changes, so that nobody has to ask again and again.
type Watcher interface {
	// Watch returns a channel that gets a value after an entry whose key begins with the
	// prefix was changed, one for many changes if nobody receives meanwhile, and after
	// changes may have been missed. Its values are hints to look, no more: none may come
	// while the store is out of reach. It is closed when ctx ends or the store is closed.
	Watch(ctx context.Context, prefix string) (<-chan struct{}, error)
}

// Signal sends a value to a channel of Watch, unless a value is waiting there. The channel has room for one.
func Signal(changed chan<- struct{}) {
	select {
	case changed <- struct{}{}:
	default:
	}
}

// An Inspector is a Store that knows which settings of its server keep the promises of
// [Store.Put], and which do not.
type Inspector interface {
	// Inspect returns what is worth knowing, the worst first; nothing if all is well.
	Inspect(ctx context.Context) ([]Finding, error)
}

// A Finding is something about a store that its users should know.
type Finding struct {
	// Loses says that an acknowledged change can be lost, and so IDs be made twice.
	Loses bool
	// Text says what is so, and what can come of it. A sentence, without a full stop.
	Text string
	// Advice says what to do, in words; may be empty.
	Advice string
}

// WorstFirst sorts findings: those with which something can be lost come first, and all else stays in order.
func WorstFirst(findings []Finding) []Finding {
	slices.SortStableFunc(findings, func(a, b Finding) int {
		switch {
		case a.Loses == b.Loses:
			return 0
		case a.Loses:
			return -1
		}
		return 1
	})
	return findings
}

// An Excluder is a Store beside which the machine can have others, whose pools it does not
// see: each user's, say. It keeps the pools of two such stores from using a worker at the same time.
type Excluder interface {
	// Exclude claims a resource for a group until release is called or the process ends.
	// Members of the group share the resource; the error is ErrConflict while another group
	// has it.
	Exclude(resource, group string) (release func(), err error)
}

// Local is a Store that may be the store of this one machine. A lease creates a missing pool by itself
// only in a Store whose Local method returns true. In a store that machines share, a missing pool can mean
// that the address is wrong, and a new pool would hide the mistake.
type Local interface {
	// Local reports whether every process that uses the store's pools runs on this machine.
	Local() bool
}

// What a store's errors are, for [errors.Is].
var (
	// ErrNotFound: there is no such entry.
	ErrNotFound = errors.New("not found")
	// ErrConflict: the entry is at another revision.
	ErrConflict = errors.New("changed meanwhile")
	// ErrDamaged: an entry is not what any version of this store has written.
	ErrDamaged = errors.New("damaged")
	// ErrVersion: an entry was written by a version of this program that this one
	// does not know.
	ErrVersion = errors.New("written by another version")
	// ErrUnsafe: the store cannot keep its promises where it is.
	ErrUnsafe = errors.New("unsafe store")
	// ErrUnavailable: the store does not answer, or cannot be written.
	ErrUnavailable = errors.New("store unavailable")
	// ErrKey: a key or value is none that a store takes.
	ErrKey = errors.New("invalid key or value")
)

// An Error says what a store could not do, where, and what to do about it.
type Error struct {
	Store  string // its address
	Op     string // "get", "list", "put", "open"
	Key    string // "" if it is not about one
	Err    error  // one of the above, or an error that wraps one
	Advice string // what to do, in words; may be empty
}

func (e *Error) Error() string {
	s := e.Store + ": " + e.Op
	if e.Key != "" {
		s += " " + e.Key
	}
	s += ": " + e.Err.Error()
	if e.Advice != "" {
		s += ": " + e.Advice
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// CheckKey returns an error that is ErrKey unless a store takes the key.
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

// CheckPrefix returns an error that is ErrKey if no key begins with the prefix.
func CheckPrefix(prefix string) error {
	if CheckKey(prefix) == nil { // a key begins with itself
		return nil
	}
	return CheckKey(prefix + "a")
}

func foreign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < '0' || r > '9') && !strings.ContainsRune("._@-", r)
}
