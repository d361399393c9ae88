package lease

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// attempts are the requests for a worker with an unknown outcome. Attempts at the same revision
// exclude each other, and no attempt takes effect at a later revision. A lease therefore remembers
// the attempts at one revision only. The names of attempts share a prefix, so an outage of any
// length needs constant memory.
type attempts struct {
	rev    driver.Revision
	prefix string // of the names
	count  int
}

// lostTo returns why the lease has lost the worker. The worker's record is got, and not the
// lease's.
//
// A store without lost changes never shows two kinds of records. The first is a record with an end
// before the lease's interval, and before any lower end in a request of the lease. The second is a
// record of the lease itself, but neither the last known record nor one of an attempt. After
// either, intervals of other leases may be missing too, and any worker's timestamps may be in use.
func (l *Lease) lostTo(got stored) error {
	switch {
	case got.Generation > l.held.Generation:
		return l.pool.recovered(got.Worker)
	case got.Until < l.least || got.Incarnation == l.incarnation:
		return unusable(l.pool.store, workerKey(l.pool.name, got.Worker), ErrRolledBack)
	}
	return &HeldError{Pool: l.pool.name, Worker: got.Worker, Holder: got.Holder, Until: time.UnixMicro(got.Until)}
}

// claim asks for the worker's interval up to until, from the later of from and now. Claim returns
// the worker's record, and reports whether the interval in the record is the lease's. After an
// error neither is known.
//
// While the record is at the revision of s, no generator mints from the time from on: the record
// ends there, or the lease has withdrawn all later timestamps.
//
// A reply with an error settles nothing, and neither does a missing reply: the request may arrive
// late, or be repeated on the way. Only the record settles the outcome. If any attempt of this
// lease wrote the record, the lease has the interval in the record. An interval without an
// acknowledgement is left unused.
func (l *Lease) claim(ctx context.Context, s stored, from, until int64) (stored, bool, error) {
	r := s.record
	r.From = l.roundUp(max(l.now(), from))
	r.Until = max(until, r.From+minTicks*l.pool.layout.Unit.Microseconds())
	r.Incarnation, r.Holder, r.Window = l.incarnation, l.config.Holder, l.config.Window.Microseconds()
	r.Attempt = l.attempt(s)
	r.Back = 0
	r.note(&s.record, l.config.me, l.config.short)

	rev, err := l.put(ctx, r, s.rev)
	if err == nil {
		return stored{r, rev}, true, nil
	}
	if errors.Is(err, errHangs) {
		return s, false, err // a read would hang too
	}
	got, unread := l.pool.get(ctx, r.Worker)
	switch {
	case errors.Is(unread, ErrMissing): // a record from before any lease had the worker would say the same
		return stored{record: *l.pool.unused(r.Worker, term{generation: s.Generation})}, false, nil
	case errors.Is(unread, driver.ErrUnavailable):
		return s, false, err
	case unread != nil:
		return s, false, unread // the record's own fault says more than err
	}
	if got.Incarnation == l.incarnation && l.attempted(got) {
		return got, true, nil
	}
	if got.rev == s.rev {
		return s, false, err // the request was not done, or not yet
	}
	return got, false, nil
}

func (l *Lease) put(ctx context.Context, r record, rev driver.Revision) (driver.Revision, error) {
	if r.Worker == l.held.Worker && rev == l.held.rev {
		l.least = min(l.least, r.Until)
		l.expect()
	}
	return l.pool.store.Put(ctx, workerKey(l.pool.name, r.Worker), encode(r), rev)
}

// attempt returns a new name for a request to change a record.
func (l *Lease) attempt(s stored) string {
	a := l.attempts[s.Worker]
	if a.count == 0 || a.rev != s.rev {
		a = attempts{rev: s.rev, prefix: l.config.newName() + "-"}
	}
	a.count++
	l.attempts[s.Worker] = a
	return a.prefix + strconv.Itoa(a.count)
}

// attempted reports whether an attempt wrote the record.
func (l *Lease) attempted(s stored) bool {
	a := l.attempts[s.Worker]
	return a.count > 0 && strings.HasPrefix(s.Attempt, a.prefix)
}

// giveBack gives back the worker and the interval from unused on. GiveBack reports whether the
// lease still had the worker; held is then the record as given back.
//
// The timestamps from own() on are the lease's alone: the lease itself has written every record
// since taking the worker.
func (l *Lease) giveBack(ctx context.Context, unused int64) (bool, error) {
	var err error
	for range 2 { // again after a late request of the lease itself
		r := l.held.record
		r.Until = min(r.Until, max(l.roundUp(unused), l.own()))
		r.From = min(r.From, r.Until)
		r.Incarnation, r.Holder, r.Attempt = "", "", l.config.newName()
		r.Back = max(l.now(), 0)
		r.noteEnd(&l.held.record)
		if _, err = l.put(ctx, r, l.held.rev); err == nil {
			l.held.record = r
			return true, nil
		}
		if errors.Is(err, errHangs) {
			return false, err // a read would hang too
		}
		got, unread := l.pool.get(ctx, r.Worker)
		switch {
		case errors.Is(unread, driver.ErrUnavailable):
			return false, err
		case unread != nil:
			return false, unread
		case got.Attempt == r.Attempt:
			l.held.record = r
			return true, nil
		case got.rev == l.held.rev:
			return false, err // the request was not done, or not yet
		case got.Incarnation != l.incarnation:
			return false, nil // another lease has the worker already
		case !l.attempted(got):
			return false, l.lostTo(got)
		}
		l.held = got
	}
	return false, err
}
