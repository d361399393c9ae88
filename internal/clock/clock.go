// Package clock reads the time and waits for it.
package clock

import (
	"math"
	"runtime"
	"sync/atomic"
	"time"
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
	// fine is how long before its end a pause leaves the runtime's timers. On
	// Linux an idle Go process sleeps in whole milliseconds: a timer of half a
	// millisecond fires after more than one, and a tick is gone.
	fine = 2 * time.Millisecond
	// spin is the pause that is too short for any sleep to keep.
	spin = 20 * time.Microsecond
	// coarse bounds a single sleep, so that a clock that is set forward and a
	// context that ends are noticed soon.
	coarse = 5 * time.Millisecond
)

// Pause sleeps for d, or for less: about 5 ms, so that the caller looks at its clock and
// its context again. It burns no core. It does not wait for the context itself: that takes
// a timer with a channel, to be made anew each time, since a timer belongs to the bubble
// of testing/synctest that made it.
func Pause(d time.Duration) {
	if d > fine {
		time.Sleep(min(d-fine*3/4, coarse)) // which may last 1 ms longer
		return
	}
	before := time.Now()
	if d <= spin {
		runtime.Gosched()
	} else {
		nap(d)
	}
	if time.Since(before) == 0 {
		// The clock stands still while the kernel's does not: this is a bubble
		// of testing/synctest, whose time passes only in the runtime's sleeps.
		time.Sleep(d)
	}
}
