package ids

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/inspect"
)

// width is the most columns of a diagram: the columns of a small terminal, and the bits of the
// widest field.
const width = 80

// A cell is a field's bits in a diagram.
type cell struct {
	bits  string
	label string // "" for zeros above the fields
	pen   *color.Color
	at    int // column of its first bit
}

// end returns the column of the last bit.
func (c cell) end() int { return c.at + len(c.bits) - 1 }

// writeFields draws the bits and fields of an ID. If the drawing is too wide, writeFields lists the
// fields.
func writeFields(w *bytes.Buffer, p cli.Pens, info inspect.Info, columns int) {
	var plain bytes.Buffer
	writeDiagram(&plain, cli.NewPens(false), info)
	for line := range strings.Lines(plain.String()) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > columns {
			writeList(w, p, info)
			return
		}
	}
	writeDiagram(w, p, info)
}

// writeList writes an ID's fields, a line each.
func writeList(w *bytes.Buffer, p cli.Pens, info inspect.Info) {
	for _, row := range rowsOf(p, info) {
		for _, c := range row {
			if c.label != "" {
				fmt.Fprintln(w, c.pen.Sprint(c.label))
			}
		}
	}
}

// writeDiagram draws an ID's bits, and below the bits the fields, each with a line to its bits:
//
//	0 00011011000011110001011110011000101000110 1011111111 000000100111
//	  └───────────────────────────────────────┤ └────────┤ └──────────┤
//	timestamp     41 bits  232434643270 ──────┘          │            │
//	generator_id  10 bits  767 ──────────────────────────┘            │
//	sequence      12 bits  39 ────────────────────────────────────────┘
//
// Labels start at the left and lines come from the right, so every label has room, however narrow the
// field is.
func writeDiagram(w *bytes.Buffer, p cli.Pens, info inspect.Info) {
	for _, row := range rowsOf(p, info) {
		var bits, brackets strings.Builder
		column := 0
		for _, c := range row {
			if c.bits == "" {
				continue
			}
			gap := strings.Repeat(" ", c.at-column)
			column = c.end() + 1
			bits.WriteString(gap + c.pen.Sprint(c.bits))
			brackets.WriteString(gap + c.pen.Sprint(c.bracket()))
		}
		fmt.Fprintf(w, "%s\n%s\n", bits.String(), brackets.String())
		for n, c := range row {
			if c.label != "" {
				writeLabel(w, c, row[n+1:])
			}
		}
	}
}

// bracket returns the line below the bits, which leads down at the last bit.
func (c cell) bracket() string {
	switch n := len(c.bits); {
	case c.label == "":
		return strings.Repeat(" ", n)
	case n == 1:
		return "│"
	default:
		return "└" + strings.Repeat("─", n-2) + "┤"
	}
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

// rowsOf distributes an ID's fields over rows.
func rowsOf(p cli.Pens, info inspect.Info) [][]cell {
	bits := binaryDigits(info.Hex)
	names := 0
	above := len(bits) // the zeros above the fields
	for _, f := range info.Fields {
		names = max(names, len(f.Name))
		above -= f.Bits
	}
	var cells []cell
	if above > 0 {
		cells = append(cells, cell{bits: bits[:above], pen: p.Faint})
		bits = bits[above:]
	}
	for n, f := range info.Fields {
		cells = append(cells, cell{
			bits:  bits[:f.Bits],
			label: fmt.Sprintf("%-*s  %2d bits  %s", names, f.Name, f.Bits, f.Value),
			pen:   p.Fields[n%len(p.Fields)],
		})
		bits = bits[f.Bits:]
	}

	// Gaps between fields help reading. An ID that fills its rows has no gaps: brackets and colours
	// show the fields too.
	gap := 1
	if len(cells)-1+4*len(info.Hex) > width {
		gap = 0
	}
	var rows [][]cell
	column := width
	for _, c := range cells {
		if column+len(c.bits) > width {
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
	return rows
}

// binaryDigits returns the digits of a hexadecimal number in binary.
func binaryDigits(digits string) string {
	value, _ := hex.DecodeString(digits) // the hex of an ID
	bits := make([]byte, 0, 8*len(value))
	for _, v := range value {
		for n := 7; n >= 0; n-- {
			bits = append(bits, '0'+v>>n&1)
		}
	}
	return string(bits)
}
