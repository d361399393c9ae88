package lease

import (
	"math"
	"sync/atomic"
	"time"
)

// Stats are the numbers of a lease at one moment, for metrics.
type Stats struct {
	// Left is the result of [Lease.Left].
	Left time.Duration

	// Renewals counts the intervals that the lease has got for its generator, except the first
	// interval of each worker. Failures counts the renewals that failed. While a lease starts in the
	// background, Failures counts the tries that failed.
	Renewals, Failures uint64

	// Remaining is the time until the timestamps of the generator's format end, by the generator's
	// clock. Remaining is negative after the end. The longest Duration, 292 years, stands for more years
	// too, and for a generator that does not say when its timestamps end.
	Remaining time.Duration
}

// numbers are what metrics read at any time.
type numbers struct {
	granted            atomic.Int64 // as in state, once the generator knows; 0 before the first grant
	ahead              atomic.Int64 // the generator mints nothing before; 0 if its IDs are not ahead of the clock
	renewals, failures atomic.Uint64
	ended              atomic.Bool // the generator was sealed
}

// Left returns for how long the generator can mint from now on without another renewal: the window
// that is left, by the generator's clock. Left is 0 before the first grant, after the end of the
// interval, after Close, and while the generator waits for its clock (event [Ahead]). A program is ready while Left is
// positive. Left takes no lock.
func (l *Lease) Left() time.Duration {
	granted, now := l.numbers.granted.Load(), l.config.clock()
	if granted == 0 || l.numbers.ended.Load() || now.UnixMicro() < l.numbers.ahead.Load() {
		return 0
	}
	return max(time.UnixMicro(granted).Sub(now), 0)
}

// Stats returns the numbers of the lease. It is safe at any time, also before the first worker and
// after Close, and takes no lock.
func (l *Lease) Stats() Stats {
	remaining := time.Duration(math.MaxInt64)
	if ends := l.wanted.ExpiresAt; !ends.IsZero() {
		remaining = ends.Sub(l.config.clock())
	}
	return Stats{Left: l.Left(), Renewals: l.numbers.renewals.Load(), Failures: l.numbers.failures.Load(), Remaining: remaining}
}
