package lease

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/firn-id/firn/allot"
	"github.com/firn-id/firn/lease/driver"
)

// RescueConfig says what a rescue goes by. The zero RescueConfig is for leases with the default
// windows, by clocks that differ by up to a minute.
type RescueConfig struct {
	// Window is the longest window of any lease of the pool. Those that its records tell of
	// count too. 0 means 10 s.
	Window time.Duration

	// Skew is how far ahead of this clock, or of the store's if it has one, that of a process
	// with a lease may be. 0 means a minute.
	Skew time.Duration

	// TrustClock takes the clock for right where the store says otherwise: there is no error
	// that is [ErrClockSkew]. A worker that was used further ahead than the settings allow
	// is then kept out for longer than the others: for the age of the pool.
	TrustClock bool

	// Layouts say what the pool may be for, in case that its own record is missing or damaged,
	// which a rescue then makes anew: of the one that the workers' records name. If there is no
	// such record, since nothing is left of the pool, there has to be a single one.
	Layouts []allot.Layout

	// Progress, if not nil, is told how many records of how many are done.
	Progress func(done, of int)

	// Clock is read for the time; nil means time.Now. It is for tests.
	Clock func() time.Time

	world   world         // nil for the real one
	timeout time.Duration // of a request, if the store's own is not shorter; 0 for a long one
	lanes   int           // how many records are written at once; 0 for some
}

// Rescued says what a rescue has done.
type Rescued struct {
	Pool   *Pool
	Floor  time.Time // nobody gets a worker before
	Raised int       // how many records there were
	Made   int       // how many were missing or damaged, and were made anew
	Anew   bool      // the pool's own record was, too
	Ahead  []Worker  // those that are kept out for longer, see RescueConfig.TrustClock
}

// Rescue makes a pool safe again of which the store has lost changes: one that was restored from a
// backup, say, or of which records are missing or damaged, its own too (see RescueConfig.Layouts). It
// ends all leases of the pool; their generators go on to the end of the times that they have, and
// nobody gets a worker before the floor, which is a window and the skew from now. Leases then go on by
// themselves.
//
// If the store has gone back to an earlier state, no process that takes workers of the pool should
// reach it before Rescue has returned. Where records are missing or damaged, processes may go on:
// nobody takes a worker of such a pool. A store that has to be readied once ([driver.Preparer]) has to
// be that. After an error the pool may be refused to everybody, with
// an error that is [ErrRescuing], until Rescue was run again; each run does all of it.
//
// # Why it is safe
//
// What leases were given before is unknown. But no lease asks for times that end more than its
// window after its clock, so all of them end before the floor, if the clocks are as the settings
// say: whatever is given out from the floor on was not given out before. What the store remembers
// of a worker counts as well, if that is more.
//
//  1. First the pool's own record is written, with the next generation and the floor. The
//     generation keeps everybody from workers whose records are not yet done, since records of an
//     earlier one are refused. It is the time, so that it is a later one also if the backup knows
//     nothing of the last rescue. The floor is for workers that the store knows nothing of, since
//     they were first used after the backup was made: when they are made again, their times begin
//     there.
//  2. Then each worker's record is written, at its own revision, with the new generation, without
//     a holder and with times that are used up to the floor. A lease that has the worker meets
//     another revision at its next renewal.
//
// A rescue that is interrupted between the two leaves a pool that is refused. The next one begins
// a generation of its own: what it finds may be a backup of such a state.
func Rescue(ctx context.Context, store driver.Store, name string, c RescueConfig) (*Rescued, error) {
	c, err := c.settle()
	if err != nil {
		return nil, err
	}
	r := &rescue{name: name, store: timed{Store: store, world: c.world, limit: c.timeout}, RescueConfig: c}
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
		return nil, fmt.Errorf("pool %s: the rescue did not come to its end, run it again: %w", name, err)
	}
	r.result.Pool = newPool(store, name, &r.after)
	return &r.result, nil
}

func (c RescueConfig) settle() (RescueConfig, error) {
	setDefault(&c.Window, DefaultWindow)
	setDefault(&c.Skew, DefaultMaxSkew)
	setDefault(&c.timeout, time.Minute)
	if c.Window < time.Millisecond || c.Skew < time.Millisecond {
		return c, fmt.Errorf("%w: a window or a skew of less than 1ms", ErrConfig)
	}
	if c.Progress == nil {
		c.Progress = func(int, int) {}
	}
	if c.world == nil {
		c.world = realWorld{clock: c.Clock}
	}
	if c.lanes == 0 {
		c.lanes = 16
	}
	return c, nil
}

// A rescue is one run.
type rescue struct {
	RescueConfig
	store timed

	name    string
	before  *poolRecord // as the rescue found it, or as it may have been
	rev     driver.Revision
	after   poolRecord       // as the rescue writes it
	pool    *Pool            // by which the rescue reads records
	records map[int]rescuing // of all workers that the pool names or that have a record
	result  Rescued
}

// rescuing is a worker's record and what becomes of it.
type rescuing struct {
	found record
	rev   driver.Revision
	lost  bool // it is missing or damaged
	until int64
}

// look reads all records and settles what becomes of them, before anything is changed.
func (r *rescue) look(ctx context.Context) error {
	before, rev, lost := readPool(ctx, r.store, r.name)
	r.before, r.rev = before, rev
	if lost != nil && !r.canMake(lost) {
		return lost
	}
	entries, err := list(ctx, r.store, workersKey(r.name))
	if err != nil {
		return err
	}
	now, err := r.now(ctx)
	if err != nil {
		return err
	}
	r.result = Rescued{}
	if lost != nil {
		if r.before, err = r.anew(entries, now); err != nil {
			return err
		}
		r.result.Anew = true
	}
	r.pool = newPool(r.store, r.name, r.before)
	r.records = make(map[int]rescuing)
	generation, window := r.before.Generation, r.Window.Microseconds()
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
				r.records[worker] = rescuing{lost: true}
			}
		}
	}
	r.after = *r.before
	r.after.Version = rescuedVersion
	r.after.Generation = max(generation+1, now/1000)
	floor := tickEnd(r.pool.layout, now+r.reach(window))
	if err := r.settleAll(now, window, floor); err != nil {
		return err
	}
	r.after.Floor = max(floor, r.before.Floor)
	return nil
}

// canMake tells whether the pool's own record, which cannot be read for that reason, is to be made anew.
func (r *rescue) canMake(why error) bool {
	switch {
	case len(r.Layouts) == 0 || errors.Is(why, ErrVersion):
		return false
	case errors.Is(why, ErrDamaged):
		return r.rev != driver.None // else there is something that no Put replaces
	}
	return errors.Is(why, ErrMissing) || errors.Is(why, ErrNoPool)
}

// anew returns a record for a pool that has lost its own: what the records of its workers say of it.
// When it was created they do not say.
func (r *rescue) anew(entries []driver.Entry, now int64) (*poolRecord, error) {
	type identity struct{ uuid, layout string }
	count := make(map[identity]int)
	var most identity // that of most records: some may be of an earlier pool
	for _, e := range entries {
		var found record
		if e.Err != nil || decode(e.Value, &found) != nil || len(found.Pool) != 36 {
			continue // to be judged later
		}
		id := identity{found.Pool, found.Layout}
		if count[id]++; count[id] > count[most] {
			most = id
		}
	}
	const advice = "give the format, the epoch and the widths that it was created with"
	var layout allot.Layout
	switch i := slices.IndexFunc(r.Layouts, func(l allot.Layout) bool { return layoutHash(l) == most.layout }); {
	case i >= 0:
		layout = r.Layouts[i]
	case most.uuid != "":
		return nil, fmt.Errorf("pool %s: %w: its own record is lost, and those of its workers are of another layout than was given: %s", r.name, ErrPoolMismatch, advice)
	case len(r.Layouts) > 1:
		return nil, fmt.Errorf("pool %s: %w: its own record is lost, and no other one says what it was for: %s", r.name, ErrConfig, advice)
	default:
		layout, most.uuid = r.Layouts[0], newUUID()
	}
	if err := checkLayout(layout); err != nil {
		return nil, err
	}
	p := *newPoolRecord(most.uuid, layout, now)
	for _, e := range entries {
		if worker, ok := workerOf(r.name, e.Key); ok && worker < p.Workers && !p.made(worker) {
			if more := p.withMade(worker); more.fits() { // one that it does not name is raised before it is used
				p = more
			}
		}
	}
	return &p, nil
}

// reach is how far ahead of now times may be that a lease has asked for: a window and the skew, and
// what little comes on top where times begin after its clock, in ticks or in a moment's grace.
func (r *rescue) reach(window int64) int64 {
	return window + r.Skew.Microseconds() + grace.Microseconds() + (minTicks+1)*r.pool.layout.Unit.Microseconds()
}

// read decodes a worker's record. One that is not a record is lost, and so is one that is another
// pool's, of which the times count all the same. One of another version, or that cannot be read for
// another reason, is not to be touched.
func (r *rescue) read(e driver.Entry, worker int) (rescuing, error) {
	s, err := r.pool.read(e, worker, r.before.Generation)
	switch {
	case err == nil || errors.Is(err, ErrRescuing) || errors.Is(err, errAhead):
		return rescuing{found: s.record, rev: s.rev}, nil
	case errors.Is(err, errForeign):
		return rescuing{found: s.record, rev: s.rev, lost: true}, nil
	case errors.Is(err, ErrDamaged) && e.Revision != driver.None:
		return rescuing{rev: e.Revision, lost: true}, nil
	}
	return rescuing{}, err
}

// now returns the time that the floor is reckoned from.
func (r *rescue) now(ctx context.Context) (int64, error) {
	before := r.world.now()
	if r.TrustClock {
		return before.UnixMicro(), nil
	}
	reference, ok, err := r.store.now(ctx)
	now := r.world.now()
	switch {
	case !ok || err != nil:
		return now.UnixMicro(), err
	case reference.Before(before.Add(-r.Skew)) || reference.After(now.Add(r.Skew)):
		return 0, &SkewError{Pool: r.name, Now: now, Reference: reference, OfStore: true}
	}
	return max(now.UnixMicro(), reference.UnixMicro()), nil
}

// settleAll settles up to when the times of each worker are taken for used.
//
// Records speak for and against the clock. Where most of the latest are of long ago, the clock may
// be far ahead, and the floor would keep everybody out until then. One that is beyond the floor was
// written by a clock that was ahead by more than the skew, or this one is behind: then the floor is
// no floor, and a worker that is now unknown may have been used as far ahead. If nothing is wrong
// but that worker, it is safe from as much later as the backup may be old, and that is at most the
// age of the pool.
func (r *rescue) settleAll(now, window, floor int64) error {
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
		return fmt.Errorf("pool %s: worker %d: %w: its times are used up to %s, which is %s after now, so that a clock was ahead by more than %v, or this one is behind: set the clock; or give a skew that covers it; or say that the clock is to be trusted, and only that worker is kept out for longer",
			r.name, ahead, ErrClockSkew, timeText(until), span(until.Sub(time.UnixMicro(now)).Round(time.Millisecond)), r.Skew)
	}
	age := max(now-r.before.Created, 0)
	if r.result.Anew { // nobody knows when it was created
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

// begin writes the pool's record. A conflict says that it has changed since look.
func (r *rescue) begin(ctx context.Context) error {
	key, value := poolKey(r.name), encode(&r.after)
	_, err := r.store.Put(ctx, key, value, r.rev)
	if err == nil {
		return nil
	}
	e, unread := r.store.Get(ctx, key)
	switch {
	case unread != nil:
		return err
	case string(e.Value) == string(value): // it was done
		return nil
	case e.Revision != r.rev:
		return fmt.Errorf("%w: %w", driver.ErrConflict, err)
	}
	return err // it has not been done, or not yet
}

// raiseAll writes all records of workers.
func (r *rescue) raiseAll(ctx context.Context) error {
	workers := make(chan int, len(r.records))
	for _, worker := range slices.Sorted(maps.Keys(r.records)) {
		workers <- worker
	}
	close(workers)
	var mu sync.Mutex // guards what follows, and calls of Progress
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

// raise writes a worker's record, at whatever revision it is: a lease that has found its worker
// again may be renewing it, until this is done.
func (r *rescue) raise(ctx context.Context, worker int) error {
	s, key := r.records[worker], workerKey(r.name, worker)
	for {
		next := r.pool.unused(worker, term{r.after.Generation, max(s.until, s.found.Until)})
		if s.lost || s.found.Attempt != "" {
			next.Attempt = r.world.random(128) // it counts as used
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

// confirm sees that no other rescue has begun meanwhile: then it is that one's to come to an end.
func (r *rescue) confirm(ctx context.Context) error {
	now, _, err := readPool(ctx, r.store, r.name)
	if err == nil && now.Generation != r.after.Generation {
		err = r.overtaken()
	}
	return err
}

func (r *rescue) overtaken() error {
	return fmt.Errorf("%w: another rescue has begun", ErrRescuing)
}
