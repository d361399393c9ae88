package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// A Generator is what a lease allots its worker and its times to. Those of the formats are
// generators if they are made to be: see their Config.Allotted.
type Generator interface {
	// Allot lets the generator mint as the worker in the whole ticks of [from, until).
	Allot(worker int, from, until time.Time) error
	// Withdraw takes back what was allotted beyond a gap and the generator has not entered,
	// and returns the first time that is not allotted any more.
	Withdraw() time.Time
	// Refuse sets the error that callers get outside of what is allotted, until more is.
	Refuse(why error)
	// Seal ends the generator for good, and returns the first time from which on it has
	// minted nothing.
	Seal(why error) time.Time
}

// A Lease keeps a generator in work: it takes a worker from a pool, allots times of the worker to
// the generator, always some ahead, and gives back at the end what is left. It is safe for
// concurrent use.
type Lease struct {
	origin      *Pool
	pool        *Pool // the same, each of its requests with a time-out
	generator   Generator
	config      Config
	incarnation string // what tells the lease from every other one, of this process too

	stop   context.CancelFunc
	done   chan struct{} // closed when run has returned
	seal   sync.Once
	sealed int64 // the generator has minted nothing from here on

	mu         sync.Mutex
	worker     int
	until      time.Time
	trouble    error
	events     []Event // that Notify is yet to be called with
	delivering bool    // Notify is being called

	// work guards what follows. Keep, run and Close hold it, but not while Notify is called.
	work lock

	closed   bool
	err      error            // of Close
	held     stored           // the record, as last known to be the lease's
	least    int64            // the earliest end that a request at the revision of held has asked for
	prior    int64            // no other lease had times of the worker from here to held.Until
	since    int64            // where the first times of the worker begin that the lease was allocated
	begins   int64            // where the last times begin that the generator was allotted beyond a gap; 0 if it has entered them
	allotted int64            // where the times end that the generator was allotted, and that were not withdrawn
	window   int64            // how far ahead of the clock the times ended when they were allocated
	attempts map[int]attempts // by worker
	claims   map[int]func()   // what drops the claim of each worker on the machine, see exclude
	lost     error            // not nil if the worker has no more times for the lease: why
	term     term             // that of the pool when it took its worker, or last looked for one
	looked   int              // how many records it read then
	took     time.Duration    // how long the last change in the store did
	expired  bool             // that was said
	waiting  string           // what it waits for, as was said; "" if it does not
}

// A lock is a mutex that is a channel: in a bubble of testing/synctest, time passes while a goroutine
// waits for it.
type lock chan struct{}

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

// attempts are the requests for a worker whose outcome is not known. Attempts at the same revision
// exclude each other, and none of them takes effect once the record has another revision, so a lease
// remembers attempts at one revision only. The attempts share a prefix of their names; an outage of any
// length therefore needs constant memory.
type attempts struct {
	rev    driver.Revision
	prefix string // of their names
	count  int
}

// Keep takes a worker from the pool, allots it to the generator, and goes on to renew its times
// until Close. It returns when the generator can mint.
//
// Its errors are a *[NoWorkerError], a *[HeldError], a *[SkewError], a *[MismatchError], those
// of the settings, of the store and of the records in it (a *[driver.Error]) and of the generator.
func (p *Pool) Keep(ctx context.Context, g Generator, c Config) (*Lease, error) {
	l, err := p.keep(ctx, g, c)
	if err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go func() {
		defer close(l.done)
		l.run(running)
	}()
	return l, nil
}

// keep is Keep, but for going on.
func (p *Pool) keep(ctx context.Context, g Generator, c Config) (*Lease, error) {
	c, err := c.settle(p.layout)
	if err != nil {
		return nil, err
	}
	l := p.lease(g, c)
	defer l.deliver()
	l.work.Lock()
	defer l.work.Unlock()
	if err := l.acquire(ctx, c.Wait); err != nil {
		l.unclaimAll() // nothing was allotted
		return nil, err
	}
	// The worker's times may begin a moment after now: its last holder's clock, or ours, was
	// not quite right. A clock that now goes back altogether is the generator's to report.
	ahead := time.UnixMicro(l.since).Sub(c.world.now())
	if err := c.world.sleep(ctx, min(max(ahead, 0), grace)); err != nil {
		l.closed = true
		l.release(context.WithoutCancel(ctx))
		return nil, err
	}
	return l, nil
}

// lease returns a lease that has no worker yet.
func (p *Pool) lease(g Generator, c Config) *Lease {
	within := *p
	l := &Lease{origin: p, pool: &within, generator: g, config: c, incarnation: c.world.random(128),
		stop: func() {}, done: make(chan struct{}), work: make(lock, 1), attempts: make(map[int]attempts),
		claims: make(map[int]func())}
	within.store = timed{p.store, c.world, c.Timeout, &l.took, new(turn)}
	return l
}

// Worker returns the number of the worker. It changes only after the worker was lost.
func (l *Lease) Worker() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.worker
}

// Until returns where the times end that were allocated so far, and not taken back.
func (l *Lease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// Err returns why the lease was not renewed the last time, nil if it was.
func (l *Lease) Err() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble
}

// Pool returns the pool that the worker is of.
func (l *Lease) Pool() *Pool { return l.origin }

// Close ends the generator at once, and gives back the worker with the times that were not minted
// in. An error says that the store does not know of that: the worker comes free when its times run
// out. Further calls return the same error.
//
// Close may be called from any goroutine, and within Config.Notify. It waits for requests of the
// store, each for Config.Timeout at most, and never for a call of Notify: if one is under way, the
// event Released follows when that call has returned, which may be after Close has.
func (l *Lease) Close() error {
	l.stop()
	l.end()
	defer l.deliver()
	l.work.Lock()
	defer l.work.Unlock()
	if !l.closed {
		l.closed = true
		l.err = l.release(context.Background())
	}
	return l.err
}

// end seals the generator.
func (l *Lease) end() {
	l.seal.Do(func() {
		l.sealed = l.generator.Seal(fmt.Errorf("pool %s: %w", l.pool.name, ErrClosed)).UnixMicro()
	})
}

const (
	slice = 250 * time.Millisecond // the longest sleep, so that a clock that jumps is noticed soon
	grace = 50 * time.Millisecond  // how far ahead the times of a free worker may begin
)

// run renews the lease until ctx ends.
func (l *Lease) run(ctx context.Context) {
	const shortest = 50 * time.Millisecond
	longest := min(500*time.Millisecond, max(l.config.Window/20, shortest))
	backoff := shortest
	for pause := time.Duration(0); ; {
		if l.config.world.sleep(ctx, max(pause, time.Millisecond)) != nil || !l.wake(ctx, func() {
			l.withdraw()
			if pause = l.untilDue(); pause > 0 || l.closed {
				return
			}
			l.expireInTime()
			err := l.renewInTime(ctx)
			switch {
			case ctx.Err() != nil || l.closed:
			case err == nil:
				backoff = shortest
			default:
				l.fail(err)
				pause, backoff = l.backOff(err, backoff), min(backoff*2, longest)
				if left := l.left(); left > 0 { // a last try, and then callers have to be told
					pause = min(pause, max(left/2, min(left, shortest)))
				}
			}
		}) {
			return
		}
	}
}

// wake does the work of a wake, and reports whether there will be others.
func (l *Lease) wake(ctx context.Context, work func()) bool {
	l.work.Lock()
	defer l.work.Unlock()
	if !l.closed {
		work()
	}
	return ctx.Err() == nil && !l.closed
}

// renewInTime renews the lease. Its requests end when the times of the lease do: callers are told
// then, whatever the store does. Requests made after that end have their time-outs alone.
func (l *Lease) renewInTime(ctx context.Context) error {
	if left := l.left(); left > 0 {
		within, cancel := l.config.world.timeout(ctx, left)
		defer cancel()
		ctx = within
	}
	return l.renew(ctx)
}

// backOff returns how long to wait after an error: usually that long, but longer if there is no
// worker, since it takes a look at all of them to see that, and none before a time that is known
// after a rescue.
func (l *Lease) backOff(err error, usual time.Duration) time.Duration {
	const longest = 10 * time.Second // the clock may be set meanwhile
	var none *NoWorkerError
	if !errors.As(err, &none) {
		return usual
	}
	pause := max(usual, l.price())
	if none.Rescued {
		pause = max(pause, min(none.Soonest.Sub(l.config.world.now())+l.jitter(), longest))
	}
	return pause
}

// untilDue returns how long to sleep until the lease is to be renewed, 0 if it is.
func (l *Lease) untilDue() time.Duration {
	if l.lost != nil {
		return 0
	}
	due := l.allotted - l.window*7/10
	if l.withdrawn() {
		due = l.allotted - l.config.Window.Microseconds()
	}
	return min(max(time.UnixMicro(due).Sub(l.config.world.now()), 0), slice, time.Duration(l.window)*time.Microsecond/10)
}

// renew adds times to the lease, or takes another worker for one that was lost.
func (l *Lease) renew(ctx context.Context) error {
	if l.lost != nil {
		return l.replace(ctx)
	}
	now := l.now()
	until := l.floor(now + l.config.Window.Microseconds())
	if l.foreign(now) {
		return l.forgo(ctx)
	}
	if until <= l.allotted {
		return nil // the clock went back; there are times enough, if at other times
	}
	if err := l.checkAhead(ctx, now); err != nil {
		return err
	}
	got, ok, err := l.claim(ctx, l.held, max(l.allotted, l.prior), until)
	switch {
	case err != nil:
		return err
	case ok:
		return l.adopt(got, Renewed)
	}
	l.lost = l.lostTo(got)
	l.notify(Event{Kind: Lost, Worker: got.Worker, Until: time.UnixMicro(l.held.Until), Err: l.lost})
	return nil
}

// lostTo returns why the lease has no more times of its worker, whose record is not its own.
//
// A store that keeps what it acknowledged never shows two things: times that end before those of
// the lease, also as a request of its own may have lowered them; and a record of the lease's own
// that is not the one it knows, nor written by a request whose outcome it does not know. Then
// others, too, may be missing what they were given, and to take another worker would be to take
// times that may be in use.
func (l *Lease) lostTo(got stored) error {
	switch {
	case got.Generation > l.held.Generation:
		return l.rescued()
	case got.Until < l.least || got.Incarnation == l.incarnation:
		return unusable(l.pool.store, workerKey(l.pool.name, got.Worker), ErrRolledBack)
	}
	return &HeldError{Pool: l.pool.name, Worker: got.Worker, Holder: got.Holder, Until: time.UnixMicro(got.Until)}
}

// replace takes another worker for one that was lost; not if the store has lost something, until the
// pool was rescued.
func (l *Lease) replace(ctx context.Context) error {
	if errors.Is(l.lost, ErrRolledBack) {
		moved, err := l.pool.moved(ctx, l.term)
		if err != nil {
			return err
		}
		if !moved {
			return l.lost
		}
		l.lost = l.rescued()
	}
	return l.acquire(ctx, 0)
}

func (l *Lease) rescued() error {
	return fmt.Errorf("pool %s: worker %d: %w, and no lease from before has more times", l.pool.name, l.held.Worker, ErrRescued)
}

// claim tries to allocate the worker's times up to until, from a time on, or from now if that is
// later. It tells whether they are the lease's, and returns the record as it is then. After an error
// both are unknown.
//
// The times from that time on are nobody's to mint in as long as the record is at its revision:
// they begin where the record's end, or are the lease's own and were withdrawn.
//
// A reply that says that the request failed, or none at all, settles nothing: a request may be
// under way for long, or be repeated by what is in between. Only the record tells. If it was
// written by a request of this lease, what it says was allocated to it, whichever request that
// was; the times that one asked for but did not see acknowledged are nobody's.
func (l *Lease) claim(ctx context.Context, s stored, from, until int64) (stored, bool, error) {
	r := s.record
	r.From = l.ceil(max(l.now(), from))
	r.Until = max(until, r.From+minTicks*l.pool.layout.Unit.Microseconds())
	r.Incarnation, r.Holder, r.Window = l.incarnation, l.config.Holder, l.config.Window.Microseconds()
	r.Attempt = l.attempt(s)

	rev, err := l.put(ctx, r, s.rev)
	if err == nil {
		return stored{r, rev}, true, nil
	}
	if errors.Is(err, errHangs) {
		return s, false, err // it would not be read either
	}
	got, unread := l.pool.get(ctx, r.Worker)
	switch {
	case errors.Is(unread, ErrMissing): // as good as one from before anybody had the worker
		return stored{record: *l.pool.unused(r.Worker, term{generation: s.Generation})}, false, nil
	case errors.Is(unread, driver.ErrUnavailable):
		return s, false, err
	case unread != nil:
		return s, false, unread // there is something with the record, which tells more
	}
	if got.Incarnation == l.incarnation && l.attempted(got) {
		return got, true, nil
	}
	if got.rev == s.rev {
		return s, false, err // it has not been done, or not yet
	}
	return got, false, nil
}

func (l *Lease) put(ctx context.Context, r record, rev driver.Revision) (driver.Revision, error) {
	if r.Worker == l.held.Worker && rev == l.held.rev {
		l.least = min(l.least, r.Until)
	}
	return l.pool.store.Put(ctx, workerKey(l.pool.name, r.Worker), encode(r), rev)
}

// attempt returns the name of a request to change a record, which no other one has.
func (l *Lease) attempt(s stored) string {
	a := l.attempts[s.Worker]
	if a.count == 0 || a.rev != s.rev {
		a = attempts{rev: s.rev, prefix: l.config.world.random(128) + "-"}
	}
	a.count++
	l.attempts[s.Worker] = a
	return a.prefix + strconv.Itoa(a.count)
}

// attempted tells whether a record was written by a request whose outcome was not known.
func (l *Lease) attempted(s stored) bool {
	a := l.attempts[s.Worker]
	return a.count > 0 && strings.HasPrefix(s.Attempt, a.prefix)
}

// adopt allots the times of a record that is the lease's to the generator.
func (l *Lease) adopt(got stored, kind EventKind) error {
	if kind == Acquired {
		l.since = got.From
	}
	if kind == Acquired || got.From > l.allotted {
		l.begins = got.From
	}
	l.held, l.lost, l.expired, l.waiting = got, nil, false, ""
	l.allotted, l.least = got.Until, got.Until
	window := l.config.Window.Microseconds()
	l.window = min(max(got.Until-max(l.now(), l.own()), window/10), window) // it may be over already
	clear(l.attempts)
	from, until := time.UnixMicro(got.From).UTC(), time.UnixMicro(got.Until).UTC()
	l.mu.Lock()
	l.worker, l.until = got.Worker, until
	if l.left() > 0 { // the store may have answered too late
		l.trouble = nil
	}
	l.mu.Unlock()
	// Whoever writes the events down has them before any ID of these times.
	l.notify(Event{Kind: kind, Worker: got.Worker, From: from, Until: until})
	if l.closed {
		return nil
	}
	return l.generator.Allot(got.Worker, from, until)
}

// ends returns where the times end that the generator can mint in. For a generator that has none at
// all, ends returns now.
func (l *Lease) ends() int64 { return max(l.allotted, min(l.since, l.now())) }

// left returns for how long the generator can mint.
func (l *Lease) left() time.Duration { return time.UnixMicro(l.ends()).Sub(l.config.world.now()) }

// fail notes that the lease could not be renewed. If its times are over, callers are told.
func (l *Lease) fail(err error) {
	l.mu.Lock()
	l.trouble = err
	l.mu.Unlock()
	l.tellWait(err)
	if left := l.left(); left > 0 {
		l.notify(Event{Kind: Failing, Worker: l.held.Worker, Until: time.UnixMicro(l.ends()).UTC(), Left: left, Err: err})
		return
	}
	l.expire(err)
}

// expire tells callers that the times are over, and why.
func (l *Lease) expire(err error) {
	expired := &ExpiredError{Pool: l.pool.name, Worker: l.held.Worker, Until: time.UnixMicro(l.ends()).UTC(), Cause: err}
	l.generator.Refuse(expired)
	if !l.expired {
		l.expired = true
		l.notify(Event{Kind: Expired, Worker: l.held.Worker, Until: expired.Until, Err: expired})
	}
}

// expireInTime tells callers that the times of a failing lease are over. It does so before the next
// request of the store, which may take long.
func (l *Lease) expireInTime() {
	if err := l.Err(); err != nil && !l.expired && l.left() <= 0 {
		l.expire(err)
	}
}

// release seals the generator, and gives back the worker with the times that were not minted in.
//
// It does so at the lease's own revision, after the last ID.
func (l *Lease) release(ctx context.Context) error {
	defer l.unclaimAll() // once the generator is sealed
	l.end()
	if l.lost != nil {
		return nil
	}
	until := l.held.Until
	back, err := l.giveBack(ctx, l.sealed)
	switch {
	case errors.Is(err, driver.ErrUnavailable):
		return fmt.Errorf("pool %s: worker %d comes free at %s only, since it was not given back: %w",
			l.pool.name, l.held.Worker, timeText(time.UnixMicro(until)), err)
	case err == nil && back:
		l.post(Event{Kind: Released, Worker: l.held.Worker, Until: time.UnixMicro(l.held.Until).UTC()})
	}
	return err
}

// giveBack gives back the worker with its times from unused on. It reports whether the lease still had
// the worker; then the record held is as it was given back.
//
// The times from own() on are the lease's alone: with every record between, they were extended by
// itself.
func (l *Lease) giveBack(ctx context.Context, unused int64) (bool, error) {
	var err error
	for range 2 { // the second time after a request of the lease's own that came late
		r := l.held.record
		r.Until = min(r.Until, max(l.ceil(unused), l.own()))
		r.From = min(r.From, r.Until)
		r.Incarnation, r.Holder, r.Attempt = "", "", l.config.world.random(128)
		if _, err = l.put(ctx, r, l.held.rev); err == nil {
			l.held.record = r
			return true, nil
		}
		if errors.Is(err, errHangs) {
			return false, err // it would not be read either
		}
		got, unread := l.pool.get(ctx, r.Worker)
		switch {
		case errors.Is(unread, driver.ErrUnavailable):
			return false, err
		case unread != nil:
			return false, unread
		case got.Attempt == r.Attempt:
			l.held.record = r
			return true, nil
		case got.rev == l.held.rev:
			return false, err // it has not been done, or not yet
		case got.Incarnation != l.incarnation:
			return false, nil // it is another lease's already
		case !l.attempted(got):
			return false, l.lostTo(got)
		}
		l.held = got
	}
	return false, err
}

// acquire takes a worker. If there is none to be had it waits for one, no longer than wait.
//
// It looks again when times run out, every now and then, and where the store tells of changes,
// after each. As each look reads all records that were made, there are the fewer, the more of
// those there are.
func (l *Lease) acquire(ctx context.Context, wait time.Duration) error {
	const shortest = 3 * time.Millisecond
	take, key := l.any(), workersKey(l.pool.name)
	if l.config.Worker.named {
		take, key = l.named(), workerKey(l.pool.name, l.config.Worker.number)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var changes <-chan struct{}
	for first := true; ; first = false {
		soonest, err := take(ctx)
		if err == nil || soonest.IsZero() || l.hopeless(err, soonest, wait) {
			return err
		}
		if wait > 0 {
			l.tellWait(err)
		}
		if first && wait > 0 {
			if changes = l.pool.store.(timed).watch(watching, key); changes != nil {
				continue // of what changed before, it need not tell
			}
		}
		pause := max(soonest.Sub(l.config.world.now()), shortest)
		switch {
		case isRescued(err): // nobody has anything to give back before
			pause += l.jitter()
		case changes != nil:
			pause = min(pause, seldom)
		default:
			pause = min(pause, max(often, l.price()))
		}
		if pause > wait {
			return err
		}
		waited, end := l.config.world.wait(ctx, pause, changes)
		if end == nil && waited < pause { // woken, as all who wait are
			jitter := min(l.jitter(), pause-waited)
			waited += jitter
			end = l.config.world.sleep(ctx, jitter)
		}
		if end != nil {
			return &waitError{err, end}
		}
		wait -= waited
	}
}

// hopeless reports whether a wait for a worker cannot succeed: nobody holds a worker to give back, and
// all are used up to beyond the wait.
func (l *Lease) hopeless(err error, soonest time.Time, wait time.Duration) bool {
	var none *NoWorkerError
	var held *HeldError
	nobodys := errors.As(err, &none) && none.Ahead || errors.As(err, &held) && held.Holder == ""
	return nobodys && soonest.Sub(l.config.world.now()) > wait
}

// How long a lease goes without a look at a pool in which it waits for a worker: often, and seldom
// if looks are dear or the store tells of changes.
const often, seldom = 100 * time.Millisecond, 2 * time.Second

// price is how long a lease goes at least between two looks at the pool, for what they cost: a
// second for a thousand records.
func (l *Lease) price() time.Duration {
	return min(time.Duration(l.looked)*time.Millisecond, seldom)
}

// jitter is any time up to that, for leases not to look all at once.
func (l *Lease) jitter() time.Duration {
	return time.Duration(l.config.world.intN(int(l.price()/time.Microsecond)+1)) * time.Microsecond
}

func isRescued(err error) bool {
	var none *NoWorkerError
	return errors.As(err, &none) && none.Rescued
}

// any returns a function that takes any worker that is free. With an error it returns when there
// may be one, if that is worth a wait: it is not once all holders were seen to renew, unless the
// caller says how long to wait.
func (l *Lease) any() func(context.Context) (time.Time, error) {
	seen := make(map[int]stored) // at the first try
	return func(ctx context.Context) (time.Time, error) {
		for times := 0; ; times++ {
			l.term = l.pool.term()
			all, err := l.records(ctx)
			if err != nil {
				return time.Time{}, err
			}
			if soonest, err := l.checkFloor(); err != nil {
				return soonest, err
			}
			free, soon, soonest := sortOut(all, l.now())
			if len(free)+len(soon) > 0 {
				if moved, err := l.pool.moved(ctx, l.term); err != nil {
					return time.Time{}, err
				} else if moved {
					continue
				}
			}
			for i := range free { // those who come at the same time try different ones
				n := i + l.config.world.intN(len(free)-i)
				free[i], free[n] = free[n], free[i]
			}
			failed := l.takeOne(ctx, append(free, soon...))
			switch failed {
			case nil:
				return time.Time{}, nil
			case errTaken:
				if err := l.standBack(ctx, times); err != nil {
					return time.Time{}, err
				}
				continue
			}
			// There is none, or only such as cannot be had: with records that a stopped
			// process is writing, say.
			own, grown, err := l.grow(ctx)
			if err == nil && own.Worker >= 0 {
				if soonest, err := l.checkFloor(); err != nil {
					return soonest, err
				}
				if _, ok, _ := l.take(ctx, own); ok {
					return time.Time{}, nil
				}
			}
			switch {
			case err != nil:
				return time.Time{}, err
			case grown || len(all) < l.pool.layout.Workers: // another lease may have made the last ones
				continue
			case failed == errExcluded: // its process says nothing of when it ends
				soonest = l.config.world.now().Add(often)
				return soonest, &NoWorkerError{Pool: l.pool.name, Workers: l.pool.layout.Workers, Soonest: soonest, Excluded: true}
			case failed != errNone:
				return time.Time{}, failed
			}
			none := &NoWorkerError{Pool: l.pool.name, Workers: l.pool.layout.Workers, Soonest: soonest, Ahead: true}
			alive := true
			for _, s := range all {
				none.Ahead = none.Ahead && s.Incarnation == ""
				if _, ok := seen[s.Worker]; !ok {
					seen[s.Worker] = s
				}
				alive = alive && s.renewed(seen[s.Worker])
			}
			if alive && !l.config.patient {
				soonest = time.Time{}
			}
			return soonest, none
		}
	}
}

// Why takeOne took none, besides errors of the store.
var (
	errNone  = errors.New("there is no free worker")
	errTaken = errors.New("another lease was quicker")
)

// mostFailures is how many records may be out of reach before a lease gives up on the others: each
// takes its time, and few are, unless all of them.
const mostFailures = 8

// mostTaken is how many workers may be taken by others before a lease looks at the pool again.
const mostTaken = 4

// takeOne takes one of the workers.
func (l *Lease) takeOne(ctx context.Context, workers []stored) error {
	why, failures, taken := errNone, 0, 0
	for _, s := range workers {
		_, ok, err := l.take(ctx, s)
		if ok {
			return nil
		}
		if err == nil {
			if why, taken = errTaken, taken+1; taken == mostTaken {
				return why
			}
			continue
		}
		if err == errExcluded {
			if why == errNone {
				why = err
			}
			continue
		}
		if failures++; why == errNone || why == errExcluded {
			why = err
		}
		if failures == mostFailures || ctx.Err() != nil {
			return err
		}
	}
	return why
}

// sortOut returns the workers that are free and those that will be in a moment, and when the
// first times end.
func sortOut(all []stored, now int64) (free, soon []stored, soonest time.Time) {
	first := now
	for i, s := range all {
		if i == 0 || s.Until < first {
			first = s.Until
		}
		switch {
		case s.Until <= now:
			free = append(free, s)
		case s.freeSoon(now):
			soon = append(soon, s)
		}
	}
	return free, soon, time.UnixMicro(first).UTC()
}

// renewed tells whether the holder of the worker has shown that it is alive.
func (s *stored) renewed(since stored) bool {
	return s.Incarnation != "" && s.Incarnation == since.Incarnation && s.Until > since.Until
}

// freeSoon tells whether a worker that was given back can be taken, by who waits for a moment.
func (s *stored) freeSoon(now int64) bool {
	return s.Incarnation == "" && s.Until <= now+grace.Microseconds()
}

// named returns a function like any's for the worker that was asked for. If another lease holds
// it, that may be one of a process that has died: it is worth a wait, as there.
func (l *Lease) named() func(context.Context) (time.Time, error) {
	worker, seen := l.config.Worker.number, stored{}
	find := func(ctx context.Context) (stored, error) { // the first time
		all, err := l.records(ctx)
		if err != nil {
			return stored{}, err
		}
		if i := slices.IndexFunc(all, func(s stored) bool { return s.Worker == worker }); i >= 0 {
			return all[i], nil
		}
		if err := l.growNamed(ctx, worker); err != nil {
			return stored{}, err
		}
		return l.pool.get(ctx, worker)
	}
	return func(ctx context.Context) (time.Time, error) {
		l.term = l.pool.term()
		s, err := find(ctx)
		if err != nil {
			return time.Time{}, err
		}
		if soonest, err := l.checkFloor(); err != nil {
			return soonest, err
		}
		find = func(ctx context.Context) (stored, error) { l.looked = 1; return l.pool.get(ctx, worker) }
		if now := l.now(); s.Until <= now || s.freeSoon(now) {
			moved, err := l.pool.moved(ctx, l.term)
			if err != nil {
				return time.Time{}, err
			}
			if !moved {
				got, ok, err := l.take(ctx, s)
				if err == errExcluded {
					return l.config.world.now().Add(often), &HeldError{Pool: l.pool.name, Worker: worker, Excluded: true}
				}
				if ok || err != nil {
					return time.Time{}, err
				}
				s = got
			}
		}
		until := time.UnixMicro(s.Until).UTC()
		held := &HeldError{Pool: l.pool.name, Worker: worker, Holder: s.Holder, Until: until}
		alive := s.renewed(seen)
		if seen = s; alive && !l.config.patient {
			return time.Time{}, held
		}
		return until, held
	}
}

// take takes the worker of a record that is free, and tells whether it could.
func (l *Lease) take(ctx context.Context, s stored) (stored, bool, error) {
	drop, err := l.exclude(s.Worker)
	if err != nil {
		return s, false, err
	}
	got, ok, err := l.claim(ctx, s, s.Until, l.floor(max(l.now(), s.Until)+l.config.First.Microseconds()))
	if !ok || err != nil {
		drop()
		return got, false, err
	}
	// Times from before the pool was are of no use to anybody.
	l.prior = min(max(s.Until, l.ceil(l.pool.created.UnixMicro())), got.From)
	if err := l.adopt(got, Acquired); err != nil { // the generator has no such worker
		if back, failed := l.giveBack(context.WithoutCancel(ctx), 0); back && failed == nil {
			l.notify(Event{Kind: Released, Worker: got.Worker, Until: time.UnixMicro(l.held.Until).UTC()})
		}
		l.lost = err
		return got, false, err
	}
	return got, true, nil
}

// records reads all records of the pool, and checks the clock by them.
func (l *Lease) records(ctx context.Context) ([]stored, error) {
	all, err := l.pool.records(ctx)
	if err != nil {
		return nil, err
	}
	l.looked = len(all)
	return all, l.checkClock(ctx, all)
}

// checkFloor returns an error, and until when, if nobody gets a worker yet after a rescue.
func (l *Lease) checkFloor() (time.Time, error) {
	floor := l.pool.term().floor
	if l.now() >= floor {
		return time.Time{}, nil
	}
	soonest := time.UnixMicro(floor).UTC()
	return soonest, &NoWorkerError{Pool: l.pool.name, Workers: l.pool.layout.Workers, Soonest: soonest, Rescued: true}
}

// CheckClock returns the *[SkewError] that Keep would return with these settings, nil if it would
// believe the clock. It is for tools.
func (p *Pool) CheckClock(ctx context.Context, c Config) error {
	c, err := c.settle(p.layout)
	if err == nil {
		_, err = p.lease(nil, c).records(ctx)
	}
	return err
}

// checkClock returns a *SkewError if the clock is not to be believed. That is for the times in
// the IDs and for the workers, which a clock that is ahead uses up: no ID is made twice, whatever
// the clock says.
//
// Without a clock of the store, it is behind if most records are ahead of it. It is ahead, or the
// pool was out of use for long, if no record is of the last year: those that are ahead of the clock
// do not count, so that one which a wrong clock has left years ahead does not make a pool look as if
// it were in use. One that is of the last year by this clock does, even if all others are older: it
// may be the only worker in use, or somebody has said that the clock is right.
func (l *Lease) checkClock(ctx context.Context, all []stored) error {
	now := l.config.world.now()
	if settled, err := l.checkByStore(ctx, now); settled {
		return err
	}
	latest := now.Add(l.config.MaxSkew).UnixMicro()
	floor := l.pool.term().floor // times before were used up by a rescue, whatever the clocks
	var used []int64
	newest := int64(0) // where the times end that are the last of those not ahead
	behind, of := 0, 1 // how many records of how many the clock is behind of, the pool's too:
	created := l.pool.created.UnixMicro()
	if created > latest {
		behind++ // a worker that is the first to be used is no majority
	}
	for _, s := range all {
		if s.Until <= floor {
			continue
		}
		used = append(used, s.Until)
		if of++; s.Until > latest+s.Window {
			behind++
		} else {
			newest = max(newest, s.Until)
		}
	}
	if len(used) == 0 {
		newest = max(created, floor)
		used = append(used, newest)
	}
	wrong := func(reference int64) error {
		return &SkewError{Pool: l.pool.name, Now: now, Reference: time.UnixMicro(reference).UTC()}
	}
	slices.Sort(used)
	switch {
	case 2*behind > of:
		return wrong(used[(len(used)-1)/2])
	case newest > 0 && now.UnixMicro()-newest > l.config.MaxIdle.Microseconds():
		return wrong(newest)
	}
	return nil
}

// checkAhead is checkClock for a renewal, which knows of one record.
func (l *Lease) checkAhead(ctx context.Context, now int64) error {
	if settled, err := l.checkByStore(ctx, time.UnixMicro(now)); settled {
		return err
	}
	if now > l.held.Until+l.config.MaxIdle.Microseconds() {
		return &SkewError{Pool: l.pool.name, Now: time.UnixMicro(now), Reference: time.UnixMicro(l.held.Until)}
	}
	return nil
}

// checkByStore compares the clock with the store's own time. It tells whether that settles the
// matter: not if the store has none, always if the clock is trusted.
func (l *Lease) checkByStore(ctx context.Context, now time.Time) (settled bool, err error) {
	if l.config.TrustClock {
		return true, nil
	}
	reference, ok, err := l.pool.store.(timed).now(ctx)
	if ok && err == nil && now.Sub(reference).Abs() > l.config.MaxSkew {
		err = &SkewError{Pool: l.pool.name, Now: now, Reference: reference, OfStore: true}
	}
	return ok, err
}

// now returns the time in Unix microseconds.
func (l *Lease) now() int64 { return l.config.world.now().UnixMicro() }

func (l *Lease) floor(us int64) int64 { return l.pool.layout.floor(us) }
func (l *Lease) ceil(us int64) int64  { return l.pool.layout.ceil(us) }
