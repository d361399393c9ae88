package ids

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/makers"
)

// A table shows many IDs, a line each. The lines go out one by one, so a column only grows: the first lines decide
// about the widths.
type table struct {
	widths []int
	shown  int // columns that the terminal has room for
	begun  bool
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
		if i.width < roomy {
			cells[1] = t.UTC().Format(time.RFC3339)
		}
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

// heads returns the titles of the columns.
func (i *inspector) heads() []string {
	heads := []string{"ID", "TIME", "FORMAT", "AGE"}
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

// begin sets the widths for the titles and the first lines, and leaves out the last columns if the terminal has no
// room for them.
func (t *table) begin(columns int, lines ...[]string) {
	t.widths = make([]int, len(lines[0]))
	for _, cells := range lines {
		t.grow(cells)
	}
	at := 0
	for _, w := range t.widths {
		if at+w > columns && t.shown >= least {
			break
		}
		t.shown++
		at += w + gap
	}
}

const (
	roomy = 64 // columns of the terminal, for a UUID and a time with milliseconds
	least = 2  // columns: the ID and the time
	gap   = 2  // between columns
)

// line returns a line of the table, and before the first line the titles.
func (t *table) line(p cli.Pens, heads, cells []string, columns int) string {
	var text string
	if !t.begun {
		t.begun = true
		text = p.Faint.Sprint(t.format(heads, columns)) + "\n"
	}
	t.grow(cells)
	return text + t.format(cells, columns) + "\n"
}

func (t *table) grow(cells []string) {
	for n, c := range cells {
		t.widths[n] = max(t.widths[n], utf8.RuneCountInString(c))
	}
}

// format returns the cells in their columns. A line that has become too wide ends before.
func (t *table) format(cells []string, columns int) string {
	var line strings.Builder
	at := 0
	for n, c := range cells[:t.shown] {
		if n >= least && at+utf8.RuneCountInString(c) > columns {
			break
		}
		at += t.widths[n] + gap
		fmt.Fprintf(&line, "%-*s", t.widths[n]+gap, c)
	}
	return strings.TrimRight(line.String(), " ")
}
