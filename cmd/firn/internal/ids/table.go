package ids

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/makers"
)

// A table shows many IDs, a line each. The lines go out one by one: the titles and the first lines decide about the
// columns and their widths.
type table struct {
	widths []int
	shown  []int // columns that the terminal has room for
}

// cells returns the line of an input: the ID, the time, what the ID is, the age, and what is known of the maker.
func (i *inspector) cells(input string, readings []reading) ([]string, error) {
	r := &readings[0]
	kind := r.kind()
	switch judge(readings) {
	case guess:
		kind += ", a guess"
	case ambiguous:
		kind += fmt.Sprintf(" or %d more", len(readings)-1)
	}
	cells := []string{r.text(), "", kind, ""}
	if r.prefix != "" && r.reader != nil {
		cells[0] = r.prefix + "_" + cells[0]
	}
	if r.timed {
		cells[1], cells[3] = makers.TimeText(r.time), cli.Relative(r.time, i.now)
	}
	if i.line > 0 {
		cells = append([]string{fmt.Sprint(i.line)}, cells...)
	}
	if i.pool != nil {
		m, err := i.pool.Of(i.ctx, r.id)
		if err != nil {
			return nil, err
		}
		return append(cells, fmt.Sprint(m.Worker), m.Short()), nil
	}
	if i.named {
		if s := r.reader.Shape(); s.Worker > 0 {
			cells = append(cells, string(s.Fields[s.Worker].Append(nil, r.id)))
		}
	}
	return cells, nil
}

// Widths of the columns whose cells are known. Only years after 9999 are longer. The longest name, ulidflake-scalable,
// stands alone: where several formats fit, ulidflake comes before.
const (
	timeWidth = len("2006-01-02T15:04:05.000Z")
	kindWidth = len("snowflakesi or 10 more")
	ageWidth  = len("59 minutes ago")
)

// heads returns the titles of the columns. Titles are as wide as the cells will be, if that is known.
func (i *inspector) heads() []string {
	format := "FORMAT"
	if !i.named && i.kind == "" {
		format = fmt.Sprintf("%-*s", kindWidth, format)
	}
	heads := []string{"ID", fmt.Sprintf("%-*s", timeWidth, "TIME"), format, fmt.Sprintf("%-*s", ageWidth, "AGE")}
	if i.line > 0 {
		heads = append([]string{"LINE"}, heads...)
	}
	switch {
	case i.pool != nil:
		return append(heads, "WORKER", "MAKER")
	case i.named:
		if s := i.readers[0].Shape(); s.Worker > 0 {
			heads = append(heads, strings.ToUpper(strings.ReplaceAll(s.Fields[s.Worker].Name, "_", " ")))
		}
	}
	return heads
}

const gap = 2 // between columns

// newTable returns a table for the titles and the first lines. It leaves out columns that the terminal has no room for:
// the age, the columns behind it, the number of the line, and the time. The ID and the kind stay.
func newTable(columns int, lines ...[]string) *table {
	t := new(table)
	heads := lines[0]
	for n := range heads {
		t.shown, t.widths = append(t.shown, n), append(t.widths, longest(lines, n))
	}
	time := slices.IndexFunc(heads, func(head string) bool { return strings.HasPrefix(head, "TIME") })
	kind, age := time+1, time+2
	t.leaveOut(columns, age)
	for n := len(heads) - 1; n > age; n-- {
		t.leaveOut(columns, n)
	}
	if t.shown[len(t.shown)-1] == kind { // nothing has to stand in line behind the kinds
		t.widths[kind] = longest(lines[1:], kind)
	}
	for n := range time - 1 {
		t.leaveOut(columns, n)
	}
	t.leaveOut(columns, time)
	return t
}

// longest returns the width of the longest cell of a column.
func longest(lines [][]string, column int) int {
	w := 0
	for _, cells := range lines {
		w = max(w, utf8.RuneCountInString(cells[column]))
	}
	return w
}

// leaveOut leaves out a column if the table has too little room.
func (t *table) leaveOut(columns, column int) {
	width := -gap
	for _, n := range t.shown {
		width += t.widths[n] + gap
	}
	if width > columns {
		t.shown = slices.DeleteFunc(t.shown, func(n int) bool { return n == column })
	}
}

// line returns the cells in their columns. A cell that is too long pushes the next cells to the right.
func (t *table) line(cells []string) string {
	var line strings.Builder
	start, end := 0, 0 // of the column, and of the line so far
	for _, n := range t.shown {
		if cell := strings.TrimRight(cells[n], " "); cell != "" {
			at := start
			if end > 0 {
				at = max(start, end+gap)
			}
			fmt.Fprintf(&line, "%*s%s", at-end, "", cell)
			end = at + utf8.RuneCountInString(cell)
		}
		start += t.widths[n] + gap
	}
	return line.String()
}
