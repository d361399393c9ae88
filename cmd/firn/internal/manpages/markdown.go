package main

import (
	"regexp"
	"slices"
	"strings"
)

// markdown turns a help text into Markdown. A help text has paragraphs and blocks. The lines of a
// block are indented. A block is a list of terms with explanations, a list of numbered steps, or
// lines to type or to read as they are.
func markdown(help string) string {
	var out strings.Builder
	lines := strings.Split(strings.Trim(help, "\n"), "\n")
	for len(lines) > 0 {
		n := len(lines)
		block := indented(lines[0])
		for i, line := range lines {
			if line == "" && (i+1 == len(lines) || !block || !indented(lines[i+1])) || line != "" && indented(line) != block {
				n = i
				break
			}
		}
		switch part := lines[:n]; {
		case n == 0: // between paragraphs
			n = 1
		case block:
			out.WriteString(list(strings.Split(dedent(strings.Join(part, "\n")), "\n")) + "\n")
		default:
			text := strings.Join(part, "\n")
			if heading := strings.TrimLeft(text, "#"); heading != text {
				out.WriteString(bold(strings.TrimSpace(heading)) + "\n\n")
			} else {
				out.WriteString(escape(text) + "\n\n")
			}
		}
		lines = lines[n:]
	}
	return out.String()
}

func indented(line string) bool {
	return strings.HasPrefix(line, "  ") || strings.HasPrefix(line, "\t")
}

// dedent removes the indentation that all lines share.
func dedent(text string) string {
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

var (
	termLine = regexp.MustCompile(`^(\S+(?: \S+)*)  +(\S.*)$`)
	stepLine = regexp.MustCompile(`^\d+\. `)
)

// list returns a block as Markdown.
func list(block []string) string {
	if terms, ok := termsOf(block); ok {
		return terms.String()
	}
	if stepLine.MatchString(block[0]) {
		return escape(strings.Join(block, "\n")) + "\n"
	}
	return code(block)
}

// termsOf returns the terms and explanations of a block, if the block is a table: all explanations
// begin in one column, and lines without a term go on with the explanation above.
func termsOf(block []string) (definitions, bool) {
	var list definitions
	var term string
	var text []string
	column := -1
	flush := func() {
		if term != "" {
			list.add(bold(term), escape(strings.Join(text, " ")))
		}
	}
	for _, line := range block {
		found := termLine.FindStringSubmatchIndex(line)
		switch {
		case found != nil && (column < 0 || column == found[4]):
			flush()
			column, term, text = found[4], line[found[2]:found[3]], []string{line[found[4]:]}
		case column > 0 && len(line) > column && strings.TrimSpace(line[:column]) == "" && line[column] != ' ':
			text = append(text, line[column:])
		default:
			return nil, false
		}
	}
	flush()
	return list, true
}

// definitions is a list of terms with explanations, in Markdown.
type definitions []string

func (d *definitions) add(term, text string) { *d = append(*d, term+"\n:   "+text+"\n") }

func (d definitions) String() string {
	if len(d) == 0 {
		return ""
	}
	return strings.Join(d, "\n") + "\n"
}

// code returns lines that stay as they are.
func code(lines []string) string {
	if len(lines) == 0 || slices.Equal(lines, []string{""}) {
		return ""
	}
	return "```\n" + strings.Join(lines, "\n") + "\n```\n"
}

func bold(text string) string { return "**" + escape(text) + "**" }

// special are the characters that mean something in Markdown.
var special = regexp.MustCompile("[\\\\`*_\\[\\]<>{}#|~]")

// escape returns a text in which no character means anything in Markdown.
func escape(text string) string { return special.ReplaceAllString(text, `\$0`) }
