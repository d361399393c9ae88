package lease

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
)

func ensured(ctx context.Context, store driver.Store, name string) (*Pool, error) {
	p, _, _, err := openOrCreate(ctx, store, name, testLayout(4), time.Now())
	return p, err
}

func TestCreate(t *testing.T) {
	ctx, store := t.Context(), memlease.New()
	testkit.Is(t, testkit.Err(Open(ctx, store, "p", testLayout(4))), ErrNoPool, "Open of none")
	p := mustCreate(t, store, 4)
	testkit.Is(t, testkit.Err(Create(ctx, store, "p", testLayout(4))), ErrPoolExists, "Create again")
	testkit.Must(p.grow(ctx, -1))
	testkit.Is(t, testkit.Err(Create(ctx, store, "p", testLayout(4))), ErrPoolExists, "Create of a pool in use")
	for name, open := range map[string]func() (*Pool, error){
		"Open":         func() (*Pool, error) { return Open(ctx, store, "p", testLayout(4)) },
		"Lookup":       func() (*Pool, error) { return Lookup(ctx, store, "p") },
		"openOrCreate": func() (*Pool, error) { return ensured(ctx, store, "p") },
	} {
		got, err := open()
		if err != nil || got.UUID() != p.UUID() || !reflect.DeepEqual(got.Layout(), p.Layout()) || got.Name() != "p" || got.Store() != store || got.Created().IsZero() {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if q, err := ensured(ctx, store, "a.q"); err != nil || q.UUID() == p.UUID() {
		t.Errorf("another pool: %v, %v", q, err)
	}
	if names, err := Names(ctx, store); err != nil || !slices.Equal(names, []string{"a.q", "p"}) {
		t.Errorf("Names: %q, %v", names, err)
	}
	for _, name := range []string{"", "A", "a b", "a//b", ".a"} {
		testkit.Is(t, testkit.Err(Create(ctx, store, name, testLayout(4))), ErrConfig, "Create of %q", name)
		testkit.Is(t, testkit.Err(Open(ctx, store, name, testLayout(4))), ErrConfig, "Open of %q", name)
	}
	testkit.Is(t, testkit.Err(Create(ctx, store, "x", grant.Layout{})), ErrConfig, "Create without a layout")
}

// prepared counts the calls of Prepare.
type prepared struct {
	driver.Store
	calls int
}

func (p *prepared) Prepare(context.Context) error {
	p.calls++
	return nil
}

// Create prepares a store, and only for a pool that could be. So does a recovery, if it may create the pool.
func TestPrepares(t *testing.T) {
	ctx, layouts := t.Context(), []grant.Layout{testLayout(4)}
	store := &prepared{Store: memlease.New()}
	recovers := func(name string, c RecoveryConfig) error { return testkit.Err(RecoverPool(ctx, store, name, c)) }
	testkit.Is(t, testkit.Err(Create(ctx, store, "x", grant.Layout{})), ErrConfig, "Create without a layout")
	testkit.Is(t, testkit.Err(Create(ctx, store, "A", layouts[0])), ErrConfig, "Create of a bad name")
	testkit.Is(t, testkit.Err(Open(ctx, store, "p", layouts[0])), ErrNoPool, "Open of none")
	testkit.Is(t, recovers("p", RecoveryConfig{Layouts: layouts}), ErrNoPool, "RecoverPool of none")
	testkit.Is(t, recovers("p", RecoveryConfig{Create: true}), ErrNoPool, "RecoverPool without a layout")
	testkit.Is(t, recovers("A", RecoveryConfig{Create: true, Layouts: layouts}), ErrConfig, "RecoverPool of a bad name")
	testkit.Same(t, store.calls, 0)
	testkit.Must(Create(ctx, store, "p", layouts[0]))
	testkit.Must(Lookup(ctx, store, "p"))
	testkit.Same(t, store.calls, 1)
	testkit.OK(t, recovers("q", RecoveryConfig{Create: true, Layouts: layouts}))
	testkit.Same(t, store.calls, 2)
}

// If two processes find no pool, one process creates the pool and the other process opens the same
// pool.
func TestOpenOrCreateRace(t *testing.T) {
	store := memlease.New()
	var p *Pool
	racing := &hooked{Store: store, before: func(op, key string) error {
		if op == "put" && p == nil {
			p = mustCreate(t, store, 4)
		}
		return nil
	}}
	got, err := ensured(t.Context(), racing, "p")
	if err != nil || got.UUID() != p.UUID() {
		t.Errorf("%v, %v", got, err)
	}
}

func TestMismatch(t *testing.T) {
	store := memlease.New()
	mustCreate(t, store, 4)
	for field, layout := range otherLayouts() {
		_, err := Open(t.Context(), store, "p", layout)
		if field == "nothing" {
			if err != nil {
				t.Errorf("the same layout: %v", err)
			}
			continue
		}
		var mismatch *MismatchError
		if !errors.As(err, &mismatch) || !errors.Is(err, ErrPoolMismatch) || mismatch.Field != field || mismatch.Pool != "p" || mismatch.Have == mismatch.Want {
			t.Errorf("a layout that differs in %s: %v", field, err)
		}
	}
}

// A pool that was deleted and created again is another pool.
func TestPoolReplaced(t *testing.T) {
	store := memlease.New()
	p := mustCreate(t, store, 4)
	other := memlease.New()
	q := mustCreate(t, other, 4)
	e := testkit.Must(other.Get(t.Context(), poolKey("p")))
	put(t, store, poolKey("p"), e.Value)
	_, _, err := p.Workers(t.Context())
	if !errors.Is(err, ErrRolledBack) || !strings.Contains(err.Error(), q.UUID()) || !strings.Contains(err.Error(), p.UUID()) ||
		RemedyFor(err).Kind != driver.RemedyRecover {
		t.Errorf("%v", err)
	}
	testkit.Is(t, testkit.Err(p.grow(t.Context(), -1)), ErrRolledBack, "grow")
}

func TestPoolDamaged(t *testing.T) {
	for name, test := range map[string]struct {
		old, new string
		want     error
	}{
		"another version":       {`"v":1`, `"v":5`, ErrVersion},
		"no window":             {`"v":1`, `"v":3`, ErrDamaged},
		"a window":              {`"v":1`, `"v":1,"window_us":1`, ErrDamaged},
		"no floor":              {`"v":1`, `"v":2`, ErrDamaged},
		"a floor":               {`"v":1`, `"v":1,"floor_us":1`, ErrDamaged},
		"an unknown field":      {`"v":1`, `"v":1,"x":1`, ErrDamaged},
		"no generation":         {`"generation":1`, `"generation":0`, ErrDamaged},
		"no format":             {`"nanoflake"`, `""`, ErrDamaged},
		"a short UUID":          {`"uuid":"`, `"uuid":"","x":"`, ErrDamaged},
		"workers out of range":  {`"made":[]`, `"made":[[0,5]]`, ErrDamaged},
		"workers out of order":  {`"made":[]`, `"made":[[2,3],[0,1]]`, ErrDamaged},
		"an empty range":        {`"made":[]`, `"made":[[2,2]]`, ErrDamaged},
		"half of it":            {`,"generation":1`, "", ErrDamaged},
		"something else at all": {`{`, `hello {`, ErrDamaged},
	} {
		store := memlease.New()
		mustCreate(t, store, 4)
		e := testkit.Must(store.Get(t.Context(), poolKey("p")))
		value := strings.Replace(string(e.Value), test.old, test.new, 1)
		if value == string(e.Value) {
			t.Fatalf("%s: no %s in %s", name, test.old, value)
		}
		put(t, store, poolKey("p"), []byte(value))
		_, err := Open(t.Context(), store, "p", testLayout(4))
		var told *driver.Error
		if !errors.Is(err, test.want) || !errors.As(err, &told) || told.Key != "p/pool" {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
}

// Records without a pool's record are left of a lost pool: a new pool would use the workers again.
func TestOrphans(t *testing.T) {
	store := memlease.New()
	put(t, store, workerKey("p", 0), []byte("x"))
	testkit.Is(t, testkit.Err(Create(t.Context(), store, "p", testLayout(4))), ErrMissing, "Create")
	testkit.Is(t, testkit.Err(ensured(t.Context(), store, "p")), ErrMissing, "openOrCreate")
	if _, err := Lookup(t.Context(), store, "p"); !errors.Is(err, ErrMissing) || errors.Is(err, ErrNoPool) {
		t.Errorf("Lookup: %v", err)
	}
}

// all returns all records of the pool.
func (p *Pool) all(ctx context.Context) ([]stored, error) {
	r, _, err := p.reread(ctx)
	if err != nil {
		return nil, err
	}
	return p.records(ctx, r)
}

// grow makes records like a lease, for any worker or, if named is not negative, for the named
// worker. It returns false if all workers have records.
func (p *Pool) grow(ctx context.Context, named int) (bool, error) {
	c, err := Config{}.settle(p.layout)
	if err != nil {
		return false, err
	}
	l := p.lease(c.timed(p.store), nil, c)
	if named >= 0 {
		err = l.growNamed(ctx, named)
		return err == nil, err
	}
	for {
		r, rev, err := l.reread(ctx)
		if err != nil || r.count() == r.Workers {
			return false, err
		}
		if _, err = l.grow(ctx, r, rev); err != errAgain {
			return err == nil, err
		}
	}
}

func TestGrow(t *testing.T) {
	store := memlease.New()
	p := mustCreate(t, store, 150)
	for _, want := range []int{4, 8, 16, 32, 64, 128, 150} {
		if grown, err := p.grow(t.Context(), -1); !grown || err != nil {
			t.Fatalf("grow to %d: %v, %v", want, grown, err)
		}
		if got := made(t, store); !reflect.DeepEqual(got, [][2]int{{0, want}}) {
			t.Fatalf("made are %v, want %d", got, want)
		}
		if used, count, err := p.Workers(t.Context()); len(used) > 0 || count != want || err != nil {
			t.Fatalf("Workers: %v, %d, %v, want %d", used, count, err, want)
		}
	}
	if grown, err := p.grow(t.Context(), -1); grown || err != nil {
		t.Errorf("grow beyond all: %v, %v", grown, err)
	}
}

func TestGrowNamed(t *testing.T) {
	store := memlease.New()
	p := mustCreate(t, store, 10)
	for _, worker := range []int{9, 2, 2} {
		if grown, err := p.grow(t.Context(), worker); !grown || err != nil {
			t.Fatalf("grow: %v, %v", grown, err)
		}
	}
	if got := made(t, store); !reflect.DeepEqual(got, [][2]int{{0, 4}, {8, 10}}) {
		t.Errorf("made are %v", got)
	}
	if grown, err := p.grow(t.Context(), -1); !grown || err != nil {
		t.Fatalf("grow: %v, %v", grown, err)
	}
	if got := made(t, store); !reflect.DeepEqual(got, [][2]int{{0, 10}}) {
		t.Errorf("made are %v", got)
	}
}

// A process may die after any number of requests: the pool stays in order, and the next process
// makes the remaining records.
func TestGrowCrash(t *testing.T) {
	died := errors.New("died")
	for left := range 8 {
		store := memlease.New()
		mustCreate(t, store, 6)
		p := testkit.Must(Open(t.Context(), dying(store, left, died), "p", testLayout(6)))
		if _, err := p.grow(t.Context(), -1); errors.Is(err, died) != (left < 3) {
			t.Fatalf("%d requests: %v", left, err)
		}
		p.store = store
		if used, _, err := p.Workers(t.Context()); len(used) > 0 || err != nil {
			t.Fatalf("after %d requests: %v, %v", left, used, err)
		}
		for {
			grown, err := p.grow(t.Context(), -1)
			if err != nil {
				t.Fatalf("after %d requests: %v", left, err)
			}
			if !grown {
				break
			}
		}
		if _, count, err := p.Workers(t.Context()); count != 6 || err != nil {
			t.Errorf("after %d requests: %d workers, %v", left, count, err)
		}
	}
}

// An entry in the place of a new record must be one of the pool's records.
func TestGrowForeign(t *testing.T) {
	store := memlease.New()
	p := mustCreate(t, store, 4)
	put(t, store, workerKey("p", 1), []byte("x"))
	testkit.Is(t, testkit.Err(p.grow(t.Context(), -1)), ErrDamaged, "")
}

// race has another process make records, as grow does, before the first put of a key that begins with a prefix.
func race(t *testing.T, p *Pool, prefix string, named int) {
	other, raced := *p, false
	p.store = &hooked{Store: p.store, before: func(op, key string) error {
		if op != "put" || !strings.HasPrefix(key, prefix) || raced {
			return nil
		}
		raced = true
		return testkit.Err(other.grow(t.Context(), named))
	}}
}

// A lease with a Number gets the worker, even while other leases make records.
func TestGrowNamedRace(t *testing.T) {
	store := memlease.New()
	p := mustCreate(t, store, 12)
	race(t, p, poolKey("p"), 9)
	clock := newTestClock()
	_, l, _ := keep(t, p, clock, Config{Worker: Number(0), Wait: -1})
	if got := made(t, store); l.Worker() != 0 || !reflect.DeepEqual(got, [][2]int{{0, 4}, {8, 12}}) {
		t.Errorf("the worker is %d, and made are %v", l.Worker(), got)
	}
}

// If other leases have made the records meanwhile, a lease takes one of the new workers.
func TestGrowRace(t *testing.T) {
	p := mustCreate(t, memlease.New(), 4)
	race(t, p, "", -1)
	l := testkit.Must(p.start(t.Context(), generator(t, newTestClock()).ForLease(), Config{Wait: -1, clock: newTestClock().now}))
	l.Close()
}

func TestMissing(t *testing.T) {
	ctx, store := t.Context(), memlease.New()
	p := mustCreate(t, store, 4)
	testkit.Must(p.grow(ctx, -1))
	for missing := range 4 {
		less := memlease.New()
		entries := testkit.Must(store.List(ctx, ""))
		for _, e := range entries {
			if e.Key != workerKey("p", missing) {
				put(t, less, e.Key, e.Value)
			}
		}
		q := testkit.Must(Open(ctx, less, "p", testLayout(4)))
		var told *driver.Error
		if _, _, err := q.Workers(ctx); !errors.Is(err, ErrMissing) || !errors.As(err, &told) || told.Key != workerKey("p", missing) {
			t.Errorf("Workers without %d: %v", missing, err)
		}
		testkit.Is(t, testkit.Err(q.kept(ctx, nil, Config{})), ErrMissing, "Start without %d", missing)
		if _, err := q.kept(ctx, nil, Config{Worker: Number(missing)}); !errors.Is(err, ErrMissing) {
			t.Errorf("Start of %d without it: %v", missing, err)
		}
	}
}

func TestRecordDamaged(t *testing.T) {
	good := func(p *Pool) record { r := *p.unused(2, p.term()); r.From, r.Until = 5000, 9000; return r }
	is := func(want error) func(error) bool { return func(err error) bool { return errors.Is(err, want) } }
	for name, test := range map[string]struct {
		change func(*record)
		want   func(error) bool
	}{
		"nothing wrong":       {func(*record) {}, is(nil)},
		"another version":     {func(r *record) { r.Version = 7 }, is(ErrVersion)},
		"another pool":        {func(r *record) { r.Pool = newUUID() }, is(errForeign)},
		"another layout":      {func(r *record) { r.Layout = "0123456789abcdef" }, is(errForeign)},
		"an older generation": {func(r *record) { r.Generation = 0 }, is(ErrDamaged)},
		"a newer generation":  {func(r *record) { r.Generation = 2 }, is(ErrRolledBack)},
		"another worker":      {func(r *record) { r.Worker = 3 }, is(ErrDamaged)},
		"an end before begin": {func(r *record) { r.From = 9001 }, is(ErrDamaged)},
		"a negative begin":    {func(r *record) { r.From = -1 }, is(ErrDamaged)},
	} {
		store := memlease.New()
		p := mustCreate(t, store, 4)
		testkit.Must(p.grow(t.Context(), -1))
		r := good(p)
		test.change(&r)
		put(t, store, workerKey("p", 2), encode(r))
		used, _, err := p.Workers(t.Context())
		if !test.want(err) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (len(used) != 1 || used[0].Number != 2 || used[0].Err != err) {
			t.Errorf("%s: %+v", name, used)
		}
		if err == nil && (len(used) != 1 || used[0].Number != 2 || used[0].Until.UnixMicro() != 9000 || used[0].Held) {
			t.Errorf("%s: %+v", name, used)
		}
		var told *driver.Error
		if err != nil && (!errors.As(err, &told) || told.Key != workerKey("p", 2)) {
			t.Errorf("%s: %v does not tell where", name, err)
		}
	}
}

// A store's errors come through unchanged.
func TestStoreErrors(t *testing.T) {
	broken := fmt.Errorf("%w: broken", driver.ErrUnavailable)
	store := memlease.New()
	p := mustCreate(t, store, 4)
	hook := &hooked{Store: store, before: func(string, string) error { return broken }}
	p.store = hook
	ctx := t.Context()
	for name, do := range map[string]func() error{
		"Create":  func() error { _, err := Create(ctx, hook, "q", testLayout(4)); return err },
		"Open":    func() error { _, err := Open(ctx, hook, "p", testLayout(4)); return err },
		"Names":   func() error { _, err := Names(ctx, hook); return err },
		"Workers": func() error { _, _, err := p.Workers(ctx); return err },
		"Start":   func() error { _, err := p.start(ctx, nil, Config{Wait: -1}); return err },
		"Start of a number": func() error {
			_, err := p.start(ctx, nil, Config{Wait: -1, Worker: Number(1)})
			return err
		},
	} {
		var told *driver.Error
		if err := do(); !errors.Is(err, driver.ErrUnavailable) || !errors.As(err, &told) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
