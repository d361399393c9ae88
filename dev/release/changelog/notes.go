package changelog

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
)

// An edit replaces a part of the source.
type edit struct {
	start, end int
	text       string
}

// Notes returns the section of a version as release notes, in Markdown. The repository is the address
// of the repository's page.
//
// Links into the tree become links to the tree at the version. GitHub breaks the lines of release
// notes where the source has line breaks, so paragraphs become single lines.
func (l *Log) Notes(version, repository string) (string, error) {
	s, ok := l.Section(version)
	if !ok {
		return "", fmt.Errorf("%s has no section of version %s; write ## [%s] - YYYY-MM-DD and the changes",
			File, strings.TrimPrefix(version, "v"), strings.TrimPrefix(version, "v"))
	}
	base, err := url.Parse(repository + "/blob/" + version + "/" + File)
	if err != nil {
		return "", fmt.Errorf("address of the repository: %w", err)
	}
	var edits []edit
	references := map[string]string{}
	for _, node := range s.definitions {
		if lines := node.Lines(); lines.Len() > 0 {
			edits = append(edits, edit{lines.At(0).Start, lines.At(lines.Len() - 1).Stop, ""})
		}
	}
	for _, node := range s.nodes {
		walk(node, func(n ast.Node) {
			switch n := n.(type) {
			case *ast.Text:
				if n.SoftLineBreak() {
					edits = append(edits, l.join(n))
				}
			case *ast.Link:
				if n.Reference != nil {
					references[string(n.Reference.Value)] = absolute(base, string(n.Destination))
				} else if e, ok := l.relink(base, n); ok {
					edits = append(edits, e)
				}
			}
		})
	}
	var b strings.Builder
	b.WriteString(strings.TrimSpace(l.apply(s, edits)) + "\n")
	if link := l.Link(s); strings.Contains(link, "/compare/") {
		b.WriteString("\n**All changes**: <" + link + ">\n")
	}
	labels := make([]string, 0, len(references))
	for label := range references {
		labels = append(labels, label)
	}
	slices.Sort(labels)
	for i, label := range labels {
		if i == 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "[%s]: %s\n", label, references[label])
	}
	return b.String(), nil
}

// join returns the edit that joins the line of a text with the next line.
func (l *Log) join(n *ast.Text) edit {
	start, end := n.Segment.Stop, n.Segment.Stop
	for end < len(l.source) && strings.ContainsRune(" \t\r\n", rune(l.source[end])) {
		end++
	}
	return edit{start, end, " "}
}

// relink returns the edit that makes the destination of a link absolute. If ok is false, the
// destination is absolute already.
func (l *Log) relink(base *url.URL, n *ast.Link) (e edit, ok bool) {
	destination := string(n.Destination)
	want := absolute(base, destination)
	if want == destination {
		return edit{}, false
	}
	from := n.Pos()
	walk(n, func(below ast.Node) {
		if t, ok := below.(*ast.Text); ok {
			from = max(from, t.Segment.Stop)
		}
	})
	open := strings.Index(string(l.source[from:]), "](")
	if open < 0 {
		return edit{}, false
	}
	start := from + open + len("](")
	at := strings.Index(string(l.source[start:]), destination)
	if at < 0 {
		return edit{}, false // the destination has escapes, which people do not write in links to files
	}
	return edit{start + at, start + at + len(destination), want}, true
}

// absolute returns the address of a destination in a file of the tree.
func absolute(base *url.URL, destination string) string {
	u, err := url.Parse(destination)
	if err != nil || u.IsAbs() {
		return destination
	}
	return base.ResolveReference(u).String()
}

// apply returns the text of a section with edits.
func (l *Log) apply(s Section, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start })
	var b strings.Builder
	at := s.start
	for _, e := range edits {
		if e.start < at || e.end > s.end {
			continue // no known log has such an edit
		}
		b.Write(l.source[at:e.start])
		b.WriteString(e.text)
		at = e.end
	}
	b.Write(l.source[at:s.end])
	return b.String()
}
