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
	widths  []int
	shown   []int // columns that the terminal has room for
	time    int   // the column of the times
	seconds bool  // the terminal has no room for milliseconds
	begun   bool
}

// cells returns the line of an input: the ID, the time, what the ID is, the age, and what is known of the maker.
func (i *inspector) cells(input string, readings []*reading) ([]string, error) {
	r := readings[0]
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
	if t, ok := r.time(); ok {
		cells[1], cells[3] = makers.TimeText(t), cli.Relative(t, i.now)
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
	fraction  = len(".000")
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

// begin sets the widths for the titles and the first lines, and leaves out columns that the terminal has no room for:
// the age, the columns behind it, fractions of the time, the number of the line, and the time. The ID and the kind stay.
func (t *table) begin(columns int, lines ...[]string) {
	heads := lines[0]
	for n := range heads {
		t.shown = append(t.shown, n)
		t.widths = append(t.widths, longest(lines, n))
	}
	t.time = slices.IndexFunc(heads, func(head string) bool { return strings.HasPrefix(head, "TIME") })
	kind, age := t.time+1, t.time+2
	t.leaveOut(columns, age)
	for n := len(heads) - 1; n > age; n-- {
		t.leaveOut(columns, n)
	}
	if t.shown[len(t.shown)-1] == kind { // nothing has to stand in line behind the kinds
		t.widths[kind] = max(len("FORMAT"), longest(lines[1:], kind))
	}
	if t.width() > columns {
		t.seconds = true
		t.widths[t.time] -= fraction
	}
	for n := range t.time - 1 {
		t.leaveOut(columns, n)
	}
	t.leaveOut(columns, t.time)
}

// leaveOut leaves out a column if the table has too little room.
func (t *table) leaveOut(columns, column int) {
	if t.width() > columns {
		t.shown = slices.DeleteFunc(t.shown, func(n int) bool { return n == column })
	}
}

// longest returns the width of the longest cell of a column.
func longest(lines [][]string, column int) int {
	w := 0
	for _, cells := range lines {
		w = max(w, utf8.RuneCountInString(cells[column]))
	}
	return w
}

// width returns the width of the table.
func (t *table) width() int {
	w := -gap
	for _, n := range t.shown {
		w += t.widths[n] + gap
	}
	return w
}

// line returns a line of the table, and before the first line the titles.
func (t *table) line(p cli.Pens, heads, cells []string, columns int) string {
	var text string
	if !t.begun {
		t.begun = true
		text = p.Faint.Sprint(t.format(heads)) + "\n"
	}
	if t.seconds {
		if whole, _, ok := strings.Cut(cells[t.time], "."); ok {
			cells[t.time] = whole + "Z"
		}
	}
	t.grow(columns, cells)
	return text + t.format(cells) + "\n"
}

// grow widens the columns for the cells while the terminal has room.
func (t *table) grow(columns int, cells []string) {
	for _, n := range t.shown {
		if more := utf8.RuneCountInString(cells[n]) - t.widths[n]; more > 0 && t.width()+more <= columns {
			t.widths[n] += more
		}
	}
}

// format returns the cells in their columns. A cell that is too long pushes the next cells to the right.
func (t *table) format(cells []string) string {
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
