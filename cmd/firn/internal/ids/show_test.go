package ids

import (
	"bytes"
	"flag"
	"os"
	"testing"
	"time"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/inspect"
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
