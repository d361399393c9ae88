package monitoring

import (
	"errors"
	"math"
	"sync/atomic"
	"time"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// A state remembers where the interval of a lease ends. It is safe for concurrent use.
type state struct{ until atomic.Pointer[time.Time] }

// note takes the end of the interval from an event.
func (s *state) note(e lease.Event) {
	switch e.Kind {
	case lease.Waiting, lease.Created: // without an interval
	case lease.Released:
		s.until.Store(nil)
	default:
		s.until.Store(&e.Until)
	}
}

// left returns for how many seconds the generator can mint without another renewal. left is
// negative after the end of the interval, and NaN without a lease.
func (s *state) left() float64 {
	if until := s.until.Load(); until != nil {
		return time.Until(*until).Seconds()
	}
	return math.NaN()
}

// kinds are all kinds of events, and reasons all results of reason. Counters begin at 0 for each,
// so that the first event counts as an increase.
var (
	kinds = []lease.EventKind{lease.Acquired, lease.Renewed, lease.Failing, lease.Expired,
		lease.Lost, lease.Released, lease.Withdrawn, lease.Waiting, lease.Created, lease.Shared}
	reasons = []string{"rolled_back", "damaged", "rescue", "clock", "workers", "store", "other"}
)

// reason returns a label for the error of an event.
func reason(err error) string {
	is := func(target error) bool { return errors.Is(err, target) }
	switch {
	case is(lease.ErrRolledBack):
		return "rolled_back"
	case is(lease.ErrMissing), is(lease.ErrDamaged), is(lease.ErrNoPool), is(lease.ErrVersion):
		return "damaged"
	case is(lease.ErrRescued), is(lease.ErrRescuing):
		return "rescue"
	case is(lease.ErrClockSkew):
		return "clock"
	case is(lease.ErrNoWorker), is(lease.ErrHeld):
		return "workers"
	case is(driver.ErrUnavailable):
		return "store"
	}
	return "other"
}
