package cli

import (
	"bufio"
	"errors"
	"io"
	"os"

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
	Last   last // what remains to be done if the process is about to end
}

// outSize is the size of stdout's buffer, and about that of its writes in bulk.
const outSize = 64 << 10

// NewStreams returns the streams of a process.
func NewStreams(stdin, stdout, stderr *os.File) *Streams {
	s := &Streams{In: stdin, Err: stderr, Colour: wantsColour(stdout)}
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

// wantsColour tells whether output to f is coloured: on a terminal that knows colours,
// unless its user said no.
func wantsColour(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}
