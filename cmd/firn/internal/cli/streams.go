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

// Streams are the input and output of a command.
//
// All of stdout goes through one buffer. The buffer keeps the first error of a write, and End
// reports it.
type Streams struct {
	In     io.Reader
	Out    *bufio.Writer
	Err    io.Writer
	Colour bool // write Out in colour
	Width  int  // columns of Out

	Reads string // what the lines of In are; "" is IDs

	// Asks reports whether In is a terminal, where somebody can type.
	Asks bool

	stdout  *os.File
	Cleanup cleanup // runs if the process ends early
}

// outSize is the size of the buffer of stdout, and of writes in bulk.
const outSize = 64 << 10

// NewStreams returns the streams of a process.
func NewStreams(stdin, stdout, stderr *os.File) *Streams {
	s := &Streams{In: stdin, Err: stderr, Colour: wantsColour(stdout), stdout: stdout, Width: width(stdout)}
	s.Asks = term.IsTerminal(int(stdin.Fd()))
	s.Cleanup.stdout = &output{file: stdout, remains: &s.Cleanup}
	s.Out = bufio.NewWriterSize(s.Cleanup.stdout, outSize)
	return s
}

// End flushes stdout, writes the error of cmd, if any, and returns the exit code. If a signal ended
// cmd, End ends the process by the signal.
func (s *Streams) End(cmd *cobra.Command, err error) int {
	flushErr := s.Out.Flush()
	if flushErr == nil {
		flushErr = s.Cleanup.stdout.finish()
	}
	if err == nil {
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

// colourFlag is the value of --color. Setting the value sets Colour of the streams.
type colourFlag struct {
	s    *Streams
	text string
}

// AddColour adds --color to cmd and the commands below cmd.
func (s *Streams) AddColour(cmd *cobra.Command) {
	cmd.PersistentFlags().Var(&colourFlag{s, "auto"}, "color", "use color: auto, always or never")
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

// defaultWidth is the width of output to anything but a terminal, in columns.
const defaultWidth = 80

// width returns the columns of output to f: $COLUMNS, or the width of the terminal.
func width(f *os.File) int {
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return n
	}
	if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
		return n
	}
	return defaultWidth
}
