package ids

import (
	"bytes"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

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

// TestFits: no line is wider than the terminal, in full and in a table.
func TestFits(t *testing.T) {
	ids := slices.Clone(detected)
	for _, s := range shown {
		ids = append(ids, s.id)
	}
	for width := 60; width <= 130; width += 5 {
		for _, lines := range []bool{false, true} {
			var w bytes.Buffer
			i := newInspector(t, &w, inspect.Format{}, inspect.Settings{}, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC))
			i.width, i.lines = width, lines
			for _, id := range ids {
				if invalid, err := i.answer(id); invalid != nil || err != nil {
					t.Fatal(invalid, err)
				}
			}
			testkit.OK(t, i.release())
			testkit.OK(t, i.streams.Out.Flush())
			for line := range strings.Lines(w.String()) {
				if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
					t.Errorf("%d columns of %d: %s", n, width, line)
				}
			}
			if lines && strings.Count(w.String(), "\n") != len(ids)+1 {
				t.Errorf("%d IDs have the table\n%s", len(ids), &w)
			}
		}
	}
}
