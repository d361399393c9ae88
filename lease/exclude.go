package lease

import (
	"errors"
	"fmt"

	"github.com/firn-id/firn/lease/driver"
)

// Claims of workers on the machine.
//
// Pools in two stores know nothing of each other. A machine can have several stores: each user may
// have a store of files. There a lease claims its worker on the machine, and then writes the
// record.
//
// A claim lasts until the generator is sealed or the process ends. The end of the interval does not
// end the claim: if the clock goes back, the generator can mint again. A lease that changes its
// worker keeps its earlier claims. Claims of one pool do not exclude each other.

// errExcluded reports that another pool of the machine uses the worker.
var errExcluded = errors.New("another pool of this machine uses the worker")

// exclude claims a worker on the machine, and returns a function to drop the claim. The error is
// errExcluded while another pool uses the worker.
func (l *Lease) exclude(worker int) (drop func(), err error) {
	excluder, ok := l.origin.store.(driver.Excluder)
	if _, claimed := l.claims[worker]; !ok || claimed {
		return func() {}, nil
	}
	release, err := excluder.Exclude(fmt.Sprintf("%s %d", l.pool.hash, worker), l.pool.uuid)
	switch conflict := errors.Is(err, driver.ErrConflict); {
	case conflict && release != nil && l.shares: // the claim is the lease's all the same
	case conflict:
		l.excluder, _ = errors.AsType[*driver.ExcludedError](err)
		if release != nil {
			l.shared = true
			release()
		}
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

// excludedBy names a process with another pool that uses a worker, if the store knows of it.
func (l *Lease) excludedBy() string {
	if l.excluder == nil {
		return ""
	}
	return l.excluder.Holder()
}

// unclaimAll drops all claims, after the generator was sealed.
func (l *Lease) unclaimAll() {
	for worker, release := range l.claims {
		release()
		delete(l.claims, worker)
	}
}
