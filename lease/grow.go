package lease

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// How records of workers are made.
//
// First a record is made, then the pool says so: nobody uses a worker that the pool does not know
// of, so whoever finds such a record, left by a process that died in between, finds it unused.
//
// Not so after a rescue, when the pool may have forgotten workers that are in use: there times
// begin at the floor. A record that is found and begins before is one that was made before the
// rescue, or by a request that came late, and is raised.
//
// Many leases may want records at once. Each lease then makes one record, apart from the records of
// the others, and one lease adds all new records to the pool's record. All leases wait for the pool's
// record; this way the pool's record changes a few times, and not once for each lease.

// grow makes records for some workers more, as many as there are, or for one, if others are making some
// too. It returns one that it has made and the pool now names, for the lease to take; that is nobody's if
// it has come to none, and then the pool is to be looked at anew. It returns false if there are no more
// to be made.
func (l *Lease) grow(ctx context.Context) (own stored, grown bool, err error) {
	const fewest, most = 4, 64
	r, rev, err := l.pool.reread(ctx)
	if err != nil {
		return none, false, err
	}
	workers := r.lacking(min(max(r.count(), fewest), most))
	if len(workers) == 0 {
		return none, false, nil
	}
	own, err = l.pool.make(ctx, workers[0], r.term())
	crowd := 1
	switch {
	case err == nil:
		err = l.pool.makeAll(ctx, r.withMade(own.Worker), rev, workers[1:])
	case errors.Is(err, driver.ErrConflict): // others are at it, or a process has died at it
		if own, crowd, err = l.makeApart(ctx, r, apart); err == nil {
			err = driver.ErrConflict
		}
	}
	switch {
	case errors.Is(err, driver.ErrConflict):
		return l.await(ctx, own, crowd, r)
	case err != nil:
		return none, false, err
	}
	l.term = r.term()
	return own, true, nil
}

// growNamed sees to it that a worker has a record.
func (l *Lease) growNamed(ctx context.Context, worker int) error {
	for {
		r, rev, err := l.pool.reread(ctx)
		if err != nil || r.made(worker) {
			return err
		}
		if err = l.pool.makeAll(ctx, *r, rev, []int{worker}); !errors.Is(err, driver.ErrConflict) {
			return err
		}
		if _, _, err = l.await(ctx, stored{record: record{Worker: worker}}, apart, r); err != nil {
			return err
		}
	}
}

// none is no record, which is nobody's.
var none = stored{record: record{Worker: -1}}

// How many leases a lease takes to be there that has met others: not more than that many, since what they
// make may stay far apart, and the pool has room for some hundred workers that are: half as many gaps, in
// the long run, as that.
const apart, farApart = 32, 256

// makeApart makes a record away from where all begin. The more of those that it tries are there, the
// larger the crowd is that it takes to be there, and the further away the next one. It may come to none.
func (l *Lease) makeApart(ctx context.Context, r *poolRecord, crowd int) (stored, int, error) {
	for range 4 {
		workers := r.lacking(crowd)
		s, err := l.pool.make(ctx, workers[l.config.world.intN(len(workers))], r.term())
		if !errors.Is(err, driver.ErrConflict) {
			return s, crowd, err
		}
		crowd = min(crowd*4, farApart)
	}
	return none, crowd, nil
}

// await waits until the pool, which was as it says, names a record that was made. If no other lease sees
// to that, it does, but of a crowd only a few try. If the record is none, it makes one when the pool has
// changed, among those that it lacks by then. What it returns is as for grow.
//
// The pool's term is that of when the record was made, and is read after it: so the record can be
// taken as who reads it would, see [Pool.moved].
func (l *Lease) await(ctx context.Context, own stored, crowd int, was *poolRecord) (stored, bool, error) {
	for times := 0; ; times++ {
		if err := l.standBack(ctx, times); err != nil {
			return none, false, err
		}
		r, rev, err := l.pool.reread(ctx)
		switch {
		case err != nil:
			return none, false, err
		case r.term() != was.term():
			return none, true, nil
		case own.Worker >= 0 && r.made(own.Worker):
			l.term = r.term()
			return own, true, nil
		case own.Worker < 0 && r.count() == r.Workers:
			return none, true, nil
		case own.Worker < 0 && r.count() != was.count():
			if own, crowd, err = l.makeApart(ctx, r, crowd); err != nil {
				return none, false, err
			}
			was = r
			continue
		case l.config.world.intN(max(crowd/apart, 1)) > 0:
			crowd /= 2
			continue
		}
		named, err := l.pool.nameAll(ctx, r, rev, own.Worker)
		switch {
		case errors.Is(err, driver.ErrConflict):
			continue
		case err != nil:
			return none, false, err
		case own.Worker >= 0 && !named.made(own.Worker): // there is room for others only
			return none, true, nil
		}
		l.term = r.term()
		return own, true, nil
	}
}

// standBack waits after others were quicker for so many times more than once: any time up to some that
// a change takes, now that all are at it, so that they are not at it all at once again.
func (l *Lease) standBack(ctx context.Context, times int) error {
	const shortest, longest = 10 * time.Millisecond, time.Second
	span := min(max(4*min(l.took, longest), shortest)<<min(times, 8), longest)
	pause := time.Duration(1+l.config.world.intN(int(span/time.Microsecond))) * time.Microsecond
	if end := l.config.world.sleep(ctx, pause); end != nil {
		return &waitError{errTaken, end}
	}
	return nil
}

// make makes the record of a worker that the pool does not name. Its error is a driver.ErrConflict if
// there is one.
func (p *Pool) make(ctx context.Context, worker int, t term) (stored, error) {
	s := stored{record: *p.unused(worker, t)}
	var err error
	s.rev, err = p.store.Put(ctx, workerKey(p.name, worker), encode(&s.record), driver.None)
	return s, err
}

// makeAll makes the records of workers, or sees to it that they are as if it had, and the pool name them.
// Its error is a driver.ErrConflict if the pool has changed from what rev is of.
func (p *Pool) makeAll(ctx context.Context, grown poolRecord, rev driver.Revision, workers []int) error {
	for _, worker := range workers {
		_, err := p.make(ctx, worker, grown.term())
		if errors.Is(err, driver.ErrConflict) {
			var e driver.Entry
			if e, err = p.store.Get(ctx, workerKey(p.name, worker)); errors.Is(err, driver.ErrNotFound) {
				err = p.missing(worker) // it was there
			}
			if err == nil {
				err = p.raise(ctx, e, worker, grown.term())
			}
		}
		if err != nil {
			return p.overtaken(ctx, &grown, err)
		}
		grown = grown.withMade(worker)
	}
	return p.write(ctx, &grown, rev)
}

// nameAll has the pool, whose record is r, name all records of workers that there are, or as many as it has
// room for, that of one worker first if it is not negative. It returns the pool's record then. Its error is
// a driver.ErrConflict if the pool has changed.
func (p *Pool) nameAll(ctx context.Context, r *poolRecord, rev driver.Revision, one int) (*poolRecord, error) {
	entries, err := p.store.List(ctx, workersKey(p.name))
	if err != nil {
		return nil, err
	}
	all := *r
	var workers []int // that it does not name
	for _, e := range entries {
		worker, ok := workerOf(p.name, e.Key)
		if !ok || worker >= r.Workers || r.made(worker) {
			continue
		}
		if err := p.raise(ctx, e, worker, r.term()); err != nil {
			return nil, p.overtaken(ctx, r, err)
		}
		workers = append(workers, worker)
		all = all.withMade(worker)
	}
	if one >= 0 && !all.made(one) {
		return nil, p.missing(one) // it was there
	}
	if len(workers) > 0 && !all.fits() { // they are far apart
		if all = *r; one >= 0 {
			workers = append([]int{one}, workers...)
		}
		for _, worker := range workers {
			if more := all.withMade(worker); more.fits() {
				all = more
			}
		}
		// There is room for the first that it lacks, next to others, or for none: then to write it says so.
		if first := r.lacking(1)[0]; all.count() == r.count() && slices.Contains(workers, first) {
			all = all.withMade(first)
		}
	}
	if all.count() == r.count() {
		return r, nil
	}
	return &all, p.write(ctx, &all, rev)
}

// write writes the pool's record. Its error is a driver.ErrConflict if that has changed from what rev is
// of.
func (p *Pool) write(ctx context.Context, r *poolRecord, rev driver.Revision) error {
	if !r.fits() {
		return fmt.Errorf("%w: pool %s: too many workers were asked for by numbers that are far apart", ErrConfig, p.name)
	}
	_, err := p.store.Put(ctx, poolKey(p.name), encode(r), rev)
	return err
}

// fits tells whether a store takes the record, and as a rescue writes it, too.
func (r poolRecord) fits() bool {
	r.Version, r.Generation, r.Floor = rescuedVersion, math.MaxInt64, math.MaxInt64
	return len(encode(&r)) <= driver.MaxValue
}

// overtaken returns what an error of a record that is being made comes to: a driver.ErrConflict if the
// record is of a later generation than the pool's record was, since a rescue has begun.
func (p *Pool) overtaken(ctx context.Context, r *poolRecord, err error) error {
	if !errors.Is(err, errAhead) {
		return err
	}
	now, _, unread := p.reread(ctx)
	switch {
	case unread != nil:
		return unread
	case now.Generation > r.Generation:
		return driver.ErrConflict
	}
	return err
}

// raise sees to it that the record of a worker that the pool does not name, as it was read, is one of
// this pool, of the term, and begins no sooner.
func (p *Pool) raise(ctx context.Context, e driver.Entry, worker int, t term) error {
	s, err := p.read(e, worker, t.generation)
	if errors.Is(err, ErrRescuing) || err == nil && s.Until < t.floor {
		r := p.unused(worker, term{t.generation, max(s.Until, t.floor)})
		_, err = p.store.Put(ctx, e.Key, encode(r), e.Revision)
	}
	return err
}

func (p *Pool) unused(worker int, t term) *record {
	return &record{Version: recordVersion, Pool: p.uuid, Layout: p.hash, Generation: t.generation, Worker: worker, From: t.floor, Until: t.floor}
}
