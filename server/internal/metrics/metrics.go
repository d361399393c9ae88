// Package metrics counts what a server does, for Prometheus. The document docs/server.md has all metrics.
//
// A [Calls] counts the answers of one protocol, on the path of each request. All figures of generators are read when
// Prometheus asks: making an ID costs nothing for them.
package metrics

import (
	"net/http"
	"runtime"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/firn-id/firn/lease"
	"github.com/firn-id/firn/server/internal/reason"
	"github.com/firn-id/firn/server/internal/supply"
)

// Metrics is the metrics of one server, in a registry of their own. A program may have several. Metrics is safe for
// concurrent use.
type Metrics struct {
	registry *prometheus.Registry

	events, leaseErrors *prometheus.CounterVec // by generator, and by kind or reason

	answers, connections *prometheus.CounterVec // by protocol
	refusals             *prometheus.CounterVec // by protocol and reason
	open                 *prometheus.GaugeVec
	took                 *prometheus.HistogramVec
	reloads              *prometheus.CounterVec // by file and result
	info                 *prometheus.GaugeVec   // by version
	handshakes           prometheus.Counter     // of TLS, that failed

	mu    sync.Mutex
	calls map[string]*Calls
}

// shortest is the bound of the first bucket of the histogram, in seconds. The bounds rise by a factor of 4, to 16.8 s:
// longer than a request waits for IDs.
const (
	shortest = 1e-6
	buckets  = 13
)

// New returns the metrics of a server. Call [Metrics.Collect] when the generators are there.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), calls: map[string]*Calls{}}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		v := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
		m.registry.MustRegister(v)
		return v
	}
	m.events = counter("firn_lease_events_total", "Events of the leases of a generator.", "generator", "event")
	m.leaseErrors = counter("firn_lease_errors_total",
		"Events of the leases of a generator that have an error, and stores that did not open, by reason.", "generator", "reason")
	m.answers = counter("firn_server_answers_total", "Requests and commands that were answered without an error.", "protocol")
	m.refusals = counter("firn_server_refusals_total", "Requests and commands that were answered with an error, by reason.", "protocol", "reason")
	m.connections = counter("firn_server_connections_total", "Connections accepted.", "protocol")
	m.reloads = counter("firn_server_reloads_total", "Files that were read again, by what they have and by result.", "file", "result")
	m.open = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "firn_server_open_connections", Help: "Connections that are open."}, []string{"protocol"})
	m.took = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "firn_server_answer_seconds",
		Help:    "Time from a request to its answer: of each request, and of each batch of pipelined commands.",
		Buckets: prometheus.ExponentialBuckets(shortest, 4, buckets),
		// A native histogram has buckets that rise by 10 %. Above the greatest number of buckets, neighbours are merged.
		NativeHistogramBucketFactor: 1.1, NativeHistogramMaxBucketNumber: 160, NativeHistogramMinResetDuration: time.Hour,
	}, []string{"protocol"})
	m.handshakes = counter("firn_server_handshake_failures_total", "TLS handshakes that failed, also those of clients without TLS. Connections without a byte do not count.").WithLabelValues()
	started := prometheus.NewGauge(prometheus.GaugeOpts{Name: "firn_server_start_time_seconds", Help: "When the server started, in seconds since 1970."})
	started.Set(float64(time.Now().UnixMilli()) / 1000)
	m.info = prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "firn_build_info", Help: "1, with the version of the server."},
		[]string{"version", "goversion"})
	m.Version(Module())
	m.registry.MustRegister(m.open, m.took, started, m.info, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, file := range files {
		for _, result := range []string{"ok", "error"} {
			m.reloads.WithLabelValues(file, result)
		}
	}
	return m
}

// Version sets the version of the program. Without Version, the version is that of [Module].
func (m *Metrics) Version(v string) {
	m.info.Reset()
	m.info.WithLabelValues(v, runtime.Version()).Set(1)
}

// Collect adds the figures of generators, and begins their counters at 0. Call Collect once.
func (m *Metrics) Collect(set *supply.Set) {
	for _, s := range set.All() {
		if !s.Recipe.Leased {
			continue
		}
		for _, k := range kinds {
			m.events.WithLabelValues(s.Name, k.String())
		}
		for _, text := range reasons {
			m.leaseErrors.WithLabelValues(s.Name, text)
		}
	}
	m.registry.MustRegister(&generators{set})
}

// Handler returns the handler of /metrics. It answers a few requests at once, and refuses more.
func (m *Metrics) Handler() http.Handler {
	const atOnce = 4
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, EnableOpenMetrics: true,
		ErrorHandling: promhttp.ContinueOnError, MaxRequestsInFlight: atOnce})
}

// Event counts an event of a generator's lease. Event is for Config.Notify of package supply.
func (m *Metrics) Event(s *supply.Source, e lease.Event) {
	m.events.WithLabelValues(s.Name, e.Kind.String()).Inc()
	if e.Err != nil {
		m.leaseErrors.WithLabelValues(s.Name, Why(e.Err)).Inc()
	}
}

// Failed counts an error of a store that does not open, as the failed renewal of a lease. Failed is for Config.Failed of
// package supply.
func (m *Metrics) Failed(s *supply.Source, err error) {
	m.Event(s, lease.Event{Kind: lease.Failing, Err: err})
}

// The files that a server reads again while it runs.
const (
	Tokens      = "tokens"
	Certificate = "certificate"
)

var files = []string{Tokens, Certificate}

// Reloaded counts that a file, [Tokens] or [Certificate], was read again, and whether its content was taken.
func (m *Metrics) Reloaded(file string, err error) {
	result := "ok"
	if err != nil {
		result = "error"
	}
	m.reloads.WithLabelValues(file, result).Inc()
}

// HandshakeFailed counts a TLS handshake that has failed.
func (m *Metrics) HandshakeFailed() { m.handshakes.Inc() }

// Protocol returns the Calls of a protocol, such as "resp". Calls of the same name are the same.
func (m *Metrics) Protocol(name string) *Calls {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.calls[name]; c != nil {
		return c
	}
	c := &Calls{answers: m.answers.WithLabelValues(name), took: m.took.WithLabelValues(name),
		opened: m.connections.WithLabelValues(name), open: m.open.WithLabelValues(name),
		refusals: map[*reason.Reason]prometheus.Counter{}}
	for _, r := range reason.All() {
		c.refusals[r] = m.refusals.WithLabelValues(name, r.Name)
	}
	m.calls[name] = c
	return c
}

// Calls counts the answers of one protocol. A nil Calls counts nothing. Calls is safe for concurrent use.
type Calls struct {
	answers, opened prometheus.Counter
	took            prometheus.Observer
	open            prometheus.Gauge
	refusals        map[*reason.Reason]prometheus.Counter // not changed once Protocol has returned
}

// Answered counts n answers, of which the slowest took some time: of a request, or of a batch of pipelined commands.
// Answered allocates nothing, and takes no longer for a larger n.
func (c *Calls) Answered(n int, took time.Duration) {
	if c == nil {
		return
	}
	c.answers.Add(float64(n))
	c.took.Observe(took.Seconds())
}

// Refused counts an answer that is an error.
func (c *Calls) Refused(r *reason.Reason) {
	if c == nil {
		return
	}
	if counter, ok := c.refusals[r]; ok {
		counter.Inc()
		return
	}
	c.refusals[reason.Internal].Inc() // no reason of the table
}

// Opened counts a connection that was accepted.
func (c *Calls) Opened() {
	if c != nil {
		c.opened.Inc()
		c.open.Inc()
	}
}

// Closed counts the end of a connection.
func (c *Calls) Closed() {
	if c != nil {
		c.open.Dec()
	}
}
