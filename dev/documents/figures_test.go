package documents

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

var (
	// A figure is a measured time of less than a millisecond, or a rate.
	figure = regexp.MustCompile(`\b\d[\d., ]*\s?(ns|µs|(M |million )?(IDs|requests|commits|calls|rows|leases)(/s| a second| per second))(\W|$)`)

	repeats = regexp.MustCompile(`\bgo (test|run)\b|\.ci/run \w|\bfirn (torture|selftest|new)\b|redis-benchmark`)
)

// withoutCommand returns the headings of the sections of a page with figures but no command that repeats the figures. The
// command stands in the section, or in the text of a section around.
func withoutCommand(page []byte) (all []string) {
	var around []string // by level
	sections := sectionsOf(page)
	for i, s := range sections {
		end := len(page)
		if i+1 < len(sections) {
			end = sections[i+1].start
		}
		text := string(page[s.start:end])
		for len(around) < s.level {
			around = append(around, "")
		}
		around = append(around[:s.level-1], text)
		if figure.MatchString(text) && !repeats.MatchString(strings.Join(around, "")) {
			all = append(all, s.title)
		}
	}
	return all
}

// A section is the part of a page from a heading to the next heading.
type section struct {
	title string
	level int // 1 is the page's
	start int // where the line of the heading begins
}

// sectionsOf returns the sections of a page.
func sectionsOf(page []byte) (all []section) {
	for n := goldmark.DefaultParser().Parse(text.NewReader(page)).FirstChild(); n != nil; n = n.NextSibling() {
		if h, ok := n.(*ast.Heading); ok && h.Lines().Len() > 0 {
			start := h.Lines().At(0).Start
			all = append(all, section{string(h.Lines().Value(page)), h.Level, bytes.LastIndexByte(page[:start], '\n') + 1})
		}
	}
	return all
}

// Each figure of a page has the command that repeats the measurement.
func TestFigures(t *testing.T) {
	figures := 0
	for _, name := range names(t) {
		content, err := os.ReadFile(filepath.Join(top, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "CHANGELOG.md" { // has the figures of past versions
			continue
		}
		figures += len(figure.FindAll(content, -1))
		for _, title := range withoutCommand(content) {
			t.Errorf("%s: %s: figures without a command that repeats them", name, title)
		}
	}
	t.Logf("%d figures", figures)
	if figures < 100 {
		t.Error("the figures are not found")
	}
	for text, want := range map[string]int{
		"# A\n`go test -bench .`\n## B\nIt takes 4 ns.\n":       0,
		"# A\n## B\n`go test -bench .`\n## C\nIt takes 4 ns.":   1,
		"# A\n## B\n1.5 M IDs/s\n### C\n300 000 IDs a second":   2,
		"# A\n10 ms, 4 nsx, IDs/s\n":                            0,
		"# A\n`go test`\n```console\n# root\n```\n## B\n4 ns\n": 0,
		"# A\n12 µs; 20 000 requests/s, by .ci/run gate":        0,
	} {
		if got := withoutCommand([]byte(text)); len(got) != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}
