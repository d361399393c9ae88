package report

import (
	"cmp"
	"math"
	"slices"

	"github.com/firn-id/firn/dev/bench/storage/keys"
	"github.com/firn-id/firn/dev/bench/storage/measure"
	"github.com/firn-id/firn/dev/bench/storage/servers"
)

// A summary is the median of the rounds, with the smallest and the greatest value.
type summary struct{ median, least, most float64 }

// summarize returns the summary of some values; ok is false if there are none.
func summarize(values []float64) (s summary, ok bool) {
	if len(values) == 0 {
		return s, false
	}
	v := slices.Sorted(slices.Values(values))
	middle := len(v) / 2
	s = summary{v[middle], v[0], v[len(v)-1]}
	if len(v)%2 == 0 {
		s.median = (v[middle-1] + v[middle]) / 2
	}
	return s, true
}

// A series returns a value of each round for a format, by round.
type series func(format string) map[int]float64

// value returns the values of a metric.
func (r *Run) value(server string, phase measure.Phase, metric servers.Metric) series {
	return func(format string) map[int]float64 {
		values := make(map[int]float64)
		for _, m := range r.results {
			if m.Server == server && m.Phase == phase && m.Metric == metric && m.Format == format {
				values[m.Round] = m.Value
			}
		}
		return values
	}
}

// combine returns the values of a function of two series, for rounds that both have.
func combine(a, b series, f func(a, b float64) float64) series {
	return func(format string) map[int]float64 {
		values := make(map[int]float64)
		others := b(format)
		for round, v := range a(format) {
			if w, ok := others[round]; ok {
				values[round] = f(v, w)
			}
		}
		return values
	}
}

// each returns the values of a metric for one row of a table.
func (r *Run) each(server string, phase measure.Phase, metric servers.Metric) series {
	return combine(r.value(server, phase, metric), r.value(server, phase, measure.Rows), func(v, rows float64) float64 { return v / rows })
}

// rate returns the rows in a second.
func (r *Run) rate(server string, phase measure.Phase) series {
	return combine(r.value(server, phase, measure.Rows), r.value(server, phase, measure.Seconds), func(rows, seconds float64) float64 { return rows / seconds })
}

// relative returns the values as multiples of the values that serial has in the same round: what else
// the machine does then disturbs both alike.
func relative(s series) series {
	return combine(s, func(string) map[int]float64 { return s(keys.Serial) }, func(v, serial float64) float64 { return v / serial })
}

// of returns the summary of a format, and NaN if the run has no values.
func (s series) of(format string) summary {
	var values []float64
	for _, v := range s(format) {
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	got, ok := summarize(values)
	if !ok {
		return summary{math.NaN(), math.NaN(), math.NaN()}
	}
	return got
}

// servers returns the servers of the run, in the order of [servers.Names].
func (r *Run) servers() (names []string) {
	for _, name := range servers.Names {
		if slices.ContainsFunc(r.results, func(m measure.Result) bool { return m.Server == name }) {
			names = append(names, name)
		}
	}
	return names
}

// formats returns the formats that the run has measured on a server, in the order of [keys.Formats].
func (r *Run) formats(server string) (all []*keys.Format) {
	for i := range keys.Formats {
		f := &keys.Formats[i]
		if slices.ContainsFunc(r.results, func(m measure.Result) bool { return m.Server == server && m.Format == f.Name }) {
			all = append(all, f)
		}
	}
	return all
}

// title returns the name of a server for readers.
func title(server string) string {
	return cmp.Or(map[string]string{servers.PostgreSQL: "PostgreSQL", keys.MariaDB: "MariaDB"}[server], server)
}
