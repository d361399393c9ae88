package monitoring

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/usage"
)

// silent is a store that does not answer while mute is set: each call lasts until its context ends.
type silent struct {
	driver.Store
	mute atomic.Bool
}

func (s *silent) wait(ctx context.Context) error {
	if !s.mute.Load() {
		return nil
	}
	<-ctx.Done()
	return &driver.Error{Store: s.String(), Err: fmt.Errorf("%w: %w", driver.ErrUnavailable, ctx.Err())}
}

func (s *silent) Get(ctx context.Context, key string) (driver.Entry, error) {
	if err := s.wait(ctx); err != nil {
		return driver.Entry{}, err
	}
	return s.Store.Get(ctx, key)
}

func (s *silent) List(ctx context.Context, prefix string) ([]driver.Entry, error) {
	if err := s.wait(ctx); err != nil {
		return nil, err
	}
	return s.Store.List(ctx, prefix)
}

func (s *silent) Put(ctx context.Context, key string, value []byte, rev driver.Revision) (driver.Revision, error) {
	if err := s.wait(ctx); err != nil {
		return driver.None, err
	}
	return s.Store.Put(ctx, key, value, rev)
}

// stutter lets a store be silent for 6 s again and again.
func (s *scraper) stutter(store *silent) {
	for range 4 {
		s.run(10 * time.Minute)
		store.mute.Store(true)
		s.run(6 * time.Second)
		store.mute.Store(false)
	}
	s.run(10 * time.Minute)
}

// A program leases a worker from a store that has the pool already, and is scraped.
type program struct {
	*scraper
	held   *lease.Lease
	notify func(lease.Event)
}

// begin starts the program of a test.
func begin(s *scraper, store driver.Store, gen lease.Generator, c lease.Config) *program {
	s.t.Helper()
	p := &program{scraper: s}
	var err error
	if p.notify, err = Prometheus(s.reg, "orders"); err != nil {
		s.t.Fatal(err)
	}
	c.Notify = p.notify
	s.run(time.Minute)
	if p.held, err = lease.Start(s.t.Context(), store, gen, c); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = p.held.Close() })
	s.reg.MustRegister(PrometheusLease(p.held, "orders"))
	return p
}

func leased(t *testing.T) *nanoflake.Generator {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	testkit.OK(t, err)
	return gen
}

// create creates the pool of the tests, by a lease.
func create(t *testing.T, store driver.Store) driver.Store {
	held, err := lease.Start(t.Context(), store, leased(t), lease.Config{Create: true})
	if err == nil {
		err = held.Close()
	}
	testkit.OK(t, err)
	return store
}

// damage spoils the records of all workers.
func damage(t *testing.T, store driver.Store) {
	all, err := store.List(t.Context(), "nanoflake/workers/")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d records: %v", len(all), err)
	}
	for _, e := range all {
		testkit.OK(t, testkit.Err(store.Put(t.Context(), e.Key, []byte("spoiled"), e.Revision)))
	}
}

// TestRules runs leases and their stores into each failure. The alerts of docs/monitoring.md for the failure fire, and no
// others.
func TestRules(t *testing.T) {
	directory := func(t *testing.T, dir string, options ...filelease.Option) driver.Store {
		store := testkit.Must(filelease.Open(dir, options...))
		return store
	}
	testRules(t, "monitoring.md", []failure{
		{"healthy", func(t *testing.T, s *scraper) {
			begin(s, create(t, memlease.New()), leased(t), lease.Config{})
			s.run(2 * time.Hour)
		}, nil},
		{"healthy, in a directory", func(t *testing.T, s *scraper) {
			begin(s, create(t, directory(t, filepath.Join(t.TempDir(), "state"))), leased(t), lease.Config{})
			s.run(10 * time.Minute)
		}, nil},
		{"a deployment", func(t *testing.T, s *scraper) {
			p := begin(s, create(t, memlease.New()), leased(t), lease.Config{Background: true})
			s.run(10 * time.Minute)
			testkit.OK(t, p.held.Close())
		}, nil},
		{"a store that elects a leader", func(t *testing.T, s *scraper) {
			store := &faults.Cut{Store: create(t, memlease.New())}
			begin(s, store, leased(t), lease.Config{})
			s.run(13*time.Minute + 30*time.Second) // the outage is in two spans of FirnStoreUnreliable
			store.Down.Store(true)
			s.run(5 * time.Second)
			store.Down.Store(false)
			s.run(2 * time.Hour)
		}, nil},
		{"a store that is silent for 14 s", func(t *testing.T, s *scraper) {
			store := &silent{Store: create(t, memlease.New())}
			p := begin(s, store, leased(t), lease.Config{})
			s.run(10 * time.Minute)
			store.mute.Store(true)
			s.run(14 * time.Second)
			store.mute.Store(false)
			s.run(2 * time.Hour)
			// What docs/monitoring.md says.
			if n := value(t, s.reg, "firn_lease_events_total", "failing"); n != 1 || p.held.Stats().Failures < 2 {
				t.Errorf("%v events Failing, and %d failures", n, p.held.Stats().Failures)
			}
		}, []string{"FirnLeaseExpired"}},
		{"a store that is silent for long", func(t *testing.T, s *scraper) {
			store := &silent{Store: create(t, memlease.New())}
			begin(s, store, leased(t), lease.Config{})
			s.run(10 * time.Minute)
			store.mute.Store(true)
			s.run(2 * time.Minute)
		}, []string{"FirnLeaseExpired", "FirnNoIDs"}},
		{"a program that is replaced before the alert", func(t *testing.T, s *scraper) {
			store := &silent{Store: create(t, memlease.New())}
			begin(s, store, leased(t), lease.Config{})
			s.run(10 * time.Minute)
			store.mute.Store(true)
			s.run(30 * time.Second)
			s.reg = prometheus.NewRegistry()
			s.run(5 * time.Minute)
		}, []string{"FirnLeaseExpired"}},
		{"a store that is silent before the start", func(t *testing.T, s *scraper) {
			store := &silent{Store: create(t, memlease.New())}
			store.mute.Store(true)
			begin(s, store, leased(t), lease.Config{Background: true})
			s.run(2 * time.Minute)
		}, []string{"FirnNoIDs"}},
		{"a store that is silent for 6 s again and again", func(t *testing.T, s *scraper) {
			store := &silent{Store: create(t, memlease.New())}
			begin(s, store, leased(t), lease.Config{})
			s.stutter(store)
		}, []string{"FirnStoreUnreliable"}},
		{"a store that refuses for long", func(t *testing.T, s *scraper) {
			store := &faults.Cut{Store: create(t, memlease.New())}
			p := begin(s, store, leased(t), lease.Config{})
			s.run(10 * time.Minute)
			store.Down.Store(true)
			s.run(20 * time.Minute)
			// What docs/monitoring.md says.
			if n := value(t, s.reg, "firn_lease_events_total", "failing"); n < 15 || n > 25 || p.held.Stats().Failures < 2000 {
				t.Errorf("%v events Failing, and %d failures", n, p.held.Stats().Failures)
			}
		}, []string{"FirnLeaseExpired", "FirnNoIDs", "FirnStoreUnreliable"}},
		{"a directory that is lost", func(t *testing.T, s *scraper) {
			dir := filepath.Join(t.TempDir(), "state")
			p := begin(s, create(t, directory(t, dir)), leased(t), lease.Config{})
			s.run(10 * time.Minute)
			testkit.OK(t, os.Rename(dir, dir+"-away"))
			s.run(2 * time.Minute)
			// What docs/runbook.md says.
			testkit.OK(t, os.Rename(dir+"-away", dir))
			s.run(time.Minute)
			if p.held.Left() <= 0 {
				t.Errorf("the directory is there again: %v", p.held.Err())
			}
		}, []string{"FirnDirectoryLost", "FirnLeaseExpired", "FirnNoIDs"}},
		{"a directory that is replaced", func(t *testing.T, s *scraper) {
			dir := filepath.Join(t.TempDir(), "state")
			begin(s, create(t, directory(t, dir)), leased(t), lease.Config{})
			s.run(10 * time.Minute)
			testkit.OK(t, os.Rename(dir, dir+"-away"))
			testkit.OK(t, os.Mkdir(dir, 0o700))
			s.run(2 * time.Minute)
		}, []string{"FirnDirectoryLost", "FirnLeaseExpired", "FirnNoIDs"}},
		{"a directory that is lost before the start", func(t *testing.T, s *scraper) {
			begin(s, directory(t, filepath.Join(t.TempDir(), "state")), leased(t), lease.Config{})
			s.run(2 * time.Minute)
		}, []string{"FirnPoolCreated"}},
		{"no pool", func(t *testing.T, s *scraper) {
			begin(s, &faults.Cut{Store: memlease.New()}, leased(t), lease.Config{Background: true})
			s.run(2 * time.Minute)
		}, []string{"FirnNoIDs", "FirnStartEnded"}},
		{"damaged records", func(t *testing.T, s *scraper) {
			store := create(t, memlease.New())
			begin(s, store, leased(t), lease.Config{})
			s.run(10 * time.Minute)
			damage(t, store)
			s.run(2 * time.Minute)
		}, []string{"FirnLeaseExpired", "FirnNoIDs", "FirnPoolNeedsRecovery"}},
		{"a clock of the store that differs", func(t *testing.T, s *scraper) {
			ahead := new(atomic.Int64)
			store := faults.Clocked{Store: create(t, memlease.New()), Time: func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }}
			begin(s, store, leased(t), lease.Config{})
			s.run(10 * time.Minute)
			ahead.Store(int64(-time.Hour))
			s.run(2 * time.Minute)
		}, []string{"FirnClockWrong", "FirnLeaseExpired", "FirnNoIDs"}},
		{"more leases than workers", func(t *testing.T, s *scraper) {
			store := memlease.New()
			start := func() *snowflakesi.Generator {
				gen, err := snowflakesi.NewGenerator(snowflakesi.Config{Leased: true, Layout: snowflakesi.Layout{ClockBits: 40, MachineBits: 1}})
				testkit.OK(t, err)
				return gen
			}
			for range 2 {
				held, err := lease.Start(t.Context(), store, start(), lease.Config{Create: true})
				testkit.OK(t, err)
				t.Cleanup(func() { _ = held.Close() })
			}
			begin(s, store, start(), lease.Config{Background: true})
			s.run(6 * time.Minute)
		}, []string{"FirnNoIDs", "FirnTooFewWorkers"}},
		{"the end of the format", func(t *testing.T, s *scraper) {
			time.Sleep(time.Until(time.Date(2089, 1, 1, 0, 0, 0, 0, time.UTC)))
			begin(s, create(t, memlease.New()), leased(t), lease.Config{})
			s.run(2 * time.Minute)
		}, []string{"FirnFormatEnds"}},
		{"events that need a clock or a machine of their own", func(t *testing.T, s *scraper) {
			p := begin(s, create(t, memlease.New()), leased(t), lease.Config{})
			s.run(2 * time.Minute)
			for _, kind := range []lease.EventKind{lease.Withdrawn, lease.Lost, lease.Lost, lease.Lost, lease.Lost} {
				p.notify(lease.Event{Kind: kind})
			}
			s.run(2 * time.Minute)
		}, []string{"FirnClockWasAhead", "FirnProcessPaused"}},
		{"a machine that is paused three times in an hour, and a clock that goes back five times in a day", func(t *testing.T, s *scraper) {
			g := &fixed{usage.Usage{ClockSteps: 5}}
			testkit.OK(t, PrometheusUsage(s.reg, "orders", g))
			p := begin(s, create(t, memlease.New()), leased(t), lease.Config{})
			for range 2 { // increase() is 3.01 for the second three
				for range 3 {
					p.notify(lease.Event{Kind: lease.Lost})
				}
				s.run(time.Hour)
			}
			g.now.ClockSteps += 5
			s.run(time.Hour)
		}, nil},
		{"a generator that is nearly full, with a clock that goes back", func(t *testing.T, s *scraper) {
			g := new(fixed)
			testkit.OK(t, PrometheusUsage(s.reg, "orders", g))
			s.run(2 * time.Minute)
			g.now.Second, g.now.ClockSteps = 0.6, 6
			s.run(11 * time.Minute)
		}, []string{"FirnClockGoesBack", "FirnGeneratorNearlyFull"}},
	})
}

// fixed is the usage of a generator that a test makes up.
type fixed struct{ now usage.Usage }

func (f *fixed) Usage() usage.Usage { return f.now }
