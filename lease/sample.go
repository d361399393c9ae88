package lease

import "context"

// Searches in a large pool.
//
// A start must not cost more, the larger the pool is: a fleet would start in the square of its size.
// The pool's record names the workers with records. A search therefore reads the records of a few
// workers, chosen at random, until one of them is free. If none is, the pool probably has few free workers
// with records: the search makes records for others. A search reads all records only where records are few,
// where all workers have records and nearly all are held, or where the few speak against the clock.
//
// Nothing that protects workers depends on which records are read. A search takes a worker by the worker's own
// record alone, and reads the pool's record afterwards (see [Lease.take]).

// How many records a search reads: handful in the first request if the clock is settled and otherwise few, of
// which a handful of used ones must agree with the clock. Each request reads twice as many as the one before, and
// all together at most few, or one in sampleShare of the pool's records if all workers have records.
const handful, few, sampleShare = 5, 16, 8

// sample reads the records of workers chosen at random, until one is free. Sampled is false if the search has to
// read all records: there are few, or the sample speaks against the clock. R is the pool's record. If settled is
// false, the records must judge the clock.
func (l *Lease) sample(ctx context.Context, r *poolRecord, settled bool) (some []stored, sampled bool, err error) {
	made := r.count()
	if made <= few {
		return nil, false, nil
	}
	most := few
	if made == r.Workers {
		most = max(made/sampleShare, few)
	}
	size := few
	if settled {
		size = handful
	}
	next := l.shuffled(made)
	for ; len(some) < most; size *= 2 {
		workers := make([]int, min(size, most-len(some)))
		for i := range workers {
			workers[i] = r.nth(next())
		}
		more, err := l.some(ctx, r, workers)
		if err != nil {
			return nil, false, err
		}
		if some = append(some, more...); !settled && !l.agrees(some) {
			return nil, false, nil
		}
		if free, soon, _ := sortOut(more, l.now()); len(free)+len(soon) > 0 {
			break
		}
	}
	return some, true, nil
}

// shuffled returns a function that returns the numbers below n in a random order.
func (l *Lease) shuffled(n int) (next func() int) {
	moved := make(map[int]int) // numbers that are not in their places
	at := func(i int) int {
		if number, ok := moved[i]; ok {
			return number
		}
		return i
	}
	first := -1
	return func() int {
		first++
		other := first + l.config.intN(n-first)
		number := at(other)
		moved[other] = at(first)
		return number
	}
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
