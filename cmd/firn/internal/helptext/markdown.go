package helptext

import (
	"strings"
)

// A Style is what differs between dialects of Markdown.
type Style struct {
	// List writes a list of terms. The texts are escaped, and the terms are bold or code.
	List func(terms []Term) string
	// Term writes a term of a list, or a heading.
	Term func(text string) string
}

// Markdown returns a help text in Markdown.
func (s Style) Markdown(help string) string {
	var out strings.Builder
	for _, p := range Parse(help) {
		switch {
		case p.Heading != "":
			out.WriteString(Bold(p.Heading) + "\n\n")
		case p.Paragraph != "":
			out.WriteString(Escape(p.Paragraph) + "\n\n")
		case p.Terms != nil:
			var list []Term
			for _, t := range p.Terms {
				list = append(list, Term{s.Term(t.Name), Escape(t.Text)})
			}
			out.WriteString(s.List(list) + "\n")
		case p.Steps != nil:
			out.WriteString(Escape(strings.Join(p.Steps, "\n")) + "\n\n")
		default:
			out.WriteString(Code(p.Lines) + "\n")
		}
	}
	return out.String()
}

// Code returns lines that stay as they are.
func Code(lines []string) string {
	if strings.Join(lines, "") == "" {
		return ""
	}
	return "```\n" + strings.Join(lines, "\n") + "\n```\n"
}

// Bold returns a text in bold.
func Bold(text string) string { return "**" + Escape(text) + "**" }

// special are the characters that mean something in Markdown.
var special = compiled("[\\\\`*_\\[\\]<>{}#|~]")

// Escape returns a text in which no character means anything in Markdown.
func Escape(text string) string { return special().ReplaceAllString(text, `\$0`) }
