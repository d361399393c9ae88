package diagram

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// TestLines: whatever the values and the columns, the lines of each field lead from the label to the bits,
// and everything fits.
func TestLines(t *testing.T) {
	var layouts []snowflakesi.Layout
	for _, clock := range []int{40, 41} {
		for machine := range 53 - clock + 1 {
			layouts = append(layouts, snowflakesi.Layout{ClockBits: clock, MachineBits: cmp.Or(machine, snowflakesi.NoMachineBits)})
		}
	}
	for _, f := range inspect.Formats() {
		digits := 2 * f.Descriptor().Size
		for _, layout := range layouts {
			for _, id := range []string{
				strings.Repeat("0", digits),
				strings.Repeat("0", digits-14) + "1" + strings.Repeat("f", 13), // the largest of 53 bits
				"7" + strings.Repeat("f", digits-1),
				strings.Repeat("f", digits),
			} {
				info, err := f.Inspect(id, inspect.Hex, inspect.Settings{ClockBits: layout.ClockBits, MachineBits: layout.MachineBits})
				if err != nil {
					continue
				}
				for _, columns := range []int{60, 61, 64, 66, 67, 68, 70, 72, 79, 80, 81, 200} {
					checkDiagram(t, info, columns)
				}
			}
		}
	}
}

// fieldsOf returns the bits and the fields of an ID.
func fieldsOf(info inspect.Info) (bits string, fields []Field) {
	binary, _ := hex.DecodeString(info.Hex)
	for _, f := range info.Fields {
		fields = append(fields, Field{f.Name, f.Bits, f.Value})
	}
	return Bits(binary), fields
}

// Terminals of fewer columns get a list.
func TestList(t *testing.T) {
	f, _ := inspect.Lookup("scru160")
	info, err := f.Inspect("05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6", inspect.Text, inspect.Settings{})
	testkit.OK(t, err)
	bits, fields := fieldsOf(info)
	var w bytes.Buffer
	Write(&w, cli.NewPens(false), bits, fields, 59)
	const want = "timestamp  48 bits  1631540490683\ncounter    16 bits  13173\nrandom16   16 bits  1873\nrandom80   80 bits  1111596092680025142631814\n"
	if w.String() != want {
		t.Errorf("%s", &w)
	}
}

func checkDiagram(t *testing.T, info inspect.Info, columns int) {
	t.Helper()
	var plain, coloured bytes.Buffer
	want, fields := fieldsOf(info)
	Write(&plain, cli.NewPens(false), want, fields, columns)
	Write(&coloured, cli.NewPens(true), want, fields, columns)
	if ansi.ReplaceAllString(coloured.String(), "") != plain.String() {
		t.Errorf("colours change the text:\n%s%q", &plain, &coloured)
	}

	var rows [][]rune
	for line := range strings.Lines(plain.String()) {
		rows = append(rows, []rune(strings.TrimSuffix(line, "\n")))
	}
	at := func(row, column int) rune {
		if column < len(rows[row]) {
			return rows[row][column]
		}
		return ' '
	}
	bits, labels := "", map[string]string{}
	for row, line := range rows {
		text := string(line)
		if len(line) > min(columns, 80) {
			t.Errorf("%d columns: %s", len(line), text)
		}
		if strings.Trim(text, "01 ") == "" && text != "" {
			bits += strings.ReplaceAll(text, " ", "")
			continue
		}
		column := slices.Index(line, '┘')
		if column < 0 {
			continue // brackets, or a field of no bits
		}
		up := row - 1
		for at(up, column) == '│' && at(up-1, column) != '0' && at(up-1, column) != '1' {
			up--
		}
		if c := at(up, column); c != '┤' && c != '│' {
			t.Errorf("the line of %q leads nowhere:\n%s", text, &plain)
			continue
		}
		first := column
		if at(up, column) == '┤' {
			for first--; first >= 0 && at(up, first) == '─'; first-- {
			}
		}
		field := strings.Fields(text)
		if at(up, max(first, 0)) != '└' && first != column { // the field began in the row above
			first++
		}
		labels[field[0]] = strings.Join(field[1:4], " ") + " " + string(rows[up-1][first:column+1])
	}

	if bits != want {
		t.Errorf("bits %s, not %s:\n%s", bits, want, &plain)
	}
	at0 := len(bits)
	for _, f := range slices.Backward(info.Fields) {
		if f.Bits == 0 {
			continue
		}
		unit := "bits"
		if f.Bits == 1 {
			unit = "bit"
		}
		want, all := fmt.Sprintf("%d %s %s ", f.Bits, unit, f.Value), bits[at0-f.Bits:at0]
		got, ok := strings.CutPrefix(labels[f.Name], want)
		if !ok || got != all && (f.Bits <= columns || got == "" || !strings.HasSuffix(all, got)) {
			t.Errorf("%s leads to %q, not %q:\n%s", f.Name, labels[f.Name], want+all, &plain)
		}
		at0 -= f.Bits
	}
}
