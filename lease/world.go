package lease

import (
	"context"
	crand "crypto/rand"
	"encoding/hex"
	"time"
)

// A world runs the goroutines of a lease, and lets them wait. Simulations have worlds of their own.
// What else differs there is a value of the settings: the clock, and random numbers.
type world interface {
	// spawn runs f in a new goroutine.
	spawn(f func())
	// wait waits until ready has a value or is closed, for at most d. If ctx ends first, wait returns
	// its cause. Waited is how long that took. Ready may be nil; forever is no limit.
	wait(ctx context.Context, d time.Duration, ready <-chan struct{}) (waited time.Duration, err error)
	// timeout is context.WithTimeout.
	timeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc)
}

// forever is longer than any wait, and small enough to count with.
const forever = time.Duration(1) << 61

// sleep sleeps for d. If ctx ends first, sleep returns its cause.
func sleep(ctx context.Context, w world, d time.Duration) error {
	_, err := w.wait(ctx, d, nil)
	return err
}

// await waits until done is closed. If ctx ends first, await returns its cause.
func await(ctx context.Context, w world, done <-chan struct{}) error {
	_, err := w.wait(ctx, forever, done)
	return err
}

// A lock is a mutex: a channel that has a value while nobody has the lock. In a bubble of
// testing/synctest and in a simulation, time passes while a goroutine waits for a lock.
type lock chan struct{}

func newLock() lock {
	l := make(lock, 1)
	l.unlock()
	return l
}

func (l lock) lock(w world) { await(context.Background(), w, l) }
func (l lock) unlock()      { l <- struct{}{} }

// setReal sets what a simulation has not set: the clock, the names and the world of a process.
func setReal(clock *func() time.Time, newName *func() string, w *world) {
	if *clock == nil {
		*clock = time.Now
	}
	if *newName == nil {
		*newName = randomName
	}
	if *w == nil {
		*w = realWorld{}
	}
}

type realWorld struct{}

func (realWorld) spawn(f func()) { go f() }

func (realWorld) wait(ctx context.Context, d time.Duration, ready <-chan struct{}) (waited time.Duration, err error) {
	began := time.Now()
	var over <-chan time.Time
	if d < forever {
		over = time.After(d)
	}
	select {
	case <-ready:
	case <-over:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	return min(time.Since(began), d), err
}

func (realWorld) timeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, d)
}

// randomName returns 128 random bits in hexadecimal.
func randomName() string {
	b := make([]byte, 16)
	crand.Read(b) // never fails: the program ends if the system has no randomness
	return hex.EncodeToString(b)
}
