package cli

import (
	"github.com/fatih/color"
)

// Pens are the colours of what people read.
type Pens struct {
	Title  *color.Color
	Faint  *color.Color
	Fields []*color.Color // used in turn, from the most significant field
}

// Pen returns a pen that writes in colour, or plain text.
func Pen(colour bool, a color.Attribute) *color.Color {
	c := color.New(a)
	if colour {
		c.EnableColor()
	} else {
		c.DisableColor()
	}
	return c
}

// NewPens returns pens that write in colour, or plain text.
func NewPens(colour bool) Pens {
	pen := func(a color.Attribute) *color.Color { return Pen(colour, a) }
	// The basic colours: people set them to what they can read.
	return Pens{Title: pen(color.Bold), Faint: pen(color.Faint), Fields: []*color.Color{
		pen(color.FgCyan), pen(color.FgYellow), pen(color.FgMagenta), pen(color.FgGreen), pen(color.FgBlue),
	}}
}
