package torture

import (
	"math/rand/v2"
	"slices"
	"time"
)

// A kind is a kind of fault, or of another event in the life of a process.
type kind string

const (
	kill   kind = "kill"  // SIGKILL, and a new process at once
	stop   kind = "stop"  // SIGSTOP for a time, then SIGCONT
	step   kind = "step"  // set the clock by some time, and right again later
	finish kind = "close" // SIGTERM: the process returns its worker; then a new process

	// Faults of the network between the processes and the store:
	cutRequests kind = "requests lost" // no request reaches the store
	cutReplies  kind = "replies lost"  // the store does the change, and no reply comes back
	delay       kind = "delay"         // delays both ways
)

// The ways of a kill.
const (
	plainly   = "at work"
	twice     = "at the start" // the next process, too
	standing  = "while stopped"
	returning = "at the end" // while it returns its worker
)

const year = 365 * 24 * time.Hour

// A fault is a kind of fault, in one of its sizes.
type fault struct {
	kind    kind
	size    string
	change  time.Duration // of the clock
	windows float64       // how long it lasts
	weight  int           // how often it is drawn
}

// allFaults lists the faults of processes, and of their networks. A step an hour ahead has no weight, since it
// uses up a worker for long: a run has few of them.
var allFaults = []fault{
	{kill, plainly, 0, 0, 6}, {kill, twice, 0, 0, 2}, {kill, standing, 0, 0, 2}, {kill, returning, 0, 0, 2},
	{stop, "0.5 windows", 0, 0.5, 4}, {stop, "2 windows", 0, 2, 4}, {stop, "10 windows", 0, 10, 4},
	{step, "+1ms", time.Millisecond, 0, 3}, {step, "-1ms", -time.Millisecond, 0, 3},
	{step, "+100ms", 100 * time.Millisecond, 0, 3}, {step, "-100ms", -100 * time.Millisecond, 0, 3},
	{step, "+2s", 2 * time.Second, 0, 3}, {step, "-2s", -2 * time.Second, 0, 3},
	{step, "+1m", time.Minute, 0, 1}, {step, "-1m", -time.Minute, 0, 1},
	{step, "+1h", time.Hour, 0, 0}, {step, "-1h", -time.Hour, 0, 1},
	{step, "+10y", 10 * year, 0, 1}, {step, "-10y", -10 * year, 0, 1},
	{finish, "", 0, 0, 4},
	{cutRequests, "0.5 windows", 0, 0.5, 4}, {cutRequests, "2 windows", 0, 2, 4},
	{cutReplies, "0.5 windows", 0, 0.5, 4}, {cutReplies, "2 windows", 0, 2, 4},
	{delay, "0.5 windows", 0, 0.5, 4}, {delay, "2 windows", 0, 2, 4},
}

// faultsOf returns the faults of a run with or without a network to torture.
func faultsOf(network bool) (all []fault) {
	for _, f := range allFaults {
		if network || f.kind != cutRequests && f.kind != cutReplies && f.kind != delay {
			all = append(all, f)
		}
	}
	return all
}

// An action is a fault that is done to one process.
type action struct {
	fault
	after time.Duration // the action before
	lasts time.Duration // steps: until the clock is set right
	stays bool          // a small step that is not set right, so that the clocks differ
}

// A plan draws the actions of a slot from the seed of the run.
type plan struct {
	random *rand.Rand
	window time.Duration
	first  []fault // this slot's share of all faults, so that each fault comes soon
}

// newPlan returns the plan of one of the slots.
func newPlan(c Config, slot int) *plan {
	all := faultsOf(c.Via != nil)
	rand.New(rand.NewPCG(c.Seed, 0)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	p := &plan{random: rand.New(rand.NewPCG(c.Seed, uint64(2+slot))), window: c.Window}
	for i := slot; i < len(all); i += c.Processes {
		p.first = append(p.first, all[i])
	}
	return p
}

// next returns the next action: a first one if there is any left, or else one of these faults.
func (p *plan) next(of []fault) action {
	var f fault
	if len(p.first) > 0 {
		f, p.first = p.first[0], p.first[1:]
	} else {
		f = p.draw(of)
	}
	windows := func(n float64) time.Duration { return time.Duration(n * float64(p.window)) }
	a := action{fault: f, after: min(windows(1.2*p.random.ExpFloat64()), windows(5)), lasts: windows(f.windows)}
	if f.kind == step {
		a.lasts = windows(0.3 + 3*p.random.Float64())
		a.stays = f.change.Abs() < time.Second && p.random.IntN(3) == 0
	}
	return a
}

// draw draws a fault by weight. If no fault has a weight, all are as likely.
func (p *plan) draw(of []fault) fault {
	var lots []fault
	for _, f := range of {
		lots = append(lots, slices.Repeat([]fault{f}, f.weight)...)
	}
	if lots == nil {
		lots = of
	}
	return lots[p.random.IntN(len(lots))]
}
