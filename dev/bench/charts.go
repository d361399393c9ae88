package main

import (
	"fmt"
	"math"

	"github.com/firn-id/firn/dev/bench/chart"
)

// charts returns the charts for which there are results.
func charts(r *results) []chart.Chart {
	var all []chart.Chart
	add := func(c chart.Chart) {
		if len(c.Rows) > 0 {
			all = append(all, c)
		}
	}
	add(r.chart("next", "One ID at a time, below the cap", "ns an ID, one goroutine", "ns/op", 1,
		[]bar{{"", groupNext, ""}}))
	if cores := r.config[configCores]; cores != "1" {
		add(r.chart("parallel", "One ID, goroutines on one generator, below the cap", "ns an ID", "ns/op", 1,
			[]bar{{"1 core", groupNext, ""}, {cores + " cores", groupParallel, "/cores=" + cores}}))
	}
	add(r.chart("text", "Text: written into a buffer, read strictly", "ns an ID", "ns/op", 1,
		[]bar{{"written", groupEncode, ""}, {"read", groupDecode, ""}}))
	add(r.chart("sort", "Sorting a million IDs", "ms", "ns/op", 1e6, []bar{{"", groupSort, ""}}))
	saturation := r.chart("saturation", "Processor time at the full rate of the layout", "cores", "cores", 1,
		[]bar{{"", groupSaturation, "/goroutines=1"}})
	for i, row := range saturation.Rows {
		share, _ := r.median(key{name(groupSaturation, row.Name, "/goroutines=1"), "", "%cap"})
		s, err := find(row.Name)
		if err != nil {
			continue
		}
		saturation.Rows[i].Detail = fmt.Sprintf("%.1f %% of %s M IDs/s", share.Center, chart.Digits(s.cap.perSecond()/1e6))
	}
	add(saturation)
	return all
}

// A bar names the measurements of a series of a chart.
type bar struct{ series, group, more string }

// chart returns the chart of all subjects with a measurement for the first bar.
func (r *results) chart(file, title, shown, unit string, per float64, bars []bar) chart.Chart {
	c := chart.Chart{File: file, Title: title, Unit: shown}
	for _, b := range bars {
		c.Series = append(c.Series, b.series)
	}
	for _, l := range r.lines(bars[0].group, bars[0].more, unit) {
		row := chart.Row{Name: l.name, Label: l.title, Firn: l.firn()}
		for _, b := range bars {
			got, ok := r.median(key{name(b.group, l.name, b.more), "", unit})
			v := math.NaN()
			if ok {
				v = got.Center / per
			}
			row.Values = append(row.Values, v)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}
