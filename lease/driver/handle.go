package driver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"time"
)

// A Backend is the part of a store that differs from other stores. A [Handle] turns a Backend into
// a [Store].
//
// The functions must be safe for concurrent use. They are fields, not methods: the public type of a
// store then has only methods for programs.
//
// A function returns one of these errors:
//
//   - ErrNotFound from Get, and ErrConflict from Put, unchanged.
//   - An *[Error] with Err and Remedy, where the backend knows both. The handle adds the other
//     fields.
//   - Any other error. The handle calls Diagnose to find out the kind of the error and the remedy.
//   - An error made by [Latch]. The handle then refuses all further calls.
type Backend struct {
	// Address says which store this is, without secrets.
	Address string

	// Timeout bounds each call, unless the context ends earlier. 0 means no bound.
	Timeout time.Duration

	// Get is the backend's [Store.Get]. The key is valid. Get need not set the Key of the entry.
	Get func(ctx context.Context, key string) (Entry, error)

	// List is the backend's [Store.List], but may return the entries in any order, and may return
	// entries with other prefixes. At least one valid key begins with the prefix. List sets the Err
	// of an entry that List cannot read; the handle returns the first Err as the error of the call.
	List func(ctx context.Context, prefix string) ([]Entry, error)

	// Put is the backend's [Store.Put]. The key is valid, and the value has at most MaxValue bytes.
	// Put must not keep the value: the caller may change the value after Put returns.
	Put func(ctx context.Context, key string, value []byte, rev Revision) (Revision, error)

	// Close releases the resources of the backend. The handle calls Close at most once. Nil means
	// nothing to release.
	Close func() error

	// Diagnose returns what helps against an error of the backend, and the kind of the error: one of
	// the errors of this package. An empty Remedy means that it follows from the kind. An error that wraps a kind keeps its kind. For other errors a
	// nil kind means ErrUnavailable. The handle does not call Diagnose for ErrNotFound, ErrConflict
	// and context.Canceled. A nil Diagnose means that all errors are
	// ErrUnavailable.
	Diagnose func(err error) (Remedy, error)
}

// A Handle is the part that all stores share. The public type of a store embeds a *Handle, which
// implements [Store], and adds a method for each optional ability of the store.
//
// A Handle checks keys and values, bounds the time of each call, refuses calls after Close and
// after a [Latch], and sorts lists. Each error of a Handle is an *[Error] with the address of the
// store, except an error of Close.
type Handle struct {
	backend Backend
	latched atomic.Pointer[Error]
	closed  atomic.Bool
	life    context.Context // ends with Close
	end     context.CancelFunc
}

var _ Store = (*Handle)(nil)

// New returns a handle on a backend.
func New(b Backend) *Handle {
	h := &Handle{backend: b}
	h.life, h.end = context.WithCancel(context.Background())
	return h
}

// Get returns the entry of a key, as [Store] says.
func (h *Handle) Get(ctx context.Context, key string) (Entry, error) {
	return h.get(ctx, "get", key, h.backend.Get)
}

// Confirm is the method of a [Confirmer] with a handle: it calls look, which returns what [Backend.Get]
// returns, as Get calls the backend.
func Confirm(ctx context.Context, h *Handle, key string, look func(ctx context.Context, key string) (Entry, error)) (Entry, error) {
	return h.get(ctx, "confirm", key, look)
}

// get reads an entry by a function of the backend.
func (h *Handle) get(ctx context.Context, op, key string, read func(context.Context, string) (Entry, error)) (Entry, error) {
	var e Entry
	err := h.call(ctx, op, key, CheckKey(key), func(ctx context.Context) (err error) {
		if e, err = read(ctx, key); err == nil {
			err = checkEntry(e)
		}
		return err
	})
	switch {
	case err == nil:
		e.Key = key
		return e, nil
	case errors.Is(err, ErrDamaged):
		return Entry{Key: key, Revision: e.Revision}, err
	case errors.Is(err, ErrNotFound):
		return Entry{Place: e.Place}, err
	}
	return Entry{}, err
}

// List returns the entries whose keys begin with a prefix, in the order of keys, as [Store] says.
func (h *Handle) List(ctx context.Context, prefix string) ([]Entry, error) {
	var list []Entry
	err := h.call(ctx, "list", "", nil, func(ctx context.Context) (err error) {
		if CheckPrefix(prefix) != nil {
			return nil
		}
		list, err = h.backend.List(ctx, prefix)
		list = slices.DeleteFunc(list, func(e Entry) bool { return !strings.HasPrefix(e.Key, prefix) || CheckKey(e.Key) != nil })
		return h.check(ctx, "list", list, err)
	})
	return list, err
}

// GetAll is the method of a [Batcher] with a handle. Read returns what [Backend.List] returns, for the keys.
func GetAll(ctx context.Context, h *Handle, keys []string, read func(ctx context.Context, keys []string) ([]Entry, error)) ([]Entry, error) {
	var list []Entry
	var wrong error
	for _, key := range keys {
		wrong = cmp.Or(wrong, CheckKey(key))
	}
	err := h.call(ctx, "get", "", wrong, func(ctx context.Context) (err error) {
		list, err = read(ctx, keys)
		return h.check(ctx, "get", list, err)
	})
	return list, err
}

// check checks and sorts the entries of an answer, and returns the first error.
func (h *Handle) check(ctx context.Context, op string, list []Entry, err error) error {
	for i, e := range list {
		if e.Err = cmp.Or(e.Err, checkEntry(e)); e.Err != nil {
			list[i].Value, list[i].Err = nil, h.explain(ctx, op, e.Key, e.Err)
		}
	}
	slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
	for _, e := range list {
		err = cmp.Or(err, e.Err)
	}
	return err
}

// CreateAll is the method of a [Batcher] with a handle. The keys are valid, and the values have at most
// MaxValue bytes.
func CreateAll(ctx context.Context, h *Handle, entries []Entry, create func(ctx context.Context, entries []Entry) ([]Revision, error)) ([]Revision, error) {
	var made []Revision
	var wrong error
	for _, e := range entries {
		wrong = cmp.Or(wrong, CheckKey(e.Key), checkValue(e.Value))
	}
	err := h.call(ctx, "put", "", wrong, func(ctx context.Context) (err error) {
		made, err = create(ctx, entries)
		return err
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// Put changes or creates an entry, as [Store] says.
func (h *Handle) Put(ctx context.Context, key string, value []byte, rev Revision) (Revision, error) {
	made := None
	err := h.call(ctx, "put", key, cmp.Or(CheckKey(key), checkValue(value)), func(ctx context.Context) (err error) {
		made, err = h.backend.Put(ctx, key, value, rev)
		return err
	})
	if err != nil {
		return None, err
	}
	return made, nil
}

// String returns the address of the store, without secrets.
func (h *Handle) String() string { return h.backend.Address }

// Close releases the resources of the store. All calls fail from now on, and channels of Watch are
// closed. A second Close does nothing.
func (h *Handle) Close() error {
	if h.closed.Swap(true) {
		return nil
	}
	h.end()
	if h.backend.Close == nil {
		return nil
	}
	return h.backend.Close()
}

// Call runs a function as an operation of a handle: a method of an optional ability, or the checks
// of Open. It bounds the time and refuses calls as Get does. From the function's error, Call makes
// an *[Error] with the name of the operation.
//
// Calls may be nested. The outer call returns the *Error of the inner call.
func Call[T any](ctx context.Context, h *Handle, op string, do func(context.Context) (T, error)) (T, error) {
	var value T
	err := Do(ctx, h, op, func(ctx context.Context) (err error) {
		value, err = do(ctx)
		return err
	})
	return value, err
}

// Do is [Call] for a function that returns only an error.
func Do(ctx context.Context, h *Handle, op string, do func(context.Context) error) error {
	return h.call(ctx, op, "", nil, do)
}

// UntilClosed returns a context that ends when ctx ends or the handle is closed. The caller must call
// the CancelFunc.
func UntilClosed(ctx context.Context, h *Handle) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// Latch marks an error as final: a handle that gets the error refuses all further calls, with the
// same error. A backend latches when the store went backwards, or when the store no longer knows
// which changes are durable. A lease opens the store again if it is a [Reopener]. Latch returns nil if err is nil.
func Latch(err error) error {
	if err == nil {
		return nil
	}
	return &latchError{err}
}

type latchError struct{ error }

func (e *latchError) Unwrap() error { return e.error }

// OpenError returns the error of Open where there is no handle yet, for example because the address
// is wrong.
func OpenError(address string, err error, remedy Remedy) error {
	return &Error{Store: address, Op: "open", Err: fmt.Errorf("%w: %w", ErrUnavailable, err), Remedy: remedy}
}

// call runs one operation. bad is the error of the operation's arguments, or nil.
func (h *Handle) call(ctx context.Context, op, key string, bad error, do func(context.Context) error) error {
	if err := h.admit(ctx, op, key, bad); err != nil {
		return err
	}
	if h.backend.Timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, h.backend.Timeout)
		defer cancel()
	}
	return h.explain(ctx, op, key, do(ctx))
}

// errClosed is the error of a closed handle.
var errClosed = fmt.Errorf("%w: %w", ErrUnavailable, closedError{})

// closedError is fs.ErrClosed, without the words about a file.
type closedError struct{}

func (closedError) Error() string        { return "the store is closed" }
func (closedError) Is(target error) bool { return target == fs.ErrClosed }

// admit returns an error if the handle must refuse an operation.
func (h *Handle) admit(ctx context.Context, op, key string, bad error) error {
	var why Error
	switch {
	case h.closed.Load():
		why.Err = errClosed
	case h.latched.Load() != nil:
		why = *h.latched.Load()
	case ctx.Err() != nil:
		why.Err = fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	case bad != nil:
		why.Err = bad
	default:
		return nil
	}
	if CheckKey(key) != nil {
		key = "" // the error quotes it
	}
	return h.complete(why, op, key)
}

// explain returns the error of an operation for the error that the backend returned, or nil.
func (h *Handle) explain(ctx context.Context, op, key string, err error) error {
	if latch, ok := errors.AsType[*latchError](err); ok {
		why := h.diagnose(ctx, latch.error)
		why.Latched = true
		h.latched.CompareAndSwap(nil, &why)
	}
	switch why := h.latched.Load(); {
	case why != nil: // by this operation or, meanwhile, by another
		return h.complete(*why, op, key)
	case err == nil:
		return nil
	case h.closed.Load():
		return h.complete(Error{Err: errClosed}, op, key)
	}
	if e, ok := err.(*Error); ok && e.Store != "" && cmp.Or(e.Key, key) == e.Key {
		return e // of a nested call, or of an entry
	}
	return h.complete(h.diagnose(ctx, err), op, key)
}

// complete returns an error with the store, the operation and the key, unless the error already
// names them.
func (h *Handle) complete(e Error, op, key string) error {
	e.Store = cmp.Or(e.Store, h.backend.Address)
	e.Op = cmp.Or(e.Op, op)
	e.Key = cmp.Or(e.Key, key)
	return &e
}

// kinds are all kinds of errors of this package.
var kinds = []error{ErrNotFound, ErrConflict, ErrDamaged, ErrVersion, ErrUnsafe, ErrUnavailable, ErrKey}

// diagnose returns the meaning of an error of the backend: Err and Remedy. If the error is an
// *Error, diagnose returns a copy of the *Error.
func (h *Handle) diagnose(ctx context.Context, err error) Error {
	if e, ok := err.(*Error); ok {
		return *e
	}
	is := func(target error) bool { return errors.Is(err, target) }
	if is(ErrNotFound) || is(ErrConflict) {
		return Error{Err: err}
	}
	var e Error
	kind := ErrUnavailable
	if h.backend.Diagnose != nil && !is(context.Canceled) {
		remedy, found := h.backend.Diagnose(err)
		kind, e.Remedy = cmp.Or(found, kind), remedy
	}
	if slices.ContainsFunc(kinds, is) {
		e.Err = err
		return e
	}
	var timed interface{ Timeout() bool }
	if end := ctx.Err(); end != nil && !is(end) {
		err = fmt.Errorf("%w: %w", end, err)
	} else if errors.As(err, &timed) && timed.Timeout() && !is(context.DeadlineExceeded) {
		// A connection can see the deadline of the call pass before its context does.
		err = fmt.Errorf("%w: %w", context.DeadlineExceeded, err)
	}
	if is(context.DeadlineExceeded) {
		err = fmt.Errorf("no answer in time: %w", err)
	}
	e.Err = fmt.Errorf("%w: %w", kind, err)
	return e
}

// checkValue returns an error that is ErrKey if the value is too long.
func checkValue(value []byte) error {
	if len(value) > MaxValue {
		return fmt.Errorf("%w: the value has %d bytes, more than the %d that an entry can have", ErrKey, len(value), MaxValue)
	}
	return nil
}

// checkEntry returns an error that is ErrDamaged if no store can have written the entry.
func checkEntry(e Entry) error {
	if len(e.Value) > MaxValue {
		return fmt.Errorf("%w: the value has %d bytes, more than an entry can have", ErrDamaged, len(e.Value))
	}
	return nil
}
