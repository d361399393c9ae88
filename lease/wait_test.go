package lease

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
)

// Start waits for the workers of dead processes. Start does not wait for holders that renew.
func TestWait(t *testing.T) {
	for _, worker := range []Choice{{}, Number(0)} {
		synctest.Test(t, func(t *testing.T) {
			taken := ErrNoWorker
			if worker.named {
				taken = ErrHeld
			}
			clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
			_, first, _ := keep(t, p, clock, Config{Worker: worker, Holder: "the first"})
			time.Sleep(5 * time.Second)
			began := time.Now()
			_, err := try(t, p, clock, Config{Worker: worker})
			if waited := time.Since(began); !errors.Is(err, taken) || waited > 4*time.Second {
				t.Errorf("after %v, with a holder who lives: %v", waited, err)
			}
			if held, ok := errors.AsType[*HeldError](err); ok != worker.named || ok && (held.Worker != 0 || held.Holder != "the first" || held.Pool != "p") {
				t.Errorf("with a holder who lives: %+v", err)
			}
			began = time.Now() // a wait that was asked for is waited out
			_, err = try(t, p, clock, Config{Worker: worker, Wait: time.Minute})
			if waited := time.Since(began); !errors.Is(err, taken) || waited < 59*time.Second || waited > time.Minute {
				t.Errorf("after %v of a minute, with a holder who lives: %v", waited, err)
			}

			die(first)
			left := first.Until().Sub(clock.now())
			testkit.Is(t, tries(t, p, clock, Config{Worker: worker, Wait: -1}), taken, "without a wait")
			began = time.Now()
			_, err = try(t, p, clock, Config{Worker: worker, Wait: time.Second})
			if waited := time.Since(began); !errors.Is(err, taken) || waited > time.Second || waited < 800*time.Millisecond {
				t.Errorf("it waited for %v of 1 s: %v", waited, err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 1050*time.Millisecond) // between two looks
			defer cancel()
			if _, err := p.start(ctx, generator(t, clock).ForLease(), Config{Worker: worker, clock: clock.now}); !errors.Is(err, taken) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a wait that was ended: %v", err)
			}
			g, l, _ := keep(t, p, clock, Config{Worker: worker})
			mints(t, g, l)
			if waited := time.Since(began); waited < left || waited > left+200*time.Millisecond {
				t.Errorf("it waited for %v, and %v were left", waited, left)
			}
		})
	}
}

// A context that ends while a lease looks for a free worker is the error, though no request has failed.
func TestWaitEndsInLook(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	looking := false
	store := &hooked{Store: memlease.New(), around: func(c call) error {
		err := c.do(c.ctx)
		if looking && c.op != "put" && c.key != poolKey("p") {
			cancel()
		}
		return err
	}}
	clock, p := newTestClock(), mustCreate(t, store, 1)
	keep(t, p, clock, Config{})
	looking = true
	_, err := p.start(ctx, generator(t, clock).ForLease(), Config{clock: clock.now, Wait: time.Minute})
	testkit.Is(t, err, context.Canceled, "a lease")
}

// watched is a store that tells of each change.
type watched struct {
	driver.Store
	changes chan struct{}
}

func (w watched) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	defer func() {
		select {
		case w.changes <- struct{}{}:
		default: // a value is waiting there
		}
	}()
	return w.Store.Put(ctx, key, value, rev)
}

func (w watched) Watch(context.Context, string) (<-chan struct{}, error) { return w.changes, nil }

// If the store tells of changes, a waiting lease gets a worker as soon as the worker is given back,
// and makes few requests until then.
func TestWaitWatching(t *testing.T) {
	for _, worker := range []Choice{{}, Number(0)} {
		synctest.Test(t, func(t *testing.T) {
			looks := 0
			watched := watched{&hooked{Store: memlease.New(), before: func(op, key string) error {
				if op == "list" || op == "get" && key == workerKey("p", 0) {
					looks++
				}
				return nil
			}}, make(chan struct{}, 1)}
			clock, p := newTestClock(), mustCreate(t, watched, 1)
			_, first, _ := keep(t, p, clock, Config{Window: 5 * time.Minute, First: 5 * time.Minute})
			began, after := time.Now(), 30*time.Second+137*time.Millisecond
			time.AfterFunc(after, func() { first.Close() })
			looks = 0
			keep(t, p, clock, Config{Worker: worker, Wait: time.Minute})
			if waited := time.Since(began); waited < after || waited > after+5*time.Millisecond {
				t.Errorf("it waited for %v, and the worker was given back after %v", waited, after)
			}
			if looks > 22 {
				t.Errorf("it looked %d times in 30 s", looks)
			}
		})
	}
}

// unwatched closes the channels of Watch at once, as a store that was closed does.
type unwatched struct{ driver.Store }

func (unwatched) Watch(context.Context, string) (<-chan struct{}, error) {
	changes := make(chan struct{})
	close(changes)
	return changes, nil
}

// When the store tells of no more changes, a waiting lease pauses as usual.
func TestWatchEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newTraffic(memlease.New())
		clock, p := newTestClock(), mustCreate(t, unwatched{store}, 1)
		keep(t, p, clock, Config{Window: time.Minute, First: time.Minute})
		store.counts()
		_, err := try(t, p, clock, Config{Wait: 10 * time.Second})
		if _, looks, _ := store.counts(); !errors.Is(err, ErrNoWorker) || looks > 110 {
			t.Errorf("it looked %d times in 10 s: %v", looks, err)
		}
	})
}

// If the store does not tell of changes, a waiting lease makes longer pauses, the more records a
// try reads.
func TestWaitPrice(t *testing.T) {
	for workers, most := range map[int]int{1: 102, 100: 102, 400: 27, 4000: 7} {
		synctest.Test(t, func(t *testing.T) {
			clock, store := newTestClock(), newTraffic(memlease.New())
			p := stocked(t, store.Store, clock, workers, workers, func(int) time.Duration { return time.Minute })
			p.store = store
			_, err := try(t, p, clock, Config{Wait: 10 * time.Second})
			if _, looks, _ := store.counts(); !errors.Is(err, ErrNoWorker) || looks > most || looks < most*9/10-1 {
				t.Errorf("%d workers: %d looks in 10 s, want %d or a little less: %v", workers, looks, most, err)
			}
		})
	}
}

// A lease waiting for a worker raises Waiting, once.
func TestWaitingTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		_, first, _ := keep(t, p, clock, Config{Window: 10 * time.Second})
		for _, worker := range []Choice{{}, Number(0)} {
			log, want := new(testLog), -1
			if worker.named {
				want = 0
			}
			_, err := try(t, p, clock, Config{Worker: worker, Wait: 9 * time.Second, Notify: log.add})
			if !errors.Is(err, ErrNoWorker) && !errors.Is(err, ErrHeld) {
				t.Fatal(err)
			}
			if got := log.events; len(got) != 1 || got[0].Kind != Waiting || got[0].Worker != want || got[0].Pool != "p" ||
				!errors.Is(got[0].Err, ErrNoWorker) && !errors.Is(got[0].Err, ErrHeld) || got[0].Until.Before(clock.now().Add(-9*time.Second)) {
				t.Errorf("%+v", got)
			}
		}
		log := new(testLog)
		if _, err := try(t, p, clock, Config{Wait: -1, Notify: log.add}); !errors.Is(err, ErrNoWorker) || log.events != nil {
			t.Errorf("without a wait: %v, %v", err, log.events)
		}
		first.Close()
	})
}

// A hopeless wait is not begun: no lease holds the worker, and its timestamps are used up to beyond
// the wait.
func TestHopeless(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, p := newTestClock(), mustCreate(t, memlease.New(), 1)
		clock.step(time.Hour)
		g, l, _ := keep(t, p, clock, Config{})
		mints(t, g, l)
		l.Close()
		clock.step(-time.Hour)
		for _, c := range []Config{{}, {Worker: Number(0)}, {Wait: 10 * time.Minute}, {Worker: Number(0), Wait: 10 * time.Minute}} {
			began := time.Now()
			c.clock, c.TrustClock = clock.now, true
			_, err := try(t, p, clock, c)
			if took := time.Since(began); took > 0 || !errors.Is(err, ErrNoWorker) && !errors.Is(err, ErrHeld) || strings.Contains(err.Error(), context.DeadlineExceeded.Error()) {
				t.Errorf("%+v: after %v: %v", c.Worker, took, err)
			}
		}
		began := time.Now()
		c := Config{Worker: Number(0), Wait: time.Hour + time.Minute, clock: clock.now, TrustClock: true}
		l, err := try(t, p, clock, c)
		if err != nil || time.Since(began) < time.Hour-time.Minute {
			t.Fatalf("a wait that is long enough: after %v: %v", time.Since(began), err)
		}
		l.Close()
	})
}
