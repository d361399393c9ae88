package lease

import (
	"context"
	"slices"
	"time"
)

// CheckClock returns the *[SkewError] that Keep would return with these settings, nil if it would
// believe the clock. It is for tools.
func (p *Pool) CheckClock(ctx context.Context, c Config) error {
	c, err := c.settle(p.layout)
	if err == nil {
		_, err = p.lease(nil, c).records(ctx)
	}
	return err
}

// checkClock returns a *SkewError if the clock is not to be believed. That is for the times in
// the IDs and for the workers, which a clock that is ahead uses up: no ID is made twice, whatever
// the clock says.
//
// Without a clock of the store, it is behind if most records are ahead of it. It is ahead, or the
// pool was out of use for long, if no record is of the last year: those that are ahead of the clock
// do not count, so that one which a wrong clock has left years ahead does not make a pool look as if
// it were in use. One that is of the last year by this clock does, even if all others are older: it
// may be the only worker in use, or somebody has said that the clock is right.
func (l *Lease) checkClock(ctx context.Context, all []stored) error {
	now := l.config.world.now()
	if settled, err := l.checkByStore(ctx, now); settled {
		return err
	}
	latest := now.Add(l.config.MaxSkew).UnixMicro()
	floor := l.pool.term().floor // times before were used up by a rescue, whatever the clocks
	var used []int64
	newest := int64(0) // where the times end that are the last of those not ahead
	behind, of := 0, 1 // how many records of how many the clock is behind of, the pool's too:
	created := l.pool.created.UnixMicro()
	if created > latest {
		behind++ // a worker that is the first to be used is no majority
	}
	for _, s := range all {
		if s.Until <= floor {
			continue
		}
		used = append(used, s.Until)
		if of++; s.Until > latest+s.Window {
			behind++
		} else {
			newest = max(newest, s.Until)
		}
	}
	if len(used) == 0 {
		newest = max(created, floor)
		used = append(used, newest)
	}
	wrong := func(reference int64) error {
		return &SkewError{Pool: l.pool.name, Now: now, Reference: time.UnixMicro(reference).UTC()}
	}
	slices.Sort(used)
	switch {
	case 2*behind > of:
		return wrong(used[(len(used)-1)/2])
	case newest > 0 && now.UnixMicro()-newest > l.config.MaxIdle.Microseconds():
		return wrong(newest)
	}
	return nil
}

// checkAhead is checkClock for a renewal, which knows of one record.
func (l *Lease) checkAhead(ctx context.Context, now int64) error {
	if settled, err := l.checkByStore(ctx, time.UnixMicro(now)); settled {
		return err
	}
	if now > l.held.Until+l.config.MaxIdle.Microseconds() {
		return &SkewError{Pool: l.pool.name, Now: time.UnixMicro(now), Reference: time.UnixMicro(l.held.Until)}
	}
	return nil
}

// checkByStore compares the clock with the store's own time. It tells whether that settles the
// matter: not if the store has none, always if the clock is trusted.
func (l *Lease) checkByStore(ctx context.Context, now time.Time) (settled bool, err error) {
	if l.config.TrustClock {
		return true, nil
	}
	reference, ok, err := l.pool.store.(timed).now(ctx)
	if ok && err == nil && now.Sub(reference).Abs() > l.config.MaxSkew {
		err = &SkewError{Pool: l.pool.name, Now: now, Reference: reference, OfStore: true}
	}
	return ok, err
}
