package lease

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// A search takes a free worker of the pool.
type search interface {
	// key is the prefix of the records to read.
	key() string
	// try takes a worker. With an error, soonest is when a worker may come free, and zero if a wait
	// is of no use.
	try(ctx context.Context) (soonest time.Time, err error)
}

// newSearch returns a search for the worker of the settings, or for any worker.
func (l *Lease) newSearch() search {
	if l.config.Worker.named {
		return &searchNumber{lease: l, number: l.config.Worker.number}
	}
	return &searchAny{lease: l, seen: make(map[int]stored)}
}

// acquire takes a worker. If no worker is free, acquire waits for at most wait.
//
// A waiting lease tries again when the next interval expires, after a pause, and after each change
// if the store tells of changes. A try in a full pool reads all records, so a large pool has longer
// pauses.
func (l *Lease) acquire(ctx context.Context, wait time.Duration) error {
	s := l.newSearch()
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var changes <-chan struct{}
	for first := true; ; first = false {
		began := l.config.clock()
		soonest, err := s.try(ctx)
		none, _ := errors.AsType[*NoWorkerError](err)
		switch {
		case none != nil && none.Excluded:
			wait -= l.claimed()
		case errors.Is(err, driver.ErrBusy): // a request has waited already
			soonest = l.config.clock().Add(often)
			wait -= min(max(l.config.clock().Sub(began), 0), l.config.Timeout)
		}
		if err == nil || soonest.IsZero() || l.hopeless(err, soonest, wait) {
			return err
		}
		if wait > 0 {
			l.delay(err)
			l.tellWait(err)
		}
		if first && wait > 0 {
			if changes = l.requests().watch(watching, s.key()); changes != nil {
				continue // a worker may have come free before the watch began
			}
		}
		pause := l.untilTry(err, soonest, changes != nil)
		if pause > wait {
			return err
		}
		pause = min(pause, longestPause) // the clock may be set before
		waited, end := l.pause(ctx, pause, changes)
		if end != nil {
			return &waitError{err, end}
		}
		wait -= waited
		select {
		case _, open := <-changes:
			if !open { // the store was closed, and tells of no more changes
				changes = nil
			}
		default:
		}
	}
}

// How long a waiting lease pauses at most between two tries: often, and seldom if a try is dear or
// if the store tells of changes.
const often, seldom = 100 * time.Millisecond, 2 * time.Second

// untilTry returns how long to pause after a try has failed with err.
func (l *Lease) untilTry(err error, soonest time.Time, watching bool) time.Duration {
	const shortest = 3 * time.Millisecond
	pause := max(soonest.Sub(l.config.clock()), shortest)
	none, _ := errors.AsType[*NoWorkerError](err)
	switch {
	case none != nil && none.Recovered: // no lease holds a worker, so no worker comes free sooner
		return pause + l.jitter()
	case watching:
		return min(pause, seldom)
	}
	return min(pause, max(often, l.price()))
}

// pause waits for d, or until the store tells of a change, and returns how long the wait took. A
// change wakes all waiting leases; a jitter keeps them from trying all at once.
func (l *Lease) pause(ctx context.Context, d time.Duration, changes <-chan struct{}) (waited time.Duration, end error) {
	waited, end = l.config.world.wait(ctx, d, changes)
	if end == nil && waited < d {
		jitter := min(l.jitter(), d-waited)
		waited += jitter
		end = sleep(ctx, l.config.world, jitter)
	}
	if end == nil {
		end = context.Cause(ctx) // Watch closes changes when ctx ends
	}
	return waited, end
}

// hopeless reports whether a wait for a worker cannot succeed: no lease holds a worker to give
// back, and the timestamps of all workers are used up to beyond the wait.
func (l *Lease) hopeless(err error, soonest time.Time, wait time.Duration) bool {
	none, _ := errors.AsType[*NoWorkerError](err)
	held, _ := errors.AsType[*HeldError](err)
	unheld := none != nil && none.Ahead || held != nil && held.Holder == ""
	return unheld && soonest.Sub(l.config.clock()) > wait
}

// price is the shortest time between two tries: a millisecond for each record of the pool. A try
// may have to read all records, and about as many leases may try.
func (l *Lease) price() time.Duration {
	return min(time.Duration(l.looked)*time.Millisecond, seldom)
}

// jitter returns a random time of at most price, so that leases do not try all at once.
func (l *Lease) jitter() time.Duration {
	return time.Duration(l.config.intN(int(l.price()/time.Microsecond)+1)) * time.Microsecond
}

// searchAny takes any worker. A wait is of no use once all holders have renewed, unless the
// settings have a Wait.
type searchAny struct {
	lease *Lease
	seen  map[int]stored // each worker's record, as a try without success first saw it
	full  bool           // a list had no free worker, and a sample would hardly have one

	refused int // how many new workers the generator has refused
}

// mostRefused is how many new workers a generator may refuse before the search gives up. A
// generator that refuses all workers would otherwise make the records of the whole pool.
const mostRefused = 2

func (s *searchAny) key() string { return workersKey(s.lease.pool.name) }

func (s *searchAny) try(ctx context.Context) (time.Time, error) {
	for times := 0; ; times++ {
		if soonest, err := s.look(ctx, times); err != errAgain {
			return soonest, err
		}
	}
}

// look reads the pool's record and some workers' records, and takes a free worker or makes more records. If
// that doesn't do, it reads all records. The error is errAgain if other leases were quicker, or a recovery. So many
// looks of the try have failed before.
func (s *searchAny) look(ctx context.Context, times int) (soonest time.Time, err error) {
	l := s.lease
	r, rev, err := l.reread(ctx)
	if err != nil {
		return time.Time{}, err
	}
	settled, err := l.checkByStore(ctx, l.config.clock())
	if err != nil {
		return time.Time{}, err
	}
	var some []stored
	sampled := false
	if !s.full {
		if some, sampled, err = l.sample(ctx, r, settled); err != nil {
			return time.Time{}, err
		}
	}
	for ; ; sampled = false {
		if !sampled {
			if some, err = l.records(ctx, r, settled); err != nil {
				return time.Time{}, err
			}
		}
		if soonest, err := l.checkFloor(); err != nil {
			return soonest, err
		}
		l.claiming = l.config.clock()
		free, soon, soonest := sortOut(some, l.now())
		l.shuffle(free)
		failed := l.takeOne(ctx, append(free, soon...))
		switch {
		case failed == nil:
			return time.Time{}, nil
		case ctx.Err() != nil && (failed == errNone || failed == errExcluded): // no request says so
			return time.Time{}, &waitError{failed, context.Cause(ctx)}
		case failed == errAgain, ctx.Err() != nil:
			return time.Time{}, failed
		case failed == errTaken:
			return time.Time{}, cmp.Or(l.standBack(ctx, times), errAgain)
		case failed == errExcluded && !sampled:
			return s.takeBeside(ctx)
		case r.count() < r.Workers && (failed == errNone || !sampled): // free workers may be out of reach: a stopped process may be writing the records
			return s.takeNew(ctx, r, rev)
		case !sampled && failed == errNone:
			return s.none(some, soonest)
		case !sampled:
			return time.Time{}, failed
		}
	}
}

// takeBeside takes a worker without a record while other pools of the machine use the workers that
// have records. It claims the worker before it makes the record: the other pools may use any number of
// workers, and records for those would be in vain. The error is errAgain if the pool has changed.
func (s *searchAny) takeBeside(ctx context.Context) (soonest time.Time, err error) {
	l := s.lease
	r, _, err := l.pool.reread(ctx)
	if err != nil {
		return time.Time{}, err
	}
	for _, worker := range r.lacking(r.Workers) {
		drop, err := l.exclude(worker)
		switch {
		case err == nil:
			got, err := l.takeNumber(ctx, worker)
			if !got || err != nil {
				drop()
			}
			if !got {
				err = cmp.Or(err, errAgain)
			}
			return time.Time{}, err
		case err != errExcluded:
			return time.Time{}, err
		case ctx.Err() != nil:
			return time.Time{}, ctx.Err()
		}
		if l.claimedLong() {
			break
		}
	}
	soonest = l.config.clock().Add(often) // when a process with another pool ends is not known
	return soonest, &NoWorkerError{Pool: l.pool.name, Workers: l.pool.layout.Workers, Soonest: soonest, Excluded: true, Holder: l.excludedBy()}
}

// takeNumber makes the record of a worker, and takes the worker. It reports whether the worker is the
// lease's.
func (l *Lease) takeNumber(ctx context.Context, worker int) (bool, error) {
	if err := l.growNamed(ctx, worker); err != nil {
		return false, err
	}
	l.term = l.pool.term()
	r, err := l.pool.get(ctx, worker)
	if err != nil || r.Until > l.now() {
		return false, err
	}
	_, ok, err := l.take(ctx, r)
	return ok, err
}

// takeNew makes records, and takes one of the new workers. The error is errAgain if another lease has
// made or taken them.
func (s *searchAny) takeNew(ctx context.Context, r *poolRecord, rev driver.Revision) (soonest time.Time, err error) {
	l := s.lease
	made, err := l.grow(ctx, r, rev)
	if err != nil {
		return time.Time{}, err
	}
	if soonest, err := l.checkFloor(); err != nil {
		return soonest, err
	}
	l.shuffle(made)
	for _, one := range made {
		err := l.takeOne(ctx, []stored{one})
		if isRefused(err) {
			if s.refused++; s.refused < mostRefused {
				continue
			}
		} else if err != nil {
			err = errAgain
		}
		return time.Time{}, err
	}
	return time.Time{}, errAgain
}

// none returns the error for a pool without a free worker, and when the first interval ends.
func (s *searchAny) none(all []stored, first time.Time) (soonest time.Time, err error) {
	l := s.lease
	s.full = true
	unheld, alive := true, true
	for _, r := range all {
		unheld = unheld && r.Incarnation == ""
		if _, ok := s.seen[r.Worker]; !ok {
			s.seen[r.Worker] = r
		}
		alive = alive && r.renewed(s.seen[r.Worker])
	}
	err = &NoWorkerError{Pool: l.pool.name, Workers: l.pool.layout.Workers, Soonest: first, Ahead: unheld}
	if alive && !l.config.patient {
		return time.Time{}, err
	}
	return first, err
}

// searchNumber takes the worker with a number. A wait is of no use once the holder has renewed,
// unless the settings have a Wait. A holder without renewals may be a dead process.
type searchNumber struct {
	lease  *Lease
	number int
	again  bool   // an earlier try has found the record
	seen   stored // the record, as the last try saw it
}

func (s *searchNumber) key() string { return workerKey(s.lease.pool.name, s.number) }

func (s *searchNumber) try(ctx context.Context) (soonest time.Time, err error) {
	l := s.lease
	r, err := s.find(ctx)
	if err != nil {
		return time.Time{}, err
	}
	if soonest, err := l.checkFloor(); err != nil {
		return soonest, err
	}
	s.again = true
	if now := l.now(); r.Until <= now || r.freeSoon(now) {
		got, ok, err := l.take(ctx, r)
		switch {
		case err == errAgain: // a recovery has begun
			return s.try(ctx)
		case err == errExcluded: // when a process with another pool ends is not known
			return l.config.clock().Add(often), &HeldError{Pool: l.pool.name, Worker: s.number, Excluded: true, Holder: l.excludedBy()}
		case ok || err != nil:
			return time.Time{}, err
		}
		r = got
	}
	return s.held(r)
}

// find returns the worker's record. The first try checks the clock too, by the records of some
// workers or of all, and makes the worker's record if the pool has none.
func (s *searchNumber) find(ctx context.Context) (stored, error) {
	l := s.lease
	if s.again {
		l.term, l.looked = l.pool.term(), 1
		return l.pool.get(ctx, s.number)
	}
	r, _, err := l.reread(ctx)
	if err != nil {
		return stored{}, err
	}
	settled, err := l.checkByStore(ctx, l.config.clock())
	if err != nil {
		return stored{}, err
	}
	if !settled {
		if _, sampled, err := l.sample(ctx, r, false); err != nil || !sampled {
			if err == nil {
				_, err = l.records(ctx, r, false)
			}
			if err != nil {
				return stored{}, err
			}
		}
	}
	if !r.made(s.number) {
		if err := l.growNamed(ctx, s.number); err != nil {
			return stored{}, err
		}
		l.term = l.pool.term()
	}
	return l.pool.get(ctx, s.number)
}

// held returns the error for a worker in use, and the end of the interval.
func (s *searchNumber) held(r stored) (soonest time.Time, err error) {
	l := s.lease
	until := time.UnixMicro(r.Until).UTC()
	err = &HeldError{Pool: l.pool.name, Worker: s.number, Holder: r.Holder, Until: until}
	alive := r.renewed(s.seen)
	if s.seen = r; alive && !l.config.patient {
		return time.Time{}, err
	}
	return until, err
}

// Why takeOne took no worker, other than errors of the store.
var (
	errNone  = errors.New("there is no free worker")
	errTaken = errors.New("another lease was quicker")
)

// mostFailures is how many records may be unreachable before takeOne gives up. Each costs a
// time-out, and few are unreachable unless all are.
const mostFailures = 8

// mostTaken is how many workers other leases may have taken before takeOne gives up, and the lease
// reads the pool again.
const mostTaken = 4

// takeOne takes one of the workers.
func (l *Lease) takeOne(ctx context.Context, workers []stored) error {
	why, failures, taken := errNone, 0, 0
	for _, s := range workers {
		_, ok, err := l.take(ctx, s)
		switch {
		case ok:
			return nil
		case err == errAgain:
			return err
		case err == nil:
			if why, taken = errTaken, taken+1; taken == mostTaken {
				return why
			}
		case err == errExcluded:
			if why == errNone {
				why = err
			}
			if l.claimedLong() {
				return why
			}
		default:
			if failures++; why == errNone || why == errExcluded {
				why = err
			}
			if failures == mostFailures || ctx.Err() != nil {
				return err
			}
		}
	}
	return why
}

// claimedLong reports whether a try has asked for claims in vain for as long as the lease waits, or as
// for an answer of the store. Anybody can make claims, of any number of workers, and so make them slow.
func (l *Lease) claimedLong() bool {
	return l.claimed() >= min(max(l.config.Wait, often), l.config.Timeout)
}

// claimed returns how long the last try has asked for claims.
func (l *Lease) claimed() time.Duration {
	return min(max(l.config.clock().Sub(l.claiming), 0), l.config.Timeout)
}

// sortOut returns the workers that are free, the workers that come free in a moment, and when the
// first interval ends.
func sortOut(all []stored, now int64) (free, soon []stored, soonest time.Time) {
	first := now
	for i, s := range all {
		if i == 0 || s.Until < first {
			first = s.Until
		}
		switch {
		case s.Until <= now:
			free = append(free, s)
		case s.freeSoon(now):
			soon = append(soon, s)
		}
	}
	return free, soon, time.UnixMicro(first).UTC()
}

// shuffle puts workers in a random order, so that simultaneous searches try different workers.
func (l *Lease) shuffle(workers []stored) {
	for i := range workers {
		n := i + l.config.intN(len(workers)-i)
		workers[i], workers[n] = workers[n], workers[i]
	}
}

// renewed reports whether the worker's holder has renewed since an earlier reading of the record.
func (s *stored) renewed(since stored) bool {
	return s.Incarnation != "" && s.Incarnation == since.Incarnation && s.Until > since.Until
}

// freeSoon reports whether a lease can take a returned worker, and then wait for a moment.
func (s *stored) freeSoon(now int64) bool {
	return s.Incarnation == "" && s.Until <= now+grace.Microseconds()
}

// take takes the worker of a free record, and reports whether the worker is the lease's. The error is errAgain if
// the pool was recovered since the lease has read the pool's record.
//
// The pool's record is read once more after the worker's record is the lease's, and before the generator gets
// the interval. A recovery first writes the pool's record, and then the workers' records: as long as the pool's
// record is from before the recovery, so was the worker's record when the lease took it.
func (l *Lease) take(ctx context.Context, s stored) (stored, bool, error) {
	if err := l.pool.note(ctx, l.config.Window.Microseconds()); err != nil {
		return s, false, err
	}
	drop, err := l.exclude(s.Worker)
	if err != nil {
		return s, false, err
	}
	ctx = l.unbroken(ctx)
	got, ok, err := l.claim(ctx, s, s.Until, l.roundDown(max(l.now(), s.Until)+l.config.First.Microseconds()))
	if !ok || err != nil {
		drop()
		return got, false, err
	}
	was, expecting := l.state, l.expecting.Load()
	// No lease had timestamps from before the pool was created.
	l.prior = min(max(s.Until, l.roundUp(l.pool.created.UnixMicro())), got.From)
	l.adopt(got, Acquired)
	moved, err := l.pool.moved(ctx, l.term)
	switch {
	case err == nil && moved:
		err = errAgain
	case err == nil:
		if err = l.grant(got, Acquired); err == nil {
			return got, true, nil
		}
		err = &refusedError{err} // the generator has no such worker
	}
	back, failed := l.giveBack(context.WithoutCancel(ctx), 0)
	until := time.UnixMicro(l.held.Until).UTC()
	l.state = was // the generator has what it had
	l.expecting.Store(expecting)
	drop()
	if back && failed == nil && isRefused(err) {
		l.notify(Event{Kind: Released, Worker: got.Worker, Until: until}) // last: Notify may call Close
	}
	return got, false, err
}

// reread returns the pool's record and its revision, as the lease has just read it to open the pool, or by
// reading it again. The search is then one in the record's term.
func (l *Lease) reread(ctx context.Context) (*poolRecord, driver.Revision, error) {
	r, rev := l.opened.record, l.opened.rev
	if l.opened = (opened{}); r == nil {
		var err error
		if r, rev, err = l.pool.reread(ctx); err != nil {
			return nil, driver.None, err
		}
	}
	l.term, l.looked = r.term(), r.count()
	return r, rev, nil
}

// records reads all records of the pool, and checks the clock by them unless that is settled. R is the pool's
// record, just read.
func (l *Lease) records(ctx context.Context, r *poolRecord, settled bool) ([]stored, error) {
	all, err := l.pool.records(ctx, r)
	if err == nil && !settled {
		err = l.checkClock(all)
	}
	return all, err
}

// checkFloor returns an error before the floor of the last recovery, and when the floor is.
func (l *Lease) checkFloor() (time.Time, error) {
	floor := l.pool.term().floor
	if l.now() >= floor {
		return time.Time{}, nil
	}
	soonest := time.UnixMicro(floor).UTC()
	return soonest, &NoWorkerError{Pool: l.pool.name, Workers: l.pool.layout.Workers, Soonest: soonest, Recovered: true}
}
