//go:build unix

package main

import (
	"bytes"
	"fmt"
	"image/color"
	"strings"

	svg "github.com/ajstarks/svgo/float"
	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/ansi"
)

// Sizes in pixels. The font's characters are 0.6 of its size wide, in every usual font for terminals;
// textLength corrects the rest.
const (
	fontSize   = 14.0
	cellWidth  = 8.4
	lineHeight = 16.3
	margin     = 16.0
	bar        = 34.0 // the title of the window
)

// The window is dark on every page. The colours have a contrast of at least 4.5 to the background.
const (
	paper = "#16181d"
	ink   = "#d8dee9"
	frame = "#3b4252"
	faint = "#8a93a5"
)

// palette has the 16 basic colours.
var palette = [16]string{
	"#4c566a", "#ef8891", "#a3d17f", "#ebcb8b", "#88aef0", "#d79ce8", "#6fd0d6", "#d8dee9",
	"#8a93a5", "#ff9ca5", "#bbe89a", "#ffe0a3", "#a5c4ff", "#e9b5f7", "#8fe6ea", "#ffffff",
}

// A span is neighbouring cells of one style.
type span struct {
	at    int // column
	cells int
	text  string
	style uv.Style
}

// lines returns the spans of each line down to the last line with a character.
func (s *screen) lines() (lines [][]span) {
	last := 0
	for y := range rows {
		var spans []span
		for x := 0; x < s.columns; x++ {
			c := s.CellAt(x, y)
			if c == nil || c.Width == 0 {
				continue
			}
			text := c.Content
			if text == "" {
				text = " "
			}
			if n := len(spans); n > 0 && spans[n-1].style.Equal(&c.Style) {
				spans[n-1].text += text
				spans[n-1].cells += c.Width
			} else {
				spans = append(spans, span{x, c.Width, text, c.Style})
			}
		}
		lines = append(lines, spans)
		for _, r := range spans {
			if strings.TrimSpace(r.text) != "" {
				last = y + 1
			}
		}
	}
	return lines[:last]
}

// draw returns the picture of the screen, with a title.
func (s *screen) draw(title string) []byte {
	lines := s.lines()
	width := 2*margin + cellWidth*float64(s.columns)
	height := bar + margin + lineHeight*float64(len(lines)) + margin/2
	var out bytes.Buffer
	p := svg.New(&out)
	p.Startview(width, height, 0, 0, width, height)
	p.Title(title)
	p.Roundrect(0.5, 0.5, width-1, height-1, 8, 8, "fill:"+paper+";stroke:"+frame)
	for i, c := range []string{"#ef8891", "#ebcb8b", "#a3d17f"} {
		p.Circle(margin+4+18*float64(i), bar/2, 5, "fill:"+c)
	}
	p.Group(fmt.Sprintf(`font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono','Liberation Mono',monospace" font-size="%g" fill="%s" xml:space="preserve"`, fontSize, ink))
	for y, spans := range lines {
		for _, r := range spans {
			r.draw(p, bar+margin/2+lineHeight*float64(y))
		}
	}
	p.Gend()
	p.End()
	return out.Bytes()
}

// draw draws a span whose line begins at a height.
func (r span) draw(p *svg.SVG, top float64) {
	lead := len(r.text) - len(strings.TrimLeft(r.text, " "))
	text := strings.Trim(r.text, " ")
	left := margin + cellWidth*float64(r.at)
	foreground, background := ink, ""
	if r.style.Fg != nil {
		foreground = hex(r.style.Fg)
	}
	if r.style.Bg != nil {
		background = hex(r.style.Bg)
	}
	if r.style.Attrs&uv.AttrReverse != 0 {
		foreground, background = paper, foreground
	}
	if background != "" {
		p.Rect(left, top, cellWidth*float64(r.cells), lineHeight, "fill:"+background)
	}
	if text == "" {
		return
	}
	var style []string
	if r.style.Attrs&uv.AttrFaint != 0 && r.style.Fg == nil {
		foreground = faint
	}
	if foreground != ink {
		style = append(style, `fill="`+foreground+`"`)
	}
	if r.style.Attrs&uv.AttrBold != 0 {
		style = append(style, `font-weight="bold"`)
	}
	if r.style.Underline != 0 {
		style = append(style, `text-decoration="underline"`)
	}
	cells := r.cells - (len(r.text) - len(text)) // the spaces have one cell each
	style = append(style, fmt.Sprintf(`textLength="%.1f"`, cellWidth*float64(cells)), `lengthAdjust="spacingAndGlyphs"`)
	p.Text(left+cellWidth*float64(lead), top+0.77*lineHeight, text, style...)
}

// hex returns a colour as in CSS.
func hex(c color.Color) string {
	switch c := c.(type) {
	case ansi.BasicColor:
		return palette[c]
	case ansi.IndexedColor:
		if c < 16 {
			return palette[c]
		}
	}
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
