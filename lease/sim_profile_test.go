package lease

import (
	"math/rand/v2"
	"time"

	"github.com/firn-id/firn/sno"
)

// simProfile holds the settings of a run.
type simProfile struct {
	sno       bool
	unit      time.Duration
	workers   int
	machines  int // processes
	slots     int // leases a process keeps at a time
	named     bool
	trust     bool
	clocked   bool  // the store has a time of its own
	batches   bool  // the store is a driver.Batcher
	shared    bool  // all processes have one clock
	refuses   int   // a worker that generators refuse, -1 for none
	short     int64 // a lease is short that has less
	stock     int   // so many workers have records from the beginning
	taken     int   // so many of them are not free before the run has ended; if any, the others have been used
	window    int64
	first     int64
	timeout   int64
	wait      int64 // how long Start waits; 0 for what comes
	quick     int64 // how long messages take
	faultsEnd int64 // true time from which on there are no faults

	loseRequest, loseReply, repeat float64 // of messages
	slow                           float64 // of messages: they take long
	slowness                       float64 // how long, in windows
	haltFreeze, haltCrash          float64 // of the places where a process may freeze or die
	torn                           float64 // of backups: they are not of one moment
	interrupts                     float64 // of the places where a recovery may be interrupted

	// How many a window, of each process or of the store; 0 for none.
	freezes, crashes, cuts, outages, steps, closes, restores float64

	hangs  float64 // of the requests in which the store hangs, without heeding their contexts
	idles  float64 // of the leases whose generators are asked for an ID now and then only
	within float64 // of the events in which the lease is closed
	begins float64 // of the leases that start in the background
	mends  bool    // clocks are right after the last fault

	largest int64 // the largest step of a clock, as far as it matters for how soon all is well again
}

// simSmall is the largest step of a clock without lasting effects.
func simSmall(window int64) int64 { return 2 * window }

func simUnit(isSno bool) time.Duration {
	if isSno {
		return sno.TimeUnit
	}
	return time.Millisecond
}

// simFaulty draws the settings of a run.
func simFaulty(seed uint64) simProfile {
	r := rand.New(rand.NewPCG(seed, 0xfa117))
	const second = 1_000_000
	pick := func(of ...float64) float64 { return of[r.IntN(len(of))] }
	p := simProfile{
		sno: r.IntN(4) == 0, workers: 2 + r.IntN(3), machines: 3 + r.IntN(3), slots: 1,
		named: r.IntN(6) == 0, trust: r.IntN(4) == 0, clocked: r.IntN(4) == 0, shared: r.IntN(6) == 0, refuses: -1,
		window: []int64{second / 5, second / 2, second, second, second, 3 * second}[r.IntN(6)],
	}
	p.unit = simUnit(p.sno)
	if p.machines == 3 && r.IntN(2) == 0 {
		p.slots = 2
	}
	if r.IntN(10) == 0 {
		p.refuses = r.IntN(p.workers)
	}
	p.first = p.window / []int64{1, 4, 10}[r.IntN(3)]
	p.timeout = p.window * []int64{1, 3, 3, 10}[r.IntN(4)] / 10
	p.quick = min([]int64{200, 2000, p.window / 50}[r.IntN(3)], p.timeout/40)
	p.faultsEnd = simStart + p.window*[]int64{5, 5, 8, 20}[r.IntN(4)]
	p.closes = pick(0, 0.1, 0.3, 1)
	if kind := r.IntN(8); kind != 0 { // a fault of most kinds, or of a few
		some := func(v ...float64) float64 {
			if kind < 4 && r.IntN(2) == 0 {
				return 0
			}
			return pick(v...)
		}
		p.loseRequest = some(0, 0.02, 0.1, 0.3)
		p.loseReply = some(0, 0.02, 0.1, 0.3)
		p.repeat = some(0, 0.05, 0.3)
		p.slow, p.slowness = some(0, 0.02, 0.1, 0.3), pick(0.1, 0.3, 1, 3)
		p.freezes = some(0, 0.1, 0.5)
		p.haltFreeze = some(0, 0.005, 0.02)
		p.crashes = some(0, 0.05, 0.2)
		p.haltCrash = some(0, 0.002, 0.01)
		p.cuts = some(0, 0.1, 0.3)
		p.outages = some(0, 0.1, 0.2)
		p.steps = some(0, 0.2, 0.5)
		if p.steps > 0 {
			p.largest = int64(pick(20_000, float64(p.window), float64(simSmall(p.window)), 4000*second, 3650*86400*second))
		}
	}
	p.hangs = []float64{0, 0, 0.01, 0.05}[r.IntN(4)]
	p.idles = []float64{0, 0.3, 1}[r.IntN(3)]
	p.within = []float64{0, 0, 0.02}[r.IntN(3)]
	p.mends = r.IntN(2) == 0
	if p.largest <= simSmall(p.window) && r.IntN(3) == 0 {
		p.restores, p.torn, p.interrupts = pick(0.2, 0.5), pick(0, 0.5), pick(0, 0.02, 0.1)
		p.workers += r.IntN(4)
		p.faultsEnd += 5 * p.window
	}
	p.short = p.window * []int64{1, 4, 12}[r.IntN(3)] / 4
	if r.IntN(4) == 0 { // searches read a few records only
		p.stock = few + 1 + r.IntN(4)
		p.workers += p.stock
	}
	if p.refuses < 0 {
		p.begins = []float64{0, 0, 0, 0.2, 1}[r.IntN(5)]
	}
	p.batches = r.IntN(2) == 0
	return p
}

// simQuiet draws the settings of a run without faults of its own.
func simQuiet(seed uint64) simProfile {
	r := rand.New(rand.NewPCG(seed, 0x901e7))
	const second = 1_000_000
	p := simProfile{sno: r.IntN(4) == 0, clocked: r.IntN(3) == 0, trust: r.IntN(4) == 0, machines: 2 + r.IntN(3), slots: 1, refuses: -1,
		window: []int64{second / 2, second, 3 * second, 10 * second}[r.IntN(4)], quick: 200, short: second}
	p.workers, p.unit = p.machines, simUnit(p.sno)
	p.timeout = min(p.window*3/10, 2*second)
	p.first = min(p.window, second)
	p.faultsEnd = simStart + 6*p.window
	p.batches = r.IntN(2) == 0
	return p
}

// simCalm draws the settings of a run in which nothing goes wrong.
func simCalm(seed uint64) simProfile {
	r := rand.New(rand.NewPCG(seed, 0xca1))
	p := simQuiet(seed)
	p.closes = []float64{0, 0.3, 2}[r.IntN(3)]
	p.begins = []float64{0, 0.5, 1}[r.IntN(3)]
	return p
}

// simLarge draws the settings of a run in a pool that has more records than a search reads one by one.
// Nothing goes wrong, so each Start must find a free worker. In some runs, there are just as many free
// workers as leases. In the others, the records stand for the time, and a third of them is ahead of the
// clocks.
func simLarge(seed uint64) simProfile {
	r := rand.New(rand.NewPCG(seed, 0x1a46e))
	p := simQuiet(seed)
	p.slots = 1 + r.IntN(2)
	p.closes = []float64{0.3, 2}[r.IntN(2)]
	p.taken = 4*few + r.IntN(2*few)
	p.workers = p.taken + p.machines*p.slots
	if p.clocked = r.IntN(2) == 0; !p.clocked {
		p.trust, p.workers = false, 3*p.taken
	}
	p.stock = p.workers - r.IntN(2)*r.IntN(p.machines) // some of the free workers may lack records
	return p
}

// faultless reports whether nothing fails but what the processes do themselves.
func (p *simProfile) faultless() bool {
	return p.loseRequest+p.loseReply+p.repeat+p.slow+p.haltFreeze+p.haltCrash+p.freezes+p.crashes+p.cuts+p.outages+p.steps+p.restores+p.hangs == 0
}
