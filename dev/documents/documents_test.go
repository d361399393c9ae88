package documents

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// Each block of each page has a treatment. The log has the numbers.
func TestBlocks(t *testing.T) {
	counts, reasons, used := map[treatment]int{}, map[string]int{}, map[int]bool{}
	all := 0
	for _, page := range pages(t) {
		for _, b := range page {
			all++
			how, err := treat(b)
			if err != nil {
				t.Error(err)
			}
			counts[how]++
			switch how {
			case marked:
				reasons[b.mark]++
			case other:
				i, _ := anotherTest(b)
				used[i] = true
			case data:
				if err := readYAML(b.text); err != nil {
					t.Errorf("%s: %v", b, err)
				}
			}
		}
	}
	for i, e := range elsewhere {
		if !used[i] {
			t.Errorf("elsewhere: no block for %v: remove the line", e)
		}
		if err := exists(e.test); err != nil {
			t.Errorf("elsewhere: %v", err)
		}
	}
	t.Logf("%d blocks\n%s", all, table(counts))
	t.Logf("the marks\n%s", table(reasons))
}

func table[K ~string](counts map[K]int) string {
	var out strings.Builder
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		fmt.Fprintf(&out, "%4d %s\n", counts[k], k)
	}
	return out.String()
}

// readYAML reads all documents of a file. A name must not come twice.
func readYAML(text string) error {
	for _, document := range strings.Split(text, "\n---\n") {
		var into map[string]any
		if err := yaml.UnmarshalWithOptions([]byte(document), &into, yaml.Strict()); err != nil {
			return err
		}
		if len(into) == 0 {
			return fmt.Errorf("an empty document: %q", document)
		}
	}
	return nil
}

// Blocks are found where Markdown has them, and bad ones are refused.
func TestTreat(t *testing.T) {
	const fence = "```"
	for source, want := range map[string]string{
		fence + "console\n$ echo a\n" + fence + "\n":                                                    string(console),
		"1. Do\n\n   " + fence + "console\n   $ echo a\n   " + fence + "\n":                             string(console), // in a list
		fence + "go\npackage main\n" + fence + "\n":                                                     string(goProgram),
		fence + "go\nx := 1\n" + fence + "\n":                                                           string(goPiece),
		fence + "\na ──▶ b\n" + fence + "\n":                                                            string(shown),
		"<!-- not run: needs Docker -->\n" + fence + "console\n$ docker ps\n" + fence + "\n":            string(marked),
		"Text.\n<!-- not run: needs Docker -->\n\n" + fence + "console\n$ docker ps\n" + fence + "\n":   string(marked),
		"- Text.\n\n  <!-- not run: needs Docker -->\n  " + fence + "console\n  $ a\n  " + fence + "\n": string(marked),
		"<!-- not run -->\n" + fence + "console\n$ docker ps\n" + fence + "\n":                          "page.md: 1 marks, of which 0",
		"Text <!-- not run: a reason --> here.\n\n" + fence + "console\n$ a\n" + fence + "\n":           "page.md: 1 marks, of which 0",
		"The mark `<!-- not run: R -->`.\n\n" + fence + "console\n$ a\n" + fence + "\n":                 string(console),
		"<!-- not run: needs Docker -->\nText.\n\n" + fence + "console\n$ a\n" + fence + "\n":           "page.md: 1 marks, of which 0",
		"<!-- not run: needs Docker -->\n\nText.\n\n" + fence + "console\n$ a\n" + fence + "\n":         "page.md: 1 marks, of which 0",
		"<!-- not run: needs time -->\n" + fence + "console\n$ firn new sno\n" + fence + "\n":           "page.md:3: the block would run",
		"<!-- not run: needs time -->\n" + fence + "yaml\na: 1\n" + fence + "\n":                        "page.md:3: the block would run",
		fence + "console\n# rm -r /\n" + fence + "\n":                                                   "page.md:2: the block does not begin with a command",
		fence + "console\n$ echo 'a\n$ echo b\n" + fence + "\n":                                         "page.md:2: bash wants more",
		fence + "console\n$ if true; then\n" + fence + "\n":                                             "page.md:2: bash wants more",
		fence + "\n$ firn new sno\n" + fence + "\n":                                                     "page.md:2: a block with commands has no language",
		fence + "cobol\nSTOP RUN.\n" + fence + "\n":                                                     "page.md:2: nothing runs a block of cobol",
	} {
		blocks, err := parse("page.md", []byte(source))
		got := ""
		if err == nil && len(blocks) == 1 {
			var how treatment
			how, err = treat(blocks[0])
			got = string(how)
		}
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s%d blocks: %q, not %q", source, len(blocks), got, want)
		}
	}
	for _, test := range []string{"dev/documents TestNone", ".ci/run none", "js/none.ts text"} {
		if exists(test) == nil {
			t.Errorf("%s is there", test)
		}
	}
	for _, text := range []string{"a: 1\na: 2\n", "a: [\n", "\n---\n", "a: 1\n---\n{}\n"} {
		if readYAML(text) == nil {
			t.Errorf("%q is YAML", text)
		}
	}
}

// Commands go on over lines as in bash, and the other lines are output.
func TestCommands(t *testing.T) {
	b := &block{page: "page.md", line: 1, language: "console", text: strings.Join([]string{
		`$ echo a \`, `  b`, `a b`, `$ cat <<END`, `$HOME`, `END`, `$ for i in 1 2`, `do echo $i; done # twice`, `1`, `2`, `$ V=1`, ``,
	}, "\n")}
	commands, err := b.commands()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range commands {
		got = append(got, fmt.Sprintf("%q %q", c.text, c.shown))
	}
	want := []string{
		`"echo a \\\n  b" ["a b"]`, `"cat <<END\n$HOME\nEND" []`, `"for i in 1 2\ndo echo $i; done # twice" ["1" "2"]`, `"V=1" []`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s, not\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
