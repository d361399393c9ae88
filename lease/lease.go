package lease

import (
	"context"
	"errors"
	"fmt"
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

	// work guards the fields below. Keep, run and Close hold it, except while they call Notify.
	work lock

	state
	err      error            // what Close returns
	attempts map[int]attempts // by worker
	claims   map[int]func()   // by worker: what drops the claim on the machine, see exclude

	// What the last search for a worker found.
	term   term          // the pool's
	looked int           // how many records it read
	took   time.Duration // how long the last change in the store took
}

// A lock is a mutex that is a channel: in a bubble of testing/synctest, time passes while a goroutine
// waits for it.
type lock chan struct{}

func (l lock) Lock()   { l <- struct{}{} }
func (l lock) Unlock() { <-l }

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
	if !l.closed() {
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
			if pause = l.untilDue(); pause > 0 || l.closed() {
				return
			}
			l.expireInTime()
			err := l.renewInTime(ctx)
			switch {
			case ctx.Err() != nil || l.closed():
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
	if !l.closed() {
		work()
	}
	return ctx.Err() == nil && !l.closed()
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
	lead := l.lead * 7 / 10
	switch l.phase {
	case phaseLost:
		return 0
	case phaseWithdrawn:
		lead = l.config.Window.Microseconds()
	}
	return min(max(time.UnixMicro(l.allotted-lead).Sub(l.config.world.now()), 0), slice, time.Duration(l.lead)*time.Microsecond/10)
}

// renew adds times to the lease, or takes another worker for one that was lost.
func (l *Lease) renew(ctx context.Context) error {
	if l.phase == phaseLost {
		return l.replace(ctx)
	}
	now := l.now()
	until := l.roundDown(now + l.config.Window.Microseconds())
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
	l.lose(l.lostTo(got))
	l.notify(Event{Kind: Lost, Worker: got.Worker, Until: time.UnixMicro(l.held.Until), Err: l.why})
	return nil
}

// replace takes another worker for one that was lost; not if the store has lost something, until the
// pool was rescued.
func (l *Lease) replace(ctx context.Context) error {
	if errors.Is(l.why, ErrRolledBack) {
		moved, err := l.pool.moved(ctx, l.term)
		if err != nil {
			return err
		}
		if !moved {
			return l.why
		}
		l.lose(l.rescued())
	}
	return l.acquire(ctx, 0)
}

func (l *Lease) rescued() error {
	return fmt.Errorf("pool %s: worker %d: %w, and no lease from before has more times", l.pool.name, l.held.Worker, ErrRescued)
}

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
	had := l.close()
	l.end()
	if !had {
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

// now returns the time in Unix microseconds.
func (l *Lease) now() int64 { return l.config.world.now().UnixMicro() }

// roundDown returns the start of the tick that a time is in.
func (l *Lease) roundDown(us int64) int64 { return l.pool.layout.floor(us) }

// roundUp returns the first start of a tick that is not before a time.
func (l *Lease) roundUp(us int64) int64 { return l.pool.layout.ceil(us) }
