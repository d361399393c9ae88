package lease

import (
	"errors"
	"fmt"

	"github.com/firn-id/firn/lease/driver"
)

// Pools in two stores know nothing of each other. Where a machine can have several stores, as each
// of its users has files, a lease also claims its worker on the machine, beside the record.
//
// The claim comes before the record, and stays until the generator is sealed or the process ends:
// a generator whose clock goes back can mint in an interval that seemed to have ended. A lease that
// changes its worker keeps the claims of the workers before. That excludes no lease of its own
// pool, which shares the claim.

// errExcluded reports that another pool of the machine uses the worker.
var errExcluded = errors.New("another pool of this machine uses the worker")

// exclude claims a worker on the machine, and returns a function that drops what it claimed. Its
// error is errExcluded while another pool uses the worker.
func (l *Lease) exclude(worker int) (drop func(), err error) {
	excluder, ok := l.origin.store.(driver.Excluder)
	if _, claimed := l.claims[worker]; !ok || claimed {
		return func() {}, nil
	}
	release, err := excluder.Exclude(fmt.Sprintf("%s %d", l.pool.hash, worker), l.pool.uuid)
	switch {
	case errors.Is(err, driver.ErrConflict):
		return nil, errExcluded
	case err != nil:
		return nil, err
	}
	l.claims[worker] = release
	return func() {
		release()
		delete(l.claims, worker)
	}, nil
}

// unclaimAll drops all claims. The generator is sealed.
func (l *Lease) unclaimAll() {
	for worker, release := range l.claims {
		release()
		delete(l.claims, worker)
	}
}
