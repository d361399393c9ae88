package monitoring

import (
	"context"
	"errors"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/model/textparse"
	stale "github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// interval is the time between two scrapes, and between two evaluations of a rule.
const interval = 15 * time.Second

// A scraper scrapes the metrics of a program as Prometheus does, and keeps the samples for the engine of Prometheus.
type scraper struct {
	t           *testing.T
	reg         *prometheus.Registry
	get         func() *http.Response     // gets the metrics: those of reg, unless a test has another program
	series      map[string]*promql.Series // by the text of their labels
	first, last time.Time                 // scrapes
}

func newScraper(t *testing.T) *scraper {
	s := &scraper{t: t, reg: prometheus.NewRegistry(), series: make(map[string]*promql.Series)}
	s.get = func() *http.Response {
		w := httptest.NewRecorder()
		promhttp.HandlerFor(s.reg, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
		return w.Result()
	}
	return s
}

// run lets a time pass, and scrapes meanwhile.
func (s *scraper) run(d time.Duration) {
	end := time.Now().Add(d)
	for next := time.Now().Truncate(interval).Add(interval); !next.After(end); next = next.Add(interval) {
		time.Sleep(time.Until(next))
		s.scrape()
	}
	time.Sleep(time.Until(end))
}

// scrape adds a sample to each series that the program has, and a marker of staleness to each series that the program has
// no longer.
func (s *scraper) scrape() {
	s.last = time.Now()
	if s.first.IsZero() {
		s.first = s.last
	}
	response := s.get()
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		s.t.Fatalf("%s: %v", response.Status, err)
	}
	p, err := textparse.New(text, response.Header.Get("Content-Type"), nil, textparse.ParserOptions{})
	testkit.OK(s.t, err)
	now, gone := s.last.UnixMilli(), maps.Clone(s.series)
	for entry, err := p.Next(); !errors.Is(err, io.EOF); entry, err = p.Next() {
		testkit.OK(s.t, err)
		if entry != textparse.EntrySeries {
			continue
		}
		var metric labels.Labels
		p.Labels(&metric)
		metric = labels.NewBuilder(metric).Set("job", "firn").Set("instance", "a:80").Labels()
		key := metric.String()
		if s.series[key] == nil {
			s.series[key] = &promql.Series{Metric: metric}
		}
		delete(gone, key)
		_, _, v := p.Series()
		s.series[key].Floats = append(s.series[key].Floats, promql.FPoint{T: now, F: v})
	}
	for _, series := range gone {
		series.Floats = append(series.Floats, promql.FPoint{T: now, F: math.Float64frombits(stale.StaleNaN)})
	}
}

// Querier returns the samples as the storage of Prometheus does.
func (s *scraper) Querier(_, _ int64) (storage.Querier, error) {
	return &storage.MockQuerier{SelectMockFunction: func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		return s.selected(matchers)
	}}, nil
}

func (s *scraper) selected(matchers []*labels.Matcher) *list {
	found := &list{at: -1}
	for _, series := range s.series {
		if !slices.ContainsFunc(matchers, func(m *labels.Matcher) bool { return !m.Matches(series.Metric.Get(m.Name)) }) {
			found.all = append(found.all, series)
		}
	}
	return found
}

// A list is a [storage.SeriesSet].
type list struct {
	all []*promql.Series
	at  int
}

func (l *list) Next() bool                        { l.at++; return l.at < len(l.all) }
func (l *list) At() storage.Series                { return promql.NewStorageSeries(*l.all[l.at]) }
func (l *list) Err() error                        { return nil }
func (l *list) Warnings() annotations.Annotations { return nil }

// firing returns the alerts that fire at any time. An alert fires when its expression has had a value at each evaluation
// for the time For, with the same labels.
func (s *scraper) firing(t *testing.T, rules []rulefmt.Rule) []string {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1 << 24, Timeout: time.Hour})
	fired := make(map[string]bool)
	for _, r := range rules {
		q, err := engine.NewRangeQuery(context.Background(), s, nil, r.Expr, s.first, s.last, interval)
		testkit.OK(t, err)
		result := q.Exec(context.Background())
		all, err := result.Matrix()
		if err != nil || len(result.Warnings) > 0 {
			t.Fatalf("%s: %v, %v", r.Alert, err, result.Warnings)
		}
		for _, alert := range all {
			since, before := int64(0), int64(0)
			for _, p := range alert.Floats {
				if p.T-before != interval.Milliseconds() {
					since = p.T
				}
				if before = p.T; p.T-since >= time.Duration(r.For).Milliseconds() {
					fired[r.Alert] = true
				}
			}
		}
	}
	return slices.Sorted(maps.Keys(fired))
}

// rules returns the alerting rules of a document, which Prometheus loads.
func rules(t *testing.T, document string) (all []rulefmt.Rule) {
	text := testkit.Must(os.ReadFile(root + "docs/" + document))
	for _, block := range strings.Split(string(text), "```yaml\n")[1:] {
		block, _, _ = strings.Cut(block, "```\n")
		file, errs := rulefmt.Parse([]byte(block), false, model.LegacyValidation)
		if len(errs) > 0 {
			t.Fatal(errs)
		}
		for _, g := range file.Groups {
			all = append(all, g.Rules...)
		}
	}
	return all
}

// A failure is what a test does to a program, and the alerts that fire.
type failure struct {
	name string
	fail func(t *testing.T, s *scraper)
	want []string
}

// testRules checks that the alerts of a document for each failure fire, and no others. Each alert has a failure, and all
// that the rules ask for is there.
func testRules(t *testing.T, document string, failures []failure) {
	rules, tested, seen := rules(t, document), make(map[string]bool), newScraper(t)
	for _, f := range failures {
		t.Run(f.name, func(t *testing.T) {
			var s *scraper
			synctest.Test(t, func(t *testing.T) {
				// The bubble's time begins in 2000, before the epoch of Nanoflakes.
				time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
				s = newScraper(t)
				f.fail(t, s)
			})
			if got := s.firing(t, rules); !slices.Equal(got, f.want) {
				t.Errorf("the alerts %v, want %v", got, f.want)
			}
			for _, alert := range f.want {
				tested[alert] = true
			}
			maps.Copy(seen.series, s.series)
		})
	}
	for _, r := range rules {
		if !tested[r.Alert] {
			t.Errorf("no failure leads to the alert %s", r.Alert)
		}
		seen.has(t, r)
	}
}

// has checks that there are series for each selector of a rule, with each value that the selector names, and series with
// each label by which the rule groups and matches.
func (s *scraper) has(t *testing.T, r rulefmt.Rule) {
	check := func(matchers ...*labels.Matcher) {
		if len(s.selected(matchers).all) == 0 {
			t.Errorf("%s: no program has series %v", r.Alert, matchers)
		}
	}
	expr := testkit.Must(parser.ParseExpr(r.Expr))
	parser.Inspect(expr, func(node parser.Node, _ []parser.Node) error {
		var names []string
		switch node := node.(type) {
		case *parser.VectorSelector:
			check(node.LabelMatchers...)
			for i, m := range node.LabelMatchers {
				for _, alternative := range m.SetMatches() {
					matchers := slices.Clone(node.LabelMatchers)
					matchers[i] = labels.MustNewMatcher(labels.MatchEqual, m.Name, alternative)
					check(matchers...)
				}
			}
		case *parser.AggregateExpr:
			names = node.Grouping
		case *parser.BinaryExpr:
			if node.VectorMatching != nil {
				names = node.VectorMatching.MatchingLabels
			}
		}
		for _, name := range names {
			check(labels.MustNewMatcher(labels.MatchNotEqual, name, ""))
		}
		return nil
	})
}
