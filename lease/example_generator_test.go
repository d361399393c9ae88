package lease_test

import (
	"context"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
)

// A Ticket is an ID of a program's own format.
type Ticket struct {
	Worker   int
	Tick     int64 // in Unix milliseconds
	Sequence uint16
}

// Tickets makes tickets in its grants, and nowhere else.
type Tickets struct {
	mu     sync.Mutex
	grants []interval // in the order of time, without overlaps
	last   Ticket
	why    error // what callers get outside of the grants
	sealed bool
}

// An interval is the ticks of a worker in [from, until).
type interval struct {
	worker      int
	from, until int64
}

// Take returns a new ticket, and never waits.
func (t *Tickets) Take() (Ticket, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	tick := max(time.Now().UnixMilli(), t.last.Tick)
	for _, g := range t.grants {
		switch {
		case tick < g.from || tick >= g.until:
			continue
		case tick > t.last.Tick:
			t.last = Ticket{Worker: g.worker, Tick: tick}
		case t.last.Sequence == 1<<16-1:
			return Ticket{}, iderr.ErrExhausted
		default:
			t.last.Sequence++
		}
		return t.last, nil
	}
	if t.why == nil {
		return Ticket{}, iderr.ErrFenced
	}
	return Ticket{}, t.why
}

// ForLease implements [lease.Generator].
func (t *Tickets) ForLease() grant.Grantee { return (*leased)(t) }

// leased has the methods that a lease calls, and keeps them out of the method list of Tickets.
type leased Tickets

const workers = 256

func (t *leased) Pool() (grant.Spec, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.sealed {
		return grant.Spec{}, t.why
	}
	return grant.Spec{Name: "ticket", Layout: grant.Layout{Format: "ticket", Epoch: time.UnixMilli(0).UTC(),
		Unit: time.Millisecond, Widths: []int{40, 8, 16}, Workers: workers}}, nil
}

func (t *leased) Now() time.Time { return time.Now() }

func (t *leased) Grant(worker int, from, until time.Time) error {
	if worker < 0 || worker >= workers {
		return fmt.Errorf("worker %d is not in 0 to %d", worker, workers-1)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	g := interval{worker, from.Add(time.Millisecond - 1).UnixMilli(), until.UnixMilli()} // whole ticks
	g.from = max(g.from, t.end())
	if t.sealed || g.from >= g.until {
		return nil
	}
	if n := len(t.grants); n > 0 && g.from == t.end() && worker == t.grants[n-1].worker {
		t.grants[n-1].until = g.until
	} else {
		t.grants = append(t.grants, g)
	}
	t.why = nil
	return nil
}

func (t *leased) Withdraw() time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.grants); n > 0 && t.grants[n-1].from > t.last.Tick {
		t.grants = t.grants[:n-1]
	}
	return time.UnixMilli(max(t.end(), t.last.Tick+1))
}

func (t *leased) Refuse(why error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sealed {
		t.why = why
	}
}

// Delay is Refuse: Take does not wait.
func (t *leased) Delay(why error) { t.Refuse(why) }

func (t *leased) Seal(why error) time.Time {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.sealed {
		t.sealed, t.why, t.grants = true, why, nil
	}
	return time.UnixMilli(t.last.Tick + 1)
}

// end returns the end of the last grant.
func (t *leased) end() int64 {
	if n := len(t.grants); n > 0 {
		return t.grants[n-1].until
	}
	return 0
}

// A generator of a program's own takes leases as the formats do: the method ForLease returns seven
// methods that the lease calls. In this generator they share a mutex with Take.
func ExampleGenerator() {
	ctx := context.Background()
	store := memlease.New()
	defer store.Close()
	tickets := new(Tickets)
	held, err := lease.Start(ctx, store, tickets, lease.Config{Worker: lease.Number(7)})
	if err != nil {
		log.Fatal(err)
	}
	a, err := tickets.Take()
	if err != nil {
		log.Fatal(err)
	}
	b, err := tickets.Take()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(a.Worker, b.Worker, a == b)

	held.Close()
	_, err = tickets.Take()
	fmt.Println(err)
	_, err = lease.Start(ctx, store, tickets, lease.Config{}) // takes a new generator
	fmt.Println(err)
	// Output:
	// 7 7 false
	// pool ticket: the lease is closed
	// pool ticket: the lease is closed
}
