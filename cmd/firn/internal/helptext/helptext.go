// Package helptext reads the help texts of commands, and writes them: for a terminal of any width, and as
// Markdown for manual pages and documents.
//
// A help text has paragraphs and blocks. The lines of a block are indented. A block is a list of terms
// with explanations, a list of numbered steps, or lines to type or to read as they are.
package helptext

import (
	"regexp"
	"strings"
	"sync"
)

// A Part is a paragraph or a block. One of the fields is set.
type Part struct {
	Paragraph string   // may have several lines
	Heading   string   // of a section
	Terms     []Term   // of a list
	Steps     []string // lines of numbered steps
	Lines     []string // lines that stay as they are

	Close bool // no empty line stands between this part and the part above
}

// A Term is a line of a list.
type Term struct{ Name, Text string }

// Parse returns the parts of a help text.
func Parse(help string) (parts []Part) {
	lines := strings.Split(strings.Trim(help, "\n"), "\n")
	empty := true
	for len(lines) > 0 {
		n := len(lines)
		block := indented(lines[0])
		for i, line := range lines {
			if line == "" && (i+1 == len(lines) || !block || !indented(lines[i+1])) || line != "" && indented(line) != block {
				n = i
				break
			}
		}
		if n == 0 { // between paragraphs
			empty, lines = true, lines[1:]
			continue
		}
		text := strings.Join(lines[:n], "\n")
		var p Part
		switch heading := strings.TrimLeft(text, "#"); {
		case block:
			p = parseBlock(strings.Split(Dedent(text), "\n"))
		case heading != text:
			p.Heading = strings.TrimSpace(heading)
		default:
			p.Paragraph = text
		}
		p.Close = !empty
		parts, empty, lines = append(parts, p), false, lines[n:]
	}
	return parts
}

func indented(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
}

// Dedent removes the indentation that all lines share.
func Dedent(text string) string {
	lines := strings.Split(text, "\n")
	margin := -1
	for _, line := range lines {
		if n := len(line) - len(strings.TrimLeft(line, " \t")); strings.TrimSpace(line) != "" && (margin < 0 || n < margin) {
			margin = n
		}
	}
	for i, line := range lines {
		lines[i] = line[min(max(margin, 0), len(line)):]
	}
	return strings.Join(lines, "\n")
}

// Most runs of firn print no help, so the first help compiles the expressions.
var (
	termLine = compiled(`^(\S+(?: \S+)*)  +(\S.*)$`)
	stepLine = compiled(`^\d+\. `)
)

// compiled returns a function that compiles an expression once.
func compiled(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

func parseBlock(block []string) Part {
	if terms, ok := termsOf(block); ok {
		return Part{Terms: terms}
	}
	if stepLine().MatchString(block[0]) {
		return Part{Steps: block}
	}
	return Part{Lines: block}
}

// termsOf returns the terms and explanations of a block, if the block is a table: all explanations
// begin in one column, and lines without a term go on with the explanation above.
func termsOf(block []string) (terms []Term, ok bool) {
	column := -1
	for _, line := range block {
		found := termLine().FindStringSubmatchIndex(line)
		switch {
		case found != nil && (column < 0 || column == found[4]):
			column = found[4]
			terms = append(terms, Term{line[found[2]:found[3]], line[found[4]:]})
		case column > 0 && len(line) > column && strings.TrimSpace(line[:column]) == "" && line[column] != ' ':
			terms[len(terms)-1].Text += " " + line[column:]
		default:
			return nil, false
		}
	}
	return terms, true
}
