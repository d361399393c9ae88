package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
)

// Input returns stdin for commands that read IDs until the end of stdin. A read first flushes stdout: a
// program that writes a line and waits gets the answer, and bulk input still gives bulk output. On a terminal,
// the first read says that the command waits, and how to end the input.
func (s *Streams) Input() io.Reader { return &input{Streams: s} }

type input struct {
	*Streams
	said bool
}

func (in *input) Read(p []byte) (int, error) {
	if err := in.Out.Flush(); err != nil {
		return 0, err
	}
	if in.Asks && !in.said {
		in.said = true
		key := "Ctrl-D"
		if runtime.GOOS == "windows" {
			key = "Ctrl-Z and Enter"
		}
		fmt.Fprintf(in.Err, "firn: reading %s from the terminal, one a line: %s ends them\n", cmp.Or(in.Reads, "IDs"), key)
	}
	return in.In.Read(p)
}
