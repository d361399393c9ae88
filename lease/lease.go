package lease

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// A Lease keeps a generator working. The lease takes a worker from a pool, grants intervals of the
// worker to the generator ahead of the clock, and gives back the unused part at the end. A Lease is
// safe for concurrent use.
type Lease struct {
	name        string // of the pool
	pool        *Pool  // origin with a time-out for each request; nil until the pool is open
	generator   grant.Grantee
	wanted      grant.Spec
	config      Config
	incarnation string // a random name, different for each lease
	began       time.Time

	stop   context.CancelFunc
	done   chan struct{}         // of Done
	seal   lock                  // guards shut
	shut   bool                  // end was called
	ending atomic.Pointer[error] // why the generator is being sealed, or was
	sealed int64                 // the generator has minted nothing from this time on

	numbers numbers

	mu         sync.Mutex
	origin     *Pool
	worker     int
	until      time.Time
	trouble    error
	fault      time.Time // when the first event of the present fault came; zero without one
	searching  bool      // in the background, for the first worker
	leaving    bool      // Close came during the search
	events     []Event   // the queue of Notify
	delivering bool      // a call of Notify is under way

	looks     looks // of Confirm
	expecting atomic.Pointer[expected]

	// work guards the fields below. start, run and Close hold work, except in calls of Notify.
	work lock

	opener *opener       // nil if the program has opened the store
	store  driver.Store  // nil until it is open
	owned  bool          // the lease has opened the store, and closes it
	again  *opener       // opens the store again, see [Lease.reopen]
	within timed         // store with a time-out for each request
	told   error         // the kind of error in the last event Failing of the search
	quiet  time.Duration // the pauses of the search since

	state
	err      error            // what Close returns
	attempts map[int]attempts // by worker
	claims   map[int]claimed  // by worker, on the machine

	opened opened // until the first search

	// What the last search for a worker found.
	term     term                  // the pool's
	claiming time.Time             // when the last try began to claim workers
	looked   int                   // how many records it read
	excluder *driver.ExcludedError // of the last worker that another pool uses
	took     time.Duration         // how long the last change in the store took
}

func (l *Lease) lockWork() { l.work.lock(l.config.world) }

// goOn renews the lease until Close, and then calls ended. The last call of Close is the goroutine's
// own: it waits for a call under way, and so the worker was given back when done is closed.
func (l *Lease) goOn(ctx context.Context, ended func()) {
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	go func() {
		defer close(l.done)
		defer ended()
		if !l.inBackground() || l.search(running) {
			l.run(running)
		}
		l.Close()
	}()
}

// keep opens the pool unless it is open, takes a worker, and grants an interval to the generator. It
// returns when the generator can mint.
func (l *Lease) keep(ctx context.Context) error {
	defer l.deliver()
	l.lockWork()
	defer l.work.unlock()
	if l.pool == nil {
		if err := l.openPool(ctx); err != nil {
			return err
		}
	}
	if err := l.acquire(ctx, l.config.Wait); err != nil {
		l.unclaimAll() // the generator has no interval
		return err
	}
	// The interval may begin a moment after now if two clocks differ a little. If the clock goes
	// back further, the generator reports an error.
	ahead := time.UnixMicro(l.since).Sub(l.config.clock())
	if err := sleep(ctx, l.config.world, min(max(ahead, 0), grace)); err != nil {
		l.release(context.WithoutCancel(ctx))
		return err
	}
	return nil
}

// lease returns a lease without a worker.
func (p *Pool) lease(store timed, g grant.Grantee, c Config) *Lease {
	l := newLease(p.name, g, c)
	l.use(p, store)
	return l
}

// newLease returns a lease without a pool. The settings are settled.
func newLease(name string, g grant.Grantee, c Config) *Lease {
	return &Lease{name: name, generator: g, config: c, incarnation: c.newName(), worker: -1,
		stop: func() {}, done: make(chan struct{}), seal: newLock(), work: newLock(), attempts: make(map[int]attempts),
		claims: make(map[int]claimed)}
}

// use makes the lease one of a pool. The lease makes its requests by the store, which is the pool's
// store with a time limit.
func (l *Lease) use(p *Pool, store timed) {
	within := *p
	l.looks.store = store
	l.looks.store.turn = new(turn)
	store.took = &l.took
	within.store = store
	l.pool = &within
	l.mu.Lock()
	defer l.mu.Unlock()
	l.origin = p
}

// Worker returns the number of the worker, and -1 before the first worker. The number changes only
// after the worker was lost.
func (l *Lease) Worker() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.worker
}

// Until returns the end of the lease's interval, and the zero time before the first interval.
func (l *Lease) Until() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.until
}

// Err returns the error of the last renewal, and nil if the renewal succeeded. While the lease
// starts in the background, Err returns the error of the last try. Once the lease has ended, Err
// returns the reason for good: [ErrClosed] after Close, or the error of the event [Ended].
func (l *Lease) Err() error {
	if ending := l.ending.Load(); ending != nil {
		return *ending
	}
	return l.failure()
}

// failure returns the error of the last renewal, or of the last try of a start in the background.
func (l *Lease) failure() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.trouble
}

// Done returns a channel that is closed when the lease has ended: after Close, or after an error
// that no retry can mend (event [Ended]). The lease has then given its worker back, if the store
// has answered in time, and makes no more requests. Err returns the reason. A lease that loses its
// worker has not ended: it takes another worker.
//
// Config.Notify must not wait for Done: the lease does not end during a call of Notify.
func (l *Lease) Done() <-chan struct{} { return l.done }

// Pool returns the worker's pool. While a lease that starts in the background has not opened the pool
// yet, Pool returns nil.
func (l *Lease) Pool() *Pool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.origin
}

// Close seals the generator at once, and gives back the worker and the unused part of the interval.
// After an error the worker may come free only at the end of the interval. Further calls return the
// same error.
//
// Close may be called from any goroutine, and within Config.Notify. It waits for requests to the
// store, each for at most Config.Timeout. Close never waits for a call of Notify: if a call is
// under way, the event Released follows after the call, and perhaps after Close has returned.
//
// While a lease still starts in the background, Close returns at once. The lease's goroutine then
// ends the search within a few times Config.Timeout, and gives back a worker that came meanwhile.
// [Lease.Done] tells when. A program that exits before leaves the worker unused for up to
// Config.First.
func (l *Lease) Close() error {
	l.stop()
	l.end(nil)
	defer l.deliver()
	if l.leave() {
		return nil
	}
	l.lockWork()
	defer l.work.unlock()
	if !l.closed() {
		l.err = cmp.Or(l.release(context.Background()), l.closeStore())
	}
	return l.err
}

// end seals the generator. A nil error means that the lease was closed.
func (l *Lease) end(why error) {
	l.seal.lock(l.config.world)
	defer l.seal.unlock()
	if l.shut {
		return
	}
	l.shut = true
	if why == nil {
		why = ofPool(l.name, "%w", ErrClosed)
	}
	l.ending.Store(&why)
	l.sealed = l.generator.Seal(why).UnixMicro()
	l.numbers.ended.Store(true)
}

const (
	slice = 250 * time.Millisecond // the longest sleep, so that a lease soon notices a clock that jumps
	grace = 50 * time.Millisecond  // how far ahead of the clock the interval of a free worker may begin
)

// run renews the lease until ctx ends.
func (l *Lease) run(ctx context.Context) {
	retry := l.newBackoff()
	for pause, more := time.Duration(0), true; more; {
		if sleep(ctx, l.config.world, max(pause, time.Millisecond)) != nil {
			return
		}
		pause, more = l.wake(ctx, retry)
	}
}

// wake does the work of one wake. Wake returns how long to sleep, and reports whether the lease has
// more work.
func (l *Lease) wake(ctx context.Context, retry *backoff) (pause time.Duration, more bool) {
	l.lockWork()
	defer l.work.unlock()
	if !l.closed() {
		pause = l.step(ctx, retry)
	}
	return pause, ctx.Err() == nil && !l.closed()
}

// step drops claims that have ended, takes back an interval ahead of the clock, and renews the lease if
// the renewal is due. Step returns how long to sleep.
func (l *Lease) step(ctx context.Context, retry *backoff) time.Duration {
	l.unclaimLost()
	l.withdraw()
	l.catchUp()
	if pause := l.untilDue(); pause > 0 || l.closed() {
		return pause
	}
	l.expireInTime()
	err := l.inTime(ctx, l.renew)
	if refusesAll(err) && l.inTime(ctx, l.reopen) == nil && !l.closed() {
		err = l.inTime(ctx, l.renew)
	}
	switch {
	case ctx.Err() != nil || l.closed():
		return 0
	case err == nil:
		retry.reset()
		return 0
	}
	l.fail(err)
	pause := l.untilRetry(err, retry.next())
	if left := l.left(); left > 0 { // try once more, and tell callers at the end of the interval
		pause = min(pause, max(left/2, min(left, shortestBackoff)))
	}
	return pause
}

// A backoff doubles the pauses after failed renewals, from shortestBackoff to longest.
type backoff struct{ pause, longest time.Duration }

const shortestBackoff = 50 * time.Millisecond

func (l *Lease) newBackoff() *backoff {
	return &backoff{shortestBackoff, min(500*time.Millisecond, max(l.config.Window/20, shortestBackoff))}
}

func (b *backoff) reset() { b.pause = shortestBackoff }

func (b *backoff) next() time.Duration {
	pause := b.pause
	b.pause = min(2*pause, b.longest)
	return pause
}

// inTime makes requests that end at the end of the lease's interval, so that callers are told in time, whatever
// the store does. After that end, only Config.Timeout limits a request.
func (l *Lease) inTime(ctx context.Context, do func(context.Context) error) error {
	if left := l.left(); left > 0 {
		within, cancel := l.config.world.timeout(ctx, left)
		defer cancel()
		ctx = within
	}
	return do(ctx)
}

// longestPause is the longest pause before a time at which a worker may come free.
const longestPause = 10 * time.Second

// untilRetry returns how long to pause after an error: usual, or longer if the pool has no free
// worker. A search in a full pool reads all records. After a recovery no worker comes free before a known
// time.
func (l *Lease) untilRetry(err error, usual time.Duration) time.Duration {
	none, ok := errors.AsType[*NoWorkerError](err)
	if !ok {
		return usual
	}
	pause := max(usual, l.price())
	if none.Recovered {
		pause = max(pause, min(none.Soonest.Sub(l.config.clock())+l.jitter(), longestPause)) // the clock may be set before
	}
	return pause
}

// untilDue returns how long to sleep until the lease has to be renewed, and 0 if the renewal is
// due.
func (l *Lease) untilDue() time.Duration {
	lead := l.lead * 7 / 10
	switch l.phase {
	case phaseLost:
		return 0
	case phaseWithdrawn:
		lead = l.config.Window.Microseconds()
	}
	return min(max(time.UnixMicro(l.granted-lead).Sub(l.config.clock()), 0), slice, time.Duration(l.lead)*time.Microsecond/10)
}

// renew extends the lease's interval, or takes another worker if the worker was lost.
func (l *Lease) renew(ctx context.Context) error {
	if l.phase == phaseLost {
		return l.replace(ctx)
	}
	now := l.now()
	until := l.roundDown(now + l.config.Window.Microseconds())
	if l.foreign(now) {
		return l.forgo(ctx)
	}
	if until <= l.granted {
		return nil // the clock went back, and the interval reaches far enough
	}
	if err := l.checkAhead(ctx, now); err != nil {
		return err
	}
	got, ok, err := l.claim(ctx, l.held, max(l.granted, l.prior), until)
	switch {
	case err != nil:
		return err
	case ok:
		l.adopt(got, Renewed)
		return l.grant(got, Renewed)
	}
	l.lose(l.lostTo(got))
	l.notify(Event{Kind: Lost, Worker: got.Worker, Until: time.UnixMicro(l.held.Until), Err: l.why})
	return nil
}

// replace takes another worker. If the store has lost changes, replace takes no worker before the
// pool was recovered.
func (l *Lease) replace(ctx context.Context) error {
	if errors.Is(l.why, ErrRolledBack) {
		moved, err := l.pool.moved(ctx, l.term)
		if err != nil {
			return err
		}
		if !moved {
			return l.why
		}
		l.lose(l.pool.recovered(l.held.Worker))
	}
	return l.acquire(ctx, 0)
}

func (p *Pool) recovered(worker int) error {
	return ofPool(p.name, "worker %d: %w, which has ended all earlier leases", worker, ErrRecovered)
}

// fail notes that a renewal failed. If the interval has ended, callers are told.
func (l *Lease) fail(err error) {
	l.numbers.failures.Add(1)
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

// expire tells callers that the interval has ended, and why.
func (l *Lease) expire(err error) {
	expired := &ExpiredError{Pool: l.pool.name, Worker: l.held.Worker, Until: time.UnixMicro(l.ends()).UTC(), Cause: err}
	l.generator.Refuse(expired)
	if !l.expired {
		l.expired = true
		l.notify(Event{Kind: Expired, Worker: l.held.Worker, Until: expired.Until, Err: expired})
	}
}

// expireInTime tells callers that the interval of a failing lease has ended, before the next
// request to the store: the request may take long.
func (l *Lease) expireInTime() {
	if err := l.failure(); err != nil && !l.expired && l.left() <= 0 {
		l.expire(err)
	}
}

// release seals the generator, and then gives back the worker and the unused part of the interval.
// The record is written at the lease's own revision.
func (l *Lease) release(ctx context.Context) error {
	defer l.unclaimAll() // after the generator was sealed
	had := l.close()
	l.end(nil)
	if !had {
		return nil
	}
	until := l.held.Until
	back, err := l.giveBack(ctx, l.sealed)
	switch {
	case errors.Is(err, driver.ErrUnavailable):
		return ofPool(l.pool.name, "worker %d was not given back, and is free from %s on: %w",
			l.held.Worker, timeText(time.UnixMicro(until)), err)
	case err == nil && back:
		l.post(Event{Kind: Released, Worker: l.held.Worker, Until: time.UnixMicro(l.held.Until).UTC()})
	}
	return err
}

// now returns the time in Unix microseconds.
func (l *Lease) now() int64 { return l.config.clock().UnixMicro() }

// roundDown returns the start of the tick of a time.
func (l *Lease) roundDown(us int64) int64 { return tickStart(l.pool.layout, us) }

// roundUp returns the first start of a tick at or after a time.
func (l *Lease) roundUp(us int64) int64 { return tickEnd(l.pool.layout, us) }
