package metrics

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	dto "github.com/prometheus/client_model/go"

	"github.com/firn-id/firn/internal/faults"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/lease/driver"
	"github.com/firn-id/firn/server/internal/reason"
)

// TestLint checks names, types and help texts by the rules of Prometheus.
func TestLint(t *testing.T) {
	m, _ := serving(t)
	families, err := m.registry.Gather()
	testkit.OK(t, err)
	own := slices.DeleteFunc(slices.Clone(families), func(f *dto.MetricFamily) bool { return !strings.HasPrefix(f.GetName(), "firn_") })
	problems, err := promlint.NewWithMetricFamilies(own).Lint()
	testkit.OK(t, err)
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
	if len(own) < 20 || len(families)-len(own) < 20 {
		t.Errorf("%d metrics of Firn, and %d of Go and the process", len(own), len(families)-len(own))
	}
}

// value returns the sum of the metrics of a name that have all labels, each as name=value, and how many they are.
func value(t testing.TB, m *Metrics, name string, labels ...string) (sum float64, n int) {
	t.Helper()
	families, err := m.registry.Gather()
	testkit.OK(t, err)
	for _, f := range families {
		if f.GetName() != name {
			continue
		}
		for _, metric := range f.GetMetric() {
			var have []string
			for _, l := range metric.GetLabel() {
				have = append(have, l.GetName()+"="+l.GetValue())
			}
			if slices.ContainsFunc(labels, func(l string) bool { return !slices.Contains(have, l) }) {
				continue
			}
			sum += metric.GetCounter().GetValue() + metric.GetGauge().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			n++
		}
	}
	return sum, n
}

func is(t testing.TB, m *Metrics, low, high float64, name string, labels ...string) {
	t.Helper()
	if v, n := value(t, m, name, labels...); n == 0 || v < low || v > high {
		t.Errorf("%s %v: %v of %d, want %v to %v", name, labels, v, n, low, high)
	}
}

// TestWhy checks that an alert can tell a lost directory from a server that is down.
func TestWhy(t *testing.T) {
	lost := func(store string) error {
		return fmt.Errorf("renew: %w", &driver.Error{Store: store, Err: driver.ErrUnavailable})
	}
	for _, test := range []struct {
		err  error
		want string
	}{
		{lost("file:///var/lib/firn"), "directory"}, {lost("postgres://db/app"), "store"}, {driver.ErrUnavailable, "store"},
		{lease.ErrClockSkew, "clock"}, {errors.New("anything"), "other"},
	} {
		if got := Why(test.err); got != test.want || !slices.Contains(reasons, got) {
			t.Errorf("%v: %s, want %s", test.err, got, test.want)
		}
	}
}

// TestBegin checks that all counters begin at 0 for each of their labels.
func TestBegin(t *testing.T) {
	m, set := idle(t)
	m.Collect(set)
	m.Protocol("resp")
	for _, k := range kinds {
		is(t, m, 0, 0, "firn_lease_events_total", "generator=orders", "event="+k.String())
	}
	for _, text := range reasons {
		is(t, m, 0, 0, "firn_lease_errors_total", "generator=orders", "reason="+text)
	}
	for _, r := range reason.All() {
		is(t, m, 0, 0, "firn_server_refusals_total", "protocol=resp", "reason="+r.Name)
	}
	for _, name := range []string{"firn_generator_ids_total", "firn_generator_waits_total", "firn_generator_exhausted_ticks_total",
		"firn_generator_clock_steps_total", "firn_lease_renewals_total", "firn_lease_failures_total", "firn_generator_share", "firn_generator_worst_share"} {
		is(t, m, 0, 0, name, "generator=orders")
	}
	for _, name := range []string{"firn_server_answers_total", "firn_server_answer_seconds", "firn_server_connections_total", "firn_server_open_connections"} {
		is(t, m, 0, 0, name, "protocol=resp")
	}
	is(t, m, 0, 0, "firn_server_reloads_total", "file=tokens", "result=ok")
	is(t, m, 0, 0, "firn_server_reloads_total", "file=certificate", "result=error")
	is(t, m, 0, 0, "firn_server_handshake_failures_total")
	is(t, m, 1, 1, "firn_build_info")
	is(t, m, float64(time.Now().Add(-time.Hour).Unix()), float64(time.Now().Unix()+1), "firn_server_start_time_seconds")
	// A generator that nobody has asked yet has no lease: an alert for windows stays quiet.
	if v, n := value(t, m, "firn_lease_left_seconds", "generator=orders"); n != 0 {
		t.Errorf("%v s left before the first request", v)
	}
	is(t, m, 2, 2, "firn_generator_workers", "generator=orders", "state=idle")
	is(t, m, 1, 1, "firn_generator_workers", "generator=single", "state=ready")
	is(t, m, 4096*1000*2, 4096*1000*2, "firn_generator_capacity", "generator=orders")
	if _, n := value(t, m, "firn_lease_events_total", "generator=single"); n != 0 {
		t.Error("events of a generator without a lease")
	}
}

// TestGenerators runs a generator with two workers through an outage of its store.
func TestGenerators(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(time.Until(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))) // the time of a bubble begins in 2000
		store := &faults.Cut{}
		m, set := leasedOn(t, store)
		s, _ := set.Find("orders")
		ask := func(n int) error {
			_, err := s.AppendBinary(t.Context(), nil, n)
			return err
		}
		testkit.OK(t, ask(1000))
		time.Sleep(time.Minute)
		is(t, m, 1000, 1010, "firn_generator_ids_total", "generator=orders")
		is(t, m, 2, 2, "firn_generator_workers", "generator=orders", "state=ready")
		is(t, m, 0, 0, "firn_generator_workers", "generator=orders", "state=idle")
		is(t, m, 6.9, 10, "firn_lease_left_seconds", "generator=orders")
		is(t, m, 36, 44, "firn_lease_renewals_total", "generator=orders") // of two workers, every 3 s
		is(t, m, 0, 0, "firn_lease_failures_total", "generator=orders")
		is(t, m, 2, 2, "firn_lease_events_total", "generator=orders", "event=acquired")
		is(t, m, 1, 1, "firn_lease_events_total", "generator=orders", "event=created")
		is(t, m, 30*365*86400, 80*365*86400, "firn_format_remaining_seconds", "generator=orders")
		is(t, m, 1e-5, 1e-3, "firn_generator_worst_share", "generator=orders")

		begin := time.Now().Truncate(time.Second).Add(time.Second)
		time.Sleep(time.Until(begin))
		for range 10 { // a tenth of what two workers make in a second
			testkit.OK(t, ask(4096*20))
		}
		time.Sleep(time.Until(begin.Add(time.Second + time.Millisecond)))
		is(t, m, 0.099, 0.101, "firn_generator_share", "generator=orders")
		is(t, m, 1, 1000, "firn_generator_exhausted_ticks_total", "generator=orders")
		is(t, m, 1, 1000, "firn_generator_waits_total", "generator=orders")

		store.Down.Store(true)
		time.Sleep(6 * time.Second)
		is(t, m, 0.1, 5, "firn_lease_left_seconds", "generator=orders")
		is(t, m, 0, 0, "firn_lease_events_total", "generator=orders", "event=expired")
		time.Sleep(20 * time.Second)
		is(t, m, 0, 0, "firn_lease_left_seconds", "generator=orders")
		is(t, m, 2, 2, "firn_generator_workers", "generator=orders", "state=lost")
		is(t, m, 2, 2, "firn_lease_events_total", "generator=orders", "event=expired")
		is(t, m, 20, 200, "firn_lease_failures_total", "generator=orders")
		is(t, m, 20, 200, "firn_lease_errors_total", "generator=orders", "reason=store")
		is(t, m, 0, 0, "firn_lease_errors_total", "generator=orders", "reason=other")
		store.Down.Store(false)
		time.Sleep(20 * time.Second)
		is(t, m, 6.9, 10, "firn_lease_left_seconds", "generator=orders")
		is(t, m, 2, 2, "firn_generator_workers", "generator=orders", "state=ready")
	})
}

// TestClockSteps counts steps of the clock, and what a lease says of the clock.
func TestClockSteps(t *testing.T) {
	m, set := idle(t)
	m.Collect(set)
	s, _ := set.Find("single")
	testkit.OK(t, testkit.Err(s.AppendBinary(t.Context(), nil, 1)))
	behind.Store(int64(time.Minute))
	defer behind.Store(0)
	if _, err := s.AppendBinary(t.Context(), nil, 1); reason.Of(err).Of != reason.Clock {
		t.Errorf("error %v", err)
	}
	is(t, m, 1, 1, "firn_generator_clock_steps_total", "generator=single")
}

// TestLeaseErrors counts each kind of error by its reason.
func TestLeaseErrors(t *testing.T) {
	m, set := idle(t)
	m.Collect(set)
	s, _ := set.Find("orders")
	for text, err := range map[string]error{
		"rolled_back": lease.ErrRolledBack, "damaged": lease.ErrMissing, "recovery": lease.ErrRecovering, "clock": &lease.SkewError{},
		"workers": &lease.NoWorkerError{}, "setup": &lease.MismatchError{}, "store": &driver.Error{Store: "postgres://db/app", Err: driver.ErrUnavailable},
		"directory": &driver.Error{Store: "file:///var/lib/firn", Err: driver.ErrUnavailable}, "other": errors.New("strange"),
	} {
		m.Event(s, lease.Event{Kind: lease.Waiting, Err: err})
		is(t, m, 1, 1, "firn_lease_errors_total", "generator=orders", "reason="+text)
	}
	is(t, m, float64(len(reasons)), float64(len(reasons)), "firn_lease_events_total", "generator=orders", "event=waiting")
	m.Failed(s, driver.ErrUnavailable)
	is(t, m, 2, 2, "firn_lease_errors_total", "generator=orders", "reason=store")
	is(t, m, 1, 1, "firn_lease_events_total", "generator=orders", "event=failing")
}

// TestCalls counts answers, refusals and connections of protocols apart.
func TestCalls(t *testing.T) {
	m := New()
	resp, web := m.Protocol("resp"), m.Protocol("http")
	if m.Protocol("resp") != resp {
		t.Error("another Calls for the same protocol")
	}
	resp.Answered(16, 20*time.Microsecond)
	resp.Answered(1, 30*time.Second) // above the last bound
	web.Answered(1, 0)
	web.Refused(reason.Exhausted)
	web.Refused(reason.Exhausted)
	web.Refused(&reason.Reason{Name: "none of the table"})
	resp.Opened()
	resp.Opened()
	resp.Closed()
	is(t, m, 17, 17, "firn_server_answers_total", "protocol=resp")
	is(t, m, 2, 2, "firn_server_answer_seconds", "protocol=resp")
	is(t, m, 1, 1, "firn_server_answers_total", "protocol=http")
	is(t, m, 2, 2, "firn_server_refusals_total", "protocol=http", "reason=exhausted")
	is(t, m, 1, 1, "firn_server_refusals_total", "protocol=http", "reason=internal")
	is(t, m, 0, 0, "firn_server_refusals_total", "protocol=resp", "reason=exhausted")
	is(t, m, 1, 1, "firn_server_open_connections", "protocol=resp")
	is(t, m, 2, 2, "firn_server_connections_total", "protocol=resp")
	m.HandshakeFailed()
	is(t, m, 1, 1, "firn_server_handshake_failures_total")
	m.Reloaded(Tokens, nil)
	m.Reloaded(Tokens, errors.New("line 1"))
	is(t, m, 1, 1, "firn_server_reloads_total", "file=tokens", "result=ok")
	is(t, m, 1, 1, "firn_server_reloads_total", "file=tokens", "result=error")

	var none *Calls
	none.Answered(1, time.Second)
	none.Refused(reason.Count)
	none.Opened()
	none.Closed()
}

// TestVersion checks that the version of the program takes the place of the module's.
func TestVersion(t *testing.T) {
	m := New()
	is(t, m, 1, 1, "firn_build_info", "version="+Module())
	m.Version("v1.2.3")
	is(t, m, 1, 1, "firn_build_info", "version=v1.2.3")
	is(t, m, 1, 1, "firn_build_info")
}

// TestHistogram checks that the histogram has both kinds of buckets, each where its reader looks.
func TestHistogram(t *testing.T) {
	m := New()
	m.Protocol("resp").Answered(1, 5*time.Microsecond)
	families, err := m.registry.Gather()
	testkit.OK(t, err)
	i := slices.IndexFunc(families, func(f *dto.MetricFamily) bool { return f.GetName() == "firn_server_answer_seconds" })
	h := families[i].GetMetric()[0].GetHistogram()
	if n := len(h.GetBucket()); n != buckets {
		t.Errorf("%d classic buckets", n)
	}
	if last := h.GetBucket()[buckets-1].GetUpperBound(); last < 10 || last > 20 {
		t.Errorf("the last bound is %v s", last)
	}
	if h.Schema == nil || len(h.GetPositiveSpan()) == 0 {
		t.Error("no native buckets")
	}
}

// TestHandler reads the metrics by HTTP as Prometheus does, in both texts.
func TestHandler(t *testing.T) {
	m, _ := serving(t)
	server := httptest.NewServer(m.Handler())
	defer server.Close()
	for accept, kind := range map[string]string{"": "text/plain; version=0.0.4", "application/openmetrics-text; version=1.0.0": "application/openmetrics-text"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
		testkit.OK(t, err)
		request.Header.Set("Accept", accept)
		answer, err := server.Client().Do(request)
		testkit.OK(t, err)
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != http.StatusOK || !strings.HasPrefix(answer.Header.Get("Content-Type"), kind) {
			t.Errorf("%d %s, %v", answer.StatusCode, answer.Header.Get("Content-Type"), err)
		}
		lines := bufio.NewScanner(strings.NewReader(string(text)))
		found := false
		for lines.Scan() {
			found = found || strings.HasPrefix(lines.Text(), `firn_generator_ids_total{generator="orders"} `)
		}
		if !found {
			t.Errorf("%s has no IDs of orders", kind)
		}
	}
}

// TestAllocations counts what the path of a request allocates.
func TestAllocations(t *testing.T) {
	c := New().Protocol("resp")
	took := time.Duration(0)
	if n := testing.AllocsPerRun(1000, func() {
		took += 731
		c.Answered(16, took)
		c.Refused(reason.Exhausted)
		c.Opened()
		c.Closed()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// TestConcurrent reads metrics while requests count.
func TestConcurrent(t *testing.T) {
	m, set := serving(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		c := m.Protocol("resp")
		s, _ := set.Find("orders")
		for range 1000 {
			c.Answered(1, time.Microsecond)
			m.Event(s, lease.Event{Kind: lease.Renewed})
			_, _ = s.AppendBinary(t.Context(), nil, 10)
		}
	}()
	before := 0.0
	for more := true; more; {
		select {
		case <-done:
			more = false
		default:
		}
		v, _ := value(t, m, "firn_generator_ids_total", "generator=orders")
		if v < before {
			t.Errorf("%v IDs after %v", v, before)
		}
		before = v
	}
}
