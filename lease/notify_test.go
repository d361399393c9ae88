package lease

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// A choosyLease refuses workers once it is told to.
type choosyLease struct {
	grant.Grantee
	refuses *atomic.Bool
}

func (g choosyLease) Grant(worker int, from, until time.Time) error {
	if g.refuses.Load() {
		return errRefusing
	}
	return g.Grantee.Grant(worker, from, until)
}

// A lease that has lost its worker may be closed within Notify when its generator has refused another.
func TestCloseWhenRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p, refuses := newTestClock(), mustCreate(t, memlease.New(), 1), new(atomic.Bool)
		q, down := cutOff(p)
		var kept atomic.Pointer[Lease]
		var log testLog
		g := generator(t, clock)
		l := testkit.Must(q.start(t.Context(), choosyLease{g.ForLease(), refuses}, Config{Window: time.Second, clock: clock.now, Notify: func(e Event) {
			if log.add(e); e.Kind == Released {
				testkit.OK(t, kept.Load().Close())
			}
		}}))
		kept.Store(l)
		down.Store(true)
		time.Sleep(2 * time.Second)
		_, other, _ := keep(t, p, clock, Config{})
		down.Store(false)
		time.Sleep(2 * time.Second)
		refuses.Store(true)
		testkit.OK(t, other.Close())
		time.Sleep(10 * time.Second)
		log.last(t, Lost)
		log.last(t, Released)
		testkit.OK(t, l.Close())
		testkit.Is(t, l.Err(), ErrClosed, "afterwards")
		testkit.Is(t, testkit.Err(g.TryNext()), ErrClosed, "afterwards")
		if r := testkit.Must(p.get(t.Context(), 0)); r.Incarnation != "" {
			t.Errorf("the worker was not given back: %+v", r)
		}
	})
}

// A lease may be closed within Notify, at any event. Released comes after the call has returned,
// and no event follows.
func TestCloseWithinNotify(t *testing.T) {
	for _, kind := range []EventKind{Renewed, Failing, Expired, Lost, Withdrawn, Waiting, Released, Ahead, Recovered} {
		t.Run(kind.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
				q, down := cutOff(p)
				var kept atomic.Pointer[Lease]
				var log testLog
				var err error // of the first Close
				closes, depth := 0, 0
				g := generator(t, clock)
				l := testkit.Must(q.start(t.Context(), g.ForLease(), Config{Window: time.Second, clock: clock.now, Notify: func(e Event) {
					if depth++; depth > 1 {
						t.Errorf("%v is told within another event", e.Kind)
					}
					defer func() { depth-- }()
					log.add(e)
					l := kept.Load()
					if e.Kind != kind || l == nil {
						return
					}
					if closes++; closes == 1 {
						err = l.Close()
						testkit.Is(t, testkit.Err(g.TryNext()), ErrClosed, "closed")
					}
				}}))
				kept.Store(l)
				time.Sleep(2 * time.Second)
				switch kind {
				case Failing, Expired:
					down.Store(true)
					time.Sleep(2 * time.Second)
				case Withdrawn, Ahead:
					clock.step(tenDays)
					time.Sleep(1537 * time.Millisecond)
					if kind == Ahead {
						g.TryNext()
					}
					clock.step(-tenDays)
				case Recovered:
					down.Store(true)
					time.Sleep(500 * time.Millisecond)
					down.Store(false)
				case Lost, Waiting:
					down.Store(true)
					time.Sleep(2 * time.Second)
					keep(t, p, clock, Config{})
					down.Store(false)
				case Released:
					l.Close()
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if closes != 1 {
					t.Fatalf("%d times %v", closes, kind)
				}
				if again := l.Close(); !errors.Is(again, err) {
					t.Errorf("Close: %v, then %v", err, again)
				}
				want := kind
				if err == nil && kind != Lost && kind != Waiting {
					want = Released
				}
				if last := log.events[len(log.events)-1]; last.Kind != want {
					t.Errorf("the last event is %v, want %v: %s", last.Kind, want, log.kinds())
				}
				if failed := kind == Failing || kind == Expired; failed != errors.Is(err, driver.ErrUnavailable) {
					t.Errorf("Close: %v", err)
				}
			})
		})
	}
}

// Close does not wait for Notify: Notify may wait for Close.
func TestCloseWhileNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		told, closed := make(chan bool), make(chan bool)
		g, log := generator(t, clock), new(testLog)
		l := testkit.Must(p.start(t.Context(), g.ForLease(), Config{Window: time.Second, clock: clock.now, Notify: func(e Event) {
			log.add(e)
			if e.Kind == Renewed {
				told <- true
				<-closed
			}
		}}))
		<-told
		testkit.OK(t, l.Close())
		close(closed)
		synctest.Wait()
		log.want(t, "acquired renewed released")
		testkit.Is(t, testkit.Err(g.TryNext()), ErrClosed, "closed")
		keep(t, p, clock, Config{Wait: -1})
	})
}

// If the context of Start ends after Start has taken a worker, Start gives the worker back and raises
// the event.
func TestKeepEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		g, l, _ := keep(t, p, clock, Config{})
		clock.step(40 * time.Millisecond)
		mints(t, g, l)
		l.Close()
		clock.step(-40 * time.Millisecond)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		log := new(testLog)
		if _, err := p.start(ctx, generator(t, clock).ForLease(), Config{clock: clock.now, Notify: log.add}); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		log.want(t, "acquired released")
	})
}

// The event of an interval comes before the first ID of the interval.
func TestToldFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		var until atomic.Int64
		g := generator(t, clock)
		l, err := p.start(t.Context(), g.ForLease(), Config{Window: time.Second, clock: clock.now, Notify: func(e Event) {
			if e.Kind == Acquired || e.Kind == Renewed {
				time.Sleep(750 * time.Millisecond) // longer than there are times
				until.Store(e.Until.UnixMilli())
			}
		}})
		testkit.OK(t, err)
		minted, refused := 0, 0
		for range 1000 {
			time.Sleep(7 * time.Millisecond)
			id, err := g.TryNext()
			if err != nil {
				refused++
				continue
			}
			minted++
			if at := id.Time(nanoflake.DefaultEpoch()).UnixMilli(); at >= until.Load() {
				t.Fatalf("an ID of %d, and times were told of until %d", at, until.Load())
			}
		}
		if minted == 0 || refused == 0 {
			t.Errorf("%d IDs, and %d refusals", minted, refused)
		}
		l.Close()
		time.Sleep(time.Second)
	})
}
