package cli

import (
	"bytes"
	"errors"
	"os"
	"sync"
	"syscall"
)

// An output is stdout. Each write to stdout ends with a whole line, because a signal may end the process
// after any write. The rest waits for the end of its line, or for finish.
//
// A write to a pipe without a reader ends the process, unless HoldPipe is in force. With HoldPipe, the
// output runs the cleanup, which releases the pipe, and writes again: the second write ends the process.
type output struct {
	file    *os.File
	remains *cleanup

	mu   sync.Mutex // held for each write
	rest []byte     // the beginning of a line
}

// mostRest is the length of the longest line that waits for its end.
const mostRest = 1 << 20

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	end := bytes.LastIndexByte(p, '\n') + 1
	if end == 0 && len(o.rest)+len(p) > mostRest {
		end = len(p)
	}
	if end == 0 {
		o.rest = append(o.rest, p...)
		return len(p), nil
	}
	lines := p[:end]
	if len(o.rest) > 0 {
		o.rest = append(o.rest, lines...)
		lines = o.rest
	}
	if n, err := o.write(lines); err != nil {
		return max(0, n-(len(lines)-end)), err
	}
	o.rest = append(o.rest[:0], p[end:]...)
	return len(p), nil
}

// finish writes the beginning of a line that has no end.
func (o *output) finish() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	rest := o.rest
	o.rest = nil
	if len(rest) == 0 {
		return nil
	}
	_, err := o.write(rest)
	return err
}

func (o *output) write(p []byte) (int, error) {
	n, err := o.file.Write(p)
	if errors.Is(err, syscall.EPIPE) {
		o.remains.do()
		var more int
		more, err = o.file.Write(p[n:])
		n += more
	}
	return n, err
}
