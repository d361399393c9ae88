package helptext

import (
	"strings"
	"unicode/utf8"

	"github.com/mitchellh/go-wordwrap"
)

// measure is the length of the longest line of a paragraph in columns, however wide the terminal is.
const measure = 90

// indent is the indentation of blocks.
const indent = "  "

// Wrap returns a help text for a terminal with so many columns. Words and lines to type stay whole.
func Wrap(help string, columns int) string {
	var out strings.Builder
	for i, p := range Parse(help) {
		if i > 0 && !p.Close {
			out.WriteByte('\n')
		}
		switch {
		case p.Heading != "":
			out.WriteString(Paragraph(p.Heading, columns))
		case p.Paragraph != "":
			out.WriteString(Paragraph(p.Paragraph, columns))
		case p.Terms != nil:
			out.WriteString(Table(p.Terms, columns))
		case p.Steps != nil:
			for _, step := range joined(p.Steps) {
				mark, _, _ := strings.Cut(step, " ")
				out.WriteString(hang(indent, step, len(mark)+1, columns))
			}
		default:
			for _, line := range objects(p.Lines) {
				out.WriteString(Line(strings.ReplaceAll(line, "\t", indent), columns))
			}
		}
	}
	return out.String()
}

// Paragraph returns a text in lines of that length at most.
func Paragraph(text string, columns int) string {
	return wrapped(strings.Join(strings.Fields(text), " "), min(columns, measure)) + "\n"
}

// Table returns terms and their explanations in two columns. Where the second column would be narrow,
// explanations stand below their terms.
func Table(terms []Term, columns int) string {
	const narrow = 24
	columns = min(columns, measure)
	widest := 0
	for _, t := range terms {
		widest = max(widest, utf8.RuneCountInString(t.Name))
	}
	var out strings.Builder
	for _, t := range terms {
		if at := len(indent) + widest + 2; columns-at >= narrow {
			name := t.Name + strings.Repeat(" ", widest+2-utf8.RuneCountInString(t.Name))
			out.WriteString(hang(indent, name+t.Text, widest+2, columns))
			continue
		}
		out.WriteString(indent + t.Name + "\n" + hang("      ", t.Text, 0, columns))
	}
	return out.String()
}

// hang returns a text whose lines begin with a margin, and all lines but the first with so many more
// spaces. The text keeps its first characters, as many as these spaces.
func hang(margin, text string, more, columns int) string {
	head := string([]rune(text)[:more])
	body := wrapped(strings.TrimPrefix(text, head), max(columns-len(margin)-more, 1))
	return margin + head + strings.ReplaceAll(body, "\n", "\n"+margin+strings.Repeat(" ", more)) + "\n"
}

// joined joins each step with the lines below.
func joined(lines []string) (steps []string) {
	for _, line := range lines {
		if stepLine().MatchString(line) || len(steps) == 0 {
			steps = append(steps, line)
		} else {
			steps[len(steps)-1] += " " + strings.TrimSpace(line)
		}
	}
	return steps
}

// objects joins the lines of each object in JSON, which Line breaks anew.
func objects(lines []string) (all []string) {
	open := false
	for _, line := range lines {
		if open {
			all[len(all)-1] += strings.TrimSpace(line)
		} else {
			all = append(all, line)
		}
		open = strings.HasPrefix(all[len(all)-1], "{") && !strings.HasSuffix(line, "}")
	}
	return all
}

// wrapped is the library's, which breaks lines only at spaces.
func wrapped(text string, columns int) string { return wordwrap.WrapString(text, uint(columns)) }

// command matches a line that a shell runs.
var command = compiled(`(^|\| |\()\s*firn `)

// Line returns an indented line to type or to read. If the line is too long, Line breaks a command where
// a shell goes on in the next line, and JSON after a member.
func Line(line string, columns int) string {
	columns -= len(indent)
	breakOf, end, next := memberEnd, "", " "
	if command().MatchString(line) {
		breakOf, end, next = wordEnd, ` \`, "    "
	}
	var out strings.Builder
	more := ""
	for utf8.RuneCountInString(more+line) > columns {
		at := breakOf(line, columns-len(more)-len(end))
		if at == 0 {
			break
		}
		out.WriteString(indent + more + line[:at] + end + "\n")
		line, more = strings.TrimPrefix(line[at:], " "), next
	}
	return out.String() + indent + more + line + "\n"
}

// memberEnd returns the last place within some columns of JSON that is after a member, or 0.
func memberEnd(line string, columns int) (at int) {
	width := 0
	for i, r := range line {
		if width++; width > columns {
			break
		}
		if r == ',' && strings.HasPrefix(line[i+1:], `"`) {
			at = i + 1
		}
	}
	return at
}

// wordEnd returns the last place within some columns of a command that is before a flag, a pipe or a
// redirection. Without such a place, wordEnd returns the last place between words, or 0.
func wordEnd(line string, columns int) (at int) {
	var quote rune
	width, between := 0, 0
	for i, r := range line {
		if width > columns {
			break
		}
		width++
		switch {
		case quote == r:
			quote = 0
		case quote != 0:
		case r == '\'' || r == '"':
			quote = r
		case r == ' ' && i > 0:
			between = i
			if strings.ContainsRune("-|<>", rune(line[i+1])) {
				at = i
			}
		}
	}
	if at == 0 {
		return between
	}
	return at
}
