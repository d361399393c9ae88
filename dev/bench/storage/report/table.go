package report

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/firn-id/firn/dev/bench/chart"
	"github.com/firn-id/firn/dev/bench/storage/keys"
	"github.com/firn-id/firn/dev/bench/storage/measure"
	"github.com/firn-id/firn/dev/bench/storage/servers"
)

// A Table is the results of a phase on a server, as Markdown.
type Table struct {
	Title    string
	Markdown string // the table alone
}

// A column of a table has a value for each format.
type column struct {
	name string
	cell func(f *keys.Format) string
}

// TablesOf returns the tables of a server.
func (r *Run) TablesOf(server string) []Table {
	name := title(server)
	plain := func(s series) func(*keys.Format) string {
		return func(f *keys.Format) string { return chart.Digits(s.of(f.Name).median) }
	}
	spread := func(s series) func(*keys.Format) string {
		return func(f *keys.Format) string {
			v := s.of(f.Name)
			if math.IsNaN(v.median) {
				return ""
			}
			return fmt.Sprintf("%s (%s–%s)", chart.Digits(v.median), chart.Digits(v.least), chart.Digits(v.most))
		}
	}
	scaled := func(s series, by float64) series {
		return combine(s, s, func(v, _ float64) float64 { return v * by })
	}
	keyType := column{"type", func(f *keys.Format) string { return "`" + servers.Type(server, f) + "`" }}
	adding := func(phase measure.Phase) []column {
		all := []column{
			{"rows/s", plain(r.rate(server, phase))},
			{"× serial", spread(relative(r.rate(server, phase)))},
			{"processor, µs a row", spread(scaled(r.each(server, phase, servers.Processor), 1e6))},
			{"log bytes a row", plain(r.each(server, phase, servers.LogBytes))},
			{"index reads", plain(scaled(r.each(server, phase, servers.IndexReads), 1000))},
			{"index requests", plain(scaled(r.each(server, phase, servers.IndexRequests), 1000))},
		}
		if server == keys.MariaDB {
			return append(all, column{"splits", plain(scaled(r.each(server, phase, servers.Splits), 1000))},
				column{"pages written", plain(scaled(r.each(server, phase, servers.PagesWritten), 1000))})
		}
		return append(all, column{"whole pages in the log", plain(scaled(r.each(server, phase, servers.LogImages), 1000))},
			column{"heap reads", plain(scaled(r.each(server, phase, servers.HeapReads), 1000))},
			column{"pages written", plain(scaled(r.each(server, phase, servers.PagesWritten), 1000))})
	}
	finding := func(phase measure.Phase, what string) []column {
		all := []column{
			{what + " rows/s", plain(r.rate(server, phase))},
			{"× serial", spread(relative(r.rate(server, phase)))},
			{"index reads", plain(scaled(r.each(server, phase, servers.IndexReads), 1000))},
		}
		if server != keys.MariaDB {
			all = append(all, column{"heap reads", plain(scaled(r.each(server, phase, servers.HeapReads), 1000))})
		}
		return all
	}
	sizes := []column{keyType}
	if server != keys.MariaDB {
		sizes = append(sizes, column{"index", plain(r.each(server, measure.Size, servers.IndexBytes))},
			column{"leaf pages full, %", plain(r.value(server, measure.Size, servers.LeafDensity))})
	}
	sizes = append(sizes, column{"table", plain(r.each(server, measure.Size, servers.TableBytes))},
		column{"index of another column", plain(r.each(server, measure.Size, servers.SecondBytes))})

	return []Table{
		{name + ": sizes, bytes a row", r.markdown(server, sizes)},
		{name + ": bulk load", r.markdown(server, adding(measure.Bulk))},
		{name + ": one by one, one connection", r.markdown(server, adding(measure.One))},
		{name + ": one by one, " + r.fact(aboutPlan, "connections") + " connections", r.markdown(server, adding(measure.Several))},
		{name + ": found by key", r.markdown(server, append(finding(measure.Random, "random"), finding(measure.Recent, "recent")...))},
	}
}

func (r *Run) markdown(server string, columns []column) string {
	w := new(strings.Builder)
	fmt.Fprint(w, "| key |")
	for _, c := range columns {
		fmt.Fprintf(w, " %s |", c.name)
	}
	fmt.Fprintf(w, "\n|---|")
	for _, c := range columns {
		if c.name == "type" {
			fmt.Fprint(w, "---|")
		} else {
			fmt.Fprint(w, "---:|")
		}
	}
	fmt.Fprintln(w)
	for _, f := range r.formats(server) {
		label := f.Title
		if f.Firn() {
			label = "**" + label + "**"
		}
		fmt.Fprintf(w, "| %s |", label)
		for _, c := range columns {
			fmt.Fprintf(w, " %s |", c.cell(f))
		}
		fmt.Fprintln(w)
	}
	return w.String()
}

// Tables returns all tables as a page of Markdown.
func (r *Run) Tables() []byte {
	w := new(bytes.Buffer)
	fmt.Fprintf(w, "# Measured\n\nMedians of %s rounds of one run, with the smallest and the greatest value in parentheses; "+
		"written by `go run -C dev ./bench/storage`. [What the columns mean](../../../../docs/choosing-storage.md#what-is-measured), "+
		"[all measurements](%s), [machine and settings](%s).\n\n", r.fact(aboutPlan, "rounds"), measurementsFile, runFile)
	r.writeMachine(w)
	for _, server := range r.servers() {
		for _, t := range r.TablesOf(server) {
			fmt.Fprintf(w, "\n## %s\n\n%s", t.Title, t.Markdown)
		}
	}
	return w.Bytes()
}

func (r *Run) writeMachine(w io.Writer) {
	fmt.Fprintf(w, "- %s, %s cores, %s, %s, %s\n", r.fact(aboutMachine, "processor"), r.fact(aboutMachine, "cores"),
		r.fact(aboutMachine, "system"), r.fact(aboutMachine, "go"), r.fact(aboutMachine, "date"))
	var modules []string
	for _, f := range r.facts {
		if f.about == aboutMachine && strings.Contains(f.name, "/") {
			modules = append(modules, f.name+" "+f.value)
		}
	}
	fmt.Fprintf(w, "- %s\n", strings.Join(modules, ", "))
	plan := func(name string) string { return r.fact(aboutPlan, name) }
	fmt.Fprintf(w, "- cache %.0f MiB; PostgreSQL: %s rows, a checkpoint after each %s; MariaDB: a fifth of both; then twice %s rows one by one, "+
		"%s to a transaction; IDs of %s workers at %s IDs/s\n",
		r.number(aboutPlan, "cache-kib")/1024, plan("rows"), plan("chunk"), plan("inserts"), plan("batch"), plan("workers"), plan("pace"))
	for _, server := range r.servers() {
		var settings []string
		for _, f := range r.facts {
			if f.about == server && f.name != version {
				settings = append(settings, f.name+"="+f.value)
			}
		}
		fmt.Fprintf(w, "- %s %s: %s\n", title(server), r.fact(server, version), strings.Join(settings, ", "))
	}
}
