package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// Making records of workers.
//
// A pool grows by a block of records at a time: first the records, then one compare-and-swap of the pool's
// record, which names their workers. No lease uses an unnamed worker, so the records of a process that dies in
// between are unused, and the next process completes the block.
//
// After a recovery an unnamed record may be in use, because the restored pool's record may have forgotten the
// worker. Therefore a new record begins at the floor. A record from before the recovery, or of a late request, is
// raised to the floor before the pool names its worker.
//
// Of leases that need the same block at once, the one that creates the block's first record creates the rest.
// The others wait until the pool names the block. If that takes long, the first may have died, and they complete
// the block.

// A pool grows by as many records as the store takes at once. Where that is few, it grows by as many as it has,
// up to mostGrown, so that a large fleet doesn't start in small steps.
const mostGrown = 128

// patientLooks is how often a lease looks for a block that another lease is creating, before completing it.
const patientLooks = 6

// errAgain: the pool has changed during a try. The try starts again.
var errAgain = errors.New("the pool has changed")

// grow makes records for the next workers without records, and returns the new records. The error is errAgain
// if other leases made them, or if the pool was recovered: the pool has to be read again then. R is the pool's
// record at revision rev, and lacks records.
func (l *Lease) grow(ctx context.Context, r *poolRecord, rev driver.Revision) ([]stored, error) {
	size := max(l.requests().batch(), min(r.count(), mostGrown))
	return l.makeBlock(ctx, r, rev, r.lacking(size))
}

// growNamed makes the record of a worker, and of the others in its block, unless the pool has the record.
func (l *Lease) growNamed(ctx context.Context, worker int) error {
	for {
		r, rev, err := l.pool.reread(ctx)
		if err != nil || r.made(worker) {
			return err
		}
		size := l.requests().batch()
		from := worker / size * size
		var workers []int
		for w := from; w < min(from+size, r.Workers); w++ {
			if !r.made(w) {
				workers = append(workers, w)
			}
		}
		if _, err = l.makeBlock(ctx, r, rev, workers); err != errAgain {
			return err
		}
	}
}

// makeBlock makes the records of workers, and names the workers in the pool's record. It returns the records
// that did not exist. The error is errAgain as in grow.
func (l *Lease) makeBlock(ctx context.Context, r *poolRecord, rev driver.Revision, workers []int) ([]stored, error) {
	p, was := l.pool, r.term()
	made, err := l.create(ctx, workers[:1], was)
	if err != nil {
		return nil, err
	}
	for times := 0; len(made) == 0 && times < patientLooks; times++ {
		if err := l.standBack(ctx, times); err != nil {
			return nil, err
		}
		if r, rev, err = p.reread(ctx); err != nil {
			return nil, err
		}
		if r.term() != was || r.made(workers[0]) {
			return nil, errAgain
		}
		workers = slices.DeleteFunc(workers, r.made)
	}
	for some := range slices.Chunk(workers[1:], l.requests().batch()) {
		more, err := l.create(ctx, some, was)
		if err != nil {
			return nil, err
		}
		made = append(made, more...)
	}
	if err := l.raiseOthers(ctx, r, workers, made); err != nil {
		return nil, err
	}
	for {
		grown := *r
		for _, worker := range workers {
			grown = grown.withMade(worker)
		}
		if err := p.write(ctx, &grown, rev); !errors.Is(err, driver.ErrConflict) {
			return made, err
		}
		if r, rev, err = p.reread(ctx); err != nil {
			return nil, err
		}
		if r.term() != was || r.made(workers[0]) {
			return nil, errAgain
		}
	}
}

// create creates the records of unnamed workers, and returns those that did not exist. They belong to a term.
func (l *Lease) create(ctx context.Context, workers []int, t term) ([]stored, error) {
	records := make([]stored, len(workers))
	entries := make([]driver.Entry, len(workers))
	for i, worker := range workers {
		records[i].record = *l.pool.unused(worker, t)
		entries[i] = driver.Entry{Key: workerKey(l.pool.name, worker), Value: encode(&records[i].record)}
	}
	revs, err := l.requests().createAll(ctx, entries)
	if err != nil {
		return nil, err
	}
	for i, rev := range revs {
		records[i].rev = rev
	}
	return slices.DeleteFunc(records, func(s stored) bool { return s.rev == driver.None }), nil
}

// raiseOthers raises the records of workers that existed before made were created. The error is errAgain if a
// recovery has begun.
func (l *Lease) raiseOthers(ctx context.Context, r *poolRecord, workers []int, made []stored) error {
	p := l.pool
	fresh := make(map[int]bool, len(made))
	for _, s := range made {
		fresh[s.Worker] = true
	}
	others := slices.DeleteFunc(slices.Clone(workers), func(worker int) bool { return fresh[worker] })
	entries, err := l.entries(ctx, others)
	if err != nil {
		return err
	}
	for _, worker := range others {
		e, ok := entries[worker]
		if !ok {
			return p.missing(worker) // it existed a moment ago
		}
		switch err := p.raise(ctx, e, worker, r.term()); {
		case errors.Is(err, driver.ErrConflict): // another lease has raised it, or a recovery
			return errAgain
		case errors.Is(err, errAhead):
			if now, _, unread := p.reread(ctx); unread != nil || now.Generation > r.Generation {
				return cmp.Or(unread, errAgain)
			}
			return err
		case err != nil:
			return err
		}
	}
	return nil
}

// standBack pauses after other leases were quicker. So many pauses came before. The pause is random, and in
// proportion to the time of a change in the store: so leases spread, and do not all come back at once. All looks for
// a block together take less than a window, even if the store was slow before.
func (l *Lease) standBack(ctx context.Context, times int) error {
	const shortest = 10 * time.Millisecond
	longest := max(min(time.Second, l.config.Window/8), shortest)
	span := min(max(2*min(l.took, longest), shortest)<<min(times, 8), longest)
	pause := time.Duration(1+l.config.intN(int(span/time.Microsecond))) * time.Microsecond
	if end := sleep(ctx, l.config.world, pause); end != nil {
		return &waitError{errTaken, end}
	}
	return nil
}

// write writes the pool's record. The error is a driver.ErrConflict if the record is not at revision rev any
// more.
func (p *Pool) write(ctx context.Context, r *poolRecord, rev driver.Revision) error {
	if !r.fits() {
		return fmt.Errorf("%w: pool %s: too many workers were asked for by numbers that are far apart", ErrConfig, p.name)
	}
	_, err := p.store.Put(ctx, poolKey(p.name), encode(r), rev)
	return err
}

// fits reports whether a store takes the record, after a recovery too.
func (r poolRecord) fits() bool {
	r.Version, r.Generation, r.Floor, r.Window = placeVersion, math.MaxInt64, math.MaxInt64, math.MaxInt64
	r.Place = strings.Repeat("-", driver.MaxPlace)
	return len(encode(&r)) <= driver.MaxValue
}

// raise checks the record of an unnamed worker. If the record is of an earlier generation or ends before the
// floor, raise writes the record again, with the term.
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
