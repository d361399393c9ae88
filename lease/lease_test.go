package lease

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

func TestLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 4)
		g, l, log := keep(t, p, clock, Config{Holder: "me"})
		if l.Pool() != p || l.Err() != nil || l.Until().Sub(clock.now()) > time.Second {
			t.Errorf("at first: %v, until %v, %v", l.Pool(), l.Until(), l.Err())
		}
		for range 1000 {
			mints(t, g, l)
			time.Sleep(97 * time.Millisecond)
		}
		if left := l.Until().Sub(clock.now()); left < 7*time.Second || left > 10*time.Second {
			t.Errorf("%v are left of 10 s", left)
		}
		used, _, err := p.Workers(t.Context())
		if err != nil || len(used) != 1 || used[0].Holder != "me" || !used[0].Held || used[0].Number != l.Worker() || !used[0].Until.Equal(l.Until()) {
			t.Errorf("Workers: %+v, %v", used, err)
		}
		mints(t, g, l)
		testkit.OK(t, l.Close())
		testkit.OK(t, l.Close())
		testkit.Is(t, testkit.Err(g.TryNext()), ErrClosed, "after Close")
		if used, _, err = p.Workers(t.Context()); err != nil || used[0].Held || used[0].Holder != "" || used[0].Until.Sub(clock.now()) > 2*time.Millisecond {
			t.Errorf("after Close: %+v, %v", used, err)
		}
		log.want(t, "acquired renewed released")
		for i, e := range log.events[:len(log.events)-1] {
			if e.Pool != "p" || e.Worker != l.Worker() || !e.From.Before(e.Until) || i > 0 && e.From.Before(log.events[i-1].Until) {
				t.Errorf("event %d is %+v", i, e)
			}
		}
		// The next lease gets the worker at once, and a later interval.
		_, next, log2 := keep(t, p, clock, Config{Worker: Number(l.Worker()), Wait: -1})
		if next.Worker() != l.Worker() || log2.events[0].From.Before(log.last(t, Released).Until) {
			t.Errorf("after %v comes %v", log.last(t, Released), log2.events[0])
		}
	})
}

func TestExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		pool, down := cutOff(mustCreate(t, memlease.New(), 2))
		g, l, log := keep(t, pool, clock, Config{})
		time.Sleep(20 * time.Second)
		down.Store(true)
		until := l.Until()
		for clock.now().Before(until) {
			mints(t, g, l)
			time.Sleep(10 * time.Millisecond)
		}
		if err := l.Err(); !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("Err is %v", err)
		}
		time.Sleep(time.Second)
		_, err := g.TryNext()
		var expired *ExpiredError
		if !errors.As(err, &expired) || !errors.Is(err, ErrLeaseExpired) || !errors.Is(err, iderr.ErrFenced) || !errors.Is(err, driver.ErrUnavailable) ||
			!expired.Until.Equal(until) || expired.Worker != l.Worker() || expired.Pool != "p" {
			t.Errorf("after the end: %v", err)
		}
		testkit.Is(t, testkit.Err(g.Next(t.Context())), ErrLeaseExpired, "Next waits for nothing")
		down.Store(false)
		time.Sleep(time.Second)
		mints(t, g, l)
		log.want(t, "acquired renewed failing expired renewed recovered")
		if e := log.last(t, Failing); e.Left <= 0 || e.Left > 10*time.Second || e.Err == nil {
			t.Errorf("failing: %+v", e)
		}
		if l.Err() != nil {
			t.Errorf("Err is still %v", l.Err())
		}
	})
}

func TestLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		q, down := cutOff(p)
		g, l, log := keep(t, q, clock, Config{})
		time.Sleep(5 * time.Second)
		lost := l.Worker()
		down.Store(true)
		_, l2, _ := keep(t, p, clock, Config{Worker: Number(lost), Holder: "the second"})
		if l2.Worker() != lost {
			t.Fatalf("the second has worker %d", l2.Worker())
		}
		time.Sleep(time.Second)
		down.Store(false)
		time.Sleep(time.Second)
		mints(t, g, l)
		if l.Worker() == lost {
			t.Errorf("it still has worker %d", lost)
		}
		log.want(t, "acquired renewed failing expired lost acquired recovered", "acquired renewed failing expired lost acquired recovered renewed")
		var held *HeldError
		if e := log.last(t, Lost); e.Worker != lost || !errors.As(e.Err, &held) || held.Holder != "the second" {
			t.Errorf("lost: %+v", e)
		}
	})
}

// A lease that lost the pool's only worker while the store was down says once that it waits, and takes
// the first worker that comes free.
func TestLostAndNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		q, down := cutOff(p)
		g, l, log := keep(t, q, clock, Config{})
		down.Store(true)
		_, l2, _ := keep(t, p, clock, Config{})
		down.Store(false)
		time.Sleep(20 * time.Second)
		if _, err := g.TryNext(); !errors.Is(err, ErrLeaseExpired) || !errors.Is(err, ErrNoWorker) {
			t.Errorf("without a worker: %v", err)
		}
		if l.Err() == nil {
			t.Error("Err is nil")
		}
		l2.Close()
		time.Sleep(time.Second)
		mints(t, g, l)
		if got := log.kinds(); !strings.Contains(got, " lost waiting ") || !strings.Contains(got, " acquired") {
			t.Errorf("events: %s", got)
		}
		waits := func(e Event) bool { return e.Kind == Waiting }
		if first := slices.IndexFunc(log.events, waits); slices.ContainsFunc(log.events[first+1:], waits) {
			t.Errorf("it said more than once that it waits: %v", log.events)
		}
		testkit.OK(t, l.Close())
		if got := log.last(t, Released); got.Worker != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// A store may be readable and not writable: such a store has lost nothing.
func TestCloseReadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		full, down := errors.New("no space left"), false
		p.store = &hooked{Store: p.store, before: func(op, _ string) error {
			if down && op == "put" {
				return fmt.Errorf("%w: %w", driver.ErrUnavailable, full)
			}
			return nil
		}}
		_, l, _ := keep(t, p, clock, Config{})
		time.Sleep(20 * time.Second) // some renewals
		synctest.Wait()
		down = true
		if err := l.Close(); !errors.Is(err, full) || errors.Is(err, ErrRolledBack) {
			t.Errorf("Close: %v", err)
		}
	})
}

func TestConfig(t *testing.T) {
	layout := testLayout(4)
	c, err := Config{}.settle(layout)
	testkit.OK(t, err)
	if c.Window != DefaultWindow || c.First != DefaultFirst || c.Timeout != DefaultTimeout || c.MaxSkew != DefaultMaxSkew ||
		c.MaxIdle != DefaultMaxIdle || c.Wait != DefaultWindow+5*time.Second || c.Holder == "" || c.Notify == nil || c.world == nil {
		t.Errorf("the defaults are %+v", c)
	}
	if c, err = (Config{Window: 100 * time.Millisecond, Holder: strings.Repeat("x", 999)}).settle(layout); err != nil ||
		c.First != c.Window || c.Timeout != 30*time.Millisecond || len(c.Holder) > maxHolder {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err = (Config{Wait: -1, Worker: Number(3)}).settle(layout); err != nil || c.Wait >= 0 {
		t.Errorf("%+v, %v", c, err)
	}
	coarse := layout
	coarse.Unit = time.Second
	for name, test := range map[string]struct {
		c      Config
		layout grant.Layout
	}{
		"Window":    {Config{Window: 9 * time.Millisecond}, layout},
		"Window of": {Config{Window: 2 * time.Second}, coarse},
		"Window 25": {Config{Window: MaxWindow + time.Hour}, layout},
		"First":     {Config{First: 2 * time.Millisecond}, layout},
		"First 11s": {Config{First: 11 * time.Second}, layout},
		"Timeout":   {Config{Timeout: -1}, layout},
		"MaxSkew":   {Config{MaxSkew: -1}, layout},
		"MaxIdle":   {Config{MaxIdle: time.Millisecond}, layout},
		"worker 4":  {Config{Worker: Number(4)}, layout},
		"worker -1": {Config{Worker: Number(-1)}, layout},
	} {
		_, err := test.c.settle(test.layout)
		if field, _, _ := strings.Cut(name, " of"); !errors.Is(err, ErrConfig) || !strings.Contains(err.Error(), field) {
			t.Errorf("%s: %v", name, err)
		}
		p := &Pool{layout: test.layout}
		testkit.Is(t, testkit.Err(p.start(t.Context(), nil, test.c)), ErrConfig, "Start with %s", name)
	}
}

// All times of records are whole ticks, on either side of the epoch.
func TestTicks(t *testing.T) {
	for _, unit := range []time.Duration{time.Microsecond, time.Millisecond, 4 * time.Millisecond, time.Second} {
		epoch := time.UnixMicro(1_262_304_000_000_777)
		l := &Lease{pool: &Pool{layout: grant.Layout{Epoch: epoch, Unit: unit}}}
		us := unit.Microseconds()
		for _, tick := range []int64{-1_000_000, -1, 0, 1, 999_999_999} {
			at := epoch.UnixMicro() + tick*us
			if l.roundDown(at) != at || l.roundUp(at) != at {
				t.Errorf("unit %v: tick %d is rounded", unit, tick)
			}
			if us > 1 && (l.roundDown(at+1) != at || l.roundDown(at+us-1) != at || l.roundUp(at+1) != at+us || l.roundUp(at-us+1) != at) {
				t.Errorf("unit %v: tick %d is badly rounded", unit, tick)
			}
		}
	}
}

// Records may be unwritable: a stopped process may hold a lock. A lease then takes a worker without
// a record. If all workers have records, the lease reports the error.
func TestStuckRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), memlease.New()
		p := mustCreate(t, store, 6)
		keep(t, p, clock, Config{})            // makes the first four records
		stuck := func(last int) driver.Store { // up to which no record can be written
			return &hooked{Store: store, around: func(c call) error {
				if c.changes() && c.key <= workerKey("p", last) {
					return driver.ErrUnavailable
				}
				return c.do(c.ctx)
			}}
		}
		p.store = stuck(3)
		_, l, _ := keep(t, p, clock, Config{})
		if l.Worker() < 4 {
			t.Errorf("worker %d, whose record cannot be written", l.Worker())
		}
		p.store = stuck(5)
		testkit.Is(t, tries(t, p, clock, Config{}), driver.ErrUnavailable, "with all records stuck")
	})
}

// The memory of failed requests does not grow with the length of an outage, and no request that may
// still be done is forgotten.
func TestManyAttempts(t *testing.T) {
	// outage makes the lease's requests fail after ten seconds; end does the first failed request
	// late, and ends the failures.
	outage := func(t *testing.T) (g *nanoflake.Generator, l *Lease, log *testLog, end func()) {
		var mu sync.Mutex
		var late func() // the first request of the outage, which is done when it is over
		down := false
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		p.store = &hooked{Store: p.store, around: func(c call) error {
			mu.Lock()
			defer mu.Unlock()
			if !down || !c.changes() {
				return c.do(c.ctx)
			}
			if late == nil {
				late = func() { c.do(context.WithoutCancel(c.ctx)) }
			}
			return driver.ErrUnavailable
		}}
		g, l, log = keep(t, p, clock, Config{Window: time.Minute})
		time.Sleep(10 * time.Second)
		mu.Lock()
		down = true
		mu.Unlock()
		return g, l, log, func() {
			mu.Lock()
			defer mu.Unlock()
			if late == nil {
				t.Fatal("no request was made")
			}
			late()
			down = false
		}
	}
	synctest.Test(t, func(t *testing.T) {
		g, l, log, end := outage(t)
		time.Sleep(49 * time.Second)
		end()
		time.Sleep(time.Second)
		mints(t, g, l)
		log.want(t, "acquired renewed failing renewed recovered", "acquired renewed failing renewed recovered renewed")
	})
	synctest.Test(t, func(t *testing.T) {
		_, l, _, _ := outage(t)
		time.Sleep(50 * time.Second)
		l.Close() // after which nobody changes what it remembers
		if a := l.attempts[0]; len(l.attempts) != 1 || a.count < 10 {
			t.Errorf("after an outage it remembers %+v", l.attempts)
		}
	})
}

// A lease has ended when its worker was given back, whoever closes the lease, and not when it expires.
func TestDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), newTroubled(nil)
		_, l, log := background(t, &hooked{Store: store, around: func(c call) error {
			time.Sleep(time.Second)
			return c.do(c.ctx)
		}}, clock, Config{Create: true})
		goesOn := func(want error) {
			t.Helper()
			select {
			case <-l.Done():
				t.Error("the lease has ended")
			default:
			}
			testkit.Is(t, l.Err(), want, "the error")
		}
		goesOn(nil)
		time.Sleep(time.Minute)
		goesOn(nil)
		store.fail(driver.ErrUnavailable)
		time.Sleep(time.Minute)
		goesOn(driver.ErrUnavailable)
		log.last(t, Expired)
		store.mend()
		time.Sleep(time.Minute)
		goesOn(nil)
		closed := make(chan error, 1)
		go func() { closed <- l.Close() }()
		<-l.Done()
		nothingHeld(t, store, "ended")
		testkit.Is(t, l.Err(), ErrClosed, "the error")
		testkit.OK(t, <-closed)
		log.last(t, Released)
	})
}
