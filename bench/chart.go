package main

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"slices"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A chart has a row for each subject, with a horizontal bar for each series.
type chart struct {
	file   string // without its ending
	title  string
	axis   string
	series []string // the names of a row's bars; a single bar needs no name
	rows   []chartRow
}

type chartRow struct {
	name   string // the subject's
	label  string
	firn   bool
	values []float64 // NaN for no bar
	notes  []string  // beside the bars
}

// A theme has the colours of a chart. The background is the background of the page.
type theme struct {
	suffix      string
	text, grid  color.Color
	firn, peers []color.Color // of a row's bars
}

var themes = []theme{
	{
		suffix: "",
		text:   grey(0x1f), grid: grey(0xd0),
		firn:  []color.Color{rgb(0x0b61a4), rgb(0x6fb1e6)},
		peers: []color.Color{grey(0x8a), grey(0xbc)},
	},
	{
		suffix: "-dark",
		text:   grey(0xe6), grid: grey(0x44),
		firn:  []color.Color{rgb(0x58b4ff), rgb(0x2a6da8)},
		peers: []color.Color{grey(0x98), grey(0x62)},
	},
}

func grey(v uint8) color.Color { return color.NRGBA{v, v, v, 0xff} }
func rgb(v uint32) color.Color {
	return color.NRGBA{uint8(v >> 16), uint8(v >> 8), uint8(v), 0xff}
}

// charts returns the charts for which there are results.
func charts(r *results) []chart {
	var all []chart
	add := func(c chart) {
		if len(c.rows) > 0 {
			all = append(all, c)
		}
	}
	add(r.chart("next", "One ID, one goroutine, below the cap", "ns an ID", "ns/op", 1,
		[]bar{{"", groupNext, ""}}))
	if cores := r.config[configCores]; cores != "1" {
		add(r.chart("parallel", "One ID, goroutines on one generator, below the cap", "ns an ID", "ns/op", 1,
			[]bar{{"1 core", groupNext, ""}, {cores + " cores", groupParallel, "/cores=" + cores}}))
	}
	add(r.chart("text", "Text: written into a buffer, read strictly", "ns an ID", "ns/op", 1,
		[]bar{{"written", groupEncode, ""}, {"read", groupDecode, ""}}))
	add(r.chart("sort", "Sorting a million IDs", "ms", "ns/op", 1e6, []bar{{"", groupSort, ""}}))
	saturation := r.chart("saturation", "All IDs that the layout allows: what they take of the processor", "cores", "cores", 1,
		[]bar{{"", groupSaturation, "/goroutines=1"}})
	for i, row := range saturation.rows {
		share, _ := r.median(key{name(groupSaturation, row.name, "/goroutines=1"), "", "%cap"})
		s, err := find(row.name)
		if err != nil {
			continue
		}
		saturation.rows[i].notes[0] += fmt.Sprintf(" cores, %.1f %% of %s M IDs/s", share.Center, digits(s.cap.perSecond()/1e6))
	}
	add(saturation)
	return all
}

// A bar names the measurements of a series of a chart.
type bar struct{ series, group, more string }

// chart returns the chart of all subjects with a measurement for the first bar.
func (r *results) chart(file, title, axis, unit string, per float64, bars []bar) chart {
	c := chart{file: file, title: title, axis: axis}
	for _, b := range bars {
		c.series = append(c.series, b.series)
	}
	for _, l := range r.lines(bars[0].group, bars[0].more, unit) {
		row := chartRow{name: l.name, label: l.title, firn: l.firn()}
		for _, b := range bars {
			got, ok := r.median(key{name(b.group, l.name, b.more), "", unit})
			v, note := math.NaN(), ""
			if ok {
				v = got.Center / per
				note = digits(v)
			}
			row.values = append(row.values, v)
			row.notes = append(row.notes, note)
		}
		c.rows = append(c.rows, row)
	}
	return c
}

const (
	chartWidth = 660
	barWidth   = 13
	rowGap     = 9
	fontSize   = 11
	margin     = 8
)

// draw returns the chart as SVG.
func (c chart) draw(t theme) ([]byte, error) {
	style := func(size vg.Length, bold bool) text.Style {
		f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
		if bold {
			f.Weight = xfont.WeightBold
		}
		return text.Style{Color: t.text, Font: f, Handler: plot.DefaultTextHandler}
	}
	p := plot.New()
	p.BackgroundColor = nil // the page shows through
	p.Title.Text, p.Title.TextStyle, p.Title.Padding = c.title, style(fontSize+2, true), 8
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.X.Label.Text, p.X.Label.TextStyle = c.axis, style(fontSize, false)
	p.X.Label.TextStyle.XAlign, p.X.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
	p.X.Tick.Label, p.Y.Tick.Label = style(fontSize-1, false), style(fontSize, false)
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XCenter, draw.YTop
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = draw.XRight, draw.YCenter
	p.X.LineStyle.Color, p.X.Tick.LineStyle.Color = t.grid, t.grid

	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Width = t.grid, 0
	grid.Vertical.Dashes = nil
	p.Add(grid)

	// The axis goes up, and the first row is at the top.
	rows := slices.Clone(c.rows)
	slices.Reverse(rows)
	var labels []string
	longest := 0.0
	for _, row := range rows {
		labels = append(labels, row.label)
		for _, v := range row.values {
			longest = max(longest, zeroIfNaN(v))
		}
	}
	for i := range c.series {
		offset := vg.Length(float64(len(c.series)-1)/2-float64(i)) * barWidth
		for _, firn := range []bool{false, true} {
			var values plotter.Values
			for _, row := range rows {
				v := zeroIfNaN(row.values[i])
				if row.firn != firn {
					v = 0
				}
				values = append(values, v)
			}
			bars, err := plotter.NewBarChart(values, barWidth-1)
			if err != nil {
				return nil, err
			}
			bars.Horizontal, bars.Offset, bars.LineStyle.Width = true, offset, 0
			bars.Color = t.peers[i]
			if firn {
				bars.Color = t.firn[i]
			}
			p.Add(bars)
			if c.series[i] != "" {
				who := "others, "
				if firn {
					who = "Firn, "
				}
				p.Legend.Add(who+c.series[i], bars)
			}
		}
		notes := plotter.XYLabels{}
		for y, row := range rows {
			notes.XYs = append(notes.XYs, plotter.XY{X: zeroIfNaN(row.values[i]), Y: float64(y)})
			notes.Labels = append(notes.Labels, row.notes[i])
		}
		beside, err := plotter.NewLabels(notes)
		if err != nil {
			return nil, err
		}
		beside.Offset = vg.Point{X: 4, Y: offset}
		for j := range beside.TextStyle {
			beside.TextStyle[j] = style(fontSize-1, rows[j].firn)
			beside.TextStyle[j].YAlign = draw.YCenter
		}
		p.Add(beside)
	}
	p.NominalY(labels...)
	p.Y.LineStyle.Width, p.Y.Tick.Length = 0, 0
	p.X.Min, p.X.Max = 0, longest*1.02
	p.X.Tick.Marker = plot.TickerFunc(marks)
	p.Legend.TextStyle = style(fontSize-1, false)
	p.Legend.Top, p.Legend.ThumbnailWidth, p.Legend.Padding = true, 18, 3

	height := vg.Length(len(rows))*(vg.Length(len(c.series))*barWidth+rowGap) + 100
	canvas := vgsvg.New(chartWidth, height)
	p.Draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	var svg bytes.Buffer
	_, err := canvas.WriteTo(&svg)
	return svg.Bytes(), err
}

// marks returns the ticks of the axis that have a label.
func marks(lo, hi float64) []plot.Tick {
	return slices.DeleteFunc(plot.DefaultTicks{}.Ticks(lo, hi), func(t plot.Tick) bool { return t.Label == "" })
}

func zeroIfNaN(v float64) float64 {
	if math.IsNaN(v) {
		return 0
	}
	return v
}
