package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the length of the longest line in bytes. IDs are far shorter.
const MaxLine = 4096

// ErrLongLine is the error for a longer line.
var ErrLongLine = fmt.Errorf("longer than %d bytes", MaxLine)

// byteOrderMark begins texts of some systems, and is no part of the first line.
const byteOrderMark = "\ufeff"

// Lines returns the lines of stdin.
func (s *Streams) Lines() *lines { return newLines(s.Input()) }

// lines reads lines in constant memory, however long the lines are.
type lines struct {
	r     *bufio.Reader
	begun bool
}

func newLines(r io.Reader) *lines { return &lines{r: bufio.NewReaderSize(r, 16*MaxLine)} }

// Next returns the next line without its end, LF or CRLF. The last line needs no end. With
// ErrLongLine, Next returns the beginning of the line, and the next call goes on with the next
// line. Other errors are final. A byte-order mark before the first line is skipped.
func (l *lines) Next() (string, error) {
	line, err := l.r.ReadSlice('\n')
	if !l.begun {
		l.begun = true
		line = bytes.TrimPrefix(line, []byte(byteOrderMark))
	}
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
