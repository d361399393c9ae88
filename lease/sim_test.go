package lease

import (
	"errors"
	"flag"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

var (
	simSeeds = flag.Int("sim.seeds", 100, "how many runs with faults the simulation makes, of the seeds from 0 on")
	simSeed  = flag.Int("sim.seed", -1, "the seed of the one run that the simulation makes")
	simLines = flag.Int("sim.lines", 60, "how many lines of a trace are printed, from its end")
)

// A simRunner makes the run of a seed.
type simRunner func(seed uint64, traced bool) *simulation

// simAll makes the runs of the seeds from 0 to n-1. It returns the first seed that went wrong, or
// n, and counts of what happened.
func simAll(n int, run simRunner) (failed int, counts simCounts) {
	var mu sync.Mutex
	var next, first atomic.Int64
	var all sync.WaitGroup
	first.Store(int64(n))
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // a run leaves much behind, and takes little
	for range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for seed := next.Add(1) - 1; seed < first.Load(); seed = next.Add(1) - 1 {
				s := run(uint64(seed), false)
				mu.Lock()
				for i, c := range s.counts {
					counts[i] += c
				}
				if s.verdict != nil {
					first.Store(min(first.Load(), seed))
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return int(first.Load()), counts
}

// simTest makes runs, and fails with the trace of the first run that goes wrong.
func simTest(t *testing.T, n int, run simRunner) simCounts {
	t.Helper()
	seed := *simSeed
	var counts simCounts
	if seed < 0 {
		if seed, counts = simAll(n, run); seed == n {
			for i, c := range counts {
				t.Logf("%9d %v", c, simCount(i))
			}
			return counts
		}
	}
	s := run(uint64(seed), true)
	said := "nothing is wrong"
	worker := -1
	if s.verdict != nil {
		said, worker = s.verdict.message, s.verdict.worker
	} else if *simSeed < 0 {
		said = "it went wrong, and not when it was run again"
	}
	var lines []string
	for _, l := range s.lines {
		concerns := l.worker == worker || l.worker < 0 || worker < 0
		if concerns && (*simLines >= 1000 || !strings.Contains(l.text, "no ID:")) {
			lines = append(lines, l.text)
		}
	}
	lines = lines[max(0, len(lines)-*simLines):]
	t.Errorf("seed %d: %s\n\n%s\n\n%+v\n\nRepeat it: go test ./lease -run '^%s$' -sim.seed %d -sim.lines 1000",
		seed, said, strings.Join(lines, "\n"), s.simProfile, t.Name(), seed)
	return counts
}

// With all kinds of faults: no ID is made twice, no ID is outside of the lease's intervals, and all
// is well again soon after.
func TestSimFaults(t *testing.T) {
	n := *simSeeds
	if testing.Short() {
		n = min(n, 100)
	}
	var mu sync.Mutex
	var moves simMoves
	counts := simTest(t, n, func(seed uint64, traced bool) *simulation {
		s := simFaults.run(seed, traced)
		mu.Lock()
		defer mu.Unlock()
		for from := range moves {
			for to := range moves[from] {
				moves[from][to] += s.moves[from][to]
			}
		}
		return s
	})
	if n < 300 || *simSeed >= 0 || t.Failed() {
		return
	}
	judgeMoves(t, n, moves)
	for i, c := range counts {
		switch simCount(i) {
		case simEvents, simEvents + simCount(Created): // the pool exists
			continue
		}
		if c == 0 {
			t.Errorf("%d runs without any %v", n, simCount(i))
		}
	}
}

// judgeMoves fails unless leases made the moves that are drawn at type phase, and no others, in n
// runs.
func judgeMoves(t *testing.T, n int, moves simMoves) {
	rare := [2]phase{phaseWithdrawn, phaseClosed} // once in a few hundred runs
	drawn := map[[2]phase]bool{
		{phaseSearching, phaseHolding}: true, {phaseSearching, phaseClosed}: true,
		{phaseHolding, phaseWithdrawn}: true, {phaseWithdrawn, phaseHolding}: true,
		{phaseHolding, phaseLost}: true, {phaseWithdrawn, phaseLost}: true, {phaseLost, phaseHolding}: true,
		{phaseHolding, phaseClosed}: true, {phaseWithdrawn, phaseClosed}: true, {phaseLost, phaseClosed}: true,
	}
	for from := range moves {
		for to, made := range moves[from] {
			if move := [2]phase{phase(from), phase(to)}; made > 0 && !drawn[move] || made == 0 && drawn[move] && (move != rare || n >= 10_000) {
				t.Errorf("%d moves from %s to %s", made, move[0], move[1])
			} else if made > 0 {
				t.Logf("%9d moves from %s to %s", made, move[0], move[1])
			}
		}
	}
}

// A run is a function of its seed, whatever else the program does.
func TestSimRepeats(t *testing.T) {
	const n = 20
	var hashes [2][n]uint64
	for i := range hashes {
		simAll(n, func(seed uint64, _ bool) *simulation {
			s := simFaults.run(seed, i == 1)
			hashes[i][seed] = s.hash
			s.verdict = nil // which is not what is asked here
			return s
		})
	}
	if hashes[0] != hashes[1] {
		t.Errorf("the same seeds make other runs:\n%x\n%x", hashes[0], hashes[1])
	}
	if hashes[0][0] == hashes[0][1] {
		t.Error("two seeds make the same run")
	}
}

// Without faults, a generator always mints after Start has returned, and Close gives back all unused
// timestamps.
func TestSimCalm(t *testing.T) {
	n := 60
	counts := simTest(t, n, simCalms.run)
	for _, what := range []simCount{simMinted, simTakeovers, simGivenBack} {
		if counts[what] == 0 && !t.Failed() {
			t.Errorf("%d runs without any %v", n, what)
		}
	}
}

// In a large pool, a lease finds a free worker when there is one, at its first try.
func TestSimLarge(t *testing.T) {
	n := 60
	counts := simTest(t, n, simLarges.run)
	for _, what := range []simCount{simMinted, simTakeovers, simGivenBack} {
		if counts[what] == 0 && !t.Failed() {
			t.Errorf("%d runs without any %v", n, what)
		}
	}
}

// An outage of less than half of the window goes unnoticed. A silent store costs a request's
// time-out more.
func TestSimShortOutage(t *testing.T) {
	counts := simTest(t, 60, simShortOutages.run)
	if counts[simOutageHits] == 0 {
		t.Error("no outage was met")
	}
}

// After an outage longer than the window, all generators mint again within a second; if the store
// was silent, within a time-out more.
func TestSimLongOutage(t *testing.T) {
	counts := simTest(t, 60, simLongOutages.run)
	if counts[Expired+EventKind(simEvents)] == 0 && !t.Failed() {
		t.Error("no lease expired")
	}
}

// Clocks that jump and come right again while hardly an ID is made stop no generator, even if
// replies are lost, processes crash and the store hangs.
func TestSimIdle(t *testing.T) {
	n := max(400, *simSeeds)
	if testing.Short() {
		n = 100
	}
	counts := simTest(t, n, simIdles.run)
	for _, what := range []simCount{simTakenBack, simEvents + simCount(Withdrawn), simAlive, simInherited} {
		if counts[what] < 40 && n >= 400 && !t.Failed() && *simSeed < 0 {
			t.Errorf("%d %v", counts[what], what)
		}
	}
}

// Another process gets the worker of a crashed process within a window.
func TestSimCrash(t *testing.T) {
	simTest(t, 60, simCrashRuns.run)
}

// The simulation passes on a panic with a foreign error.
func TestSimRecovers(t *testing.T) {
	defer func() {
		if r := recover(); r == nil || !errors.Is(r.(error), errSimLost) {
			t.Errorf("a panic in a lease is %v", r)
		}
	}()
	s := newSimulation(1, simQuiet(1), false)
	l := &simLease{s: s, process: s.processes[0]}
	l.start(func() { panic(fmt.Errorf("a panic: %w", errSimLost)) })
	s.runUntil(simStart + 1_000_000)
}
