// Package clock reads the time and waits for it.
package clock

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// Clock reads the wall clock. The zero Clock reads the system's clock.
type Clock struct {
	read func() time.Time // nil for the system's clock, so that the common case is a direct call
}

// New returns a Clock that reads f, or the system's clock if f is nil.
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

// Set changes each reading of the system's clock if it is not nil. The counters of deadlines run
// on. Tests use Set to act as if someone had set the system's clock.
var Set atomic.Pointer[func(time.Time) time.Time]

// Horizon is a number of seconds from 1970, 139 000 years. Within the Horizon, the microseconds of
// a time are far from overflow of an int64.
const Horizon = 1 << 42

// Millis returns t in milliseconds since the Unix epoch. Unlike time.Time.UnixMilli, Millis
// saturates: a time that does not fit an int64 is not mistaken for another time.
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
	// spin is the longest pause that is too short for a sleep.
	spin = 20 * time.Microsecond

	// Longest is the longest pause. Callers therefore soon notice a clock set forward, or the end
	// of a context.
	Longest = 5 * time.Millisecond
)

// Pause sleeps for d or for [Longest], whichever is shorter. It holds no P and uses no processor
// time, so other goroutines run meanwhile.
//
// Pause does not watch a context. A timer with a channel would be necessary for each pause: a timer
// belongs to a bubble of testing/synctest, and cannot be used again elsewhere.
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
	sleep(d)
}

// inBubble reports whether the caller is in a bubble of testing/synctest, where only the runtime's
// own sleeps pass time. Times of a bubble have no monotonic reading.
func inBubble() bool {
	now := time.Now()
	return now == now.Round(0)
}
