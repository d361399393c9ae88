package torture

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"
)

// A kind is one of fault, or of what processes go through besides.
type kind string

const (
	kill    kind = "kill"  // SIGKILL, and a new process at once
	stop    kind = "stop"  // SIGSTOP for a time, then SIGCONT
	stepBy  kind = "step"  // the clock is set by so much
	setBack kind = "back"  // the clock is set right
	finish  kind = "close" // SIGTERM: the process gives back its worker; and a new one

	// Of the network between the processes and the store:
	cutRequests kind = "requests lost" // none reaches the store: a partition before the commit
	cutReplies  kind = "replies lost"  // the store does as it is told, and nobody hears: one after it
	delay       kind = "delay"         // of all that goes either way

	// breakdown is of the store's servers, whatever they can do; it has no slot.
	breakdown kind = "server"
)

// An action is something that is done to one of the processes.
type action struct {
	after time.Duration // the one before
	kind  kind
	size  time.Duration // step: by how much; others: for how long
	name  string        // of the size
	how   manner
	at    time.Duration // when, if nothing takes longer than it should
}

// like tells whether two actions are of one kind and size.
func (a action) like(b action) bool { return a.kind == b.kind && a.name == b.name }

// A manner is how a process is killed.
type manner uint8

const (
	plainly  manner = iota
	twice           // and the new one too, while it starts
	stopping        // while it is stopped
	closing         // while it gives back its worker
)

type size struct {
	name  string
	value time.Duration
	// weight is how often a step of this size is taken, of some 100. Steps of an hour ahead
	// have none, since they use up a worker for so long: there are few of them however long
	// the run.
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

// plan returns what is done to each process, and to its network if it has one, all of it
// drawn from the seed.
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
	var clocks []*action // the steps, still without a size
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
	// A small step may stay, so that clocks come to differ.
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

// newDeck returns some of each kind, in any order.
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

// newSizes returns n sizes of steps by their weights, with one of each in the first half, if
// there is room: a busy machine may not come to what is planned for the end.
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
