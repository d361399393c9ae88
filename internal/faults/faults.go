// Package faults makes stores fail: a [Store] loses, delays and repeats the calls of another store, and
// a [Clocked] has a clock. Tests and firn torture use the package, and
// lease/drivertest offers it to authors of stores.
package faults

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"

	"github.com/firn-id/firn/lease/driver"
)

// Chances holds the probability of each fault, from 0 to 1. A call has at most one of the first four
// faults: the sum of the four is at most 1. Delays come in addition.
type Chances struct {
	LoseRequest float64 // an error; the store never gets the call
	LoseReply   float64 // an error, after the store made the call
	Late        float64 // an error; the store gets the change before one of the next calls
	Repeat      float64 // the store gets a change twice: at once, with the second reply, or later
	Delay       float64 // of a request, and independently of a reply
}

// Counts holds the number of faults until now. A test can check that faults happened at all.
type Counts struct {
	LostRequests, LostReplies int
	Late, Repeats             int
	Landed                    int // late and repeated requests that changed an entry
	Delays                    int
}

// Store is the connection of one process to a store, with faults. All errors of a Store are
// [driver.ErrUnavailable], whichever fault happened.
//
// Used from one goroutine, a Store repeats its faults for the same calls and random numbers: a
// Store never reads a clock.
type Store struct {
	driver.Store

	// Wait lets a delay pass. If Wait is nil, the goroutine yields. An error of Wait ends the call,
	// before or after the store made the call. Set Wait before the first call.
	Wait func(ctx context.Context) error

	mu      sync.Mutex // guards what follows; not held while the store is called
	random  *rand.Rand
	chances Chances
	counts  Counts
	calls   int
	late    []request
}

// A request is a change on the way to the store.
type request struct {
	due    int // the call before which the request arrives
	change func() (landed bool)
}

// latest is the most calls by which a change is late.
const latest = 8

// A fate holds the faults of one call.
type fate struct {
	fault                    fault
	due                      int // of a late request
	delayRequest, delayReply bool
}

type fault int

const (
	none fault = iota
	loseRequest
	loseReply
	late
	repeat
	repeatLate
)

var errNoReply = errors.New("no reply")

// New returns a connection to a store. Nothing else may use random meanwhile.
func New(store driver.Store, random *rand.Rand, chances Chances) *Store {
	return &Store{Store: store, random: random, chances: chances}
}

// Get gets an entry, or meets a fault.
func (f *Store) Get(ctx context.Context, key string) (driver.Entry, error) {
	return ask(ctx, f, "get", key, nil, func() (driver.Entry, error) { return f.Store.Get(ctx, key) })
}

// Confirming returns the connection as a [driver.Confirmer], whose Confirm meets faults as Get does. If the
// store is no Confirmer, Confirming returns the connection as it is.
func (f *Store) Confirming() driver.Store {
	if _, ok := f.Store.(driver.Confirmer); !ok {
		return f
	}
	return confirming{f}
}

type confirming struct{ *Store }

func (c confirming) Confirm(ctx context.Context, key string) (driver.Entry, error) {
	return ask(ctx, c.Store, "confirm", key, nil, func() (driver.Entry, error) {
		return c.Store.Store.(driver.Confirmer).Confirm(ctx, key)
	})
}

// List lists entries, or meets a fault.
func (f *Store) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	return ask(ctx, f, "list", prefix, nil, func() ([]driver.Entry, error) { return f.Store.List(ctx, prefix) })
}

// Put changes an entry, or meets a fault.
func (f *Store) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	sent := bytes.Clone(value)
	// The call of a late request is over, and the context of the call with it.
	again := func() bool {
		_, err := f.Store.Put(context.Background(), key, sent, rev)
		return err == nil
	}
	return ask(ctx, f, "put", key, again, func() (driver.Revision, error) { return f.Store.Put(ctx, key, value, rev) })
}

// Batching returns the methods of a store that is a [driver.Batcher]. Their requests meet faults as Get and Put do.
func (f *Store) Batching() driver.Batcher { return batching{f, f.Store.(driver.Batcher)} }

type batching struct {
	faults *Store
	store  driver.Batcher
}

func (b batching) Batch() int { return b.store.Batch() }

func (b batching) GetAll(ctx context.Context, keys []string) ([]driver.Entry, error) {
	return ask(ctx, b.faults, "get", keys[0], nil, func() ([]driver.Entry, error) { return b.store.GetAll(ctx, keys) })
}

func (b batching) CreateAll(ctx context.Context, entries []driver.Entry) ([]driver.Revision, error) {
	sent := slices.Clone(entries)
	again := func() bool {
		revs, err := b.store.CreateAll(context.Background(), sent)
		return err == nil && slices.ContainsFunc(revs, func(rev driver.Revision) bool { return rev != driver.None })
	}
	return ask(ctx, b.faults, "put", entries[0].Key, again, func() ([]driver.Revision, error) { return b.store.CreateAll(ctx, entries) })
}

// Deliver delivers all late changes at once.
func (f *Store) Deliver() {
	f.mu.Lock()
	due := f.late
	f.late = nil
	f.mu.Unlock()
	f.deliver(due)
}

// Counts returns the number of faults until now.
func (f *Store) Counts() Counts {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.counts
}

// ask makes a call, as call does, and returns the result, or only the error.
func ask[T any](ctx context.Context, f *Store, op, key string, again func() bool, do func() (T, error)) (result T, err error) {
	err = f.call(ctx, op, key, again, func() error {
		result, err = do()
		return err
	})
	if err != nil {
		var none T
		return none, err
	}
	return result, nil
}

// call makes a call. If the call is a change, again makes the change once more, and reports whether it changed an entry.
func (f *Store) call(ctx context.Context, op, key string, again func() bool, do func() error) error {
	if ctx.Err() != nil {
		return do() // the store refuses the call, within the process
	}
	fail := func(err error) error {
		return &driver.Error{Store: f.String(), Op: op, Key: key, Err: fmt.Errorf("%w: %w", driver.ErrUnavailable, err)}
	}
	fate := f.begin(again != nil)
	if err := f.delay(ctx, fate.delayRequest); err != nil {
		return fail(err)
	}
	var err error
	switch fate.fault {
	case none:
		err = do()
	case loseRequest:
		err = fail(errNoReply)
	case loseReply:
		do()
		err = fail(errNoReply)
	case late:
		f.later(again, fate.due)
		err = fail(errNoReply)
	case repeat:
		do()
		err = do()
	case repeatLate:
		f.later(again, fate.due)
		err = do()
	}
	if err := f.delay(ctx, fate.delayReply); err != nil {
		return fail(err)
	}
	return err
}

// begin counts a call, delivers late changes, and draws the call's fate.
func (f *Store) begin(change bool) fate {
	f.mu.Lock()
	f.calls++
	var due []request
	f.late = slices.DeleteFunc(f.late, func(r request) bool {
		if r.due <= f.calls {
			due = append(due, r)
		}
		return r.due <= f.calls
	})
	// Each call takes the same number of random numbers, whatever the fate of the call.
	which, twice := f.random.Float64(), f.random.IntN(2)
	fate := fate{
		due:          f.calls + 1 + f.random.IntN(latest),
		delayRequest: f.random.Float64() < f.chances.Delay,
		delayReply:   f.random.Float64() < f.chances.Delay,
	}
	p := f.chances
	switch {
	case which < p.LoseRequest:
		fate.fault = loseRequest
		f.counts.LostRequests++
	case which < p.LoseRequest+p.LoseReply:
		fate.fault = loseReply
		f.counts.LostReplies++
	case !change:
	case which < p.LoseRequest+p.LoseReply+p.Late:
		fate.fault = late
		f.counts.Late++
	case which < p.LoseRequest+p.LoseReply+p.Late+p.Repeat:
		fate.fault = repeat
		if twice == 0 {
			fate.fault = repeatLate
		}
		f.counts.Repeats++
	}
	f.mu.Unlock()
	f.deliver(due)
	return fate
}

func (f *Store) later(change func() bool, due int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = append(f.late, request{due, change})
}

func (f *Store) deliver(due []request) {
	for _, r := range due {
		if r.change() {
			f.mu.Lock()
			f.counts.Landed++
			f.mu.Unlock()
		}
	}
}

func (f *Store) delay(ctx context.Context, delayed bool) error {
	if !delayed {
		return nil
	}
	f.mu.Lock()
	f.counts.Delays++
	f.mu.Unlock()
	if f.Wait == nil {
		runtime.Gosched()
		return nil
	}
	return f.Wait(ctx)
}
