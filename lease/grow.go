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

// Making records of workers.
//
// First a lease makes a worker's record, then the lease names the worker in the pool's record. No
// lease uses an unnamed worker. So if a dying process leaves a record unnamed, the record is
// unused.
//
// After a recovery an unnamed record may be in use: the restored pool's record may have forgotten the
// worker. Therefore a new record begins at the floor. A record from before the recovery, or of a late
// request, is raised to the floor before the pool names its worker.
//
// Many leases may need records at once. Each lease then makes one record apart from the others'
// records, and one lease names all new records. All leases wait for the pool's record, and this way
// the record changes a few times and not once for each lease.

// How many records a lease makes at once: as many as the pool has, within these bounds.
const leastGrown, mostGrown = 4, 64

// grow makes records for more workers: as many as the pool has, or one if other leases make records
// too. The result is a record made by the lease and named by the pool. The record is noRecord if
// the lease made none; the lease then reads the pool again. Grown is false if all workers have
// records.
func (l *Lease) grow(ctx context.Context) (own stored, grown bool, err error) {
	r, rev, err := l.pool.reread(ctx)
	if err != nil {
		return noRecord, false, err
	}
	workers := r.lacking(min(max(r.count(), leastGrown), mostGrown))
	if len(workers) == 0 {
		return noRecord, false, nil
	}
	own, err = l.pool.makeRecord(ctx, workers[0], r.term())
	crowd := 1
	switch {
	case err == nil:
		err = l.pool.makeAll(ctx, r.withMade(own.Worker), rev, workers[1:])
	case errors.Is(err, driver.ErrConflict): // other leases make records, or a process died doing so
		if own, crowd, err = l.makeApart(ctx, r, apart); err == nil {
			err = driver.ErrConflict
		}
	}
	switch {
	case errors.Is(err, driver.ErrConflict):
		return l.await(ctx, own, crowd, r)
	case err != nil:
		return noRecord, false, err
	}
	l.term = r.term()
	return own, true, nil
}

// growNamed makes the record of an unnamed worker.
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

// noRecord is the record of no worker.
var noRecord = stored{record: record{Worker: -1}}

// How many leases a lease assumes to be in a crowd: at first apart, at most farApart. A larger
// crowd makes records further apart, and gaps may stay between them. The pool's record has room for
// some hundred gaps.
const apart, farApart = 32, 256

// namers is how many leases of a crowd try at once to name the workers. The rest waits for them.
const namers = 8

// makeApart makes a record at a distance from the first workers without records. Each record that
// exists already makes the crowd look larger, and the next try goes further away. After four tries,
// makeApart returns noRecord.
func (l *Lease) makeApart(ctx context.Context, r *poolRecord, crowd int) (stored, int, error) {
	for range 4 {
		workers := r.lacking(crowd)
		s, err := l.pool.makeRecord(ctx, workers[l.config.intN(len(workers))], r.term())
		if !errors.Is(err, driver.ErrConflict) {
			return s, crowd, err
		}
		crowd = min(crowd*4, farApart)
	}
	return noRecord, crowd, nil
}

// await waits until the pool's record names the worker of a record. Was is the pool's record
// before. If no other lease names the worker, this lease does; of a crowd, only a few leases try.
// With noRecord, await makes a record after the pool's record has changed. The results are as for
// grow.
//
// The lease's term is read after the record was made. The record can thus be taken like a record
// just read, see [Pool.moved].
func (l *Lease) await(ctx context.Context, own stored, crowd int, was *poolRecord) (stored, bool, error) {
	for times := 0; ; times++ {
		if err := l.standBack(ctx, times); err != nil {
			return noRecord, false, err
		}
		r, rev, err := l.pool.reread(ctx)
		switch {
		case err != nil:
			return noRecord, false, err
		case r.term() != was.term():
			return noRecord, true, nil
		case own.Worker >= 0 && r.made(own.Worker):
			l.term = r.term()
			return own, true, nil
		case own.Worker < 0 && r.count() == r.Workers:
			return noRecord, true, nil
		case own.Worker < 0 && r.count() != was.count():
			if own, crowd, err = l.makeApart(ctx, r, crowd); err != nil {
				return noRecord, false, err
			}
			was = r
			continue
		case l.config.intN(max(crowd/namers, 1)) > 0:
			crowd /= 2
			continue
		}
		named, err := l.pool.nameNear(ctx, r, rev, own.Worker)
		switch {
		case errors.Is(err, driver.ErrConflict):
			continue
		case err != nil:
			return noRecord, false, err
		case own.Worker >= 0 && !named.made(own.Worker): // the pool's record had room for others only
			return noRecord, true, nil
		}
		l.term = r.term()
		return own, true, nil
	}
}

// standBack pauses after other leases were quicker. So many pauses came before. The pause is
// random, and in proportion to the time of a change in the store: so leases spread, and do not all
// come back at once.
func (l *Lease) standBack(ctx context.Context, times int) error {
	const shortest, longest = 10 * time.Millisecond, time.Second
	span := min(max(2*min(l.took, longest), shortest)<<min(times, 8), longest)
	pause := time.Duration(1+l.config.intN(int(span/time.Microsecond))) * time.Microsecond
	if end := sleep(ctx, l.config.world, pause); end != nil {
		return &waitError{errTaken, end}
	}
	return nil
}

// makeRecord makes the record of an unnamed worker. The error is a driver.ErrConflict if the record
// exists.
func (p *Pool) makeRecord(ctx context.Context, worker int, t term) (stored, error) {
	s := stored{record: *p.unused(worker, t)}
	var err error
	s.rev, err = p.store.Put(ctx, workerKey(p.name, worker), encode(&s.record), driver.None)
	return s, err
}

// makeAll makes the records of workers, or raises existing records, and names the workers in the
// pool's record. The error is a driver.ErrConflict if the pool's record is not at revision rev any
// more.
func (p *Pool) makeAll(ctx context.Context, grown poolRecord, rev driver.Revision, workers []int) error {
	for _, worker := range workers {
		_, err := p.makeRecord(ctx, worker, grown.term())
		if errors.Is(err, driver.ErrConflict) {
			var e driver.Entry
			if e, err = p.store.Get(ctx, workerKey(p.name, worker)); errors.Is(err, driver.ErrNotFound) {
				err = p.missing(worker) // it existed a moment ago
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

// nameNear makes the pool's record name the workers with records beside a worker, or as many as fit:
// those whose numbers differ in the last two digits only. So a search reads at most 100 records for
// this, however many the pool has. A crowd makes its records side by side. The worker one comes
// first; if one is negative, nameNear looks beside the first worker without a name. nameNear returns
// the new pool's record. The error is a driver.ErrConflict if the pool's record has changed.
func (p *Pool) nameNear(ctx context.Context, r *poolRecord, rev driver.Revision, one int) (*poolRecord, error) {
	near := one
	if one < 0 {
		near = r.lacking(1)[0]
	}
	key := workerKey(p.name, near)
	entries, err := p.store.List(ctx, key[:len(key)-2])
	if err != nil {
		return nil, err
	}
	all := *r
	var workers []int // with records, and unnamed
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
		return nil, p.missing(one) // it was made before
	}
	if len(workers) > 0 && !all.fits() { // the workers are far apart
		if all = *r; one >= 0 {
			workers = append([]int{one}, workers...)
		}
		for _, worker := range workers {
			if more := all.withMade(worker); more.fits() {
				all = more
			}
		}
		// If no worker fits, try the first that lacks a name. The first borders on named workers,
		// or write returns an error.
		if first := r.lacking(1)[0]; all.count() == r.count() && slices.Contains(workers, first) {
			all = all.withMade(first)
		}
	}
	if all.count() == r.count() {
		return r, nil
	}
	return &all, p.write(ctx, &all, rev)
}

// write writes the pool's record. The error is a driver.ErrConflict if the record is not at
// revision rev any more.
func (p *Pool) write(ctx context.Context, r *poolRecord, rev driver.Revision) error {
	if !r.fits() {
		return fmt.Errorf("%w: pool %s: too many workers were asked for by numbers that are far apart", ErrConfig, p.name)
	}
	_, err := p.store.Put(ctx, poolKey(p.name), encode(r), rev)
	return err
}

// fits reports whether a store takes the record, after a recovery too.
func (r poolRecord) fits() bool {
	r.Version, r.Generation, r.Floor, r.Window = windowVersion, math.MaxInt64, math.MaxInt64, math.MaxInt64
	return len(encode(&r)) <= driver.MaxValue
}

// overtaken returns a driver.ErrConflict if err comes from a recovery that has begun: a worker's
// record is of a later generation than r, and so is the pool's record now. Otherwise overtaken
// returns err.
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

// raise checks the record of an unnamed worker. If the record is of an earlier generation or ends
// before the floor, raise writes the record again, with the term.
func (p *Pool) raise(ctx context.Context, e driver.Entry, worker int, t term) error {
	s, err := p.read(e, worker, t.generation)
	if errors.Is(err, ErrRecovering) || err == nil && s.Until < t.floor {
		r := p.unused(worker, term{t.generation, max(s.Until, t.floor)})
		r.Holders, r.others = s.ended(), s.others
		_, err = p.store.Put(ctx, e.Key, encode(r), e.Revision)
	}
	return err
}

// unused returns the record of a worker that no lease has had in a term.
func (p *Pool) unused(worker int, t term) *record {
	return &record{Version: workerVersion, Pool: p.uuid, Layout: p.hash, Generation: t.generation, Worker: worker, From: t.floor, Until: t.floor}
}
