package lease

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"github.com/firn-id/firn/allot"
)

// The defaults of Config.
const (
	DefaultWindow  = 10 * time.Second
	DefaultFirst   = time.Second
	DefaultTimeout = 2 * time.Second
	DefaultMaxSkew = time.Minute
	DefaultMaxIdle = 365 * 24 * time.Hour
)

// minTicks is the shortest window, in ticks.
const minTicks = 3

// Config says how a lease is kept. The zero Config takes any worker of the pool that the generator
// names, for windows of 10 s.
type Config struct {
	// Pool is the name of the pool in the store. "" means the name that follows from the format
	// and the settings of the generator: "nanoflake", for instance.
	Pool string

	// Create makes [Start] create the pool if the store has none. A pool in another store, or of
	// another name, gives out workers that are in use: set Create only where neither the address
	// of the store nor the name can be wrong. Start creates the pool that the generator names on a
	// store of one machine (a [driver.Local]) without Create.
	Create bool

	// Worker is the worker to take: Any, or a Number.
	Worker Choice

	// Window is how far ahead times are allocated. They are renewed after 3/10 of it, so an
	// outage of the store may last 7/10, less the Timeout if the store is silent. A crash
	// leaves the worker unused for up to a window. 0 means 10 s.
	Window time.Duration

	// First is the first window, short, so that processes that die early leave little
	// behind. 0 means 1 s, or the Window if that is shorter.
	First time.Duration

	// Timeout is how long a request of the store may take, whether or not the store heeds its
	// context. 0 means 2 s, or 3/10 of the Window if that is shorter.
	Timeout time.Duration

	// Wait is how long Start waits for a worker if all are taken. 0 means a window and 5 s,
	// in which workers of processes that have died come free, and no longer than until all
	// holders were seen to renew; negative, not at all. If nobody has a worker to give back,
	// and all are used up to beyond the wait, Start does not wait.
	Wait time.Duration

	// Holder is what the store tells people about who has the worker. "" means the
	// program, the process and the host.
	Holder string

	// TrustClock takes the clock for right where the store says otherwise: there is no
	// [SkewError]. IDs stay unique, whatever the clock. A clock that is ahead makes IDs
	// that are, and uses up its worker up to that time.
	TrustClock bool

	// MaxSkew is how far the clock may be from that of the store or, if it has none, behind
	// what most workers have used. 0 means a minute.
	MaxSkew time.Duration

	// MaxIdle is how long a pool may have been out of use, if its store has no clock: one
	// that says longer than that is taken to be wrong. 0 means 365 days.
	MaxIdle time.Duration

	// Notify, if not nil, is called with what happens to the lease, one call at a time. It
	// must return soon: the lease is not renewed meanwhile. It may call the lease's methods,
	// Close too. Acquired and Renewed come before any ID of their times.
	Notify func(Event)

	clock   func() time.Time // of the generator; nil means time.Now
	patient bool             // there was a Wait: it is waited out
	world   world            // nil for the real one
}

// A Choice chooses the worker of a lease. The zero Choice is any worker.
type Choice struct {
	number int
	named  bool
}

// Number chooses one worker. The worker's record remembers its timestamps: whatever the clock does
// over restarts, no timestamp is allocated again.
func Number(worker int) Choice { return Choice{number: worker, named: true} }

// settle fills in the defaults, and checks the settings.
func (c Config) settle(layout allot.Layout) (Config, error) {
	if c.Worker.named && (c.Worker.number < 0 || c.Worker.number >= layout.Workers) {
		return c, fmt.Errorf("%w: worker %d is not in 0 to %d", ErrConfig, c.Worker.number, layout.Workers-1)
	}
	setDefault(&c.Window, DefaultWindow)
	setDefault(&c.First, min(DefaultFirst, c.Window))
	setDefault(&c.Timeout, min(DefaultTimeout, c.Window*3/10))
	c.patient = c.Wait > 0
	setDefault(&c.Wait, c.Window+5*time.Second)
	setDefault(&c.MaxSkew, DefaultMaxSkew)
	setDefault(&c.MaxIdle, DefaultMaxIdle)
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
	if c.First > c.Window {
		return c, fmt.Errorf("%w: First %v is more than the Window of %v", ErrConfig, c.First, c.Window)
	}
	if c.Holder == "" {
		c.Holder = self()
	}
	if len(c.Holder) > maxHolder {
		c.Holder = c.Holder[:maxHolder]
	}
	if c.Notify == nil {
		c.Notify = func(Event) {}
	}
	if c.world == nil {
		c.world = realWorld{clock: c.clock}
	}
	return c, nil
}

func setDefault(d *time.Duration, to time.Duration) {
	if *d == 0 {
		*d = to
	}
}

// maxHolder is the largest size of Config.Holder in bytes.
const maxHolder = 200

// self describes the process for operators.
func self() string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	return fmt.Sprintf("%s (process %d on %s)", filepath.Base(os.Args[0]), os.Getpid(), host)
}

// A world has the time and the chance that a lease depends on. Simulations have their own worlds.
type world interface {
	now() time.Time
	// sleep sleeps for d. If ctx ends first, sleep returns its error.
	sleep(ctx context.Context, d time.Duration) error
	// wait is sleep that a value from wake ends, too. It returns how long it has slept. Wake may be
	// nil.
	wait(ctx context.Context, d time.Duration, wake <-chan struct{}) (time.Duration, error)
	// random returns so many random bits in hexadecimal, different on each call.
	random(bits int) string
	// intN returns a random number in [0, n).
	intN(n int) int
	// timeout is context.WithTimeout.
	timeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
	// start runs f in a new goroutine, and returns a channel that is closed when f has returned.
	start(f func()) <-chan struct{}
	// await waits until done is closed. If ctx ends first, await returns its error.
	await(ctx context.Context, done <-chan struct{}) error
}

type realWorld struct{ clock func() time.Time }

func (w realWorld) now() time.Time {
	if w.clock != nil {
		return w.clock()
	}
	return time.Now()
}

func (w realWorld) sleep(ctx context.Context, d time.Duration) error {
	_, err := w.wait(ctx, d, nil)
	return err
}

func (realWorld) wait(ctx context.Context, d time.Duration, wake <-chan struct{}) (time.Duration, error) {
	began := time.Now()
	timer := time.NewTimer(d)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
			return d, nil
		case _, open := <-wake:
			if open {
				return min(time.Since(began), d), nil
			}
			wake = nil // the store tells of no more changes
		case <-ctx.Done():
			return min(time.Since(began), d), context.Cause(ctx)
		}
	}
}

func (realWorld) random(bits int) string {
	b := make([]byte, bits/8)
	crand.Read(b) // never fails: the program ends if the system has no randomness
	return hex.EncodeToString(b)
}

func (realWorld) intN(n int) int { return rand.IntN(n) }

func (realWorld) timeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

func (realWorld) start(f func()) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	return done
}

func (realWorld) await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
