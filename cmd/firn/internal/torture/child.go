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

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// orders go to the standard input of a process, a line each. The first line has all fields.
type orders struct {
	Place    *place        `json:"place,omitempty"`
	Format   string        `json:"format,omitempty"`
	Process  int           `json:"process,omitempty"`
	Window   time.Duration `json:"window,omitempty"`
	Messages bool          `json:"messages,omitempty"`
	Idle     bool          `json:"idle,omitempty"` // make an ID only now and then
	Late     bool          `json:"late,omitempty"` // start in the background: the store may be away

	Rate   float64 `json:"rate"`            // IDs a second
	Offset int64   `json:"offset"`          // of the clock, in microseconds
	Step   int     `json:"step"`            // number of the last step of the clock
	Prove  bool    `json:"prove,omitempty"` // show that the process makes IDs
}

// news come from the standard output of a process, a line each.
type news struct {
	Step int  `json:"step"` // number of a step
	Seen bool `json:"seen"` // the step had an effect

	Proved bool `json:"proved,omitempty"` // the journal says whether the process makes IDs
	Waits  bool `json:"waits,omitempty"`  // the process has started, and its store is away
}

// A child is a process of a run. A child makes IDs until the run ends the child.
type child struct {
	format  *format
	window  time.Duration
	name    string // of the pool
	open    func(ctx context.Context) (driver.Store, error)
	pool    *lease.Pool // nil in a process that starts in the background
	confirm *confirmer
	faulty  *faults.Store // nil unless messages get lost
	told    faults.Counts // counts of faulty that notify has noted
	journal journal
	ids     *os.File
	news    io.Writer

	rate    atomic.Pointer[float64]
	offset  atomic.Int64
	step    atomic.Pointer[step] // a step without a visible effect yet, or nil
	logged  atomic.Int64
	prove   atomic.Bool // show that the process makes IDs
	closing atomic.Bool // the last lease is closed
	idle    bool

	top   int64         // the time of the latest ID, in Unix microseconds
	stuck time.Duration // for how long the library has refused
	free  float64       // how many IDs are due
	buf   []byte
	made  []id
}

// A step is a step of the clock.
type step struct {
	number        int
	before, after int64        // offsets
	refused       atomic.Bool  // the refusal was noted
	unclear       atomic.Int32 // IDs that fit both offsets
}

// Child runs a process of a run; Config.Command starts it. Child returns when the run asks for the
// end, and when the library refuses to make IDs for long. open is Config.Open.
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
	os.Args[0] = program(o.Process)
	c := &child{format: f, window: o.Window, news: stdout, idle: o.Idle}
	c.confirm = newConfirmer(c, o.Place.Dir, o.Process)
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
	c.name = o.Place.Pool
	c.open = func(ctx context.Context) (driver.Store, error) {
		store, err := o.Place.openAgain(ctx, open)
		if err != nil {
			return nil, err
		}
		if store = spoil(store); o.Messages {
			store = c.lossy(store, o.Process)
		}
		return store, nil
	}
	if o.Late {
		return c.run(ctx)
	}
	store, err := persist(ctx, func() (driver.Store, error) { return c.open(ctx) })
	if store == nil {
		return err
	}
	defer store.Close()
	c.pool, err = persist(ctx, func() (*lease.Pool, error) { return lease.Open(ctx, store, o.Place.Pool, f.layout()) })
	if c.pool == nil {
		return err
	}
	return c.run(ctx)
}

// persist calls a function until the function succeeds. If ctx ends first, persist returns nothing
// and no error. Only an unavailable store is worth another try.
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

// lossy returns a store whose messages get lost, come late or come twice.
func (c *child) lossy(store driver.Store, seed int) driver.Store {
	c.faulty = faults.New(store, rand.New(rand.NewPCG(uint64(seed), 9)),
		faults.Chances{LoseRequest: 0.03, LoseReply: 0.06, Late: 0.04, Repeat: 0.08, Delay: 0.1})
	c.faulty.Wait = func(ctx context.Context) error {
		select {
		case <-time.After(rand.N(c.window / 4)):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	lossy := c.faulty.Confirming()
	clock, timed := store.(driver.Clock)
	looks, able := lossy.(driver.Confirmer)
	switch {
	case timed && able:
		return struct {
			driver.Store
			driver.Clock
			driver.Confirmer
		}{lossy, clock, looks}
	case timed:
		return struct {
			driver.Store
			driver.Clock
		}{lossy, clock}
	}
	return lossy
}

// listen reads orders, whatever else the process does.
func (c *child) listen(r *bufio.Reader) {
	last := 0
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			os.Exit(1) // the run has ended
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

// die ends the process at once. IDs that are not logged must not be made.
func (c *child) die(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func (c *child) note(e entry) {
	if e.Event != seen && e.Event != confirmed && e.Event != unconfirmed {
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

// clock is the clock of the process. The clock has no monotonic reading, like a real clock that was
// set.
func (c *child) clock() time.Time {
	return time.Now().Round(0).Add(time.Duration(c.offset.Load()) * time.Microsecond)
}

// A noting generator notes when it is sealed: the process may be killed before it can note that the
// worker was returned.
type noting struct {
	minter
	c *child
}

func (g noting) ForLease() grant.Grantee { return notingLease{g.minter.ForLease(), g.c} }

// notingLease is a noting generator as its lease sees it.
type notingLease struct {
	grant.Grantee
	c *child
}

func (g notingLease) Grant(worker int, from, until time.Time) error {
	return g.Grantee.Grant(worker, from, fenced(until))
}

func (g notingLease) Withdraw() time.Time { return kept(g.Grantee) }

func (g notingLease) Seal(why error) time.Time {
	from := unminted(g.Grantee.Seal(why))
	g.c.note(entry{Event: sealed, Until: from.UnixMicro(), Last: g.c.closing.Load()})
	return from
}

// notify notes the events of the lease. Each grant is noted before the first ID of the grant.
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
		c.note(entry{Event: messages, Messages: &faults.Counts{
			LostRequests: now.LostRequests - before.LostRequests, LostReplies: now.LostReplies - before.LostReplies,
			Late: now.Late - before.Late, Repeats: now.Repeats - before.Repeats,
			Landed: now.Landed - before.Landed, Delays: now.Delays - before.Delays}})
	}
}

// run makes IDs until ctx ends, or until the library refuses for long.
func (c *child) run(ctx context.Context) error {
	g, l := c.keep(ctx)
	if l == nil {
		return nil // the run ended the process before it had a worker
	}
	defer c.confirm.end()
	closed := make(chan struct{})
	closing, away := false, false
	before := time.Now()
	var pause time.Duration // between the IDs of an idle process
	for {
		if !closing && (ctx.Err() != nil || c.stuck > 3*c.window) {
			if closing = true; ctx.Err() == nil {
				c.note(entry{Event: gaveUp})
			}
			c.closing.Store(true)
			go func() { // meanwhile the process makes IDs
				l.Close() // after an error the worker comes free by itself
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
			c.confirm.later(l, c.made[len(c.made)-1], c.logged.Load()-1)
		case errors.Is(err, lease.ErrStarting):
			if errors.Is(err, driver.ErrUnavailable) && !away {
				away = true
				c.note(entry{Event: starting, Error: err.Error()})
				c.tell(news{Waits: true})
			}
		case !errors.Is(err, iderr.ErrExhausted):
			c.stuck += min(spent, 20*time.Millisecond) // a stop of the process does not count
		}
		time.Sleep(time.Millisecond + rand.N(6*time.Millisecond))
	}
}

// keep takes a worker, and waits as long as needed. If ctx ends first, keep returns nil.
func (c *child) keep(ctx context.Context) (noting, *lease.Lease) {
	for ctx.Err() == nil {
		s := c.step.Load()
		m, err := c.format.start(c.clock)
		if err == nil {
			g := noting{m, c}
			var l *lease.Lease
			config := lease.Config{Pool: c.name, Window: c.window, Wait: c.window, Timeout: max(c.window*3/10, 200*time.Millisecond),
				Background: c.pool == nil, Notify: c.notify}
			if config.Background {
				l, err = lease.OpenAndStart(ctx, c.open, g, config)
			} else {
				l, err = lease.Start(ctx, c.pool.Store(), g, config)
			}
			if err == nil {
				return g, l
			}
		}
		c.refused(s, err)
		time.Sleep(20*time.Millisecond + rand.N(30*time.Millisecond))
	}
	return noting{}, nil
}

// mint makes the IDs that are due after some time.
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
		c.made, err = g.fill(filling, c.made, n, c.format.Size)
		cancel()
		if len(c.made) > 0 {
			err = nil
		}
	}
	c.log()
	return err
}

// probe makes one ID, to see the effect of a step of the clock.
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

// patience is how long a process may take for what needs the processor or the disk, whatever the window: to renew a
// lease, to start, or to end. A busy machine, or one that was stopped itself, must not reach it.
const patience = 2 * time.Minute

// proveAlive makes an ID, or notes the error. The faults are over, clocks are right, and there was
// time to recover; a busy machine may still need a little more, and much more if the lease is late.
//
// Two errors are excused: the generator has made IDs ahead of its clock, and waits for the clock;
// or the pool has no free worker.
func (c *child) proveAlive(g noting) {
	var v id
	var err error
	for began := time.Now(); ; time.Sleep(2 * time.Millisecond) {
		if v, err = g.tryNext(); err == nil {
			break
		}
		limit := max(2*c.window, 2*time.Second)
		if late := errors.Is(err, lease.ErrLeaseExpired) || errors.Is(err, iderr.ErrFenced); late && !errors.Is(err, lease.ErrNoWorker) {
			limit += patience
		}
		if time.Since(began) > limit {
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

// shows reports whether an ID, made between two real times, fits the offset after a step and not
// the offset before.
func shows(f *format, at, from, until, before, after int64) bool {
	could := func(offset int64) bool { return at > from+offset-f.unit() && at <= until+offset }
	return could(after) && !could(before)
}

// refused notes that the library refused to make IDs, if the step explains the error.
func (c *child) refused(s *step, err error) {
	if s == nil || s != c.step.Load() || !explains(c.window, s.after-s.before, err) || s.refused.Swap(true) {
		return
	}
	c.note(entry{Event: refused, Step: s.number, Error: err.Error()})
	c.tell(news{Step: s.number, Seen: true})
}

// explains reports whether a step of the clock can cause an error.
func explains(window time.Duration, delta int64, err error) bool {
	_, early := errors.AsType[*iderr.EarlyError](err)
	switch {
	case errors.Is(err, lease.ErrClockSkew), errors.Is(err, iderr.ErrTimeRange):
		return true
	case errors.Is(err, iderr.ErrClockBackwards), early:
		return delta < 0
	}
	return errors.Is(err, iderr.ErrFenced) && !errors.Is(err, lease.ErrStarting) && delta >= window.Microseconds()/2
}

// log logs the IDs in made. Logged IDs count as used.
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
