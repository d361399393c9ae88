package lease

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// simTenure is a time for which a lease held a worker without a break, by the writes that the store did.
type simTenure struct {
	lease        int
	begun, ended int64 // true time; ended is simNever as long as it lasts
}

// simMint is an ID: its worker, its time, and the true time at which it was made.
type simMint struct {
	worker   int
	at, made int64
}

// judgeTenure notes that a lease has written the record of a worker.
func (s *simulation) judgeTenure(worker, lease int, holds bool) {
	all := s.judge.tenures[worker]
	if n := len(all); n > 0 && all[n-1].ended == simNever {
		if all[n-1].lease == lease && holds {
			return
		}
		all[n-1].ended = s.now
	}
	if holds {
		all = append(all, &simTenure{lease, s.now, simNever})
	}
	s.judge.tenures[worker] = all
}

// confirmLater has some callers confirm the last ID, now or after a while.
func (l *simLease) confirmLater() {
	s := l.s
	if l.lease == nil || l.stage != simMinting || l.latest.made != s.now || !s.chance(0.3) {
		return
	}
	for range 1 + s.random.IntN(3) {
		if len(l.threads) > 20 {
			return // the store has been silent for long
		}
		l.goOn(l.newThread(func() { l.confirm(l.latest) }))
	}
}

// confirm confirms an ID, as a strictly ordered service does.
func (l *simLease) confirm(id simMint) {
	s, world := l.s, simWorld{l}
	if s.chance(0.3) {
		sleep(context.Background(), world, time.Duration(s.exponential(float64(s.window)))*time.Microsecond)
	}
	l.halt(simHaltConfirm)
	var ctx context.Context = &simContext{s: s, parent: context.Background(), deadline: simNever}
	if s.chance(0.1) {
		ctx, _ = world.timeout(ctx, time.Duration(s.exponential(float64(s.timeout)/2))*time.Microsecond)
	}
	began, worker := s.now, l.lease.Worker()
	if l.waiting++; l.waiting > 1 {
		s.counts[simShared]++
	}
	since, err := l.lease.Confirm(ctx)
	l.waiting--
	if s.counts[simRestores] > 0 || s.design.loses {
		return // the store has lost changes
	}
	s.note(id.worker, "confirmed", l, func() string {
		return fmt.Sprintf("w%d at %s, since %s: %v", id.worker, simTime(id.at), simTime(since.UnixMicro()), err)
	}, id.at, began)
	switch {
	case err != nil:
		s.counts[simUnconfirmed]++
		s.judgeUnconfirmed(l, worker, began, err)
	case since.UnixMicro() > id.at:
		s.counts[simThrownAway]++
		if s.calm {
			s.wrong(checkConfirmed, id.worker, "%s throws an ID away though nothing is wrong: %s, before %s", l.name, simTime(id.at), simTime(since.UnixMicro()))
		}
	default:
		s.counts[simConfirmed]++
		s.judgeConfirmed(l, id, began)
	}
}

// judgeConfirmed judges a confirmed ID: after the call of Confirm, the lease still had the worker as it had
// when it made the ID, and no other lease had the worker in between.
func (s *simulation) judgeConfirmed(l *simLease, id simMint, began int64) {
	for _, t := range s.judge.tenures[id.worker] {
		if t.lease == l.number && t.begun <= id.made && t.ended >= began {
			return
		}
	}
	s.wrong(checkConfirmed, id.worker, "%s confirms an ID of worker %d at %s, which it had lost before the call at %s", l.name, id.worker, simTime(id.at), simTime(began))
}

// judgeUnconfirmed judges an error of Confirm. The lease had the worker at the call.
func (s *simulation) judgeUnconfirmed(l *simLease, worker int, began int64, err error) {
	known := false
	for _, may := range []error{ErrLost, ErrClosed, driver.ErrUnavailable, context.DeadlineExceeded, context.Canceled} {
		known = known || errors.Is(err, may)
	}
	if errors.Is(err, ErrLost) {
		s.counts[simRefuted]++
		for _, t := range s.judge.tenures[worker] {
			if t.lease == l.number && t.begun <= began && t.ended == simNever && l.lease.Worker() == worker {
				known = false
			}
		}
	}
	if !known || s.calm && l.stage == simMinting && !errors.Is(err, context.DeadlineExceeded) && s.store.down == 0 {
		s.wrong(checkConfirmed, worker, "%s has worker %d, and Confirm says: %v", l.name, worker, err)
	}
	if errors.Is(err, errHangs) && l.hungLooks == 0 && l.process.frozen < began {
		s.wrong(checkConfirmed, worker, "%s has a look wait for a request that is no look: %v", l.name, err)
	}
}
