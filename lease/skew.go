package lease

import (
	"context"
	"slices"
	"time"
)

// CheckClock returns the *[SkewError] of a Start with these settings, and nil if Start would accept
// the clock. It is for tools. CheckClock reads all records. In a large pool Start accepts a clock by a
// few used records, and refuses a clock by all records, as CheckClock does.
func (p *Pool) CheckClock(ctx context.Context, c Config) error {
	c, err := c.settle(p.layout)
	if err != nil {
		return err
	}
	l := p.lease(c.timed(p.store), nil, c)
	settled, err := l.checkByStore(ctx, l.config.clock())
	if settled || err != nil {
		return err
	}
	r, _, err := l.pool.reread(ctx)
	if err == nil {
		_, err = l.records(ctx, r, false)
	}
	return err
}

// checkClock returns a *SkewError if the clock is implausible. No ID is made twice, whatever the
// clock says; but a wrong clock writes wrong timestamps, and a clock ahead of the time uses up
// workers.
//
// If the store has a clock, [Lease.checkByStore] compares the two. Otherwise the records of used workers stand
// for the time, however many records are unused:
//
//   - The clock is behind if most records are ahead of the clock.
//   - The clock is ahead, or the pool was out of use for long, if every record is older than
//     MaxIdle. Records ahead of the clock do not count: a wrong clock may have left a record years
//     ahead, and the pool is not in use for that. One recent record is enough, even if all others
//     are older: the pool may use a single worker, or an operator has set TrustClock.
func (l *Lease) checkClock(all []stored) error {
	now := l.config.clock()
	u := l.usage(all, now.Add(l.config.MaxSkew).UnixMicro())
	reference := int64(0)
	switch {
	case 2*u.behind > u.total:
		slices.Sort(u.ends)
		reference = u.ends[(len(u.ends)-1)/2]
	case u.newest > 0 && now.UnixMicro()-u.newest > l.config.MaxIdle.Microseconds():
		reference = u.newest
	default:
		return nil
	}
	return &SkewError{Pool: l.pool.name, Now: now, Reference: time.UnixMicro(reference).UTC()}
}

// agrees reports whether a sample of the records is enough to accept the clock: a handful of the workers were
// used, no record of the sample is ahead of the clock, and one is recent. A sample refuses no clock: one recent record among
// all is enough for a pool in use, and most of a few are not most of all.
func (l *Lease) agrees(some []stored) bool {
	now := l.config.clock()
	u := l.usage(some, now.Add(l.config.MaxSkew).UnixMicro())
	return u.total > handful && u.behind == 0 && now.UnixMicro()-u.newest <= l.config.MaxIdle.Microseconds()
}

// usage sums up what the records of a pool say of the time.
type usage struct {
	ends   []int64 // of the workers' intervals; of the pool's creation or its floor if no worker was used
	newest int64   // the last end that is not ahead of the clock; 0 if all are
	behind int     // how many records, of total, the clock is behind
	total  int     // the number of workers that were used, and the pool's own record
}

// usage sums up the records. The clock is behind a record with an end after latest.
func (l *Lease) usage(all []stored, latest int64) usage {
	floor := l.pool.term().floor // the recovery wrote the records up to there, whatever the clocks
	created := l.pool.created.UnixMicro()
	u := usage{total: 1}
	if created > latest {
		u.behind++ // with the pool's own record, a single worker is not a majority
	}
	for _, s := range all {
		if s.Until <= floor {
			continue
		}
		u.ends = append(u.ends, s.Until)
		if u.total++; s.Until > latest+s.Window {
			u.behind++
		} else {
			u.newest = max(u.newest, s.Until)
		}
	}
	if len(u.ends) == 0 {
		u.newest = max(created, floor)
		u.ends = append(u.ends, u.newest)
	}
	return u
}

// checkAhead is checkClock for a renewal, with the lease's own record only.
func (l *Lease) checkAhead(ctx context.Context, now int64) error {
	if settled, err := l.checkByStore(ctx, time.UnixMicro(now)); settled {
		return err
	}
	if now > l.held.Until+l.config.MaxIdle.Microseconds() {
		return &SkewError{Pool: l.pool.name, Now: time.UnixMicro(now), Reference: time.UnixMicro(l.held.Until)}
	}
	return nil
}

// checkByStore compares the clock with the store's clock. CheckByStore reports whether the matter
// is settled: always if the clock is trusted, and never if the store has no clock.
func (l *Lease) checkByStore(ctx context.Context, now time.Time) (settled bool, err error) {
	if l.config.TrustClock {
		return true, nil
	}
	reference, ok, err := l.requests().now(ctx)
	if ok && err == nil && now.Sub(reference).Abs() > l.config.MaxSkew {
		err = &SkewError{Pool: l.pool.name, Now: now, Reference: reference, OfStore: true}
	}
	return ok, err
}
