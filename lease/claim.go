package lease

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// attempts are the requests for a worker whose outcome is not known. Attempts at the same revision
// exclude each other, and none of them takes effect once the record has another revision, so a lease
// remembers attempts at one revision only. The attempts share a prefix of their names; an outage of any
// length therefore needs constant memory.
type attempts struct {
	rev    driver.Revision
	prefix string // of their names
	count  int
}

// lostTo returns why the lease has no more times of its worker, whose record is not its own.
//
// A store that keeps what it acknowledged never shows two things: times that end before those of
// the lease, also as a request of its own may have lowered them; and a record of the lease's own
// that is not the one it knows, nor written by a request whose outcome it does not know. Then
// others, too, may be missing what they were given, and to take another worker would be to take
// times that may be in use.
func (l *Lease) lostTo(got stored) error {
	switch {
	case got.Generation > l.held.Generation:
		return l.rescued()
	case got.Until < l.least || got.Incarnation == l.incarnation:
		return unusable(l.pool.store, workerKey(l.pool.name, got.Worker), ErrRolledBack)
	}
	return &HeldError{Pool: l.pool.name, Worker: got.Worker, Holder: got.Holder, Until: time.UnixMicro(got.Until)}
}

// claim tries to allocate the worker's times up to until, from a time on, or from now if that is
// later. It tells whether they are the lease's, and returns the record as it is then. After an error
// both are unknown.
//
// The times from that time on are nobody's to mint in as long as the record is at its revision:
// they begin where the record's end, or are the lease's own and were withdrawn.
//
// A reply that says that the request failed, or none at all, settles nothing: a request may be
// under way for long, or be repeated by what is in between. Only the record tells. If it was
// written by a request of this lease, what it says was allocated to it, whichever request that
// was; the times that one asked for but did not see acknowledged are nobody's.
func (l *Lease) claim(ctx context.Context, s stored, from, until int64) (stored, bool, error) {
	r := s.record
	r.From = l.roundUp(max(l.now(), from))
	r.Until = max(until, r.From+minTicks*l.pool.layout.Unit.Microseconds())
	r.Incarnation, r.Holder, r.Window = l.incarnation, l.config.Holder, l.config.Window.Microseconds()
	r.Attempt = l.attempt(s)

	rev, err := l.put(ctx, r, s.rev)
	if err == nil {
		return stored{r, rev}, true, nil
	}
	if errors.Is(err, errHangs) {
		return s, false, err // it would not be read either
	}
	got, unread := l.pool.get(ctx, r.Worker)
	switch {
	case errors.Is(unread, ErrMissing): // as good as one from before anybody had the worker
		return stored{record: *l.pool.unused(r.Worker, term{generation: s.Generation})}, false, nil
	case errors.Is(unread, driver.ErrUnavailable):
		return s, false, err
	case unread != nil:
		return s, false, unread // there is something with the record, which tells more
	}
	if got.Incarnation == l.incarnation && l.attempted(got) {
		return got, true, nil
	}
	if got.rev == s.rev {
		return s, false, err // it has not been done, or not yet
	}
	return got, false, nil
}

func (l *Lease) put(ctx context.Context, r record, rev driver.Revision) (driver.Revision, error) {
	if r.Worker == l.held.Worker && rev == l.held.rev {
		l.least = min(l.least, r.Until)
	}
	return l.pool.store.Put(ctx, workerKey(l.pool.name, r.Worker), encode(r), rev)
}

// attempt returns the name of a request to change a record, which no other one has.
func (l *Lease) attempt(s stored) string {
	a := l.attempts[s.Worker]
	if a.count == 0 || a.rev != s.rev {
		a = attempts{rev: s.rev, prefix: l.config.world.random(128) + "-"}
	}
	a.count++
	l.attempts[s.Worker] = a
	return a.prefix + strconv.Itoa(a.count)
}

// attempted tells whether a record was written by a request whose outcome was not known.
func (l *Lease) attempted(s stored) bool {
	a := l.attempts[s.Worker]
	return a.count > 0 && strings.HasPrefix(s.Attempt, a.prefix)
}

// giveBack gives back the worker with its times from unused on. It reports whether the lease still had
// the worker; then the record held is as it was given back.
//
// The times from own() on are the lease's alone: with every record between, they were extended by
// itself.
func (l *Lease) giveBack(ctx context.Context, unused int64) (bool, error) {
	var err error
	for range 2 { // the second time after a request of the lease's own that came late
		r := l.held.record
		r.Until = min(r.Until, max(l.roundUp(unused), l.own()))
		r.From = min(r.From, r.Until)
		r.Incarnation, r.Holder, r.Attempt = "", "", l.config.world.random(128)
		if _, err = l.put(ctx, r, l.held.rev); err == nil {
			l.held.record = r
			return true, nil
		}
		if errors.Is(err, errHangs) {
			return false, err // it would not be read either
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
			return false, err // it has not been done, or not yet
		case got.Incarnation != l.incarnation:
			return false, nil // it is another lease's already
		case !l.attempted(got):
			return false, l.lostTo(got)
		}
		l.held = got
	}
	return false, err
}
