package lease

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// gated holds up looks: each look waits for a value from open, and reads after it, or before if early
// is set.
type gated struct {
	looks atomic.Int32 // that have begun
	early atomic.Bool
	open  chan struct{}
}

func newGated(p *Pool) *gated {
	g := &gated{open: make(chan struct{})}
	p.store = &hooked{Store: p.store, around: func(c call) error {
		if c.op != "confirm" {
			return c.do(c.ctx)
		}
		g.looks.Add(1)
		if g.early.Load() {
			defer func() { <-g.open }()
			return c.do(c.ctx)
		}
		<-g.open
		return c.do(c.ctx)
	}}
	return g
}

// A confirmation is what a call of Confirm has returned.
type confirmation struct {
	since time.Time
	err   error
}

// confirms calls Confirm in another goroutine, and returns when the call waits.
func confirms(ctx context.Context, l *Lease) <-chan confirmation {
	c := make(chan confirmation, 1)
	go func() {
		since, err := l.Confirm(ctx)
		c <- confirmation{since, err}
	}()
	synctest.Wait()
	return c
}

// timeOf returns the time of an ID.
func timeOf(id nanoflake.ID) time.Time { return id.Time(nanoflake.DefaultEpoch()) }

// Since is the time from which on the lease has the worker, however often it is renewed.
func TestConfirm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		g, l, log := keep(t, p, clock, Config{})
		from := log.last(t, Acquired).From
		for range 5 {
			id := testkit.Must(g.TryNext())
			if since, err := l.Confirm(t.Context()); err != nil || !since.Equal(from) || since.After(timeOf(id)) {
				t.Errorf("confirmed since %v, %v; acquired at %v, with an ID of %v", since, err, from, timeOf(id))
			}
			time.Sleep(7 * time.Second)
		}
		if !strings.Contains(log.kinds(), "renewed") {
			t.Error("the lease was not renewed")
		}
		testkit.OK(t, l.Close())
		testkit.Is(t, testkit.Err(l.Confirm(t.Context())), ErrClosed, "a closed lease")
	})
}

// A look serves all callers that came before the look began, and no other.
func TestConfirmShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 2)
		gate := newGated(p)
		_, l, _ := keep(t, p, clock, Config{Window: time.Hour, Timeout: time.Hour})
		waiting := []<-chan confirmation{confirms(t.Context(), l)}
		for round := range int32(20) {
			if got := gate.looks.Load(); got != round+1 {
				t.Fatalf("%d looks have begun in round %d", got, round)
			}
			var later []<-chan confirmation
			for range 3 * round {
				later = append(later, confirms(t.Context(), l))
			}
			later = append(later, confirms(t.Context(), l))
			gate.open <- struct{}{}
			synctest.Wait()
			for _, c := range waiting {
				select {
				case got := <-c:
					testkit.OK(t, got.err)
				default:
					t.Fatal("a caller from before the look waits for another look")
				}
			}
			for _, c := range later {
				select {
				case <-c:
					t.Fatal("a look that began before the call has served the caller")
				default:
				}
			}
			waiting = later
		}
		gate.open <- struct{}{}
		synctest.Wait()
		if got := gate.looks.Load(); got != 21 {
			t.Errorf("%d looks for callers of 21 rounds", got)
		}
	})
}

// A lease that is lost while a look is under way is not confirmed by the next look. The first look may
// have read the record before the loss.
func TestConfirmLost(t *testing.T) {
	for _, early := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			clock, store := newTestClock(), memlease.New()
			other := mustCreate(t, store, 1)
			p, down := cutOff(other)
			gate := newGated(p)
			gate.early.Store(early)
			_, l, _ := keep(t, p, clock, Config{Timeout: time.Hour, Window: 4 * time.Hour, First: time.Second})
			first := confirms(t.Context(), l)
			die(l)
			down.Store(true)
			time.Sleep(2 * time.Second)
			_, successor, _ := keep(t, other, clock, Config{Holder: "the successor"})
			down.Store(false)
			second := confirms(t.Context(), l)
			gate.open <- struct{}{}
			if got := <-first; errors.Is(got.err, ErrLost) == early {
				t.Errorf("a look from before the loss, which reads early: %v: %v", early, got.err)
			}
			gate.open <- struct{}{}
			got := <-second
			lost, ok := errors.AsType[*LostError](got.err)
			if !ok || lost.Holder != "the successor" || !lost.Until.Equal(successor.Until()) || lost.Worker != 0 {
				t.Errorf("after the loss: %v", got.err)
			}
		})
	}
}

// A process that is stopped mints after its successor, and Confirm finds out. If the process has the
// worker again, since is after the IDs from before.
func TestConfirmStrictOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, other := newTestClock(), mustCreate(t, memlease.New(), 1)
		p, down := cutOff(other)
		stopped := newTestClock()
		g, l, _ := keep(t, p, stopped, Config{Window: 3 * time.Second})
		time.Sleep(time.Minute)
		before := testkit.Must(g.TryNext())
		if since, err := l.Confirm(t.Context()); err != nil || since.After(timeOf(before)) {
			t.Fatalf("before the stop: since %v, %v", since, err)
		}
		down.Store(true)
		time.Sleep(4 * time.Second)
		stopped.step(-4 * time.Second) // it has slept, and so has its clock
		successor, held, _ := keep(t, other, clock, Config{})
		greater := testkit.Must(successor.TryNext())
		small, err := g.TryNext()
		if err != nil || small >= greater {
			t.Fatalf("%v, %v after %v of its successor: the fault that Confirm is for does not show", small, err, greater)
		}
		down.Store(false)
		if _, err := l.Confirm(t.Context()); !errors.Is(err, ErrLost) {
			t.Errorf("confirmed although the successor has minted: %v", err)
		}

		// The same lease, and the same incarnation, has the worker again.
		testkit.OK(t, held.Close())
		stopped.step(4 * time.Second)
		time.Sleep(time.Minute)
		since, err := l.Confirm(t.Context())
		if err != nil || !since.After(timeOf(small)) || !since.After(timeOf(greater)) {
			t.Errorf("it has the worker again since %v, %v; its IDs from before are of %v", since, err, timeOf(small))
		}
		if id := testkit.Must(g.TryNext()); timeOf(id).Before(since) {
			t.Errorf("an ID of %v, but since is %v", timeOf(id), since)
		}
	})
}

// The record alone decides: the lease has the worker again, but the reply was lost.
func TestConfirmUnacknowledged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), memlease.New()
		other := mustCreate(t, store, 1)
		q := *other
		var lose, silent atomic.Bool // the replies to changes; all else but looks
		q.store = &hooked{Store: store, around: func(c call) error {
			if silent.Load() && c.op != "confirm" {
				return driver.ErrUnavailable
			}
			err := c.do(c.ctx)
			if lose.Load() && c.changes() && err == nil {
				silent.Store(true)
				return driver.ErrUnavailable
			}
			return err
		}}
		g, l, log := keep(t, &q, clock, Config{Window: 3 * time.Second})
		from := log.last(t, Acquired).From
		time.Sleep(10 * time.Second)
		last := testkit.Must(g.TryNext())
		silent.Store(true)
		time.Sleep(5 * time.Second)
		_, held, _ := keep(t, other, clock, Config{})
		lose.Store(true)
		silent.Store(false)
		time.Sleep(5 * time.Second) // it finds that it has lost the worker
		if !strings.Contains(log.kinds(), "lost") {
			t.Fatal("the lease has not noticed its loss")
		}
		testkit.OK(t, held.Close())
		time.Sleep(5 * time.Second)
		if got := log.last(t, Acquired); !got.From.Equal(from) {
			t.Fatalf("the lease knows that it has the worker again: %+v", got)
		}
		since, err := l.Confirm(t.Context())
		if err != nil || !since.After(timeOf(last)) {
			t.Errorf("since %v, %v; an ID from before the loss is of %v", since, err, timeOf(last))
		}
	})
}

// A lease that is closed while a look is under way is closed for the look.
func TestConfirmClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		gate := newGated(p)
		_, l, _ := keep(t, p, clock, Config{})
		first, second := confirms(t.Context(), l), confirms(t.Context(), l)
		testkit.OK(t, l.Close())
		gate.open <- struct{}{}
		testkit.Is(t, (<-first).err, ErrClosed, "a look that was under way")
		testkit.Is(t, (<-second).err, ErrClosed, "a look that had not begun")
		if got := gate.looks.Load(); got != 1 {
			t.Errorf("%d looks", got)
		}
	})
}

// A lease of an earlier generation is not confirmed, nor one whose store has lost changes.
func TestConfirmRecovered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, store := newTestClock(), newRestored()
		p := mustCreate(t, store, 4)
		_, l, _ := keep(t, p, clock, Config{})
		time.Sleep(time.Second)
		backup := backUp(t, store)
		time.Sleep(9 * time.Second)
		_, err := l.Confirm(t.Context())
		testkit.OK(t, err)
		die(l)
		store.restore(t, backup)
		_, err = l.Confirm(t.Context())
		testkit.Is(t, err, ErrRolledBack, "the record is an earlier one of the lease")
		mustRecover(t, store, clock)
		_, err = l.Confirm(t.Context())
		testkit.Is(t, err, ErrRecovered, "after a recovery")
		store.restore(t, backup)
		put(t, store, workerKey("p", l.Worker()), []byte("{}"))
		_, err = l.Confirm(t.Context())
		testkit.Is(t, err, ErrVersion, "a record of no version")
		store.restore(t, testBackup{})
		_, err = l.Confirm(t.Context())
		testkit.Is(t, err, ErrMissing, "without the record")
	})
}

// A look that hangs does not keep a lease from its renewals, and a renewal that hangs keeps no look.
func TestConfirmHangs(t *testing.T) {
	for _, hangs := range []string{"confirm", "put"} {
		synctest.Test(t, func(t *testing.T) {
			clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
			stuck := make(chan struct{})
			var on atomic.Bool
			var most atomic.Int32
			p.store = &hooked{Store: p.store, around: func(c call) error {
				if on.Load() && c.op == hangs {
					most.Add(1)
					<-stuck
				}
				return c.do(c.ctx)
			}}
			g, l, log := keep(t, p, clock, Config{Window: 10 * time.Second})
			on.Store(true)
			began := time.Now()
			for range 5 {
				_, err := l.Confirm(t.Context())
				if hangs == "put" {
					testkit.OK(t, err)
					time.Sleep(time.Second)
				} else {
					testkit.Is(t, err, driver.ErrUnavailable, "a look that hangs")
				}
			}
			if took := time.Since(began); hangs == "confirm" && took > 5*(DefaultTimeout+patience) {
				t.Errorf("5 looks took %v", took)
			}
			if got := most.Load(); got != 1 {
				t.Errorf("%d requests hang", got)
			}
			if hangs == "confirm" {
				mints(t, g, l)
				if err := l.Err(); err != nil || !strings.Contains(log.kinds(), "renewed") {
					t.Errorf("renewals: %v; %s", err, log.kinds())
				}
			}
			on.Store(false)
			close(stuck)
			synctest.Wait()
			_, err := l.Confirm(t.Context())
			testkit.OK(t, err)
		})
	}
}

// The end of a caller's context ends the wait of this caller alone.
func TestConfirmContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		gate := newGated(p)
		_, l, _ := keep(t, p, clock, Config{})
		ctx, cancel := context.WithCancel(t.Context())
		impatient, patient := confirms(ctx, l), confirms(t.Context(), l)
		more := confirms(ctx, l)
		cancel()
		testkit.Is(t, (<-impatient).err, context.Canceled, "the first caller")
		testkit.Is(t, (<-more).err, context.Canceled, "a caller that waits for the next look")
		gate.open <- struct{}{}
		synctest.Wait()
		gate.open <- struct{}{}
		testkit.OK(t, (<-patient).err)
		testkit.Is(t, testkit.Err(l.Confirm(ctx)), context.Canceled, "with a context that has ended")
		if got := gate.looks.Load(); got != 2 {
			t.Errorf("%d looks", got)
		}
	})
}

// A store that is no driver.Confirmer is named in the error.
func TestConfirmUnable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, struct{ driver.Store }{memlease.New()}, 1)
		_, l, _ := keep(t, p, clock, Config{})
		_, err := l.Confirm(t.Context())
		if failed, ok := errors.AsType[*driver.Error](err); !errors.Is(err, driver.ErrUnconfirmable) || !ok || failed.Store != "memory" {
			t.Errorf("Confirm: %v", err)
		}
	})
}

// Confirm may be called within Notify, while the lease has something else to do.
func TestConfirmWithinNotify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		g := generator(t, clock)
		var started atomic.Pointer[Lease]
		var renewed sync.Once
		done := make(chan error, 1)
		l := testkit.Must(p.start(t.Context(), g.ForLease(), Config{clock: clock.now, Notify: func(e Event) {
			if e.Kind == Renewed {
				renewed.Do(func() {
					_, err := started.Load().Confirm(t.Context())
					done <- err
				})
			}
		}}))
		defer l.Close()
		started.Store(l)
		testkit.OK(t, <-done)
	})
}

// A lease that starts in the background has no worker to confirm. After an error that ends the start,
// Confirm returns the error.
func TestConfirmStarting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock := newTestClock()
		store := memlease.New()
		down := &hooked{Store: store, before: func(string, string) error { return driver.ErrUnavailable }}
		l := testkit.Must(Start(t.Context(), down, generator(t, clock), Config{Pool: "p", Background: true}))
		synctest.Wait()
		_, err := l.Confirm(t.Context())
		testkit.Is(t, err, ErrStarting, "in the background")
		testkit.Is(t, err, driver.ErrUnavailable, "in the background")
		testkit.OK(t, l.Close())
		_, err = l.Confirm(t.Context())
		testkit.Is(t, err, ErrClosed, "closed in the background")

		none := testkit.Must(Start(t.Context(), store, generator(t, clock), Config{Pool: "p", Background: true}))
		defer none.Close()
		time.Sleep(time.Minute)
		_, err = none.Confirm(t.Context())
		testkit.Is(t, err, ErrNoPool, "after the end of the start")
	})
}
