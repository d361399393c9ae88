package intake

import (
	"bytes"
	"io"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/ages"
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

	ids     *inspect.Reader
	text    func(dst, text []byte) ([]byte, error) // reads a text of the greatest length; nil if ids has to check more
	id      []byte
	written Written // how the last ID was written

	// Texts of the greatest length are read in runs of lines.
	lines func(dst, text []byte) ([]byte, int) // nil if they are not
	run   []byte                               // the IDs of a run that Next has not returned yet
	room  []byte                               // of a run
	alone int                                  // how many lines to read one by one before the next run

	// For IDs anywhere in lines.
	first, last time.Time // of plausible times
	inWord      bool      // the bytes at start continue a word that is too long for an ID
}

// Open returns a Reader of the IDs of in.
func (s Source) Open(in io.Reader) *Reader {
	d := s.Format.Descriptor()
	now := time.Now()
	r := &Reader{of: s, in: in, buf: make([]byte, bufferSize), id: make([]byte, 0, d.Size)}
	guesses := ages.At(now)
	r.first = guesses.First()
	r.last = now.AddDate(1, 0, 0) // firn verify counts IDs of the future, of which package inspect expects none
	r.ids, r.err = s.Format.NewReader(inspect.Settings(s.Settings))
	if s.Shape.Micro == 0 && (s.Detect || s.Form == inspect.Text) {
		r.text = d.Reader()
		if d.Lines != nil {
			r.lines = d.Lines()
		}
	}
	return r
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
	if len(r.run) > 0 || r.lines != nil && r.nextRun() {
		size := cap(r.id)
		id, r.run = r.run[:size:size], r.run[size:]
		r.line++
		return id, r.line, nil
	}
	for {
		text, err := r.nextLine()
		if err == cli.ErrLongLine {
			return nil, r.line, &BadLine{r.line, err}
		}
		if err != nil {
			return nil, r.line, err
		}
		if r.text != nil && len(text) == r.of.Format.Descriptor().Text.Most { // nearly all lines
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

// nextRun reads a run of lines that are texts of the greatest length. ok is false if the next line is another one,
// or not whole in the buffer.
func (r *Reader) nextRun() (ok bool) {
	if r.alone > 0 {
		r.alone--
		return false
	}
	var n int
	r.room, n = r.lines(r.room[:0], r.buf[r.start:r.end])
	if n == 0 {
		const patience = 16 // lines: a file of other forms has no run
		r.alone = patience
		return false
	}
	r.start += n * (r.of.Format.Descriptor().Text.Most + 1)
	r.run, r.written = r.room, AsText
	return true
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
	text = bytes.TrimSuffix(text, []byte("\r"))
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

// fill reads more bytes behind those that are not used yet. The buffer has room: a caller of fill has at
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
func (r *Reader) parse(text []byte) (id []byte, err error) {
	if !r.of.Detect {
		r.written = writtenForms[r.of.Form]
		return r.ids.AppendReadAs(r.id[:0], text, r.of.Form)
	}
	id, err = r.ids.AppendRead(r.id[:0], text)
	if bare := Unquoted(text); err != nil && len(bare) < len(text) {
		text = bare
		id, err = r.ids.AppendRead(r.id[:0], text)
	}
	r.written = r.writtenAs(text)
	return id, err
}

var writtenForms = [...]Written{inspect.Text: AsText, inspect.Int: AsInt, inspect.Hex: AsHex, inspect.Base36: AsText, inspect.UUID: AsUUID}

// writtenAs returns how an ID was written whose form was detected.
func (r *Reader) writtenAs(text []byte) Written {
	d := r.of.Format.Descriptor()
	alphabet := d.Text.Digits
	if d.Text.AnyCase {
		alphabet += strings.ToUpper(alphabet) + strings.ToLower(alphabet)
	}
	switch n := len(text); {
	case n >= d.Text.Least && n <= d.Text.Most && len(bytes.Trim(text, alphabet)) == 0:
		return AsText
	case d.Integer() && len(bytes.Trim(text, "0123456789")) == 0:
		return AsInt
	case d.AppendUUID != nil && n != 2*d.Size && n != len("0x")+2*d.Size:
		return AsUUID
	}
	return AsHex
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
