package lease

import (
	"context"
	"errors"
	"time"
)

// Intervals ahead of the clock.
//
// A lease whose clock jumps ahead allocates an interval there. The clock may come right before the
// generator has minted in the interval. The lease then withdraws the interval from the generator,
// and allocates an interval at the right time by one compare-and-swap at the lease's own revision.
// The record then ends sooner than before.
//
// Lowering the end is as safe as giving back is. The generator has minted nothing in the withdrawn
// interval, and mints nothing there from then on. No other lease had timestamps from prior on: this
// lease has written every record since it took the worker. Attempts change nothing: attempts at one
// revision exclude each other, and the lease adopts the stored interval, whatever the attempt.

// withdraw takes back an interval ahead of the clock, unless the generator has minted in the
// interval.
func (l *Lease) withdraw() {
	if l.begins <= l.now()+grace.Microseconds() {
		return
	}
	begins := l.begins
	l.begins = 0
	unused := l.generator.Withdraw().UnixMicro()
	if unused >= l.granted {
		l.waitFor(begins) // the generator has minted there, and reports a clock that went back
		return
	}
	l.takeBack(unused)
	l.numbers.granted.Store(l.granted)
	until := time.UnixMicro(max(l.granted, l.prior)).UTC() // no interval begins sooner from now on
	l.mu.Lock()
	l.until = until
	l.mu.Unlock()
	if l.phase == phaseWithdrawn { // callers of a lost worker's generator are told another reason
		l.notify(Event{Kind: Withdrawn, Worker: l.held.Worker, Until: until})
	}
}

// waitFor notes that the generator has made IDs ahead of the clock, from begins on. It makes no more until the clock gets
// there, so the lease has no time left until then.
func (l *Lease) waitFor(begins int64) {
	until := time.UnixMicro(begins).UTC()
	why := &AheadError{Pool: l.pool.name, Worker: l.held.Worker, Until: until, By: until.Sub(l.config.clock())}
	l.numbers.ahead.Store(begins)
	l.mu.Lock()
	l.trouble = why
	l.mu.Unlock()
	l.notify(Event{Kind: Ahead, Worker: l.held.Worker, Until: until, Err: why})
}

// catchUp notes that the clock has caught up with the IDs ahead of it.
func (l *Lease) catchUp() {
	if ahead := l.numbers.ahead.Load(); ahead == 0 || l.now() < ahead {
		return
	}
	l.numbers.ahead.Store(0)
	l.mu.Lock()
	if _, ok := errors.AsType[*AheadError](l.trouble); ok {
		l.trouble = nil
	}
	if !l.fault.IsZero() && l.trouble == nil {
		l.events = append(l.events, l.faultOver(l.held.Worker, time.UnixMicro(l.granted).UTC()))
	}
	l.mu.Unlock()
	l.deliverFreely()
}

// own returns the first timestamp that the lease may give back: the start of the first interval or,
// if the clock is behind the start, the later of now and prior.
func (l *Lease) own() int64 { return max(l.prior, min(l.since, l.roundUp(l.now()))) }

// foreign reports whether the lease cannot use its worker any more: the clock was ahead when the
// lease took the worker, and is now behind the intervals of earlier leases.
func (l *Lease) foreign(now int64) bool {
	return l.phase == phaseWithdrawn && l.granted <= l.prior && l.prior > now+grace.Microseconds()
}

// forgo gives back an unusable worker, and the lease then takes another worker.
func (l *Lease) forgo(ctx context.Context) error {
	if _, err := l.giveBack(ctx, l.prior); err != nil {
		return err
	}
	l.lose(&HeldError{Pool: l.pool.name, Worker: l.held.Worker, Until: time.UnixMicro(l.prior).UTC()})
	l.notify(Event{Kind: Lost, Worker: l.held.Worker, Until: time.UnixMicro(l.ends()).UTC(), Err: l.why})
	return nil
}
