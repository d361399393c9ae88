package documents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	// A figure is a measured time of less than a millisecond, or a rate.
	figure = regexp.MustCompile(`\b\d[\d., ]*\s?(ns|µs|(M |million )?(IDs|requests|commits|calls|rows|leases)(/s| a second| per second))(\W|$)`)

	repeats = regexp.MustCompile(`\bgo (test|run)\b|\.ci/run \w|\bfirn (torture|selftest|new)\b|redis-benchmark`)
	heading = regexp.MustCompile(`(?m)^#{1,6} `)
)

// withoutCommand returns the headings of the sections of a page with figures but no command that repeats the figures. The
// command stands in the section, or in the text of a section around.
func withoutCommand(page string) (all []string) {
	var around []string // by level
	starts := append(heading.FindAllStringIndex(page, -1), []int{len(page), len(page)})
	for i, at := range starts[:len(starts)-1] {
		section, level := page[at[0]:starts[i+1][0]], at[1]-at[0]-2
		for len(around) <= level {
			around = append(around, "")
		}
		around = append(around[:level], section)
		if figure.MatchString(section) && !repeats.MatchString(strings.Join(around, "")) {
			title, _, _ := strings.Cut(section, "\n")
			all = append(all, title)
		}
	}
	return all
}

// Each figure of a page has the command that repeats the measurement.
func TestFigures(t *testing.T) {
	figures := 0
	for _, name := range names(t) {
		text, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "CHANGELOG.md" { // has the figures of past versions
			continue
		}
		figures += len(figure.FindAll(text, -1))
		for _, title := range withoutCommand(string(text)) {
			t.Errorf("%s: %s: figures without a command that repeats them", name, title)
		}
	}
	t.Logf("%d figures", figures)
	if figures < 100 {
		t.Error("the figures are not found")
	}
	for text, want := range map[string]int{
		"# A\n`go test -bench .`\n## B\nIt takes 4 ns.\n":     0,
		"# A\n## B\n`go test -bench .`\n## C\nIt takes 4 ns.": 1,
		"# A\n## B\n1.5 M IDs/s\n### C\n300 000 IDs a second": 2,
		"# A\n10 ms, 4 nsx, IDs/s\n":                          0,
		"# A\n12 µs; 20 000 requests/s, by .ci/run gate":      0,
	} {
		if got := withoutCommand(text); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
