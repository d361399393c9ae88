package monitoring

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.yaml.in/yaml/v4"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/filelease"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/usage"
)

// A rule is an alerting rule of docs/monitoring.md.
type rule struct {
	Alert, Expr, For string
	Labels           map[string]string
}

// rules returns the rules of docs/monitoring.md.
func rules(t *testing.T) []rule {
	document, err := os.ReadFile("../../../docs/monitoring.md")
	if err != nil {
		t.Fatal(err)
	}
	var all []rule
	for _, block := range strings.Split(string(document), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```\n")
		var file struct{ Groups []struct{ Rules []rule } }
		if err := yaml.Unmarshal([]byte(block), &file); err != nil {
			t.Fatal(err)
		}
		for _, g := range file.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

// A series has the labels of a series of a metric.
type series struct {
	owner string // the label "lease" or "generator"
	label string // the label "event" or "reason"
}

// A vector has the values of some series of one metric.
type vector map[series]float64

// A scraper reads metrics every 15 s and evaluates rules, as Prometheus does. In place of the whole PromQL, a scraper knows
// the expressions of docs/monitoring.md. The function increase does not extrapolate.
type scraper struct {
	t       *testing.T
	reg     *prometheus.Registry
	rules   []rule
	pending map[string]time.Time // since when the expression of an alert has had a value
	fired   map[string]bool
	at      []time.Time
	samples []map[string]vector // by the name of the metric
}

func newScraper(t *testing.T) *scraper {
	return &scraper{t: t, reg: prometheus.NewRegistry(), rules: rules(t), pending: make(map[string]time.Time), fired: make(map[string]bool)}
}

// run scrapes for a time.
func (s *scraper) run(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		time.Sleep(15 * time.Second)
		s.scrape()
	}
}

func (s *scraper) scrape() {
	families, err := s.reg.Gather()
	if err != nil {
		s.t.Fatal(err)
	}
	now, sample := time.Now(), make(map[string]vector)
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "firn_") {
			continue
		}
		values := make(vector)
		sample[f.GetName()] = values
		for _, m := range f.GetMetric() {
			key := series{}
			for _, l := range m.GetLabel() {
				if name := l.GetName(); name == "lease" || name == "generator" {
					key.owner = l.GetValue()
				} else {
					key.label = l.GetValue()
				}
			}
			values[key] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
		}
	}
	s.at, s.samples = append(s.at, now), append(s.samples, sample)
	for _, r := range s.rules {
		if len(s.value(r.Expr, now)) == 0 {
			delete(s.pending, r.Alert)
			continue
		}
		if _, ok := s.pending[r.Alert]; !ok {
			s.pending[r.Alert] = now
		}
		if now.Sub(s.pending[r.Alert]) >= s.span(r.For) {
			s.fired[r.Alert] = true
		}
	}
}

// span returns a duration of Prometheus, and 0 for the empty text.
func (s *scraper) span(text string) time.Duration {
	days, ok := strings.CutSuffix(text, "d")
	if ok {
		n, err := strconv.Atoi(days)
		if err != nil {
			s.t.Fatal(err)
		}
		return time.Duration(n) * 24 * time.Hour
	}
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return d
}

var (
	comparison = regexp.MustCompile(`^(.*) (<=|<|>) ([0-9.* ]+)$`)
	counted    = regexp.MustCompile(`^count_over_time\(\((.*)\)\[(\w+):(\w+)\]\)$`)
	increase   = regexp.MustCompile(`^increase\((.*)\[(\w+)\]\)$`)
	selector   = regexp.MustCompile(`^(firn_\w+)(?:\{(?:event|reason)=~?"([a-z_|]+)"\})?$`)
)

// value returns the value of an expression at a time.
func (s *scraper) value(expr string, now time.Time) vector {
	result := make(vector)
	if left, right, ok := strings.Cut(expr, " unless on (instance, lease) "); ok {
		without := make(map[string]bool)
		for key := range s.value(right, now) {
			without[key.owner] = true
		}
		for key, v := range s.value(left, now) {
			if !without[key.owner] {
				result[key] = v
			}
		}
		return result
	}
	if m := comparison.FindStringSubmatch(expr); m != nil {
		limit := 1.0
		for factor := range strings.SplitSeq(m[3], "*") {
			f, err := strconv.ParseFloat(strings.TrimSpace(factor), 64)
			if err != nil {
				s.t.Fatal(err)
			}
			limit *= f
		}
		for key, v := range s.value(m[1], now) {
			if m[2] == ">" && v > limit || m[2] == "<" && v < limit || m[2] == "<=" && v <= limit {
				result[key] = v
			}
		}
		return result
	}
	if m := counted.FindStringSubmatch(expr); m != nil {
		step := s.span(m[3])
		for at := now.Truncate(step); at.After(now.Add(-s.span(m[2]))); at = at.Add(-step) {
			for key := range s.value(m[1], at) {
				result[key]++
			}
		}
		return result
	}
	if m := increase.FindStringSubmatch(expr); m != nil {
		last, begin := s.before(now), now.Add(-s.span(m[2]))
		for i := last; i > 0 && s.at[i-1].After(begin); i-- {
			earlier := s.selected(m[1], i-1)
			for key, v := range s.selected(m[1], i) {
				if before, ok := earlier[key]; ok && v >= before {
					result[key] += v - before
				} else if ok {
					result[key] += v
				}
			}
		}
		return result
	}
	if i := s.before(now); i >= 0 {
		return s.selected(expr, i)
	}
	return result
}

// before returns the index of the last sample at a time or before, and -1 if there is none.
func (s *scraper) before(now time.Time) int {
	return sort.Search(len(s.at), func(i int) bool { return s.at[i].After(now) }) - 1
}

// selected returns the values of a sample that a selector selects.
func (s *scraper) selected(expr string, i int) vector {
	m := selector.FindStringSubmatch(expr)
	if m == nil {
		s.t.Fatalf("the test does not know the expression %s", expr)
	}
	result := make(vector)
	for key, v := range s.samples[i][m[1]] {
		if m[2] == "" || slices.Contains(strings.Split(m[2], "|"), key.label) {
			result[key] = v
		}
	}
	return result
}

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
	if err != nil {
		t.Fatal(err)
	}
	return gen
}

// create creates the pool of the tests, by a lease.
func create(t *testing.T, store driver.Store) driver.Store {
	held, err := lease.Start(t.Context(), store, leased(t), lease.Config{Create: true})
	if err == nil {
		err = held.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return store
}

// damage spoils the records of all workers.
func damage(t *testing.T, store driver.Store) {
	all, err := store.List(t.Context(), "nanoflake/workers/")
	if err != nil || len(all) == 0 {
		t.Fatalf("%d records: %v", len(all), err)
	}
	for _, e := range all {
		if _, err := store.Put(t.Context(), e.Key, []byte("spoiled"), e.Revision); err != nil {
			t.Fatal(err)
		}
	}
}

// TestRules runs leases and their stores into each failure. The alerts of docs/monitoring.md for the failure fire, and no
// others.
func TestRules(t *testing.T) {
	directory := func(t *testing.T, dir string, options ...filelease.Option) driver.Store {
		store, err := filelease.Open(dir, options...)
		if err != nil {
			t.Fatal(err)
		}
		return store
	}
	tested := make(map[string]bool)
	for _, c := range []struct {
		name string
		fail func(t *testing.T, s *scraper)
		want []string
	}{
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
			if err := p.held.Close(); err != nil {
				t.Fatal(err)
			}
		}, nil},
		{"a store that elects a leader", func(t *testing.T, s *scraper) {
			store := &faults.Cut{Store: create(t, memlease.New())}
			begin(s, store, leased(t), lease.Config{})
			s.run(10 * time.Minute)
			store.Down.Store(true)
			time.Sleep(5 * time.Second)
			store.Down.Store(false)
			s.run(2 * time.Hour)
		}, nil},
		{"a store that is silent for 14 s", func(t *testing.T, s *scraper) {
			store := &silent{Store: create(t, memlease.New())}
			p := begin(s, store, leased(t), lease.Config{})
			s.run(10 * time.Minute)
			store.mute.Store(true)
			time.Sleep(14 * time.Second)
			store.mute.Store(false)
			s.run(2 * time.Hour)
			// What docs/monitoring.md says.
			events := s.value("firn_lease_events_total", time.Now())
			if n := events[series{"orders", "failing"}]; n != 1 || p.held.Stats().Failures < 2 {
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
		{"a store that is silent before the start", func(t *testing.T, s *scraper) {
			store := &silent{Store: create(t, memlease.New())}
			store.mute.Store(true)
			begin(s, store, leased(t), lease.Config{Background: true})
			s.run(2 * time.Minute)
		}, []string{"FirnNoIDs"}},
		{"a store that is silent for 6 s again and again", func(t *testing.T, s *scraper) {
			store := &silent{Store: create(t, memlease.New())}
			begin(s, store, leased(t), lease.Config{})
			for range 4 {
				s.run(10 * time.Minute)
				store.mute.Store(true)
				time.Sleep(6 * time.Second)
				store.mute.Store(false)
			}
			s.run(10 * time.Minute)
		}, []string{"FirnStoreUnreliable"}},
		{"a store that refuses for long", func(t *testing.T, s *scraper) {
			store := &faults.Cut{Store: create(t, memlease.New())}
			p := begin(s, store, leased(t), lease.Config{})
			s.run(10 * time.Minute)
			store.Down.Store(true)
			s.run(20 * time.Minute)
			// What docs/monitoring.md says.
			events := s.value("firn_lease_events_total", time.Now())
			if n := events[series{"orders", "failing"}]; n < 15 || n > 25 || p.held.Stats().Failures < 2000 {
				t.Errorf("%v events Failing, and %d failures", n, p.held.Stats().Failures)
			}
		}, []string{"FirnLeaseExpired", "FirnNoIDs", "FirnStoreUnreliable"}},
		{"a directory that is lost", func(t *testing.T, s *scraper) {
			dir := filepath.Join(t.TempDir(), "state")
			p := begin(s, create(t, directory(t, dir)), leased(t), lease.Config{})
			s.run(10 * time.Minute)
			if err := os.Rename(dir, dir+"-away"); err != nil {
				t.Fatal(err)
			}
			s.run(2 * time.Minute)
			// What docs/runbook.md says.
			if err := os.Rename(dir+"-away", dir); err != nil {
				t.Fatal(err)
			}
			s.run(time.Minute)
			if p.held.Left() <= 0 {
				t.Errorf("the directory is there again: %v", p.held.Err())
			}
		}, []string{"FirnDirectoryLost", "FirnLeaseExpired", "FirnNoIDs"}},
		{"a directory that is replaced", func(t *testing.T, s *scraper) {
			dir := filepath.Join(t.TempDir(), "state")
			begin(s, create(t, directory(t, dir)), leased(t), lease.Config{})
			s.run(10 * time.Minute)
			if err := os.Rename(dir, dir+"-away"); err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir, 0o700); err != nil {
				t.Fatal(err)
			}
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
		}, []string{"FirnLeaseExpired", "FirnNoIDs", "FirnPoolNeedsRescue"}},
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
				if err != nil {
					t.Fatal(err)
				}
				return gen
			}
			for range 2 {
				held, err := lease.Start(t.Context(), store, start(), lease.Config{Create: true})
				if err != nil {
					t.Fatal(err)
				}
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
			for _, kind := range []lease.EventKind{lease.Withdrawn, lease.Shared, lease.Lost, lease.Lost, lease.Lost, lease.Lost} {
				p.notify(lease.Event{Kind: kind})
			}
			s.run(2 * time.Minute)
		}, []string{"FirnClockWasAhead", "FirnProcessPaused", "FirnWorkerShared"}},
		{"a generator that is nearly full, with a clock that goes back", func(t *testing.T, s *scraper) {
			g := new(fixed)
			if err := PrometheusUsage(s.reg, "orders", g); err != nil {
				t.Fatal(err)
			}
			s.run(2 * time.Minute)
			g.now.Second, g.now.ClockSteps = 0.6, 6
			s.run(11 * time.Minute)
		}, []string{"FirnClockGoesBack", "FirnGeneratorNearlyFull"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var s *scraper
			synctest.Test(t, func(t *testing.T) {
				// The bubble's time begins in 2000, before the epoch of Nanoflakes.
				time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
				s = newScraper(t)
				c.fail(t, s)
			})
			if got := slices.Sorted(maps.Keys(s.fired)); !slices.Equal(got, c.want) {
				t.Errorf("the alerts %v, want %v", got, c.want)
			}
			for _, alert := range c.want {
				tested[alert] = true
			}
		})
	}
	for _, r := range rules(t) {
		if !tested[r.Alert] {
			t.Errorf("no failure leads to the alert %s", r.Alert)
		}
	}
}

// fixed is the usage of a generator that a test makes up.
type fixed struct{ now usage.Usage }

func (f *fixed) Usage() usage.Usage { return f.now }
