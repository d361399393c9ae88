package cli

import (
	"math"
	"os"
	"strings"

	"github.com/mitchellh/go-wordwrap"
	"golang.org/x/term"
)

// Unlimited is the limit of lines that may have any length.
const Unlimited = math.MaxInt32

// Limit returns how many columns lines of stdout may have. A terminal has a width, and so has output
// with $COLUMNS. Other output goes to programs, which want a line for each thing.
func (s *Streams) Limit() int {
	if s.stdout != nil && term.IsTerminal(int(s.stdout.Fd())) || os.Getenv("COLUMNS") != "" {
		return s.Width
	}
	return Unlimited
}

// Wrap breaks a text between words into lines of at most so many columns, counted without the indent.
// All lines but the first begin with the indent. A longer word gets a line of its own.
func Wrap(text string, columns int, indent string) string {
	if columns >= Unlimited {
		return text
	}
	return strings.ReplaceAll(wordwrap.WrapString(text, uint(max(columns, 1))), "\n", "\n"+indent)
}

// Paragraph breaks a text into lines that are easy to read, however wide the terminal is.
func Paragraph(text string, columns int) string {
	const measure = 90
	return wordwrap.WrapString(strings.Join(strings.Fields(text), " "), uint(min(columns, measure))) + "\n"
}
