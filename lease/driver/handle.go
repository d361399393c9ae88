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

// A Backend is what differs between stores. A [Handle] makes a store of it.
//
// The functions are safe for concurrent use. They are fields, not methods, so that the public type of a store
// has only the methods that programs call.
//
// An error that a function returns is one of these:
//
//   - ErrNotFound of Get, and ErrConflict of Put, as they are.
//   - An *[Error] with Err and Advice, where the backend knows both at the place. The handle adds the rest.
//   - Any other error. The handle asks Diagnose what the error means.
//   - One of these wrapped by [Latch], after which the handle refuses all calls.
type Backend struct {
	// Address says which store this is, without secrets.
	Address string

	// Timeout bounds each call whose context does not end earlier. 0 means no bound.
	Timeout time.Duration

	// Get does what [Store.Get] says. The key is valid. Get need not set the Key of the entry.
	Get func(ctx context.Context, key string) (Entry, error)

	// List does what [Store.List] says, but may return the entries in any order, and other entries besides.
	// The prefix begins at least one valid key. List sets the Err of an entry that cannot be read; the handle
	// returns the first such Err as the error of the call.
	List func(ctx context.Context, prefix string) ([]Entry, error)

	// Put does what [Store.Put] says. The key is valid, and the value is not too long. The caller may
	// change the value afterwards.
	Put func(ctx context.Context, key string, value []byte, rev Revision) (Revision, error)

	// Close releases what the backend holds. The handle calls Close once. Nil means that there is nothing to
	// release.
	Close func() error

	// Diagnose says what an error of the backend means: its kind, one of the errors of this package, and
	// what to do about the error, in words. A nil kind means the kind that the error already has, or else
	// ErrUnavailable. Diagnose is not called for ErrNotFound, ErrConflict and context.Canceled. A nil
	// Diagnose means that all errors are ErrUnavailable, without advice.
	Diagnose func(err error) (kind error, advice string)
}

// A Handle is the part that all stores share. The public type of a store embeds a *Handle, which implements
// [Store] for it, and adds the methods of the optional abilities that the store has.
//
// A Handle checks keys and values, bounds the time of each call, refuses calls after Close and after a [Latch],
// and sorts lists. Each of its errors is an *[Error] with the address of the store.
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
	var e Entry
	err := h.call(ctx, "get", key, CheckKey(key), func(ctx context.Context) (err error) {
		if e, err = h.backend.Get(ctx, key); err == nil {
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
	}
	return Entry{}, err
}

// List returns the entries whose keys begin with a prefix, in the order of keys, as [Store] says.
func (h *Handle) List(ctx context.Context, prefix string) ([]Entry, error) {
	var list []Entry
	err := h.call(ctx, "list", "", nil, func(ctx context.Context) error {
		if CheckPrefix(prefix) != nil {
			return nil
		}
		all, err := h.backend.List(ctx, prefix)
		for _, e := range all {
			if !strings.HasPrefix(e.Key, prefix) || CheckKey(e.Key) != nil {
				continue
			}
			if e.Err = cmp.Or(e.Err, checkEntry(e)); e.Err != nil {
				e.Value, e.Err = nil, h.explain(ctx, "list", e.Key, e.Err)
			}
			list = append(list, e)
		}
		slices.SortFunc(list, func(a, b Entry) int { return strings.Compare(a.Key, b.Key) })
		for _, e := range list {
			err = cmp.Or(err, e.Err)
		}
		return err
	})
	return list, err
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

// Close releases what the store holds. All calls fail from now on, and channels of Watch are closed. A second
// Close does nothing.
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

// Call runs a function as one more operation of a handle: a method of an optional ability, or the checks of a
// store that is being opened. Call bounds the time and refuses calls as Get does, and makes an *[Error] with the
// name of the operation from the function's error.
//
// Calls may be nested. The inner call then has an *Error of its own, which the outer one returns as it is.
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

// UntilClosed returns a context that ends when its parent ends or the handle is closed, for a Watch. The caller
// must call the function that UntilClosed returns.
func UntilClosed(ctx context.Context, h *Handle) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(h.life, cancel)
	return ctx, func() {
		stop()
		cancel()
	}
}

// Latch returns an error after which a handle refuses all calls with the same error. It is for a store that went
// backwards, or that cannot know any more what is durable. Latch returns nil if err is nil.
func Latch(err error) error {
	if err == nil {
		return nil
	}
	return &latchError{err}
}

type latchError struct{ error }

func (e *latchError) Unwrap() error { return e.error }

// OpenError returns the error for a store that cannot be opened, before the store has a handle.
func OpenError(address string, err error, advice string) error {
	return &Error{Store: address, Op: "open", Err: fmt.Errorf("%w: %w", ErrUnavailable, err), Advice: advice}
}

// call runs one operation. bad is what is wrong with its arguments.
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

// closedError is fs.ErrClosed, without its words about a file.
type closedError struct{}

func (closedError) Error() string        { return "the store is closed" }
func (closedError) Is(target error) bool { return target == fs.ErrClosed }

// admit returns an error if the backend need not be asked.
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

// explain returns the error of an operation for what the backend returned, or nil.
func (h *Handle) explain(ctx context.Context, op, key string, err error) error {
	if latch, ok := errors.AsType[*latchError](err); ok {
		why := h.diagnose(ctx, latch.error)
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

// complete returns an error with the store, the operation and the key, where the error does not have them yet.
func (h *Handle) complete(e Error, op, key string) error {
	e.Store = cmp.Or(e.Store, h.backend.Address)
	e.Op = cmp.Or(e.Op, op)
	e.Key = cmp.Or(e.Key, key)
	return &e
}

// kinds are the errors of this package that say what an error is.
var kinds = []error{ErrNotFound, ErrConflict, ErrDamaged, ErrVersion, ErrUnsafe, ErrUnavailable, ErrKey}

// diagnose returns what an error of the backend means: Err and Advice, and the rest where the error has it.
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
		found, advice := h.backend.Diagnose(err)
		kind, e.Advice = cmp.Or(found, kind), advice
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

// checkValue returns an error that is ErrKey unless a store takes the value.
func checkValue(value []byte) error {
	if len(value) > MaxValue {
		return fmt.Errorf("%w: the value has %d bytes, more than the %d that an entry can have", ErrKey, len(value), MaxValue)
	}
	return nil
}

// checkEntry returns an error that is ErrDamaged unless a store can have written the entry.
func checkEntry(e Entry) error {
	if len(e.Value) > MaxValue {
		return fmt.Errorf("%w: the value has %d bytes, more than an entry can have", ErrDamaged, len(e.Value))
	}
	return nil
}
