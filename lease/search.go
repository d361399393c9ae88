package lease

import (
	"context"
	"errors"
	"slices"
	"time"
)

// acquire takes a worker. If there is none to be had it waits for one, no longer than wait.
//
// It looks again when times run out, every now and then, and where the store tells of changes,
// after each. As each look reads all records that were made, there are the fewer, the more of
// those there are.
func (l *Lease) acquire(ctx context.Context, wait time.Duration) error {
	const shortest = 3 * time.Millisecond
	take, key := l.any(), workersKey(l.pool.name)
	if l.config.Worker.named {
		take, key = l.named(), workerKey(l.pool.name, l.config.Worker.number)
	}
	watching, stop := context.WithCancel(ctx)
	defer stop()
	var changes <-chan struct{}
	for first := true; ; first = false {
		soonest, err := take(ctx)
		if err == nil || soonest.IsZero() || l.hopeless(err, soonest, wait) {
			return err
		}
		if wait > 0 {
			l.tellWait(err)
		}
		if first && wait > 0 {
			if changes = l.pool.store.(timed).watch(watching, key); changes != nil {
				continue // of what changed before, it need not tell
			}
		}
		pause := max(soonest.Sub(l.config.world.now()), shortest)
		switch {
		case isRescued(err): // nobody has anything to give back before
			pause += l.jitter()
		case changes != nil:
			pause = min(pause, seldom)
		default:
			pause = min(pause, max(often, l.price()))
		}
		if pause > wait {
			return err
		}
		waited, end := l.config.world.wait(ctx, pause, changes)
		if end == nil && waited < pause { // woken, as all who wait are
			jitter := min(l.jitter(), pause-waited)
			waited += jitter
			end = l.config.world.sleep(ctx, jitter)
		}
		if end != nil {
			return &waitError{err, end}
		}
		wait -= waited
	}
}

// hopeless reports whether a wait for a worker cannot succeed: nobody holds a worker to give back, and
// all are used up to beyond the wait.
func (l *Lease) hopeless(err error, soonest time.Time, wait time.Duration) bool {
	var none *NoWorkerError
	var held *HeldError
	nobodys := errors.As(err, &none) && none.Ahead || errors.As(err, &held) && held.Holder == ""
	return nobodys && soonest.Sub(l.config.world.now()) > wait
}

// How long a lease goes without a look at a pool in which it waits for a worker: often, and seldom
// if looks are dear or the store tells of changes.
const often, seldom = 100 * time.Millisecond, 2 * time.Second

// price is how long a lease goes at least between two looks at the pool, for what they cost: a
// second for a thousand records.
func (l *Lease) price() time.Duration {
	return min(time.Duration(l.looked)*time.Millisecond, seldom)
}

// jitter is any time up to that, for leases not to look all at once.
func (l *Lease) jitter() time.Duration {
	return time.Duration(l.config.world.intN(int(l.price()/time.Microsecond)+1)) * time.Microsecond
}

func isRescued(err error) bool {
	var none *NoWorkerError
	return errors.As(err, &none) && none.Rescued
}

// any returns a function that takes any worker that is free. With an error it returns when there
// may be one, if that is worth a wait: it is not once all holders were seen to renew, unless the
// caller says how long to wait.
func (l *Lease) any() func(context.Context) (time.Time, error) {
	seen := make(map[int]stored) // at the first try
	return func(ctx context.Context) (time.Time, error) {
		for times := 0; ; times++ {
			l.term = l.pool.term()
			all, err := l.records(ctx)
			if err != nil {
				return time.Time{}, err
			}
			if soonest, err := l.checkFloor(); err != nil {
				return soonest, err
			}
			free, soon, soonest := sortOut(all, l.now())
			if len(free)+len(soon) > 0 {
				if moved, err := l.pool.moved(ctx, l.term); err != nil {
					return time.Time{}, err
				} else if moved {
					continue
				}
			}
			for i := range free { // those who come at the same time try different ones
				n := i + l.config.world.intN(len(free)-i)
				free[i], free[n] = free[n], free[i]
			}
			failed := l.takeOne(ctx, append(free, soon...))
			switch failed {
			case nil:
				return time.Time{}, nil
			case errTaken:
				if err := l.standBack(ctx, times); err != nil {
					return time.Time{}, err
				}
				continue
			}
			// There is none, or only such as cannot be had: with records that a stopped
			// process is writing, say.
			own, grown, err := l.grow(ctx)
			if err == nil && own.Worker >= 0 {
				if soonest, err := l.checkFloor(); err != nil {
					return soonest, err
				}
				if _, ok, _ := l.take(ctx, own); ok {
					return time.Time{}, nil
				}
			}
			switch {
			case err != nil:
				return time.Time{}, err
			case grown || len(all) < l.pool.layout.Workers: // another lease may have made the last ones
				continue
			case failed == errExcluded: // its process says nothing of when it ends
				soonest = l.config.world.now().Add(often)
				return soonest, &NoWorkerError{Pool: l.pool.name, Workers: l.pool.layout.Workers, Soonest: soonest, Excluded: true}
			case failed != errNone:
				return time.Time{}, failed
			}
			none := &NoWorkerError{Pool: l.pool.name, Workers: l.pool.layout.Workers, Soonest: soonest, Ahead: true}
			alive := true
			for _, s := range all {
				none.Ahead = none.Ahead && s.Incarnation == ""
				if _, ok := seen[s.Worker]; !ok {
					seen[s.Worker] = s
				}
				alive = alive && s.renewed(seen[s.Worker])
			}
			if alive && !l.config.patient {
				soonest = time.Time{}
			}
			return soonest, none
		}
	}
}

// Why takeOne took none, besides errors of the store.
var (
	errNone  = errors.New("there is no free worker")
	errTaken = errors.New("another lease was quicker")
)

// mostFailures is how many records may be out of reach before a lease gives up on the others: each
// takes its time, and few are, unless all of them.
const mostFailures = 8

// mostTaken is how many workers may be taken by others before a lease looks at the pool again.
const mostTaken = 4

// takeOne takes one of the workers.
func (l *Lease) takeOne(ctx context.Context, workers []stored) error {
	why, failures, taken := errNone, 0, 0
	for _, s := range workers {
		_, ok, err := l.take(ctx, s)
		if ok {
			return nil
		}
		if err == nil {
			if why, taken = errTaken, taken+1; taken == mostTaken {
				return why
			}
			continue
		}
		if err == errExcluded {
			if why == errNone {
				why = err
			}
			continue
		}
		if failures++; why == errNone || why == errExcluded {
			why = err
		}
		if failures == mostFailures || ctx.Err() != nil {
			return err
		}
	}
	return why
}

// sortOut returns the workers that are free and those that will be in a moment, and when the
// first times end.
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

// renewed tells whether the holder of the worker has shown that it is alive.
func (s *stored) renewed(since stored) bool {
	return s.Incarnation != "" && s.Incarnation == since.Incarnation && s.Until > since.Until
}

// freeSoon tells whether a worker that was given back can be taken, by who waits for a moment.
func (s *stored) freeSoon(now int64) bool {
	return s.Incarnation == "" && s.Until <= now+grace.Microseconds()
}

// named returns a function like any's for the worker that was asked for. If another lease holds
// it, that may be one of a process that has died: it is worth a wait, as there.
func (l *Lease) named() func(context.Context) (time.Time, error) {
	worker, seen := l.config.Worker.number, stored{}
	find := func(ctx context.Context) (stored, error) { // the first time
		all, err := l.records(ctx)
		if err != nil {
			return stored{}, err
		}
		if i := slices.IndexFunc(all, func(s stored) bool { return s.Worker == worker }); i >= 0 {
			return all[i], nil
		}
		if err := l.growNamed(ctx, worker); err != nil {
			return stored{}, err
		}
		return l.pool.get(ctx, worker)
	}
	return func(ctx context.Context) (time.Time, error) {
		l.term = l.pool.term()
		s, err := find(ctx)
		if err != nil {
			return time.Time{}, err
		}
		if soonest, err := l.checkFloor(); err != nil {
			return soonest, err
		}
		find = func(ctx context.Context) (stored, error) { l.looked = 1; return l.pool.get(ctx, worker) }
		if now := l.now(); s.Until <= now || s.freeSoon(now) {
			moved, err := l.pool.moved(ctx, l.term)
			if err != nil {
				return time.Time{}, err
			}
			if !moved {
				got, ok, err := l.take(ctx, s)
				if err == errExcluded {
					return l.config.world.now().Add(often), &HeldError{Pool: l.pool.name, Worker: worker, Excluded: true}
				}
				if ok || err != nil {
					return time.Time{}, err
				}
				s = got
			}
		}
		until := time.UnixMicro(s.Until).UTC()
		held := &HeldError{Pool: l.pool.name, Worker: worker, Holder: s.Holder, Until: until}
		alive := s.renewed(seen)
		if seen = s; alive && !l.config.patient {
			return time.Time{}, held
		}
		return until, held
	}
}

// take takes the worker of a record that is free, and tells whether it could.
func (l *Lease) take(ctx context.Context, s stored) (stored, bool, error) {
	drop, err := l.exclude(s.Worker)
	if err != nil {
		return s, false, err
	}
	got, ok, err := l.claim(ctx, s, s.Until, l.roundDown(max(l.now(), s.Until)+l.config.First.Microseconds()))
	if !ok || err != nil {
		drop()
		return got, false, err
	}
	// Times from before the pool was are of no use to anybody.
	l.prior = min(max(s.Until, l.roundUp(l.pool.created.UnixMicro())), got.From)
	if err := l.adopt(got, Acquired); err != nil { // the generator has no such worker
		if back, failed := l.giveBack(context.WithoutCancel(ctx), 0); back && failed == nil {
			l.notify(Event{Kind: Released, Worker: got.Worker, Until: time.UnixMicro(l.held.Until).UTC()})
		}
		l.lose(err)
		return got, false, err
	}
	return got, true, nil
}

// records reads all records of the pool, and checks the clock by them.
func (l *Lease) records(ctx context.Context) ([]stored, error) {
	all, err := l.pool.records(ctx)
	if err != nil {
		return nil, err
	}
	l.looked = len(all)
	return all, l.checkClock(ctx, all)
}

// checkFloor returns an error, and until when, if nobody gets a worker yet after a rescue.
func (l *Lease) checkFloor() (time.Time, error) {
	floor := l.pool.term().floor
	if l.now() >= floor {
		return time.Time{}, nil
	}
	soonest := time.UnixMicro(floor).UTC()
	return soonest, &NoWorkerError{Pool: l.pool.name, Workers: l.pool.layout.Workers, Soonest: soonest, Rescued: true}
}
