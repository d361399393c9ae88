package monitoring

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/firn-id/firn/usage"
)

// PrometheusUsage registers the metrics of a generator of any format. The name is the label
// "generator": generators of a program need different names.
func PrometheusUsage(r prometheus.Registerer, name string, g interface{ Usage() usage.Usage }) error {
	for _, m := range []struct {
		name, help string
		counter    bool
		value      func(usage.Usage) float64
	}{
		{"ids_total", "IDs made.", true, func(u usage.Usage) float64 { return float64(u.IDs) }},
		{"waits_total", "Calls that had to wait.", true, func(u usage.Usage) float64 { return float64(u.Waits) }},
		{"exhausted_ticks_total", "Ticks that had no ID left for a call.", true, func(u usage.Usage) float64 { return float64(u.Exhausted) }},
		{"clock_steps_total", "Times that the clock was behind the last ID.", true, func(u usage.Usage) float64 { return float64(u.ClockSteps) }},
		{"share", "Share of the capacity, of the last full second.", false, func(u usage.Usage) float64 { return u.Second }},
		{"worst_share", "Largest share of the capacity in a second.", false, func(u usage.Usage) float64 { return u.Worst }},
	} {
		opts := prometheus.Opts{Name: "firn_generator_" + m.name, Help: m.help, ConstLabels: prometheus.Labels{"generator": name}}
		value := func() float64 { return m.value(g.Usage()) }
		var c prometheus.Collector = prometheus.NewGaugeFunc(prometheus.GaugeOpts(opts), value)
		if m.counter {
			c = prometheus.NewCounterFunc(prometheus.CounterOpts(opts), value)
		}
		if err := r.Register(c); err != nil {
			return err
		}
	}
	return nil
}
