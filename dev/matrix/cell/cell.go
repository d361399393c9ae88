// Package cell runs one cell of the matrix: IDs of one Go type, stored in one way.
package cell

import (
	"cmp"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/firn-id/firn/iderr"
)

// An ID is what the matrix needs of a Go type.
type ID interface {
	comparable
	fmt.Stringer
	driver.Valuer
	IsZero() bool
}

// A Kind is a Go type, the columns for it, and IDs to store.
type Kind[T ID] struct {
	Type   string // the Go type, as programs name it
	Column Column
	IDs    []T // in order
	Absent T   // is not in IDs
	Show   func(T) string

	FromInt64 func(int64) (T, error) // nil if the IDs are no integers

	Zeros bool // the type writes the zero ID, by an API that others published
}

// A Column is the type of a column in each database.
type Column struct {
	Postgres, MariaDB, SQLite string
	Bytes                     int // the length, if the column holds bytes
}

// A Store keeps IDs in rows with numbers. Fields may be nil if the store has no such operation.
type Store[T ID] struct {
	Put   func(n int, id T) error
	Get   func(n int) (T, error)
	Find  func(id T) ([]int, error)   // the rows with the ID
	Order func() ([]T, error)         // all IDs, sorted by the store
	Range func(a, b T) ([]int, error) // the rows with IDs from a to b
	Shown func(n int) (string, error) // the stored value, as the store shows it
	Drop  func(id T) error            // deletes the rows with the ID

	// Zero says that the store keeps the zero ID: as null, or as zeros.
	Zero bool
}

// A State is the outcome of a cell.
type State string

// The outcomes. Only Other is a fault: without an error, the caller gets another ID, another row, or no
// row.
const (
	Works State = "works"
	Error State = "error"
	Other State = "silently other"
)

// An Outcome is a state, and the reason if the state is not Works. An outcome that works has a reason if
// the error of the zero ID does not name the fault.
type Outcome struct {
	State State
	Why   string
	Err   error `json:"-"`
}

func (o Outcome) String() string {
	if o.Why == "" {
		return string(o.State)
	}
	return string(o.State) + ": " + o.Why
}

// Join returns the worst outcome of several runs.
func Join(outcomes ...Outcome) Outcome {
	rank := func(o Outcome) int { return slices.Index([]State{Works, Error, Other}, o.State) }
	return slices.MaxFunc(outcomes, func(a, b Outcome) int { return cmp.Compare(rank(a), rank(b)) })
}

// Refused returns the outcome of an error.
func Refused(doing string, err error) Outcome {
	return Outcome{State: Error, Why: doing + ": " + err.Error(), Err: err}
}

// Silent returns the outcome of a fault.
func Silent(format string, args ...any) Outcome {
	return Outcome{State: Other, Why: fmt.Sprintf(format, args...)}
}

// A run is one run of a store.
type run[T ID] struct {
	Kind[T]
	Store[T]
	outcome Outcome
	stored  map[int]T
}

func (r *run[T]) note(o Outcome) { r.outcome = Join(r.outcome, o) }

// Run stores all IDs of the kind, reads the IDs back, searches for each ID, and does the same with the
// zero ID. The store must be empty.
func Run[T ID](k Kind[T], s Store[T]) Outcome {
	r := &run[T]{k, s, Outcome{State: Works}, map[int]T{}}
	for i, id := range k.IDs {
		n := (i*7+3)%len(k.IDs) + 1 // out of order
		if err := s.Put(n, id); err != nil {
			r.note(Refused("write", err))
			continue
		}
		r.stored[n] = id
	}
	for _, n := range r.rows(func(T) bool { return true }) {
		r.read(n)
	}
	if s.Find != nil {
		r.search()
	}
	r.sorted()
	if s.Drop != nil {
		r.drop()
	}
	r.zero()
	return r.outcome
}

// rows returns the rows of the stored IDs for which ok reports true, sorted by number.
func (r *run[T]) rows(ok func(T) bool) []int {
	var rows []int
	for n, id := range r.stored {
		if ok(id) {
			rows = append(rows, n)
		}
	}
	slices.Sort(rows)
	return rows
}

func (r *run[T]) read(n int) {
	id := r.stored[n]
	got, err := r.Get(n)
	switch {
	case err != nil:
		r.note(Refused("read", err))
	case got != id:
		r.note(Silent("%v is stored, and %v is read", id, got))
	}
	if r.Shown == nil || r.Show == nil {
		return
	}
	if text, err := r.Shown(n); err != nil {
		r.note(Refused("show", err))
	} else if text != r.Show(id) {
		r.note(Silent("%v is stored as %s, and not as %s", id, text, r.Show(id)))
	}
}

func (r *run[T]) search() {
	for n, id := range r.stored {
		got, err := r.Find(id)
		switch {
		case err != nil:
			r.note(Refused("search", err))
		case !slices.Equal(got, []int{n}):
			r.note(Silent("a search for %v in row %d finds rows %v", id, n, got))
		}
	}
	if got, err := r.Find(r.Absent); err != nil {
		r.note(Refused("search", err))
	} else if len(got) > 0 {
		r.note(Silent("a search for %v, which is not stored, finds rows %v", r.Absent, got))
	}
}

func (r *run[T]) sorted() {
	if len(r.stored) < len(r.IDs) {
		return
	}
	if r.Order != nil {
		if got, err := r.Order(); err != nil {
			r.note(Refused("sort", err))
		} else if !slices.Equal(got, r.IDs) {
			r.note(Silent("sorted IDs are %v", got))
		}
	}
	if r.Range != nil {
		within := r.IDs[2:7]
		got, err := r.Range(within[0], within[len(within)-1])
		slices.Sort(got)
		if err != nil {
			r.note(Refused("search for a range", err))
		} else if !slices.Equal(got, r.rows(func(id T) bool { return slices.Contains(within, id) })) {
			r.note(Silent("a search from %v to %v finds rows %v", within[0], within[len(within)-1], got))
		}
	}
}

// drop deletes some IDs: the deleted rows are gone, and the other rows are there.
func (r *run[T]) drop() {
	for i, n := range r.rows(func(T) bool { return true }) {
		if i%3 != 0 {
			continue
		}
		if err := r.Drop(r.stored[n]); err != nil {
			r.note(Refused("delete", err))
			continue
		}
		gone := r.stored[n]
		delete(r.stored, n)
		if got, err := r.Find(gone); err == nil && len(got) > 0 {
			r.note(Silent("%v is there after it was deleted", gone))
		}
	}
	if r.outcome.State == Works {
		r.search()
	}
}

// zero stores the zero ID. A store returns the typed error, or the type or the store keeps the zero ID
// apart from all IDs.
func (r *run[T]) zero() {
	var zero T
	const n = 1000
	err := r.Put(n, zero)
	switch {
	case err == nil && !r.Zero && !r.Zeros:
		r.note(Silent("the zero ID is stored"))
	case err == nil:
		got, err := r.Get(n)
		if err == nil && !got.IsZero() {
			r.note(Silent("the zero ID is stored, and %v is read", got))
		} else if err != nil {
			r.note(Refused("read of the zero ID", err))
		}
	case r.outcome.State == Works && !r.clear(err):
		r.outcome.Why = "write of the zero ID: " + err.Error()
	}
}

// clear reports whether an error of the zero ID names the fault: as a ParseError, or in the text of an error
// of the library.
func (r *run[T]) clear(err error) bool {
	var e *iderr.ParseError
	if errors.As(err, &e) {
		return true
	}
	format, _, _ := strings.Cut(r.Type, ".")
	return strings.Contains(err.Error(), format+": ") || strings.Contains(err.Error(), format+"-scalable: ")
}
