package torture

import (
	"bufio"
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

	"github.com/firn-id/firn/allot"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// orders are what a process is told on its standard input, a line each. The first has
// all of them.
type orders struct {
	Place    *place        `json:"place,omitempty"`
	Format   string        `json:"format,omitempty"`
	Process  int           `json:"process,omitempty"`
	Window   time.Duration `json:"window,omitempty"`
	Messages bool          `json:"messages,omitempty"`
	Idle     bool          `json:"idle,omitempty"` // it makes an ID now and then only

	Rate   float64 `json:"rate"`            // IDs a second
	Offset int64   `json:"offset"`          // of the clock, in microseconds
	Step   int     `json:"step"`            // the number of the last step of the clock
	Prove  bool    `json:"prove,omitempty"` // it is to show that it makes IDs
}

// news is what a process tells on its standard output, a line each.
type news struct {
	Step int  `json:"step"` // the step that it is about
	Seen bool `json:"seen"` // it has made a difference

	Proved bool `json:"proved,omitempty"` // its journal says whether it makes IDs
}

// A child is one process of a run, which makes IDs until it is ended.
type child struct {
	format  *format
	window  time.Duration
	pool    *lease.Pool
	faulty  *memlease.Faulty // nil unless messages get lost
	told    memlease.Counts  // of it, that were noted; for notify
	journal journal
	ids     *os.File
	news    io.Writer

	rate    atomic.Pointer[float64]
	offset  atomic.Int64
	step    atomic.Pointer[step] // one whose effect has not been seen; nil if there is none
	logged  atomic.Int64
	prove   atomic.Bool // it is to show that it makes IDs
	closing atomic.Bool // its lease is closed, and it will have no other
	idle    bool

	top   int64         // the time of the latest ID, in Unix microseconds
	stuck time.Duration // for how long the library has refused
	free  float64       // how many IDs are due
	buf   []byte
	made  []id
}

// A step is one of the clock.
type step struct {
	number        int
	before, after int64        // offsets
	refused       atomic.Bool  // and that was said
	unclear       atomic.Int32 // IDs that could be from before it
}

// Child is a process of a run, which Config.Command starts. It returns when it is asked to
// end, and when the library refuses to make IDs for long. open is the run's Config.Open.
func Child(stdin io.Reader, stdout io.Writer, open Opener) error {
	ctx, stop := signal.NotifyContext(context.Background(), terminated...)
	defer stop()
	r := bufio.NewReader(stdin)
	line, err := r.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("no orders: %w", err)
	}
	var o orders
	if err := json.Unmarshal(line, &o); err != nil {
		return err
	}
	f, err := lookup(o.Format)
	if err != nil {
		return err
	}
	c := &child{format: f, window: o.Window, news: stdout, idle: o.Idle}
	c.rate.Store(&o.Rate)
	c.offset.Store(o.Offset)
	const flags = os.O_WRONLY | os.O_CREATE | os.O_EXCL | os.O_APPEND
	if c.ids, err = os.OpenFile(idsPath(o.Place.Dir, o.Process), flags, 0o600); err != nil {
		return err
	}
	if c.journal.file, err = os.OpenFile(journalPath(o.Place.Dir, o.Process), flags, 0o600); err != nil {
		return err
	}
	go c.listen(r)
	store, err := persist(ctx, func() (driver.Store, error) { return o.Place.open(ctx, open) })
	if store == nil {
		return err
	}
	defer store.Close()
	store = spoil(store)
	if o.Messages {
		store = c.lossy(store, o.Process)
	}
	c.pool, err = persist(ctx, func() (*lease.Pool, error) { return lease.Open(ctx, store, o.Place.Pool, f.layout) })
	if c.pool == nil {
		return err
	}
	return c.run(ctx)
}

// persist tries until it has what it wants, or ctx ends: then it returns nothing and no error.
// Only a store that is out of reach is worth another try.
func persist[T any](ctx context.Context, get func() (T, error)) (got T, err error) {
	for {
		if got, err = get(); err == nil {
			return got, nil
		}
		var none T
		if ctx.Err() != nil {
			return none, nil
		}
		if !errors.Is(err, driver.ErrUnavailable) {
			return none, err
		}
		time.Sleep(20*time.Millisecond + rand.N(30*time.Millisecond))
	}
}

// lossy returns the store with messages that get lost, come late or twice.
func (c *child) lossy(store driver.Store, seed int) driver.Store {
	c.faulty = memlease.NewFaulty(store, rand.New(rand.NewPCG(uint64(seed), 9)),
		memlease.Faults{LoseRequest: 0.03, LoseReply: 0.06, Late: 0.04, Repeat: 0.08, Delay: 0.1})
	c.faulty.Wait = func(ctx context.Context) error {
		select {
		case <-time.After(rand.N(c.window / 4)):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if clock, ok := store.(driver.Clock); ok {
		return struct {
			*memlease.Faulty
			driver.Clock
		}{c.faulty, clock}
	}
	return c.faulty
}

// listen takes orders, at any moment of what the process does otherwise.
func (c *child) listen(r *bufio.Reader) {
	last := 0
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			os.Exit(1) // nobody is there any more
		}
		var o orders
		if err := json.Unmarshal(line, &o); err != nil {
			c.die(err)
		}
		c.rate.Store(&o.Rate)
		if o.Prove {
			c.prove.Store(true)
		}
		if o.Step == last {
			continue
		}
		last = o.Step
		before := c.offset.Load()
		c.note(entry{Event: stepped, Step: o.Step, Offset: o.Offset, Before: before})
		c.offset.Store(o.Offset)
		c.step.Store(&step{number: o.Step, before: before, after: o.Offset})
		c.tell(news{Step: o.Step})
	}
}

// die ends the process where there is no other way, or no sense in going on: whatever is
// wrong, IDs must not be made that are not logged.
func (c *child) die(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func (c *child) note(e entry) {
	if e.Event != seen {
		e.IDs = c.logged.Load()
	}
	if err := c.journal.write(e); err != nil {
		c.die(err)
	}
}

func (c *child) tell(n news) {
	line, err := json.Marshal(n)
	if err == nil {
		_, err = c.news.Write(append(line, '\n'))
	}
	if err != nil {
		c.die(err)
	}
}

// clock is the clock of the process. It has no monotonic reading, which a real clock that
// is set would not have.
func (c *child) clock() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.offset.Load()) * time.Microsecond)
}

// A noting generator is the format's, and notes when it is sealed: the process may be killed before
// it can say that it gave its worker back.
type noting struct {
	minter
	c *child
}

func (g noting) ForLease() allot.Generator { return notingLease{g.minter.ForLease(), g.c} }

// notingLease is a noting generator as its lease sees it.
type notingLease struct {
	allot.Generator
	c *child
}

func (g notingLease) Allot(worker int, from, until time.Time) error {
	return g.Generator.Allot(worker, from, fenced(until))
}

func (g notingLease) Withdraw() time.Time { return kept(g.Generator) }

func (g notingLease) Seal(why error) time.Time {
	from := unminted(g.Generator.Seal(why))
	g.c.note(entry{Event: sealed, Until: from.UnixMicro(), Last: g.c.closing.Load()})
	return from
}

// notify notes what happens to the lease, and so each grant before there can be an ID of it.
func (c *child) notify(e lease.Event) {
	kinds := map[lease.EventKind]event{lease.Acquired: acquired, lease.Renewed: renewed, lease.Failing: failing,
		lease.Expired: expired, lease.Lost: lost, lease.Released: released, lease.Withdrawn: withdrawn, lease.Waiting: waiting}
	n := entry{Event: kinds[e.Kind], Worker: e.Worker, Until: e.Until.UnixMicro()}
	if e.Kind == lease.Acquired || e.Kind == lease.Renewed {
		n.From = e.From.UnixMicro()
	}
	if e.Err != nil {
		n.Error = e.Err.Error()
	}
	c.note(n)
	if c.faulty == nil {
		return
	}
	now, before := c.faulty.Counts(), c.told
	if c.told = now; now != before {
		c.note(entry{Event: messages, Messages: &memlease.Counts{
			LostRequests: now.LostRequests - before.LostRequests, LostReplies: now.LostReplies - before.LostReplies,
			Late: now.Late - before.Late, Repeats: now.Repeats - before.Repeats,
			Landed: now.Landed - before.Landed, Delays: now.Delays - before.Delays}})
	}
}

// run makes IDs until ctx ends, or the library refuses for long.
func (c *child) run(ctx context.Context) error {
	g, l := c.keep(ctx)
	if l == nil {
		return nil // it was ended before there was anything to give back
	}
	closed := make(chan struct{})
	closing := false
	before := time.Now()
	var pause time.Duration // of an idle process
	for {
		if !closing && (ctx.Err() != nil || c.stuck > 3*c.window) {
			if closing = true; ctx.Err() == nil {
				c.note(entry{Event: gaveUp})
			}
			c.closing.Store(true)
			go func() { // while IDs are made
				l.Close() // if it fails, the worker comes free by itself
				close(closed)
			}()
		}
		if c.prove.Swap(false) && !closing {
			c.proveAlive(g)
		}
		if c.idle && !closing {
			if time.Since(before) < pause {
				time.Sleep(5 * time.Millisecond)
				continue
			}
			pause = c.window + rand.N(8*c.window)
		}
		now := time.Now()
		spent := now.Sub(before)
		before = now
		err := c.mint(g, spent)
		switch {
		case errors.Is(err, lease.ErrClosed):
			<-closed
			return nil
		case err == nil:
			c.stuck = 0
		case !errors.Is(err, iderr.ErrExhausted):
			c.stuck += min(spent, 20*time.Millisecond) // the process may have been stopped
		}
		time.Sleep(time.Millisecond + rand.N(6*time.Millisecond))
	}
}

// keep takes a worker, however long it takes. It returns nil if ctx ends before.
func (c *child) keep(ctx context.Context) (noting, *lease.Lease) {
	for ctx.Err() == nil {
		s := c.step.Load()
		m, err := c.format.start(c.clock)
		if err == nil {
			g := noting{m, c}
			var l *lease.Lease
			l, err = lease.Start(ctx, c.pool.Store(), g, lease.Config{Pool: c.pool.Name(),
				Window: c.window, Wait: c.window, Timeout: max(c.window*3/10, 200*time.Millisecond),
				Notify: c.notify})
			if err == nil {
				return g, l
			}
		}
		c.refused(s, err)
		time.Sleep(20*time.Millisecond + rand.N(30*time.Millisecond))
	}
	return noting{}, nil
}

// mint makes the IDs that have come due in so much time.
func (c *child) mint(g noting, spent time.Duration) error {
	const most = 1 << 15 // after a time without IDs
	c.free = min(c.free+*c.rate.Load()*spent.Seconds(), most)
	if s := c.step.Load(); s != nil && !c.idle {
		return c.probe(g, s)
	}
	n := max(int(c.free), 1)
	if c.idle {
		n = 1
	}
	c.made = c.made[:0]
	var err error
	if rand.IntN(8) == 0 {
		var v id
		if v, err = g.tryNext(); err == nil {
			c.made = append(c.made, v)
		}
	} else {
		filling, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
		c.made, err = g.fill(filling, c.made, n)
		cancel()
		if len(c.made) > 0 {
			err = nil
		}
	}
	c.log()
	return err
}

// probe makes one ID, to see what a step of the clock did.
func (c *child) probe(g noting, s *step) error {
	from := realNow()
	v, err := g.tryNext()
	until := realNow()
	if err != nil {
		c.refused(s, err)
		return err
	}
	c.made = append(c.made[:0], v)
	c.log()
	if _, at := c.format.read(v); shows(c.format, at.UnixMicro(), from, until, s.before, s.after) {
		c.note(entry{Event: seen, IDs: c.logged.Load() - 1, Step: s.number, From: from, Until: until})
		c.tell(news{Step: s.number, Seen: true})
		c.step.CompareAndSwap(s, nil)
	} else if s.unclear.Add(1) > 1000 {
		c.step.CompareAndSwap(s, nil)
	}
	return nil
}

// proveAlive makes an ID, or notes why it cannot. The faults are over, clocks are right, and there was time to
// recover; a busy machine may still take a little more.
//
// A generator that has made IDs ahead of its clock is excused until the clock is there, and so is one whose pool
// has no worker for it.
func (c *child) proveAlive(g noting) {
	var v id
	var err error
	for end := time.Now().Add(max(2*c.window, 2*time.Second)); ; time.Sleep(2 * time.Millisecond) {
		if v, err = g.tryNext(); err == nil || time.Now().After(end) {
			break
		}
	}
	if err == nil {
		c.made = append(c.made[:0], v)
		c.log()
		c.note(entry{Event: alive})
	} else {
		ahead := errors.Is(err, iderr.ErrClockBackwards) && c.top > c.clock().UnixMicro()
		c.note(entry{Event: dead, Error: err.Error(), Excused: ahead || errors.Is(err, lease.ErrNoWorker)})
	}
	c.tell(news{Proved: true})
}

// shows tells whether an ID that was made between two real times shows that the clock had
// the one offset, not the other.
func shows(f *format, at, from, until, before, after int64) bool {
	could := func(offset int64) bool { return at > from+offset-f.unit() && at <= until+offset }
	return could(after) && !could(before)
}

// refused notes that the library refused to make IDs after a step, if that is for the step.
func (c *child) refused(s *step, err error) {
	if s == nil || s != c.step.Load() || !explains(c.window, s.after-s.before, err) || s.refused.Swap(true) {
		return
	}
	c.note(entry{Event: refused, Step: s.number, Error: err.Error()})
	c.tell(news{Step: s.number, Seen: true})
}

// explains tells whether a step of the clock can be what an error is for.
func explains(window time.Duration, delta int64, err error) bool {
	_, early := errors.AsType[*iderr.EarlyError](err)
	switch {
	case errors.Is(err, lease.ErrClockSkew), errors.Is(err, iderr.ErrTimeRange):
		return true
	case errors.Is(err, iderr.ErrClockBackwards), early:
		return delta < 0
	}
	return errors.Is(err, iderr.ErrFenced) && delta >= window.Microseconds()/2
}

// log logs the IDs that were made. Then they count as used.
func (c *child) log() {
	if len(c.made) == 0 {
		return
	}
	c.buf = c.buf[:0]
	for _, v := range c.made {
		c.buf = c.format.append(c.buf, v)
	}
	if _, err := c.ids.Write(c.buf); err != nil {
		c.die(err)
	}
	c.logged.Add(int64(len(c.made)))
	_, at := c.format.read(c.made[len(c.made)-1])
	c.top = max(c.top, at.UnixMicro())
	c.free = max(c.free-float64(len(c.made)), 0)
}
