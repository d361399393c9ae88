package torture

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/pause"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// orders go to the standard input of a process as JSON. The first ones have all fields, later ones the
// last three. The process answers with the Step once its clock is set.
type orders struct {
	Place      place
	Format     string
	Process    int
	Window     time.Duration
	Rate       float64 // IDs a second
	Messages   bool    // lose, delay and repeat calls of the store
	Idle       bool    // make an ID only now and then
	Background bool    // start in the background: the store may be away

	Offset int64 // of the clock, in microseconds
	Step   int   // number of the last step of the clock
	Last   bool  // show that the process makes IDs, and end
}

// A child is a process of a run. A child makes IDs until the run ends the child.
type child struct {
	orders  // the first
	format  *format
	open    func(context.Context) (driver.Store, error)
	faulty  *faults.Store // nil unless messages get lost
	journal journal
	ids     *os.File
	away    bool // the process has noted that its store is away

	offset  atomic.Int64
	logged  atomic.Int64
	last    atomic.Bool // show that the process makes IDs, and end
	closing atomic.Bool // the last lease is closed

	confirms chan struct{} // one for each ID that is being confirmed
	unable   atomic.Bool   // the store cannot confirm

	made   []byte // IDs, in their binary form
	latest id     // the latest ID
	top    int64  // the greatest time of an ID, in Unix microseconds
}

// Child runs a process of a run; Config.Command starts it. Child returns when the run asks for the
// end, and when the library refuses to make IDs for long. open is Config.Open.
func Child(stdin io.Reader, stdout io.Writer, open Opener) error {
	ctx, stop := signal.NotifyContext(context.Background(), terminated...)
	defer stop()
	in := json.NewDecoder(stdin)
	var o orders
	if err := in.Decode(&o); err != nil {
		return fmt.Errorf("no orders: %w", err)
	}
	os.Args[0] = program(o.Process)
	c, err := newChild(o, func(ctx context.Context) (driver.Store, error) { return o.Place.open(ctx, open, true) })
	if err != nil {
		return err
	}
	go c.listen(in, stdout)
	return c.run(ctx)
}

func newChild(o orders, open func(context.Context) (driver.Store, error)) (c *child, err error) {
	c = &child{orders: o, confirms: make(chan struct{}, 3)}
	c.open = func(ctx context.Context) (driver.Store, error) {
		store, err := open(ctx)
		if err != nil || !o.Messages {
			return store, err
		}
		return c.lossy(store), nil
	}
	c.offset.Store(o.Offset)
	if c.format, err = lookup(o.Format); err != nil {
		return nil, err
	}
	if c.ids, err = create(idsPath(o.Place.Dir, o.Process)); err != nil {
		return nil, err
	}
	c.journal.file, err = create(journalPath(o.Place.Dir, o.Process))
	return c, err
}

// lossy returns a store whose messages get lost, come late or come twice.
func (c *child) lossy(store driver.Store) driver.Store {
	c.faulty = faults.New(store, rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64())), // another fate for each try
		faults.Chances{LoseRequest: 0.03, LoseReply: 0.06, Late: 0.04, Repeat: 0.08, Delay: 0.1})
	c.faulty.Wait = func(ctx context.Context) error {
		return pause.For(ctx, rand.N(c.Window/4))
	}
	lossy, batcher := c.faulty.Confirming(), few{c.faulty.Batching()} // all stores of the command are Batchers
	clock, timed := store.(driver.Clock)
	confirmer, able := lossy.(driver.Confirmer)
	switch {
	case timed && able:
		return struct {
			driver.Store
			driver.Batcher
			driver.Clock
			driver.Confirmer
		}{lossy, batcher, clock, confirmer}
	case timed:
		return struct {
			driver.Store
			driver.Batcher
			driver.Clock
		}{lossy, batcher, clock}
	}
	return struct {
		driver.Store
		driver.Batcher
		driver.Confirmer
	}{lossy, batcher, confirmer}
}

// few has a pool grow often, and by few records: a worker that was used is then soon another process's.
type few struct{ driver.Batcher }

func (few) Batch() int { return 8 }

// listen reads orders, whatever else the process does.
func (c *child) listen(in *json.Decoder, out io.Writer) {
	for {
		var o orders
		if err := in.Decode(&o); err != nil {
			os.Exit(1) // the run has ended
		}
		if o.Last {
			c.last.Store(true)
			continue
		}
		c.note(entry{Event: stepped, Offset: o.Offset})
		c.offset.Store(o.Offset)
		fmt.Fprintln(out, o.Step)
	}
}

// note writes an entry. Without its journal the process ends at once: IDs that are not logged must not be made.
func (c *child) note(e entry) {
	e.IDs = c.logged.Load()
	if err := c.journal.write(e); err != nil {
		c.die(err)
	}
}

func (c *child) die(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// clock is the clock of the process. It has no monotonic reading, like a real clock that was set.
func (c *child) clock() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.offset.Load()) * time.Microsecond)
}

// A noting generator notes when it is sealed: the process may be killed before it can note that the
// worker was returned.
type noting struct {
	shape.Generator
	c *child
}

func (g noting) ForLease() grant.Grantee { return notingLease{g.Generator.ForLease(), g.c} }

type notingLease struct {
	grant.Grantee
	c *child
}

func (g notingLease) Seal(why error) time.Time {
	from := g.Grantee.Seal(why)
	g.c.note(entry{Event: sealed, Until: from.UnixMicro(), Last: g.c.closing.Load()})
	return from
}

// notify notes the events of the lease. Each grant is noted before the first ID of the grant.
func (c *child) notify(e lease.Event) {
	n := entry{Event: e.Kind.String(), Worker: e.Worker, Until: e.Until.UnixMicro()}
	if !e.From.IsZero() {
		n.From = e.From.UnixMicro()
	}
	if e.Err != nil {
		n.Error = e.Err.Error()
	}
	if e.Worker < 0 && errors.Is(e.Err, driver.ErrUnavailable) && !c.away {
		c.away = true
		c.note(entry{Event: away})
	}
	if c.faulty != nil {
		counts := c.faulty.Counts()
		n.Messages = &counts
	}
	c.note(n)
}

// start makes a generator with a lease, and waits as long as the run goes on. If the run ends first, the lease is nil.
func (c *child) start(ctx context.Context) (shape.Generator, *lease.Lease) {
	config := lease.Config{Pool: c.Place.Pool, Window: c.Window, Wait: c.Window, Timeout: timeout(c.Window),
		Background: c.Background, Notify: c.notify}
	for ctx.Err() == nil && !c.last.Load() {
		g, err := c.format.New(shape.Recipe{Leased: true, Clock: c.clock})
		if err == nil {
			var l *lease.Lease
			if l, err = lease.OpenAndStart(ctx, c.open, noting{g, c}, config); err == nil {
				return g, l
			}
		}
		c.notify(lease.Event{Kind: lease.Failing, Worker: -1, Err: err})
		pause.For(ctx, 20*time.Millisecond+rand.N(30*time.Millisecond))
	}
	return nil, nil
}

// timeout returns how long a request of a lease may take.
func timeout(window time.Duration) time.Duration { return max(window*3/10, 200*time.Millisecond) }

// run makes IDs until ctx ends, the run wants no more, or the library refuses for long.
func (c *child) run(ctx context.Context) error {
	g, l := c.start(ctx)
	if l == nil {
		return nil // the run ended the process before it had a worker
	}
	closed := make(chan struct{})
	before := time.Now()
	var quiet, stuck time.Duration // between the IDs of an idle process; for how long the library has refused
	var due float64                // IDs
	for {
		if last := c.last.Load(); !c.closing.Load() && (last || ctx.Err() != nil || stuck > 3*c.Window) {
			if last {
				c.note(c.prove(g))
			} else if ctx.Err() == nil {
				c.note(entry{Event: gaveUp})
			}
			c.closing.Store(true)
			go func() { // meanwhile the process makes IDs
				l.Close() // after an error the worker comes free by itself
				close(closed)
			}()
		}
		spent := time.Since(before)
		if c.Idle && !c.closing.Load() && spent < quiet {
			time.Sleep(5 * time.Millisecond)
			continue
		}
		before = before.Add(spent)
		quiet = c.Window + rand.N(8*c.Window)
		const most = 1 << 15 // after a time without IDs
		due = min(due+c.Rate*spent.Seconds(), most)
		err := c.mint(g, int(due))
		due = max(due-float64(len(c.made)/c.format.Size), 0)
		switch {
		case errors.Is(err, lease.ErrClosed):
			<-closed
			for range cap(c.confirms) {
				c.confirms <- struct{}{} // none is under way any more
			}
			return nil
		case err == nil:
			stuck = 0
			c.confirmSome(ctx, l)
		case !errors.Is(err, iderr.ErrExhausted) && !errors.Is(err, lease.ErrStarting):
			stuck += min(spent, 20*time.Millisecond) // a stop of the process does not count
		}
		time.Sleep(time.Millisecond + rand.N(6*time.Millisecond))
	}
}

// mint makes and logs the IDs that are due, and at least one. The error is that there was none.
func (c *child) mint(g shape.Generator, due int) (err error) {
	if c.made = c.made[:0]; c.Idle || due < 1 || rand.IntN(8) == 0 {
		c.made, err = g.TryAppendBinary(c.made, 1)
	} else {
		filling, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		c.made, err = g.AppendBinary(filling, c.made, due)
		cancel()
	}
	if len(c.made) == 0 {
		return err
	}
	c.log()
	return nil
}

// log logs the IDs in made. Logged IDs count as used.
func (c *child) log() {
	if _, err := c.ids.Write(c.made); err != nil {
		c.die(err)
	}
	c.logged.Add(int64(len(c.made) / c.format.Size))
	copy(c.latest[:], c.made[len(c.made)-c.format.Size:])
	_, at := c.format.read(c.latest)
	c.top = max(c.top, at)
}

// patience is how long a process may take for what needs the processor or the disk, whatever the window: to renew a
// lease, to start, or to end. A busy machine, or one that was stopped itself, must not reach it.
const patience = 2 * time.Minute

// prove makes an ID, and returns whether it could. The faults are over, clocks are right, and there was time
// to recover; a busy machine may still need a little more, and much more if the lease is late.
//
// Two errors are excused: the generator has made IDs ahead of its clock, and waits for the clock;
// or the pool has no free worker.
func (c *child) prove(g shape.Generator) entry {
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		err := c.mint(g, 0)
		if err == nil {
			return entry{Event: alive}
		}
		noWorker := errors.Is(err, lease.ErrNoWorker)
		limit := max(2*c.Window, 2*time.Second)
		if !noWorker && (errors.Is(err, lease.ErrLeaseExpired) || errors.Is(err, lease.ErrStarting) || errors.Is(err, iderr.ErrFenced)) {
			limit += patience
		}
		if time.Since(began) < limit {
			continue
		}
		if noWorker || errors.Is(err, iderr.ErrClockBackwards) && c.top > c.clock().UnixMicro() {
			return entry{Event: excused, Error: err.Error()}
		}
		return entry{Event: dead, Error: err.Error()}
	}
}
