package stats

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
	"github.com/fatih/color"
	"github.com/guptarohit/asciigraph"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// A page is a report on its way to a terminal.
type page struct {
	bytes.Buffer
	pens    cli.Pens
	colour  bool
	columns int
}

// The columns of a report.
const (
	leastColumns = 60
	mostColumns  = 120
)

// newPage returns an empty page for the streams.
func newPage(s *cli.Streams) *page {
	return &page{pens: cli.NewPens(s.Colour), colour: s.Colour, columns: min(max(s.Width, leastColumns), mostColumns)}
}

// write writes a report with its plots.
func (p *page) write(r *report, bars timeReport) {
	p.summary(r)
	if r.IDs == 0 {
		return
	}
	p.time(bars)
	p.workers(r.Workers, r.IDs)
	p.bursts(r)
	p.fill(r.Fill)
	p.split(r)
}

// split says what the numbers of a report lack.
func (p *page) split(r *report) {
	var parts []string
	if r.SplitTicks > 0 {
		parts = append(parts, plural(r.SplitTicks, "tick"))
	}
	if r.SplitSeconds > 0 {
		parts = append(parts, plural(r.SplitSeconds, "second"))
	}
	if parts != nil {
		p.WriteByte('\n')
		p.paragraph("The IDs come in no order of time: " + cli.List(parts, "and") + " may have been counted in parts. " +
			"Bursts and shares of the sequence can be greater than shown. Sort the IDs first.")
	}
}

func (p *page) title(text string) {
	p.WriteByte('\n')
	for line := range strings.Lines(cli.Paragraph(text, p.columns)) {
		p.WriteString(p.pens.Title.Sprint(strings.TrimSuffix(line, "\n")) + "\n")
	}
}

func (p *page) paragraph(text string) { p.WriteString(cli.Paragraph(text, p.columns)) }

// summary writes the number of IDs, and their time.
func (p *page) summary(r *report) {
	row := func(name, value string) { fmt.Fprintf(p, "%s  %s\n", p.pens.Faint.Sprintf("%-6s", name), value) }
	row("format", p.pens.Title.Sprint(r.Format))
	ids := number(r.IDs)
	if r.Malformed > 0 {
		ids += ", and " + plural(r.Malformed, "malformed line")
	}
	row("ids", p.pens.Title.Sprint(ids))
	if r.IDs == 0 {
		return
	}
	row("first", cli.TimeText(r.First.Time))
	row("last", cli.TimeText(r.Last.Time))
	if r.First.Equal(r.Last.Time) {
		return // a single tick has no rate
	}
	average := rate(r.PerSecond) + " on average"
	if r.Time.Before+r.Time.After > 0 {
		average += ", without IDs far from all others"
	}
	row("rate", average)
}

// rate writes a number of IDs a second, or in a longer time.
func rate(perSecond float64) string {
	switch {
	case perSecond >= 1e6:
		return humanize.SIWithDigits(perSecond, 1, "") + " IDs a second"
	case perSecond >= 10:
		return number(int64(math.Round(perSecond))) + " IDs a second"
	case perSecond >= 0.1:
		return fmt.Sprintf("%.1f IDs a second", perSecond)
	case perSecond*hour/second >= 0.1:
		return fmt.Sprintf("%.1f IDs an hour", perSecond*hour/second)
	}
	return fmt.Sprintf("%.2g IDs a day", perSecond*day/second)
}

// time plots IDs over time.
func (p *page) time(t timeReport) {
	p.title("IDs in each " + t.Unit)
	if len(t.Bars) == 1 {
		fmt.Fprintf(p, "%s in the %s from %s\n", number(t.Bars[0].IDs), t.Unit, cli.TimeText(t.Bars[0].Time.Time))
	} else {
		p.plot(t)
	}
	if t.Before > 0 || t.After > 0 {
		p.paragraph(fmt.Sprintf("Not in the plot, since far from all others: %s before, %s after.", plural(t.Before, "ID"), plural(t.After, "ID")))
	}
}

// plotRows is the most rows of a plot over time.
const plotRows = 16

// plot draws the IDs over time.
func (p *page) plot(t timeReport) {
	var most uint64
	for _, b := range t.Bars {
		most = max(most, b.IDs)
	}
	step, rows := scale(most, plotRows)
	labels := 0
	for i := range rows + 1 {
		labels = max(labels, len(axis(float64(step)*float64(i), step*uint64(rows))))
	}
	room := p.columns - len("  ") - labels - 1 - len(t.unit.label(t.Bars[0].Time.Time))/2 - 1 // the last label of the time ends to the right
	at := func(column int) int { return min(column*len(t.Bars)/room, len(t.Bars)-1) }         // the bar of a column
	line := make([]float64, room+1)                                                           // the plot joins points: n+1 points make n columns
	for column := range line {
		line[column] = float64(t.Bars[at(column)].IDs)
	}
	options := []asciigraph.Option{asciigraph.Height(rows), asciigraph.LowerBound(0), asciigraph.UpperBound(float64(step) * float64(rows)), asciigraph.YAxisValueFormatter(func(v float64) string { return axis(v, step*uint64(rows)) }),
		asciigraph.XAxisRange(0, float64(room)), asciigraph.XAxisTickCount(min(len(t.Bars), max(2, room/(len(t.unit.label(t.Bars[0].Time.Time))+8)))),
		asciigraph.XAxisValueFormatter(func(x float64) string { return t.unit.label(t.Bars[at(int(x))].Time.Time) })}
	if p.colour {
		options = append(options, asciigraph.SeriesColors(asciigraph.Teal))
	}
	p.WriteString(asciigraph.Plot(line, options...))
	p.WriteByte('\n')
}

// scale returns the numbers of an axis that reaches up to most: so many steps of 1, 2 or 5 times a power of ten, and
// at most limit steps.
func scale(most uint64, limit int) (step uint64, steps int) {
	for power := uint64(1); ; power *= 10 {
		for _, times := range []uint64{1, 2, 5} {
			step = times * power
			if n := (most + step - 1) / step; n <= uint64(limit) {
				return step, max(int(n), 1)
			}
		}
	}
}

// axis writes a number of IDs beside an axis that reaches up to top.
func axis(v float64, top uint64) string {
	if top < 10000 {
		return number(int64(math.Round(v)))
	}
	return strings.TrimSpace(humanize.SIWithDigits(v, 1, ""))
}

// label writes the beginning of a unit.
func (u unit) label(t interface{ Format(string) string }) string {
	switch {
	case u.months >= 12:
		return t.Format("2006")
	case u.months > 0:
		return t.Format("2006-01")
	case u.ms >= day:
		return t.Format("2006-01-02")
	case u.ms >= minute:
		return t.Format("01-02 15:04")
	case u.ms >= second:
		return t.Format("15:04:05")
	}
	return t.Format("15:04:05.000")
}

// workers lists the workers with the most IDs, and the others as one.
func (p *page) workers(w *workerReport, all uint64) {
	if w == nil || len(w.Top) == 0 {
		return
	}
	heading := "IDs by " + w.name + ": " + number(w.Count)
	if len(w.Top) < w.Count {
		heading += ", the " + number(len(w.Top)) + " with the most"
	}
	p.title(heading)
	var rows []row
	for _, one := range w.Top {
		rows = append(rows, row{fmt.Sprint(one.Worker), one.IDs})
	}
	if w.Others > 0 {
		rows = append(rows, row{"others", w.Others})
	}
	p.bars(rows, all, "ID", p.pens.Fields[1])
}

// A row is a bar with a name.
type row struct {
	name  string
	count uint64
}

// bars draws a bar for each row. all is the count that the shares are of.
func (p *page) bars(rows []row, all uint64, thing string, pen *color.Color) {
	var most uint64
	names, counts := 0, 0
	for _, r := range rows {
		most = max(most, r.count)
		names = max(names, utf8.RuneCountInString(r.name))
		counts = max(counts, len(plural(r.count, thing)))
	}
	const share = len("  100.0%")
	room := max(p.columns-len("  ")-names-len("  ")-len("  ")-counts-share, 8)
	for _, r := range rows {
		drawn := barOf(float64(r.count)/float64(max(most, 1)), room)
		fmt.Fprintf(p, "  %*s  %s%s  %*s%*s\n", names, r.name, pen.Sprint(drawn), strings.Repeat(" ", room-utf8.RuneCountInString(drawn)),
			counts, plural(r.count, thing), share, percent(float64(r.count)/float64(max(all, 1))))
	}
}

// barOf draws a share of so many columns, in eighths of a column.
func barOf(share float64, columns int) string {
	eighths := int(math.Round(share * float64(columns) * 8))
	if eighths == 0 && share > 0 {
		eighths = 1
	}
	bar := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return bar
}

// bursts says when the most IDs were made: in a tick, and in a second.
func (p *page) bursts(r *report) {
	p.title("Bursts")
	tick, second := r.Bursts.Tick, r.Bursts.Second
	by := ""
	if tick.Worker != nil {
		by = fmt.Sprintf(" by %s %d", r.Workers.name, *tick.Worker)
	}
	seconds := ""
	if second.Seconds > 1 {
		seconds = fmt.Sprintf(" Of the %s seconds with IDs, half have at most %s, 99%% at most %s.", number(second.Seconds), number(second.Median), number(second.P99))
	}
	length := fmt.Sprintf("%d ms", r.TickUS/1000)
	if r.TickUS < 1000 {
		length = fmt.Sprintf("%d µs", r.TickUS)
	}
	p.paragraph(fmt.Sprintf("Most in a tick of %s: %s%s at %s.", length, plural(tick.IDs, "ID"), by, cli.TimeText(tick.Time.Time)))
	p.paragraph(fmt.Sprintf("Most in a second: %s at %s.%s", plural(second.IDs, "ID"), cli.TimeText(second.Time.Time), seconds))
}

// fill shows how full the ticks are: a bar for each share that has ticks, and one for full ticks.
func (p *page) fill(f *fillReport) {
	p.title(fmt.Sprintf("Fill of the sequence: %s of up to %s", plural(f.Ticks, "tick"), plural(f.Capacity, "ID")))
	var rows []row
	for _, s := range f.Shares {
		if s.Ticks > 0 || s.Name == fullName {
			rows = append(rows, row{s.Name, s.Ticks})
		}
	}
	p.bars(rows, uint64(f.Ticks), "tick", p.pens.Fields[2])
	capacity := float64(f.Capacity)
	text := fmt.Sprintf("Half of the ticks have at most %s, 99%% at most %s (%s); the fullest has %s (%s).",
		plural(f.Median, "ID"), number(f.P99), percent(float64(f.P99)/capacity),
		number(f.Most), percent(float64(f.Most)/capacity))
	if f.random {
		text += " The sequence of a tick begins at a random number, so a tick can be exhausted before it is full."
	}
	p.paragraph(text)
}

// percent writes a share, "97.4%".
func percent(share float64) string {
	switch p := 100 * share; {
	case p >= 1 || p == 0:
		return fmt.Sprintf("%.1f%%", p)
	case p >= 0.01:
		return fmt.Sprintf("%.2g%%", p)
	}
	return "<0.01%" // no more digits fit the column
}
