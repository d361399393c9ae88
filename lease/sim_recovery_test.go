package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/firn-id/firn/lease/driver"
)

// A simBackup is a backup of the store.
type simBackup struct {
	entries []driver.Entry
	writers []int
}

// simRecoverer is the number of the process that restores the store and recovers the pool.
const simRecoverer = -2

// backUp makes two backups now and then. After a while it restores the first, or a torn mix of
// both.
func (s *simulation) backUp() {
	if s.restores == 0 {
		return
	}
	var again func(mean float64)
	again = func(mean float64) {
		s.after(s.exponential(mean), func() {
			if s.now >= s.faultsEnd {
				return
			}
			s.note(-1, "backup", nil, nil)
			first := s.store.backup()
			torn := s.chance(s.torn)
			s.after(s.exponential(float64(s.window)/8), func() {
				second := s.store.backup()
				s.after(s.exponential(float64(s.window)), func() {
					if s.now < s.faultsEnd {
						s.restore(first, second, torn)
					}
					again(float64(s.window) / s.restores)
				})
			})
		})
	}
	again(float64(s.window) / 4) // the first one has the fewest workers
}

func (s *simStore) backup() simBackup {
	return simBackup{slices.Clone(s.entries), slices.Clone(s.writers)}
}

// restore puts the store back to a backup, under new revisions. A torn backup has some entries that
// were copied later than the rest. No process reaches the store until the recovery has begun.
func (s *simulation) restore(first, second simBackup, torn bool) {
	store, j := &s.store, &s.judge
	s.counts[simRestores]++
	s.note(-1, "restore", nil, func() string { return fmt.Sprintf("torn: %v", torn) })
	from := first
	if torn {
		from = simBackup{}
		for i, e := range second.entries { // nothing is ever deleted, so it has all keys
			at := slices.IndexFunc(first.entries, func(old driver.Entry) bool { return old.Key == e.Key })
			writer := second.writers[i]
			switch {
			case s.chance(0.5):
			case at >= 0:
				e, writer = first.entries[at], first.writers[at]
			default:
				continue
			}
			switch {
			case e.Key == poolKey(simPool):
			case s.chance(0.1):
				continue
			case s.chance(0.1):
				e.Value = e.Value[:len(e.Value)/2]
			}
			from.entries, from.writers = append(from.entries, e), append(from.writers, writer)
		}
	}
	store.entries, store.writers = slices.Clone(from.entries), slices.Clone(from.writers)
	clear(j.record)
	clear(j.writer)
	for i, e := range store.entries {
		store.last++
		store.entries[i].Revision = driver.Revision(strconv.FormatUint(store.last, 10))
		if worker, ok := workerOf(simPool, e.Key); ok {
			var r record
			if decode(e.Value, &r) == nil {
				j.record[worker], j.writer[worker] = r, store.writers[i]
			}
		}
	}
	store.closed = true
	store.mode = []simOutage{simRefuses, simSilent, simQueues, simStalls}[s.random.IntN(4)] // not mute: nothing is done
	s.unsafe++
	s.after(s.exponential(float64(s.window)/4), s.recover)
	if s.chance(0.1) { // two people see to it
		s.unsafe++
		s.after(s.exponential(float64(s.window)/4), s.recover)
	}
}

// recover starts a process that recovers the pool.
func (s *simulation) recover() {
	l := &simLease{s: s, number: simRecoverer, name: "recovery"}
	l.process = &simProcess{s: s, number: simRecoverer, clock: &simClock{s.ahead}}
	l.ctx = &simContext{s: s, parent: context.Background(), deadline: simNever}
	l.config.Timeout = time.Duration(s.timeout) * time.Microsecond
	s.recoverers = append(s.recoverers, l)
	l.start(func() {
		us := time.Microsecond
		var store driver.Store = simConn{l}
		if s.clocked {
			store = simClockConn{simConn{l}, simTimes{simConn{l}}}
		}
		// The longest pause is longer than a recovery takes, or recoveries would overtake one another for ever.
		longest := 2 * s.window * int64(1+s.stock/4)
		for pause := s.window / 4; ; pause = min(2*pause, longest) {
			c := RecoveryConfig{Window: time.Duration(s.window) * us, Skew: time.Duration(2*s.largest+1000) * us,
				clock: l.time, newName: s.newName, world: simWorld{l}, timeout: l.config.Timeout, lanes: 1}
			if s.design.recovery != nil {
				s.design.recovery(&c)
			}
			done, err := RecoverPool(l.ctx, store, simPool, c)
			if err == nil {
				s.note(-1, "recovered", l, func() string { return fmt.Sprintf("floor %s", simTime(done.Floor.UnixMicro())) })
				s.counts[simRecoveries]++
				s.floor = max(s.floor, done.Floor.UnixMicro())
				l.process.dead = true
				s.unsafe--
				return
			}
			s.note(-1, "not recovered", l, err.Error)
			// ErrRecovering and ErrMissing come after another recovery or another restore.
			if !errors.Is(err, driver.ErrUnavailable) && !errors.Is(err, driver.ErrConflict) && !errors.Is(err, ErrRecovering) && !errors.Is(err, ErrMissing) {
				s.wrong(checkRecovery, -1, "a recovery fails: %v", err)
			}
			sleep(l.ctx, simWorld{l}, time.Duration(s.exponential(float64(pause)))*us)
		}
	})
}

// interrupt ends a process that recovers the pool, and starts another recovery later.
func (s *simulation) interrupt(l *simLease) {
	s.counts[simInterrupts]++
	s.note(-1, "interrupted", l, nil)
	l.process.dead = true
	l.kill()
	s.after(s.exponential(float64(s.window)/2), s.recover)
}

// reopen lets all processes reach the store again.
func (s *simulation) reopen() {
	store := &s.store
	store.closed = false
	for _, arrive := range store.waiting {
		s.after(s.latency(), arrive)
	}
	store.waiting = nil
}

// given returns the end of all intervals of a worker that were ever given to a lease.
func (j *simJudge) given(worker int) (until int64, lease int) {
	spans := j.spans[worker]
	if len(spans) == 0 {
		return 0, -1
	}
	last := slices.MaxFunc(spans, func(a, b *simSpan) int { return cmp.Compare(a.until, b.until) })
	return last.until, last.lease
}

// judgeRaise judges a record that is made or raised to a floor. If the pool does not name the
// worker yet, the record may be from before a recovery.
func (s *simulation) judgeRaise(worker int, l *simLease, next record) {
	s.note(worker, "raised", l, func() string {
		return fmt.Sprintf("w%d to %s, generation %d", worker, simTime(next.Until), next.Generation)
	}, next.Until, next.Generation)
	switch last, named := s.judge.record[worker], s.made().made(worker); {
	case next.Incarnation != "":
		s.wrong(checkUnique, worker, "a record is raised in use")
	case next.Generation < last.Generation:
		s.wrong(checkUnique, worker, "a record is raised to generation %d from %d", next.Generation, last.Generation)
	case next.Until < last.Until:
		s.wrong(checkUnique, worker, "a record is raised to where it is lowered")
	case (next.Until-s.layout().Epoch.UnixMicro())%s.unit.Microseconds() != 0 && next.Until != 0:
		s.wrong(checkForm, worker, "a record is raised to a part of a tick")
	case named && next.Generation == s.made().Generation && !s.store.closed: // not a recovery that was overtaken
		s.judgeFree(worker, next)
	}
	if last := s.judge.record[worker]; last.present() && len(next.Holders) > 0 && next.Holders[0].Since == last.Holders[0].Since {
		s.counts[simCut]++
	}
	s.judge.record[worker], s.judge.writer[worker] = next, l.number
}

// judgeFree judges a record of a free worker.
func (s *simulation) judgeFree(worker int, r record) {
	if until, whose := s.judge.given(worker); r.Until < until {
		s.wrong(checkUnique, worker, simForgotten, worker, simTime(r.Until), s.leases[whose].name, simTime(until))
	}
}

const simForgotten = "times of worker %d are free from %s on, and were given to %s until %s"
