package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the length of the longest line that is read, in bytes. IDs are far shorter.
const MaxLine = 4096

// ErrLongLine is the error for a line that is longer.
var ErrLongLine = fmt.Errorf("longer than %d bytes", MaxLine)

// lines reads lines, in constant memory whatever comes.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) lines { return lines{bufio.NewReaderSize(r, 16*MaxLine)} }

// Next returns the next line without its end, LF or CRLF, which the last one may lack.
// With ErrLongLine it returns the beginning of the line, and goes on with the next line; other errors are
// the end.
func (l lines) Next() (string, error) {
	line, err := l.r.ReadSlice('\n')
	beginning := ""
	for errors.Is(err, bufio.ErrBufferFull) {
		if beginning == "" {
			beginning = string(line[:MaxLine])
		}
		_, err = l.r.ReadSlice('\n')
	}
	if err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && beginning == "") {
		return "", err
	}
	line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
	if beginning != "" {
		return beginning, ErrLongLine
	}
	if len(line) > MaxLine {
		return string(line[:MaxLine]), ErrLongLine
	}
	return string(line), nil
}

// flushing flushes out before each read from r: who writes lines and waits for their
// answers gets them, and bulk is still written in bulk.
type flushing struct {
	r   io.Reader
	out *bufio.Writer
}

func (f flushing) Read(p []byte) (int, error) {
	if err := f.out.Flush(); err != nil {
		return 0, err
	}
	return f.r.Read(p)
}
