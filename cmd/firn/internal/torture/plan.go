package torture

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// A kind is a kind of fault, or of another event in the life of a process.
type kind string

const (
	kill    kind = "kill"  // SIGKILL, and a new process at once
	stop    kind = "stop"  // SIGSTOP for a time, then SIGCONT
	stepBy  kind = "step"  // set the clock by some time
	setBack kind = "back"  // set the clock right
	finish  kind = "close" // SIGTERM: the process returns its worker; then a new process

	// Faults of the network between the processes and the store:
	cutRequests kind = "requests lost" // no request reaches the store
	cutReplies  kind = "replies lost"  // the store does the change, and no reply comes back
	delay       kind = "delay"         // delays both ways

	// breakdown is a fault of the servers. It has no slot.
	breakdown kind = "server"
)

// An action is done to one process.
type action struct {
	after time.Duration // the action before
	kind  kind
	size  time.Duration // step: the change; others: the duration
	name  string        // of the size
	how   manner
	at    time.Duration // planned time
}

// like reports whether two actions have the same kind and size.
func (a action) like(b action) bool { return a.kind == b.kind && a.name == b.name }

// A manner is how a process is killed.
type manner uint8

const (
	plainly  manner = iota
	twice           // the new process too, while it starts
	stopping        // while stopped
	closing         // while it returns its worker
)

type size struct {
	name  string
	value time.Duration
	// weight is how often a step of this size is drawn, of about 100. Steps an hour ahead have no
	// weight, since such a step uses up a worker for long: a run of any length has few of these
	// steps.
	weight int
}

const year = 365 * 24 * time.Hour

var (
	steps = []size{
		{"+1ms", time.Millisecond, 14}, {"-1ms", -time.Millisecond, 14},
		{"+100ms", 100 * time.Millisecond, 12}, {"-100ms", -100 * time.Millisecond, 12},
		{"+2s", 2 * time.Second, 12}, {"-2s", -2 * time.Second, 12},
		{"+1m", time.Minute, 4}, {"-1m", -time.Minute, 4},
		{"+1h", time.Hour, 0}, {"-1h", -time.Hour, 3},
		{"+10y", 10 * year, 4}, {"-10y", -10 * year, 4},
	}
	mostHours = 3

	stops = []struct {
		name    string
		windows float64
	}{{"0.5 windows", 0.5}, {"2 windows", 2}, {"10 windows", 10}}

	cuts = stops[:2]
)

// plan returns the actions for each process and its network, drawn from the seed.
func plan(seed uint64, processes int, window, duration time.Duration, network bool) [][]action {
	r := rand.New(rand.NewPCG(seed, 0))
	windows := func(n float64) time.Duration { return time.Duration(n * float64(window)) }
	plans := make([][]action, processes)
	for i := range plans {
		var deck []action
		for at := time.Duration(0); ; {
			if len(deck) == 0 {
				deck = newDeck(r, windows, network)
			}
			a := deck[0]
			deck = deck[1:]
			a.after = min(windows(1.2*r.ExpFloat64()), windows(5))
			if at += a.after; a.kind != kill && a.kind != stepBy {
				at += a.size
			}
			if at > duration-window {
				break
			}
			a.at = at
			plans[i] = append(plans[i], a)
			if a.kind != stepBy {
				continue
			}
			back := action{kind: setBack, after: windows(0.3 + 3*r.Float64())}
			at += back.after
			plans[i] = append(plans[i], back)
		}
	}
	var clocks []*action // steps without a size yet
	for i := range plans {
		for j := range plans[i] {
			if plans[i][j].kind == stepBy {
				clocks = append(clocks, &plans[i][j])
			}
		}
	}
	slices.SortStableFunc(clocks, func(a, b *action) int { return cmp.Compare(a.at, b.at) })
	sizes := newSizes(r, len(clocks))
	for i, a := range clocks {
		a.size, a.name = sizes[i].value, sizes[i].name
	}
	// A small step may stay, so that the clocks differ.
	for i := range plans {
		kept := plans[i][:0]
		for j, a := range plans[i] {
			if a.kind == setBack && j > 0 && plans[i][j-1].size.Abs() < time.Second && r.IntN(3) == 0 {
				continue
			}
			kept = append(kept, a)
		}
		plans[i] = kept
	}
	return plans
}

// newDeck returns actions of each kind, shuffled.
func newDeck(r *rand.Rand, windows func(float64) time.Duration, network bool) []action {
	deck := []action{{kind: finish}}
	if network {
		for _, k := range []kind{cutRequests, cutReplies, delay} {
			for _, s := range cuts {
				deck = append(deck, action{kind: k, size: windows(s.windows), name: s.name})
			}
		}
	}
	for _, s := range stops {
		deck = append(deck, action{kind: stop, size: windows(s.windows), name: s.name})
		how := plainly
		if r.IntN(2) == 0 {
			how = manner(r.IntN(4))
		}
		deck = append(deck, action{kind: kill, how: how, size: time.Duration(r.Float64() * float64(200*time.Millisecond))})
		deck = append(deck, action{kind: stepBy}, action{kind: stepBy})
	}
	r.Shuffle(len(deck), func(i, j int) { deck[i], deck[j] = deck[j], deck[i] })
	return deck
}

// newSizes returns n sizes of steps by weight. One of each size is in the first half, if there is
// room: a busy machine may not reach the end of the plan.
func newSizes(r *rand.Rand, n int) []size {
	var weighted []size
	for _, s := range steps {
		for range s.weight {
			weighted = append(weighted, s)
		}
	}
	sizes := make([]size, n)
	for i, hours := 0, 1; i < n; i++ {
		sizes[i] = weighted[r.IntN(len(weighted))]
		if hours < mostHours && r.IntN(100) == 0 {
			sizes[i] = size{"+1h", time.Hour, 0}
			hours++
		}
	}
	each := slices.Clone(steps)
	r.Shuffle(len(each), func(i, j int) { each[i], each[j] = each[j], each[i] })
	places := r.Perm(min(n, max(n/2, len(each))))
	for i := range min(len(each), len(places)) {
		sizes[places[i]] = each[i]
	}
	return sizes
}
