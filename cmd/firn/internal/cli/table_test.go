package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/rivo/uniseg"
)

func testTable() *Table {
	t := &Table{Columns: []Column{{Head: "WORKER"}, {Head: "UNTIL", Drop: 2}, {Head: "UNTIL"}, {Head: "SINCE", Drop: 1}, {Head: "NOTHING"}, {Head: "HOLDER"}}}
	t.Add("3", "2026-11-26", "now", "2 days ago", "", "orders: firn (process 20963 on web-3)")
	t.Add("1000", "2026-11-26", "in 7 seconds", "", "")
	return t
}

func TestTable(t *testing.T) {
	for columns, want := range map[int]string{
		Unlimited: `
WORKER  UNTIL                     SINCE       HOLDER
3       2026-11-26  now           2 days ago  orders: firn (process 20963 on web-3)
1000    2026-11-26  in 7 seconds`,
		83: `
WORKER  UNTIL                     SINCE       HOLDER
3       2026-11-26  now           2 days ago  orders: firn (process 20963 on web-3)
1000    2026-11-26  in 7 seconds`,
		82: `
WORKER  UNTIL                     HOLDER
3       2026-11-26  now           orders: firn (process 20963 on web-3)
1000    2026-11-26  in 7 seconds`,
		70: `
WORKER  UNTIL         HOLDER
3       now           orders: firn (process 20963 on web-3)
1000    in 7 seconds`,
		50: `
WORKER  UNTIL         HOLDER
3       now           orders: firn (process 20963
                      on web-3)
1000    in 7 seconds`,
		40: `
WORKER  UNTIL
3       now
  orders: firn (process 20963 on web-3)
1000    in 7 seconds`,
		30: `
WORKER  UNTIL
3       now
  orders: firn (process 20963
  on web-3)
1000    in 7 seconds`,
	} {
		if got := "\n" + strings.Join(testTable().Lines(columns), "\n"); got != want {
			t.Errorf("%d columns:%s\nwant%s", columns, got, want)
		}
	}
}

// TestTableFits: at each width no line is longer than the width, unless a word is, and no word is cut.
func TestTableFits(t *testing.T) {
	words := func(text string) []string { return strings.Fields(text) }
	all := words("orders: firn (process 20963 on web-3)")
	for columns := 24; columns < 200; columns++ {
		lines := testTable().Lines(columns)
		for _, line := range lines {
			if uniseg.StringWidth(line) > columns || strings.HasSuffix(line, " ") {
				t.Errorf("%d columns: %q", columns, line)
			}
		}
		got := words(strings.Join(lines, "\n"))
		for _, word := range all {
			if !slices.Contains(got, word) {
				t.Errorf("%d columns: %q is cut in\n%s", columns, word, strings.Join(lines, "\n"))
			}
		}
	}
}

// TestTableWide: characters of two columns count as two.
func TestTableWide(t *testing.T) {
	table := &Table{Columns: []Column{{Head: "NAME"}, {Head: "N"}}}
	table.Add("日本語", "1")
	table.Add("abcdef", "2")
	want := "NAME    N\n日本語  1\nabcdef  2"
	if got := strings.Join(table.Lines(80), "\n"); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
