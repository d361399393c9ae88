package stats

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/mitchellh/go-wordwrap"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// The sizes of a picture, in pixels.
const (
	pictureWidth = 960
	margin       = 32
	gap          = 32 // between panels side by side
	halfWidth    = (pictureWidth - 2*margin - gap) / 2
	textLine     = 18 // from one line of text to the next
	titleSpace   = 30 // of a panel, above what it shows
	panelSpace   = 30 // below a panel
)

// style has the colours for light and for dark surroundings.
const style = `text { font: 12px system-ui, -apple-system, Segoe UI, DejaVu Sans, sans-serif; fill: #1f2328 }
.head { font-size: 20px; font-weight: 600 } .title { font-size: 14px; font-weight: 600 } .faint { fill: #59636e }
.end { text-anchor: end }
.ground { fill: #ffffff } .grid { stroke: #d1d9e0; stroke-width: 1 } .bar { fill: #0969da } .bar2 { fill: #8250df } .bar3 { fill: #1a7f37 }
.warn { fill: #bc4c00 } .mean { stroke: #59636e; stroke-width: 1; stroke-dasharray: 4 3 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .faint { fill: #9198a1 } .ground { fill: #0d1117 } .grid { stroke: #3d444d } .bar { fill: #4493f8 } .bar2 { fill: #ab7df8 }
.bar3 { fill: #3fb950 } .warn { fill: #f0883e } .mean { stroke: #9198a1 }
}`

// A picture is a report as SVG.
type picture struct {
	drawing
	bottom int // of what is drawn
}

// writeSVG writes a report as SVG.
func writeSVG(w io.Writer, r *report) error {
	var body bytes.Buffer
	p := picture{newDrawing(&body), margin}
	p.begin("g") // the body is one element
	p.head(r)
	if r.IDs > 0 {
		p.time(r.Time)
		p.pair(func(x int) int { return p.workers(x, r) }, func(x int) int { return p.fill(x, r.Fill) })
		p.pair(func(x int) int {
			return p.spread(x, "by the low bits ("+cli.List(r.Partitions.LowBits.Fields, "and")+")", r.Partitions.LowBits)
		},
			func(x int) int { return p.spread(x, "by a hash (xxHash64)", r.Partitions.Hash) })
	}
	p.end("g")
	if err := p.out.Close(); err != nil {
		return err
	}
	height := p.bottom + margin - panelSpace

	whole := newDrawing(w)
	whole.begin("svg", "xmlns", "http://www.w3.org/2000/svg", "width", pictureWidth, "height", height,
		"viewBox", fmt.Sprintf("0 0 %d %d", pictureWidth, height), "role", "img")
	whole.text("title", "firn stats "+r.Format)
	whole.text("style", style)
	whole.box(0, 0, pictureWidth, height, "ground", "")
	if err := whole.out.Flush(); err != nil {
		return err
	}
	if _, err := w.Write(append([]byte("\n"), body.Bytes()...)); err != nil {
		return err
	}
	whole.end("svg")
	return whole.out.Close()
}

// lines writes text in lines of a width, and returns the height of the lines.
func (p *picture) lines(x, y, width int, text, names string) int {
	const perCharacter = 6.4 // pixels
	lines := strings.Split(wordwrap.WrapString(text, uint(float64(width)/perCharacter)), "\n")
	for i, line := range lines {
		p.words(x, y+i*textLine, line, names)
	}
	return len(lines) * textLine
}

// head writes the summary.
func (p *picture) head(r *report) {
	text := r.Format + ": " + plural(r.IDs, "ID")
	if r.Malformed > 0 {
		text += ", " + plural(r.Malformed, "malformed line")
	}
	p.words(margin, p.bottom+16, text, "head")
	p.bottom += 16 + 24
	if r.IDs > 0 {
		p.words(margin, p.bottom, r.span(), "faint")
		p.bottom += textLine
		for _, text := range append(r.burstTexts(), r.notes()...) {
			p.bottom += p.lines(margin, p.bottom, pictureWidth-2*margin, text, "faint")
		}
	}
	p.bottom += 8
}

// pair draws two panels side by side. Each returns its height.
func (p *picture) pair(left, right func(x int) int) {
	p.bottom += max(left(margin), right(margin+halfWidth+gap)) + panelSpace
}

// time draws the IDs over time.
func (p *picture) time(t timeReport) {
	const height, labels = 180, 64
	x, y, width := margin+labels, p.bottom+titleSpace, pictureWidth-2*margin-labels
	p.words(margin, p.bottom+14, "IDs in each "+t.Unit, "title")
	var most uint64
	for _, b := range t.Bars {
		most = max(most, b.IDs)
	}
	step, rows := scale(most, 5)
	top := step * uint64(rows)
	for i := range rows + 1 {
		at := y + height - i*height/rows
		p.line(x, at, x+width, at, "grid")
		p.words(x-8, at+4, axis(float64(step)*float64(i), top), "faint end")
	}
	const widest = 120
	n := len(t.Bars)
	width = min(width, n*widest)
	for i, b := range t.Bars {
		left, right := x+i*width/n, x+(i+1)*width/n
		p.column(left, y+height, right-left, int(math.Ceil(float64(b.IDs)/float64(top)*height)), "bar", b.Time.Format("2006-01-02 15:04:05.000")+": "+plural(b.IDs, "ID"))
	}
	const dates = 7
	for i := range min(dates, n) {
		at := i * n / min(dates, n)
		left := x + at*width/n
		p.line(left, y+height, left, y+height+5, "grid")
		p.words(left, y+height+20, t.unit.label(t.Bars[at].Time.Time), "faint")
	}
	p.bottom = y + height + 20 + panelSpace
	if text := t.outside(); text != "" {
		p.words(margin, p.bottom-10, text, "faint")
		p.bottom += textLine
	}
}

// column draws a column that stands on a line. With a mouse on it, viewers show the text.
func (p *picture) column(x, bottom, width, height int, names, text string) {
	if height <= 0 {
		return
	}
	space := 0
	if width >= 6 {
		space = 1
	}
	p.box(x+space, bottom-height, max(width-2*space, 1), height, names, text)
}

// workers draws the workers with the most IDs.
func (p *picture) workers(x int, r *report) int {
	w := r.Workers
	if w == nil {
		p.words(x, p.bottom+14, "No workers", "title")
		return titleSpace + p.lines(x, p.bottom+titleSpace+8, halfWidth, "IDs of this format, with these settings, have no number of a worker.", "faint")
	}
	return p.bars(x, w.heading(), w.rows(), r.IDs, "bar2")
}

// fill draws how full the ticks are.
func (p *picture) fill(x int, f *fillReport) int {
	height := p.bars(x, f.heading(), f.rows(), uint64(f.Ticks), "bar3")
	return height + p.lines(x, p.bottom+height+14, halfWidth, f.text(), "faint")
}

// bars draws bars with names, and returns their height.
func (p *picture) bars(x int, title string, rows []row, all uint64, names string) int {
	const height, space, name, share = 16, 6, 70, 60
	p.words(x, p.bottom+14, title, "title")
	var most uint64
	for _, r := range rows {
		most = max(most, r.count)
	}
	room := halfWidth - name - share
	for i, r := range rows {
		y := p.bottom + titleSpace + i*(height+space)
		p.words(x+name-8, y+height-4, r.name, "end")
		width := int(math.Ceil(float64(r.count) / float64(max(most, 1)) * float64(room)))
		p.box(x+name, y, width, height, names, number(r.count))
		p.words(x+halfWidth, y+height-4, percent(float64(r.count)/float64(max(all, 1))), "faint end")
	}
	return titleSpace + len(rows)*(height+space)
}

// spread draws how the IDs spread over partitions.
func (p *picture) spread(x int, name string, e evennessReport) int {
	const height = 90
	p.words(x, p.bottom+14, "Spread over "+number(len(e.IDs))+" partitions", "title")
	p.words(x, p.bottom+14+textLine, name, "faint")
	columns := shrink(e.IDs, halfWidth)
	var most, mean float64
	for _, c := range columns {
		most = max(most, c)
		mean += c / float64(len(columns))
	}
	names := "bar"
	if e.Verdict == skewed || e.Verdict == uneven {
		names = "warn"
	}
	bottom := p.bottom + titleSpace + textLine + height
	for i, c := range columns {
		left, right := x+i*halfWidth/len(columns), x+(i+1)*halfWidth/len(columns)
		p.column(left, bottom, right-left, int(math.Ceil(c/max(most, 1)*height)), names, fmt.Sprintf("%d: %s", i*len(e.IDs)/len(columns), plural(int64(math.Round(c)), "ID")))
	}
	p.line(x, bottom, x+halfWidth, bottom, "grid")
	at := bottom - int(mean/max(most, 1)*height)
	p.line(x, at, x+halfWidth, at, "mean")
	p.words(x, bottom+22, string(e.Verdict), "title")
	return bottom - p.bottom + 22 + textLine + p.lines(x, bottom+22+textLine, halfWidth, e.Reason, "faint")
}
