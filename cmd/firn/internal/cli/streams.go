package cli

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

// Streams are where a command reads and writes.
//
// All of stdout goes through one buffer, so that a write that fails is noticed wherever
// it happens: the buffer keeps the error until the last Flush, in run.
type Streams struct {
	In     io.Reader
	Out    *bufio.Writer
	Err    io.Writer
	Colour bool // out is for eyes that see it
	Width  int  // columns of out

	stdout *os.File
	Last   last // what remains to be done if the process is about to end
}

// outSize is the size of stdout's buffer, and about that of its writes in bulk.
const outSize = 64 << 10

// NewStreams returns the streams of a process.
func NewStreams(stdin, stdout, stderr *os.File) *Streams {
	s := &Streams{In: stdin, Err: stderr, Colour: wantsColour(stdout), stdout: stdout, Width: width(stdout)}
	s.Out = bufio.NewWriterSize(output{stdout, &s.Last}, outSize)
	return s
}

// End writes what is buffered and the error that cmd ended with, if any, and returns the exit code.
// After a signal it ends the process by the signal.
func (s *Streams) End(cmd *cobra.Command, err error) int {
	if flushErr := s.Out.Flush(); err == nil {
		err = flushErr
	}
	var sig Interrupted
	if errors.As(err, &sig) {
		sig.raise()
	}
	return report(s.Err, cmd, err)
}

// wantsColour reports whether output to f is coloured where --color does not decide. $NO_COLOR forbids
// colour and $CLICOLOR_FORCE asks for it; otherwise terminals that know colours get it.
func wantsColour(f *os.File) bool {
	switch force := os.Getenv("CLICOLOR_FORCE"); {
	case os.Getenv("NO_COLOR") != "":
		return false
	case force != "" && force != "0":
		return true
	}
	return os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// colourFlag is the value of --color. To set it sets the streams' Colour.
type colourFlag struct {
	s    *Streams
	text string
}

// AddColour adds --color to a command and the commands below.
func (s *Streams) AddColour(cmd *cobra.Command) {
	cmd.PersistentFlags().Var(&colourFlag{s, "auto"}, "color", "use colour: auto, always or never")
	Complete(cmd, "color", "auto", "always", "never")
}

func (c *colourFlag) Type() string   { return "WHEN" }
func (c *colourFlag) String() string { return c.text }

func (c *colourFlag) Set(text string) error {
	switch text {
	case "auto":
		c.s.Colour = wantsColour(c.s.stdout)
	case "always", "never":
		c.s.Colour = text == "always"
	default:
		return errors.New("is not auto, always or never")
	}
	c.text = text
	return nil
}

// defaultWidth is how many columns output has that is not on a terminal.
const defaultWidth = 80

// width returns how many columns output to f has: $COLUMNS, or else those of the terminal.
func width(f *os.File) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return defaultWidth
}
