package lease

import (
	"errors"
	"fmt"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// Claims of workers on the machine.
//
// Pools in two stores know nothing of each other. A machine can have two copies of a directory, or a directory and
// the one that took its place. There a lease claims its worker on the machine, and then writes the record.
//
// A claim lasts as long as the generator can mint as the worker: until the generator is sealed or the
// process ends, and at the end of an interval only if the worker was lost. The lease can go on with a
// worker already held. Claims of one pool do not exclude each other.

// errExcluded reports that another pool of the machine uses the worker.
var errExcluded = errors.New("another pool of this machine uses the worker")

// claimed is a claim of a worker.
type claimed struct {
	release func()

	// After the worker was lost: the end of the generator's interval, by the clock and by the time
	// that passes. Otherwise after is zero.
	ends  int64
	after time.Time
}

// exclude claims a worker on the machine, and returns a function to drop the claim. The error is
// errExcluded while another pool uses the worker.
func (l *Lease) exclude(worker int) (drop func(), err error) {
	if c, has := l.claims[worker]; has {
		c.after = time.Time{}
		l.claims[worker] = c
		return func() {}, nil
	}
	release, err := l.origin.exclude(worker)
	switch {
	case errors.Is(err, driver.ErrConflict):
		l.excluder, _ = errors.AsType[*driver.ExcludedError](err)
		return nil, errExcluded
	case err != nil:
		return nil, err
	}
	l.claims[worker] = claimed{release: release}
	return func() { l.unclaim(worker) }, nil
}

// exclude claims a worker on the machine for the leases of the pool, see [driver.Excluder].
func (p *Pool) exclude(worker int) (release func(), err error) {
	excluder, ok := p.store.(driver.Excluder)
	if !ok {
		return func() {}, nil
	}
	return excluder.Exclude(fmt.Sprintf("%s %d", p.hash, worker), p.uuid)
}

// excludedBy names a process with another pool that uses a worker, if the store knows of it.
func (l *Lease) excludedBy() string {
	if l.excluder == nil {
		return ""
	}
	return l.excluder.Holder()
}

// unclaim drops the claim of a worker.
func (l *Lease) unclaim(worker int) {
	l.claims[worker].release()
	delete(l.claims, worker)
}

// unclaimLost drops the claims of lost workers after the end of their intervals. The clock must be past
// the end, and the time until the end must have passed too: a clock that is ahead can be set back.
func (l *Lease) unclaimLost() {
	for worker, c := range l.claims {
		switch {
		case worker == l.held.Worker && l.phase != phaseLost:
		case c.after.IsZero():
			c.ends, c.after = l.ends(), time.Now().Add(l.left())
			l.claims[worker] = c
		case l.now() >= c.ends && !time.Now().Before(c.after):
			l.unclaim(worker)
		}
	}
}

// unclaimAll drops all claims, after the generator was sealed.
func (l *Lease) unclaimAll() {
	for worker := range l.claims {
		l.unclaim(worker)
	}
}
