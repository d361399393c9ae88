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
	limit *limited
	name  string
	at    int // index

	read, bad int64 // rows
}

// inspectColumn copies CSV from stdin to stdout, and adds a column with the times of the IDs in the column of a
// name. A row with a bad ID, or without the column, stays, with an empty time.
func (i *inspector) inspectColumn(name string) error {
	limit := &limited{in: i.streams.Input()}
	in := bufio.NewReaderSize(limit, 64<<10)
	const mark = "\ufeff"
	if begin, err := in.Peek(len(mark)); err == nil && string(begin) == mark {
		in.Discard(len(mark))
	}
	begin, _ := in.Peek(in.Buffered())
	header, _, _ := bytes.Cut(begin, []byte("\n"))
	r := csv.NewReader(in)
	r.FieldsPerRecord = -1 // rows may lack columns
	r.LazyQuotes = true    // every input is some CSV
	r.ReuseRecord = true
	w := csv.NewWriter(i.streams.Out)
	w.UseCRLF = bytes.HasSuffix(header, []byte("\r"))
	c := column{inspector: i, limit: limit, name: name}
	names, err := r.Read()
	switch {
	case err == io.EOF:
		return errors.New("no header: stdin is empty, and the first row of CSV names the columns")
	case err != nil:
		return csvError(err)
	}
	if c.at = slices.Index(names, name); c.at < 0 {
		return cli.BadFlag("column", name, "is no column: the header has "+cli.List(names, "and"))
	}
	if slices.Contains(names[c.at+1:], name) {
		return cli.BadFlag("column", name, "names several columns of the header: rename all but the one of the IDs")
	}
	if slices.Contains(names, name+"_time") {
		return cli.BadFlag("column", name, "cannot get a column "+name+"_time beside it: the header has the name already")
	}
	if err := w.Write(slices.Insert(slices.Clone(names), c.at+1, name+"_time")); err != nil {
		return err
	}
	for {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			w.Flush()
			return csvError(err)
		}
		if err := c.row(r, w, row); err != nil {
			return err
		}
	}
	w.Flush()
	return cmp.Or(w.Error(), c.inspector.end(), c.end())
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

// limited is a reader that ends with an error in a row that is too long.
type limited struct {
	in  io.Reader
	row int // bytes since the row began, with those that were read ahead
}

// begin begins a row.
func (l *limited) begin() { l.row = 0 }

func (l *limited) Read(p []byte) (int, error) {
	if l.row > mostRow {
		return 0, fmt.Errorf("a row of CSV is longer than %d MiB: is there a quote without an end?", mostRow>>20)
	}
	n, err := l.in.Read(p)
	l.row += n
	return n, err
}

// row writes a row with the time of its ID.
func (c *column) row(r *csv.Reader, w *csv.Writer, row []string) error {
	c.read++
	c.limit.begin()
	text, bad := "", error(nil)
	switch {
	case c.at >= len(row):
		bad = fmt.Errorf("the row has no column %s", c.name)
	case strings.TrimSpace(row[c.at]) != "": // without an ID, there is no time
		text, bad = c.time(strings.TrimSpace(row[c.at]))
	}
	if bad != nil {
		c.bad++
		line, _ := r.FieldPos(0)
		w.Flush() // rows before come before the error
		if err := c.streams.Out.Flush(); err != nil {
			return err
		}
		cli.Complain(c.streams.Err, fmt.Errorf("line %d: %w", line, bad))
	}
	wide := slices.Clone(row)
	for len(wide) <= c.at {
		wide = append(wide, "")
	}
	return w.Write(slices.Insert(wide, c.at+1, text))
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
	t, timed := r.time()
	switch year := t.Year(); {
	case !timed:
		return "", fmt.Errorf("%s: %s has no time", input, r.kind())
	case year < 0 || year > 9999:
		return "", fmt.Errorf("%s: no time in RFC 3339, which has the years 0 to 9999", input)
	}
	c.noteGuess(input, readings)
	c.weighTime(r)
	return t.Format(time.RFC3339Nano), nil
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
