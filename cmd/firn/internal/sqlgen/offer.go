package sqlgen

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/firn-id/firn/lease/grant"
)

// An offer is the generator of one lease: an interval of one worker, in the row of the database.
//
// An interval sent to the database stays with the database for good: a transaction with an old
// snapshot sees an old row, and a statement may come late. The offer therefore takes nothing back,
// and the interval of an offer only grows. If the lease has an interval that is not a continuation,
// or if the row is gone, the offer is over: the feed then closes the lease, and takes another
// lease. No interval of another lease overlaps what this lease has offered.
type offer struct {
	pool  grant.Spec
	clock *clock

	wake chan struct{} // receives after changes, with room for one
	over chan struct{} // closed with why set

	mu     sync.Mutex
	worker int
	first  int64 // the first tick
	end    int64 // the end of the ticks of the lease; 0 before the first grant
	sent   int64 // the end of the ticks in a statement to the database; 0 before the first
	sealed bool
	why    error
}

func newOffer(pool grant.Spec, c *clock) *offer {
	return &offer{pool: pool, clock: c, wake: make(chan struct{}, 1), over: make(chan struct{})}
}

// ForLease implements lease.Generator.
func (o *offer) ForLease() grant.Grantee { return o }

// Pool implements [grant.Grantee].
func (o *offer) Pool() (grant.Spec, error) { return o.pool, nil }

// Now implements [grant.Grantee]. The ticks of the database's IDs are of the database's clock.
func (o *offer) Now() time.Time { return o.clock.now() }

var (
	errGap   = errors.New("the lease has an interval that does not follow the last")
	errAhead = errors.New("the interval begins ahead of the database's clock")
	errGone  = errors.New("the row is gone: the database has crashed, failed over or was restored")
	errOther = errors.New("another feed has taken over")
	errStart = errors.New("the server was started again, or is a copy")
)

// Grant implements [grant.Grantee].
func (o *offer) Grant(worker int, from, until time.Time) error {
	if worker < 0 || worker >= o.pool.Layout.Workers {
		return fmt.Errorf("worker %d is not in 0 to %d", worker, o.pool.Layout.Workers-1)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	first, end := max(o.tickFrom(from), 1), o.tick(until)
	switch {
	case o.sealed || o.why != nil || end <= max(first, o.end):
		return nil
	case o.end == 0:
		o.worker, o.first = worker, first
	case worker != o.worker || first > o.end:
		o.endWith(errGap)
		return nil
	}
	o.end = end
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return nil
}

// tick returns the tick of a time.
func (o *offer) tick(t time.Time) int64 { return t.UnixMilli() - o.pool.Layout.Epoch.UnixMilli() }

// tickFrom returns the first tick that does not begin before a time.
func (o *offer) tickFrom(t time.Time) int64 {
	tick := o.tick(t)
	if o.time(tick).Before(t) {
		tick++
	}
	return tick
}

// time returns the time of a tick.
func (o *offer) time(tick int64) time.Time {
	return o.pool.Layout.Epoch.Add(time.Duration(tick) * time.Millisecond)
}

// Withdraw implements [grant.Grantee]. The lease asks for an interval ahead of the clock. The
// offer keeps the interval, and is over.
func (o *offer) Withdraw() time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endWith(errAhead)
	return o.time(o.end)
}

// Refuse implements [grant.Grantee]. The events of the lease tell the operator.
func (o *offer) Refuse(error) {}

// Delay implements [grant.Grantee]. Nobody waits for the offer.
func (o *offer) Delay(error) {}

// Seal implements [grant.Grantee].
func (o *offer) Seal(error) time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sealed = true
	return o.time(max(o.sent, o.first))
}

// finish makes the offer over.
func (o *offer) finish(why error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.endWith(why)
}

// endWith is finish for a caller that holds mu.
func (o *offer) endWith(why error) {
	if o.why == nil {
		o.why = why
		close(o.over)
	}
}

// An interval is what a statement writes.
type interval struct {
	worker     int
	first, end int64
}

// send returns the interval for the next statement. ok reports whether the offer has an interval,
// and may send the interval.
func (o *offer) send() (i interval, ok bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.sealed || o.why != nil || o.end == 0 {
		return interval{}, false
	}
	o.sent = o.end
	return interval{o.worker, o.first, o.end}, true
}
