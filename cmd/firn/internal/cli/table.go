package cli

import (
	"strings"

	"github.com/fatih/color"
	"github.com/rivo/uniseg"
)

// A Table has rows of cells in columns. Where lines have too little room, the table leaves out
// columns, and then wraps the last column.
type Table struct {
	Columns []Column
	rows    [][]string
}

// A Column is a column of a Table.
type Column struct {
	// Head stands above the column. Neighbours with the same head have it once.
	Head string
	// Drop says which columns go first where there is too little room: the lowest number above 0.
	// Columns with the same number go together. A column with 0 stays.
	Drop int
	// Pen returns the colour of a cell. Pen may be nil, and so may the colour.
	Pen func(cell string) *color.Color
}

// gap is the room between two columns, and the indent of a last column with lines of its own.
const gap = 2

// narrow is the least room for a last column beside the others.
const narrow = 20

// Add adds a row with a cell for each column. Cells that are missing at the end are empty.
func (t *Table) Add(cells ...string) {
	t.rows = append(t.rows, append(cells, make([]string, len(t.Columns)-len(cells))...))
}

// Lines returns the head and the rows, in lines of at most so many columns unless a word is longer.
func (t *Table) Lines(columns int) []string {
	shown, widths := t.fit(columns)
	last := shown[len(shown)-1]
	start := 0 // of the last column
	for _, c := range shown[:len(shown)-1] {
		start += widths[c] + gap
	}
	below := columns-start < min(narrow, widths[last])
	if below {
		start = gap
	}
	lines := []string{t.head(shown, widths, below)}
	for _, row := range t.rows {
		var line strings.Builder
		for _, c := range shown[:len(shown)-1] {
			line.WriteString(t.paint(c, row[c]) + strings.Repeat(" ", widths[c]+gap-uniseg.StringWidth(row[c])))
		}
		text := Wrap(row[last], columns-start, strings.Repeat(" ", start))
		if below && text != "" {
			lines = append(lines, strings.TrimRight(line.String(), " "))
			line.Reset()
			line.WriteString(strings.Repeat(" ", start))
		}
		line.WriteString(t.paint(last, text))
		for part := range strings.SplitSeq(line.String(), "\n") {
			lines = append(lines, strings.TrimRight(part, " "))
		}
	}
	return lines
}

// fit returns the columns with room, and the widths of all columns. Columns without a cell do not
// count.
func (t *Table) fit(columns int) (shown, widths []int) {
	widths = make([]int, len(t.Columns))
	for c := range t.Columns {
		for _, row := range t.rows {
			widths[c] = max(widths[c], uniseg.StringWidth(row[c]))
		}
	}
	for drop := 0; ; {
		shown = shown[:0]
		total, next := -gap, 0
		for c, column := range t.Columns {
			empty := widths[c] == 0 && c < len(t.Columns)-1
			if empty || column.Drop > 0 && column.Drop <= drop {
				continue
			}
			if t.hasHead(shown, c) {
				widths[c] = max(widths[c], uniseg.StringWidth(column.Head))
			}
			shown = append(shown, c)
			total += widths[c] + gap
			if column.Drop > 0 && (next == 0 || column.Drop < next) {
				next = column.Drop
			}
		}
		if total <= columns || next == 0 {
			return shown, widths
		}
		drop = next
	}
}

// hasHead reports whether the head of a column is written, after the columns before.
func (t *Table) hasHead(before []int, c int) bool {
	return len(before) == 0 || t.Columns[before[len(before)-1]].Head != t.Columns[c].Head
}

// head returns the line with the heads. If below is set, the last column has lines of its own.
func (t *Table) head(shown, widths []int, below bool) string {
	var line strings.Builder
	for i, c := range shown {
		head := t.Columns[c].Head
		if !t.hasHead(shown[:i], c) || below && i == len(shown)-1 {
			head = ""
		}
		line.WriteString(head + strings.Repeat(" ", max(widths[c]+gap-uniseg.StringWidth(head), 0)))
	}
	return strings.TrimRight(line.String(), " ")
}

// paint returns the text of a cell in the colour of the column.
func (t *Table) paint(c int, text string) string {
	if pen := t.Columns[c].Pen; pen != nil && text != "" {
		if p := pen(text); p != nil {
			return p.Sprint(text)
		}
	}
	return text
}
