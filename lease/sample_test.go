package lease

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
)

// seeded returns settings for a lease with chances from a seed. So the requests of a test are the same
// each time.
func seeded(clock *testClock, seed uint64) Config {
	return Config{clock: clock.now, intN: rand.New(rand.NewPCG(seed, 1)).IntN, Wait: -1, Window: time.Hour, First: time.Hour, Timeout: time.Minute}
}

// starting takes a lease for a generator that mints nothing, as any worker, and does not renew it.
func starting(t *testing.T, p *Pool, c Config) (*Lease, error) {
	return p.kept(t.Context(), idleGenerator{c.clock}, c)
}

// An idleGenerator takes grants of any worker, and mints nothing.
type idleGenerator struct{ clock func() time.Time }

func (g idleGenerator) Pool() (grant.Spec, error)             { return grant.Spec{}, nil }
func (g idleGenerator) Now() time.Time                        { return g.clock() }
func (g idleGenerator) Grant(int, time.Time, time.Time) error { return nil }
func (g idleGenerator) Withdraw() time.Time                   { return time.UnixMicro(0) }
func (g idleGenerator) Delay(error)                           {}
func (g idleGenerator) Refuse(error)                          {}
func (g idleGenerator) Seal(error) time.Time                  { return time.UnixMicro(0) }

// A clockedTraffic is that of a store with a clock.
type clockedTraffic struct {
	*traffic
	time func() time.Time
}

func (t clockedTraffic) Now(ctx context.Context) (now time.Time, err error) {
	err = t.call(call{ctx: ctx, op: "now", do: func(context.Context) error { now = t.time(); return nil }})
	return now, err
}

// stocked returns a pool of workers with records for the first made workers. Until is where the
// interval of a worker ends, after now; the interval is held if its end is to come.
func stocked(t *testing.T, store driver.Store, clock *testClock, workers, made int, until func(worker int) time.Duration) *Pool {
	t.Helper()
	p := mustCreate(t, store, workers)
	for worker := range made {
		r := p.unused(worker, p.term())
		if ends := until(worker); ends != 0 {
			r.Until, r.Attempt = clock.now().Add(ends).UnixMicro(), "x"
			if ends > 0 {
				r.Window, r.Incarnation = time.Minute.Microseconds(), "somebody"
			}
		}
		testkit.Must(store.Put(t.Context(), workerKey("p", worker), encode(r), driver.None))
	}
	r, rev, err := readPool(t.Context(), store, "p")
	testkit.OK(t, err)
	r.Made = [][2]int{{0, made}}
	testkit.Must(store.Put(t.Context(), poolKey("p"), encode(r), rev))
	return p
}

// A start makes few requests and reads few bytes, however many records the pool has.
func TestStartTraffic(t *testing.T) {
	const minute = time.Minute
	for name, test := range map[string]struct {
		workers, made int
		until         func(worker int) time.Duration
		c             Config
		clocked       bool
		requests      int // of each start, on average, without the one of Close
		bytes         int // read, of each start
		lists         int // of all starts
	}{
		"a full list is cheap":    {1024, 16, func(int) time.Duration { return -minute }, Config{}, false, 4, 7000, 20},
		"all are free":            {1024, 1024, func(int) time.Duration { return -minute }, Config{}, false, 4, 3500, 0},
		"one in two is held":      {1024, 1024, func(n int) time.Duration { return minute * time.Duration(n%2*2-1) }, Config{}, false, 5, 3500, 0},
		"50 000 are free":         {65536, 50_000, func(int) time.Duration { return -minute }, Config{}, false, 4, 3500, 0},
		"25 000 are held":         {65536, 50_000, func(n int) time.Duration { return minute * time.Duration(n%2*2-1) }, Config{}, false, 9, 3500, 0},
		"50 000 are held":         {65536, 50_000, func(int) time.Duration { return minute }, Config{}, false, 30, 9000, 0},
		"65 536, nine in ten":     {65536, 65536, func(n int) time.Duration { return minute * time.Duration(2*min(n%10, 1)-1) }, Config{}, false, 16, 6000, 0},
		"the store has a clock":   {65536, 50_000, func(int) time.Duration { return -minute }, Config{}, true, 5, 1500, 0},
		"the clock is trusted":    {65536, 50_000, func(int) time.Duration { return -minute }, Config{TrustClock: true}, false, 4, 1500, 0},
		"a Number":                {65536, 50_000, func(int) time.Duration { return -minute }, Config{Worker: Number(49_000)}, false, 10, 3500, 0},
		"a Number without record": {65536, 50_000, func(int) time.Duration { return -minute }, Config{Worker: Number(60_000)}, false, 12, 4000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := newTestClock()
				mem := memlease.New()
				p := stocked(t, mem, clock, test.workers, test.made, test.until)
				testkit.OK(t, p.note(t.Context(), seeded(clock, 0).Window.Microseconds())) // the first of such leases does
				counted := newTraffic(mem)
				p.store = counted
				if test.clocked {
					p.store = clockedTraffic{counted, clock.now}
				}
				const starts = 20
				for seed := range uint64(starts) {
					c := seeded(clock, seed)
					c.Worker, c.TrustClock = test.c.Worker, test.c.TrustClock
					l := testkit.Must(starting(t, p, c))
					testkit.OK(t, l.Close())
				}
				requests, lists, read := counted.counts()
				if requests > starts*(test.requests+1) || read > starts*test.bytes || lists > test.lists {
					t.Errorf("a start makes %.1f requests, reads %d bytes and makes %.2f lists; want %d, %d, %d of all",
						float64(requests)/starts-1, read/starts, float64(lists)/starts, test.requests, test.bytes, test.lists)
				}
			})
		})
	}
}

// A fleet of 1000 restarts again and again, and half of its leases are killed: their records stay held for a
// window. Each start makes a few requests and lists nothing, and the pool gets few records beyond the
// most that are held at a time, which are 1500.
func TestRollingRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, mem := newTestClock(), memlease.New()
		p, counted := mustCreate(t, mem, 65536), newTraffic(mem)
		p.store = counted
		const fleet, rolls, window = 1000, 10, 10 * time.Second
		leases := make([]*Lease, fleet)
		seed := uint64(0)
		for roll := range rolls {
			for i, old := range leases {
				switch {
				case old == nil:
				case (i+roll)%2 == 0:
					testkit.OK(t, old.Close())
				default: // killed: the interval ends a window later
					r := old.held.record
					r.Until = clock.now().Add(window).UnixMicro()
					put(t, mem, workerKey("p", r.Worker), encode(&r))
				}
				seed++
				leases[i] = testkit.Must(starting(t, p, seeded(clock, seed)))
				time.Sleep(window / fleet)
			}
			held := fleet + fleet/2
			most, bytes := 2*held, (9000+500*roll)*fleet // the histories of records grow
			requests, lists, read := counted.counts()
			if n := made(t, mem); requests > 15*fleet || read > bytes || lists > fleet/20 || n[0][1] > most || len(n) > 1 {
				t.Errorf("roll %d: %.1f requests and %d bytes a start, %d lists, records of the workers %v", roll, float64(requests)/fleet, read/fleet, lists, n)
			}
			t.Logf("roll %2d: a start makes %.1f requests and reads %d bytes; %d lists; %d records", roll, float64(requests)/fleet, read/fleet, lists, made(t, mem)[0][1])
		}
		for _, l := range leases {
			l.Close()
		}
	})
}

// A search finds the last free worker of a pool in which all workers have records, at once.
func TestLastFree(t *testing.T) {
	for _, number := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			clock := newTestClock()
			p := stocked(t, memlease.New(), clock, 300, 300, func(worker int) time.Duration {
				if worker == 123 {
					return -time.Minute
				}
				return time.Minute
			})
			for seed := range uint64(20) {
				c := seeded(clock, seed)
				if number {
					c.Worker = Number(123)
				}
				l, err := starting(t, p, c)
				if err != nil || l.Worker() != 123 {
					t.Fatal(l, err)
				}
				testkit.OK(t, l.Close())
			}
		})
	}
}

// A search in a full pool says so, with the time of the first end of an interval. The search lists
// the records once: a try after it needs no sample.
func TestSampleFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, mem := newTestClock(), memlease.New()
		p := stocked(t, mem, clock, 300, 300, func(worker int) time.Duration { return time.Minute + time.Duration(worker)*10*time.Millisecond })
		counted := newTraffic(mem)
		p.store = counted
		c := seeded(clock, 1)
		c.Wait = 3 * time.Second
		first := clock.now().Add(time.Minute)
		_, err := starting(t, p, c)
		if none, ok := errors.AsType[*NoWorkerError](err); !ok || !errors.Is(err, ErrNoWorker) || none.Pool != "p" || none.Workers != 300 || !none.Soonest.Equal(first) {
			t.Errorf("%v; want %v", err, first)
		}
		if requests, lists, _ := counted.counts(); requests > 300/sampleShare+3*lists {
			t.Errorf("%d requests with %d lists", requests, lists)
		}
	})
}

// A sample accepts clocks, and refuses none: a Start in a large pool refuses the clocks that the list of
// all records refuses.
func TestSampleClock(t *testing.T) {
	const day = 24 * time.Hour
	share := func(n int, ends, others time.Duration) func(int) time.Duration {
		return func(worker int) time.Duration {
			if worker < n {
				return ends
			}
			return others
		}
	}
	for name, test := range map[string]struct {
		until func(int) time.Duration
		wrong bool
	}{
		"all are recent":             {share(0, 0, -time.Minute), false},
		"some are ahead":             {share(40, 2*time.Hour, -time.Minute), false},
		"as many are ahead":          {share(50, 2*time.Hour, -time.Minute), false},
		"all are ahead":              {share(0, 0, 2*time.Hour), true},
		"all are old":                {share(0, 0, -400*day), true},
		"all are old but one":        {share(1, -time.Minute, -400*day), false},
		"most are old, some unused":  {share(90, -400*day, 0), true},
		"some are years ahead":       {share(30, 3650*day, -time.Minute), false},
		"one is years ahead":         {share(1, 3650*day, -400*day), true},
		"all but one are ahead":      {share(1, -time.Minute, 2*time.Hour), true},
		"none was used, for 2 years": {share(0, 0, 0), true},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock := newTestClock()
			store := memlease.New()
			p := stocked(t, store, clock, 1024, 100, test.until)
			p.created = clock.now().Add(-730 * day)
			for seed := range uint64(40) {
				for _, worker := range []Choice{{}, Number(99)} {
					c := seeded(clock, seed)
					c.Worker = worker
					checked := p.CheckClock(t.Context(), c)
					_, err := starting(t, p, c)
					if held := errors.Is(err, ErrHeld); errors.Is(checked, ErrClockSkew) != test.wrong || errors.Is(err, ErrClockSkew) != test.wrong || !held && fmt.Sprint(err) != fmt.Sprint(checked) {
						t.Errorf("%s: seed %d: CheckClock says %v, Start %v", name, seed, checked, err)
						return
					}
				}
			}
		})
	}
}

// A clock between the creation of the pool and the last records is refused, though three of 1024 records were ever used
// and a sample hardly has one of these.
func TestClockOfUnused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		p := stocked(t, memlease.New(), clock, 1024, 1024, func(worker int) time.Duration {
			if worker%400 == 0 {
				return 2 * time.Hour
			}
			return 0
		})
		p.created = clock.now().Add(-time.Hour)
		for seed := range uint64(20) {
			testkit.Is(t, testkit.Err(starting(t, p, seeded(clock, seed))), ErrClockSkew, "seed %d", seed)
		}
	})
}

// A worker is not leased by a record that was read before a recovery: the lease reads the pool's record again
// after taking the worker.
func TestSampleRecovered(t *testing.T) {
	for _, worker := range []Choice{{}, Number(70)} {
		synctest.Test(t, func(t *testing.T) {
			clock, mem := newTestClock(), memlease.New()
			p := stocked(t, mem, clock, 1024, 100, func(int) time.Duration { return -time.Minute })
			reads, recovered := 0, false
			p.store = &hooked{Store: mem, around: func(c call) error {
				err := c.do(c.ctx)
				if strings.HasPrefix(c.key, workersKey("p")) {
					reads++
				}
				if reads == map[bool]int{false: 1, true: 2}[worker.named] && !recovered { // after the sample, or the worker's own record
					recovered = true
					r, rev, unread := readPool(c.ctx, mem, "p")
					testkit.OK(t, unread)
					r.Version, r.Generation, r.Floor = recoveredVersion, 2, clock.now().Add(time.Minute).UnixMicro()
					testkit.Must(mem.Put(c.ctx, poolKey("p"), encode(r), rev)) // the recovery's first step
				}
				return err
			}}
			c := seeded(clock, 7)
			c.Worker = worker
			_, err := starting(t, p, c)
			if !recovered || !errors.Is(err, ErrRecovering) && !errors.Is(err, ErrNoWorker) {
				t.Error(err)
			}
			nothingHeld(t, mem, "a recovery has begun")
		})
	}
}

// A search that reads a record that is missing, damaged or another pool's takes no worker.
func TestSampleDamaged(t *testing.T) {
	clock := newTestClock()
	for name, test := range map[string]struct {
		value []byte
		want  error
	}{"damaged": {[]byte("{"), ErrDamaged}, "foreign": {encode(&record{Version: workerVersion, Worker: 3, Generation: 1, Pool: newUUID()}), errForeign}} {
		mem := memlease.New()
		p := stocked(t, mem, clock, 1024, 100, func(int) time.Duration { return -time.Minute })
		for worker := range 100 {
			put(t, mem, workerKey("p", worker), test.value)
		}
		testkit.Is(t, testkit.Err(starting(t, p, seeded(clock, 1))), ErrDamaged, "%s", name)
	}
	mem := memlease.New()
	p := stocked(t, mem, clock, 1024, 100, func(int) time.Duration { return -time.Minute })
	r, rev, err := readPool(t.Context(), mem, "p")
	testkit.OK(t, err)
	r.Made = [][2]int{{500, 600}}
	testkit.Must(mem.Put(t.Context(), poolKey("p"), encode(r), rev))
	testkit.Is(t, testkit.Err(starting(t, p, seeded(clock, 1))), ErrMissing, "")
}
