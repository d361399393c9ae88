package lease

import (
	"context"
	"errors"
	"time"
)

// Searches in a large pool.
//
// A start must not cost more, the larger the pool is: a fleet would start in the square of its size.
// The pool's record names the workers with records. A search therefore reads the records of a few
// workers, chosen at random and one after another, until it finds a free worker. If all of a sample
// are held, the pool probably has few free workers with records: the search makes records for
// others. A search lists all records only where records are few, where all workers have records and
// nearly all are held, or where the sample speaks against the clock.
//
// Nothing that protects workers depends on the list. A search takes a worker by the worker's own
// record alone, and reads the pool's record afterwards (see [Pool.moved]).

// fewRecords is how many records a search lists at once, as cheaply as it reads some.
const fewRecords = 16

// How many records a search reads one by one at most: leastSample if other workers lack records, and
// otherwise one in sampleShare of the pool's, up to mostSample. If one worker in n is free, a search
// reads n records on average. A list reads all, in few requests.
const leastSample, sampleShare, mostSample = 16, 8, 256

// handful is how many records a clock is judged by, if all of them agree with the clock.
const handful = 5

// errList: a sample does not do, and the search has to list the records.
var errList = errors.New("a sample does not do")

// sampleSize returns how many records to read one by one of a pool with r as its record, and 0 to
// list the records.
func sampleSize(r *poolRecord) int {
	made := r.count()
	switch {
	case made <= fewRecords:
		return 0
	case made < r.Workers:
		return leastSample
	}
	return min(max(made/sampleShare, leastSample), mostSample)
}

// sample takes one of the workers whose records it reads, at most so many, or makes a record if all
// are held. R is the pool's record. The error is errList if the search has to list the records.
func (s *searchAny) sample(ctx context.Context, r *poolRecord, size, times int) (soonest time.Time, err error) {
	l := s.lease
	settled, err := l.checkByStore(ctx, l.config.clock())
	if err != nil {
		return time.Time{}, err
	}
	least := 1
	if !settled {
		least = handful
	}
	some, err := l.pick(ctx, r, least, size)
	switch {
	case err != nil:
		return time.Time{}, err
	case !settled && !l.agrees(some):
		return time.Time{}, errList
	}
	if soonest, err := l.checkFloor(); err != nil {
		return soonest, err
	}
	l.startClaims()
	free, soon, _ := sortOut(some, l.now())
	if err := s.stay(ctx, len(free)+len(soon)); err != nil {
		return time.Time{}, err
	}
	switch err := l.takeOne(ctx, append(free, soon...)); {
	case err == nil:
		return time.Time{}, nil
	case err == errTaken:
		return s.again(ctx, times)
	case err == errNone && r.count() < r.Workers:
		if soonest, err := s.takeNew(ctx, r.count()); err != errNone {
			return soonest, err
		}
	case ctx.Err() != nil:
		return time.Time{}, err
	}
	return time.Time{}, errList
}

// pick reads the records of workers chosen at random, until one is free: at least so many, and at
// most so many. Every second one is near the workers that lack records: there are the youngest
// records, and in a pool that has just grown, the free ones.
func (l *Lease) pick(ctx context.Context, r *poolRecord, least, most int) ([]stored, error) {
	made, lacking := r.count(), r.lacking(1)
	most = min(most, made)
	picked := make(map[int]bool, most)
	some := make([]stored, 0, most)
	free := false
	for len(some) < most && (!free || len(some) < least) {
		worker := r.nth(l.config.intN(made))
		if len(some)%2 == 1 && len(lacking) > 0 {
			near := (lacking[0] + r.Workers - mostGrown + l.config.intN(2*mostGrown)) % r.Workers
			if r.made(near) && !picked[near] {
				worker = near
			}
		}
		if picked[worker] {
			continue
		}
		picked[worker] = true
		got, err := l.pool.get(ctx, worker)
		if err != nil {
			return nil, err
		}
		some = append(some, got)
		free = free || got.Until <= l.now()
	}
	return some, nil
}

// nth returns the worker with a record that follows n others.
func (r *poolRecord) nth(n int) int {
	for _, m := range r.Made {
		if n < m[1]-m[0] {
			return m[0] + n
		}
		n -= m[1] - m[0]
	}
	return -1
}
