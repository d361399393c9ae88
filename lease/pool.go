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

	"github.com/firn-id/firn/allot"
	"github.com/firn-id/firn/lease/driver"
)

// A Pool is the workers of one kind of generator, in a store. It is safe for concurrent use.
//
// A pool is created once, and is never deleted, nor changed but by [Rescue]. Records of its
// workers are made as they are needed, and the pool knows which were: one that is gone is an
// error, never a worker that nobody has used.
type Pool struct {
	name    string
	store   driver.Store
	uuid    string
	layout  allot.Layout
	hash    string
	created time.Time
	known   *known
}

// A term is what is in force from one rescue of a pool to the next.
type term struct {
	generation int64 // that of all its records: 1, and after a rescue its Unix milliseconds
	floor      int64 // all times before were given out
}

// known is the latest term that a pool was seen in. Copies of a Pool share it.
type known struct {
	mu sync.Mutex
	term
}

func (p *Pool) term() term {
	p.known.mu.Lock()
	defer p.known.mu.Unlock()
	return p.known.term
}

// learn notes the term of a record that was just read.
func (p *Pool) learn(r *poolRecord) {
	p.known.mu.Lock()
	defer p.known.mu.Unlock()
	if r.Generation >= p.known.generation {
		p.known.term = r.term()
	}
}

// Create creates the pool of that name, whose leases take workers from a random one on. It returns an error that is [ErrPoolExists] if the
// store has it, whatever its layout.
func Create(ctx context.Context, store driver.Store, name string, layout allot.Layout) (*Pool, error) {
	return create(ctx, store, name, layout, mrand.IntN(max(layout.Workers, 1)), time.Now())
}

// create creates a pool whose first record is that of the worker first.
func create(ctx context.Context, store driver.Store, name string, layout allot.Layout, first int, now time.Time) (*Pool, error) {
	if err := checkLayout(layout); err != nil {
		return nil, err
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	key := poolKey(name)
	switch _, err := getPool(ctx, store, name); {
	case err == nil:
		return nil, fmt.Errorf("pool %s: %w in %s", name, ErrPoolExists, store)
	case !errors.Is(err, driver.ErrNotFound):
		return nil, err
	}
	r := newPoolRecord(newUUID(), layout, now.UnixMicro())
	r.First = first
	switch _, err := store.Put(ctx, key, encode(r), driver.None); {
	case errors.Is(err, driver.ErrConflict):
		return nil, fmt.Errorf("pool %s: %w in %s", name, ErrPoolExists, store)
	case err != nil:
		return nil, err
	}
	return newPool(store, name, r), nil
}

// Open returns the pool of that name. It returns an error that is [ErrNoPool] if the store has
// none, and a *[MismatchError] if its layout is another one.
func Open(ctx context.Context, store driver.Store, name string, layout allot.Layout) (*Pool, error) {
	p, err := Lookup(ctx, store, name)
	if err != nil {
		return nil, err
	}
	if err := checkSame(name, p.layout, layout); err != nil {
		return nil, err
	}
	return p, nil
}

// OpenOrCreate opens the pool or, if there is none, creates it. It is for stores of one machine,
// where everybody who could have created it used the same one: on a store that machines share,
// a wrong address would go unnoticed, and hand out workers that are taken elsewhere.
func OpenOrCreate(ctx context.Context, store driver.Store, name string, layout allot.Layout) (*Pool, error) {
	p, err := Open(ctx, store, name, layout)
	if !errors.Is(err, ErrNoPool) {
		return p, err
	}
	p, err = Create(ctx, store, name, layout)
	if errors.Is(err, ErrPoolExists) { // another process was quicker
		return Open(ctx, store, name, layout)
	}
	return p, err
}

// Lookup returns the pool of that name, whatever its layout. It is for tools.
func Lookup(ctx context.Context, store driver.Store, name string) (*Pool, error) {
	r, _, err := readPool(ctx, store, name)
	if err != nil {
		return nil, err
	}
	return newPool(store, name, r), nil
}

// Names returns the names of the pools in a store, in order, also of those whose records cannot be
// read, or of which only those of workers are left; with an error, those that were found.
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

// keysOf returns the keys of all entries. Stores of files have Keys, which reads no entry; a folder
// that cannot be read ends with a slash there.
func keysOf(ctx context.Context, store driver.Store) ([]string, error) {
	if s, ok := store.(interface {
		Keys(ctx context.Context, prefix string) ([]string, error)
	}); ok {
		return s.Keys(ctx, "")
	}
	entries, err := list(ctx, store, "")
	var keys []string
	for _, e := range entries {
		keys = append(keys, e.Key)
	}
	return keys, err
}

// checkName returns an error unless the name is one of a pool: a name of the driver's keys.
func checkName(name string) error {
	if strings.Contains(name, "/") || driver.CheckKey(name) != nil {
		return fmt.Errorf("%w: pool name %.200q: want up to %d lower-case letters, digits, '.', '_', '@' and '-'", ErrConfig, name, driver.MaxName)
	}
	return nil
}

func newPool(store driver.Store, name string, r *poolRecord) *Pool {
	layout := r.layout()
	return &Pool{name: name, store: store, uuid: r.UUID, layout: layout, hash: layoutHash(layout),
		created: time.UnixMicro(r.Created).UTC(), known: &known{term: r.term()}}
}

func readPool(ctx context.Context, store driver.Store, name string) (*poolRecord, driver.Revision, error) {
	if err := checkName(name); err != nil {
		return nil, driver.None, err
	}
	e, err := getPool(ctx, store, name)
	switch {
	case errors.Is(err, driver.ErrNotFound):
		return nil, driver.None, fmt.Errorf("pool %s: %w in %s: if there never was one, create it (lease.Create); if there was one, it is lost: rescue it (lease.Rescue, with its layout)", name, ErrNoPool, store)
	case err != nil:
		return nil, e.Revision, err
	}
	r, err := decodePool(store, e)
	return r, e.Revision, err
}

// getPool returns the entry of a pool's record. Its error is a driver.ErrNotFound if there is no such
// pool, and ErrMissing if there are records of its workers all the same.
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

// list is List for who looks at each entry: those that cannot be read are no error, but have one.
func list(ctx context.Context, store driver.Store, prefix string) ([]driver.Entry, error) {
	entries, err := store.List(ctx, prefix)
	if err != nil && slices.ContainsFunc(entries, func(e driver.Entry) bool { return e.Err != nil && errors.Is(err, e.Err) }) {
		err = nil
	}
	return entries, err
}

// orphaned is the error for workers' records without their pool.
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
	return r, nil
}

// adviceDamaged is what stores advise, too: see lease/internal/advice, which this package does without
// so that the simulation can build mutants of it elsewhere.
const adviceDamaged = "rescue the pool (lease.Rescue), which makes the entry anew; do not repair, move or delete entries"

// unusable returns the error for a record that cannot be gone by. What it advises has to be safe to
// do to the letter, beside processes that go on.
func unusable(store driver.Store, key string, err error) error {
	advice := adviceDamaged
	_, ofPool := poolOf(key)
	switch {
	case errors.Is(err, ErrVersion):
		advice = "use the version of this program that wrote it"
	case errors.Is(err, ErrRescuing):
		advice = "wait for its end; if it was interrupted, run it again (lease.Rescue)"
	case errors.Is(err, errRemade):
		advice = "rescue the pool (lease.Rescue), then start this program again"
	case errors.Is(err, ErrRolledBack):
		advice = "rescue the pool (lease.Rescue)"
	case ofPool:
		advice = "rescue the pool (lease.Rescue, with Layouts), which makes the entry anew; do not repair, move or delete entries"
	}
	return &driver.Error{Store: store.String(), Op: "read", Key: key, Err: err, Advice: advice}
}

// reread reads the pool's record again, which has to be the pool's still, and not from before
// what is known.
func (p *Pool) reread(ctx context.Context) (*poolRecord, driver.Revision, error) {
	known := p.term().generation
	r, rev, err := readPool(ctx, p.store, p.name)
	if err == nil {
		err = p.same(r)
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

// moved tells whether the pool was rescued since a term.
//
// Who takes a worker asks that after it has read the worker's record. A rescue first writes the
// pool's record, then those of workers: who had read the pool's before would believe records that
// are yet to be raised.
func (p *Pool) moved(ctx context.Context, since term) (bool, error) {
	r, _, err := p.reread(ctx)
	return err == nil && r.term() != since, err
}

// Name returns the pool's name in its store.
func (p *Pool) Name() string { return p.name }

// UUID returns what tells the pool from all others.
func (p *Pool) UUID() string { return p.uuid }

// Layout returns which IDs its workers make.
func (p *Pool) Layout() allot.Layout { return p.layout }

// Store returns where the pool is kept.
func (p *Pool) Store() driver.Store { return p.store }

// Created returns when the pool was created, by the clock of who did.
func (p *Pool) Created() time.Time { return p.created }

// Rescued returns when the pool was last rescued, by the clock of who did, and the floor before
// which nobody gets a worker since then; zero times if it never was, as far as this Pool has seen.
func (p *Pool) Rescued() (at, floor time.Time) {
	if t := p.term(); t.floor > 0 {
		return time.UnixMilli(t.generation).UTC(), time.UnixMicro(t.floor).UTC()
	}
	return at, floor
}

// A Worker is what the store knows of a worker that somebody has had.
type Worker struct {
	Number int
	From   time.Time // the times last allocated begin here
	Until  time.Time // and end here: no earlier time will ever be allocated again
	Holder string    // what the holder says of itself; empty if it gave the worker back
	Held   bool      // nobody gave the worker back; its holder may have died
	Err    error     // why its record cannot be read, and nothing is known but the Number
}

// Workers returns the used workers in order, and how many workers have records.
//
// A record that is missing, damaged or unreadable counts as used: its Worker has an Err, and err is the
// first of these. No lease takes a worker of such a pool.
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

// A reading is the record of a worker that the pool's record names, or why the record cannot be used.
type reading struct {
	stored
	worker int
	err    error
}

// readings returns the records in entries of all workers that the pool's record r names, in order. It
// reports whether a record is of a later generation than r: a rescue may have begun after r was read.
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

// usedOf returns the used workers, and the first error. Records that end at the floor or before may have
// been written by the rescue alone.
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
	return Worker{Number: r.Worker, From: time.UnixMicro(r.From).UTC(), Until: time.UnixMicro(r.Until).UTC(), Holder: r.Holder, Held: r.Incarnation != ""}
}

// stored is a record as it was read.
type stored struct {
	record
	rev driver.Revision
}

// records returns the records of all workers that the pool names, in order. Its error is the first of a
// record that is missing, damaged or another pool's: other records may have been lost, too.
func (p *Pool) records(ctx context.Context) ([]stored, error) {
	for again := false; ; again = true {
		r, _, err := p.reread(ctx)
		if err != nil {
			return nil, err
		}
		entries, err := p.store.List(ctx, workersKey(p.name))
		if err != nil {
			return nil, err
		}
		all, overtaken := p.readings(r, entries)
		if overtaken && !again {
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

// errRemade: the pool's record is that of a pool which was created later.
var errRemade = fmt.Errorf("%w: the pool was deleted and created again", ErrRolledBack)

// same returns an error if the pool's record in the store is not that of this pool any more.
func (p *Pool) same(r *poolRecord) error {
	if r.UUID != p.uuid {
		return unusable(p.store, poolKey(p.name), fmt.Errorf("%w: its UUID is %s, and was %s", errRemade, r.UUID, p.uuid))
	}
	return checkSame(p.name, r.layout(), p.layout)
}

func (p *Pool) missing(worker int) error {
	return unusable(p.store, workerKey(p.name, worker), ErrMissing)
}

// get reads the record of a worker that was made.
func (p *Pool) get(ctx context.Context, worker int) (stored, error) {
	generation := p.term().generation
	e, err := p.store.Get(ctx, workerKey(p.name, worker))
	if errors.Is(err, driver.ErrNotFound) {
		return stored{}, p.missing(worker)
	}
	if err != nil {
		return stored{}, err
	}
	s, err := p.read(e, worker, generation)
	if errors.Is(err, errAhead) { // of a rescue that is not known of
		made, _, unread := p.reread(ctx)
		if unread != nil {
			return s, unread
		}
		s, err = p.read(e, worker, made.Generation)
	}
	return s, err
}

// errAhead: a record is of a later generation than the pool.
var errAhead = fmt.Errorf("%w: it is of a later generation than the pool", ErrRolledBack)

// errForeign: a record is another pool's, or of another layout.
var errForeign = fmt.Errorf("%w: it is another pool's", ErrDamaged)

// read decodes a worker's record, and checks that it is one, of the pool's generation.
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
		err = ErrRescuing
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
