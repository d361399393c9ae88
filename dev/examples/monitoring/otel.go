package monitoring

import (
	"context"
	"math"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/firn-id/firn/lease"
)

// OpenTelemetry makes the metrics of a lease and returns a function for lease.Config.Notify. The
// name is the attribute "lease": leases of a program need different names.
func OpenTelemetry(m metric.Meter, name string) (notify func(lease.Event), err error) {
	ctx, s := context.Background(), new(state)
	label := attribute.String("lease", name)
	events, err := m.Int64Counter("firn.lease.events", metric.WithDescription("Events of the lease."))
	if err != nil {
		return nil, err
	}
	errs, err := m.Int64Counter("firn.lease.errors",
		metric.WithDescription("Events of the lease that have an error, by its reason."))
	if err != nil {
		return nil, err
	}
	_, err = m.Float64ObservableGauge("firn.lease.left", metric.WithUnit("s"),
		metric.WithDescription("How long the generator can mint without another renewal."),
		metric.WithFloat64Callback(func(_ context.Context, o metric.Float64Observer) error {
			if left := s.left(); !math.IsNaN(left) {
				o.Observe(left, metric.WithAttributes(label))
			}
			return nil
		}))
	if err != nil {
		return nil, err
	}
	for _, k := range kinds {
		events.Add(ctx, 0, metric.WithAttributes(label, attribute.String("event", k.String())))
	}
	for _, text := range reasons {
		errs.Add(ctx, 0, metric.WithAttributes(label, attribute.String("reason", text)))
	}
	return func(e lease.Event) {
		s.note(e)
		events.Add(ctx, 1, metric.WithAttributes(label, attribute.String("event", e.Kind.String())))
		if e.Err != nil {
			errs.Add(ctx, 1, metric.WithAttributes(label, attribute.String("reason", reason(e.Err))))
		}
	}, nil
}
