package monitoring

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/firn-id/firn/lease"
)

// Prometheus registers the counters of a lease's events and returns a function for lease.Config.Notify.
// The name is the label "lease": leases of a program need different names.
func Prometheus(r prometheus.Registerer, name string) (notify func(lease.Event), err error) {
	labels := prometheus.Labels{"lease": name}
	events := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "firn_lease_events_total",
		Help: "Events of the lease.", ConstLabels: labels}, []string{"event"})
	errs := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "firn_lease_errors_total",
		Help: "Events of the lease that have an error, by its reason.", ConstLabels: labels}, []string{"reason"})
	for _, c := range []prometheus.Collector{events, errs} {
		if err := r.Register(c); err != nil {
			return nil, err
		}
	}
	for _, k := range kinds {
		events.WithLabelValues(k.String())
	}
	for _, text := range reasons {
		errs.WithLabelValues(text)
	}
	return func(e lease.Event) {
		events.WithLabelValues(e.Kind.String()).Inc()
		if e.Err != nil {
			errs.WithLabelValues(reason(e.Err)).Inc()
		}
	}, nil
}

// PrometheusLease returns the numbers of a lease, to register when lease.Start has returned. Unregister
// them before you close the lease, if the program goes on.
func PrometheusLease(held *lease.Lease, name string) prometheus.Collector {
	desc := func(metric, help string) *prometheus.Desc {
		return prometheus.NewDesc(metric, help, nil, prometheus.Labels{"lease": name})
	}
	return &numbers{held,
		desc("firn_lease_left_seconds", "How long the generator can mint without another renewal."),
		desc("firn_lease_renewals_total", "Renewals of the lease."),
		desc("firn_lease_failures_total", "Renewals that failed, and tries to start that failed."),
		desc("firn_format_remaining_seconds", "The time until the timestamps of the format end.")}
}

// numbers collects the numbers of a lease.
type numbers struct {
	held                                *lease.Lease
	left, renewals, failures, remaining *prometheus.Desc
}

func (n *numbers) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(n, to) }

func (n *numbers) Collect(to chan<- prometheus.Metric) {
	s := n.held.Stats()
	to <- prometheus.MustNewConstMetric(n.left, prometheus.GaugeValue, s.Left.Seconds())
	to <- prometheus.MustNewConstMetric(n.renewals, prometheus.CounterValue, float64(s.Renewals))
	to <- prometheus.MustNewConstMetric(n.failures, prometheus.CounterValue, float64(s.Failures))
	to <- prometheus.MustNewConstMetric(n.remaining, prometheus.GaugeValue, s.Remaining.Seconds())
}
