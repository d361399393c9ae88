package monitoring

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/firn-id/firn/lease"
)

// OpenTelemetry makes the counters of a lease's events and returns a function for lease.Config.Notify.
// The name is the attribute "lease": leases of a program need different names.
func OpenTelemetry(m metric.Meter, name string) (notify func(lease.Event), err error) {
	ctx, label := context.Background(), attribute.String("lease", name)
	events, err := m.Int64Counter("firn.lease.events", metric.WithDescription("Events of the lease."))
	if err != nil {
		return nil, err
	}
	errs, err := m.Int64Counter("firn.lease.errors",
		metric.WithDescription("Events of the lease that have an error, by its reason."))
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
		events.Add(ctx, 1, metric.WithAttributes(label, attribute.String("event", e.Kind.String())))
		if e.Err != nil {
			errs.Add(ctx, 1, metric.WithAttributes(label, attribute.String("reason", reason(e.Err))))
		}
	}, nil
}

// OpenTelemetryLease makes the numbers of a lease, when lease.Start has returned. Unregister the result
// before you close the lease, if the program goes on.
func OpenTelemetryLease(m metric.Meter, held *lease.Lease, name string) (metric.Registration, error) {
	label := metric.WithAttributes(attribute.String("lease", name))
	left, err := m.Float64ObservableGauge("firn.lease.left", metric.WithUnit("s"),
		metric.WithDescription("How long the generator can mint without another renewal."))
	if err != nil {
		return nil, err
	}
	renewals, err := m.Int64ObservableCounter("firn.lease.renewals", metric.WithDescription("Renewals of the lease."))
	if err != nil {
		return nil, err
	}
	failures, err := m.Int64ObservableCounter("firn.lease.failures",
		metric.WithDescription("Renewals that failed, and tries to start that failed."))
	if err != nil {
		return nil, err
	}
	remaining, err := m.Float64ObservableGauge("firn.format.remaining", metric.WithUnit("s"),
		metric.WithDescription("The time until the timestamps of the format end."))
	if err != nil {
		return nil, err
	}
	return m.RegisterCallback(func(_ context.Context, o metric.Observer) error {
		s := held.Stats()
		o.ObserveFloat64(left, s.Left.Seconds(), label)
		o.ObserveInt64(renewals, int64(s.Renewals), label)
		o.ObserveInt64(failures, int64(s.Failures), label)
		o.ObserveFloat64(remaining, s.Remaining.Seconds(), label)
		return nil
	}, left, renewals, failures, remaining)
}
