package complaints

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/server/internal/metrics"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// TestLeaf35TwoBlocksInBursts: Leaf loads blocks of a configured step. A burst larger than two blocks fails with "Both two
// segments are not ready", while the next block is on its way from the database (Leaf 35, 48, 143).
//
// An interval of Firn is a time, and not a number of IDs: a burst of any size takes the IDs of this time, and no request
// waits for the store.
func TestLeaf35TwoBlocksInBursts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		s := begin(t, memlease.New(), func(c *supply.Config, _ *supply.Generator, l *link) {
			c.Lease.Window = 200 * time.Millisecond // the step: as small as a slow store allows
			l.slow = 20 * time.Millisecond
		})
		s.take(t, 1)
		for range 10 {
			const clients, each = 1000, 100 // 25 times what a millisecond has
			made := make([][]byte, clients)
			var running sync.WaitGroup
			for i := range clients {
				running.Go(func() {
					var err error
					if made[i], err = s.AppendBinary(t.Context(), nil, each); err != nil {
						t.Error(err)
					}
				})
			}
			running.Wait()
			all{}.add(t, s, slices.Concat(made...))
			time.Sleep(70 * time.Millisecond)
		}
	})
}

// TestTinyId17PrefetchFlag: TinyId sets a flag while it loads the next block. After one load that failed, the flag stayed
// set, no block was loaded any more, and the service ended with the present block (TinyId 17).
//
// A lease of Firn has no such flag: one loop renews the lease, and each pass of the loop begins with what is recorded.
func TestTinyId17PrefetchFlag(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		s := begin(t, memlease.New())
		s.take(t, 1)
		for fails := range 8 {
			puts := s.link.puts.Load()
			s.link.lose.Store(int32(fails))
			for i := 0; s.link.puts.Load() < puts+int64(fails)+1; i++ {
				if time.Sleep(100 * time.Millisecond); i > 200 {
					t.Fatal("the lease is not renewed")
				}
				s.take(t, 10) // no request notices
			}
			if w := s.Workers()[0]; w.Left < 6*time.Second {
				t.Errorf("after %d failures the worker has %v left", fails, w.Left)
			}
		}
		time.Sleep(time.Hour)
		s.take(t, 10)
	})
}

// TestUidGenerator100LifetimeIsReported: the time bits of uid-generator's default ended on 2024-11-20. Nobody had been told,
// and the services made negative IDs from then on (uid-generator 100).
//
// A server of Firn reports the time that is left as a metric, and refuses to make an ID after the last timestamp.
func TestUidGenerator100LifetimeIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		m := metrics.New()
		s := begin(t, memlease.New(), few)
		m.Collect(s.set)
		remaining := func() time.Duration {
			return time.Duration(read(t, m)[`firn_format_remaining_seconds{generator="orders"}`]) * time.Second
		}
		s.take(t, 1)
		end := s.Shape.End()
		if left := remaining(); left < time.Until(end)-time.Second || left > time.Until(end)+time.Second {
			t.Errorf("%v are left, want %v", left, time.Until(end))
		}
		s.stop(t)
		time.Sleep(time.Until(end.Add(-time.Minute)))
		s = begin(t, memlease.New(), few)
		m = metrics.New()
		m.Collect(s.set)
		ids := s.take(t, 1)
		if left := remaining(); left <= 0 || left > time.Minute {
			t.Errorf("%v are left in the last minute", left)
		}
		time.Sleep(2 * time.Minute)
		if more, err := s.AppendBinary(t.Context(), nil, 1); !is(err, reason.Lifetime) || len(more) > 0 {
			t.Errorf("%x after %x, and %v", more, ids, err)
		}
		if left := remaining(); left >= 0 {
			t.Errorf("%v are left after the end", left)
		}
	})
}

// TestTiDB48869OneConnection: each table of TiDB with AUTO_ID_CACHE=1 opened a connection of its own to the service of IDs.
// 60 000 tables used up the ports of the machine (TiDB 48869).
//
// All generators of a server of Firn with the same address share one open store.
func TestTiDB48869OneConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		var opened atomic.Int32
		store := memlease.New()
		nanoflake, _ := inspect.Lookup("nanoflake")
		var c supply.Config
		const tables = 200
		for i := range tables {
			c.Generators = append(c.Generators, supply.Generator{Name: fmt.Sprintf("table%d", i), Pool: fmt.Sprintf("table%d", i), Create: true,
				Format: nanoflake, Recipe: shape.Recipe{Leased: true}, Store: "store",
				Open: func(context.Context) (driver.Store, error) {
					opened.Add(1)
					return store, nil
				}})
		}
		c.Wait = time.Minute
		set, err := supply.New(c)
		testkit.OK(t, err)
		defer set.Close(context.Background())
		var running sync.WaitGroup
		for _, s := range set.All() {
			running.Go(func() {
				if _, err := s.AppendBinary(t.Context(), nil, 1); err != nil {
					t.Error(err)
				}
			})
		}
		running.Wait()
		if n := opened.Load(); n != 1 {
			t.Errorf("%d connections for %d generators", n, tables)
		}
	})
}

// TestTiDB69067CancelledCall: a client of TiDB's service of IDs took the error of a call that its own caller had cancelled
// for a broken connection. The client closed the connection under all other calls, whose errors closed the next connection,
// and so on for ever (TiDB 69067, 50519).
//
// A request of Firn never talks to the store: only the lease does, with contexts of its own. A cancelled request ends alone.
func TestTiDB69067CancelledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		today()
		var events atomic.Int32
		s := begin(t, memlease.New(), func(c *supply.Config, _ *supply.Generator, l *link) {
			l.Down.Store(true) // requests wait for the first worker
			c.Notify = func(_ *supply.Source, e lease.Event) {
				if e.Kind != lease.Acquired && e.Kind != lease.Renewed && e.Kind != lease.Created {
					events.Add(1)
				}
			}
		})
		cancelled := func(n int) {
			ctx, cancel := context.WithCancel(t.Context())
			var running sync.WaitGroup
			for range 100 {
				running.Go(func() {
					_, err := s.AppendBinary(ctx, nil, n)
					if _, ok := errors.AsType[*reason.Error](err); ok || !errors.Is(err, context.Canceled) {
						t.Errorf("the error of a cancelled request: %v", err)
					}
				})
			}
			time.Sleep(time.Millisecond)
			cancel()
			running.Wait()
		}
		cancelled(1) // during the start
		s.link.Down.Store(false)
		s.take(t, 1)
		before := events.Load()
		for range 10 {
			var running sync.WaitGroup
			running.Go(func() { cancelled(100_000_000) }) // while they wait for ticks
			running.Go(func() { s.take(t, 100_000) })
			running.Wait()
		}
		time.Sleep(time.Minute)
		s.take(t, 1)
		if n := events.Load() - before; n != 0 {
			t.Errorf("%d events of trouble", n)
		}
		if w := s.Workers()[0]; w.Lease.Failures > 5 || w.Err != nil {
			t.Errorf("%+v", w)
		}
	})
}

// TestTwitterClockBack: Twitter's server set its sequence to 0 before the check for a clock that goes back. When the clock
// reached the last millisecond again, the server made the IDs of this millisecond again (twitter-archive/snowflake 6).
//
// A generator of Firn has one word with time and sequence, and the word only rises. A clock that is behind changes nothing.
func TestTwitterClockBack(t *testing.T) {
	for _, f := range inspect.Formats() {
		t.Run(f.Name(), func(t *testing.T) {
			at := time.Now().Truncate(time.Second)
			var clock atomic.Pointer[time.Time]
			set := func(d time.Duration) { now := at.Add(d); clock.Store(&now) }
			set(0)
			recipe := shape.Recipe{Clock: func() time.Time { return *clock.Load() }}
			c := supply.Config{Generators: []supply.Generator{{Name: "orders", Format: f, Recipe: recipe}}, Wait: time.Millisecond}
			of, err := supply.New(c)
			testkit.OK(t, err)
			defer of.Close(context.Background())
			source, _ := of.Find("orders")
			s, seen := &server{Source: source}, all{}
			for _, d := range []time.Duration{0, 5, 4, 5, 0, 5, 6, 5, 6, -1000, 0, 5, 6, 7, 6, 7} {
				set(d * time.Millisecond)
				for range 5 {
					ids, err := s.AppendBinary(t.Context(), nil, 7)
					seen.add(t, s, ids)
					if err != nil && !is(err, reason.Clock) && !is(err, reason.Exhausted) {
						t.Fatal(err)
					}
				}
			}
			if len(seen) < 4*35 {
				t.Errorf("%d IDs", len(seen))
			}
		})
	}
}

// TestTiDB40322MetricsNotEmpty: the metric of allocations of TiDB stayed empty for tables with AUTO_ID_CACHE=1, which went
// another way through the code (TiDB 40322).
//
// A generator of Firn counts where IDs are made, and all ways lead there: the test takes IDs by each way, and reads the
// metric after each.
func TestTiDB40322MetricsNotEmpty(t *testing.T) {
	m := metrics.New()
	for _, f := range inspect.Formats() {
		for way, take := range map[string]func(s *supply.Source) (int, error){
			"binary": func(s *supply.Source) (int, error) {
				ids, err := s.AppendBinary(t.Context(), nil, 10)
				return len(ids) / s.Size, err
			},
			"texts": func(s *supply.Source) (int, error) {
				_, err := s.AppendTexts(t.Context(), nil, 10, "", "\n")
				return 10, err
			},
			"run": func(s *supply.Source) (int, error) {
				if !s.Runs() {
					return 0, nil
				}
				_, n, err := s.Run(t.Context(), 10)
				return n, err
			},
		} {
			t.Run(f.Name()+" "+way, func(t *testing.T) {
				m = metrics.New()
				s := begin(t, memlease.New(), func(c *supply.Config, g *supply.Generator, _ *link) {
					c.Notify, c.Failed = m.Event, m.Failed
					g.Format, g.Recipe.Leased = f, f.Worker() != ""
				})
				m.Collect(s.set)
				n, err := take(s.Source)
				testkit.OK(t, err)
				values := read(t, m)
				if made := values[`firn_generator_ids_total{generator="orders"}`]; made < float64(n) {
					t.Errorf("the metric says %v after %d IDs", made, n)
				}
				if n > 0 && s.Recipe.Leased {
					for _, name := range []string{`firn_lease_events_total{event="acquired",generator="orders"}`, `firn_lease_left_seconds{generator="orders"}`,
						`firn_generator_workers{generator="orders",state="ready"}`, `firn_generator_worst_share{generator="orders"}`} {
						if values[name] <= 0 {
							t.Errorf("%s is %v", name, values[name])
						}
					}
				}
			})
		}
	}
}
