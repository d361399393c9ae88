package main

import (
	"strings"

	"github.com/firn-id/firn/cmd/firn/internal/helptext"
)

// style is the Markdown that md2man reads.
var style = helptext.Style{Term: helptext.Bold, List: func(terms []helptext.Term) string {
	var list definitions
	for _, t := range terms {
		list.add(t.Name, t.Text)
	}
	return list.String()
}}

// definitions is a list of terms with explanations, in Markdown.
type definitions []string

func (d *definitions) add(term, text string) { *d = append(*d, term+"\n:   "+text+"\n") }

func (d definitions) String() string {
	if len(d) == 0 {
		return ""
	}
	return strings.Join(d, "\n") + "\n"
}
