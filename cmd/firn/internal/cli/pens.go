package cli

import (
	"github.com/fatih/color"
)

// Pens are the colours of what people read.
type Pens struct {
	Title  *color.Color
	Faint  *color.Color
	Fields []*color.Color // one after the other, from the most significant field
}

// NewPens returns pens that colour or, for output that is no terminal, write plain text.
func NewPens(colour bool) Pens {
	pen := func(a color.Attribute) *color.Color {
		c := color.New(a)
		if colour {
			c.EnableColor()
		} else {
			c.DisableColor()
		}
		return c
	}
	// The basic colours, which people set to what they can read.
	return Pens{Title: pen(color.Bold), Faint: pen(color.Faint), Fields: []*color.Color{
		pen(color.FgCyan), pen(color.FgYellow), pen(color.FgMagenta), pen(color.FgGreen), pen(color.FgBlue),
	}}
}
