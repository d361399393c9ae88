package lease

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

func TestStoreClock(t *testing.T) {
	for _, by := range []time.Duration{-time.Hour, -61 * time.Second, -59 * time.Second, 0, 59 * time.Second, 61 * time.Second, 87600 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			clock, right := newTestClock(), newTestClock()
			clock.step(by)
			p := mustCreate(t, faults.Clocked{Store: memlease.New(), Time: right.now}, 2)
			checked := p.CheckClock(t.Context(), Config{clock: clock.now})
			err := tries(t, p, clock, Config{Wait: -1})
			skew, wrong := errors.AsType[*SkewError](err)
			if fmt.Sprint(checked) != fmt.Sprint(err) {
				t.Errorf("a clock that is wrong by %v: CheckClock says %v, Start %v", by, checked, err)
			}
			if wrong != (by.Abs() > time.Minute) || wrong != errors.Is(err, ErrClockSkew) || wrong && (skew.Now.Sub(skew.Reference) != by || !skew.OfStore) {
				t.Errorf("a clock that is wrong by %v: %v", by, err)
			}
			for _, c := range []Config{{Wait: -1, MaxSkew: by.Abs() + time.Millisecond}, {Wait: -1, TrustClock: true}} {
				if err := tries(t, p, clock, c); err != nil {
					t.Errorf("a clock that is wrong by %v, with MaxSkew %v, TrustClock %v: %v", by, c.MaxSkew, c.TrustClock, err)
				}
			}
		})
	}
}

// A renewal notices a clock that has jumped to an impossible time.
func TestClockJumps(t *testing.T) {
	for name, far := range map[string]time.Duration{"records": 2 * 365 * 24 * time.Hour, "clock": 2 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			clock, right := newTestClock(), newTestClock()
			var store driver.Store = memlease.New()
			if name == "clock" {
				store = faults.Clocked{Store: store, Time: right.now}
			}
			g, l, log := keep(t, mustCreate(t, store, 2), clock, Config{})
			time.Sleep(10 * time.Second)
			clock.step(far)
			time.Sleep(10 * time.Second)
			if _, err := g.TryNext(); !errors.Is(err, ErrClockSkew) || !errors.Is(err, ErrLeaseExpired) {
				t.Errorf("a clock that is %v ahead, by the store's %s: %v", far, name, err)
			}
			clock.step(-far)
			time.Sleep(10 * time.Second)
			mints(t, g, l)
			log.want(t, "acquired renewed expired renewed recovered", "acquired renewed expired renewed recovered renewed")
		})
	}
}

// If the clock goes back, the generator reports an error, and the lease waits until the clock is
// right.
func TestClockGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		g, l, log := keep(t, mustCreate(t, memlease.New(), 2), clock, Config{})
		time.Sleep(20 * time.Second)
		mints(t, g, l)
		until := l.Until()
		clock.step(-time.Hour)
		time.Sleep(10 * time.Second)
		testkit.Is(t, testkit.Err(g.TryNext()), iderr.ErrClockBackwards, "")
		if !l.Until().Equal(until) {
			t.Errorf("it was renewed until %v, from %v", l.Until(), until)
		}
		clock.step(time.Hour)
		time.Sleep(time.Second)
		mints(t, g, l)
		log.want(t, "acquired renewed ahead recovered renewed")
	})
}

// A pool knows the time of its creation: a first worker years ahead does not set the time of the pool,
// and neither does a worker an hour ahead.
func TestYoungPool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		right, ahead := newTestClock(), newTestClock()
		p := mustCreate(t, memlease.New(), 4)
		ahead.step(87600 * time.Hour)
		testkit.Is(t, tries(t, p, ahead, Config{Wait: -1}), ErrClockSkew, "the first clock is ten years ahead")
		behind := newTestClock()
		behind.step(-time.Hour)
		testkit.Is(t, tries(t, p, behind, Config{Wait: -1}), ErrClockSkew, "the first clock is an hour behind")
		ahead.step(-87599 * time.Hour)
		for _, c := range []*testClock{ahead, right, right} {
			l := testkit.Must(try(t, p, c, Config{Wait: -1}))
			defer l.Close()
		}
		// After years with workers in use all the time, the clock is as right as before.
		for range 3 {
			right.step(300 * 24 * time.Hour)
			ahead.step(300 * 24 * time.Hour)
			time.Sleep(time.Minute)
		}
		testkit.OK(t, tries(t, p, right, Config{Wait: -1}))
	})
}

// If the store has no clock, leases compare their clocks with the records. A pool is in use if any worker
// is in use. Other workers may have been idle for years. After an operator has trusted the clock once,
// leases start. A record years ahead does not count.
func TestIdlePool(t *testing.T) {
	const day, year = 24 * time.Hour, 365 * 24 * time.Hour
	for name, test := range map[string]struct {
		used      []time.Duration // before now
		reference time.Duration   // of the error, before now; 0 for none
	}{
		"all are old enough":          {[]time.Duration{year + time.Hour, year + time.Hour}, year + time.Hour},
		"all are old, but not enough": {[]time.Duration{year - time.Hour, year - time.Hour}, 0},
		"all are far ahead":           {[]time.Duration{-2 * time.Minute, -2 * time.Minute, -2 * time.Minute}, -2 * time.Minute},
		"all are ahead, but not far":  {[]time.Duration{-time.Minute, -time.Minute, -time.Minute}, 0},
		"all are old":                 {[]time.Duration{400 * day, 500 * day, 600 * day}, 400 * day},
		"one is in use":               {[]time.Duration{400 * day, 500 * day, 0}, 0},
		"one was used months ago":     {[]time.Duration{400 * day, 364 * day, 500 * day}, 0},
		"one is years ahead":          {[]time.Duration{400 * day, 500 * day, -3650 * day}, 400 * day},
		"the only one is years ahead": {[]time.Duration{-3650 * day}, 0},
		"most are years ahead":        {[]time.Duration{400 * day, -3650 * day, -3000 * day, -3650 * day}, -3000 * day},
		"the only one is old":         {[]time.Duration{400 * day}, 400 * day},
		"none was used":               {nil, 700 * day},
	} {
		synctest.Test(t, func(t *testing.T) {
			clock := newTestClock()
			clock.step(700 * day) // since the pool was created
			store := memlease.New()
			p := mustCreate(t, store, 8)
			testkit.Must(p.grow(t.Context(), -1))
			for worker, before := range test.used {
				r := p.unused(worker, p.term())
				r.Until, r.Attempt = clock.now().Add(-before).UnixMicro(), "x"
				put(t, store, workerKey("p", worker), encode(r))
			}
			c := Config{clock: clock.now, Wait: -1}
			checked := p.CheckClock(t.Context(), c)
			err := tries(t, p, clock, c)
			if fmt.Sprint(err) != fmt.Sprint(checked) {
				t.Errorf("%s: CheckClock says %v, Start %v", name, checked, err)
			}
			var ago time.Duration
			if skew, ok := errors.AsType[*SkewError](err); ok {
				ago = clock.now().Sub(skew.Reference).Round(time.Second)
				if skew.OfStore {
					t.Errorf("%s: %v is by the store's clock", name, err)
				}
			}
			if ago != test.reference || (err == nil) != (test.reference == 0) {
				t.Errorf("%s: %v, want a reference %v ago", name, err, test.reference)
			}
			if test.reference <= 0 {
				return // of records ahead, it takes as many to outvote the others
			}
			c.TrustClock = true
			testkit.OK(t, p.CheckClock(t.Context(), c))
			for range 4 {
				if err := tries(t, p, clock, c); err != nil {
					t.Errorf("%s: trusted, now or once: %v: %v", name, c.TrustClock, err)
				}
				c.TrustClock = false
			}
		})
	}
}

// CheckClock reports invalid settings, and a store that cannot be asked.
func TestCheckClock(t *testing.T) {
	p, down := cutOff(mustCreate(t, memlease.New(), 2))
	testkit.Is(t, p.CheckClock(t.Context(), Config{MaxSkew: -1}), ErrConfig, "")
	down.Store(true)
	testkit.Is(t, p.CheckClock(t.Context(), Config{}), driver.ErrUnavailable, "")
}

// If no lease holds a worker, and a clock that was ahead has used up all workers, the error does
// not say that the workers are taken.
func TestWorkersAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		for worker := range 2 {
			_, l, _ := keep(t, p, clock, Config{Worker: Number(worker), Wait: -1})
			time.Sleep(time.Second)
			testkit.OK(t, l.Close())
		}
		until := clock.now()
		clock.step(-40 * time.Second)
		err := tries(t, p, clock, Config{Wait: -1})
		if none, ok := errors.AsType[*NoWorkerError](err); !ok || !none.Ahead || none.Soonest.Before(until.Add(-2*time.Second)) {
			t.Errorf("%v", err)
		}
		clock.step(39 * time.Second)
		keep(t, p, clock, Config{Wait: -1}) // the first of them is free again
		clock.step(-39 * time.Second)
		err = tries(t, p, clock, Config{Wait: -1})
		if none, ok := errors.AsType[*NoWorkerError](err); !ok || none.Ahead {
			t.Errorf("one is held: %v", err)
		}
	})
}
