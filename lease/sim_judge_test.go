package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
)

// A simCheck is what the judge checks, in several places and words. Each is a promise of docs/leases.md.
type simCheck string

const (
	checkUnique     simCheck = "each timestamp of a worker is one lease's, and no ID is made twice"
	checkIncreasing simCheck = "the IDs of a generator increase"
	checkSealed     simCheck = "a closed lease mints nothing"
	checkReturned   simCheck = "a closed lease gives back what it has not used, at once"
	checkTold       simCheck = "callers are told why they get no ID, and in time"
	checkAlive      simCheck = "generators mint when nothing keeps them from it"
	checkBackground simCheck = "a start in the background goes on until it is hopeless"
	checkClock      simCheck = "a wrong clock gets no worker"
	checkConfirmed  simCheck = "a lease confirms IDs of the worker that it holds, and these only"
	checkNamed      simCheck = "the history of a worker names the right lease or nobody"
	checkRecovery   simCheck = "a recovery comes to its end"
	checkForm       simCheck = "records are well-formed, and say what happened"
	checkStates     simCheck = "events and states follow each other as drawn"
)

const simSameID = "the same ID twice: of worker %d at %s, by %s and %s"

// simJudge knows which lease was allocated what, from the writes that the store accepted. It goes
// by the sender of a write, and not by the names in the write.
type simJudge struct {
	spans  map[int][]*simSpan // by worker, in order
	writer map[int]int        // by worker, the lease that wrote the record
	record map[int]record
	late   map[int]bool         // by worker, whether the record is of a lease that took it from a recovery, see judgeWrite
	top    map[simHolding]int64 // where what a lease has minted as a worker ends
	ids    map[simID]int        // which lease made it
	made   map[int][]simMade    // by worker, the ticks of IDs; one for all IDs of a lease in a tick

	tenures map[int][]*simTenure // by worker, in order
}

// A simMade is a tick in which a lease has made IDs.
type simMade struct {
	lease int
	at    int64
}

type simHolding struct{ lease, worker int }

// A simSpan is an interval of a worker and a lease.
type simSpan struct {
	lease       int
	from, until int64
}

// A simID is an ID of any format.
type simID struct {
	high uint64
	low  uint16
}

// judgeWrite judges a write before the store does the write.
func (s *simulation) judgeWrite(r *simRequest, i int, found bool) {
	if r.key == poolKey(simPool) {
		s.judgePool(r, i)
		return
	}
	made := s.made()
	var next record
	worker, ok := workerOf(simPool, r.key)
	if err := decode(r.value, &next); !ok || err != nil || next.Worker != worker {
		s.wrong(checkForm, -1, "a write that is not a record: %s: %s", r.key, r.value)
		return
	}
	// A request from before a restore can arrive late and make a record that the backup has lost.
	// If the pool names the worker, the recovery has still to raise the record.
	if r.lease.number == simRecoverer || !made.made(worker) || !found && s.unsafe > 0 {
		s.judgeRaise(worker, r.lease, next)
		return
	}
	if !found {
		s.wrong(checkUnique, worker, "a record is made that was there")
		return
	}
	j, last, me := &s.judge, s.judge.record[worker], r.lease.number
	name := func(lease int) string {
		if lease < 0 {
			return "a recovery" // has written the record last
		}
		return s.leases[lease].name
	}
	unit := s.unit.Microseconds()
	off := func(us int64) bool { return (us-s.layout().Epoch.UnixMicro())%unit != 0 }
	late := j.late[worker]
	delete(j.late, worker)
	if next.Incarnation != "" {
		s.note(worker, "allocated", r.lease, func() string {
			return fmt.Sprintf("w%d [%s, %s)", worker, simTime(next.From), simTime(next.Until))
		}, next.From, next.Until)
		// A lease that takes a worker which a recovery has still to raise is given nothing: it must see the recovery
		// before it says that it has the worker.
		if next.Generation < made.Generation && next.Incarnation != last.Incarnation {
			s.judgeTenure(worker, me, true)
			j.writer[worker], j.record[worker], j.late[worker] = me, next, true
			return
		}
		switch {
		case off(next.From) || off(next.Until):
			s.wrong(checkForm, worker, "the times allocated are not whole ticks")
		case next.Until <= next.From:
			s.wrong(checkUnique, worker, "nothing is allocated, from %s until %s", simTime(next.From), simTime(next.Until))
		case next.From < last.Until && (last.Incarnation == "" || j.writer[worker] != me):
			s.wrong(checkUnique, worker, "times of worker %d are allocated to %s which are %s's", worker, name(me), name(j.writer[worker]))
		case next.From < last.Until && next.From < r.lease.granted:
			s.wrong(checkUnique, worker, "times of worker %d are allocated a second time, to %s", worker, name(me))
		case next.From < last.Until:
			s.counts[simTakenBack]++
			s.judgeBack(worker, me, last.Until, next.From)
		}
		if until, lease := j.given(worker); next.From < until {
			s.wrong(checkUnique, worker, "times of worker %d are allocated to %s which are %s's", worker, name(me), name(lease))
		}
		if w, ok := j.writer[worker]; ok && w != me {
			s.counts[simTakeovers]++
			if last.Incarnation != "" {
				s.counts[simInherited]++
			}
		}
		if off := r.lease.process.clock.offset; s.clocked && !s.trust && s.steps == 0 && max(off, -off) > DefaultMaxSkew.Microseconds() {
			s.wrong(checkClock, worker, "%s takes a worker by a clock that is wrong by %v", name(me), time.Duration(off)*time.Microsecond)
		}
		j.spans[worker] = append(j.spans[worker], &simSpan{me, next.From, next.Until})
	} else {
		s.note(worker, "given back", r.lease, func() string {
			return fmt.Sprintf("w%d from %s to %s", worker, simTime(last.Until), simTime(next.Until))
		}, next.Until)
		if last.Incarnation == "" || j.writer[worker] != me {
			s.wrong(checkUnique, worker, "worker %d is given back by %s, who does not have it", worker, name(me))
		}
		if next.Until > last.Until {
			s.wrong(checkUnique, worker, "giving worker %d back takes times of it", worker)
		}
		if off(next.Until) {
			s.wrong(checkForm, worker, "the times given back are not whole ticks")
		}
		if next.Until < last.Until {
			s.counts[simGivenBack]++
		}
		if !late { // or there are no times of its own
			s.judgeBack(worker, me, last.Until, next.Until)
		}
	}
	s.judgeTenure(worker, me, next.Incarnation != "")
	j.writer[worker], j.record[worker] = me, next
}

// judgeBack judges the timestamps of a worker in [from, last) that a lease gives back, or has taken
// back from its generator. No lease has these timestamps from then on.
func (s *simulation) judgeBack(worker, me int, last, from int64) {
	j := &s.judge
	if top := j.top[simHolding{me, worker}]; top > from {
		s.wrong(checkUnique, worker, "%s gives back times of worker %d in which it has minted", s.leases[me].name, worker)
	}
	for _, span := range slices.Backward(j.spans[worker]) {
		if span.from >= last {
			continue // from after a backup that is what there is now
		}
		if span.until <= from {
			break
		}
		if span.lease != me {
			s.wrong(checkUnique, worker, "%s gives back times of worker %d that are not its own, but %s's", s.leases[me].name, worker, s.leases[span.lease].name)
		}
		span.until = max(from, span.from)
	}
	j.spans[worker] = slices.DeleteFunc(j.spans[worker], func(span *simSpan) bool { return span.until == span.from })
}

// made returns the pool's own record.
func (s *simulation) made() *poolRecord {
	r := new(poolRecord)
	if i, found := s.find(poolKey(simPool)); found {
		decode(s.store.entries[i].Value, r)
	}
	return r
}

// judgePool judges a write of the pool's own record.
func (s *simulation) judgePool(r *simRequest, i int) {
	var last, next poolRecord
	if decode(s.store.entries[i].Value, &last) != nil || decode(r.value, &next) != nil || !next.sane() {
		s.wrong(checkForm, -1, "the pool's record is written as %s", r.value)
		return
	}
	if r.lease.number == simRecoverer {
		s.note(-1, "a recovery begins", r.lease, func() string { return fmt.Sprintf("generation %d, floor %s", next.Generation, simTime(next.Floor)) })
		if next.Generation < last.Generation || next.Floor < last.Floor || fmt.Sprint(next.Made) != fmt.Sprint(last.Made) {
			s.wrong(checkForm, -1, "a recovery writes %s over %s", r.value, s.store.entries[i].Value)
		}
		s.reopen()
		return
	}
	s.note(-1, "grown", r.lease, func() string { return fmt.Sprint(next.Made) })
	if next.term() != last.term() {
		s.wrong(checkForm, -1, "a lease writes %s over %s", r.value, s.store.entries[i].Value)
	}
	for worker := range s.workers {
		i, exists := s.find(workerKey(simPool, worker))
		if last.made(worker) && !next.made(worker) || next.made(worker) && !exists {
			s.wrong(checkForm, worker, "the pool's record has made %v, after %v", next.Made, last.Made)
		}
		var made record
		if !exists || last.made(worker) || !next.made(worker) {
			continue
		}
		if decode(s.store.entries[i].Value, &made) != nil || made.Generation != next.Generation || made.Incarnation != "" {
			s.wrong(checkForm, worker, "the pool takes %s for one of its records", s.store.entries[i].Value)
		}
		s.judgeFree(worker, made)
	}
}

// judgeID judges a new ID.
func (s *simulation) judgeID(l *simLease, id simID, worker int, from int64) {
	j, until := &s.judge, from+s.unit.Microseconds()
	s.counts[simMinted]++
	s.note(worker, "minted", l, func() string { return fmt.Sprintf("w%d at %s", worker, simTime(from)) }, from, int64(id.low))
	if other, ok := j.ids[id]; ok {
		s.wrong(checkUnique, worker, simSameID, worker, simTime(from), s.leases[other].name, l.name)
		return
	}
	j.ids[id] = l.number
	if l.stage == simClosed || l.stage == simFailed {
		s.wrong(checkSealed, worker, "%s mints after the end: %v", l.name, l.ended)
		return
	}
	h := simHolding{l.number, worker}
	j.top[h] = max(j.top[h], until)
	whose := "nobody's"
	spans := j.spans[worker]
	for i := len(spans) - 1; i >= 0; i-- {
		span := spans[i]
		if span.from < until && from < span.until {
			if span.lease != l.number {
				whose = s.leases[span.lease].name + "'s"
				break
			}
			if span.from <= from && until <= span.until {
				s.judgeMaker(worker, simMade{l.number, from})
				return
			}
		}
	}
	s.wrong(checkUnique, worker, "%s mints where it was allocated nothing: as worker %d at %s, which is %s", l.name, worker, simTime(from), whose)
}

// simSeen sums up the events of a lease.
type simSeen struct {
	kind    EventKind // the last one
	until   time.Time // of the worker that it has
	expired bool
}

// notify judges an event of the lease.
func (l *simLease) notify(e Event) {
	s, seen := l.s, &l.seen
	s.note(e.Worker, e.Kind.String(), l, func() string { return fmt.Sprintf("w%d until %s: %v", e.Worker, simTime(e.Until.UnixMicro()), e.Err) })
	s.counts[simEvents+simCount(e.Kind)]++
	ok := seen.kind != Released
	switch e.Kind {
	case Ahead, Recovered: // the events around them tell of the lease
		return
	case Acquired:
		ok = ok && seen.until.IsZero()
	case Renewed:
		ok = ok && !seen.until.IsZero() && !e.From.Before(seen.until)
	case Withdrawn: // until may be before the times that were allocated first
		ok = ok && !seen.until.IsZero() && e.Until.Before(seen.until)
	case Waiting:
		ok = ok && e.Err != nil && seen.until.IsZero()
	case Lost:
		ok = ok && !seen.until.IsZero()
	case Expired: // once; it may follow Lost, of a lease that did not know
		ok = ok && seen.kind != 0 && !seen.expired
		seen.expired = true
	case Failing:
		if ok = ok && (seen.kind != 0 || l.begins); e.Worker < 0 {
			ok = ok && l.begins && l.stage == simOpening && seen.until.IsZero()
		}
	case Released: // of a worker that came after Close, too
		ok = ok && (seen.kind != 0 || l.closing)
	case Ended:
		ok = ok && l.begins && l.stage == simOpening && e.Worker < 0
		if !errors.Is(e.Err, ErrPoolMismatch) || !l.foreign {
			s.wrong(checkBackground, -1, "%s ends for good: %v", l.name, e.Err)
		}
	}
	if l.foreign && e.Kind == Failing && errors.Is(e.Err, ErrPoolMismatch) {
		s.wrong(checkBackground, -1, "%s goes on after an error that no retry can mend: %v", l.name, e.Err)
	}
	if e.Kind == Acquired || e.Kind == Renewed {
		found := false
		for _, span := range s.judge.spans[e.Worker] {
			found = found || span.lease == l.number && span.from == e.From.UnixMicro() && span.until == e.Until.UnixMicro()
		}
		if !found {
			s.wrong(checkUnique, e.Worker, "%s says %s where it was allocated nothing: worker %d from %s until %s", l.name, e.Kind, e.Worker,
				simTime(e.From.UnixMicro()), simTime(e.Until.UnixMicro()))
		}
		seen.until, seen.expired = e.Until, false
		left := e.Until.Sub(l.time()).Microseconds()
		l.renewed, l.over = s.now, left < 4*s.quick // a renewal takes as long
	}
	if e.Kind == Withdrawn || e.Kind == Lost {
		l.over = true
	}
	if e.Kind == Withdrawn {
		seen.until = e.Until
	}
	if e.Kind == Lost || e.Kind == Released {
		seen.until = time.Time{}
	}
	if !ok && s.refuses < 0 { // a worker that is refused is given back, in between
		s.wrong(checkStates, e.Worker, "%s says %s after %s", l.name, e.Kind, seen.kind)
	}
	seen.kind = e.Kind
	if s.calm && (e.Kind == Failing && s.store.down == 0 || e.Kind == Expired || e.Kind == Lost) {
		s.wrong(checkAlive, e.Worker, "%s says %s though nothing is wrong: %v", l.name, e.Kind, e.Err)
	}
	l.judgePhase(e.Kind)
	l.halt(simHaltNotify)
	if l.stage == simMinting && !s.calm && s.now < s.faultsEnd && s.chance(s.within) {
		s.counts[simWithin]++
		l.lease.Close()
		l.closing = true
		l.mint(1)
	}
}

// simMoves counts moves by the phases before and after.
type simMoves [phaseClosed + 1][phaseClosed + 1]int

// judgePhase checks the state of a lease at an event, and notes the phase. Kind is zero without an
// event.
func (l *simLease) judgePhase(kind EventKind) {
	if l.lease == nil {
		return // within Start
	}
	s, state, window := l.s, &l.lease.state, l.lease.config.Window.Microseconds()
	if state.phase == phaseSearching && l.stage == simOpening {
		return // in the background
	}
	if state.phase != l.phase {
		s.moves[l.phase][state.phase]++
		l.phase = state.phase
	}
	ok := true
	switch state.phase {
	case phaseSearching:
		ok = false
	case phaseHolding:
		ok = state.granted == state.held.Until || kind == Released // of a worker that the generator refuses
	case phaseWithdrawn:
		ok = state.granted < state.held.Until
	case phaseLost:
		ok = state.why != nil
	}
	if l.begins && l.lease.since == 0 {
		return // closed without a worker
	}
	if ok = ok && state.prior <= state.since && state.least <= state.held.Until && state.lead >= window/10 && state.lead <= window; !ok {
		s.wrong(checkStates, state.held.Worker, "%s is %s with %+v", l.name, state.phase, *state)
	}
}

// simGenerator is a generator of either format.
type simGenerator struct {
	l     *simLease
	nano  *nanoflake.Generator
	sno   *sno.Generator
	inner grant.Grantee // nil for the generator's own
}

func newSimGenerator(l *simLease) (g simGenerator, err error) {
	g.l = l
	if l.s.sno {
		g.sno, err = sno.NewGeneratorWith(sno.Config{Leased: true, Clock: l.time})
	} else {
		g.nano, err = nanoflake.NewGenerator(nanoflake.Config{Leased: true, Clock: l.time})
	}
	if err == nil && l.s.design.generator != nil {
		g.inner = l.s.design.generator(l, g.generator())
	}
	return g, err
}

// generator returns the generator itself.
func (g simGenerator) generator() grant.Grantee {
	if g.inner != nil {
		return g.inner
	}
	if g.sno != nil {
		return g.sno.ForLease()
	}
	return g.nano.ForLease()
}

func (g simGenerator) Pool() (grant.Spec, error) { return g.generator().Pool() }

func (g simGenerator) Now() time.Time { return g.generator().Now() }

func (g simGenerator) Grant(worker int, from, until time.Time) error {
	g.l.halt(simHaltGrant)
	g.l.mintAlong()
	if worker == g.l.s.refuses {
		g.l.s.counts[simRefused]++
		return iderr.ErrConfig
	}
	g.l.granted = until.UnixMicro()
	if err := g.generator().Grant(worker, from, until); err != nil {
		return err
	}
	g.l.mintAlong()
	g.l.halt(simHaltGrant)
	return nil
}

func (g simGenerator) Withdraw() time.Time {
	g.l.mintAlong()
	unused := g.generator().Withdraw()
	g.l.granted = min(g.l.granted, unused.UnixMicro())
	g.l.mintAlong()
	return unused
}

func (g simGenerator) Refuse(why error) { g.generator().Refuse(why) }

func (g simGenerator) Delay(why error) { g.generator().Delay(why) }

func (g simGenerator) Seal(why error) time.Time {
	g.l.mintAlong()
	g.l.halt(simHaltSeal)
	sealed := g.generator().Seal(why)
	g.l.halt(simHaltSeal)
	g.l.mintAlong()
	return sealed
}

// mintAlong makes an ID while the lease does something, unless the generator is idle: then nearly
// never.
func (l *simLease) mintAlong() {
	if !l.idle || l.s.chance(0.01) {
		l.mint(1)
	}
}

// mint makes IDs, as the process would in another thread.
func (l *simLease) mint(n int) {
	s, g := l.s, l.generator
	if g.l == nil || l.process.dead {
		return
	}
	for range n {
		var id simID
		var worker int
		var at time.Time
		var err error
		if g.sno != nil {
			var made sno.ID
			made, err = g.sno.TryNext(0)
			id = simID{uint64(made[0])<<56 | uint64(made[1])<<48 | uint64(made[2])<<40 | uint64(made[3])<<32 | uint64(made[4])<<24 |
				uint64(made[6])<<8 | uint64(made[7]), made.Sequence()}
			worker, at = int(made.Partition().AsUint16()), made.Time()
		} else {
			var made nanoflake.ID
			made, err = g.nano.TryNext()
			id = simID{uint64(made), 0}
			worker, at = made.GeneratorID(), made.Time(nanoflake.DefaultEpoch())
		}
		if l.refused = err; err == nil {
			l.minted++
			l.last = s.now
			l.latest = simMint{worker, at.UnixMicro(), s.now}
			l.top = max(l.top, at.UnixMicro())
			s.judgeID(l, id, worker, at.UnixMicro())
			if id.high <= l.greatest.high && !s.sno { // sno's go back with the clock, marked by their tick-tock
				s.wrong(checkIncreasing, worker, "%s makes an ID at %s that is not greater than all before", l.name, simTime(at.UnixMicro()))
			}
			l.greatest = id
			if l.stage == simClosed {
				s.wrong(checkSealed, -1, "%s mints though it was closed", l.name)
			}
			continue
		}
		s.counts[simErrors]++
		s.note(-1, "no ID", l, err.Error)
		if s.calm && l.stage == simMinting {
			s.wrong(checkAlive, l.lease.Worker(), "%s gets no ID though nothing is wrong: %v", l.name, err)
		}
		tells := errors.Is(err, ErrClosed) || errors.Is(err, iderr.ErrTimeRange) || s.sno && errors.Is(err, iderr.ErrExhausted) ||
			l.seen.kind == Ended && errors.Is(err, ErrPoolMismatch) // Close came after the end for good
		if l.stage == simClosed && !tells {
			s.wrong(checkSealed, -1, "%s is closed, and its error is: %v", l.name, err)
		}
		if l.stage == simMinting && errors.Is(err, ErrClosed) && !l.closing && !l.ctx.cancelled {
			s.wrong(checkTold, -1, "%s is not closed, and its error is: %v", l.name, err)
		}
		if late := l.late(err); late > patience+5*time.Millisecond {
			s.wrong(checkTold, l.lease.Worker(), "%s: callers are not told for %v that its times are over", l.name, late)
		}
		if errors.Is(err, context.Canceled) {
			s.wrong(checkTold, -1, "%s: callers are told of a context that is not theirs: %v", l.name, err)
		}
	}
}

// late returns for how long a generator has had no interval while callers get an error without the
// reason. It returns 0 for a process that was frozen lately, and after a step of the clock: there
// the lease asks the store first.
func (l *simLease) late(err error) time.Duration {
	s := l.s
	thawed := s.now - l.process.frozen
	if l.stage != simMinting || l.closing || l.ctx.cancelled || s.counts[simSteps] > 0 || thawed < s.window+6*s.timeout ||
		!errors.Is(err, iderr.ErrFenced) || errors.Is(err, ErrLeaseExpired) || errors.Is(err, ErrClosed) {
		return 0
	}
	late := min(l.time().Sub(l.lease.Until()), time.Duration(s.now-l.renewed)*time.Microsecond)
	if l.over { // nothing has failed yet
		late -= 4 * l.config.Timeout
	}
	return late
}

// judgeClose judges a lease that was closed with nothing wrong: the lease must have given back all
// unused timestamps.
func (s *simulation) judgeClose(l *simLease) {
	worker := l.lease.Worker()
	r := s.judge.record[worker]
	if l.ended != nil {
		s.wrong(checkReturned, worker, "%s is closed though nothing is wrong: %v", l.name, l.ended)
		return
	}
	unit := s.unit.Microseconds()
	if r.Incarnation != "" && s.judge.writer[worker] == l.number || r.Until > max(l.clock(), l.lease.since)+2*unit {
		s.wrong(checkReturned, worker, "%s keeps times of worker %d after Close, until %s", l.name, worker, simTime(r.Until))
	}
}

// judgeEnd judges all leases a while after the last fault. Every lease with a worker must mint, and
// every worker must be in use if there are leases enough. Where clocks were very wrong, errors
// about clocks are right: the clocks have used up the timestamps to come.
func (s *simulation) judgeEnd() {
	if s.refuses >= 0 {
		return // a lease whose generator refuses its worker has come to an end of another kind
	}
	minting, stuck := 0, ""
	for _, p := range s.processes {
		if p.dead {
			s.wrong(checkAlive, -1, "p%d is dead after the last fault", p.number)
			return
		}
	}
	for _, l := range slices.Backward(s.leases) {
		if l.process.dead || l.stage == simClosed || l.stage == simFailed {
			continue
		}
		if l.idle {
			l.mint(1)
		}
		if l.stage == simMinting && l.refused == nil && l.last > s.now-s.window {
			minting++
			continue
		}
		why := l.refused
		if l.stage != simMinting { // it waits for a worker
			if !l.begins && l.keeping < s.now-5*s.window-30_000_000 {
				s.wrong(checkAlive, -1, "%s has not come to an end since %s", l.name, simTime(l.keeping))
			}
			stuck += fmt.Sprintf(", %s is opening", l.name)
			continue
		}
		stuck += fmt.Sprintf(", %s gets: %v", l.name, why)
		if !l.excused(why) {
			s.wrong(checkAlive, l.lease.Worker(), "%s does not mint a while after the last fault: %v", l.name, why)
			return
		}
	}
	want := min(s.machines*s.slots, s.workers)
	if s.named {
		want = min(s.machines+s.slots-1, s.workers)
	}
	if s.largest <= simSmall(s.window) && minting < want && !s.design.loses {
		s.wrong(checkAlive, -1, "%d leases mint a while after the last fault, and there are workers for %d%s", minting, want, stuck)
	}
}

// excused reports whether an error is right after the last fault.
//
// A generator with IDs ahead of its clock waits for the clock. If a pool has no free worker, other
// generators mint, and judgeEnd counts them. A lease may refuse a clock that is still wrong; and a
// right clock, too, if most used workers are used up to beyond the clock.
func (l *simLease) excused(why error) bool {
	s := l.s
	switch {
	case errors.Is(why, ErrNoWorker), errors.Is(why, ErrHeld), s.design.loses && errors.Is(why, ErrRolledBack):
		return true
	case errors.Is(why, iderr.ErrClockBackwards):
		return l.top > l.clock()
	case errors.Is(why, ErrClockSkew), errors.Is(why, iderr.ErrTimeRange):
		ahead, used := 0, 1 // and the pool's own record
		for _, r := range s.judge.record {
			if r.Until > 0 {
				used++
			}
			if r.Until > l.clock() {
				ahead++
			}
		}
		return s.largest > simSmall(s.window) && (!s.mends || errors.Is(why, ErrClockSkew) && 2*ahead > used)
	}
	return false
}

// judgeLeft judges a lease that was closed before it had a worker. If nothing has failed, it keeps no
// worker.
func (l *simLease) judgeLeft() {
	s := l.s
	for worker, r := range s.judge.record {
		if s.judge.writer[worker] != l.number {
			continue
		}
		s.counts[simComeLate]++
		if r.Incarnation != "" && s.faultless() {
			s.wrong(checkReturned, worker, "%s was closed before it had worker %d, and keeps it", l.name, worker)
		}
	}
}
