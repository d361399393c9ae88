package lease

import (
	"context"
	"errors"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// Opening a store again.
//
// A store refuses all calls once it cannot know any more what is durable: a sync has failed, or the server has
// forgotten changes, or another server has answered. A program that starts again would go on if the fault has passed,
// and so does a lease: it opens the store again, and looks whether everything it knows is still there.
//
// The pool has to be the same one in the same term, and the worker's record has to be the one that the lease has
// written last, or one that it has asked for without an answer. An unanswered change may be visible and not durable,
// so the lease grants nothing of it: the generator gets an interval only by the next change, which the store syncs
// anew. Otherwise the lease has lost the worker, or has to wait for a recovery, as at any other time.

// refusesAll reports whether an error says that the store refuses all further calls.
func refusesAll(err error) bool {
	e, ok := errors.AsType[*driver.Error](err)
	return ok && e.Latched
}

// reopen opens the store again, if it can be.
func (l *Lease) reopen(ctx context.Context) error {
	r, ok := l.store.(driver.Reopener)
	if !ok {
		return errors.ErrUnsupported
	}
	if l.again == nil {
		l.again = newOpener(r.Reopen, l.config)
	}
	store, err := l.again.open(ctx)
	if err != nil {
		return err
	}
	had := l.phase
	if err := l.resume(ctx, store); err != nil {
		store.Close()
		return err
	}
	l.closeStore()
	l.keepStore(store)
	if l.phase == phaseLost && had != phaseLost {
		l.notify(Event{Kind: Lost, Worker: l.held.Worker, Until: time.UnixMicro(l.ends()).UTC(), Err: l.why})
	}
	return nil
}

// keepStore keeps a store that the lease has opened.
func (l *Lease) keepStore(store driver.Store) {
	l.store, l.owned, l.again = store, true, nil
	if l.within.at == nil {
		l.within = l.config.timed(store)
		return
	}
	l.within.at.Store(&store)
	*l.within.turn = turn{} // a request of the other one may hang
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.origin != nil {
		origin := *l.origin
		origin.store = store
		l.origin = &origin
	}
}

// resume compares the records in a store that was opened again with what the lease knows.
func (l *Lease) resume(ctx context.Context, store driver.Store) error {
	if l.phase != phaseHolding && l.phase != phaseWithdrawn {
		return nil // a search reads all that it needs
	}
	p := *l.pool
	p.store = l.config.timed(store)
	moved, err := p.moved(ctx, l.term)
	if err != nil {
		return err
	}
	if moved {
		l.lose(p.recovered(l.held.Worker))
		return nil
	}
	got, err := p.get(ctx, l.held.Worker)
	switch {
	case err != nil:
		return err
	case got.rev == l.held.rev:
	case got.Incarnation == l.incarnation && l.attempted(got):
		l.held, l.least, l.phase = got, got.Until, phaseWithdrawn // the generator has no interval of it
		l.expect()
	default:
		l.lose(l.lostTo(got))
	}
	return nil
}
