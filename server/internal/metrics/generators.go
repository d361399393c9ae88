package metrics

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/firn-id/firn/server/internal/supply"
)

// generators collects the figures of generators when Prometheus asks.
type generators struct{ set *supply.Set }

// A figure is a metric of a generator.
type figure struct {
	desc  *prometheus.Desc
	kind  prometheus.ValueType
	value func(total) (v float64, ok bool) // without ok, the generator has no such figure now
}

// A total is what the workers of a generator are together.
type total struct {
	source *supply.Source
	all    []supply.Worker
	sum    supply.Worker // of counters
	worst  float64       // share of a worker in a second
	share  float64       // of all workers in the last second
	left   float64       // seconds of the worker with the least; +Inf without a lease that has begun
}

func newTotal(s *supply.Source) total {
	t := total{source: s, all: s.Workers(), left: math.Inf(1)}
	for _, w := range t.all {
		t.sum.Usage.IDs += w.Usage.IDs
		t.sum.Usage.Waits += w.Usage.Waits
		t.sum.Usage.Exhausted += w.Usage.Exhausted
		t.sum.Usage.ClockSteps += w.Usage.ClockSteps
		t.sum.Lease.Renewals += w.Lease.Renewals
		t.sum.Lease.Failures += w.Lease.Failures
		t.share += w.Usage.Second / float64(len(t.all))
		t.worst = max(t.worst, w.Usage.Worst)
		if s.Recipe.Leased && w.State != supply.Idle {
			t.left = min(t.left, w.Left.Seconds())
		}
	}
	return t
}

// remaining returns the seconds until the timestamps of the format end. A [time.Duration] ends after 292 years.
func (t *total) remaining() float64 {
	return float64(t.source.Shape.End().UnixMilli()-time.Now().UnixMilli()) / 1000
}

var (
	figures = []figure{
		counter("firn_generator_ids_total", "IDs made.", func(t total) float64 { return float64(t.sum.Usage.IDs) }),
		counter("firn_generator_waits_total", "Calls that had to wait.", func(t total) float64 { return float64(t.sum.Usage.Waits) }),
		counter("firn_generator_exhausted_ticks_total", "Ticks that had no ID left for a call.",
			func(t total) float64 { return float64(t.sum.Usage.Exhausted) }),
		counter("firn_generator_clock_steps_total", "Times that the clock was behind the last ID.",
			func(t total) float64 { return float64(t.sum.Usage.ClockSteps) }),
		gauge("firn_generator_share", "Share of the capacity that the last full second has used, 0 to 1, of all workers.",
			func(t total) float64 { return t.share }),
		gauge("firn_generator_worst_share", "Largest share of the capacity of a worker in any second, 0 to 1.",
			func(t total) float64 { return t.worst }),
		gauge("firn_generator_capacity", "IDs that all workers of the generator can make in a second.",
			func(t total) float64 { return t.source.PerSecond() }),
		gauge("firn_format_remaining_seconds", "The time until the timestamps of the format end.",
			func(t total) float64 { return t.remaining() }),
		{desc("firn_lease_left_seconds", "How long the worker with the least time can mint without another renewal. Absent before the first request."),
			prometheus.GaugeValue, func(t total) (float64, bool) { return t.left, !math.IsInf(t.left, 1) }},
		leased("firn_lease_renewals_total", "Renewals of the leases.", func(t total) float64 { return float64(t.sum.Lease.Renewals) }),
		leased("firn_lease_failures_total", "Renewals that failed, and tries to start that failed.",
			func(t total) float64 { return float64(t.sum.Lease.Failures) }),
	}
	states  = []supply.State{supply.Idle, supply.Starting, supply.Ready, supply.Lost, supply.Ended}
	workers = desc("firn_generator_workers", "Workers of the generator, by their state.", "state")
)

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, append([]string{"generator"}, labels...), nil)
}

func gauge(name, help string, value func(total) float64) figure {
	return figure{desc(name, help), prometheus.GaugeValue, func(t total) (float64, bool) { return value(t), true }}
}

func counter(name, help string, value func(total) float64) figure {
	return figure{desc(name, help), prometheus.CounterValue, func(t total) (float64, bool) { return value(t), true }}
}

// leased is counter for generators with leases.
func leased(name, help string, value func(total) float64) figure {
	return figure{desc(name, help), prometheus.CounterValue, func(t total) (float64, bool) { return value(t), t.source.Recipe.Leased }}
}

func (g *generators) Describe(to chan<- *prometheus.Desc) {
	to <- workers
	for _, f := range figures {
		to <- f.desc
	}
}

func (g *generators) Collect(to chan<- prometheus.Metric) {
	for _, s := range g.set.All() {
		t := newTotal(s)
		for _, f := range figures {
			if v, ok := f.value(t); ok {
				to <- prometheus.MustNewConstMetric(f.desc, f.kind, v, s.Name)
			}
		}
		for _, state := range states {
			n := 0
			for _, w := range t.all {
				if w.State == state {
					n++
				}
			}
			to <- prometheus.MustNewConstMetric(workers, prometheus.GaugeValue, float64(n), s.Name, string(state))
		}
	}
}
