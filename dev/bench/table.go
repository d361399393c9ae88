package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/firn-id/firn/dev/bench/chart"
)

// table returns the results as a page of Markdown.
func table(r *results) []byte {
	w := new(bytes.Buffer)
	fmt.Fprintf(w, "# Measured\n\nMedians of one run, written by `go run -C dev ./bench`; [how it measures](../README.md), [all measurements](%s).\n\n", rawFile)
	writeMachine(w, r)
	fmt.Fprintf(w, "\n## What Firn has set itself\n\n")
	writeLimits(w, r)
	for _, g := range []struct{ group, title, unit, about string }{
		{groupNext, "One at a time", "ns an ID", "One goroutine, below the cap."},
		{groupBatch, "In batches", "ns an ID", fmt.Sprintf("%d at a time, below the cap; no other peer has a batch.", batchIDs)},
		{groupSeq, "From an iterator", "ns an ID", "A loop over `Seq`, below the cap; no peer has one."},
		{groupEncode, "Text into a buffer", "ns an ID", "Or by `MarshalText`, where a package has no such function."},
		{groupString, "Text as a string", "ns an ID", ""},
		{groupDecode, "Text read strictly", "ns an ID", ""},
		{groupSort, "Sorting a million IDs", "ms", "IDs as one generator makes them, shuffled."},
	} {
		fmt.Fprintf(w, "\n## %s\n\n", g.title)
		if g.about != "" {
			fmt.Fprintf(w, "%s\n\n", g.about)
		}
		writeGroup(w, r, g.group, g.unit)
		if g.group == groupNext {
			fmt.Fprintf(w, "\n## On several cores\n\nA goroutine on each, all on one generator, below the cap: ns in which they make one ID.\n\n")
			writeParallel(w, r)
			fmt.Fprintf(w, "\n## At saturation\n\nAll IDs that can be had: how much of what the layout allows, with how much processor.\n\n")
			writeSaturation(w, r)
		}
	}
	return w.Bytes()
}

func writeMachine(w io.Writer, r *results) {
	c := r.config
	fmt.Fprintf(w, "- %s, %s cores, %s/%s", c[configCPU], c[configCores], c["goos"], c["goarch"])
	if c[configClock] != "" {
		fmt.Fprintf(w, ", time from %s", c[configClock])
	}
	fmt.Fprintf(w, "\n- %s", c[configGo])
	if c["goamd64"] != "" {
		fmt.Fprintf(w, ", GOAMD64=%s", c["goamd64"])
	}
	fmt.Fprintf(w, ", %s\n- ", c[configDate])
	var modules []string
	for _, s := range peerSubjects {
		if m := s.module + " " + c[s.module]; s.module != "" && !slices.Contains(modules, m) {
			modules = append(modules, m)
		}
	}
	slices.Sort(modules)
	fmt.Fprintln(w, strings.Join(modules, ", "))
}

// A line has the measurements of one subject in one group.
type line struct {
	*subject
	value float64
	key   key
}

// lines returns the lines of a group, the fastest first, without bounds.
func (r *results) lines(group, more, unit string) []line {
	var all []line
	for i := range subjects {
		k := key{name(group, subjects[i].name, more), "", unit}
		if got, ok := r.median(k); ok && !subjects[i].bound {
			all = append(all, line{&subjects[i], got.Center, k})
		}
	}
	slices.SortStableFunc(all, func(a, b line) int { return cmp.Compare(a.value, b.value) })
	return all
}

// against compares a peer's value with the value of the nearest of Firn's formats.
func (r *results) against(l line) string {
	if l.firn() {
		return ""
	}
	nearest := l.kin
	if strings.HasPrefix(l.key.name, groupSort+"/") {
		nearest = "sno" // the only format with a Sort
	}
	k := l.key
	k.name = strings.Replace(k.name, "/id="+l.name, "/id="+nearest, 1)
	kin, err := find(nearest)
	got, ok := r.median(k)
	if err != nil || !ok {
		return ""
	}
	return times(l.value, got.Center) + " " + kin.title
}

// label returns a subject's title, Firn's in bold.
func (l line) label() string {
	if l.firn() {
		return "**" + l.title + "**"
	}
	return l.title
}

func writeGroup(w io.Writer, r *results, group, unit string) {
	fmt.Fprintf(w, "| | %s | ± | allocations | against Firn |\n|---|---:|---:|---:|---|\n", unit)
	for _, l := range r.lines(group, "", "ns/op") {
		got, _ := r.median(l.key)
		allocs, _ := r.median(key{l.key.name, "", "allocs/op"})
		v := chart.Digits(l.value)
		if group == groupSort {
			v = chart.Digits(l.value / 1e6)
		}
		label := l.label()
		if group == groupDecode && l.loose {
			label += " (reads anything)"
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.0f | %s |\n", label, v, strings.TrimPrefix(got.PctRangeString(), "±"), allocs.Center, r.against(l))
	}
}

func writeParallel(w io.Writer, r *results) {
	cores, err := strconv.Atoi(r.config[configCores])
	counts := coreCounts(cores)
	if err != nil || len(counts) == 0 {
		fmt.Fprintln(w, "Not measured: it takes more than one core.")
		return
	}
	fmt.Fprint(w, "| | 1 |")
	for _, n := range counts {
		fmt.Fprintf(w, " %d |", n)
	}
	fmt.Fprintf(w, " against Firn |\n|---|---:|%s---|\n", strings.Repeat("---:|", len(counts)))
	last := fmt.Sprintf("/cores=%d", counts[len(counts)-1])
	for _, l := range r.lines(groupParallel, last, "ns/op") {
		one, _ := r.ns(name(groupNext, l.name, ""))
		fmt.Fprintf(w, "| %s | %s |", l.label(), chart.Digits(one.Center))
		for _, n := range counts {
			got, _ := r.ns(name(groupParallel, l.name, fmt.Sprintf("/cores=%d", n)))
			fmt.Fprintf(w, " %s |", chart.Digits(got.Center))
		}
		fmt.Fprintf(w, " %s |\n", r.against(l))
	}
}

func writeSaturation(w io.Writer, r *results) {
	fmt.Fprintf(w, "| | goroutines | M IDs/s | %% of cap | cores | CPU ns an ID | CPU against Firn |\n|---|---:|---:|---:|---:|---:|---|\n")
	for _, n := range []int{1, crowd} {
		more := fmt.Sprintf("/goroutines=%d", n)
		for _, l := range r.lines(groupSaturation, more, "cpu-ns/ID") {
			of := func(unit string) float64 {
				s, _ := r.median(key{l.key.name, "", unit})
				return s.Center
			}
			fmt.Fprintf(w, "| %s | %d | %s | %.2f | %.3f | %s | %s |\n", l.label(), n,
				chart.Digits(of("IDs/s")/1e6), of("%cap"), of("cores"), chart.Digits(l.value), r.against(l))
		}
	}
}

// amount returns a value with its unit, for the table.
func amount(v float64, unit string) string {
	switch {
	case unit == "ns/op" && v >= 1e6:
		return chart.Digits(v/1e6) + " ms"
	case unit == "ns/op":
		return chart.Digits(v) + " ns"
	case unit == "%cap":
		return strconv.FormatFloat(v, 'f', 2, 64) + " %"
	}
	return chart.Digits(v) + " " + unit
}

// times returns how many times as much a is as b.
func times(a, b float64) string {
	if b == 0 {
		return ""
	}
	return chart.Digits(a/b) + " ×"
}

// titleOf returns the title of a benchmark's subject.
func titleOf(benchmark string) string {
	for part := range strings.SplitSeq(benchmark, "/") {
		if id, ok := strings.CutPrefix(part, "id="); ok {
			if s, err := find(id); err == nil {
				return s.title
			}
			return id
		}
	}
	return benchmark
}
