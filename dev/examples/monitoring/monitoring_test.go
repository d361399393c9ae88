package monitoring

import (
	"context"
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
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/lease/memlease"
	"github.com/firn-id/firn/nanoflake"
)

// start leases a worker for a generator.
func start(ctx context.Context, store driver.Store, notify func(lease.Event)) (*nanoflake.Generator, *lease.Lease, error) {
	gen, err := nanoflake.NewGenerator(nanoflake.Config{Leased: true})
	if err != nil {
		return nil, nil, err
	}
	held, err := lease.Start(ctx, store, gen, lease.Config{Create: true, Notify: notify, Background: true, TrustClock: true})
	return gen, held, err
}

// testLease runs a lease through an outage of its store. get returns a metric by its label, NaN if
// there is none.
func testLease(t *testing.T, notify func(lease.Event), watch func(*lease.Lease) (unwatch func()), get func(name, label string) float64) {
	// The bubble's time begins in 2000, before the epoch of Nanoflakes.
	time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)))
	between := func(name, label string, low, high float64) {
		t.Helper()
		if v := get(name, label); !(low <= v && v <= high) {
			t.Errorf("%s %s: %v, not in %v to %v", name, label, v, low, high)
		}
	}
	between("events", "acquired", 0, 0)
	between("errors", "store", 0, 0)
	if v := get("left", ""); !math.IsNaN(v) {
		t.Errorf("left before the lease: %v", v)
	}
	store := &faults.Cut{Store: memlease.New()}
	store.Down.Store(true)
	gen, held, err := start(t.Context(), store, notify)
	testkit.OK(t, err)
	unwatch := watch(held)
	status := func() int {
		w := httptest.NewRecorder()
		Ready(held).ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
		if w.Code != http.StatusOK && (w.Body.String() != "no IDs right now\n" || w.Header().Get("Retry-After") != "1") {
			t.Errorf("not ready: %q, %v", w.Body, w.Header())
		}
		return w.Code
	}
	time.Sleep(time.Minute)
	between("events", "failing", 1, 2) // while the store is down
	between("errors", "store", 1, 2)
	between("failures", "", 8, 30)
	between("left", "", 0, 0)
	if got := status(); got != http.StatusServiceUnavailable {
		t.Errorf("ready with %d", got)
	}
	failing, stores := get("events", "failing"), get("errors", "store")
	store.Down.Store(false)
	for get("events", "acquired") == 0 {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(time.Minute)
	between("renewals", "", 18, 22)
	between("remaining", "", 30*365*86400, 70*365*86400)
	if got := status(); got != http.StatusOK {
		t.Errorf("ready with %d", got)
	}
	between("events", "created", 1, 1)
	between("events", "acquired", 1, 1)
	between("events", "renewed", 18, 22) // every 3 s
	between("events", "failing", failing, failing)
	between("left", "", 6.9, 10) // what docs/monitoring.md says of a healthy lease

	store.Down.Store(true)
	time.Sleep(6 * time.Second)
	between("events", "failing", failing+1, failing+100)
	between("events", "expired", 0, 0)
	between("left", "", 0, 5)
	time.Sleep(10 * time.Second)
	between("events", "expired", 1, 1)
	between("errors", "store", stores+2, stores+100)
	between("errors", "other", 0, 0)
	between("left", "", 0, 0)
	if got := status(); got != http.StatusServiceUnavailable {
		t.Errorf("ready with %d", got)
	}
	if _, err := gen.TryNext(); err == nil {
		t.Error("an ID after the end of the lease")
	}

	store.Down.Store(false)
	time.Sleep(10 * time.Second)
	between("left", "", 6.9, 10)
	if _, err := gen.TryNext(); err != nil {
		t.Error(err)
	}
	unwatch()
	testkit.OK(t, held.Close())
	if got := status(); got != http.StatusServiceUnavailable {
		t.Errorf("ready with %d", got)
	}
	between("events", "released", 1, 1)
	if v := get("left", ""); !math.IsNaN(v) {
		t.Errorf("left after Close: %v", v)
	}
}

func TestPrometheus(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := prometheus.NewRegistry()
		notify := testkit.Must(Prometheus(r, "orders"))
		if _, err := Prometheus(r, "orders"); err == nil {
			t.Error("two leases of one name")
		}
		if _, err := Prometheus(r, "invoices"); err != nil {
			t.Error(err)
		}
		names := map[string]string{"events": "firn_lease_events_total", "errors": "firn_lease_errors_total", "left": "firn_lease_left_seconds",
			"renewals": "firn_lease_renewals_total", "failures": "firn_lease_failures_total", "remaining": "firn_format_remaining_seconds"}
		watch := func(held *lease.Lease) func() {
			c := PrometheusLease(held, "orders")
			testkit.OK(t, r.Register(c))
			return func() { r.Unregister(c) }
		}
		testLease(t, notify, watch, func(name, label string) float64 { return value(t, r, names[name], label) })
	})
}

// value returns a metric of the lease "orders" by its label, NaN if there is none.
func value(t *testing.T, r *prometheus.Registry, name, label string) float64 {
	families := testkit.Must(r.Gather())
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := make(map[string]string)
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			if f.GetName() == name && labels["lease"] == "orders" && labels["event"]+labels["reason"] == label {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return math.NaN()
}

// The metrics of a generator are those of its method Usage.
func TestPrometheusUsage(t *testing.T) {
	g, err := nanoflake.NewGenerator(nanoflake.Config{})
	testkit.OK(t, err)
	r := prometheus.NewRegistry()
	testkit.OK(t, PrometheusUsage(r, "orders", g))
	testkit.OK(t, testkit.Err(g.Fill(t.Context(), make([]nanoflake.ID, 10_000))))
	got := make(map[string]float64)
	families := testkit.Must(r.Gather())
	for _, f := range families {
		m := f.Metric[0]
		if m.Label[0].GetValue() != "orders" {
			t.Errorf("%s has the labels %v", f.GetName(), m.Label)
		}
		got[f.GetName()] = m.GetCounter().GetValue() + m.GetGauge().GetValue()
	}
	u := g.Usage()
	for name, want := range map[string]float64{
		"firn_generator_ids_total": 10_000, "firn_generator_waits_total": float64(u.Waits),
		"firn_generator_exhausted_ticks_total": float64(u.Exhausted), "firn_generator_clock_steps_total": 0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s: %v, %t, want %v", name, v, ok, want)
		}
	}
	if share := got["firn_generator_worst_share"]; share <= 0 || share > 1 {
		t.Errorf("a share of %v at worst", share)
	}
	if _, ok := got["firn_generator_share"]; !ok || len(got) != 6 {
		t.Errorf("%v", got)
	}
	if PrometheusUsage(r, "orders", g) == nil {
		t.Error("a name twice")
	}
}

func TestOpenTelemetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := metric.NewManualReader()
		provider := metric.NewMeterProvider(metric.WithReader(reader))
		notify := testkit.Must(OpenTelemetry(provider.Meter("firn"), "orders"))
		watch := func(held *lease.Lease) func() {
			registered := testkit.Must(OpenTelemetryLease(provider.Meter("firn"), held, "orders"))
			return func() { registered.Unregister() }
		}
		testLease(t, notify, watch, func(name, label string) float64 {
			var all metricdata.ResourceMetrics
			testkit.OK(t, reader.Collect(t.Context(), &all))
			for _, scope := range all.ScopeMetrics {
				for _, m := range scope.Metrics {
					if m.Name != "firn.lease."+name && m.Name != "firn.format."+name {
						continue
					}
					switch data := m.Data.(type) {
					case metricdata.Gauge[float64]:
						for _, p := range data.DataPoints {
							return p.Value
						}
					case metricdata.Sum[int64]:
						for _, p := range data.DataPoints {
							for _, key := range []string{"event", "reason"} {
								if v, ok := p.Attributes.Value(attribute.Key(key)); ok && v.AsString() == label {
									return float64(p.Value)
								}
							}
							if label == "" {
								return float64(p.Value)
							}
						}
					}
				}
			}
			return math.NaN()
		})
	})
}

// The document has the code of this package.
func TestDocument(t *testing.T) {
	document := testkit.Must(os.ReadFile("../../../docs/monitoring.md"))
	for _, file := range []string{"state.go", "prometheus.go", "otel.go", "usage.go", "ready.go"} {
		code := testkit.Must(os.ReadFile(file))
		if !strings.Contains(string(document), "```go\n"+string(code)+"```\n") {
			t.Errorf("docs/monitoring.md does not have %s", file)
		}
	}
}

func TestReason(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{lease.ErrRolledBack, "rolled_back"},
		{lease.ErrMissing, "damaged"},
		{lease.ErrRecovered, "recovery"},
		{&lease.SkewError{}, "clock"},
		{&lease.NoWorkerError{}, "workers"},
		{&lease.HeldError{}, "workers"},
		{lease.ErrNoPool, "setup"},
		{lease.ErrVersion, "setup"},
		{driver.ErrUnavailable, "store"},
		{&driver.Error{Store: "redis://db", Err: driver.ErrUnavailable}, "store"},
		{&driver.Error{Store: "file:///var/lib/firn", Err: driver.ErrUnavailable}, "directory"},
		{context.DeadlineExceeded, "other"},
	} {
		for _, err := range []error{c.err, &lease.ExpiredError{Cause: c.err}} {
			if got := reason(err); got != c.want {
				t.Errorf("%v: %s, not %s", err, got, c.want)
			}
			if !slices.Contains(reasons, c.want) || len(kinds) != int(lease.Recovered) {
				t.Errorf("%s: not counted from 0", c.want)
			}
		}
	}
}
