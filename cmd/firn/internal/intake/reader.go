package intake

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/inspect"
)

// bufferSize is how much a Reader reads at a time. Pipes hold 64 KiB, files want more.
const bufferSize = 256 << 10

// mark is the byte-order mark, which some programs write at the beginning of a file.
var mark = []byte("\xef\xbb\xbf")

// A Reader reads the IDs of an input in constant memory, however long the lines are. A Reader is for one
// goroutine.
type Reader struct {
	of  Source
	in  io.Reader
	err error // of in

	buf        []byte
	start, end int   // of the bytes that are not used yet
	read       int64 // from in
	line       int64 // the number of the present line, from 1

	text  func(dst, text []byte) ([]byte, error)
	write func(dst, id []byte) ([]byte, error) // checks what decimals and hex say
	id    []byte
	room  []byte

	written Written // how the last ID was written

	least, most int // lengths that are texts and nothing else
	integer     bool

	// For IDs anywhere in lines.
	first, last time.Time // of plausible times
	inWord      bool      // the bytes at start continue a word that is too long for an ID
}

// Open returns a Reader of the IDs of in.
func (s Source) Open(in io.Reader) *Reader {
	d := s.Format.Descriptor()
	now := time.Now()
	return &Reader{of: s, in: in, buf: make([]byte, bufferSize), text: d.Reader(), write: d.Writer(), id: make([]byte, 0, d.Size),
		least: d.Text.Least, most: d.Text.Most, integer: d.Integer(),
		first: later(time.UnixMilli(s.Shape.Epoch).AddDate(0, 0, 30), now.AddDate(-20, 0, 0)), last: now.AddDate(1, 0, 0)}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Written is how an ID stands in the input.
type Written uint8

// The ways to write an ID.
const (
	AsText Written = iota // or Base36
	AsInt
	AsHex  // with or without 0x
	AsUUID // of formats that can be stored as UUIDs
)

// Written returns how the ID of the last call of Next was written.
func (r *Reader) Written() Written { return r.written }

// Bytes returns how much the Reader has read of its input.
func (r *Reader) Bytes() int64 { return r.read }

// Next returns the binary form of the next ID, and the number of the ID's line, from 1. The binary form is
// valid until the next call. For a line that is no ID the error is a [*BadLine], and the next call goes on
// with the next line. At the end the error is io.EOF. Other errors are final, too.
func (r *Reader) Next() (id []byte, line int64, err error) {
	if r.of.Match {
		return r.nextWord()
	}
	for {
		text, err := r.nextLine()
		if err == cli.ErrLongLine {
			return nil, r.line, &BadLine{r.line, err}
		}
		if err != nil {
			return nil, r.line, err
		}
		if len(text) == r.most && (r.of.Detect || r.of.Form == inspect.Text) { // nearly all lines
			if id, err := r.text(r.id[:0], text); err == nil {
				r.written = AsText
				return id, r.line, nil
			}
		}
		text = bytes.TrimSpace(text)
		if len(text) == 0 {
			continue
		}
		id, err := r.parse(text)
		if err != nil {
			err = &BadLine{r.line, err}
		}
		return id, r.line, err
	}
}

// nextLine returns the next line without its end. The last line needs no end.
func (r *Reader) nextLine() ([]byte, error) {
	for from := 0; ; {
		i := bytes.IndexByte(r.buf[r.start+from:r.end], '\n')
		if i >= 0 {
			return r.take(from+i, 1)
		}
		from = r.end - r.start
		if r.err != nil {
			if r.err == io.EOF && from > 0 {
				return r.take(from, 0)
			}
			return nil, r.err
		}
		if from > cli.MaxLine+len("\r") {
			return nil, r.skipLine()
		}
		r.fill()
	}
}

// take returns the next n bytes as a line, and passes over the line's end.
func (r *Reader) take(n, end int) ([]byte, error) {
	text := r.buf[r.start : r.start+n]
	r.start += n + end
	r.line++
	if r.line == 1 {
		text = bytes.TrimPrefix(text, mark)
	}
	if n > 0 && text != nil && len(text) > 0 && text[len(text)-1] == '\r' {
		text = text[:len(text)-1]
	}
	if len(text) > cli.MaxLine {
		return nil, cli.ErrLongLine
	}
	return text, nil
}

// skipLine passes over the rest of a line that is too long.
func (r *Reader) skipLine() error {
	r.line++
	for {
		if i := bytes.IndexByte(r.buf[r.start:r.end], '\n'); i >= 0 {
			r.start += i + 1
			return cli.ErrLongLine
		}
		r.start = r.end
		if r.err == io.EOF {
			return cli.ErrLongLine
		}
		if r.err != nil {
			return r.err
		}
		r.fill()
	}
}

// fill reads more bytes behind those that are not used yet. The buffer has room: whoever calls fill has at
// most a line of the greatest length, or a word.
func (r *Reader) fill() {
	copy(r.buf, r.buf[r.start:r.end])
	r.start, r.end = 0, r.end-r.start
	n, err := r.in.Read(r.buf[r.end:])
	r.end += n
	r.read += int64(n)
	r.err = err
}

// parse reads an ID in the form of the source, or detects the form as package inspect does.
func (r *Reader) parse(text []byte) ([]byte, error) {
	if id, ok := r.fast(text); ok {
		return id, nil
	}
	read := r.of.Format.Read // knows all forms
	if !r.of.Detect {
		read = func(s string, set inspect.Settings) (inspect.Info, error) {
			return r.of.Format.Inspect(s, r.of.Form, set)
		}
	}
	info, err := read(string(text), inspect.Settings(r.of.Settings))
	if bare := Unquoted(text); err != nil && r.of.Detect && len(bare) < len(text) {
		if id, ok := r.fast(bare); ok {
			return id, nil
		}
		info, err = read(string(bare), inspect.Settings(r.of.Settings))
	}
	if err != nil {
		return nil, err
	}
	r.written = r.slowly(text)
	return hex.AppendDecode(r.id[:0], []byte(info.Hex))
}

// slowly returns how an ID was written that the fast functions do not read.
func (r *Reader) slowly(text []byte) Written {
	switch {
	case r.of.Format.Descriptor().AppendUUID != nil && bytes.Count(text, []byte("-")) == 4:
		return AsUUID
	case !r.of.Detect && r.of.Form == inspect.Int:
		return AsInt
	case !r.of.Detect && r.of.Form == inspect.Hex, bytes.Contains(text, []byte("0x")), bytes.Contains(text, []byte("0X")):
		return AsHex
	}
	return AsText
}

// fast reads an ID without an allocation. If ok is false, the text may still be an ID.
func (r *Reader) fast(text []byte) (id []byte, ok bool) {
	if !r.of.Detect {
		return r.fastAs(r.of.Form, text)
	}
	switch n := len(text); {
	case n >= r.least && n <= r.most:
		return r.fastAs(inspect.Text, text)
	case r.integer && onlyDigits(text):
		return r.fastAs(inspect.Int, text)
	case n == 2*cap(r.id):
		return r.fastAs(inspect.Hex, text)
	}
	return nil, false
}

// fastAs is fast for a form.
func (r *Reader) fastAs(form inspect.Form, text []byte) (id []byte, ok bool) {
	var err error
	switch form {
	case inspect.Text:
		id, err = r.text(r.id[:0], text)
		r.written = AsText
		return id, err == nil
	case inspect.Int:
		v, bad := strconv.ParseUint(string(text), 10, 64) // does not keep the string
		if !r.integer || bad != nil || v > math.MaxInt64 || text[0] == '+' {
			return nil, false
		}
		id = binary.BigEndian.AppendUint64(r.id[:0], v)
		r.written = AsInt
	case inspect.Hex:
		if len(text) != 2*cap(r.id) {
			return nil, false
		}
		id, err = hex.AppendDecode(r.id[:0], text)
		r.written = AsHex
	default:
		return nil, false
	}
	if err == nil {
		r.room, err = r.write(r.room[:0], id)
	}
	return id, err == nil
}

// onlyDigits reports whether a text is decimal digits.
func onlyDigits(text []byte) bool {
	for _, c := range text {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(text) > 0
}

// Unquoted returns a text without a trailing comma, and without the quotes around the rest.
func Unquoted(text []byte) []byte {
	text = bytes.TrimSpace(bytes.TrimSuffix(text, []byte(",")))
	for _, quote := range []byte("\"'`") {
		if n := len(text); n >= 2 && text[0] == quote && text[n-1] == quote {
			return bytes.TrimSpace(text[1 : n-1])
		}
	}
	return text
}
