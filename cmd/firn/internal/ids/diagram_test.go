package ids

import (
	"bytes"
	"cmp"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/snowflakesi"
)

var update = flag.Bool("update", false, "write testdata/show.golden")

var ansi = regexp.MustCompile("\x1b\\[[0-9;]*m")

// shown are IDs that testdata/show.golden shows.
var shown = []struct {
	format, id string
	layout     snowflakesi.Layout
}{
	{format: "nanoflake", id: "07en9rb30swmf"},
	{format: "ulidflake", id: "00CMXB6TAK4SA"},
	{format: "ulidflake-scalable", id: "00CMXB6TAK4SA"},
	{format: "snowflakesi", id: "1527083958403961"},
	{format: "snowflakesi", id: "1527083958403961", layout: snowflakesi.Layout{ClockBits: 41, MachineBits: 1}},
	{format: "snowflakesi", id: "1527083958403961", layout: snowflakesi.Layout{ClockBits: 40, MachineBits: snowflakesi.NoMachineBits}},
	{format: "snowflakesi", id: "1527083958403961", layout: snowflakesi.Layout{ClockBits: 40, MachineBits: 13}},
	{format: "scru160", id: "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6"},
}

func TestShow(t *testing.T) {
	i := inspector{pens: cli.NewPens(false), width: 80, now: time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)}
	var got bytes.Buffer
	for _, s := range shown {
		f, _ := inspect.Lookup(s.format)
		i.formats, i.named = []inspect.Format{f}, true
		i.settings.ClockBits, i.settings.MachineBits = s.layout.ClockBits, s.layout.MachineBits
		if err := i.answer(&got, s.id); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
	}
	i.formats, i.named = inspect.Formats(), false
	if err := i.answer(&got, "07en9rb30swmf"); err != nil {
		t.Fatal(err)
	}

	const golden = "testdata/show.golden"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("this is not %s (-update writes it):\n%s", golden, &got)
	}
}

// TestDiagramLines: whatever the values, the lines of each field lead from its label to
// its bits, and all of it fits a terminal.
func TestDiagramLines(t *testing.T) {
	var layouts []snowflakesi.Layout
	for _, clock := range []int{40, 41} {
		for machine := range 53 - clock + 1 {
			layouts = append(layouts, snowflakesi.Layout{ClockBits: clock, MachineBits: cmp.Or(machine, snowflakesi.NoMachineBits)})
		}
	}
	for _, f := range inspect.Formats() {
		digits := 16
		if !slices.Contains(f.Forms(), inspect.Int) {
			digits = 2 * 20
		}
		for _, layout := range layouts {
			for _, id := range []string{
				strings.Repeat("0", digits),
				strings.Repeat("0", digits-14) + "1" + strings.Repeat("f", 13), // the largest of 53 bits
				"7" + strings.Repeat("f", digits-1),
				strings.Repeat("f", digits),
			} {
				if info, err := f.Inspect(id, inspect.Hex, inspect.Settings{ClockBits: layout.ClockBits, MachineBits: layout.MachineBits}); err == nil {
					checkDiagram(t, info)
				}
			}
		}
	}
}

func checkDiagram(t *testing.T, info inspect.Info) {
	t.Helper()
	var plain, coloured bytes.Buffer
	writeDiagram(&plain, cli.NewPens(false), info)
	writeDiagram(&coloured, cli.NewPens(true), info)
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
		if len(line) > 80 {
			t.Errorf("%d columns: %s", len(line), text)
		}
		if strings.Trim(text, "01 ") == "" {
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
			for first--; at(up, first) == '─'; first-- {
			}
		}
		field := strings.Fields(text)
		labels[field[0]] = strings.Join(field[1:4], " ") + " " + string(rows[up-1][first:column+1])
	}

	if want := binaryDigits(info.Hex); bits != want {
		t.Errorf("bits %s, not %s:\n%s", bits, want, &plain)
	}
	at0 := len(bits)
	for _, f := range slices.Backward(info.Fields) {
		if f.Bits == 0 {
			continue
		}
		want := fmt.Sprintf("%d bits %s %s", f.Bits, f.Value, bits[at0-f.Bits:at0])
		if labels[f.Name] != want {
			t.Errorf("%s leads to %q, not %q:\n%s", f.Name, labels[f.Name], want, &plain)
		}
		at0 -= f.Bits
	}
}
