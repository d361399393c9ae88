package documents

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// top is the folder of the repository.
const top = "../.."

// A block is a fenced block of a page.
type block struct {
	page     string // with slashes, relative to the repository
	line     int    // of the first line of text
	section  string // the heading above
	language string
	text     string
	mark     string // the reason why the block does not run
}

func (b *block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

var mark = regexp.MustCompile(`^<!-- not run: (\S.*\S) -->\s*$`)

// parse returns the blocks of a page, in their order. A mark that stands elsewhere than before a block is an error.
func parse(page string, source []byte) (all []*block, err error) {
	marks, used, section := 0, 0, ""
	document := goldmark.DefaultParser().Parse(text.NewReader(source))
	err = ast.Walk(document, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && strings.Contains(comment(n, source), "<!-- not run") {
			marks++
		}
		if heading, ok := n.(*ast.Heading); ok && entering {
			section = string(heading.Lines().Value(source))
		}
		fence, ok := n.(*ast.FencedCodeBlock)
		if !ok || !entering || fence.Lines().Len() == 0 {
			return ast.WalkContinue, nil
		}
		b := &block{page: page, section: section, language: string(fence.Language(source)), text: string(fence.Lines().Value(source))}
		b.line = 1 + bytes.Count(source[:fence.Lines().At(0).Start], []byte("\n"))
		if before, ok := n.PreviousSibling().(*ast.HTMLBlock); ok {
			if m := mark.FindSubmatch(before.Lines().Value(source)); m != nil {
				b.mark = string(m[1])
				used++
			}
		}
		all = append(all, b)
		return ast.WalkContinue, nil
	})
	if err == nil && marks != used {
		err = fmt.Errorf("%s: %d marks, of which %d have the form <!-- not run: REASON --> and stand directly before a block", page, marks, used)
	}
	return all, err
}

// comment returns the text of HTML.
func comment(n ast.Node, source []byte) string {
	switch n := n.(type) {
	case *ast.HTMLBlock:
		return string(n.Lines().Value(source))
	case *ast.RawHTML:
		return string(n.Segments.Value(source))
	}
	return ""
}

// names returns the paths of all pages that git knows.
func names(t *testing.T) []string {
	t.Helper()
	git := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", "*.md")
	git.Dir = top
	out := testkit.Must(git.Output())
	names := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	slices.Sort(names)
	return names
}

// pages returns the blocks of all pages, page by page.
func pages(t *testing.T) (all [][]*block) {
	t.Helper()
	for _, name := range names(t) {
		source := testkit.Must(os.ReadFile(filepath.Join(top, name)))
		blocks, err := parse(name, source)
		if err != nil {
			t.Error(err)
		}
		if len(blocks) > 0 {
			all = append(all, blocks)
		}
	}
	if len(all) < 30 {
		t.Fatalf("%d pages with blocks", len(all))
	}
	return all
}

// prepared returns the path of a page's preparation, or "".
func prepared(page, extension string) string {
	path := filepath.Join("testdata", strings.TrimSuffix(page, ".md")+extension)
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// A command is a command of a console block, with the output that the page shows.
type command struct {
	block *block
	text  string
	shown []string
}

// commands returns the commands of a console block. A command goes on in the next line as long as bash wants more.
func (b *block) commands() (all []*command, err error) {
	lines := strings.Split(strings.TrimSuffix(b.text, "\n"), "\n")
	for i := 0; i < len(lines); i++ {
		typed, prompt := strings.CutPrefix(lines[i], "$ ")
		switch {
		case !prompt && len(all) == 0:
			return nil, fmt.Errorf("%s: the block does not begin with a command after \"$ \": show a command, or mark the block", b)
		case !prompt:
			last := all[len(all)-1]
			last.shown = append(last.shown, lines[i])
			continue
		}
		for incomplete(typed) {
			if i++; i == len(lines) || strings.HasPrefix(lines[i], "$ ") {
				return nil, fmt.Errorf("%s: bash wants more after %s", b, typed)
			}
			typed += "\n" + lines[i]
		}
		all = append(all, &command{block: b, text: typed})
	}
	return all, nil
}

// incomplete reports whether bash reads on after a text, or finds a mistake in the text.
func incomplete(text string) bool {
	out, err := exec.Command("bash", "-n", "-c", text+"\n").CombinedOutput()
	return strings.HasSuffix(text, `\`) || err != nil || len(out) > 0
}

// fails reports whether a command shows an error of firn, so the command has to fail.
func (c *command) fails() bool {
	return slices.ContainsFunc(c.shown, func(line string) bool { return failure.MatchString(line) && !notice.MatchString(line) })
}

var (
	failure = regexp.MustCompile(`^(problem  |firn: )`)
	notice  = regexp.MustCompile(`^firn: (note|warning|waiting)\b`)
)
