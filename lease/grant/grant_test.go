package grant_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// made holds the parts of an ID.
type made struct {
	id     any // to compare; without random bits
	worker int
	time   time.Time
}

// A subject is a format, and starts generators for a lease.
type subject struct {
	name    string
	workers int
	unit    time.Duration
	start   func(clock func() time.Time) (leasable, func() (made, error))
}

// leasable is a generator as a lease sees it, and the end of its timestamps.
type leasable struct {
	grant.Grantee
	expiresAt func() time.Time
}

// leased makes the generator of a table.
func leased[G interface {
	ForLease() grant.Grantee
	ExpiresAt() time.Time
}](g G, err error) (G, leasable) {
	if err != nil {
		panic(err)
	}
	return g, leasable{g.ForLease(), g.ExpiresAt}
}

var subjects = []subject{
	{"nanoflake", 1024, time.Millisecond, func(clock func() time.Time) (leasable, func() (made, error)) {
		g, l := leased(nanoflake.NewGenerator(nanoflake.Config{Leased: true, Clock: clock}))
		return l, func() (made, error) {
			id, err := g.TryNext()
			return made{id, id.GeneratorID(), id.Time(nanoflake.DefaultEpoch())}, err
		}
	}},
	{"nanoflake anywhere", 1024, time.Millisecond, func(clock func() time.Time) (leasable, func() (made, error)) {
		g, l := leased(nanoflake.NewGenerator(nanoflake.Config{Leased: true, Clock: clock, Start: nanoflake.StartAnywhere}))
		return l, func() (made, error) {
			id, err := g.TryNext()
			return made{id, id.GeneratorID(), id.Time(nanoflake.DefaultEpoch())}, err
		}
	}},
	{"ulidflake", 1, time.Millisecond, func(clock func() time.Time) (leasable, func() (made, error)) {
		g, l := leased(ulidflake.NewGenerator(ulidflake.Config{Leased: true, Clock: clock}))
		return l, func() (made, error) {
			id, err := g.TryNext()
			return made{id, 0, id.Time(ulidflake.DefaultEpoch())}, err
		}
	}},
	{"ulidflake scalable", 32, time.Millisecond, func(clock func() time.Time) (leasable, func() (made, error)) {
		g, l := leased(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Leased: true, Clock: clock, IncrementBits: 4}))
		return l, func() (made, error) {
			id, err := g.TryNext()
			return made{id, id.Scalability(), id.Time(ulidflake.DefaultEpoch())}, err
		}
	}},
	{"snowflakesi", 32, time.Millisecond, func(clock func() time.Time) (leasable, func() (made, error)) {
		g, l := leased(snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Clock: clock}))
		return l, func() (made, error) {
			id, err := g.TryNext()
			return made{id, id.MachineID(snowflakesi.Layout{}), id.Time(snowflakesi.Layout{}, snowflakesi.DefaultEpoch())}, err
		}
	}},
	{"scru160", 64, time.Millisecond, func(clock func() time.Time) (leasable, func() (made, error)) {
		g, l := leased(scru160.NewGenerator(scru160.Config{Leased: true, Clock: clock, ExtraCounterBits: 7, NodeBits: 6}))
		return l, func() (made, error) {
			id, err := g.TryNext()
			node := int(id.Random16() >> 3 & 63)
			return made{fmt.Sprint(id.Timestamp(), id.Counter(), id.Random16()>>3), node, id.Time()}, err
		}
	}},
	{"scru160 micro", 1, time.Microsecond, func(clock func() time.Time) (leasable, func() (made, error)) {
		g, l := leased(scru160.NewGenerator(scru160.Config{Leased: true, Clock: clock, Counter: scru160.CounterMicroseconds}))
		return l, func() (made, error) {
			id, err := g.TryNext()
			return made{fmt.Sprint(id.Timestamp(), id.Counter()), 0, id.Time().Add(time.Duration(id.Counter()>>6) * time.Microsecond)}, err
		}
	}},
	{"sno", 65536, 4 * time.Millisecond, func(clock func() time.Time) (leasable, func() (made, error)) {
		g, l := leased(sno.NewGeneratorWith(sno.Config{Leased: true, Clock: clock}))
		return l, func() (made, error) {
			id, err := g.TryNext(7)
			return made{id, int(id.Partition().AsUint16()), id.Time()}, err
		}
	}},
}

// An interval is a grant.
type interval struct {
	worker      int
	from, until time.Time
}

// within reports whether the tick and the worker of an ID are those of a grant.
func (s subject) within(granted []interval, m made) bool {
	return slices.ContainsFunc(granted, func(a interval) bool {
		return a.worker == m.worker && !m.time.Before(a.from) && !m.time.Add(s.unit).After(a.until)
	})
}

// Generators get grants now and again, and their clocks go anywhere. Each ID has a whole tick and the
// worker of a grant. No ID comes twice, or after the seal. A generator whose clock is in a new grant
// makes an ID.
func TestGrants(t *testing.T) {
	for _, s := range subjects {
		t.Run(s.name, func(t *testing.T) {
			minted, refused := 0, 0
			for seed := range uint64(150) {
				m, r := history(t, s, rand.New(rand.NewPCG(seed, 7)))
				minted, refused = minted+m, refused+r
			}
			if minted < 1000 || refused < 1000 {
				t.Errorf("%d IDs minted and %d refused are too few", minted, refused)
			}
		})
	}
}

func history(t *testing.T, s subject, r *rand.Rand) (minted, refused int) {
	start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	now := start
	g, try := s.start(func() time.Time { return now })
	var granted []interval
	seen := make(map[any]bool)
	worker, end, last := r.IntN(s.workers), now, time.Time{}
	use := func() error {
		m, err := try()
		if err != nil {
			refused++
			return err
		}
		minted++
		if seen[m.id] {
			t.Fatalf("%v is made twice", m)
		}
		seen[m.id] = true
		if !s.within(granted, m) {
			t.Fatalf("%v is in nothing that was granted: %v", m, granted)
		}
		if m.time.After(last) {
			last = m.time
		}
		return nil
	}
	for range 60 {
		switch r.IntN(7) {
		case 5: // the unused part of the grants is withdrawn, and may be granted again
			at := g.Withdraw()
			if !last.Before(at) {
				t.Fatalf("withdrawn from %v on; the last ID is of %v", at, last)
			}
			for i, a := range granted {
				granted[i].until = later(a.from, earlier(a.until, at))
			}
			if r.IntN(2) == 0 {
				end = earlier(end, later(at, start))
			}
		case 0, 1: // a grant, after a gap or not, for the same worker or not
			if r.IntN(4) == 0 {
				worker = r.IntN(s.workers)
			}
			a := interval{worker: worker, from: end}
			if r.IntN(2) == 0 {
				a.from = a.from.Add(time.Duration(r.Int64N(int64(12*s.unit))) - 3*s.unit)
			}
			a.until = a.from.Add(time.Duration(r.Int64N(int64(30 * s.unit))))
			testkit.OK(t, g.Grant(a.worker, a.from, a.until))
			granted = append(granted, a)
			if a.until.After(end) {
				end = a.until
			}
		case 2:
			now = now.Add(time.Duration(r.Int64N(int64(8 * s.unit))))
		case 3:
			now = now.Add(-time.Duration(r.Int64N(int64(8 * s.unit))))
		case 4:
			now = end.Add(time.Duration(r.Int64N(int64(20*s.unit))) - 10*s.unit)
		}
		for range r.IntN(5) {
			if err := use(); err != nil && !errors.Is(err, iderr.ErrFenced) && !errors.Is(err, iderr.ErrClockBackwards) && !errors.Is(err, iderr.ErrExhausted) {
				t.Fatal(err)
			}
		}
	}
	// The generator mints in a new tick of a new grant.
	now = end.Add(100 * s.unit).Truncate(s.unit)
	end = now.Add(3 * s.unit)
	granted = append(granted, interval{worker, now, end})
	testkit.OK(t, g.Grant(worker, now, end))
	if now = now.Add(s.unit); use() != nil {
		t.Fatalf("nothing was made in a tick that was just granted")
	}
	if r.IntN(2) == 0 {
		now = now.Add(-s.unit)
		_ = use() // sno's other time line; an error in other formats
	}
	why := errors.New("why")
	if unused := g.Seal(why); !unused.After(last) || unused.After(end) {
		t.Fatalf("sealed from %v on; the last ID is of %v, and what was granted ends at %v", unused, last, end)
	}
	testkit.OK(t, g.Grant(worker, end, end.Add(time.Hour)))
	for range 9 {
		if err := use(); !errors.Is(err, why) {
			t.Fatalf("a sealed generator: %v", err)
		}
		now = now.Add(time.Duration(r.Int64N(int64(2*s.unit))) - s.unit/2)
	}
	// A clock before the epoch does not hide that the generator is sealed.
	now = time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)
	if err := use(); !errors.Is(err, why) {
		t.Fatalf("a sealed generator with its clock before the epoch: %v", err)
	}
	return minted, refused
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// A grant far ahead costs nothing before the first ID: a clock that was wrong for a moment changes no
// generator. After an ID far ahead, the generator returns an error until the clock gets there.
func TestFarAhead(t *testing.T) {
	for _, s := range subjects {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		worker := s.workers - 1
		g, try := s.start(func() time.Time { return now })
		grant := func(from time.Time) time.Time {
			t.Helper()
			testkit.OK(t, g.Grant(worker, from, from.Add(10*time.Second)))
			return from.Add(10 * time.Second)
		}
		mint := func(want time.Time) {
			t.Helper()
			if m, err := try(); err != nil || m.worker != worker || m.time.Sub(want).Abs() > s.unit {
				t.Errorf("%s: %v, %v; want worker %d at %v", s.name, m, err, worker, want)
			}
		}
		first := now.Add(s.unit)
		end := grant(now)
		now = first
		mint(now)
		far := now.Add(200 * 24 * time.Hour)
		grant(far)
		now = now.Add(5 * time.Second)
		mint(now)
		now = end.Add(s.unit)
		if _, err := try(); !errors.Is(err, iderr.ErrFenced) || errors.Is(err, iderr.ErrClockBackwards) {
			t.Errorf("%s: before times that are far ahead: %v", s.name, err)
		}
		if at := g.Withdraw(); !at.Equal(end) {
			t.Errorf("%s: withdrawn from %v on, not %v", s.name, at, end)
		}
		testkit.Is(t, testkit.Err(try()), iderr.ErrFenced, "%s: after the end", s.name)
		end = grant(now)
		now = now.Add(s.unit)
		mint(now)

		end = grant(end.Add(200 * 24 * time.Hour))
		back := now
		now = end.Add(-time.Second)
		mint(now)
		if at := g.Withdraw(); !at.Equal(end) {
			t.Errorf("%s: withdrawn from %v on, where there is an ID before %v", s.name, at, end)
		}
		if now = back.Add(time.Minute); s.name != "sno" { // sno has another time line
			testkit.Is(t, testkit.Err(try()), iderr.ErrClockBackwards, "%s: long before the last ID", s.name)
		}
	}
}

// A clock before the first grant has not gone back. The error has the begin of the grant, or the error
// of the lease.
func TestBeforeTheInterval(t *testing.T) {
	for _, s := range subjects {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		g, try := s.start(func() time.Time { return now })
		wantFenced := func(texts ...string) {
			t.Helper()
			_, err := try()
			if !errors.Is(err, iderr.ErrFenced) || errors.Is(err, iderr.ErrClockBackwards) || errors.Is(err, iderr.ErrExhausted) {
				t.Errorf("%s: %v", s.name, err)
			}
			for _, text := range texts {
				if !strings.Contains(fmt.Sprint(err), text) {
					t.Errorf("%s: the error does not have %q: %v", s.name, text, err)
				}
			}
		}
		begins := now.Add(30 * time.Second)
		testkit.OK(t, g.Grant(0, begins, begins.Add(time.Second)))
		wantFenced("begins at 2026-03-04T05:06:37Z", "30s ahead of the clock")
		_, err := try()
		if early, ok := errors.AsType[*iderr.EarlyError](err); !ok || !early.Begins.Equal(begins) || early.By != 30*time.Second {
			t.Errorf("%s: %v", s.name, err)
		}
		now = begins.Add(-s.unit)
		wantFenced(s.unit.String() + " ahead of the clock")
		g.Refuse(fmt.Errorf("no store: %w", iderr.ErrFenced))
		wantFenced("no store")
		now = begins
		if _, err := try(); err != nil {
			t.Errorf("%s: in the interval: %v", s.name, err)
		}
	}
}

// Without an error from Seal, a sealed generator has an error of its own.
func TestSealWithoutError(t *testing.T) {
	for _, s := range subjects {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		g, try := s.start(func() time.Time { return now })
		g.Seal(nil)
		if _, err := try(); !errors.Is(err, iderr.ErrFenced) || !strings.HasSuffix(fmt.Sprint(err), "the generator is sealed: make another generator") {
			t.Errorf("%s: %v", s.name, err)
		}
	}
}

// A grant past the last timestamp gives nothing, and not the last tick either. The pool says where that is.
func TestGrantPastTheLastTimestamp(t *testing.T) {
	for _, s := range subjects {
		now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		g, try := s.start(func() time.Time { return now })
		end := g.expiresAt()
		if spec, err := g.Pool(); err != nil || spec.ExpiresAt.IsZero() || !spec.ExpiresAt.Equal(end) {
			t.Errorf("%s: %v, %v", s.name, spec.ExpiresAt, err)
		}
		now = end.Add(-s.unit)
		for _, from := range []time.Time{end, end.Add(1), end.Add(time.Hour), time.Date(30000, 1, 1, 0, 0, 0, 0, time.UTC)} {
			if err := g.Grant(0, from, from.Add(time.Hour)); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
			if m, err := try(); !errors.Is(err, iderr.ErrFenced) {
				t.Errorf("%s: granted from %v on, it makes %v, %v", s.name, from, m, err)
			}
		}
		if err := g.Grant(0, now, end.Add(time.Hour)); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if _, err := try(); err != nil {
			t.Errorf("%s: in the last tick: %v", s.name, err)
		}
	}
}

// Callers meet at the begin of a grant, and at its withdrawal.
func TestCallersFarAhead(t *testing.T) {
	for _, s := range subjects {
		var now atomic.Int64
		start := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
		g, try := s.start(func() time.Time { return start.Add(time.Duration(now.Load())) })
		var callers sync.WaitGroup
		var over atomic.Bool
		var tries atomic.Int64
		made := make([][]made, 4)
		for i := range made {
			callers.Go(func() {
				for !over.Load() {
					m, err := try()
					tries.Add(1)
					if err != nil {
						runtime.Gosched()
					} else if n := len(made[i]); n == 0 || !m.time.Equal(made[i][n-1].time) {
						made[i] = append(made[i], m) // the first ID of each tick is enough
					}
				}
			})
		}
		var granted []interval
		at, entered := start, 0
		for n := range 100 {
			a := interval{worker: n % s.workers, from: at, until: at.Add(5 * s.unit)}
			granted = append(granted, a)
			now.Store(int64(a.from.Add(s.unit).Sub(start)))
			testkit.OK(t, g.Grant(a.worker, a.from, a.until))
			for until := tries.Load() + int64(n%3)*2; tries.Load() < until; {
				runtime.Gosched()
			}
			if n%2 == 0 {
				granted[n].until = later(a.from, earlier(a.until, g.Withdraw()))
			}
			if granted[n].until.After(a.from) {
				entered++
			}
			at = a.until.Add(3 * s.unit)
		}
		over.Store(true)
		callers.Wait()
		seen := make(map[any]bool)
		for _, of := range made {
			for _, m := range of {
				if seen[m.id] {
					t.Fatalf("%s: %v is made twice", s.name, m)
				}
				seen[m.id] = true
				if !s.within(granted, m) {
					t.Fatalf("%s: %v is in nothing that was left granted", s.name, m)
				}
			}
		}
		t.Logf("%s: %d IDs in %d of 100 times", s.name, len(seen), entered)
	}
}

// Grant refuses a worker outside of the pool, and a generator that is not for leases.
func TestBadGrants(t *testing.T) {
	from := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, s := range subjects {
		g, try := s.start(func() time.Time { return from })
		testkit.Is(t, testkit.Err(try()), iderr.ErrFenced, "%s: nothing granted", s.name)
		for _, worker := range []int{-1, s.workers} {
			testkit.Is(t, g.Grant(worker, from, from.Add(time.Hour)), iderr.ErrConfig, "%s: worker %d", s.name, worker)
		}
		for _, until := range []time.Time{from, from.Add(-time.Hour), {}} {
			if err := g.Grant(0, from, until); err != nil {
				t.Errorf("%s: %v", s.name, err)
			}
		}
		testkit.Is(t, testkit.Err(try()), iderr.ErrFenced, "%s: nothing granted", s.name)
		// All timestamps of the format.
		if err := g.Grant(0, time.Time{}, time.Date(30000, 1, 1, 0, 0, 0, 0, time.UTC)); err != nil {
			t.Errorf("%s: %v", s.name, err)
		}
		if _, err := try(); err != nil {
			t.Errorf("%s: all time granted: %v", s.name, err)
		}
	}
	plain := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{GeneratorID: 5}))
	ownPartition := testkit.Must(sno.NewGeneratorWith(sno.Config{}))
	for name, g := range map[string]grant.Grantee{"nanoflake": plain.ForLease(), "sno": ownPartition.ForLease()} {
		if err := g.Grant(5, from, from.Add(time.Hour)); !errors.Is(err, iderr.ErrConfig) || !strings.Contains(err.Error(), "make a generator for a lease with Config.Leased") {
			t.Errorf("%s: a generator that was not made to be leased: %v", name, err)
		}
		if _, err := g.Pool(); !errors.Is(err, iderr.ErrConfig) {
			t.Errorf("%s: the pool of a generator that was not made to be leased: %v", name, err)
		}
	}
	for name, g := range map[string]grant.Grantee{"nanoflake": new(nanoflake.Generator).ForLease(), "ulidflake": new(ulidflake.Generator).ForLease(),
		"ulidflake-scalable": new(ulidflake.ScalableGenerator).ForLease(), "snowflakesi": new(snowflakesi.Generator).ForLease(),
		"scru160": new(scru160.Generator).ForLease(), "sno": new(sno.Generator).ForLease()} {
		testkit.Is(t, testkit.Err(g.Pool()), iderr.ErrNotReady, "%s: the pool of a generator that no constructor made", name)
	}
	for name, err := range map[string]error{
		"nanoflake":          second(nanoflake.NewGenerator(nanoflake.Config{Leased: true, GeneratorID: 1})),
		"ulidflake scalable": second(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Leased: true, Scalability: 1})),
		"snowflakesi":        second(snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, MachineID: 1})),
		"scru160 node":       second(scru160.NewGenerator(scru160.Config{Leased: true, NodeBits: 1, NodeID: 1})),
		"scru160 restart":    second(scru160.NewGenerator(scru160.Config{Leased: true, Restart: true})),
		"sno":                second(sno.NewGeneratorWith(sno.Config{Leased: true, Snapshot: new(sno.GeneratorSnapshot)})),
	} {
		if !errors.Is(err, iderr.ErrConfig) {
			t.Errorf("%s: settings that contradict each other: %v", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

// Stores have the names and layouts of pools, and other versions of a program must find the pools. The
// name shows each unusual setting: different configurations never share a pool by accident.
func TestPools(t *testing.T) {
	epoch := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	unix := time.Unix(0, 0).UTC()
	named := make(map[string]bool)
	for _, test := range []struct {
		name    string
		format  string
		epoch   time.Time
		unit    time.Duration
		widths  []int
		workers int
		is      grant.Grantee
	}{
		{"nanoflake", "nanoflake", nanoflake.DefaultEpoch(), time.Millisecond, []int{41, 10, 12}, 1024,
			testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true})).ForLease()},
		{"nanoflake@1577836800000", "nanoflake", epoch, time.Millisecond, []int{41, 10, 12}, 1024,
			testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true, Epoch: epoch})).ForLease()},
		{"ulidflake", "ulidflake", ulidflake.DefaultEpoch(), time.Millisecond, []int{43, 20}, 1,
			testkit.Must(ulidflake.NewGenerator(ulidflake.Config{Leased: true})).ForLease()},
		{"ulidflake@1577836800000", "ulidflake", epoch, time.Millisecond, []int{43, 20}, 1,
			testkit.Must(ulidflake.NewGenerator(ulidflake.Config{Leased: true, Epoch: epoch})).ForLease()},
		{"ulidflake-scalable", "ulidflake-scalable", ulidflake.DefaultEpoch(), time.Millisecond, []int{43, 15, 5}, 32,
			testkit.Must(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Leased: true})).ForLease()},
		{"ulidflake-scalable@1577836800000", "ulidflake-scalable", epoch, time.Millisecond, []int{43, 15, 5}, 32,
			testkit.Must(ulidflake.NewScalableGenerator(ulidflake.ScalableConfig{Leased: true, Epoch: epoch})).ForLease()},
		{"snowflakesi", "snowflakesi", snowflakesi.DefaultEpoch(), time.Millisecond, []int{40, 5, 8}, 32,
			testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{Leased: true})).ForLease()},
		{"snowflakesi@1577836800000", "snowflakesi", epoch, time.Millisecond, []int{40, 5, 8}, 32,
			testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Epoch: epoch})).ForLease()},
		{"snowflakesi-41-6", "snowflakesi", snowflakesi.DefaultEpoch(), time.Millisecond, []int{41, 6, 6}, 64,
			testkit.Must(snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Layout: snowflakesi.Layout{ClockBits: 41, MachineBits: 6}})).ForLease()},
		{"scru160", "scru160", unix, time.Millisecond, []int{48, 16, 0}, 1,
			testkit.Must(scru160.NewGenerator(scru160.Config{Leased: true})).ForLease()},
		{"scru160-0-3", "scru160", unix, time.Millisecond, []int{48, 16, 3}, 8,
			testkit.Must(scru160.NewGenerator(scru160.Config{Leased: true, NodeBits: 3})).ForLease()},
		{"scru160-3-0", "scru160", unix, time.Millisecond, []int{48, 19, 0}, 1,
			testkit.Must(scru160.NewGenerator(scru160.Config{Leased: true, ExtraCounterBits: 3})).ForLease()},
		{"scru160-us", "scru160", unix, time.Microsecond, []int{48, 16, 0}, 1,
			testkit.Must(scru160.NewGenerator(scru160.Config{Leased: true, Counter: scru160.CounterMicroseconds})).ForLease()},
		{"sno", "sno", time.Unix(sno.Epoch, 0).UTC(), 4 * time.Millisecond, []int{39, 1, 8, 16, 16}, 65536,
			testkit.Must(sno.NewGeneratorWith(sno.Config{Leased: true})).ForLease()},
	} {
		want := grant.Spec{Name: test.name, Layout: grant.Layout{Format: test.format, Epoch: test.epoch, Unit: test.unit, Widths: test.widths, Workers: test.workers}}
		got, err := test.is.Pool()
		if got.ExpiresAt = (time.Time{}); err != nil || !reflect.DeepEqual(got, want) { // TestGrantPastTheLastTimestamp looks at ExpiresAt
			t.Errorf("%+v, %v, not %+v", got, err, want)
		}
		if named[test.name] {
			t.Errorf("two configurations have pool %s", test.name)
		}
		named[test.name] = true
	}
	same, err := testkit.Must(nanoflake.NewGenerator(nanoflake.Config{Leased: true, Epoch: nanoflake.DefaultEpoch()})).ForLease().Pool()
	if err != nil || same.Name != "nanoflake" {
		t.Errorf("the default epoch, given, makes pool %v, %v", same, err)
	}
}
