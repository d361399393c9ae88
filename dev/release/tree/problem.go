package tree

import (
	"fmt"
	"slices"
	"strings"
)

// A Problem is a reason not to make a release.
type Problem struct {
	File   string // the path from the top folder, with slashes
	Line   int    // the first line is 1; 0 if the fault has no line
	Text   string // the fault
	Advice string // what to do
}

// Error returns the problem in the form FILE:LINE: FAULT; ADVICE.
func (p Problem) Error() string {
	var b strings.Builder
	if p.File != "" {
		b.WriteString(p.File)
		if p.Line > 0 {
			fmt.Fprintf(&b, ":%d", p.Line)
		}
		b.WriteString(": ")
	}
	b.WriteString(p.Text)
	if p.Advice != "" {
		b.WriteString("; " + p.Advice)
	}
	return b.String()
}

// Sort sorts problems by file and line.
func Sort(problems []Problem) {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		if c := strings.Compare(a.File, b.File); c != 0 {
			return c
		}
		return a.Line - b.Line
	})
}
