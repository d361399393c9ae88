package lease

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// RecoveryConfig holds the settings of a recovery. The zero RecoveryConfig suits leases with the default
// windows, and clocks that differ by up to a minute.
type RecoveryConfig struct {
	// Window is the longest window of any lease of the pool. A longer window in the records counts
	// instead: the pool's record has the longest window of all leases, if it is longer than 10 s. 0
	// means 10 s.
	Window time.Duration

	// Skew is how far the clock of any process with a lease may be ahead: of this clock or, if the
	// store has a clock, of the store's. 0 means a minute. Histories of workers are right if any two
	// clocks differ by at most the Skew (see [Pool.HolderAt]).
	Skew time.Duration

	// TrustClock makes the recovery accept this clock where the store disagrees, without an error
	// that is [ErrClockSkew]. A worker used further ahead than the settings allow is then kept out
	// for longer than the other workers: for the age of the pool.
	TrustClock bool

	// Layouts are the possible layouts of the pool. A pool of another layout is an error that is
	// [ErrPoolMismatch]. A recovery needs Layouts only if the pool's own record is missing or damaged,
	// and makes the record again, with the layout named by the workers' records. If no record names
	// a layout, Layouts must have one element.
	Layouts []grant.Layout

	// Create makes the pool if the store has no record of the pool. Set Create only if you know that
	// the name and the store are right: a misspelt name begins a second pool for the same IDs.
	Create bool

	// Adopt accepts a copy of the store ([driver.ErrCopied]): the pool is of the copy from now on. Set Adopt only
	// if nothing uses the original any more, and recover all pools of the copy.
	Adopt bool

	// Progress, if not nil, is called with the number of records done, and of all records.
	Progress func(done, of int)

	clock   func() time.Time // nil means time.Now
	newName func() string    // as in Config
	world   world            // nil for the real one
	timeout time.Duration    // of a request; 0 means a minute
	lanes   int              // how many records are written at once; 0 means 16
}

// A Recovery is the result of a recovery.
type Recovery struct {
	Pool   *Pool
	Floor  time.Time // no lease gets a worker before the floor
	Raised int       // how many records the recovery found
	Made   int       // how many records were missing or damaged, and were made again
	Anew   bool      // the pool's own record was made again, too
	Ahead  []Worker  // the workers that are kept out for longer, see RecoveryConfig.TrustClock
}

// RecoverPool makes a pool safe to use after its store has lost changes: the store was restored from a
// backup, or records are missing or damaged. The pool's own record may be lost, too (see
// RecoveryConfig.Layouts), or all records (see RecoveryConfig.Create). RecoverPool ends all leases of the
// pool. The generators go on to the end of the intervals. No lease gets a worker before the floor: a
// window and the skew from now. After the floor, leases go on by themselves.
//
// If the store has gone back to an earlier state, let no process that takes workers of the pool
// reach the store until RecoverPool has returned. If records are missing or damaged, processes may go
// on: no lease takes a worker whose record is missing or damaged. After an error of RecoverPool the pool may
// refuse leases, with an error that is [ErrRecovering], until RecoverPool is run again. Each run does the whole
// recovery.
//
// With RecoveryConfig.Create, RecoverPool prepares the store first, as [Create] does: the table of a database may
// be lost, too.
//
// # Why it is safe
//
// Nobody knows which intervals leases were given. But no lease asks for an interval that ends later
// than its window after its clock. So all intervals end before the floor, if the clocks are as the
// settings say, and no timestamp from the floor on was given out. If the store remembers a later
// end of a worker, the later end counts.
//
//  1. RecoverPool writes the pool's own record, with the next generation and the floor. The generation
//     keeps leases away from workers whose records are not raised yet: records of an earlier
//     generation are refused. The generation is the time of the recovery, and so a later one even if
//     the backup knows nothing of the last recovery. The floor is for workers that the store has
//     forgotten, because their first use came after the backup: their new records begin at the
//     floor.
//  2. RecoverPool writes each worker's record, at the record's own revision: with the new generation,
//     without a holder, and used up to the floor. A lease with the worker meets another revision at
//     the next renewal.
//
// After an interruption between the two steps, the records that were not raised are refused. The next recovery begins a new
// generation: the store may be a backup of an interrupted recovery.
func RecoverPool(ctx context.Context, store driver.Store, name string, c RecoveryConfig) (*Recovery, error) {
	c, err := c.settle()
	if err != nil {
		return nil, err
	}
	if p, ok := store.(driver.Preparer); ok && c.Create && len(c.Layouts) > 0 && checkName(name) == nil {
		if err := p.Prepare(ctx); err != nil {
			return nil, err
		}
	}
	r := &recoverer{name: name, store: timed{at: newAt(store), clock: c.clock, world: c.world, limit: c.timeout}, RecoveryConfig: c}
	for {
		if err = r.look(ctx); err != nil {
			return nil, err
		}
		if err = r.begin(ctx); !errors.Is(err, driver.ErrConflict) {
			break
		}
	}
	if err == nil {
		err = r.raiseAll(ctx)
	}
	if err == nil {
		err = r.confirm(ctx)
	}
	if err != nil {
		return nil, ofPool(name, "the recovery was not finished, run it again: %w", err)
	}
	r.pool.store = store
	r.result.Pool = r.pool
	return &r.result, nil
}

func (c RecoveryConfig) settle() (RecoveryConfig, error) {
	c.Window = cmp.Or(c.Window, DefaultWindow)
	c.Skew = cmp.Or(c.Skew, DefaultMaxSkew)
	c.timeout = cmp.Or(c.timeout, time.Minute)
	if c.Window < time.Millisecond || c.Skew < time.Millisecond {
		return c, fmt.Errorf("%w: a window or a skew of less than 1ms", ErrConfig)
	}
	if c.Progress == nil {
		c.Progress = func(int, int) {}
	}
	setReal(&c.clock, &c.newName, &c.world)
	c.lanes = cmp.Or(c.lanes, 16)
	return c, nil
}

// A recoverer is one run of RecoverPool.
type recoverer struct {
	RecoveryConfig
	store timed

	name    string
	before  *poolRecord // as the recovery found it, or as it may have been
	rev     driver.Revision
	after   poolRecord         // as the recovery writes it
	pool    *Pool              // by which the recovery reads records
	records map[int]recovering // of all workers that the pool names or that have a record
	reached int64              // how far ahead of its clock any lease may have asked for timestamps
	result  Recovery
}

// recovering is a worker's record, and what becomes of the record.
type recovering struct {
	found record
	rev   driver.Revision
	lost  bool // it is missing or damaged
	until int64
}

// look reads all records, and settles the new ones before anything is changed.
func (r *recoverer) look(ctx context.Context) error {
	before, rev, lost := readPool(ctx, r.store, r.name)
	r.before, r.rev = before, rev
	switch {
	case lost != nil && !r.canMake(lost):
		return lost
	case lost == nil && len(r.Layouts) > 0 && !slices.ContainsFunc(r.Layouts, func(l grant.Layout) bool { return checkSame(r.name, before.layout(), l) == nil }):
		return checkSame(r.name, before.layout(), r.Layouts[0])
	case lost == nil && !r.Adopt:
		if err := before.checkPlace(r.store, r.name); err != nil {
			return err
		}
	}
	entries, err := list(ctx, r.store, workersKey(r.name))
	if err != nil {
		return err
	}
	now, err := r.now(ctx)
	if err != nil {
		return err
	}
	r.result = Recovery{}
	if lost != nil {
		if r.before, err = r.anew(entries, now); err != nil {
			return err
		}
		r.result.Anew = true
	}
	r.pool = newPool(r.store, r.name, r.before)
	r.records = make(map[int]recovering)
	generation, window := r.before.Generation, max(r.Window.Microseconds(), r.before.Window)
	for _, e := range entries {
		worker, ok := workerOf(r.name, e.Key)
		if !ok || worker >= r.before.Workers {
			continue
		}
		found, err := r.read(e, worker)
		if err != nil {
			return err
		}
		r.records[worker] = found
		generation, window = max(generation, found.found.Generation), max(window, found.found.Window)
	}
	for _, m := range r.before.Made {
		for worker := m[0]; worker < m[1]; worker++ {
			if _, ok := r.records[worker]; !ok {
				r.records[worker] = recovering{lost: true}
			}
		}
	}
	r.after = *r.before
	r.after.Place = r.before.at
	r.after.Generation = max(generation+1, now/1000)
	r.reached = r.reach(window)
	floor := tickEnd(r.pool.layout, now+r.reached)
	if err := r.settleAll(now, window, floor); err != nil {
		return err
	}
	r.after.Floor = max(floor, r.before.Floor)
	if window > DefaultWindow.Microseconds() {
		r.after.Window = window
	}
	r.after.Version = r.after.version()
	return nil
}

// canMake reports whether the recovery makes a pool's record again. Why says why the record cannot be
// read.
func (r *recoverer) canMake(why error) bool {
	switch {
	case len(r.Layouts) == 0 || errors.Is(why, ErrVersion):
		return false
	case errors.Is(why, ErrDamaged):
		return r.rev != driver.None // no Put replaces an entry without a revision
	}
	return errors.Is(why, ErrMissing) || errors.Is(why, ErrNoPool) && r.Create
}

// anew returns a new record for a pool without its own, after the records of its workers. The time
// of creation is lost.
func (r *recoverer) anew(entries []driver.Entry, now int64) (*poolRecord, error) {
	type identity struct{ uuid, layout string }
	count := make(map[identity]int)
	var most identity // that of most records: some may be of an earlier pool
	for _, e := range entries {
		var found record
		if e.Err != nil || decode(e.Value, &found) != nil || len(found.Pool) != 36 {
			continue // judged later, by read
		}
		id := identity{found.Pool, found.Layout}
		if count[id]++; count[id] > count[most] {
			most = id
		}
	}
	var layout grant.Layout
	switch i := slices.IndexFunc(r.Layouts, func(l grant.Layout) bool { return layoutHash(l) == most.layout }); {
	case i >= 0:
		layout = r.Layouts[i]
	case most.uuid != "":
		given := "any given layout"
		if l := r.Layouts[0]; len(r.Layouts) == 1 {
			given = fmt.Sprintf("%s with epoch %s, unit %v and widths %v", l.Format, timeText(l.Epoch), l.Unit, l.Widths)
		}
		return nil, ofPool(r.name, "%w: its own record is lost, and %d records of its workers are not of %s",
			ErrPoolMismatch, count[most], given)
	case len(r.Layouts) > 1:
		return nil, ofPool(r.name, "%w: its own record is lost, and no other one says what it was for", ErrConfig)
	default:
		layout, most.uuid = r.Layouts[0], newUUID()
	}
	if err := checkLayout(layout); err != nil {
		return nil, err
	}
	p := *newPoolRecord(most.uuid, layout, now)
	for _, e := range entries {
		if worker, ok := workerOf(r.name, e.Key); ok && worker < p.Workers && !p.made(worker) {
			if more := p.withMade(worker); more.fits() { // an unnamed record is raised before its worker is used
				p = more
			}
		}
	}
	return &p, nil
}

// reach is how far ahead of now a lease may have asked for timestamps: a window and the skew, and a
// few ticks and a moment's grace for intervals ahead of the lease's clock.
func (r *recoverer) reach(window int64) int64 {
	return window + r.Skew.Microseconds() + grace.Microseconds() + (minTicks+1)*r.pool.layout.Unit.Microseconds()
}

// read decodes a worker's record. A damaged record is lost, and so is a record of another pool; but
// the end of the latter counts. A record of another version, or an unreadable one, is an error:
// RecoverPool leaves such a record alone.
func (r *recoverer) read(e driver.Entry, worker int) (recovering, error) {
	s, err := r.pool.read(e, worker, r.before.Generation)
	switch {
	case err == nil || errors.Is(err, ErrRecovering) || errors.Is(err, errAhead):
		return recovering{found: s.record, rev: s.rev}, nil
	case errors.Is(err, errForeign):
		return recovering{found: s.record, rev: s.rev, lost: true}, nil
	case errors.Is(err, ErrDamaged) && e.Revision != driver.None:
		return recovering{rev: e.Revision, lost: true}, nil
	}
	return recovering{}, err
}

// now returns the time to reckon the floor from.
func (r *recoverer) now(ctx context.Context) (int64, error) {
	before := r.clock()
	if r.TrustClock {
		return before.UnixMicro(), nil
	}
	reference, ok, err := r.store.now(ctx)
	now := r.clock()
	switch {
	case !ok || err != nil:
		return now.UnixMicro(), err
	case reference.Before(before.Add(-r.Skew)) || reference.After(now.Add(r.Skew)):
		return 0, &SkewError{Pool: r.name, Now: now, Reference: reference, OfStore: true}
	}
	return max(now.UnixMicro(), reference.UnixMicro()), nil
}

// settleAll settles up to when the timestamps of each worker count as used.
//
// Records speak for and against the clock. If the median of the records is old, the clock may be
// far ahead, and the floor would keep all leases out until then. If a record ends after the floor,
// a clock was ahead by more than the skew, or this clock is behind. Then the floor is not a bound:
// an unknown worker may have been used as far ahead.
//
// If the operator trusts this clock, only the worker beyond the floor is in doubt. Its timestamps
// are safe from later on by as much as the backup may be old, which is at most the age of the pool.
func (r *recoverer) settleAll(now, window, floor int64) error {
	used := []int64{r.before.Created}
	ahead := -1
	for worker, s := range r.records {
		if s.found.Until > max(floor, r.before.Floor) && (ahead < 0 || s.found.Until > r.records[ahead].found.Until) {
			ahead = worker
		}
		if s.found.Until > r.before.Floor {
			used = append(used, s.found.Until)
		}
	}
	slices.Sort(used)
	median := max(used[len(used)/2], r.before.Floor)
	if !r.TrustClock && now > median+DefaultMaxIdle.Microseconds() {
		return &SkewError{Pool: r.name, Now: time.UnixMicro(now), Reference: time.UnixMicro(median)}
	}
	if !r.TrustClock && ahead >= 0 {
		until := time.UnixMicro(r.records[ahead].found.Until)
		return ofPool(r.name, "worker %d: %w: its timestamps are used up to %s, %s after now: a clock was ahead by more than %v, or this clock is behind",
			ahead, ErrClockSkew, timeText(until), span(until.Sub(time.UnixMicro(now)).Round(time.Millisecond)), r.Skew)
	}
	age := max(now-r.before.Created, 0)
	if r.result.Anew { // the time of creation is lost
		age = max(now-r.before.Epoch, 0)
	}
	for worker, s := range r.records {
		s.until = max(floor, r.before.Floor)
		if s.found.Until > s.until {
			s.until = tickEnd(r.pool.layout, s.found.Until+age+r.reach(window))
			w := s.found.worker()
			w.Until = time.UnixMicro(s.until).UTC()
			r.result.Ahead = append(r.result.Ahead, w)
		}
		r.records[worker] = s
	}
	slices.SortFunc(r.result.Ahead, func(a, b Worker) int { return a.Number - b.Number })
	return nil
}

// begin writes the pool's record. The error is a driver.ErrConflict if the record has changed since
// look.
func (r *recoverer) begin(ctx context.Context) error {
	key, value := poolKey(r.name), encode(&r.after)
	_, err := r.store.Put(ctx, key, value, r.rev)
	if err == nil {
		return nil
	}
	e, unread := r.store.Get(ctx, key)
	switch {
	case unread != nil:
		return err
	case string(e.Value) == string(value): // the request was done
		return nil
	case e.Revision != r.rev:
		return fmt.Errorf("%w: %w", driver.ErrConflict, err)
	}
	return err // the request was not done, or not yet
}

// raiseAll writes the records of all workers.
func (r *recoverer) raiseAll(ctx context.Context) error {
	workers := make(chan int, len(r.records))
	for _, worker := range slices.Sorted(maps.Keys(r.records)) {
		workers <- worker
	}
	close(workers)
	var mu sync.Mutex // guards failed, done and calls of Progress
	var failed error
	done := 0
	lane := func() {
		for worker := range workers {
			err := r.raise(ctx, worker)
			mu.Lock()
			if failed == nil {
				failed = err
			}
			stop := failed != nil
			if done++; !stop {
				r.Progress(done, len(r.records))
			}
			mu.Unlock()
			if stop {
				return
			}
		}
	}
	var all sync.WaitGroup
	for range r.lanes - 1 {
		all.Go(lane)
	}
	lane()
	all.Wait()
	for _, s := range r.records {
		if s.lost {
			r.result.Made++
		} else {
			r.result.Raised++
		}
	}
	r.result.Floor = time.UnixMicro(r.after.Floor).UTC()
	return failed
}

// raise writes a worker's record, at any revision: until the record is written, a lease from before
// may be renewing the worker.
func (r *recoverer) raise(ctx context.Context, worker int) error {
	s, key := r.records[worker], workerKey(r.name, worker)
	for {
		next := r.pool.unused(worker, term{r.after.Generation, max(s.until, s.found.Until)})
		next.Holders, next.others = r.history(s), s.found.others
		if s.lost || s.found.Attempt != "" {
			next.Attempt = r.newName() // the record counts as used
		}
		value := encode(next)
		_, err := r.store.Put(ctx, key, value, s.rev)
		if err == nil {
			return nil
		}
		e, unread := r.store.Get(ctx, key)
		switch {
		case errors.Is(unread, driver.ErrNotFound):
			if s.rev != driver.None {
				return r.pool.missing(worker)
			}
			return err
		case unread != nil:
			return err
		case string(e.Value) == string(value):
			return nil
		case e.Revision == s.rev:
			return err
		}
		again, unread := r.read(e, worker)
		if unread != nil {
			return unread
		}
		if again.found.Generation > r.after.Generation {
			return r.overtaken()
		}
		again.until = s.until
		s = again
	}
}

// history returns the history for a record that is raised. The entries of leases that had ended stay.
//
// The entry of a lease that holds the worker in a backup is not final. After the backup, the lease
// may have given back timestamps, and another lease may have taken the worker, from the time of its
// clock on. So the entry ends as far before as any lease reaches ahead of another's clock.
func (r *recoverer) history(s recovering) []holding {
	if s.lost {
		return nil
	}
	ended := s.found.ended()
	if !s.found.present() {
		return ended
	}
	last := s.found.Holders[0]
	last.Until = tickStart(r.pool.layout, last.Until-r.reached)
	if last.Until <= last.Since || s.found.Until > r.after.Floor { // a clock was further ahead than the skew
		return ended
	}
	return append([]holding{last}, ended...)
}

// confirm returns an error if another recovery has begun meanwhile. The other recovery has to be
// finished.
func (r *recoverer) confirm(ctx context.Context) error {
	r.pool = newPool(r.store, r.name, &r.after)
	err := r.pool.bind(ctx) // a record that was made again knows no place yet
	if err == nil && r.pool.term().generation != r.after.Generation {
		err = r.overtaken()
	}
	return err
}

func (r *recoverer) overtaken() error {
	return fmt.Errorf("%w: another recovery has begun", ErrRecovering)
}
