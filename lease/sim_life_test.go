package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/sno"
)

const simPool = "sim"

// A simCount is a kind of happening. Tests check that each kind has happened.
type simCount int

const (
	simMinted simCount = iota
	simErrors
	simKeeps
	simKeepErrors
	simTakeovers
	simInherited // takeovers from leases that have not given back
	simGivenBack
	simConflicts
	simLateWrites
	simPosthumous // writes of processes that are dead
	simLostRequests
	simLostReplies
	simRepeats
	simSlow
	simTimeouts
	simOutageHits
	simFreezes
	simFrozenReplies
	simCrashes
	simSteps
	simRefused
	simSkewed
	simHaltRequest
	simHaltReply
	simHaltNotify
	simHaltGrant
	simHaltSeal
	simHaltConfirm
	simRestores
	simRecoveries
	simInterrupts
	simTakenBack
	simHangs
	simIdle
	simWithin
	simConfirmed   // IDs
	simUnconfirmed // IDs whose confirmation was an error
	simRefuted     // those whose worker the lease had lost
	simThrownAway  // IDs from before since
	simShared      // looks of several callers
	simNamed       // IDs whose makers the history has named, each time that it was asked
	simNameless    // IDs for which it named nobody
	simFolded      // IDs for which it named several leases
	simCut         // held workers whose history a recovery has kept
	simBegun       // leases that started in the background
	simForeign     // those of them whose generators are for other IDs
	simLeft        // those that were closed before they had a worker
	simComeLate    // those of them that got a worker after that
	simAlive       // generators that were judged alive after the last fault
	simExcused     // those that were not, for a reason
	simEvents      // and the events
	simCountsSize  = simEvents + simCount(Recovered) + 1
)

type simCounts [simCountsSize]int

func (c simCount) String() string {
	if c > simEvents {
		return EventKind(c - simEvents).String()
	}
	return [...]string{"IDs", "refusals", "leases", "leases that did not start", "takeovers", "takeovers from leases that did not give back",
		"times given back", "conflicts", "writes after their time-out", "writes of the dead", "lost requests", "lost replies",
		"repeated requests", "slow messages", "time-outs", "outages met", "freezes", "replies that met a frozen process", "crashes",
		"clock steps", "generators that refused their worker", "clocks found wrong", "halts before a request", "halts after a reply",
		"halts within Notify", "halts in a grant", "halts in a seal", "halts between an ID and its confirmation", "restores", "recoveries", "recoveries that were interrupted", "times taken back from generators", "requests in which the store hung",
		"idle leases", "leases closed within Notify", "IDs confirmed", "IDs not confirmed", "IDs of a worker that was lost", "IDs from before since", "looks that were shared", "makers named", "makers not named", "makers named among others", "histories kept by recoveries",
		"leases that began in the background", "leases for other IDs", "leases closed before they had a worker", "workers that came after Close", "generators judged alive", "generators excused", "events"}[c]
}

func newSimulation(seed uint64, p simProfile, traced bool) *simulation {
	s := &simulation{simProfile: p, random: rand.New(rand.NewPCG(seed, 0x5eed)), now: simStart, traced: traced}
	s.judge = simJudge{spans: map[int][]*simSpan{}, writer: map[int]int{}, record: map[int]record{}, late: map[int]bool{}, top: map[simHolding]int64{}, ids: map[simID]int{}, made: map[int][]simMade{}, tenures: map[int][]*simTenure{}}
	s.stockUp()
	if p.restores > 0 {
		s.ahead = s.between(-p.largest, p.largest)
	}
	clock := &simClock{}
	for i := range p.machines {
		if !p.shared {
			clock = &simClock{}
		}
		s.processes = append(s.processes, nil)
		s.boot(i, clock)
	}
	return s
}

// stockUp creates the pool.
func (s *simulation) stockUp() {
	made := newPoolRecord("00000000-0000-4000-8000-000000000000", s.layout(), simStart)
	for worker := range s.stock {
		*made = made.withMade(worker)
	}
	s.store.entries = []driver.Entry{{Key: poolKey(simPool), Value: encode(made), Revision: "0"}}
	s.store.writers = []int{-1}
	p := newPool(nil, simPool, made)
	for worker := range s.stock {
		r := p.unused(worker, made.term())
		if s.taken > 0 {
			r.Until, r.Attempt = simStart-1_000_000, "x"
		}
		if worker < s.taken {
			r.Until, r.Incarnation = simStart+86400*1_000_000, "somebody"
		}
		s.store.entries = append(s.store.entries, driver.Entry{Key: workerKey(simPool, worker), Value: encode(r), Revision: "0"})
		s.store.writers = append(s.store.writers, -1)
	}
}

func (s *simulation) layout() grant.Layout {
	if s.sno {
		return grant.Layout{Format: "sno", Epoch: time.Unix(sno.Epoch, 0).UTC(), Unit: sno.TimeUnit, Widths: []int{39, 1, 8, 16, 16}, Workers: s.workers}
	}
	return grant.Layout{Format: "nanoflake", Epoch: nanoflake.DefaultEpoch(), Unit: time.Millisecond, Widths: []int{41, 10, 12}, Workers: s.workers}
}

// end stops all coroutines.
func (s *simulation) end() {
	for _, l := range s.recoverers {
		l.process.dead = true
		l.kill()
	}
	for _, l := range s.leases {
		l.process.dead = true
		l.kill()
	}
}

// boot starts a process, in the place of the one that was there.
func (s *simulation) boot(number int, clock *simClock) {
	p := &simProcess{s: s, number: number, clock: clock}
	s.processes[number] = p
	for slot := range s.slots {
		s.after(s.between(0, s.window/2), func() { p.run(func() { s.open(p, slot) }) })
	}
	s.plague(p, s.freezes, func() { p.freeze(s.freezeSpan()) })
	s.plague(p, s.crashes, func() { s.crash(p) })
	s.plague(p, s.cuts, func() {
		d := min(s.now+s.exponential(float64(s.window)), s.faultsEnd)
		cut := "out"
		switch s.random.IntN(3) {
		case 0:
			p.cutOut = d
		case 1:
			p.cutBack, cut = d, "back"
		default:
			p.cutOut, p.cutBack, cut = d, d, "both ways"
		}
		s.note(-1, "cut", nil, func() string { return fmt.Sprintf("p%d %s until %s", number, cut, simTime(d)) }, d)
	})
	if number == 0 || !s.shared {
		s.plague(p, s.steps, func() { s.step(p) })
	}
}

// plague calls do for a process now and then, until faults end or the process is dead.
func (s *simulation) plague(p *simProcess, perWindow float64, do func()) {
	if perWindow == 0 {
		return
	}
	var again func()
	again = func() {
		s.after(s.exponential(float64(s.window)/perWindow), func() {
			if s.now >= s.faultsEnd || p.dead {
				return
			}
			do()
			again()
		})
	}
	again()
}

// strike lets outages come.
func (s *simulation) strike() {
	if s.outages == 0 {
		return
	}
	s.after(s.exponential(float64(s.window)/s.outages), func() {
		if s.now >= s.faultsEnd {
			return
		}
		d := s.between(s.window/10, 3*s.window)
		s.outage(min(d, s.faultsEnd-s.now), simOutage(s.random.IntN(int(simOutages))))
		s.strike()
	})
}

func (s *simulation) outage(d int64, mode simOutage) {
	s.store.down, s.store.mode = s.now+d, mode
	s.note(-1, "outage", nil, func() string { return fmt.Sprintf("%s until %s", mode, simTime(s.store.down)) }, d, int64(mode))
}

// freezeSpan returns how long to freeze.
func (s *simulation) freezeSpan() int64 {
	spans := [...]float64{0.01, 0.1, 0.5, 2, 10}
	return int64(float64(s.window) * spans[s.random.IntN(len(spans))] * (0.5 + s.random.Float64()))
}

// step sets a clock, for the worse or right again.
func (s *simulation) step(p *simProcess) {
	const second = 1_000_000
	sizes := []int64{1000, 4000, 20_000, s.window / 10, s.window / 2, 2 * s.window,
		60 * second, 3600 * second, 86400 * second, 365 * 86400 * second, 3650 * 86400 * second}
	for sizes[len(sizes)-1] > s.largest {
		sizes = sizes[:len(sizes)-1]
	}
	d := sizes[s.random.IntN(len(sizes))]
	d = s.between(d/2, d)
	switch s.random.IntN(3) {
	case 0:
		p.clock.offset = 0
	case 1:
		p.clock.offset += d
	default:
		p.clock.offset -= d
	}
	p.clock.offset = max(min(p.clock.offset, s.largest), -s.largest)
	s.counts[simSteps]++
	s.note(-1, "clock", nil, func() string { return fmt.Sprintf("p%d shows %s", p.number, simTime(s.now+p.clock.offset)) }, p.clock.offset)
}

// crash ends a process, and starts another process in its place. Requests of the dead process stay
// on the way.
func (s *simulation) crash(p *simProcess) {
	if p.dead {
		return
	}
	p.dead = true
	s.counts[simCrashes]++
	s.note(-1, "crash", nil, func() string { return fmt.Sprintf("p%d", p.number) }, int64(p.number))
	for _, l := range s.leases {
		if l.process == p {
			l.kill()
		}
	}
	s.after(s.exponential(float64(s.window)/4), func() { s.boot(p.number, p.clock) })
}

// open starts a lease in a slot of a process.
func (s *simulation) open(p *simProcess, slot int) *simLease {
	l := &simLease{s: s, process: p, number: len(s.leases), keeping: s.now}
	l.name = fmt.Sprintf("p%d.%d#%d", p.number, slot, l.number)
	l.me = holding{Host: fmt.Sprintf("host%d", p.number), Process: l.number + 1, Program: fmt.Sprintf("program%d", slot)}
	l.ctx = &simContext{s: s, parent: context.Background(), deadline: simNever}
	us := time.Microsecond
	l.config = Config{Window: time.Duration(s.window) * us, First: time.Duration(s.first) * us, Timeout: time.Duration(s.timeout) * us,
		Wait: time.Duration(s.between(-s.window, s.window)) * us, TrustClock: s.trust, Holder: l.name, Notify: l.notify, clock: l.time, newName: s.newName,
		intN: s.random.IntN, world: simWorld{l},
		me: l.me, short: time.Duration(s.short) * us}
	switch {
	case s.wait > 0:
		l.config.Wait = time.Duration(s.wait) * us
	case s.chance(0.25):
		l.config.Wait = 0 // it leaves when all others were seen to renew
	}
	if s.named {
		l.config.Worker = Number((p.number + slot) % s.workers)
	}
	if s.design.config != nil {
		s.design.config(l, &l.config)
	}
	l.begins = s.chance(s.begins)
	if c, err := l.config.settle(s.layout()); err == nil {
		l.config.Timeout = c.Timeout
	} else {
		panic(err)
	}
	s.leases = append(s.leases, l)
	s.counts[simKeeps]++
	l.start(func() { l.live(slot) })
	return l
}

// live is a program with a lease.
func (l *simLease) live(slot int) {
	s := l.s
	again := func(mean float64) {
		if l.process.dead {
			return
		}
		s.after(s.exponential(mean), func() { l.process.run(func() { s.open(l.process, slot) }) })
	}
	if l.begins {
		if l.begin() {
			again(float64(s.window) / 8)
			return
		}
		l.renew(again)
		return
	}
	err := l.keep()
	if err != nil {
		l.stage, l.ended = simFailed, err
		s.counts[simKeepErrors]++
		if errors.Is(err, ErrClockSkew) {
			s.counts[simSkewed]++
		}
		s.note(-1, "no lease", l, err.Error)
		s.judgeKeep(l)
		if s.wait > 0 {
			again(float64(s.window) / 20) // it is in a hurry
			return
		}
		again(float64(s.window) / 3)
		return
	}
	l.renew(again)
}

// renew is the life of a lease with a worker.
func (l *simLease) renew(again func(float64)) {
	s := l.s
	l.stage, l.ready = simMinting, s.now
	s.note(l.lease.Worker(), "kept", l, nil)
	l.mintAlong()
	if s.closes > 0 {
		s.after(s.exponential(float64(s.window)/s.closes), func() {
			if s.now < s.faultsEnd {
				l.process.run(l.cancel)
			}
		})
	}
	l.lease.stop = l.cancel
	l.lease.run(l.ctx)
	l.stage = simClosing
	l.mint(1)
	l.ended = l.lease.Close()
	l.stage = simClosed
	l.judgePhase(0)
	s.note(l.lease.Worker(), "closed", l, func() string { return fmt.Sprint(l.ended) })
	if s.calm {
		s.judgeClose(l)
	}
	l.mint(1)
	again(float64(s.window) / 8)
}

// conn returns the lease's connection to the store.
func (l *simLease) conn() driver.Store {
	conn := simConn{l}
	if l.s.design.store != nil {
		return l.s.design.store(conn)
	}
	switch {
	case l.s.batches && l.s.clocked:
		return simClockBatchConn{simBatchConn{conn}, simTimes{conn}}
	case l.s.batches:
		return simBatchConn{conn}
	case l.s.clocked:
		return simClockConn{conn, simTimes{conn}}
	}
	return conn
}

// begin is a start in the background, up to the first worker. It reports whether the lease has ended
// before.
func (l *simLease) begin() (ended bool) {
	s := l.s
	s.counts[simBegun]++
	var err error
	if l.generator, err = newSimGenerator(l); err != nil {
		l.stage = simFailed // a clock that is far off
		return true
	}
	l.minting()
	l.config.Background = true
	layout := s.layout()
	if l.foreign = s.chance(0.1); l.foreign {
		s.counts[simForeign]++
		layout.Workers++
	}
	c, err := l.config.settle(s.layout())
	if err != nil {
		panic(err)
	}
	l.lease = newLease(simPool, l.generator, c)
	l.lease.wanted = grant.Spec{Name: simPool, Layout: layout}
	l.lease.store = l.conn()
	l.lease.within = c.timed(l.lease.store)
	l.lease.stop = func() { // as a context: the search finds out in a moment
		l.ctx.cancelled = true
		s.after(0, func() { l.process.run(l.cancel) })
	}
	if l.lease.startSearch(); s.closes > 0 && s.chance(0.3) {
		s.after(s.exponential(float64(s.quick)*[]float64{2, 2, 20, 1000}[s.random.IntN(4)]), func() { l.process.run(l.leaveEarly) })
	}
	found := l.lease.search(l.ctx)
	l.judgePhase(0)
	if found { // the interval may begin a moment later
		sleep(l.ctx, simWorld{l}, min(max(time.UnixMicro(l.lease.since).Sub(l.time()), 0), grace))
	}
	switch {
	case l.closing:
		l.judgeLeft()
	case !found:
		l.stage, l.ended = simFailed, l.lease.Err()
	case l.foreign:
		s.wrong(checkBackground, -1, "%s has a worker in a pool of other IDs", l.name)
	}
	if !found {
		l.mint(1)
	}
	return !found || l.closing
}

// leaveEarly closes a lease that has no worker yet, in another thread.
func (l *simLease) leaveEarly() {
	s := l.s
	if !l.lease.inBackground() || l.closing || s.now >= s.faultsEnd {
		return
	}
	s.counts[simLeft]++
	s.note(-1, "left", l, nil)
	l.closing = true
	t := l.newThread(func() {
		at := s.now
		if err := l.lease.Close(); (s.now > at || err != nil) && s.haltFreeze+s.freezes+s.haltCrash == 0 {
			s.wrong(checkReturned, -1, "%s waits %v for the end of its search, and Close returns %v", l.name, time.Duration(s.now-at)*time.Microsecond, err)
		}
		l.stage = simClosed // a process can be stopped within Close, and its search ends first
	})
	l.goOn(t)
}

// keep is Open and Lease.keep.
func (l *simLease) keep() error {
	s := l.s
	store := l.conn()
	ctx, cancel := simWorld{l}.timeout(l.ctx, l.config.Timeout)
	pool, err := Open(ctx, store, simPool, s.layout())
	cancel()
	if err != nil {
		return err
	}
	g, err := newSimGenerator(l)
	if err != nil {
		return err
	}
	l.generator = g
	l.minting()
	if s.closes > 0 && !s.calm && s.chance(0.05) { // somebody loses patience
		s.after(s.exponential(float64(s.window)/10), func() {
			if s.now < s.faultsEnd && l.stage == simOpening {
				l.process.run(l.cancel)
			}
		})
	}
	c, err := l.config.settle(pool.layout)
	if err == nil {
		made := pool.lease(c.timed(pool.store), g, c)
		if err = made.keep(l.ctx); err == nil {
			l.lease = made
		}
	}
	l.judgePhase(0)
	if err == nil && l.ctx.cancelled {
		l.s.note(l.lease.Worker(), "kept though cancelled", l, nil)
	}
	return err
}

// minting makes IDs at random times, as long as the process lives and a while after Close.
func (l *simLease) minting() {
	s := l.s
	rate := float64(s.window) / 30
	if l.idle = s.chance(s.idles); l.idle {
		s.counts[simIdle]++
		rate = float64(s.window) * 4
	}
	over := 0
	var again func()
	again = func() {
		s.after(s.exponential(rate), func() {
			l.process.run(func() {
				l.mint(1 + s.random.IntN(3))
				l.confirmLater()
				if l.stage == simClosed || l.stage == simFailed {
					over++
				}
				if over < 3 {
					again()
				}
			})
		})
	}
	again()
}

// judgeKeep judges why a Start failed.
func (s *simulation) judgeKeep(l *simLease) {
	err := l.ended
	may := []error{ErrNoWorker, ErrHeld, ErrClockSkew, iderr.ErrTimeRange, iderr.ErrConfig, driver.ErrUnavailable, driver.ErrConflict, context.Canceled}
	if s.counts[simRestores] > 0 || s.design.loses {
		may = append(may, ErrRecovering, ErrRolledBack, ErrMissing, ErrDamaged)
	}
	for _, want := range may {
		if errors.Is(err, want) {
			if s.calm && (want != ErrNoWorker || s.machines*s.slots <= s.workers) {
				break
			}
			return
		}
	}
	s.wrong(checkAlive, -1, "%s gets no lease: %v", l.name, err)
}

// judgeAlive judges all leases two windows after the last fault, and the time to notice its end:
// each generator of a lease with a worker must mint.
func (s *simulation) judgeAlive() {
	if s.refuses >= 0 {
		return
	}
	for _, l := range s.leases {
		if l.process.dead || l.stage != simMinting {
			continue
		}
		switch l.mint(1); {
		case l.refused == nil:
			s.counts[simAlive]++
		case l.excused(l.refused):
			s.counts[simExcused]++
		default:
			s.wrong(checkAlive, l.lease.Worker(), "%s is not alive two windows after the last fault: %v", l.name, l.refused)
			return
		}
	}
}

// live makes a run: first the faults, and then the time after the last fault.
func (s *simulation) live() {
	s.strike()
	s.backUp()
	s.runUntil(s.faultsEnd)
	if s.verdict != nil {
		return
	}
	s.store.down = 0
	s.note(-1, "the last fault was", nil, nil)
	if s.mends {
		for _, p := range s.processes {
			p.clock.offset = 0
		}
	}
	if s.unsafe > 0 {
		for end := s.now + (40*s.window+20*s.timeout)*int64(1+s.stock/4); s.unsafe > 0 && s.now < end && s.verdict == nil; {
			s.runUntil(s.now + s.window)
		}
		if s.unsafe > 0 {
			s.wrong(checkRecovery, -1, "a recovery comes to no end")
		}
	}
	s.runUntil(max(s.now, s.floor+s.largest)) // by the clock that is the furthest behind
	if s.mends && s.counts[simRestores] == 0 {
		s.runUntil(max(s.now, s.faultsEnd+2*s.window+2*s.timeout+1_000_000))
		s.judgeAlive()
	}
	// Wait until the last intervals have ended: intervals of the clock furthest ahead, by the clock
	// furthest behind. Then a lease has to notice the end.
	settle := s.now + 5*s.window + s.timeout*4 + 1_000_000
	if s.largest <= simSmall(s.window) {
		settle += 2 * s.largest
	}
	if s.begins > 0 {
		settle += 2 * longestSearch.Microseconds() // the last pause of a search
	}
	s.runUntil(settle)
	if s.verdict == nil {
		s.judgeEnd()
		for worker := range s.workers {
			s.judgeHistory(worker)
		}
	}
}
