package lease

import (
	"context"
	"time"
)

// Intervals ahead of the clock.
//
// A lease whose clock jumps ahead allocates an interval there. The clock may come right before the
// generator has minted in the interval. The lease then withdraws the interval from the generator,
// and allocates an interval at the right time by one compare-and-swap at the lease's own revision.
// The record ends sooner than before.
//
// Lowering the end is safe for the same reason as giving back is. The generator has minted nothing
// in the withdrawn interval, and mints nothing there from then on. No other lease had any of the
// timestamps from prior on: this lease has written every record since it took the worker. Requests
// of unknown outcome change nothing: those at one revision exclude each other, and the lease adopts
// whatever interval it finds stored.

// withdraw takes an interval ahead of the clock back from the generator, unless the generator has
// minted in the interval.
func (l *Lease) withdraw() {
	if l.begins <= l.now()+grace.Microseconds() {
		return
	}
	l.begins = 0
	unused := l.generator.Withdraw().UnixMicro()
	if unused >= l.allotted {
		return // the generator has minted there, and reports a clock that went back
	}
	l.takeBack(unused)
	until := time.UnixMicro(max(l.allotted, l.prior)).UTC() // no interval begins sooner from now on
	l.mu.Lock()
	l.until = until
	l.mu.Unlock()
	if l.phase == phaseWithdrawn { // else the times are of no use to anybody, and callers are told why there are no others
		l.notify(Event{Kind: Withdrawn, Worker: l.held.Worker, Until: until})
	}
}

// own returns the first timestamp that the lease may give back. That is where its first interval
// began. If the interval began ahead of the clock, it is now, or prior if that is later.
func (l *Lease) own() int64 { return max(l.prior, min(l.since, l.roundUp(l.now()))) }

// foreign reports whether the worker is of no use to the lease: a clock that was ahead made the
// lease take the worker, and the clock is now behind the intervals of earlier leases.
func (l *Lease) foreign(now int64) bool {
	return l.phase == phaseWithdrawn && l.allotted <= l.prior && l.prior > now+grace.Microseconds()
}

// forgo gives back a worker that is of no use to the lease, which then takes another worker.
func (l *Lease) forgo(ctx context.Context) error {
	if _, err := l.giveBack(ctx, l.prior); err != nil {
		return err
	}
	l.lose(&HeldError{Pool: l.pool.name, Worker: l.held.Worker, Until: time.UnixMicro(l.prior).UTC()})
	l.notify(Event{Kind: Lost, Worker: l.held.Worker, Until: time.UnixMicro(l.ends()).UTC(), Err: l.why})
	return nil
}
