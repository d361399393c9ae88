package drivertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/anishathalye/porcupine"

	"github.com/firn-id/firn/internal/testing/wait"
	"github.com/firn-id/firn/lease/driver"
)

// An Outcome counts the results of the calls of a history. A test with faults can see in an Outcome
// that faults occurred.
type Outcome struct {
	Found     int   // reads of an entry, by Get, Confirm or List, that found it
	Missing   int   // reads of an entry that found nothing
	Failed    int   // reads with another error
	Changed   int   // Puts without an error
	Conflicts int   // Puts with ErrConflict
	Unknown   int   // Puts with another error; each may have changed the entry or not
	Err       error // one of the errors counted under Failed and Unknown
}

const (
	historyKeys  = 3
	historyCalls = 60 // of each client
)

// History has two clients on each handle make random calls, and fails the test unless each entry
// was a register with compare-and-swap: the calls must have an order, in agreement with the times
// of the calls, in which each reply is right.
//
// Calls may fail, and the test may cause faults during the history. After the last call the store
// must answer again. A store takes one history of each seed: the keys depend on the seed.
func History(t testing.TB, handles []driver.Store, seed uint64) Outcome {
	t.Helper()
	r := &recorder{clients: 2 * len(handles), prefix: fmt.Sprintf("history-%d/", seed)}
	for i := range historyKeys {
		if e, err := r.get(t.Context(), r.clients, handles[0], r.key(i)); err == nil {
			t.Fatalf("%s is there before the history, with %s", e.Key, brief(e.Value))
		}
	}
	var all sync.WaitGroup
	for id := range r.clients {
		all.Go(func() {
			c := &client{r: r, id: id, store: handles[id%len(handles)], random: rand.New(rand.NewPCG(seed, uint64(id)))}
			c.run(t.Context())
		})
	}
	all.Wait()
	r.finish(t, handles[0])
	r.check(t)
	return r.outcome
}

// histories runs a few histories without faults, in which an error is a failure.
func histories(s *space) {
	hs := []driver.Store{s.open(), s.open(), s.open()}
	for seed := range uint64(3) {
		o := History(s.TB, hs, seed)
		s.Logf("%+v", o)
		if o.Failed > 0 || o.Unknown > 0 {
			s.Errorf("%d reads and %d Puts failed, one with: %v", o.Failed, o.Unknown, o.Err)
		}
		if o.Found == 0 || o.Missing == 0 || o.Changed == 0 || o.Conflicts == 0 {
			s.Errorf("the history shows nothing: %+v", o)
		}
	}
}

// A request and a reply are the input and the output of a call for Porcupine. A List counts as a
// Get of each key, and a Confirm as a Get.
type request struct {
	put   bool
	key   string
	value string
	rev   driver.Revision
}

type reply struct {
	result result
	value  string          // of a Get
	rev    driver.Revision // of a Get, or made by a Put
}

type result string

const (
	done     result = "done"
	notFound result = "not found"
	conflict result = "conflict"
	unknown  result = "unknown"
)

// A recorder collects the history. A counter stands for time: all times differ, and a call that
// returned before another call began has smaller times.
type recorder struct {
	clients int
	prefix  string // of the keys
	now     atomic.Int64

	mu      sync.Mutex
	calls   []porcupine.Operation
	outcome Outcome
}

func (r *recorder) key(i int) string { return fmt.Sprintf("%s%d", r.prefix, i) }

func (r *recorder) get(ctx context.Context, client int, store driver.Store, key string) (driver.Entry, error) {
	return r.look(client, key, func() (driver.Entry, error) { return store.Get(ctx, key) })
}

func (r *recorder) look(client int, key string, do func() (driver.Entry, error)) (driver.Entry, error) {
	call := r.now.Add(1)
	e, err := do()
	r.read(client, call, r.now.Add(1), key, e, err)
	return e, err
}

// read records the result of a Get for an entry, or the part of a List about the entry.
func (r *recorder) read(client int, call, ret int64, key string, e driver.Entry, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	reply := reply{result: done, value: string(e.Value), rev: e.Revision}
	switch {
	case err == nil:
		r.outcome.Found++
	case errors.Is(err, driver.ErrNotFound):
		r.outcome.Missing++
		reply.result = notFound
	default:
		r.outcome.Failed++
		r.outcome.Err = err
		return // the failed read says nothing about the entry
	}
	r.calls = append(r.calls, porcupine.Operation{ClientId: client, Call: call, Return: ret, Input: request{key: key}, Output: reply})
}

func (r *recorder) list(ctx context.Context, client int, store driver.Store) ([]driver.Entry, error) {
	call := r.now.Add(1)
	list, err := store.List(ctx, r.prefix)
	ret := r.now.Add(1)
	for i := range historyKeys {
		key := r.key(i)
		at := slices.IndexFunc(list, func(e driver.Entry) bool { return e.Key == key })
		switch {
		case err != nil:
			r.read(client, call, ret, key, driver.Entry{}, err)
		case at < 0:
			r.read(client, call, ret, key, driver.Entry{}, driver.ErrNotFound)
		default:
			r.read(client, call, ret, key, list[at], nil)
		}
	}
	return list, err
}

func (r *recorder) put(ctx context.Context, client int, store driver.Store, key, value string, rev driver.Revision) (driver.Revision, error) {
	call := r.now.Add(1)
	made, err := store.Put(ctx, key, []byte(value), rev)
	ret := r.now.Add(1)
	r.mu.Lock()
	defer r.mu.Unlock()
	reply := reply{result: done, rev: made}
	switch {
	case err == nil:
		r.outcome.Changed++
	case errors.Is(err, driver.ErrConflict):
		r.outcome.Conflicts++
		reply.result = conflict
	default:
		r.outcome.Unknown++
		r.outcome.Err = err
		reply.result = unknown
	}
	r.calls = append(r.calls, porcupine.Operation{ClientId: client, Call: call, Return: ret, Input: request{true, key, value, rev}, Output: reply})
	return made, err
}

type client struct {
	r      *recorder
	id     int
	store  driver.Store
	random *rand.Rand
	known  [historyKeys]driver.Revision   // what the client believes to be current; None before it knows
	seen   [historyKeys][]driver.Revision // all that it has ever seen
}

func (c *client) run(ctx context.Context) {
	for i := range historyCalls {
		if c.random.IntN(2) == 0 {
			runtime.Gosched() // clients take turns, even where calls are short
		}
		k := c.random.IntN(historyKeys)
		value := fmt.Sprintf("%d of client %d", i, c.id)
		switch p := c.random.IntN(100); {
		case p < 10:
			list, err := c.r.list(ctx, c.id, c.store)
			if err == nil {
				for k := range historyKeys {
					for _, e := range list {
						if e.Key == c.r.key(k) {
							c.learn(k, e.Revision)
						}
					}
				}
			}
		case p < 20:
			c.put(ctx, k, value, driver.None)
		case p < 30 && len(c.seen[k]) > 0:
			c.put(ctx, k, value, c.seen[k][c.random.IntN(len(c.seen[k]))])
		case p < 70 && c.known[k] != driver.None:
			c.put(ctx, k, value, c.known[k])
		default:
			get := c.store.Get
			if confirmer, ok := c.store.(driver.Confirmer); ok && i%2 == 0 {
				get = confirmer.Confirm
			}
			key := c.r.key(k)
			if e, err := c.r.look(c.id, key, func() (driver.Entry, error) { return get(ctx, key) }); err == nil {
				c.learn(k, e.Revision)
			}
		}
	}
}

func (c *client) learn(k int, rev driver.Revision) {
	c.known[k] = rev
	c.seen[k] = append(c.seen[k], rev)
}

func (c *client) put(ctx context.Context, k int, value string, rev driver.Revision) {
	made, err := c.r.put(ctx, c.id, c.store, c.r.key(k), value, rev)
	switch {
	case err == nil:
		c.learn(k, made)
	case errors.Is(err, driver.ErrConflict):
		c.known[k] = driver.None // read before the next one
	}
}

// finish reads each key once more, and settles the Puts whose outcome is unknown. The store may
// have made the change at any time after the call, so the call's time extends to the end.
//
// All values are distinct. If no read returned the value of such a Put, no client knew the revision
// to change the entry again. The Put then took effect after the last read, or never: finish leaves
// the Put out. Keeping the Put would give the same verdict, but many such Puts would keep Porcupine
// busy.
func (r *recorder) finish(t testing.TB, store driver.Store) {
	t.Helper()
	for i := range historyKeys {
		var err error
		if !wait.For(func() bool {
			_, err = r.get(t.Context(), r.clients, store, r.key(i))
			return err == nil || errors.Is(err, driver.ErrNotFound)
		}) {
			t.Fatalf("the store does not answer after the history: %v", err)
		}
	}
	read := make(map[string]bool)
	for _, op := range r.calls {
		if !op.Input.(request).put {
			read[op.Output.(reply).value] = true
		}
	}
	end := r.now.Add(1)
	kept := r.calls[:0]
	for _, op := range r.calls {
		if op.Output.(reply).result == unknown {
			if !read[op.Input.(request).value] {
				continue
			}
			op.Return = end
			op.ClientId = r.clients + 1 + len(kept) // for a row of its own in the picture
		}
		kept = append(kept, op)
	}
	r.calls = kept
}

func (r *recorder) check(t testing.TB) {
	t.Helper()
	for i := range historyKeys {
		key := r.key(i)
		var calls []porcupine.Operation
		for _, op := range r.calls {
			if op.Input.(request).key == key {
				calls = append(calls, op)
			}
		}
		checkRevisions(t, key, calls)
		// Such histories take milliseconds.
		result, info := porcupine.CheckOperationsVerbose(register, calls, wait.Patience)
		if result == porcupine.Ok {
			continue
		}
		picture := filepath.Join(t.ArtifactDir(), strings.ReplaceAll(key, "/", "-")+".html")
		if err := porcupine.VisualizePath(register, info, picture); err != nil {
			picture = err.Error()
		}
		if result == porcupine.Unknown {
			t.Errorf("%s: Porcupine did not come to an end; the picture is %s", key, picture)
			continue
		}
		t.Errorf("%s was not a register with compare-and-swap: no order of its %d calls explains all replies.\n"+
			"%s\nThe picture is %s, which go test -artifacts keeps.", key, len(calls), stuck(info, calls), picture)
	}
}

// checkRevisions looks for a revision that came with two values, or was made twice.
func checkRevisions(t testing.TB, key string, calls []porcupine.Operation) {
	t.Helper()
	value, made := make(map[driver.Revision]string), make(map[driver.Revision]bool)
	for _, op := range calls {
		in, out := op.Input.(request), op.Output.(reply)
		if out.result != done {
			continue
		}
		v := out.value
		if in.put {
			v = in.value
			if made[out.rev] {
				t.Errorf("%s: two Puts made revision %q", key, out.rev)
			}
			made[out.rev] = true
		}
		if was, ok := value[out.rev]; ok && was != v {
			t.Errorf("%s: revision %q is of %q and of %q", key, out.rev, was, v)
		}
		value[out.rev] = v
	}
}

// stuck describes Porcupine's longest order of calls, and the candidates for the next call. The
// reply of each candidate contradicts the entry.
func stuck(info porcupine.LinearizationInfo, calls []porcupine.Operation) string {
	var longest []porcupine.Operation
	for _, order := range info.PartialLinearizationsOperations()[0] {
		if len(order) > len(longest) {
			longest = order
		}
	}
	ordered := make(map[int64]bool) // by the time of the call
	state := register.Init()
	for _, op := range longest {
		ordered[op.Call] = true
		_, state = register.Step(state, op.Input, op.Output)
	}
	var rest []porcupine.Operation
	for _, op := range calls {
		if !ordered[op.Call] {
			rest = append(rest, op)
		}
	}
	first := slices.MinFunc(rest, func(a, b porcupine.Operation) int { return cmp.Compare(a.Return, b.Return) })
	var b strings.Builder
	fmt.Fprintf(&b, "%d of them can be ordered, after which the entry is %s. One of these has to be next, and none can be:",
		len(longest), register.DescribeState(state))
	for _, op := range rest {
		if op.Call <= first.Return {
			fmt.Fprintf(&b, "\n\tclient %d, from %d to %d: %s", op.ClientId, op.Call, op.Return, register.DescribeOperation(op.Input, op.Output))
		}
	}
	return b.String()
}

// An entry is the state of a register.
type entry struct {
	value string
	rev   driver.Revision // None if there is no entry
	// lost means that the Put of the entry returned an error. The revision is unknown until a Get
	// returns the revision, and no client can have used the revision before.
	lost bool
}

// register is the model of an entry.
var register = porcupine.Model{
	Init: func() any { return entry{} },
	Step: func(state, input, output any) (bool, any) {
		is, in, out := state.(entry), input.(request), output.(reply)
		absent := is == entry{}
		current := !is.lost && is.rev == in.rev // for a Put
		switch {
		case !in.put && out.result == notFound:
			return absent, is
		case !in.put:
			fits := !absent && out.rev != driver.None && out.value == is.value && (is.lost || out.rev == is.rev)
			return fits, entry{value: out.value, rev: out.rev}
		case out.result == done:
			return current, entry{value: in.value, rev: out.rev}
		case current:
			// Unknown: the Put takes effect now. A Put that never took effect has its place after
			// all other calls, and no call sees a difference. Conflict: the request was repeated,
			// and is in conflict with itself.
			return true, entry{value: in.value, lost: true}
		default:
			// Conflict; or unknown, and the Put was too late to change the entry.
			return true, is
		}
	},
	DescribeOperation: func(input, output any) string {
		in, out := input.(request), output.(reply)
		switch {
		case !in.put && out.result == done:
			return fmt.Sprintf("get: %q, revision %q", out.value, out.rev)
		case !in.put:
			return fmt.Sprintf("get: %s", out.result)
		case out.result == done:
			return fmt.Sprintf("put %q, revision %q: revision %q", in.value, in.rev, out.rev)
		default:
			return fmt.Sprintf("put %q, revision %q: %s", in.value, in.rev, out.result)
		}
	},
	DescribeState: func(state any) string {
		switch is := state.(entry); {
		case is == entry{}:
			return "missing"
		case is.lost:
			return fmt.Sprintf("%q, revision unknown", is.value)
		default:
			return fmt.Sprintf("%q, revision %q", is.value, is.rev)
		}
	},
}
