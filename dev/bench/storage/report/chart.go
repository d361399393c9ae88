package report

import (
	"github.com/firn-id/firn/dev/bench/chart"
	"github.com/firn-id/firn/dev/bench/storage/keys"
	"github.com/firn-id/firn/dev/bench/storage/measure"
	"github.com/firn-id/firn/dev/bench/storage/servers"
)

// A bar names the values of a series of a chart.
type bar struct {
	series string
	values series
}

// charts returns the charts of all servers.
func (r *Run) charts() (all []chart.Chart) {
	for _, server := range r.servers() {
		name := title(server)
		add := func(file, what, unit string, bars ...bar) {
			all = append(all, r.chart(server, server+"-"+file, name+": "+what, unit, bars))
		}
		thousand := func(s series) series { return combine(s, s, func(v, _ float64) float64 { return 1000 * v }) }
		// The processor time of a row depends less on what else the machine does than the rows in a second.
		add("processor", "processor time of a row", "serial is 1",
			bar{"bulk load", relative(r.each(server, measure.Bulk, servers.Processor))},
			bar{"one by one", relative(r.each(server, measure.One, servers.Processor))})
		add("log", "written to the log", "bytes a row",
			bar{"bulk load", r.each(server, measure.Bulk, servers.LogBytes)},
			bar{"one by one", r.each(server, measure.One, servers.LogBytes)})
		add("reads", "pages of the primary key that the cache did not have", "pages for 1000 rows",
			bar{"bulk load", thousand(r.each(server, measure.Bulk, servers.IndexReads))},
			bar{"one by one", thousand(r.each(server, measure.One, servers.IndexReads))})
		size := bar{"", r.each(server, measure.Size, servers.IndexBytes)}
		what := "index of the primary key"
		if server == keys.MariaDB {
			size.values, what = r.each(server, measure.Size, servers.TableBytes), "table, which is the index of the primary key"
		}
		add("size", what, "bytes a row", size)
	}
	return all
}

// chart returns the chart of all formats on a server.
func (r *Run) chart(server, file, title, unit string, bars []bar) chart.Chart {
	c := chart.Chart{File: file, Title: title, Unit: unit}
	for _, b := range bars {
		c.Series = append(c.Series, b.series)
	}
	for _, f := range r.formats(server) {
		row := chart.Row{Label: f.Title, Firn: f.Firn()}
		for _, b := range bars {
			row.Values = append(row.Values, b.values.of(f.Name).median)
		}
		c.Rows = append(c.Rows, row)
	}
	return c
}
