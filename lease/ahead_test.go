package lease

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

const tenDays = 10 * 24 * time.Hour

// recordOf returns the record of a worker.
func recordOf(t *testing.T, p *Pool, worker int) stored {
	t.Helper()
	return testkit.Must(p.get(t.Context(), worker))
}

// If the clock jumps ahead and comes right again while no ID is made, the generator loses nothing,
// and the worker is not used up.
func TestClockJumpsWhileIdle(t *testing.T) {
	for _, used := range []bool{false, true} {
		for _, worker := range []Choice{{}, Number(1)} {
			for name, lossy := range map[string]bool{"": false, ", replies lost": true} {
				t.Run(fmt.Sprintf("used %v, %v%s", used, worker, name), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
						if lossy {
							p.store = mute(p.store)
						}
						g, l, log := keep(t, p, clock, Config{Window: time.Second, Worker: worker})
						before := l.Worker()
						for range 3 {
							time.Sleep(time.Second)
							if used {
								mints(t, g, l)
							}
						}
						clock.step(tenDays)
						time.Sleep(1537 * time.Millisecond)
						clock.step(-tenDays)
						time.Sleep(time.Second)
						mints(t, g, l)
						if l.Err() != nil || l.Worker() != before || l.Until().After(clock.now().Add(time.Second)) {
							t.Errorf("worker %d, then %d until %v: %v", before, l.Worker(), l.Until(), l.Err())
						}
						if s := recordOf(t, p, before); !time.UnixMicro(s.Until).Equal(l.Until()) {
							t.Errorf("the record is until %v", time.UnixMicro(s.Until))
						}
						log.want(t, "acquired renewed withdrawn renewed")
						for range 30 {
							time.Sleep(100 * time.Millisecond)
							mints(t, g, l)
						}
						testkit.OK(t, l.Close())
						log.want(t, "acquired renewed withdrawn renewed released")
					})
				})
			}
		}
	}
}

// A worker taken by a clock ahead stays useful after the clock comes right, if no other lease had
// the timestamps.
func TestAcquiredAhead(t *testing.T) {
	for _, worker := range []Choice{{}, Number(0)} {
		synctest.Test(t, func(t *testing.T) {
			clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
			clock.step(tenDays)
			g, l, log := keep(t, p, clock, Config{Worker: worker})
			clock.step(-tenDays)
			time.Sleep(time.Second)
			mints(t, g, l)
			log.want(t, "acquired withdrawn renewed")
			testkit.OK(t, l.Close())
			if s := recordOf(t, p, 0); time.UnixMicro(s.Until).After(clock.now().Add(time.Millisecond)) {
				t.Errorf("given back until %v", time.UnixMicro(s.Until))
			}
		})
	}
}

// A lease closed before the clock is right gives back the interval ahead, too.
func TestClosedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		clock.step(tenDays)
		_, l, _ := keep(t, p, clock, Config{})
		clock.step(-tenDays)
		testkit.OK(t, l.Close())
		g, l, _ := keep(t, p, clock, Config{Wait: -1})
		time.Sleep(grace)
		mints(t, g, l)
	})
}

// If the store is unreachable when the clock comes right, callers get the store's error and no
// other.
func TestWithdrawnWithoutStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		p, down := cutOff(mustCreate(t, memlease.New(), 2))
		g, l, log := keep(t, p, clock, Config{Window: time.Second})
		time.Sleep(3 * time.Second)
		clock.step(tenDays)
		time.Sleep(1537 * time.Millisecond)
		down.Store(true)
		clock.step(-tenDays)
		time.Sleep(time.Second)
		if _, err := g.TryNext(); !errors.Is(err, ErrLeaseExpired) || !errors.Is(err, driver.ErrUnavailable) {
			t.Errorf("%v", err)
		}
		if e := log.last(t, Expired); e.Until.After(clock.now()) {
			t.Errorf("expired at %v, and it is %v", e.Until, clock.now())
		}
		clock.step(tenDays) // and back: nothing of it may be minted in
		testkit.Is(t, testkit.Err(g.TryNext()), ErrLeaseExpired, "in times that were withdrawn")
		clock.step(-tenDays)
		down.Store(false)
		time.Sleep(time.Second)
		mints(t, g, l)
	})
}

// If a generator has made IDs while its clock was ahead, the lease says so, counts for nothing until the clock is there, and
// says that it is over.
func TestAhead(t *testing.T) {
	for _, by := range []time.Duration{time.Minute, tenDays} {
		synctest.Test(t, func(t *testing.T) {
			clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
			g, l, log := keep(t, p, clock, Config{Window: time.Second})
			distinct := distinct(t)
			distinct(g)
			clock.step(by)
			time.Sleep(time.Second)
			distinct(g)
			if l.Left() == 0 {
				t.Errorf("ahead by %v: no time is left", by)
			}
			clock.step(-by)
			time.Sleep(time.Second)
			var ahead *AheadError
			if err := l.Err(); !errors.As(err, &ahead) || !errors.Is(err, iderr.ErrClockBackwards) || l.Left() != 0 {
				t.Fatalf("ahead by %v: %v, with %v left", by, err, l.Left())
			}
			if r := RemedyFor(ahead); r.Kind != driver.RemedyClock || !r.Until.Equal(ahead.Until) || ahead.By < by-2*time.Second || ahead.By > by {
				t.Errorf("ahead by %v: %+v, and the remedy %+v", by, ahead, r)
			}
			testkit.Is(t, testkit.Err(g.TryNext()), iderr.ErrClockBackwards, "an ID before the clock is there")
			time.Sleep(by)
			distinct(g)
			mints(t, g, l)
			if e := log.last(t, Recovered); e.Took < by-2*time.Second || e.Took > by+time.Second || l.Err() != nil {
				t.Errorf("recovered from %v after %v: %v", by, e.Took, l.Err())
			}
			log.want(t, "acquired renewed ahead recovered renewed")
		})
	}
}
