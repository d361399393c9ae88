package lease

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mrand "math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
)

// A Pool is the workers of one kind of generator, in a store. It is safe for concurrent use.
//
// A pool is created once, and never deleted. Only [RecoverPool] changes a pool. Records of workers are
// made as leases need them, and the pool's record names all workers with records. So a missing
// record is an error, and never a worker without a past.
type Pool struct {
	name    string
	store   driver.Store
	uuid    string
	layout  grant.Layout
	hash    string
	created time.Time
	known   *known
}

// A term is in force from one recovery of a pool to the next.
type term struct {
	generation int64 // of all records: 1, and after a recovery the time of the recovery in Unix milliseconds
	floor      int64 // all timestamps before the floor count as used
}

// known is the latest term in which a pool was seen, and what the record said then. Copies of a Pool share it.
type known struct {
	mu sync.Mutex
	term
	window int64
	place  string
	bound  bool // the record names its place
}

func (p *Pool) term() term {
	p.known.mu.Lock()
	defer p.known.mu.Unlock()
	return p.known.term
}

// learn notes the term of a pool's record.
func (p *Pool) learn(r *poolRecord) {
	p.known.mu.Lock()
	defer p.known.mu.Unlock()
	if r.Generation >= p.known.generation {
		p.known.set(r)
	}
}

func (k *known) set(r *poolRecord) {
	k.term, k.window, k.place, k.bound = r.term(), r.Window, r.Place, r.Place == r.at
}

// Create creates a pool. Leases take workers from a random worker on. If the store has a pool of
// the same name, with any layout, the error is [ErrPoolExists].
//
// Create prepares the store first: it makes what a [driver.Preparer] lacks, such as the table in a
// database. That takes a right that leases do not need; without the right, the error is the store's.
//
// Call Create once, in a migration or by hand, and not at each start of a program: in a store that has
// lost everything, Create begins a second pool, which makes the IDs of the first again.
func Create(ctx context.Context, store driver.Store, name string, layout grant.Layout) (*Pool, error) {
	return create(ctx, store, name, layout, anyWorker(layout), time.Now())
}

func anyWorker(layout grant.Layout) int { return mrand.IntN(max(layout.Workers, 1)) }

// create creates a pool. The first record will be the record of worker first.
func create(ctx context.Context, store driver.Store, name string, layout grant.Layout, first int, now time.Time) (*Pool, error) {
	if err := checkLayout(layout); err != nil {
		return nil, err
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	if p, ok := store.(driver.Preparer); ok {
		if err := p.Prepare(ctx); err != nil {
			return nil, err
		}
	}
	key := poolKey(name)
	e, err := getPool(ctx, store, name)
	switch {
	case err == nil:
		return nil, ofPool(name, "%w in %s", ErrPoolExists, store)
	case !errors.Is(err, driver.ErrNotFound):
		return nil, err
	}
	r := newPoolRecord(newUUID(), layout, now.UnixMicro())
	r.First, r.Place = first, e.Place
	r.Version = r.version()
	switch _, err := store.Put(ctx, key, encode(r), driver.None); {
	case errors.Is(err, driver.ErrConflict):
		return nil, ofPool(name, "%w in %s", ErrPoolExists, store)
	case err != nil:
		return nil, err
	}
	r.at = e.Place
	p := newPool(store, name, r)
	if r.at == "" {
		if err := p.bind(ctx); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Open returns the pool with a name. If the store has no such pool, the error is [ErrNoPool]; if
// the pool has another layout, a *[MismatchError].
func Open(ctx context.Context, store driver.Store, name string, layout grant.Layout) (*Pool, error) {
	p, _, err := open(ctx, store, name, layout)
	return p, err
}

// opened is a pool's record as it was read to open the pool.
type opened struct {
	record *poolRecord
	rev    driver.Revision
}

// open is Open, and returns the pool's record too.
func open(ctx context.Context, store driver.Store, name string, layout grant.Layout) (*Pool, opened, error) {
	r, rev, err := readPool(ctx, store, name)
	if err != nil {
		return nil, opened{}, err
	}
	if err := cmp.Or(r.checkPlace(store, name), checkSame(name, r.layout(), layout)); err != nil {
		return nil, opened{}, err
	}
	return newPool(store, name, r), opened{r, rev}, nil
}

// openOrCreate opens the pool, or creates the pool if the store does not have the pool yet. It returns the record of a
// pool that it opened, and reports whether it created the pool.
func openOrCreate(ctx context.Context, store driver.Store, name string, layout grant.Layout, now time.Time) (p *Pool, o opened, created bool, err error) {
	p, o, err = open(ctx, store, name, layout)
	if !errors.Is(err, ErrNoPool) {
		return p, o, false, err
	}
	p, err = create(ctx, store, name, layout, anyWorker(layout), now)
	if errors.Is(err, ErrPoolExists) { // another process was quicker
		p, o, err = open(ctx, store, name, layout)
		return p, o, false, err
	}
	return p, opened{}, err == nil, err
}

// Lookup returns the pool with a name and any layout. It is for tools.
func Lookup(ctx context.Context, store driver.Store, name string) (*Pool, error) {
	r, _, err := readPool(ctx, store, name)
	if err != nil {
		return nil, err
	}
	return newPool(store, name, r), nil
}

// Names returns the names of a store's pools, in order. A pool with an unreadable record counts,
// and so does a pool with records of workers only. With an error, Names returns the names found so
// far.
func Names(ctx context.Context, store driver.Store) ([]string, error) {
	keys, err := keysOf(ctx, store)
	var names []string
	for _, key := range keys {
		name, rest, found := strings.Cut(key, "/")
		if rest == "pool" || strings.HasPrefix(rest, "workers/") || found && rest == "" {
			names = append(names, name)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(names))), err
}

// keysOf returns the keys of all entries, without reading the entries if the store can.
func keysOf(ctx context.Context, store driver.Store) ([]string, error) {
	if s, ok := store.(driver.Lister); ok {
		return s.Keys(ctx, "")
	}
	entries, err := list(ctx, store, "")
	var keys []string
	for _, e := range entries {
		keys = append(keys, e.Key)
	}
	return keys, err
}

// checkName returns an error unless a pool can have the name: a part of the driver's keys.
func checkName(name string) error {
	if driver.CheckName(name) != nil {
		return fmt.Errorf("%w: pool name %.200q: want up to %d lower-case letters, digits, '.', '_', '@' and '-'", ErrConfig, name, driver.MaxName)
	}
	return nil
}

func newPool(store driver.Store, name string, r *poolRecord) *Pool {
	layout, known := r.layout(), new(known)
	known.set(r)
	return &Pool{name: name, store: store, uuid: r.UUID, layout: layout, hash: layoutHash(layout),
		created: time.UnixMicro(r.Created).UTC(), known: known}
}

func readPool(ctx context.Context, store driver.Store, name string) (*poolRecord, driver.Revision, error) {
	if err := checkName(name); err != nil {
		return nil, driver.None, err
	}
	e, err := getPool(ctx, store, name)
	switch {
	case errors.Is(err, driver.ErrNotFound):
		return nil, driver.None, ofPool(name, "%w in %s", ErrNoPool, store)
	case err != nil:
		return nil, e.Revision, err
	}
	r, err := decodePool(store, e)
	return r, e.Revision, err
}

// getPool returns the entry of a pool's record. If the store has nothing of the pool, the error is
// driver.ErrNotFound; if the store has records of workers, ErrMissing.
func getPool(ctx context.Context, store driver.Store, name string) (driver.Entry, error) {
	key := poolKey(name)
	e, err := store.Get(ctx, key)
	if !errors.Is(err, driver.ErrNotFound) {
		return e, err
	}
	orphans, unread := list(ctx, store, workersKey(name))
	switch {
	case unread != nil:
		return e, unread
	case len(orphans) == 0:
		return e, err
	}
	if e, err = store.Get(ctx, key); errors.Is(err, driver.ErrNotFound) { // not created meanwhile
		err = orphaned(store, name, len(orphans))
	}
	return e, err
}

// list is Store.List for callers that check each entry's Err. An unreadable entry is not an error
// of list.
func list(ctx context.Context, store driver.Store, prefix string) ([]driver.Entry, error) {
	entries, err := store.List(ctx, prefix)
	return entries, ofNone(entries, err)
}

// ofNone returns the error of a list, unless it is the error of an entry.
func ofNone(entries []driver.Entry, err error) error {
	if err != nil && slices.ContainsFunc(entries, func(e driver.Entry) bool { return e.Err != nil && errors.Is(err, e.Err) }) {
		return nil
	}
	return err
}

// orphaned returns the error for workers' records without the pool's record.
func orphaned(store driver.Store, name string, n int) error {
	return unusable(store, poolKey(name), fmt.Errorf("%w: there are %d workers' records of the pool, but not its own", ErrMissing, n))
}

func decodePool(store driver.Store, e driver.Entry) (*poolRecord, error) {
	if e.Err != nil {
		return nil, e.Err
	}
	r := new(poolRecord)
	err := decode(e.Value, r)
	if err == nil && !r.sane() {
		err = ErrDamaged
	}
	if err != nil {
		return nil, unusable(store, e.Key, err)
	}
	r.at = e.Place
	return r, nil
}

// checkPlace returns an error if the record names another place than that in which it was read.
func (r *poolRecord) checkPlace(store driver.Store, name string) error {
	if r.Place == "" || r.Place == r.at {
		return nil
	}
	return unusable(store, poolKey(name), fmt.Errorf("%w: %w: the pool is of %s, and this is %s",
		driver.ErrUnsafe, driver.ErrCopied, r.Place, cmp.Or(r.at, "not known")))
}

// unusable returns the error for an unusable record.
func unusable(store driver.Store, key string, err error) error {
	return &driver.Error{Store: store.String(), Op: "read", Key: key, Err: err}
}

// reread reads the pool's record again. A record of another pool is an error, and so is a record of
// an earlier generation than the known one.
func (p *Pool) reread(ctx context.Context) (*poolRecord, driver.Revision, error) {
	known := p.term().generation
	r, rev, err := readPool(ctx, p.store, p.name)
	if err == nil {
		err = cmp.Or(r.checkPlace(p.store, p.name), p.same(r))
	}
	if err == nil && r.Generation < known {
		err = unusable(p.store, poolKey(p.name), fmt.Errorf("%w: it is of generation %d, and was of %d", ErrRolledBack, r.Generation, known))
	}
	if err != nil {
		return nil, driver.None, err
	}
	p.learn(r)
	return r, rev, nil
}

// note notes what the pool's record lacks: the window of a lease if it is the longest, and the place. A lease calls
// note before it takes a worker, so that a recovery knows the window even if the worker's record is lost, and so that
// no copy of the store passes for it.
func (p *Pool) note(ctx context.Context, window int64) error {
	if window <= DefaultWindow.Microseconds() {
		window = 0 // a recovery assumes as much
	}
	p.known.mu.Lock()
	noted := p.known.window >= window && p.known.bound
	p.known.mu.Unlock()
	for !noted {
		r, rev, err := p.reread(ctx)
		if err != nil || r.Window >= window && r.Place == r.at {
			return err
		}
		r.Window, r.Place = max(r.Window, window), r.at
		r.Version = r.version()
		switch err := p.write(ctx, r, rev); {
		case err == nil:
			p.learn(r)
			return nil
		case !errors.Is(err, driver.ErrConflict):
			return err
		}
	}
	return nil
}

// bind reads the record of a pool that was just written, and notes its place: a store may know the place only once
// the record is there.
func (p *Pool) bind(ctx context.Context) error {
	p.known.mu.Lock()
	p.known.bound = false
	p.known.mu.Unlock()
	return p.note(ctx, 0)
}

// moved reports whether the pool was recovered since a term.
//
// A lease calls moved after taking a worker, see [Lease.take].
func (p *Pool) moved(ctx context.Context, since term) (bool, error) {
	r, _, err := p.reread(ctx)
	return err == nil && r.term() != since, err
}

// Name returns the pool's name in its store.
func (p *Pool) Name() string { return p.name }

// UUID returns the pool's UUID.
func (p *Pool) UUID() string { return p.uuid }

// Layout returns the layout of the IDs made by the pool's workers.
func (p *Pool) Layout() grant.Layout { return p.layout }

// Store returns the pool's store.
func (p *Pool) Store() driver.Store { return p.store }

// Place returns where the pool is, by its record: see [driver.Entry]. It is empty if the store tells no copies.
func (p *Pool) Place() string {
	p.known.mu.Lock()
	defer p.known.mu.Unlock()
	return p.known.place
}

// Created returns when the pool was created, by the creator's clock: the generator's clock if [Start]
// created the pool, and otherwise time.Now.
func (p *Pool) Created() time.Time { return p.created }

// Recovered returns when the pool was last recovered, by the clock of the program that did it, and the floor: no lease
// gets a worker before the floor. Both are zero if this Pool has seen no recovery.
func (p *Pool) Recovered() (at, floor time.Time) {
	if t := p.term(); t.floor > 0 {
		return time.UnixMilli(t.generation).UTC(), time.UnixMicro(t.floor).UTC()
	}
	return at, floor
}

// A Worker is the store's knowledge of a used worker.
type Worker struct {
	Number int
	From   time.Time // start of the last interval
	Until  time.Time // end of the last interval; no earlier time is ever allocated again
	Holder string    // the holder's description of itself; empty if the holder gave the worker back
	Held   bool      // the holder has not given the worker back, and may have died
	Since  time.Time // since when the holder has held the worker without a break; zero if Held is false

	Back time.Time // when the last holder gave the worker back, by the holder's clock; zero if not known

	// Holders are the last holders that the record names, the newest first. If Held is true, the first
	// is the present holder, unless the present holder is of a version without this history.
	Holders []Holder

	Err error // why the record cannot be read; only Number is known then
}

// Workers returns the used workers in order, and how many workers have records.
//
// A record that is missing, damaged or unreadable counts as used: the Worker has an Err, and err is
// the first Err. No lease takes such a worker. A [Start] that reads such a record fails. In a pool
// with at most 16 records, a Start reads all of them; in a larger pool it reads a few, and Workers is
// the call that reads all.
func (p *Pool) Workers(ctx context.Context) (used []Worker, made int, err error) {
	for again := false; ; again = true {
		r, _, err := p.reread(ctx)
		if err != nil {
			return nil, 0, err
		}
		entries, err := list(ctx, p.store, workersKey(p.name))
		if err != nil {
			return nil, 0, err
		}
		all, overtaken := p.readings(r, entries)
		if again || !overtaken {
			used, err := usedOf(all, r.Floor)
			return used, r.count(), err
		}
	}
}

// A reading is the record of a named worker, or why the record cannot be used.
type reading struct {
	stored
	worker int
	err    error
}

// readings returns the records in entries of all workers named by r, in order. R is the pool's
// record. Overtaken reports whether a record is of a later generation than r: a recovery may have
// begun after the read of r.
func (p *Pool) readings(r *poolRecord, entries []driver.Entry) (all []reading, overtaken bool) {
	found := make(map[int]driver.Entry, len(entries))
	for _, e := range entries {
		if worker, ok := workerOf(p.name, e.Key); ok {
			found[worker] = e
		}
	}
	all = make([]reading, 0, r.count())
	for _, m := range r.Made {
		for worker := m[0]; worker < m[1]; worker++ {
			next := reading{worker: worker}
			if e, ok := found[worker]; ok {
				next.stored, next.err = p.read(e, worker, r.Generation)
			} else {
				next.err = p.missing(worker)
			}
			overtaken = overtaken || errors.Is(next.err, errAhead)
			all = append(all, next)
		}
	}
	return all, overtaken
}

// usedOf returns the used workers, and the first error. A record without an attempt that ends at
// the floor or before was never used.
func usedOf(all []reading, floor int64) (used []Worker, err error) {
	for _, r := range all {
		switch {
		case r.err != nil:
			used = append(used, Worker{Number: r.worker, Err: r.err})
			err = cmp.Or(err, r.err)
		case r.Attempt != "" || r.Until > floor:
			used = append(used, r.record.worker())
		}
	}
	return used, err
}

func (r *record) worker() Worker {
	w := Worker{Number: r.Worker, From: time.UnixMicro(r.From).UTC(), Until: time.UnixMicro(r.Until).UTC(), Holder: r.Holder, Held: r.Incarnation != ""}
	switch {
	case w.Held:
		w.Since = r.tenure()
	case r.Back > 0:
		w.Back = time.UnixMicro(r.Back).UTC()
	}
	for _, h := range r.Holders {
		w.Holders = append(w.Holders, h.holder())
	}
	return w
}

// stored is a record with its revision.
type stored struct {
	record
	rev driver.Revision
}

// records returns the records of all workers named by the pool, in order, or the first error of a
// record: if a record is missing, damaged or another pool's, others may have been lost too. R is the
// pool's record, just read.
func (p *Pool) records(ctx context.Context, r *poolRecord) ([]stored, error) {
	if r.count() == 0 {
		return nil, nil
	}
	for again := false; ; again = true {
		entries, err := p.store.List(ctx, workersKey(p.name))
		if err != nil {
			return nil, err
		}
		all, overtaken := p.readings(r, entries)
		if overtaken && !again {
			if r, _, err = p.reread(ctx); err != nil {
				return nil, err
			}
			continue
		}
		records := make([]stored, len(all))
		for i, r := range all {
			if r.err != nil {
				return nil, r.err
			}
			records[i] = r.stored
		}
		return records, nil
	}
}

// some returns the records of workers named by the pool, in order, by one request if the store can. R is the pool's
// record. The first error of a record is the error.
func (l *Lease) some(ctx context.Context, r *poolRecord, workers []int) ([]stored, error) {
	entries, err := l.entries(ctx, workers)
	if err != nil {
		return nil, err
	}
	records := make([]stored, 0, len(workers))
	for _, worker := range workers {
		e, ok := entries[worker]
		if !ok {
			return nil, l.pool.missing(worker)
		}
		s, err := l.pool.readAt(ctx, e, worker, r.Generation)
		if err != nil {
			return nil, err
		}
		records = append(records, s)
	}
	return records, nil
}

// entries returns the entries of workers that the store has.
func (l *Lease) entries(ctx context.Context, workers []int) (map[int]driver.Entry, error) {
	found := make(map[int]driver.Entry, len(workers))
	for part := range slices.Chunk(workers, driver.MaxGet) {
		keys := make([]string, len(part))
		for i, worker := range part {
			keys[i] = workerKey(l.pool.name, worker)
		}
		entries, err := l.requests().getAll(ctx, keys)
		if err = ofNone(entries, err); err != nil {
			return nil, err
		}
		for _, e := range entries {
			if worker, ok := workerOf(l.pool.name, e.Key); ok {
				found[worker] = e
			}
		}
	}
	return found, nil
}

// errRemade: the pool in the store was created later than this Pool.
var errRemade = fmt.Errorf("%w: the pool was deleted and created again", ErrRolledBack)

// same returns an error unless the record is the record of this pool.
func (p *Pool) same(r *poolRecord) error {
	if r.UUID != p.uuid {
		return unusable(p.store, poolKey(p.name), fmt.Errorf("%w: its UUID is %s, and was %s", errRemade, r.UUID, p.uuid))
	}
	return checkSame(p.name, r.layout(), p.layout)
}

func (p *Pool) missing(worker int) error {
	return unusable(p.store, workerKey(p.name, worker), ErrMissing)
}

// get reads the record of a worker named by the pool.
func (p *Pool) get(ctx context.Context, worker int) (stored, error) {
	generation := p.term().generation
	e, err := p.store.Get(ctx, workerKey(p.name, worker))
	if errors.Is(err, driver.ErrNotFound) {
		return stored{}, p.missing(worker)
	}
	if err != nil {
		return stored{}, err
	}
	return p.readAt(ctx, e, worker, generation)
}

// readAt is read for the pool's generation as it was a moment ago.
func (p *Pool) readAt(ctx context.Context, e driver.Entry, worker int, generation int64) (stored, error) {
	s, err := p.read(e, worker, generation)
	if errors.Is(err, errAhead) { // a recovery has begun
		made, _, unread := p.reread(ctx)
		if unread != nil {
			return s, unread
		}
		s, err = p.read(e, worker, made.Generation)
	}
	return s, err
}

// errAhead: a record is of a later generation than the pool's record.
var errAhead = fmt.Errorf("%w: it is of a later generation than the pool", ErrRolledBack)

// errForeign: a record belongs to another pool or layout.
var errForeign = fmt.Errorf("%w: it is another pool's", ErrDamaged)

// read decodes a worker's record. A record of another pool, layout or generation is an error.
func (p *Pool) read(e driver.Entry, worker int, generation int64) (stored, error) {
	s := stored{rev: e.Revision}
	if e.Err != nil {
		return s, e.Err
	}
	err := decode(e.Value, &s.record)
	switch {
	case err != nil:
	case s.Worker != worker || s.From > s.Until || s.From < 0 || s.Generation < 1:
		err = ErrDamaged
	case s.Pool != p.uuid:
		err = fmt.Errorf("%w, whose UUID is %s, not %s", errForeign, s.Pool, p.uuid)
	case s.Layout != p.hash:
		err = fmt.Errorf("%w, whose layout is %s, not %s", errForeign, s.Layout, p.hash)
	case s.Generation < generation:
		err = ErrRecovering
	case s.Generation > generation:
		err = errAhead
	}
	if err != nil {
		return s, unusable(p.store, e.Key, err)
	}
	return s, nil
}

func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
