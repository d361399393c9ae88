package monitoring

import (
	"errors"
	"strings"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
)

// kinds are all kinds of events, and reasons all results of reason. Counters begin at 0 for each,
// so that the first event counts as an increase.
var (
	kinds = []lease.EventKind{lease.Acquired, lease.Renewed, lease.Failing, lease.Expired,
		lease.Lost, lease.Released, lease.Withdrawn, lease.Waiting, lease.Created, lease.Ended, lease.Ahead, lease.Recovered}
	reasons = []string{"rolled_back", "damaged", "recovery", "clock", "workers", "setup", "directory", "store", "other"}
)

// reason returns a label for the error of an event.
func reason(err error) string {
	is := func(target error) bool { return errors.Is(err, target) }
	switch {
	case is(lease.ErrRolledBack):
		return "rolled_back"
	case is(lease.ErrMissing), is(lease.ErrDamaged):
		return "damaged"
	case is(lease.ErrRecovered), is(lease.ErrRecovering):
		return "recovery"
	case is(lease.ErrClockSkew):
		return "clock"
	case is(lease.ErrNoWorker), is(lease.ErrHeld):
		return "workers"
	case lease.Permanent(err):
		return "setup"
	case is(driver.ErrUnavailable):
		if e, ok := errors.AsType[*driver.Error](err); ok && strings.HasPrefix(e.Store, "file:") {
			return "directory"
		}
		return "store"
	}
	return "other"
}
