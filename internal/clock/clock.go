// Package clock reads the time and waits for it.
package clock

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/internal/alarm"
)

// Clock reads the wall clock. The zero Clock reads the system's.
type Clock struct {
	read func() time.Time // nil for the system's, so that the common case is a direct call
}

// New returns the Clock that reads from f, or from the system where f is nil.
func New(f func() time.Time) Clock { return Clock{read: f} }

// Now returns the time.
func (c Clock) Now() time.Time {
	if c.read != nil {
		return c.read()
	}
	t := time.Now()
	if set := Set.Load(); set != nil {
		return (*set)(t)
	}
	return t
}

// Set makes of a reading of the system's clock what it would be if that
// were set to other times, if it is not nil; the counters that deadlines are counted by go on. It is for
// tests of what is made of such a clock, which nothing else can be set for.
var Set atomic.Pointer[func(time.Time) time.Time]

// Horizon is how far from 1970 the seconds of a time may be for its microseconds to be
// far from the end of an int64: 139 000 years.
const Horizon = 1 << 42

// Millis returns t in milliseconds since the Unix epoch. Unlike the method of
// time.Time it saturates: a time that no int64 holds is not mistaken for another.
func Millis(t time.Time) int64 {
	switch s := t.Unix(); {
	case s >= math.MaxInt64/1000:
		return math.MaxInt64
	case s <= math.MinInt64/1000:
		return math.MinInt64
	}
	return t.UnixMilli()
}

const (
	// spin is a pause that is too short for a sleep.
	spin = 20 * time.Microsecond

	// Longest bounds a pause, so that callers soon notice a clock that was set forward, and a
	// context that has ended.
	Longest = 5 * time.Millisecond
)

// Pause sleeps for d or for [Longest], whichever is shorter. It holds no P, so other goroutines run
// meanwhile, and it burns no core.
//
// Pause does not watch a context. A timer with a channel could, but belongs to the bubble of
// testing/synctest that made it, and so each pause would have to make another timer.
func Pause(d time.Duration) {
	d = min(d, Longest)
	if inBubble() {
		time.Sleep(d)
		return
	}
	if d <= spin {
		runtime.Gosched()
		return
	}
	alarm.Sleep(d)
}

// inBubble reports whether the caller is in a bubble of testing/synctest, where time passes only in
// the runtime's own sleeps. The times of a bubble have no monotonic reading.
func inBubble() bool {
	now := time.Now()
	return now == now.Round(0)
}
