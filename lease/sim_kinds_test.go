package lease

import "math/rand/v2"

// A simKind is a kind of run: how its settings are drawn, and what happens.
type simKind struct {
	draw func(seed uint64) simProfile
	calm bool // nothing goes wrong
	live func(*simulation)
}

var (
	simFaults       = simKind{draw: simFaulty, live: (*simulation).live}
	simCalms        = simKind{draw: simCalm, calm: true, live: (*simulation).live}
	simSpares       = simKind{draw: simSpare, calm: true, live: (*simulation).live}
	simLarges       = simKind{draw: simLarge, calm: true, live: (*simulation).live}
	simShortOutages = simKind{draw: simQuiet, calm: true, live: (*simulation).liveShortOutage}
	simLongOutages  = simKind{draw: simQuiet, live: (*simulation).liveLongOutage}
	simIdles        = simKind{draw: simIdleJumps, live: (*simulation).liveJumps}
	simCrashRuns    = simKind{draw: simOneWorker, live: (*simulation).liveCrash}
	simAstrays      = simKind{draw: simAstray, live: (*simulation).liveAstray}
	simBusies       = simKind{draw: simBusy, live: (*simulation).live}
	simHangups      = simKind{draw: simHanging, live: (*simulation).live}
	simRestorations = simKind{draw: simRestored, live: (*simulation).live}
)

// run makes the run of a seed.
func (k simKind) run(seed uint64, traced bool) *simulation { return k.runWith(seed, traced, nil) }

// runWith makes the run of a seed, and changes the simulation before.
func (k simKind) runWith(seed uint64, traced bool, change func(*simulation)) *simulation {
	s := newSimulation(seed, k.draw(seed), traced)
	s.calm = k.calm
	if change != nil {
		change(s)
	}
	defer s.end()
	k.live(s)
	return s
}

// liveShortOutage has an outage of less than half of the window, which nobody notices. A silent store
// costs a request's time-out more.
func (s *simulation) liveShortOutage() {
	mode := simOutage(s.random.IntN(int(simOutages)))
	d := s.window/2 - 1
	if mode != simRefuses {
		// The last request before the store was back, and the pause after the request.
		d = min(d, s.window*7/10-s.timeout-500_000)
	}
	s.runUntil(simStart + 3*s.window + s.between(0, s.window))
	if d > 0 {
		s.outage(d, mode)
	}
	s.runUntil(s.now + 2*s.window)
	s.judgeMinting("after an outage")
}

// liveLongOutage has an outage longer than the window. All generators mint again a second later; if the
// store was silent, a time-out more.
func (s *simulation) liveLongOutage() {
	mode := simOutage(s.random.IntN(int(simOutages)))
	s.runUntil(simStart + 3*s.window + s.between(0, s.window))
	s.outage(s.between(s.window, 3*s.window), mode)
	s.runUntil(s.store.down)
	back := int64(1_000_000)
	if mode != simRefuses {
		back += s.timeout
	}
	s.runUntil(s.store.down + back)
	s.store.down = 0
	s.judgeMinting("in time after an outage")
	s.calm = true
	s.runUntil(s.now + 2*s.window)
}

// judgeMinting fails unless all leases mint.
func (s *simulation) judgeMinting(when string) {
	for _, l := range s.leases {
		if l.stage != simMinting || l.process.dead {
			s.wrong(checkAlive, -1, "%s has no worker %s", l.name, when)
			continue
		}
		if l.mint(1); l.refused != nil {
			s.wrong(checkAlive, l.lease.Worker(), "%s does not mint %s: %v", l.name, when, l.refused)
		}
	}
}

// simIdleJumps draws the settings of a run in which hardly an ID is made, and replies are lost, processes
// crash and the store hangs.
func simIdleJumps(seed uint64) simProfile {
	r := rand.New(rand.NewPCG(seed, 0x1d1e))
	p := simQuiet(seed)
	p.clocked, p.idles, p.mends, p.named = false, 1, true, r.IntN(3) == 0
	p.largest = []int64{2 * p.window, 600_000_000, 300 * 86400 * 1_000_000}[r.IntN(3)]
	p.loseReply, p.loseRequest = []float64{0, 0.1, 0.3}[r.IntN(3)], []float64{0, 0.1}[r.IntN(2)]
	p.crashes, p.hangs = []float64{0, 0.1}[r.IntN(2)], []float64{0, 0.05}[r.IntN(2)]
	p.workers += r.IntN(3)
	p.faultsEnd += 6 * p.window
	return p
}

// liveJumps has clocks jump and come right again.
func (s *simulation) liveJumps() {
	var jump func()
	jump = func() {
		s.after(s.between(0, 2*s.window), func() {
			if s.now >= s.faultsEnd {
				return
			}
			clock := s.processes[s.random.IntN(len(s.processes))].clock
			clock.offset = s.between(s.window/2, s.largest)
			s.counts[simSteps]++
			s.note(-1, "clocks", nil, nil, clock.offset)
			s.after(s.between(s.window/10, 2*s.window), func() { clock.offset = 0 })
			jump()
		})
	}
	jump()
	s.live()
}

// simOneWorker draws the settings of a run in which one process has the only worker, and another waits.
func simOneWorker(seed uint64) simProfile {
	p := simQuiet(seed)
	p.workers, p.machines, p.wait = 1, 2, 100*p.window
	return p
}

// liveCrash has a process crash. Another gets the worker within a window.
func (s *simulation) liveCrash() {
	s.runUntil(simStart + 3*s.window + s.between(0, s.window))
	for _, l := range s.leases {
		if l.stage == simMinting {
			s.crash(l.process)
		}
	}
	at := s.now
	s.runUntil(at + s.window + 250_000) // a waiting lease looks again every 100 ms
	for _, l := range s.leases {
		if l.stage == simMinting && !l.process.dead && l.ready > at {
			if l.mint(1); l.refused == nil {
				return
			}
		}
	}
	s.wrong(checkAlive, 0, "nobody has the worker of the process that crashed at %s", simTime(at))
}

// simAstray draws the settings of a run in which a process has a wrong clock, and the store has a right
// one.
func simAstray(seed uint64) simProfile {
	p := simQuiet(seed)
	p.clocked, p.trust, p.largest = true, false, 7200_000_000
	return p
}

func (s *simulation) liveAstray() {
	s.processes[0].clock.offset = s.between(-1, 0)*2*s.largest + s.largest
	s.live()
}

// simSpare draws the settings of a run in which nothing goes wrong, and nobody needs a worker that somebody
// had before.
func simSpare(seed uint64) simProfile {
	p := simCalm(seed)
	p.workers *= 16
	return p
}

// simBusy draws the settings of a run in which workers change hands often, and nothing goes wrong.
func simBusy(seed uint64) simProfile {
	p := simQuiet(seed)
	p.machines, p.workers, p.closes, p.faultsEnd = 4, 2, 10, simStart+10*p.window
	return p
}

// simHanging draws the settings of a run in which the store hangs now and then.
func simHanging(seed uint64) simProfile {
	p := simQuiet(seed)
	p.hangs = 0.05
	return p
}

// simRestored draws the settings of a run in which the store is restored while workers change hands, and
// clocks differ.
func simRestored(seed uint64) simProfile {
	p := simQuiet(seed)
	p.window, p.sno, p.unit = 500_000, false, simUnit(false)
	p.first, p.timeout = p.window, p.window*3/10
	p.machines, p.slots, p.workers, p.closes = 3, 2, 4, 1
	p.restores, p.steps, p.largest = 1, 0.5, 2*p.window
	p.faultsEnd = simStart + 10*p.window
	return p
}
