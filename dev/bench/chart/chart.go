// Package chart draws horizontal bars, for pages with a light and with a dark background.
package chart

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	xfont "golang.org/x/image/font"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Chart has a row for each subject, with a horizontal bar for each series.
type Chart struct {
	File   string // without its ending
	Title  string
	Axis   string
	Series []string // the names of a row's bars; a single bar needs no name
	Rows   []Row
}

// A Row has the bars of a subject.
type Row struct {
	Name   string // for the program; no chart shows the name
	Label  string
	Firn   bool      // the row is Firn's, and has other colours
	Values []float64 // NaN for no bar
	Notes  []string  // beside the bars
}

// A paint is a colour on a light page, and the colour in its place on a dark page. The background is that of
// the page.
type paint struct {
	light, dark uint32
	property    string // fill or stroke
}

var (
	ink   = paint{0x1f1f1f, 0xe6e6e6, "fill"}
	grid  = paint{0xd0d0d0, 0x444444, "stroke"}
	firn  = []paint{{0x0b61a4, 0x58b4ff, "fill"}, {0x6fb1e6, 0x2a6da8, "fill"}} // of a row's bars
	peers = []paint{{0x8a8a8a, 0x989898, "fill"}, {0xbcbcbc, 0x626262, "fill"}}
)

// color returns the colour of a light page, in which charts are drawn.
func (p paint) color() color.Color {
	return color.NRGBA{uint8(p.light >> 16), uint8(p.light >> 8), uint8(p.light), 0xff}
}

// adapt gives a drawing the colours of a dark page, for readers that prefer dark pages. An error reports a
// colour without a twin, which a dark page could hide.
func adapt(svg []byte) ([]byte, error) {
	paints := slices.Concat([]paint{ink, grid}, firn, peers)
	for _, found := range colours.FindAllSubmatch(svg, -1) {
		property, value := string(found[1]), string(found[2])
		if !slices.ContainsFunc(paints, func(p paint) bool { return p.property == property && fmt.Sprintf("%06X", p.light) == value }) {
			return nil, fmt.Errorf("%s:#%s has no colour for dark pages", property, value)
		}
	}
	var rules strings.Builder
	for _, p := range paints {
		fmt.Fprintf(&rules, "\t[style*=\"%s:#%06X\"] { %[1]s: #%06[3]X !important }\n", p.property, p.light, p.dark)
	}
	before, after, _ := bytes.Cut(svg, []byte("<g "))
	style := "<style>@media (prefers-color-scheme: dark) {\n" + rules.String() + "}</style>\n<g "
	return slices.Concat(before, []byte(style), after), nil
}

var colours = regexp.MustCompile(`\b(fill|stroke):#([0-9A-F]{6})`)

const (
	chartWidth = 660
	barWidth   = 13
	rowGap     = 9
	fontSize   = 11
	margin     = 8
)

// Draw returns the chart as SVG, which has colours for light and for dark pages.
func (c Chart) Draw() ([]byte, error) {
	style := func(size vg.Length, bold bool) text.Style {
		f := font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
		if bold {
			f.Weight = xfont.WeightBold
		}
		return text.Style{Color: ink.color(), Font: f, Handler: plot.DefaultTextHandler}
	}
	p := plot.New()
	p.BackgroundColor = nil // the page shows through
	p.Title.Text, p.Title.TextStyle, p.Title.Padding = c.Title, style(fontSize+2, true), 8
	p.Title.TextStyle.XAlign, p.Title.TextStyle.YAlign = draw.XCenter, draw.YTop
	p.X.Label.Text, p.X.Label.TextStyle = c.Axis, style(fontSize, false)
	p.X.Label.TextStyle.XAlign, p.X.Label.TextStyle.YAlign = draw.XCenter, draw.YBottom
	p.X.Tick.Label, p.Y.Tick.Label = style(fontSize-1, false), style(fontSize, false)
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XCenter, draw.YTop
	p.Y.Tick.Label.XAlign, p.Y.Tick.Label.YAlign = draw.XRight, draw.YCenter
	p.X.LineStyle.Color, p.X.Tick.LineStyle.Color = grid.color(), grid.color()

	lines := plotter.NewGrid()
	lines.Vertical.Color, lines.Horizontal.Width = grid.color(), 0
	lines.Vertical.Dashes = nil
	p.Add(lines)

	// The axis goes up, and the first row is at the top.
	rows := slices.Clone(c.Rows)
	slices.Reverse(rows)
	var labels []string
	longest := 0.0
	for _, row := range rows {
		labels = append(labels, row.Label)
		for _, v := range row.Values {
			longest = max(longest, zeroIfNaN(v))
		}
	}
	for i := range c.Series {
		offset := vg.Length(float64(len(c.Series)-1)/2-float64(i)) * barWidth
		for _, own := range []bool{false, true} {
			var values plotter.Values
			for _, row := range rows {
				v := zeroIfNaN(row.Values[i])
				if row.Firn != own {
					v = 0
				}
				values = append(values, v)
			}
			bars, err := plotter.NewBarChart(values, barWidth-1)
			if err != nil {
				return nil, err
			}
			bars.Horizontal, bars.Offset, bars.LineStyle.Width = true, offset, 0
			bars.Color = peers[i].color()
			if own {
				bars.Color = firn[i].color()
			}
			p.Add(bars)
			if c.Series[i] != "" {
				owner := "others, "
				if own {
					owner = "Firn, "
				}
				p.Legend.Add(owner+c.Series[i], bars)
			}
		}
		notes := plotter.XYLabels{}
		for y, row := range rows {
			notes.XYs = append(notes.XYs, plotter.XY{X: zeroIfNaN(row.Values[i]), Y: float64(y)})
			notes.Labels = append(notes.Labels, row.Notes[i])
		}
		beside, err := plotter.NewLabels(notes)
		if err != nil {
			return nil, err
		}
		beside.Offset = vg.Point{X: 4, Y: offset}
		for j := range beside.TextStyle {
			beside.TextStyle[j] = style(fontSize-1, rows[j].Firn)
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

	height := vg.Length(len(rows))*(vg.Length(len(c.Series))*barWidth+rowGap) + 100
	canvas := vgsvg.New(chartWidth, height)
	p.Draw(draw.Crop(draw.New(canvas), margin, -margin, margin, -margin))
	var svg bytes.Buffer
	if _, err := canvas.WriteTo(&svg); err != nil {
		return nil, err
	}
	return adapt(svg.Bytes())
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

// Save writes each chart to a directory.
func Save(dir string, charts []Chart) error {
	for _, c := range charts {
		svg, err := c.Draw()
		if err != nil {
			return fmt.Errorf("chart %s: %w", c.File, err)
		}
		if err := os.WriteFile(filepath.Join(dir, c.File+".svg"), svg, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// Digits returns a value with three significant digits or more, and no zeros at the end; "" for no
// value.
func Digits(v float64) string {
	if math.IsNaN(v) {
		return ""
	}
	places := 0
	switch a := math.Abs(v); {
	case a < 1:
		places = 3
	case a < 10:
		places = 2
	case a < 100:
		places = 1
	}
	s := strconv.FormatFloat(v, 'f', places, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
