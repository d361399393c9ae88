package supply_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// TestStoreDownAtStart starts a server before its store: requests learn the cause, and the same process serves when the
// store comes.
func TestStoreDownAtStart(t *testing.T) {
	for name, outage := range map[string]func(store *cut, down *atomic.Bool){
		"open": func(_ *cut, down *atomic.Bool) { down.Store(true) }, // the store does not open
		"get":  func(store *cut, _ *atomic.Bool) { store.Down.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				today()
				store := newCut()
				var down atomic.Bool
				outage(store, &down)
				g := leased(t, "orders", store)
				g.Workers = 2
				g.Open = func(context.Context) (driver.Store, error) {
					if down.Load() {
						return nil, &driver.Error{Store: "orders", Err: driver.ErrUnavailable}
					}
					return store, nil
				}
				set := start(t, supply.Config{Generators: []supply.Generator{g}})
				s := find(t, set, "orders")
				if err := s.Serving(); err != nil {
					t.Errorf("before the first request: %v", err)
				}
				began := time.Now()
				_, err := s.AppendBinary(t.Context(), nil, 1)
				is(t, err, reason.Starting, "orders", driver.ErrUnavailable.Error())
				if took := time.Since(began); took < supply.DefaultWait || took > supply.DefaultWait+time.Second/10 { // by the clock of the bubble
					t.Errorf("a request waited %v for the first worker, want %v", took, supply.DefaultWait)
				}
				is(t, s.Serving(), reason.Starting, driver.ErrUnavailable.Error())
				for _, w := range s.Workers() {
					if w.State != supply.Starting || !errors.Is(w.Err, driver.ErrUnavailable) {
						t.Errorf("a worker while the store is down: %+v", w)
					}
				}
				time.Sleep(time.Hour)
				refuses(t, s, reason.Starting, driver.ErrUnavailable.Error())

				store.Down.Store(false)
				down.Store(false)
				for began := time.Now(); ; {
					if _, err := s.AppendBinary(t.Context(), nil, 1); err == nil {
						break
					} else if time.Since(began) > time.Minute {
						t.Fatalf("a minute after the outage: %v", err)
					}
				}
				if err := s.Serving(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestStoreSilentAtStart starts a server whose store takes the connection and never answers. One member opens the store,
// and the other waits for it: neither outlives Close.
func TestStoreSilentAtStart(t *testing.T) {
	g := leased(t, "orders", nil)
	g.Workers = 2
	asked := make(chan struct{}, 100)
	g.Open = func(ctx context.Context) (driver.Store, error) {
		asked <- struct{}{}
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	set := start(t, supply.Config{Generators: []supply.Generator{g}, Wait: time.Millisecond})
	s := find(t, set, "orders")
	refuses(t, s, reason.Starting)
	<-asked
	stop(t, set)
	refuses(t, s, reason.Draining)
}

// TestRemedies: an answer says what the operator does about a lease that starts, and about one that has expired.
func TestRemedies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := newCut()
		set := start(t, supply.Config{Generators: []supply.Generator{leased(t, "orders", store)}})
		s := find(t, set, "orders")
		connects := func(want *reason.Reason) {
			t.Helper()
			refuses(t, s, want)
			is(t, s.Serving(), want)
			if e := reason.Of(s.Serving()); e.Remedy != driver.RemedyConnect {
				t.Errorf("%v: the remedy is %q", e, e.Remedy)
			}
		}
		store.Down.Store(true)
		connects(reason.Starting)
		store.Down.Store(false)
		time.Sleep(time.Minute)
		answers(t, s, 1)
		store.Down.Store(true)
		time.Sleep(time.Minute)
		connects(reason.Window)
	})
}

// TestPoolMissing serves a generator whose pool does not exist on a store that others share. An operator creates the
// pool, and the same process serves.
func TestPoolMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := newCut()
		g := leased(t, "orders", store)
		g.Create = false
		set := start(t, supply.Config{Generators: []supply.Generator{g}})
		s := find(t, set, "orders")
		for range 3 {
			refuses(t, s, reason.Setup, lease.ErrNoPool.Error())
			is(t, s.Serving(), reason.Setup, lease.ErrNoPool.Error())
			if w := s.Workers()[0]; w.State != supply.Ended || !errors.Is(w.Err, lease.ErrNoPool) {
				t.Errorf("%+v", w)
			}
			time.Sleep(7 * time.Second) // another lease has tried meanwhile
		}
		other := start(t, supply.Config{Generators: []supply.Generator{leased(t, "orders", store)}})
		answers(t, find(t, other, "orders"), 1)
		time.Sleep(6 * time.Second)
		answers(t, s, 1)
		if w := s.Workers()[0]; w.State != supply.Ready || w.Err != nil {
			t.Errorf("%+v", w)
		}
	})
}

// slow is a store that takes a while.
type slow struct{ *cut }

func (s slow) Get(ctx context.Context, key string) (driver.Entry, error) {
	time.Sleep(100 * time.Millisecond)
	return s.cut.Get(ctx, key)
}

// Requests that wait while a lease ends, the first time and each time after, get the reason of its end.
func TestPoolMissingWhileRequestsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		g := leased(t, "orders", slow{newCut()})
		g.Create = false
		s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}, Notify: func(*supply.Source, lease.Event) {
			time.Sleep(200 * time.Millisecond) // as a log does that explains the error
		}}), "orders")
		var asking sync.WaitGroup
		for i := range 500 { // over two ends of leases
			asking.Go(func() {
				time.Sleep(time.Duration(i) * 23 * time.Millisecond)
				_, err := s.AppendBinary(t.Context(), nil, 1)
				is(t, err, reason.Setup, lease.ErrNoPool.Error())
			})
		}
		asking.Wait()
	})
}

// TestPoolOfOtherIDs serves a generator whose pool is for IDs of another epoch.
func TestPoolOfOtherIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := newCut()
		answers(t, find(t, start(t, supply.Config{Generators: []supply.Generator{leased(t, "orders", store)}}), "orders"), 1)
		g := leased(t, "orders", store)
		g.Recipe.Epoch = time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
		refuses(t, find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders"), reason.Setup, "orders", "epoch")
	})
}

// few is a generator of Snowflake-SI with a pool of two workers.
func few(t testing.TB, store driver.Store) supply.Generator {
	g := leased(t, "few", store)
	g.Format, g.Recipe.MachineBits = format(t, "snowflakesi"), 1
	return g
}

// TestAllWorkersTaken serves a generator of a pool whose workers other servers hold.
func TestAllWorkersTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := newCut()
		g := few(t, store)
		g.Workers = 2
		first := start(t, supply.Config{Generators: []supply.Generator{g}})
		s := find(t, first, "few")
		answers(t, s, 1)
		for s.Workers()[0].State != supply.Ready || s.Workers()[1].State != supply.Ready {
			time.Sleep(time.Millisecond)
		}
		second := start(t, supply.Config{Generators: []supply.Generator{few(t, store)}})
		late := find(t, second, "few")
		refuses(t, late, reason.Starting, "few", lease.ErrNoWorker.Error())
		is(t, late.Serving(), reason.Starting, lease.ErrNoWorker.Error())
		if w := late.Workers()[0]; w.State != supply.Starting || !errors.Is(w.Err, lease.ErrNoWorker) {
			t.Errorf("%+v", w)
		}
		stop(t, first)
		for began := time.Now(); late.Serving() != nil; time.Sleep(time.Millisecond) {
			if time.Since(began) > time.Minute {
				t.Fatal(late.Serving())
			}
		}
		answers(t, late, 1)
	})
}

// TestWindowLost takes the store away for longer than a window. Requests fail with the window, and those of a generator
// with another store do not notice.
func TestWindowLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := newCut()
		orders := leased(t, "orders", store)
		orders.Workers = 2
		set := start(t, supply.Config{Generators: []supply.Generator{orders, leased(t, "users", newCut())}})
		s, users := find(t, set, "orders"), find(t, set, "users")
		answers(t, s, 10)
		answers(t, users, 10)
		time.Sleep(time.Minute)
		used := s.Workers()
		store.Down.Store(true)
		time.Sleep(6 * time.Second)
		answers(t, s, 10) // the window has 7 s at least
		time.Sleep(time.Minute)
		refuses(t, s, reason.Window, "orders", lease.ErrLeaseExpired.Error(), driver.ErrUnavailable.Error())
		is(t, s.Serving(), reason.Window, driver.ErrUnavailable.Error())
		for _, w := range s.Workers() {
			if w.State != supply.Lost || w.Left != 0 {
				t.Errorf("%+v", w)
			}
		}
		answers(t, users, 10)
		if err := users.Serving(); err != nil {
			t.Error(err)
		}
		store.Down.Store(false)
		time.Sleep(time.Minute)
		answers(t, s, 10)
		for i, w := range s.Workers() {
			if w.State != supply.Ready || w.Number != used[i].Number || w.Lease.Renewals <= used[i].Lease.Renewals || w.Lease.Failures <= used[i].Lease.Failures {
				t.Errorf("%+v, before the outage %+v", w, used[i])
			}
		}
	})
}

// TestPause lets the clock jump ahead beyond the window, as a pause of the process does. The lease has not noticed yet.
// Requests wait for its next interval.
func TestPause(t *testing.T) {
	for _, name := range []string{"nanoflake", "ulidflake-scalable", "snowflakesi", "sno"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				today()
				var ahead atomic.Int64
				g := leased(t, "orders", newCut())
				g.Format = format(t, name)
				g.Recipe.Clock = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
				s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders")
				answers(t, s, 10)
				for range 5 {
					time.Sleep(time.Minute)
					ahead.Add(int64(20 * time.Second))
					began := time.Now()
					answers(t, s, 10)
					if took := time.Since(began); took > 500*time.Millisecond {
						t.Errorf("the request took %v", took)
					}
				}
			})
		})
	}
}

// TestWindowOfOneWorker takes the store of one of two workers away: the other worker answers for both.
func TestWindowOfOneWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		store := &odd{cut: newCut()}
		g := leased(t, "orders", store)
		g.Workers = 2
		s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders")
		answers(t, s, 10)
		time.Sleep(time.Minute)
		store.cuts.Store(true)
		time.Sleep(time.Minute)
		lost := 0
		for _, w := range s.Workers() {
			if w.State == supply.Lost {
				lost++
			}
		}
		if lost != 1 {
			t.Fatalf("%d workers have lost their windows", lost)
		}
		for range 20 {
			answers(t, s, 10)
		}
		var running sync.WaitGroup // requests that begin with either worker, and wait for ticks of the other worker
		for range 4 {
			running.Go(func() { answers(t, s, 3*int(s.Shape.Capacity())) })
		}
		running.Wait()
		if err := s.Serving(); err != nil {
			t.Error(err)
		}
	})
}

// odd is a store that keeps one record out of reach: the first record that changes while cuts is set.
type odd struct {
	*cut
	cuts atomic.Bool
	key  atomic.Pointer[string]
}

func (o *odd) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if o.cuts.Load() {
		o.key.CompareAndSwap(nil, &key)
		if *o.key.Load() == key {
			return driver.None, &driver.Error{Store: "odd", Err: driver.ErrUnavailable}
		}
	}
	return o.cut.Put(ctx, key, value, rev)
}

// TestClockBack sets the clock back: requests fail at once with the time that is missing, and no request waits.
func TestClockBack(t *testing.T) {
	for _, name := range []string{"nanoflake", "snowflakesi", "scru160", "sno"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				today()
				clock := newDial(time.Now())
				g := supply.Generator{Name: "orders", Format: format(t, name), Recipe: shape.Recipe{Worker: 1, Clock: clock.now}}
				if name == "scru160" {
					g.Recipe.NodeBits = 4
				}
				s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders")
				answers(t, s, 10)
				for _, back := range []time.Duration{time.Second, time.Minute} {
					clock.add(-back)
					began := time.Now()
					ids, err := s.AppendBinary(t.Context(), nil, 1)
					if err == nil { // sno toggles its tick-tock bit once, SCRU160 raises its counter
						t.Logf("%s answers %x after %v", name, ids, back)
						break
					}
					is(t, err, reason.Clock, "orders")
					if e := reason.Of(err); e.Retry < back-time.Second/2 || e.Retry > 2*time.Minute {
						t.Errorf("%v behind: ask again after %v", back, e.Retry)
					}
					if took := time.Since(began); took != 0 {
						t.Errorf("a request waited %v for a clock", took)
					}
					refuses(t, s, reason.Clock)
				}
				clock.add(2 * time.Minute)
				answers(t, s, 10)
			})
		})
	}
}

// TestClockBackOfLease sets the clock of a leased generator back, behind the interval of its lease.
func TestClockBackOfLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		var behind atomic.Int64
		g := leased(t, "orders", newCut())
		g.Recipe.Clock = func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) }
		s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders")
		answers(t, s, 10)
		time.Sleep(time.Minute)
		answers(t, s, 10)
		behind.Store(int64(30 * time.Second))
		began := time.Now()
		refuses(t, s, reason.Clock, "orders")
		if took := time.Since(began); took != 0 {
			t.Errorf("requests waited %v", took)
		}
		time.Sleep(31 * time.Second)
		answers(t, s, 10)
	})
}

// TestClockBehindInterval sets the clock back to a time before the interval of the lease, after an outage. No ID of the
// interval has come yet.
func TestClockBehindInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		var behind atomic.Int64
		store := newCut()
		g := leased(t, "orders", store)
		g.Recipe.Clock = func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) }
		s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders")
		answers(t, s, 10)
		store.Down.Store(true)
		time.Sleep(time.Minute)
		refuses(t, s, reason.Window)
		store.Down.Store(false)
		ready(s)
		synctest.Wait() // the lease may renew twice at the end of an outage, and would lease the time before, too
		behind.Store(int64(30 * time.Second))
		began := time.Now()
		refuses(t, s, reason.Clock, "orders", "ahead of the clock")
		if took := time.Since(began); took != 0 {
			t.Errorf("requests waited %v", took)
		}
	})
}

// TestClockBackDuringWait sets the clock back while requests wait for the next tick: the requests end at once.
func TestClockBackDuringWait(t *testing.T) {
	for _, name := range []string{"nanoflake", "ulidflake", "snowflakesi"} { // scru160 and sno go on with IDs
		for _, back := range []time.Duration{20 * time.Millisecond, time.Second, time.Minute} {
			t.Run(name+back.String(), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					today()
					var behind atomic.Int64
					clock := func() time.Time { return time.Now().Add(-time.Duration(behind.Load())) }
					g := supply.Generator{Name: "orders", Format: format(t, name), Recipe: shape.Recipe{Worker: 1, Clock: clock}}
					s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders")
					began, done := time.Now(), make(chan error)
					go func() {
						_, err := s.AppendBinary(t.Context(), nil, 1_000_000_000)
						done <- err
					}()
					time.Sleep(15 * time.Millisecond)
					behind.Add(int64(back))
					is(t, <-done, reason.Clock)
					if took := time.Since(began); took > 30*time.Millisecond {
						t.Errorf("the request ended after %v", took)
					}
				})
			})
		}
	}
}

// TestExhausted asks for more IDs than a tick has while time stands still: requests wait for a bounded time, and requests
// to another generator are answered meanwhile.
func TestExhausted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		clock := newDial(time.Now())
		full := supply.Generator{Name: "full", Format: format(t, "nanoflake"), Recipe: shape.Recipe{Worker: 1, Clock: clock.now}}
		set := start(t, supply.Config{Generators: []supply.Generator{full, leased(t, "users", newCut())}, Wait: 300 * time.Millisecond})
		s, users := find(t, set, "full"), find(t, set, "users")
		answers(t, users, 1)
		const clients = 100
		perTick := int(s.Shape.Capacity())
		got, ends := make(chan int, clients), make(chan error, clients)
		began := time.Now()
		for range clients {
			go func() {
				ids, err := s.AppendBinary(t.Context(), nil, perTick)
				got <- len(ids) / s.Size
				ends <- err
			}()
		}
		time.Sleep(100 * time.Millisecond)
		answers(t, users, 1000)
		made := 0
		for range clients {
			made += <-got
			if err := <-ends; err != nil {
				is(t, err, reason.Exhausted, "full")
			}
		}
		if made != perTick {
			t.Errorf("%d IDs of a tick that has %d", made, perTick)
		}
		if took := time.Since(began); took > time.Second {
			t.Errorf("the last request ended after %v", took)
		}
		if u := s.Workers()[0].Usage; u.Exhausted == 0 || u.Waits == 0 {
			t.Errorf("%+v", u)
		}
		clock.add(time.Millisecond)
		answers(t, s, perTick)
	})
}

// TestLifetime asks for IDs before the first timestamp of the format and after the last.
func TestLifetime(t *testing.T) {
	for name, at := range map[string]func(shape.Shape) time.Time{
		"before": func(s shape.Shape) time.Time { return s.Start().Add(-time.Hour) },
		"after":  func(s shape.Shape) time.Time { return s.End().Add(time.Hour) },
	} {
		t.Run(name, func(t *testing.T) {
			clock := newDial(time.Now())
			g := supply.Generator{Name: "orders", Format: format(t, "snowflakesi"), Recipe: shape.Recipe{Worker: 1, Clock: clock.now}}
			s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders")
			clock.set(at(s.Shape))
			refuses(t, s, reason.Lifetime, "orders")
		})
	}
}

// TestLifetimeOfLease lets the timestamps of a leased generator end while the server runs.
func TestLifetimeOfLease(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		g := leased(t, "orders", newCut())
		g.Format = format(t, "snowflakesi")
		form, err := g.Format.Descriptor().Of(g.Recipe.Settings)
		testkit.OK(t, err)
		time.Sleep(time.Until(form.End()) - time.Minute)
		s := find(t, start(t, supply.Config{Generators: []supply.Generator{g}}), "orders")
		answers(t, s, 10)
		time.Sleep(2 * time.Minute)
		refuses(t, s, reason.Lifetime)
		if err := s.Serving(); err == nil {
			t.Error("the generator serves after its lifetime")
		}
	})
}

// TestOwnContext ends the context of a request: the error is that of the context, and no reason.
func TestOwnContext(t *testing.T) {
	store := newCut()
	store.Down.Store(true)
	s := find(t, start(t, supply.Config{Generators: []supply.Generator{leased(t, "orders", store)}}), "orders")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.AppendBinary(ctx, nil, 1)
	if _, ok := errors.AsType[*reason.Error](err); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
