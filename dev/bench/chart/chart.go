// Package chart draws horizontal bars as SVG, for light and for dark pages.
//
// No place depends on the width of a text, because readers have different fonts: each name has its own line
// above its bars, and the values have their own column.
package chart

import (
	"bytes"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// A Chart has a row for each subject, with a horizontal bar for each series.
type Chart struct {
	File   string // without its ending
	Title  string
	Unit   string
	Series []string // the names of a row's bars; a single bar needs no name
	Rows   []Row
}

// A Row has the bars of a subject.
type Row struct {
	Name   string // for the program; no chart shows the name
	Label  string
	Detail string    // below the label; "" for no such line
	Firn   bool      // the row is Firn's, and has other colours
	Values []float64 // NaN for no bar
}

// A paint is a colour on a light page, and the colour in its place on a dark page.
type paint struct {
	class       string
	light, dark uint32
}

var (
	page  = paint{"page", 0xffffff, 0x0d1117}
	track = paint{"track", 0xeaeef2, 0x21262d} // from a bar to its value
	ink   = paint{"ink", 0x1f2328, 0xe6edf3}
	firn  = []paint{{"firn", 0x0b61a4, 0x58b4ff}, {"firn2", 0x4c9ad4, 0x2f74b5}} // of a row's bars
	peers = []paint{{"peer", 0x6e7277, 0xa0a4a8}, {"peer2", 0x8f9398, 0x666a70}}
)

// paints returns all paints.
func paints() []paint { return slices.Concat([]paint{page, track, ink}, firn, peers) }

// Sizes are in the units of the drawing: pixels, if the page has room. A page of 360 pixels shows the drawing
// at four fifths of its size.
const (
	width     = 400
	margin    = 12
	valueRoom = 68 // right of the bars
	barHeight = 12
	barLine   = 18 // with the value
	rowGap    = 4
	space     = 6 // between parts of a line

	titleSize = 16
	labelSize = 14
	smallSize = 13

	ascent     = 1.1 // of a text of size 1, in the tallest of usual fonts
	lineHeight = 1.4
	widest     = 0.72 // of a character in a long text: a quarter more than in bold Arial
)

// A drawing is the inside of an SVG document, drawn from the top to the bottom.
type drawing struct {
	bytes.Buffer
	y   float64 // the top of what comes next
	err error
}

// text draws a text with its top at y. The text begins at x, or ends there if the anchor is end. An error
// reports a text that needs more room than given.
func (d *drawing) text(x, y, room float64, size int, bold bool, anchor, s string) {
	if d.err == nil && textWidth(s, size) > room {
		d.err = fmt.Errorf("%q needs more room than its line has: shorten the text", s)
	}
	more := ""
	if bold {
		more += ` font-weight="bold"`
	}
	if anchor != "start" {
		more += fmt.Sprintf(` text-anchor="%s"`, anchor)
	}
	fmt.Fprintf(d, "<text class=\"ink\" x=\"%g\" y=\"%.1f\" font-size=\"%d\"%s>%s</text>\n", x, y+ascent*float64(size), size, more, html.EscapeString(s))
}

// line draws a text in a line of its own.
func (d *drawing) line(size int, bold bool, s string) {
	d.text(margin, d.y, width-2*margin, size, bold, "start", s)
	d.y += lineHeight * float64(size)
}

func (d *drawing) rect(p paint, x, y, length, height float64) {
	fmt.Fprintf(d, "<rect class=\"%s\" x=\"%g\" y=\"%.1f\" width=\"%.1f\" height=\"%g\"/>\n", p.class, x, y, length, height)
}

// textWidth returns the width of a text in a wide font.
func textWidth(s string, size int) float64 {
	return widest * float64(size) * float64(utf8.RuneCountInString(s))
}

// wrap breaks a title into lines.
func wrap(s string) []string {
	var lines []string
	for word := range strings.FieldsSeq(s) {
		if last := len(lines) - 1; last >= 0 && textWidth(lines[last]+" "+word, titleSize) <= width-2*margin {
			lines[last] += " " + word
		} else {
			lines = append(lines, word)
		}
	}
	return lines
}

// Draw returns the chart as SVG. An error reports a text that is too long for the chart.
func (c Chart) Draw() ([]byte, error) {
	d := &drawing{y: margin}
	for _, line := range wrap(c.Title) {
		d.line(titleSize, true, line)
	}
	d.line(smallSize, false, c.Unit)
	d.y += rowGap
	for i, series := range c.Series {
		for j, of := range []struct {
			owner string
			paint paint
		}{{"Firn", firn[i]}, {"others", peers[i]}} {
			const swatch, half = barHeight, (width - 2*margin) / 2
			x := margin + float64(j)*half
			d.rect(of.paint, x, d.y+(barLine-swatch)/2, swatch, swatch)
			name := of.owner
			if series != "" {
				name += ", " + series
			}
			d.text(x+swatch+space, d.y, half-swatch-space, smallSize, false, "start", name)
		}
		d.y += barLine
	}
	d.y += 2 * rowGap

	longest := 0.0
	for _, row := range c.Rows {
		for _, v := range row.Values {
			if v > longest { // NaN is not
				longest = v
			}
		}
	}
	for _, row := range c.Rows {
		d.line(labelSize, row.Firn, row.Label)
		if row.Detail != "" {
			d.line(smallSize, false, row.Detail)
		}
		for i, v := range row.Values {
			if math.IsNaN(v) {
				continue
			}
			p := peers[i]
			if row.Firn {
				p = firn[i]
			}
			const full = width - 2*margin - valueRoom
			d.rect(track, margin, d.y+(barLine-barHeight)/2, full, barHeight)
			if longest > 0 {
				d.rect(p, margin, d.y+(barLine-barHeight)/2, v/longest*full, barHeight)
			}
			d.text(width-margin, d.y, valueRoom-space, smallSize, row.Firn, "end", Digits(v))
			d.y += barLine
		}
		d.y += rowGap
	}
	d.y += margin - rowGap
	if d.err != nil {
		return nil, d.err
	}

	var svg bytes.Buffer
	fmt.Fprintf(&svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%.0f\" viewBox=\"0 0 %[1]d %.0[2]f\" font-family=\"%s\">\n<style>\n",
		width, d.y, "Helvetica, Arial, sans-serif")
	for _, p := range paints() {
		fmt.Fprintf(&svg, ".%s { fill: #%06x }\n", p.class, p.light)
	}
	svg.WriteString("@media (prefers-color-scheme: dark) {\n")
	for _, p := range paints() {
		fmt.Fprintf(&svg, "\t.%s { fill: #%06x }\n", p.class, p.dark)
	}
	// A page can be dark on a system that prefers light pages: the chart has its own background.
	fmt.Fprintf(&svg, "}\n</style>\n<rect class=\"%s\" width=\"100%%\" height=\"100%%\" rx=\"6\"/>\n", page.class)
	d.WriteTo(&svg)
	svg.WriteString("</svg>\n")
	return svg.Bytes(), nil
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
