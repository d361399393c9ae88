package lease

import (
	"container/heap"
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// The simulation runs the code of leases itself, many leases of many processes, in a simulated world: time,
// clocks, a network and a store. All of it is one thread. A lease is a coroutine, and hands control
// back wherever the lease sleeps or asks the store. So a run is a function of the seed alone, and a
// failure can be repeated.
//
//	sim_world_test.go  true time, clocks, coroutines, contexts
//	sim_store_test.go  the network and the store
//	sim_judge_test.go  what must hold
//	sim_life_test.go   what processes do, and what happens to them
//	sim_profile_test.go  the settings of a run
//	sim_kinds_test.go  kinds of runs
//	sim_confirm_test.go  callers that confirm IDs
//	sim_recovery_test.go restores of the store from backups, and recoveries
//	sim_test.go        the tests
//	bad_designs_test.go  stores, generators and settings with a fault, which the judge must find
//
// Times are microseconds.

const (
	simStart = int64(1_780_000_000_000_000) // true time when a run begins, in Unix microseconds
	simNever = int64(math.MaxInt64)
)

// simulation is one run.
type simulation struct {
	simProfile
	random    *rand.Rand
	now       int64 // true time
	queue     simQueue
	order     uint64
	calm      bool      // nothing has gone wrong and nothing will: the most is demanded
	design    badDesign // none in runs that have to go well
	without   simCheck  // is left out
	missed    bool      // it would have found something
	onlyTwice bool      // nothing matters but an ID that is made twice

	processes  []*simProcess
	leases     []*simLease
	store      simStore
	judge      simJudge
	names      uint64 // so many were drawn
	recoverers []*simLease
	unsafe     int   // how many recoveries have to come to an end
	ahead      int64 // how far the clock of recoveries is
	floor      int64 // the highest that any has found

	hash    uint64     // of all that happened
	counts  simCounts  // of what happened
	moves   simMoves   // how often leases went from one phase to another
	verdict *simReport // the first thing that was wrong
	traced  bool
	lines   []simLine
}

// simReport is what was wrong, and the worker concerned or -1.
type simReport struct {
	check   simCheck
	message string
	worker  int
}

// A simLine is one line of a trace.
type simLine struct {
	worker int
	text   string
}

// A simEvent happens at a time. Events of the same time happen in an order that depends on the
// seed.
type simEvent struct {
	at    int64
	chaos uint32
	order uint64
	do    func()
}

type simQueue []simEvent

func (q simQueue) Len() int { return len(q) }
func (q simQueue) Less(i, j int) bool {
	a, b := &q[i], &q[j]
	if a.at != b.at {
		return a.at < b.at
	}
	if a.chaos != b.chaos {
		return a.chaos < b.chaos
	}
	return a.order < b.order
}
func (q simQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *simQueue) Push(x any)   { *q = append(*q, x.(simEvent)) }
func (q *simQueue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// at schedules do for a time, or for now if the time has passed.
func (s *simulation) at(at int64, do func()) {
	s.order++
	heap.Push(&s.queue, simEvent{max(at, s.now), s.random.Uint32(), s.order, do})
}

func (s *simulation) after(d int64, do func()) { s.at(s.now+d, do) }

// runUntil runs the events before a time, or until something is wrong.
func (s *simulation) runUntil(end int64) {
	for len(s.queue) > 0 && s.queue[0].at < end && s.verdict == nil {
		e := heap.Pop(&s.queue).(simEvent)
		s.now = e.at
		e.do()
	}
	if s.verdict == nil {
		s.now = end
	}
}

// wrong ends the run, unless the check was left out.
func (s *simulation) wrong(check simCheck, worker int, format string, args ...any) {
	if s.verdict != nil || s.onlyTwice && format != simSameID {
		return
	}
	if s.without == check {
		s.missed = true
		return
	}
	s.verdict = &simReport{check, fmt.Sprintf(format, args...), worker}
	s.note(worker, "WRONG", nil, func() string { return s.verdict.message })
}

// note adds a happening to the trace and its hash.
func (s *simulation) note(worker int, what string, l *simLease, text func() string, numbers ...int64) {
	mix := func(v uint64) { s.hash = (s.hash ^ v) * 0x100000001b3 }
	mix(uint64(s.now))
	mix(uint64(worker))
	for i := range len(what) {
		mix(uint64(what[i]))
	}
	if l != nil {
		mix(uint64(l.number))
	}
	for _, n := range numbers {
		mix(uint64(n))
	}
	if !s.traced {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%12s ", simTime(s.now))
	if l != nil {
		fmt.Fprintf(&b, "%s (clock %s) ", l.name, simTime(l.clock()))
	}
	b.WriteString(what)
	if text != nil {
		b.WriteString(": " + text())
	}
	s.lines = append(s.lines, simLine{worker, b.String()})
}

// simTime writes a time as seconds since the run began.
func simTime(us int64) string {
	return time.Duration((us - simStart) * int64(time.Microsecond)).String()
}

// chance returns true with probability p.
func (s *simulation) chance(p float64) bool { return p > 0 && s.random.Float64() < p }

// between returns a number in [low, high].
func (s *simulation) between(low, high int64) int64 {
	if high <= low {
		return low
	}
	return low + s.random.Int64N(high-low+1)
}

// exponential returns a random span with a mean, as between independent events.
func (s *simulation) exponential(mean float64) int64 {
	return int64(min(s.random.ExpFloat64()*mean, 1e15)) + 1
}

// simClock is a machine's clock: processes may share one.
type simClock struct{ offset int64 }

// simProcess is a process. Nothing is left of a dead process.
type simProcess struct {
	s       *simulation
	number  int
	clock   *simClock
	frozen  int64 // it does not run until then
	dead    bool
	cutOut  int64 // nothing it sends until then arrives
	cutBack int64 // no reply until then arrives
}

// freeze stops the process for a while: nothing reaches it until then.
func (p *simProcess) freeze(d int64) {
	s := p.s
	until := min(s.now+d, s.faultsEnd)
	if until <= p.frozen || p.dead {
		return
	}
	p.frozen = until
	s.counts[simFreezes]++
	s.note(-1, "freeze", nil, func() string { return fmt.Sprintf("p%d until %s", p.number, simTime(until)) }, int64(p.number), until)
}

// run calls do in the process, now or after the freeze.
func (p *simProcess) run(do func()) {
	switch {
	case p.dead:
	case p.frozen > p.s.now:
		p.s.at(p.frozen, func() { p.run(do) })
	default:
		do()
	}
}

// simLease is one lease: Start, the renewals, and Close.
type simLease struct {
	s       *simulation
	process *simProcess
	me      holding
	number  int // the ledger's name of it: nothing that the lease says of itself is believed
	name    string
	config  Config

	threads []*simThread // those that have not ended; the first is the lease's own
	running *simThread   // the one that runs now; nil if none does
	ctx     *simContext

	stage     simStage
	lease     *Lease
	generator simGenerator
	ended     error // why Start failed, or what Close returned
	seen      simSeen
	phase     phase // of the lease, as judgePhase last saw it
	minted    int   // IDs
	idle      bool  // it is asked for one now and then
	top       int64 // the time of the latest
	granted   int64 // where the times end that the generator was told of last
	renewed   int64 // when the lease last said that it has times
	over      bool  // they were over then or in a moment, or it has said since that it has none
	closing   bool  // it is being closed within Notify, or was closed before it had a worker
	begins    bool  // it starts in the background
	foreign   bool  // its generator is for other IDs than the pool
	naps      int   // short sleeps in a row
	last      int64 // when it made the last one
	greatest  simID
	latest    simMint
	waiting   int   // callers of Confirm
	hungLooks int   // in which the store hung
	refused   error // why it got none the last time; nil if it got one
	ready     int64 // when Start returned
	keeping   int64 // when Start began
}

// A simStage is a stage in the life of a lease.
type simStage uint8

const (
	simOpening simStage = iota
	simMinting          // Start has returned
	simClosing
	simClosed // Close has returned
	simFailed // Start has failed
)

// A simThread is a coroutine of a lease.
type simThread struct {
	resume  func() (struct{}, bool)
	kill    func()
	yield   func(struct{}) bool
	wait    *simWait
	spawned bool // by the lease, for a request or for looks
}

// A simWait is a wait of a coroutine.
type simWait struct {
	thread *simThread
	ctx    context.Context
	ready  <-chan struct{} // it waits for this, if it is not nil
	done   bool            // it will be resumed
	err    error
	take   func() // the result that it is resumed with
}

// simDeath unwinds a coroutine of a dead process.
type simDeath struct{}

// start starts the coroutine of a lease.
func (l *simLease) start(life func()) {
	t := l.newThread(life)
	l.s.after(0, func() { l.process.run(func() { l.goOn(t) }) })
}

func (l *simLease) newThread(life func()) *simThread {
	t := new(simThread)
	t.resume, t.kill = iter.Pull(func(yield func(struct{}) bool) {
		defer func() {
			if r := recover(); r != nil && r != (simDeath{}) {
				panic(r)
			}
		}()
		t.yield = yield
		life()
	})
	l.threads = append(l.threads, t)
	return t
}

// kill ends all coroutines of the lease.
func (l *simLease) kill() {
	for _, t := range l.threads {
		t.kill()
	}
	l.threads = nil
}

// goOn runs a coroutine of the lease up to its next wait or its end.
func (l *simLease) goOn(t *simThread) {
	before := l.running
	l.running = t
	_, more := t.resume()
	l.running = before
	if !more {
		l.threads = slices.DeleteFunc(l.threads, func(other *simThread) bool { return other == t })
	}
	l.poll()
}

// poll ends the waits for channels that are ready. Only coroutines of the lease make them ready.
func (l *simLease) poll() {
	for i := 0; i < len(l.threads); i++ { // finish may run coroutines, which poll again
		if w := l.threads[i].wait; w != nil && !w.done {
			select {
			case <-w.ready:
				l.finish(w, nil, nil)
			default:
			}
		}
	}
}

// park waits until finish is called. If the context ends first, park returns its error.
func (l *simLease) park(begin func(w *simWait)) error { return l.parkFor(context.Background(), begin) }

func (l *simLease) parkFor(ctx context.Context, begin func(w *simWait)) error {
	t := l.running
	w := &simWait{thread: t, ctx: ctx}
	t.wait = w
	if deadline, ok := ctx.Deadline(); ok {
		l.s.at(deadline.UnixMicro(), func() { l.finish(w, context.DeadlineExceeded, nil) })
	}
	begin(w)
	if !t.yield(struct{}{}) {
		panic(simDeath{})
	}
	t.wait = nil
	if w.err == nil && w.take != nil {
		w.take()
	}
	return w.err
}

// finish ends a wait. A frozen process notices later. If several things have happened by then, the
// process may notice any of them first.
func (l *simLease) finish(w *simWait, err error, take func()) {
	t := w.thread
	if t.wait != w || l.process.dead {
		return
	}
	if w.done {
		if l.s.chance(0.5) {
			w.err, w.take = err, take
		}
		return
	}
	w.done, w.err, w.take = true, err, take
	if l.process.frozen > l.s.now {
		l.s.counts[simFrozenReplies]++
	}
	l.process.run(func() {
		if t.wait == w {
			l.goOn(t)
		}
	})
}

// cancel ends the lease's context.
func (l *simLease) cancel() {
	l.ctx.cancelled = true
	for _, t := range slices.Clone(l.threads) {
		if w := t.wait; w != nil && w.ctx.Err() != nil {
			l.finish(w, context.Canceled, nil)
		}
	}
}

// halt is a place where the process may freeze or die, between two requests to the world.
func (l *simLease) halt(where simCount) {
	s := l.s
	if s.now >= s.faultsEnd {
		return
	}
	switch {
	case l.number == simRecoverer:
		if s.chance(s.interrupts) {
			s.after(0, func() { s.interrupt(l) })
			l.park(func(*simWait) {})
		}
	case s.chance(s.haltFreeze):
		s.counts[where]++
		l.process.freeze(s.freezeSpan())
		l.park(func(w *simWait) { s.after(0, func() { l.finish(w, nil, nil) }) })
	case s.chance(s.haltCrash):
		s.counts[where]++
		s.after(0, func() { s.crash(l.process) })
		l.park(func(*simWait) {})
	}
}

// clock returns the time by the clock of the lease's process.
func (l *simLease) clock() int64 { return l.s.now + l.process.clock.offset }

func (l *simLease) time() time.Time { return time.UnixMicro(l.clock()).UTC() }

// newName returns a name that no lease had before.
func (s *simulation) newName() string {
	s.names++
	return fmt.Sprintf("%032x", s.names)
}

// A simWorld is the world of a lease: its coroutines, and true time.
type simWorld struct{ l *simLease }

// spawn runs f in a coroutine of its own.
func (w simWorld) spawn(f func()) {
	t := w.l.newThread(f)
	t.spawned = true
	w.l.goOn(t)
}

func (w simWorld) wait(ctx context.Context, d time.Duration, ready <-chan struct{}) (waited time.Duration, err error) {
	l := w.l
	select {
	case <-ready:
		return 0, nil
	default:
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if ready == nil {
		l.judgeNap(d)
	}
	began := l.s.now
	err = l.parkFor(ctx, func(wait *simWait) {
		wait.ready = ready
		if d < forever {
			l.s.after(max(d.Microseconds(), 1), func() { l.finish(wait, nil, nil) })
		}
	})
	return min(time.Duration(l.s.now-began)*time.Microsecond, d), err
}

// judgeNap judges a sleep: a lease must not only sleep for a moment, again and again.
func (l *simLease) judgeNap(d time.Duration) {
	if l.naps++; d > time.Millisecond {
		l.naps = 0
	}
	if l.naps > 100 {
		l.s.wrong(checkAlive, -1, "%s does nothing but sleep for %v", l.name, d)
	}
}

func (w simWorld) timeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	c := &simContext{s: w.l.s, parent: ctx, deadline: w.l.s.now + d.Microseconds()}
	return c, func() { c.cancelled = true }
}

// A simContext ends by true time, or when cancelled. No code waits for its Done: all waits are the
// simulation's.
type simContext struct {
	s         *simulation
	parent    context.Context
	deadline  int64
	cancelled bool
}

func (c *simContext) Deadline() (time.Time, bool) {
	deadline, ok := c.parent.Deadline()
	if c.deadline == simNever {
		return deadline, ok
	}
	own := time.UnixMicro(c.deadline)
	if ok && deadline.Before(own) {
		return deadline, true
	}
	return own, true
}

func (c *simContext) Err() error {
	switch {
	case c.cancelled:
		return context.Canceled
	case c.s.now >= c.deadline:
		return context.DeadlineExceeded
	}
	return c.parent.Err()
}

func (c *simContext) Done() <-chan struct{} { return nil }
func (c *simContext) Value(key any) any     { return c.parent.Value(key) }
