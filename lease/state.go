package lease

import "time"

// A phase is how far a lease has come with its worker. Methods lead from phase to phase:
//
//	searching ──adopt──▶ holding ──withdraw──▶ withdrawn
//	                      │ ▲ ▲                  │ │
//	                 lose │ │ └──────adopt───────┘ │ lose
//	                      │ │                      │
//	                      │ │ adopt                │
//	                      ▼ │                      │
//	                      lost ◀───────────────────┘
//
//	searching, holding, withdrawn, lost ──close──▶ closed
//
// A lease is closed while searching only if it starts in the background.
// A lease that finds another worker goes from lost to holding. If the store has lost changes, the
// lease stays in lost until the pool was recovered. The simulation checks the drawing.
type phase uint8

const (
	// phaseSearching: the lease has not found a worker yet.
	phaseSearching phase = iota
	// phaseHolding: the record is the lease's, and the generator has the interval up to its end.
	phaseHolding
	// phaseWithdrawn: the record is the lease's, but the interval ahead of the clock was taken back
	// from the generator.
	phaseWithdrawn
	// phaseLost: the worker has no more intervals for the lease. The generator may mint up to the
	// end of its last interval.
	phaseLost
	// phaseClosed: the lease seals the generator, gives back its worker, and changes nothing more.
	phaseClosed
)

func (p phase) String() string {
	return [...]string{"searching", "holding", "withdrawn", "lost", "closed"}[p]
}

// state is what a lease knows of its worker. Times are Unix microseconds.
type state struct {
	phase phase
	why   error // why the worker was lost; not nil in phaseLost

	// held is the record as the lease last wrote it. In phaseLost, held is the last worker's
	// record.
	held stored

	// granted is the end of what the generator may mint in. In phaseHolding, granted is
	// held.Until until the worker is given back. In phaseWithdrawn, granted is before held.Until.
	granted int64

	// since is the start of the worker's first interval. Later intervals may begin before since:
	// the first interval may have been ahead of the clock.
	since int64

	// prior: no other lease had timestamps of the worker in [prior, held.Until). Prior is not after
	// since.
	prior int64

	// begins is the start of the last interval after a gap, and zero once the lease has tried to
	// take the interval back.
	begins int64

	// least is the earliest end that any request at the revision of held has asked for. Least is
	// not after held.Until.
	least int64

	// after is where the generator's intervals of earlier workers end.
	after int64

	// lead is how far ahead of the clock the interval ended when it was granted: from a tenth of
	// the window to the window.
	lead int64

	expired bool   // the event Expired was raised for the present interval
	waiting string // the reason given in the last event Waiting; "" if the lease has a worker
}

// closed reports whether the lease was closed.
func (s *state) closed() bool { return s.phase == phaseClosed }

// takeBack lowers granted to unused. A lease that holds its worker enters phaseWithdrawn.
func (s *state) takeBack(unused int64) {
	s.granted = unused
	if s.phase == phaseHolding {
		s.phase = phaseWithdrawn
	}
}

// lose enters phaseLost, unless the lease was closed.
func (s *state) lose(why error) {
	if !s.closed() {
		s.phase, s.why = phaseLost, why
	}
}

// close enters phaseClosed. It reports whether the lease had a worker to give back.
func (s *state) close() (had bool) {
	had = s.phase == phaseHolding || s.phase == phaseWithdrawn
	s.phase = phaseClosed
	return had
}

// adopt enters phaseHolding with the lease's own record.
func (l *Lease) adopt(got stored, kind EventKind) {
	if kind == Acquired {
		l.since = got.From
		l.after = max(l.after, l.granted)
	}
	if kind == Acquired || got.From > l.granted {
		l.begins = got.From
	}
	l.phase, l.why = phaseHolding, nil
	l.held, l.granted, l.least = got, got.Until, got.Until
	l.expired, l.waiting = false, ""
	l.expect()
}

// grant grants the interval of the record to the generator.
func (l *Lease) grant(got stored, kind EventKind) error {
	window := l.config.Window.Microseconds()
	l.lead = min(max(got.Until-max(l.now(), l.own()), window/10), window) // the interval may have ended already
	clear(l.attempts)
	from, until := time.UnixMicro(got.From).UTC(), time.UnixMicro(got.Until).UTC()
	l.mu.Lock()
	lastWorker, lastUntil, trouble := l.worker, l.until, l.trouble
	l.worker, l.until = got.Worker, until
	if l.left() > 0 { // the store may have answered too late
		l.trouble = nil
	}
	l.mu.Unlock()
	// A program that logs events has logged this one before the first ID of the interval.
	l.notify(Event{Kind: kind, Worker: got.Worker, From: from, Until: until})
	if l.closed() {
		return nil
	}
	before := l.numbers.granted.Swap(l.granted) // callers with an ID find that time is left
	if err := l.generator.Grant(got.Worker, from, until); err != nil {
		l.numbers.granted.Store(before)
		l.mu.Lock()
		l.worker, l.until, l.trouble = lastWorker, lastUntil, trouble
		l.mu.Unlock()
		return err
	}
	if kind == Renewed {
		l.numbers.renewals.Add(1)
	}
	return nil
}

// ends returns until when the generator can mint. For a generator without an interval, ends returns
// now.
func (l *Lease) ends() int64 { return max(l.granted, min(l.since, l.now())) }

// left returns for how long the generator can mint.
func (l *Lease) left() time.Duration { return time.UnixMicro(l.ends()).Sub(l.config.clock()) }
