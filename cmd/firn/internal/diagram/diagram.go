// Package diagram draws the bits of an ID, and the fields that have the bits.
package diagram

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// The fewest and the most columns of a drawing. With fewer columns, the fields are a list.
const (
	least = 60
	most  = 80 // a small terminal, and the widest field of a format
)

// A Field is bits of an ID.
type Field struct {
	Name string
	Bits int
	Text string // beside the name, such as the value
}

// Write draws bits and fields within the columns of a terminal:
//
//	0 00011011000011110001011110011000101000110 1011111111 000000100111
//	  └───────────────────────────────────────┤ └────────┤ └──────────┤
//	timestamp     41 bits  232434643270 ──────┘          │            │
//	generator_id  10 bits  767 ──────────────────────────┘            │
//	sequence      12 bits  39 ────────────────────────────────────────┘
//
// The fields are from the most significant one. Bits above the fields are zeros. Labels start at the left
// and lines come from the right, so every label has room, however narrow the field is. If the drawing does
// not fit, Write lists the fields.
func Write(w *bytes.Buffer, p cli.Pens, bits string, fields []Field, columns int) {
	cells := cellsOf(p, bits, fields)
	rows := rowsOf(cells, min(columns, most))
	if columns < least || slices.ContainsFunc(rows, func(r row) bool { return r.width() > columns }) {
		for _, c := range cells {
			if c.label != "" {
				fmt.Fprintln(w, c.pen.Sprint(c.label))
			}
		}
		return
	}
	for _, r := range rows {
		r.write(w)
	}
}

// A cell is the bits of a field, or some of them, in a row.
type cell struct {
	bits  string
	label string // "" for zeros above the fields, and for bits whose field goes on in the next row
	pen   *color.Color
	zeros bool // above the fields
	goes  bool // on in the next row
	came  bool // from the row above
	at    int  // column of the first bit
}

// end returns the column of the last bit.
func (c cell) end() int { return c.at + len(c.bits) - 1 }

// cellsOf returns a cell for each field, and one for the zeros above the fields.
func cellsOf(p cli.Pens, bits string, fields []Field) []cell {
	names, digits := 0, 0
	above := len(bits) // the zeros above the fields
	for _, f := range fields {
		names = max(names, len(f.Name))
		digits = max(digits, len(fmt.Sprint(f.Bits)))
		above -= f.Bits
	}
	var cells []cell
	if above > 0 {
		cells = append(cells, cell{bits: bits[:above], pen: p.Faint, zeros: true})
		bits = bits[above:]
	}
	for n, f := range fields {
		unit := "bits"
		if f.Bits == 1 {
			unit = "bit "
		}
		cells = append(cells, cell{
			bits:  bits[:f.Bits],
			label: strings.TrimRight(fmt.Sprintf("%-*s  %*d %s  %s", names, f.Name, digits, f.Bits, unit, f.Text), " "),
			pen:   p.Fields[n%len(p.Fields)],
		})
		bits = bits[f.Bits:]
	}
	return cells
}

// A row is the cells of a line of bits.
type row []cell

// rowsOf distributes cells over rows. Gaps between fields help reading, unless an ID without gaps needs
// fewer rows: brackets and colours show the fields, too.
func rowsOf(cells []cell, columns int) []row {
	wide, narrow := fill(cells, columns, 1), fill(cells, columns, 0)
	if len(narrow) < len(wide) {
		return narrow
	}
	return wide
}

// fill distributes cells over rows, with gaps. A field that is longer than a row goes on in the next row.
func fill(cells []cell, columns, gap int) []row {
	var rows []row
	column := columns
	add := func(c cell) {
		if column+len(c.bits) > columns {
			rows = append(rows, nil)
			column = 0
		}
		c.at = column
		column += len(c.bits)
		if c.bits != "" {
			column += gap
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], c)
	}
	for _, c := range cells {
		for len(c.bits) > columns {
			part := c
			part.bits, part.label, part.goes = c.bits[:columns], "", true
			c.bits, c.came = c.bits[columns:], true
			add(part)
		}
		add(c)
	}
	for _, r := range rows {
		r.shift()
	}
	return rows
}

// shift moves a row to the right until all of its labels end before the bits do.
func (r row) shift() {
	by := 0
	for _, c := range r {
		if c.bits != "" && c.label != "" {
			by = max(by, len(c.label)+2-c.end())
		}
	}
	for n := range r {
		r[n].at += by
	}
}

// width returns the columns that the row takes.
func (r row) width() int {
	columns := 0
	for _, c := range r {
		columns = max(columns, c.end()+1, len(c.label))
	}
	return columns
}

// write writes the bits of a row, and below the bits the labels, each with a line to its bits.
func (r row) write(w *bytes.Buffer) {
	var bits, brackets strings.Builder
	column := 0
	for _, c := range r {
		if c.bits == "" {
			continue
		}
		gap := strings.Repeat(" ", c.at-column)
		column = c.end() + 1
		bits.WriteString(gap + c.pen.Sprint(c.bits))
		brackets.WriteString(gap + c.pen.Sprint(c.bracket()))
	}
	fmt.Fprintf(w, "%s\n%s\n", bits.String(), strings.TrimRight(brackets.String(), " "))
	for n, c := range r {
		if c.label != "" {
			writeLabel(w, c, r[n+1:])
		}
	}
}

// bracket returns the line below the bits, which leads down at the last bit.
func (c cell) bracket() string {
	n := len(c.bits)
	left, right := "└", "┤"
	if c.came {
		left = "─"
	}
	if c.goes {
		right = "─"
	}
	switch {
	case c.zeros:
		return strings.Repeat(" ", n)
	case n == 1 && !c.goes && !c.came:
		return "│"
	case n == 1:
		return right
	}
	return left + strings.Repeat("─", n-2) + right
}

// writeLabel writes a field's label and the line to its bits, and continues the lines of the fields
// after it.
func writeLabel(w *bytes.Buffer, c cell, after []cell) {
	text := c.label
	if c.bits != "" { // a field without bits has only a label
		text += " " + strings.Repeat("─", max(c.end()-len(c.label)-1, 0)) + "┘"
	}
	w.WriteString(c.pen.Sprint(text))
	column := utf8.RuneCountInString(text)
	for _, c := range after {
		if c.bits != "" {
			w.WriteString(strings.Repeat(" ", max(c.end()-column, 0)) + c.pen.Sprint("│"))
			column = c.end() + 1
		}
	}
	w.WriteByte('\n')
}

// Bits returns the digits of a number in binary.
func Bits(binary []byte) string {
	var bits strings.Builder
	for _, v := range binary {
		fmt.Fprintf(&bits, "%08b", v)
	}
	return bits.String()
}
