// Package findings collects the reports of stores to operators.
package findings

import (
	"errors"
	"fmt"

	"github.com/firn-id/firn/lease/driver"
)

// A List is the findings of one inspection. A store embeds a List in the type of an inspection.
type List struct{ all []driver.Finding }

// Loses adds a finding about lost changes: see [driver.Finding].
func (l *List) Loses(advice, format string, args ...any) {
	l.Add(driver.Finding{Loses: true, Advice: advice}, format, args...)
}

// Blocks adds a finding about changes that the store refuses: see [driver.Finding].
func (l *List) Blocks(advice, format string, args ...any) {
	l.Add(driver.Finding{Blocks: true, Advice: advice}, format, args...)
}

// Note adds any other finding.
func (l *List) Note(advice, format string, args ...any) {
	l.Add(driver.Finding{Advice: advice}, format, args...)
}

// Add adds a finding with a text.
func (l *List) Add(f driver.Finding, format string, args ...any) {
	f.Text = fmt.Sprintf(format, args...)
	l.all = append(l.all, f)
}

// Unknown adds a note about a failed check: the unknown fact, and the reason.
func (l *List) Unknown(what string, err error) {
	var f driver.Finding
	if e, ok := errors.AsType[*driver.Error](err); ok {
		f.Remedy, err = e.Remedy, e.Err
	}
	l.Add(f, "it could not be found out %s: %v", what, err)
}

// All returns the findings, the worst first.
func (l *List) All() []driver.Finding { return driver.WorstFirst(l.all) }
