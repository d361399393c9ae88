package cli

import (
	"cmp"
	"fmt"
	"io"
	"runtime"
)

// Input returns stdin for commands that read IDs until the end of stdin. A read first flushes stdout: a
// program that writes a line and waits gets the answer. On a terminal, the first read says that the command
// waits, and how to end the input.
func (s *Streams) Input() io.Reader {
	if s.Asks {
		return flushing{&typed{Streams: s}, s.Out}
	}
	return flushing{s.In, s.Out}
}

// typed is input from a terminal.
type typed struct {
	*Streams
	said bool
}

func (t *typed) Read(p []byte) (int, error) {
	if !t.said {
		t.said = true
		key := "Ctrl-D"
		if runtime.GOOS == "windows" {
			key = "Ctrl-Z and Enter"
		}
		fmt.Fprintf(t.Err, "firn: reading %s from the terminal, one a line: %s ends them\n", cmp.Or(t.Reads, "IDs"), key)
	}
	return t.In.Read(p)
}
