package monitoring

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/firn-id/firn/lease"
)

// Prometheus registers the metrics of a lease and returns a function for lease.Config.Notify. The
// name is the label "lease": leases of a program need different names.
func Prometheus(r prometheus.Registerer, name string) (notify func(lease.Event), err error) {
	labels := prometheus.Labels{"lease": name}
	s := new(state)
	events := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "firn_lease_events_total",
		Help: "Events of the lease.", ConstLabels: labels}, []string{"event"})
	errs := prometheus.NewCounterVec(prometheus.CounterOpts{Name: "firn_lease_errors_total",
		Help: "Events of the lease that have an error, by its reason.", ConstLabels: labels}, []string{"reason"})
	left := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "firn_lease_left_seconds",
		Help: "How long the generator can mint without another renewal.", ConstLabels: labels}, s.left)
	for _, c := range []prometheus.Collector{events, errs, left} {
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
		s.note(e)
		events.WithLabelValues(e.Kind.String()).Inc()
		if e.Err != nil {
			errs.WithLabelValues(reason(e.Err)).Inc()
		}
	}, nil
}
