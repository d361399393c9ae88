package lease

import (
	"context"
	"errors"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// Starts in the background.
//
// With Config.Background, the lease's goroutine opens the store and the pool and takes the first
// worker, and tries again until a try succeeds. No ID can come early: the generator mints inside of
// its grants only, and the first grant is the first acknowledged change of a worker's record.
//
// Close does not wait for the search. A request to take a worker outlives Close by about twice
// Config.Timeout at most, so that its outcome is known: the goroutine gives back a worker that came
// late.

// startSearch prepares the search.
func (l *Lease) startSearch() {
	l.searching, l.began = true, l.config.clock()
	l.delay(nil)
}

// search takes the first worker, however long that takes. It reports whether the lease has a worker,
// and is open.
func (l *Lease) search(ctx context.Context) bool {
	defer l.deliver()
	retry := backoff{shortestSearch, longestSearch}
	for {
		pause, more := l.searchOnce(ctx, &retry)
		if !more {
			return !l.over()
		}
		l.quiet += pause
		if sleep(ctx, l.config.world, pause) != nil {
			l.lockWork()
			defer l.work.unlock()
			l.endSearch(nil)
			return false
		}
	}
}

// over reports whether the lease was closed.
func (l *Lease) over() bool {
	l.lockWork()
	defer l.work.unlock()
	return l.closed()
}

// The pauses of a search, on average: they double from the shortest to the longest. Each pause is a
// random time. Leases that start in the same second therefore do not meet at a store that comes back.
const shortestSearch, longestSearch = 100 * time.Millisecond, 5 * time.Second

// searchOnce tries to take a worker. It returns how long to pause, and reports whether to try again.
func (l *Lease) searchOnce(ctx context.Context, retry *backoff) (pause time.Duration, more bool) {
	l.lockWork()
	defer l.work.unlock()
	err := l.openPool(ctx)
	if err == nil {
		err = l.acquire(ctx, forever)
	}
	if refusesAll(err) {
		l.reopen(ctx)
	}
	switch {
	case err == nil || ctx.Err() != nil:
		l.endSearch(nil)
		return 0, false
	case Permanent(err):
		l.endSearch(err)
		return 0, false
	}
	l.numbers.failures.Add(1)
	l.delay(err)
	l.tellFailing(err)
	pause = retry.next()
	return pause/2 + time.Duration(l.config.intN(int(pause/time.Microsecond)))*time.Microsecond, true
}

// endSearch ends the search: with a worker, after Close, or with an error that no retry can mend. A
// worker that came after Close is given back. The caller holds work.
func (l *Lease) endSearch(err error) {
	if err != nil {
		l.end(err)
		l.notify(Event{Kind: Ended, Worker: -1, Err: err})
	}
	l.mu.Lock()
	l.searching = false
	left := l.leaving
	l.mu.Unlock()
	if err != nil || left {
		l.release(context.Background())
		l.closeStore()
	}
}

// leave reports whether Close came during the search. The search then ends without the caller.
func (l *Lease) leave() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving = l.leaving || l.searching
	return l.searching
}

// gone reports whether Close came during the search.
func (l *Lease) gone() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.leaving
}

// inBackground reports whether the search in the background goes on.
func (l *Lease) inBackground() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.searching
}

// unbroken returns the context of a request that takes a worker. In the background, the request
// outlives Close.
func (l *Lease) unbroken(ctx context.Context) context.Context {
	if l.inBackground() && ctx.Err() == nil {
		return context.WithoutCancel(ctx)
	}
	return ctx
}

// delay lets callers of the generator wait for the first grant. err is why the last try has failed.
func (l *Lease) delay(err error) {
	if !l.inBackground() {
		return
	}
	l.mu.Lock()
	l.trouble = err
	l.mu.Unlock()
	l.generator.Delay(&StartingError{Pool: l.name, Since: l.began, Cause: err})
}

// tellFailing raises Failing for a failed try of the search: for the first, for each change of the
// kind of error, and otherwise once a minute.
func (l *Lease) tellFailing(err error) {
	if errors.Is(err, ErrNoWorker) || errors.Is(err, ErrHeld) {
		return // Waiting was raised
	}
	if kind := kindOf(err).err; kind != l.told || l.quiet >= time.Minute {
		l.told, l.quiet = kind, 0
		l.notify(Event{Kind: Failing, Worker: -1, Err: err})
	}
}

// A refusedError is the generator's own error: the generator does not take a worker.
type refusedError struct{ error }

func (e *refusedError) Unwrap() error { return e.error }

// Permanent reports whether no retry can mend an error: a lease that starts in the background ends with
// it (event [Ended]). An operator can mend all other errors of a start, without a restart of the program.
func Permanent(err error) bool {
	for _, kind := range []error{ErrConfig, ErrPoolMismatch, ErrNoPool, ErrVersion, driver.ErrAddress} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return isRefused(err)
}

// isRefused reports whether the generator does not take a worker.
func isRefused(err error) bool {
	_, ok := errors.AsType[*refusedError](err)
	return ok
}
