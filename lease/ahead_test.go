package lease

import (
	"errors"
	"fmt"
	"sync/atomic"
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

// If another lease has used up the worker to beyond now, the lease gives the worker back and takes
// another worker. A lease with a Number reports an error.
func TestAcquiredBeyondOthers(t *testing.T) {
	for _, worker := range []Choice{{}, Number(0)} {
		synctest.Test(t, func(t *testing.T) {
			clock, far, p := newTestClock(), newTestClock(), mustCreate(t, memlease.New(), 2)
			clock.step(tenDays)
			g, l, _ := keep(t, p, clock, Config{Worker: Number(0)})
			mints(t, g, l)
			testkit.OK(t, l.Close())
			used := recordOf(t, p, 0).Until
			far.step(2 * tenDays)
			_, other, _ := keep(t, p, far, Config{Worker: Number(1)})
			time.Sleep(time.Second)
			g, l, log := keep(t, p, clock, Config{Worker: worker, Wait: -1})
			if l.Worker() != 0 {
				t.Fatalf("the worker is %d", l.Worker())
			}
			clock.step(-tenDays)
			time.Sleep(time.Second)
			if s := recordOf(t, p, 0); s.Until != used || s.Incarnation != "" {
				t.Errorf("the record is %+v, want it until %d", s, used)
			}
			var held *HeldError
			if e := log.last(t, Lost); !errors.As(e.Err, &held) || held.Holder != "" || held.Until.UnixMicro() != used {
				t.Errorf("lost: %v", e.Err)
			}
			if _, err := g.TryNext(); !errors.Is(err, ErrLeaseExpired) || l.Err() == nil {
				t.Errorf("without a worker: %v, %v", err, l.Err())
			}
			far.step(-2 * tenDays)
			time.Sleep(time.Second)
			other.Close()
			time.Sleep(time.Second)
			if worker.named {
				if _, err := g.TryNext(); !errors.As(err, &held) {
					t.Errorf("of a worker that is used up: %v", err)
				}
				clock.step(tenDays)
				time.Sleep(time.Second)
			}
			mints(t, g, l)
		})
	}
}

// A generator with IDs ahead of the clock waits for the clock, and the lease raises no event.
func TestMintedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		g, l, log := keep(t, p, clock, Config{Window: time.Second})
		time.Sleep(3 * time.Second)
		clock.step(tenDays)
		time.Sleep(1537 * time.Millisecond)
		mints(t, g, l)
		synctest.Wait()
		until := l.Until()
		clock.step(-tenDays)
		time.Sleep(3 * time.Second)
		testkit.Is(t, testkit.Err(g.TryNext()), iderr.ErrClockBackwards, "")
		if got := log.kinds(); got != "acquired renewed" || l.Err() != nil || !l.Until().Equal(until) {
			t.Errorf("events: %s; until %v, %v", got, l.Until(), l.Err())
		}
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

// A request with an unknown outcome may have lowered a record's end, and another lease may have
// taken the worker. The store does not look as if it had gone back.
func TestWithdrawnThenTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		var armed, cut atomic.Bool // a change cuts the store off before the reply
		q := *p
		q.store = &hooked{Store: p.store, around: func(c call) error {
			if cut.Load() {
				return driver.ErrUnavailable
			}
			err := c.do(c.ctx)
			if c.op == "put" && armed.Load() {
				cut.Store(true)
				return driver.ErrUnavailable
			}
			return err
		}}
		g, l, log := keep(t, &q, clock, Config{Window: time.Second, Worker: Number(0)})
		time.Sleep(3 * time.Second)
		clock.step(tenDays)
		time.Sleep(1537 * time.Millisecond)
		synctest.Wait()
		armed.Store(true)
		clock.step(-tenDays)
		time.Sleep(2 * time.Second)
		if s := recordOf(t, p, 0); time.UnixMicro(s.Until).After(clock.now()) || !cut.Load() {
			t.Fatalf("the record is until %v", time.UnixMicro(s.Until))
		}
		g2, l2, _ := keep(t, p, clock, Config{Window: time.Second, Worker: Number(0)})
		mints(t, g2, l2)
		armed.Store(false)
		cut.Store(false)
		time.Sleep(time.Second)
		var held *HeldError
		if e := log.last(t, Lost); !errors.As(e.Err, &held) || held.Holder == "" {
			t.Errorf("lost: %v", e.Err)
		}
		l2.Close()
		time.Sleep(time.Second)
		mints(t, g, l)
	})
}

// If a lease loses its worker while the clock is ahead, the error is the lost worker, and not a
// clock that went back.
func TestLostAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, far, p := newTestClock(), newTestClock(), mustCreate(t, memlease.New(), 1)
		g, l, log := keep(t, p, clock, Config{Window: time.Second})
		time.Sleep(3 * time.Second)
		mints(t, g, l)
		clock.step(tenDays)
		time.Sleep(500 * time.Millisecond)
		far.step(2 * tenDays)
		g2, l2, _ := keep(t, p, far, Config{Window: time.Second})
		mints(t, g2, l2)
		time.Sleep(2 * time.Second)
		log.last(t, Lost)
		clock.step(-tenDays)
		time.Sleep(time.Second)
		_, err := g.TryNext()
		var expired *ExpiredError
		if !errors.As(err, &expired) || !errors.Is(err, ErrNoWorker) || expired.Until.After(clock.now()) {
			t.Errorf("without a worker: %v", err)
		}
	})
}
