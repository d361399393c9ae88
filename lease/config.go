package lease

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/firn-id/firn/lease/grant"
)

// The defaults of [Config].
const (
	DefaultWindow  = 10 * time.Second
	DefaultFirst   = time.Second
	DefaultTimeout = 2 * time.Second
	DefaultMaxSkew = time.Minute
	DefaultMaxIdle = 365 * 24 * time.Hour
)

// MaxWindow is the longest window. The pool's record remembers the longest window of any lease, and each
// recovery keeps the workers for as long.
const MaxWindow = 24 * time.Hour

// minTicks is the shortest window, in ticks.
const minTicks = 3

// Config holds the settings of a lease. The zero Config takes any worker of the pool that the
// generator names, and windows of 10 s.
type Config struct {
	// Pool is the name of the pool in the store. "" means the name in the generator's
	// [grant.Spec]: "nanoflake" for a Nanoflake generator with the default epoch, for instance.
	Pool string

	// Create makes [Start] create the pool if the store has no such pool. With a wrong address of
	// the store or a wrong name, a new pool hides the mistake, and its workers may be in use: set
	// Create only where neither can be wrong. The event [Created] reports the new pool. A store of one
	// machine (a [driver.Local]) needs no Create for the pool that the generator names.
	Create bool

	// Worker chooses the worker: the zero Choice takes any free worker, [Number] one worker.
	Worker Choice

	// Window is how far ahead of the clock the lease allocates intervals. The lease renews after
	// 3/10 of the window. Minting therefore survives an outage of the store of 7/10 of the window,
	// less the Timeout if the store does not answer. A crash leaves the worker unused for up to a
	// window. 0 means DefaultWindow. The least Window is 3 ticks of the format, and 10 ms; the longest is
	// MaxWindow.
	Window time.Duration

	// First is the length of the first interval. A process that crashes early leaves its worker
	// unused for at most First. 0 means DefaultFirst, or the Window if shorter.
	First time.Duration

	// Timeout bounds each request to the store, even if the store ignores its context. 0 means
	// DefaultTimeout, or 3/10 of the Window if shorter.
	Timeout time.Duration

	// Wait bounds the time that Start waits for a worker if all workers are taken. A negative Wait
	// means no wait. 0 means the Window and 5 s, in which the workers of crashed processes come
	// free; Start then gives up sooner once all holders have renewed, and so are alive. Start never
	// waits if no lease holds a worker and the timestamps of all workers are used up beyond the
	// wait.
	Wait time.Duration

	// Background makes [Start] return at once: a program can then start while its store is out of
	// reach. Start returns an error only if the Config is invalid, the generator does not take a
	// lease, or the context has ended. The lease goes on in the background: it opens the pool and takes
	// a worker. Wait has no effect, and the context of Start neither.
	//
	// Until the lease has its first worker, methods of the generator that can wait do wait, as long as
	// their contexts allow. Other methods return a *[StartingError] with the reason.
	//
	// The lease tries again after an error that an operator can mend: the store is down, no worker is
	// free, the clock is wrong, the pool needs a recovery. The pause between two tries is random, and on
	// average at most 5 s. The lease raises the events [Failing] and [Waiting] meanwhile. [ErrConfig],
	// a *[MismatchError], [ErrNoPool], [ErrVersion], driver.ErrAddress and an error of the generator
	// end the search: no retry can mend these. The error is then the generator's error for good, the
	// result of [Lease.Err], and the event [Ended].
	Background bool

	// Holder describes this process to operators, in up to 200 bytes of JSON. A longer Holder is
	// shortened. The store shows the Holder beside the worker. "" means the name of the program, the
	// number of the process and the host. The history of the worker has these three in any case, and
	// up to 64 bytes of the Holder (see [Pool.HolderAt]).
	Holder string

	// TrustClock makes the lease accept the clock where the store disagrees, without a
	// [SkewError]. IDs are unique with any clock. But a clock ahead of the time writes timestamps
	// ahead of the time, and makes the worker unusable until the time catches up.
	TrustClock bool

	// MaxSkew is the largest accepted difference between the clock and the store's clock. If the
	// store has no clock, MaxSkew is how far the clock may be behind most records of the pool. 0
	// means DefaultMaxSkew. A larger difference is a [SkewError].
	MaxSkew time.Duration

	// MaxIdle applies to stores without a clock: if the pool seems unused for longer than MaxIdle,
	// the lease takes the clock to be wrong, and the error is a [SkewError]. 0 means
	// DefaultMaxIdle.
	MaxIdle time.Duration

	// Notify, if not nil, is called with each event of the lease, one call at a time. It must
	// return soon: the lease does not renew during the call. Notify may call the lease's methods,
	// including Close. The lease calls Notify with Acquired or Renewed before the generator makes
	// the first ID of the interval.
	Notify func(Event)

	me      holding          // this process in the history of the worker, without times
	short   time.Duration    // leases that are shorter share entries of the history
	patient bool             // the lease waits for a worker although all holders are alive
	clock   func() time.Time // of the generator; nil means time.Now
	newName func() string    // returns a random name, a different one each time; nil means randomName
	intN    func(n int) int  // returns a random number in [0, n); nil means rand.IntN
	world   world            // nil for the real one
}

// A Choice chooses the worker of a lease. The zero Choice means any free worker.
type Choice struct {
	number int
	named  bool
}

// Number chooses the worker with a number. The worker's record remembers which timestamps were
// allocated. So no timestamp is allocated again, whatever the clock does over restarts.
func Number(worker int) Choice { return Choice{number: worker, named: true} }

// settle fills in the defaults, and checks the settings.
func (c Config) settle(layout grant.Layout) (Config, error) {
	if c.Worker.named && (c.Worker.number < 0 || c.Worker.number >= layout.Workers) {
		return c, fmt.Errorf("%w: worker %d is not in 0 to %d", ErrConfig, c.Worker.number, layout.Workers-1)
	}
	c.Window = cmp.Or(c.Window, DefaultWindow)
	c.First = cmp.Or(c.First, min(DefaultFirst, c.Window))
	c.Timeout = cmp.Or(c.Timeout, min(DefaultTimeout, c.Window*3/10))
	c.patient = c.Wait > 0 || c.Background
	c.Wait = cmp.Or(c.Wait, c.Window+5*time.Second)
	c.MaxSkew = cmp.Or(c.MaxSkew, DefaultMaxSkew)
	c.MaxIdle = cmp.Or(c.MaxIdle, DefaultMaxIdle)
	for _, d := range []struct {
		name         string
		value, least time.Duration
	}{
		{"Window", c.Window, max(minTicks*layout.Unit, 10*time.Millisecond)},
		{"First", c.First, minTicks * layout.Unit},
		{"Timeout", c.Timeout, time.Millisecond},
		{"MaxSkew", c.MaxSkew, time.Millisecond},
		{"MaxIdle", c.MaxIdle, time.Second},
	} {
		if d.value < d.least {
			return c, fmt.Errorf("%w: %s %v is less than %v", ErrConfig, d.name, d.value, d.least)
		}
	}
	if c.Window > MaxWindow {
		return c, fmt.Errorf("%w: Window %v is more than %v", ErrConfig, c.Window, MaxWindow)
	}
	if c.First > c.Window {
		return c, fmt.Errorf("%w: First %v is more than the Window of %v", ErrConfig, c.First, c.Window)
	}
	if c.me == (holding{}) {
		c.me = thisProcess(c.Holder)
	}
	if c.Holder == "" {
		c.Holder = c.me.holder().String()
	}
	c.Holder = fit(c.Holder, maxHolder)
	c.short = cmp.Or(c.short, shortLease)
	if c.Notify == nil {
		c.Notify = func(Event) {}
	}
	if c.intN == nil {
		c.intN = rand.IntN
	}
	setReal(&c.clock, &c.newName, &c.world)
	return c, nil
}
