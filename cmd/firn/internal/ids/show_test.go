package ids

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/firn-id/firn/cmd/firn/internal/foreign"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/snowflakesi"
)

var update = flag.Bool("update", false, "write testdata/show.golden")

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

// detected are IDs of no named format: a guess, no plausible time, several plausible times, and foreign ones.
var detected = []string{"07en9rb30swmf", "779618300421218304", "order_05x8fmeves7pc", "00CMXB6TAK4SA", "05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6", "1857466371133214720",
	"018bcfe5-687c-7b23-b5f6-d1c5dba4bd1c", "f47ac10b58cc4372a5670e02b2c3d479", "user_01h455vb4pex5vsknk084sn02q", "-O8nmdYyf9pGy8x3YxYz", "V1StGXR8_Z5jdHi6B-myT"}

func TestShow(t *testing.T) {
	time.Local = time.UTC // the golden file has local times
	now := time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)
	var got bytes.Buffer
	show := func(f inspect.Format, set inspect.Settings, id string, width int) {
		t.Helper()
		i := newInspector(t, &got, f, set, now)
		i.width = width
		if invalid, err := i.answer(id); invalid != nil || err != nil {
			t.Fatal(invalid, err)
		}
		i.streams.Out.WriteByte('\n')
		i.streams.Out.Flush()
	}
	for _, s := range shown {
		f, _ := inspect.Lookup(s.format)
		show(f, inspect.Settings{ClockBits: s.layout.ClockBits, MachineBits: s.layout.MachineBits}, s.id, 80)
	}
	for _, id := range detected {
		show(inspect.Format{}, inspect.Settings{}, id, 80)
	}
	for _, id := range detected {
		show(inspect.Format{}, inspect.Settings{}, id, 60)
	}
	f, _ := inspect.Lookup("nanoflake")
	show(f, inspect.Settings{Epoch: now.AddDate(-1, 0, 0)}, "0549x5l2itvr4", 60)

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

// answers returns the answers to IDs, for a terminal of so many columns or for a pipe if columns is 0.
func answers(t *testing.T, f inspect.Format, columns int, lines bool, ids ...string) []string {
	t.Helper()
	var w bytes.Buffer
	i := newInspector(t, &w, f, inspect.Settings{}, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
	t.Setenv("COLUMNS", "")
	if i.streams.Width = 80; columns > 0 {
		t.Setenv("COLUMNS", strconv.Itoa(columns))
		i.streams.Width = columns
	}
	i.width, i.limit, i.lines = i.streams.Width, i.streams.Limit(), lines
	for _, id := range ids {
		if invalid, err := i.answer(id); invalid != nil || err != nil {
			t.Fatal(invalid, err)
		}
	}
	testkit.OK(t, i.release())
	testkit.OK(t, i.streams.Out.Flush())
	return strings.Split(strings.TrimSuffix(w.String(), "\n"), "\n")
}

// TestFits: no line is wider than the terminal, in full and in a table of like IDs.
func TestFits(t *testing.T) {
	for width := 60; width <= 130; width += 5 {
		lines := answers(t, inspect.Format{}, width, false, detected...)
		for _, id := range detected {
			lines = append(lines, answers(t, inspect.Format{}, width, true, id, id)...)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d columns of %d: %s", n, width, line)
			}
		}
	}
}

// mixed are IDs and their kinds: without a time first, and growing longer.
var mixed = [][2]string{
	{"V1StGXR8_Z5jdHi6B-myT", "nanoid, a guess"},
	{"tz4a98xxat96iws9zmbrgj3a", "cuid2, a guess"},
	{"07en9rb30swmf", "nanoflake or 2 more"},
	{"1857466371133214720", "twitter or 6 more"},
	{"018bcfe5-687c-7b23-b5f6-d1c5dba4bd1c", "uuidv7"},
	{"f47ac10b-58cc-4372-a567-0e02b2c3d479", "uuidv4"},
	{"05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6", "scru160"},
}

// TestTable: each line has the ID, the kind and the columns of the titles, and a pipe gets all columns.
func TestTable(t *testing.T) {
	var ids []string
	for _, m := range mixed {
		ids = append(ids, m[0])
	}
	for width := range 130 {
		lines := answers(t, inspect.Format{}, width, true, ids...)
		titles := strings.Fields(lines[0])
		if all := slices.Equal(titles, []string{"ID", "TIME", "FORMAT", "AGE"}); width == 0 && !all {
			t.Errorf("a pipe has the titles %q", titles)
		}
		for n, line := range lines[1:] {
			if !strings.HasPrefix(line, mixed[n][0]+"  ") || !strings.Contains(line+"  ", "  "+mixed[n][1]+"  ") {
				t.Errorf("%d columns: want %q in %q", width, mixed[n], line)
			}
			want := strings.Contains("07en9rb30swmf 1857466371133214720 018bcfe5-687c-7b23-b5f6-d1c5dba4bd1c 05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6", mixed[n][0])
			if got := strings.Contains(line, "Z  "); got != (want && slices.Contains(titles, "TIME")) {
				t.Errorf("%d columns: a time is %t below %q: %q", width, got, titles, line)
			}
			age := strings.HasSuffix(line, " ago") || strings.Contains(line, "  in ")
			if age != (want && slices.Contains(titles, "AGE")) {
				t.Errorf("%d columns: an age is %t below %q: %q", width, age, titles, line)
			}
		}
	}
}

// TestTableOrder: columns go from a terminal with less and less room in the order of what they say.
func TestTableOrder(t *testing.T) {
	f, _ := inspect.Lookup("nanoflake")
	var got []string
	for width := 90; width > 0; width-- {
		lines := answers(t, f, width, true, "07en9rb30swmf", "07en9rb30swmg")
		titles := strings.Join(strings.Fields(lines[0]), " ")
		if len(got) == 0 || got[len(got)-1] != titles {
			got = append(got, titles)
		}
	}
	want := []string{"ID TIME FORMAT AGE GENERATOR ID", "ID TIME FORMAT GENERATOR ID", "ID TIME FORMAT", "ID FORMAT"}
	if !slices.Equal(got, want) {
		t.Errorf("less and less room: %q", got)
	}
}

// TestTableLines: the columns behind the ID stand below their titles, whatever the first lines have.
func TestTableLines(t *testing.T) {
	ids := []string{"f47ac10b-58cc-4372-a567-0e02b2c3d479", "018bcfe5-687c-4b23-b5f6-d1c5dba4bd1c", "018bcfe5-687c-7b23-b5f6-d1c5dba4bd1c",
		"1857466371133214720", "1527083958403961"}
	lines := answers(t, inspect.Format{}, 0, true, ids...)
	for title, cells := range map[string][]string{
		"TIME":   {"", "", "2023-", "2024-", "2026-"},
		"FORMAT": {"uuidv4", "uuidv4", "uuidv7", "twitter or 6 more", "snowflakesi, a guess"},
		"AGE":    {"", "", "3 years ago", "2 years ago", "33 days ago"},
	} {
		column := strings.Index(lines[0], title)
		for n, cell := range cells {
			line := fmt.Sprintf("%-130s", lines[n+1])
			if !strings.HasPrefix(line[column:], cell) || line[column-gap:column] != "  " {
				t.Errorf("%q is not below %s:\n%s\n%s", cell, title, lines[0], line)
			}
		}
	}
	for _, k := range foreign.All() {
		if len(k.Name+" or 10 more") > kindWidth {
			t.Errorf("%s is too long for %d columns", k.Name, kindWidth)
		}
	}
	for _, f := range inspect.Formats() {
		if f.Name() != "ulidflake-scalable" && len(f.Name()+" or 10 more") > kindWidth || len(f.Name()) > kindWidth {
			t.Errorf("%s is too long for %d columns", f.Name(), kindWidth)
		}
	}
}
