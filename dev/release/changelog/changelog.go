// Package changelog reads a change log in the form of Keep a Changelog 1.1.0, and makes release notes
// from the section of a version.
package changelog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"golang.org/x/mod/semver"

	"github.com/firn-id/firn/dev/release/tree"
)

// File is the file of the change log.
const File = "CHANGELOG.md"

// unreleased is the name of the section of changes that no release has.
const unreleased = "Unreleased"

// Kinds are the kinds of changes, in their usual order.
var Kinds = []string{"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}

// A Log is a change log.
type Log struct {
	Sections []Section // as in the file: the latest version first

	source   []byte
	links    map[string]string // destinations of the references by label, in lower case
	problems []tree.Problem
}

// A Section has the changes of a version.
type Section struct {
	Name string // Unreleased, or a version without v
	Date string // YYYY-MM-DD; empty for Unreleased and if the date is invalid
	Line int
	// Parts are the changes by kind.
	Parts []Part

	start, end  int // of the text below the heading, in the source
	nodes       []ast.Node
	definitions []ast.Node // of references
}

// A Part has the changes of one kind.
type Part struct {
	Kind    string
	Line    int
	Entries int      // items of lists
	Code    []string // texts in backquotes
}

// Version returns the version of the section in the form vX.Y.Z.
func (s Section) Version() string {
	if s.Name == unreleased {
		return ""
	}
	return "v" + s.Name
}

// Parse parses a change log.
func Parse(source []byte) *Log {
	context := parser.NewContext()
	document := goldmark.DefaultParser().Parse(text.NewReader(source), parser.WithContext(context))
	l := &Log{source: source, links: map[string]string{}}
	for _, r := range context.References() {
		l.links[strings.ToLower(string(r.Label()))] = string(r.Destination())
	}
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		heading, ok := node.(*ast.Heading)
		switch {
		case ok && heading.Level == 2:
			l.addSection(heading)
		case len(l.Sections) == 0:
			// the title and a preface
		case node.Kind() == ast.KindLinkReferenceDefinition:
			s := &l.Sections[len(l.Sections)-1]
			s.definitions = append(s.definitions, node)
		case ok && heading.Level == 3:
			l.addPart(heading)
		default:
			l.addBlock(node)
		}
	}
	l.bound(document)
	l.check()
	return l
}

// report adds a problem of a line.
func (l *Log) report(line int, advice, format string, args ...any) {
	l.problems = append(l.problems, problem(line, advice, format, args...))
}

func problem(line int, advice, format string, args ...any) tree.Problem {
	return tree.Problem{File: File, Line: line, Text: fmt.Sprintf(format, args...), Advice: advice}
}

// line returns the line of an offset.
func (l *Log) line(offset int) int { return 1 + bytes.Count(l.source[:max(offset, 0)], []byte("\n")) }

// headingText returns the source of a heading, without the number signs.
func (l *Log) headingText(h *ast.Heading) string {
	return strings.TrimSpace(string(h.Lines().Value(l.source)))
}

// addSection begins a section.
func (l *Log) addSection(h *ast.Heading) {
	s := Section{Line: l.line(h.Pos())}
	if l.source[l.lineStart(h.Pos())] == '[' {
		l.report(s.Line, "write ## before the name, and no line below", "the heading is underlined")
	}
	name, date, dated := strings.Cut(l.headingText(h), " - ")
	s.Name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	if !strings.HasPrefix(name, "[") || !strings.HasSuffix(name, "]") {
		l.report(s.Line, "write ## ["+unreleased+"], or ## [X.Y.Z] - YYYY-MM-DD", "the heading %q does not name a version in brackets", name)
	}
	s.Date = strings.TrimSuffix(date, " [YANKED]")
	switch {
	case s.Name == unreleased && dated:
		l.report(s.Line, "write ## ["+unreleased+"]", "the section of unreleased changes has a date")
	case s.Name != unreleased && !tree.Canonical("v"+s.Name):
		l.report(s.Line, "write ## [X.Y.Z] - YYYY-MM-DD", "%q is not a semantic version", s.Name)
	case s.Name != unreleased && !dated:
		l.report(s.Line, "write ## ["+s.Name+"] - YYYY-MM-DD", "version %s has no date", s.Name)
	case s.Name != unreleased:
		if _, err := time.Parse(time.DateOnly, s.Date); err != nil {
			l.report(s.Line, "write ## ["+s.Name+"] - YYYY-MM-DD", "%q is not a date", s.Date)
			s.Date = ""
		}
	}
	l.Sections = append(l.Sections, s)
}

// addPart begins a part of the latest section.
func (l *Log) addPart(h *ast.Heading) {
	s := &l.Sections[len(l.Sections)-1]
	part := Part{Kind: l.headingText(h), Line: l.line(h.Pos())}
	switch {
	case !slices.Contains(Kinds, part.Kind):
		l.report(part.Line, "move the entries below one of "+strings.Join(Kinds, ", "), "%q is not a kind of change", part.Kind)
	case slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Kind == part.Kind }):
		l.report(part.Line, "move the entries to the first of the two", "%s has %s twice", s.Name, part.Kind)
	}
	s.Parts = append(s.Parts, part)
	s.nodes = append(s.nodes, h)
}

// addBlock adds a block to the latest section.
func (l *Log) addBlock(node ast.Node) {
	s := &l.Sections[len(l.Sections)-1]
	s.nodes = append(s.nodes, node)
	if len(s.Parts) == 0 {
		if node.Kind() == ast.KindList {
			l.report(l.line(node.Pos()), "write a heading above the list: one of ### "+strings.Join(Kinds, ", ### "),
				"%s has a list of changes without a kind", s.Name)
		}
		return
	}
	part := &s.Parts[len(s.Parts)-1]
	if node.Kind() == ast.KindList {
		part.Entries += node.ChildCount()
	}
	walk(node, func(n ast.Node) {
		if n.Kind() == ast.KindCodeSpan {
			part.Code = append(part.Code, l.textOf(n))
		}
	})
}

// walk calls f for node and all nodes below node, in their order.
func walk(node ast.Node, f func(ast.Node)) {
	f(node)
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		walk(child, f)
	}
}

// textOf returns the text of the nodes below node. Lines of the text are joined by spaces.
func (l *Log) textOf(node ast.Node) string {
	var parts []string
	for child := node.FirstChild(); child != nil; child = child.NextSibling() {
		if t, ok := child.(*ast.Text); ok {
			parts = append(parts, strings.TrimSpace(string(t.Segment.Value(l.source))))
		}
	}
	return strings.Join(parts, " ")
}

// bound finds the text of each section in the source.
func (l *Log) bound(document ast.Node) {
	i := -1
	for node := document.FirstChild(); node != nil; node = node.NextSibling() {
		heading, ok := node.(*ast.Heading)
		if !ok || heading.Level != 2 {
			continue
		}
		if i >= 0 {
			l.Sections[i].end = l.lineStart(heading.Pos())
		}
		i++
		l.Sections[i].start = l.nextLine(heading.Pos())
	}
	if i >= 0 {
		l.Sections[i].end = len(l.source)
	}
}

// lineStart returns the offset of the line that has an offset.
func (l *Log) lineStart(offset int) int { return 1 + bytes.LastIndexByte(l.source[:offset], '\n') }

// nextLine returns the offset of the line after the line that has an offset.
func (l *Log) nextLine(offset int) int {
	if i := bytes.IndexByte(l.source[offset:], '\n'); i >= 0 {
		return offset + i + 1
	}
	return len(l.source)
}

// check reports sections out of order.
func (l *Log) check() {
	if len(l.Sections) == 0 || l.Sections[0].Name != unreleased {
		line := 0
		if len(l.Sections) > 0 {
			line = l.Sections[0].Line
		}
		l.report(line, "write ## ["+unreleased+"] above all versions", "the first section is not [%s]", unreleased)
	}
	var later *Section
	for i := range l.Sections {
		s := &l.Sections[i]
		if s.Name == unreleased {
			if i > 0 {
				l.report(s.Line, "move the section above all versions", "[%s] is not the first section", unreleased)
			}
			continue
		}
		if !tree.Canonical(s.Version()) {
			continue // reported already
		}
		if later != nil && semver.Compare(later.Version(), s.Version()) <= 0 {
			l.report(s.Line, "sort the versions, the latest first, each with one section", "version %s stands below %s", s.Name, later.Name)
		}
		if later != nil && later.Date != "" && s.Date > later.Date {
			l.report(later.Line, "write the day of the release", "version %s has the date %s, and the earlier version %s has %s", later.Name, later.Date, s.Name, s.Date)
		}
		later = s
	}
}

// Problems returns what is wrong with the form of the log.
func (l *Log) Problems() []tree.Problem { return l.problems }

// Section returns the section of a version in the form vX.Y.Z.
func (l *Log) Section(version string) (s Section, ok bool) {
	i := slices.IndexFunc(l.Sections, func(s Section) bool { return s.Name != unreleased && s.Version() == version })
	if i < 0 {
		return Section{}, false
	}
	return l.Sections[i], true
}

// Link returns the destination of a section's name, or an empty text.
func (l *Log) Link(s Section) string { return l.links[strings.ToLower(s.Name)] }

// CheckRelease returns what is wrong with the log for the release of a version on a day.
func (l *Log) CheckRelease(version string, today time.Time) []tree.Problem {
	var problems []tree.Problem
	report := func(line int, advice, format string, args ...any) {
		problems = append(problems, problem(line, advice, format, args...))
	}
	day := today.Format(time.DateOnly)
	name := strings.TrimPrefix(version, "v")
	top := 0 // the line of the unreleased changes
	if len(l.Sections) > 0 && l.Sections[0].Name == unreleased {
		changes := l.Sections[0]
		top = changes.Line
		if len(changes.nodes) > 0 {
			report(top, "move the changes to ## ["+name+"] - "+day, "[%s] is not empty", unreleased)
		}
		if want := version + "...HEAD"; !strings.HasSuffix(l.Link(changes), want) {
			report(top, "end the file's reference ["+unreleased+"]: with /compare/"+want, "[%s] is not a link to the changes since %s", unreleased, version)
		}
	}
	s, ok := l.Section(version)
	if !ok {
		report(top, "write ## ["+name+"] - "+day+" below ["+unreleased+"], and the changes below", "no section of version %s", name)
		return problems
	}
	if s.Date > day {
		report(s.Line, "write ## ["+name+"] - "+day, "version %s has the date %s, and today is %s", name, s.Date, day)
	}
	if !slices.ContainsFunc(s.Parts, func(p Part) bool { return p.Entries > 0 }) {
		report(s.Line, "write what changes for users, as list items", "version %s has no entries", name)
	}
	for _, part := range s.Parts {
		if part.Entries == 0 {
			report(part.Line, "delete the heading, or write list items below", "%s of version %s has no entries", part.Kind, name)
		}
	}
	if link := l.Link(s); !strings.HasSuffix(link, "/"+version) && !strings.HasSuffix(link, "..."+version) {
		report(s.Line, "add the reference ["+name+"]: with the address of a comparison that ends with ..."+version+
			", or for the first release with /releases/tag/"+version, "[%s] is not a link to the version", name)
	}
	if latest := l.latest(); latest.Name != s.Name {
		report(latest.Line, "set the version that is to be released, or remove the section", "the latest section is of version %s, not of %s", latest.Name, name)
	}
	return problems
}

// latest returns the first section of a version.
func (l *Log) latest() Section {
	return l.Sections[slices.IndexFunc(l.Sections, func(s Section) bool { return s.Name != unreleased })]
}

// Names reports whether the section has one of the names in backquotes under Changed or Removed.
func (s Section) Names(names ...string) bool {
	for _, part := range s.Parts {
		if part.Kind != "Changed" && part.Kind != "Removed" {
			continue
		}
		for _, code := range part.Code {
			if slices.Contains(names, strings.TrimSuffix(code, "()")) {
				return true
			}
		}
	}
	return false
}
