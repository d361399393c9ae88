package ids

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// A column is a column of IDs in CSV.
type column struct {
	*inspector
	in   tape
	rows *csv.Reader
	line int64 // the number of the first line that no row had before
	name string
	at   int // index

	read, bad int64 // rows
}

// inspectColumn copies CSV from stdin to stdout, and adds a column with the times of the IDs in the column of a
// name. A row with a bad ID, or without the column, stays, with an empty time. All other bytes are those of
// stdin: the library says where a field ends, and the time goes there.
func (i *inspector) inspectColumn(name string) error {
	c := column{inspector: i, in: tape{in: i.streams.Input()}, line: 1, name: name}
	in := bufio.NewReaderSize(&c.in, 64<<10)
	mark := "\ufeff"
	if begin, err := in.Peek(len(mark)); err == nil && string(begin) == mark {
		in.Discard(len(mark))
		c.in.kept.Next(len(mark)) // offsets are those behind the mark
	} else {
		mark = ""
	}
	c.rows = csv.NewReader(in)
	c.rows.FieldsPerRecord = -1 // rows may lack columns
	c.rows.LazyQuotes = true    // every input is some CSV
	c.rows.ReuseRecord = true
	names, err := c.rows.Read()
	switch {
	case err == io.EOF:
		return errors.New("no header: stdin is empty, and the first row of CSV names the columns")
	case err != nil:
		return csvError(err)
	}
	if c.at, err = indexOf(names, name); err != nil {
		return err
	}
	var head bytes.Buffer
	w := csv.NewWriter(&head)
	if err := w.Write([]string{name + "_time"}); err != nil {
		return err
	}
	w.Flush()
	i.streams.Out.WriteString(mark)
	row, err := c.insert(names, strings.TrimSuffix(head.String(), "\n"))
	for err == nil {
		if names, err = c.rows.Read(); err == nil {
			row, err = c.row(names)
		}
	}
	if err != io.EOF {
		return cmp.Or(i.streams.Out.Flush(), csvError(err))
	}
	i.streams.Out.Write(c.in.kept.Bytes()) // empty lines
	return cmp.Or(c.checkEnd(row), c.inspector.end(), c.end())
}

// indexOf returns the index of the column of a name.
func indexOf(names []string, name string) (int, error) {
	at := slices.Index(names, name)
	switch {
	case at < 0 && len(names) == 1 && strings.ContainsAny(names[0], ";\t|"):
		return 0, cli.BadFlag("column", name, fmt.Sprintf("is no column: the header has the one column %q, and commas separate columns", names[0]))
	case at < 0:
		return 0, cli.BadFlag("column", name, "is no column: the header has "+cli.List(names, "and"))
	case slices.Contains(names[at+1:], name):
		return 0, cli.BadFlag("column", name, "names several columns of the header: rename all but the one of the IDs")
	case slices.Contains(names, name+"_time"):
		return 0, cli.BadFlag("column", name, "cannot get a column "+name+"_time beside it: the header has the name already")
	}
	return at, nil
}

// csvError returns the error of malformed CSV, which has the line, in the words of the command.
func csvError(err error) error {
	var e *csv.ParseError
	if errors.As(err, &e) {
		return fmt.Errorf("line %d, column %d: malformed CSV: %w: the rows before are written", e.Line, e.Column, e.Err)
	}
	return err
}

// mostRow is the length of the longest row in bytes. A quote that has no end makes a row of the whole rest.
const mostRow = 64 << 20

// A tape is a reader that keeps what it has read. A row that is too long is an error.
type tape struct {
	in   io.Reader
	kept bytes.Buffer // what is read, and in no row yet
	off  int64        // of kept in the input
}

func (t *tape) Read(p []byte) (int, error) {
	if t.kept.Len() > mostRow {
		return 0, fmt.Errorf("a row of CSV is longer than %d MiB: is there a quote without an end?", mostRow>>20)
	}
	n, err := t.in.Read(p)
	t.kept.Write(p[:n])
	return n, err
}

// next returns the bytes up to an offset of the input. The bytes are valid until the next call.
func (t *tape) next(to int64) []byte {
	p := t.kept.Next(int(to - t.off))
	t.off = to
	return p
}

// insert writes the last row that was read, with a further field behind the column. insert returns the row
// as the input has it.
func (c *column) insert(fields []string, text string) (row []byte, err error) {
	row = c.in.next(c.rows.InputOffset())
	end := len(bytes.TrimSuffix(bytes.TrimSuffix(row, []byte("\n")), []byte("\r")))
	if c.at+1 < len(fields) {
		line, column := c.rows.FieldPos(c.at + 1)
		end = 0
		for range int64(line) - c.line {
			end += bytes.IndexByte(row[end:], '\n') + 1
		}
		end += column - 2 // from 1, and before the comma
	}
	c.line += int64(bytes.Count(row, []byte("\n")))
	out := c.streams.Out
	out.Write(row[:end])
	for range c.at + 1 - len(fields) {
		out.WriteByte(',')
	}
	out.WriteByte(',')
	out.WriteString(text)
	_, err = out.Write(row[end:])
	return row, err
}

// row writes a row with the time of its ID.
func (c *column) row(fields []string) ([]byte, error) {
	c.read++
	text, bad := "", error(nil)
	switch {
	case c.at >= len(fields):
		bad = fmt.Errorf("the row has no column %s", c.name)
	case strings.TrimSpace(fields[c.at]) != "": // without an ID, there is no time
		text, bad = c.time(strings.TrimSpace(fields[c.at]))
	}
	line, _ := c.rows.FieldPos(0)
	row, err := c.insert(fields, text)
	if err == nil && bad != nil {
		err = c.refuse(line, bad)
	}
	return row, err
}

// refuse reports a bad row, which is written.
func (c *column) refuse(line int, bad error) error {
	c.bad++
	if err := c.streams.Out.Flush(); err != nil {
		return err
	}
	cli.Complain(c.streams.Err, fmt.Errorf("line %d: %w", line, bad))
	return nil
}

// checkEnd reports a last row that has a quote without an end. A further line is a row of its own otherwise.
func (c *column) checkEnd(row []byte) error {
	line := c.line - int64(bytes.Count(row, []byte("\n")))
	r := csv.NewReader(io.MultiReader(bytes.NewReader(bytes.TrimSuffix(row, []byte("\n"))), strings.NewReader("\n0\n")))
	r.FieldsPerRecord, r.LazyQuotes = -1, true
	rows, err := r.ReadAll()
	if err != nil {
		return csvError(err)
	}
	if len(rows) > 1 {
		return nil
	}
	return c.refuse(int(line), errors.New("a quote without an end: the row goes on to the end of the input"))
}

// time returns the time of an ID as a text.
func (c *column) time(input string) (string, error) {
	readings, err := c.scanner.read(input)
	if err != nil {
		return "", err
	}
	r, err := c.chosen(input, readings)
	if err != nil {
		return "", err
	}
	switch year := r.time.Year(); {
	case !r.timed:
		return "", fmt.Errorf("%s: %s has no time", input, r.kind())
	case year < 0 || year > 9999:
		return "", fmt.Errorf("%s: no time in RFC 3339, which has the years 0 to 9999", input)
	}
	c.noteGuess(input, readings)
	c.weighTime(r)
	return r.time.Format(time.RFC3339Nano), nil
}

// end says how many rows were bad.
func (c *column) end() error {
	if c.bad == 0 {
		return nil
	}
	have := " rows have"
	if c.bad == 1 {
		have = " rows has"
	}
	return errors.New(strconv.FormatInt(c.bad, 10) + " of " + strconv.FormatInt(c.read, 10) + have + " no time: see the errors above")
}
