// Package advice follows the advice of errors. The table of a test has a fault for each advice in the sources of a
// package: what meets the error, and what a reader of the advice does next. The next step has to succeed. An advice that
// no fault of the table meets fails the test.
package advice

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/firn-id/firn/internal/testing/sources"
)

// A Fault is an error with advice.
type Fault struct {
	Name string
	Meet func(t *testing.T) string // returns the error as users read the error
	Ways Ways
}

// Ways are what a reader of an advice does next, by parts of the text that Meet returns. The ways are gone in the order of
// the parts.
type Ways map[string]func(t *testing.T) error

// Text returns the text of an error that has to come.
func Text(t testing.TB, err error) string {
	t.Helper()
	if err == nil {
		t.Fatal("there is no error")
	}
	return err.Error()
}

// Changed returns the Fault of an input, such as an address, that try refuses. ways are parts of the advice, each with
// the mended input.
func Changed(try func(t *testing.T, input string) error, input string, ways ...string) Fault {
	f := Fault{Name: input, Meet: func(t *testing.T) string { return Text(t, try(t, input)) }, Ways: Ways{}}
	for i := 0; i < len(ways); i += 2 {
		f.Ways[ways[i]] = func(t *testing.T) error { return try(t, ways[i+1]) }
	}
	return f
}

// advised matches the beginning of an advice in a text.
var advised = regexp.MustCompile(`(?:^|: |; |, |\. |\(|\b(?:or|and|then) )((?:accept|add|allow|ask|bind|bring|call|change|check|chmod|choose|clear|close|compact|connect|create|did you mean|` +
	`end|find the|for more|forbid|free|give|grant|have (?:a|fewer|it)|keep|leave|let|listen on|look|lower|make|mend|mount|move|(?:n|as) must be|name|pass|promote|put|raise|read|remove|renew|rescue|reset|` +
	`restart|restore|run|search|see|send|set|speak|start|stop|switch|take|trust|try|turn|upgrade|use|wait|want|write)(?:[ ,]|$))`)

// operation matches the operation of an error of a store or of the system, as in "put KEY: …", "write PATH: …" and
// "write tcp ADDRESS: …", which is no advice. forbidden matches what an advice says not to do.
var (
	operation = regexp.MustCompile(`^(?:(?:put|read) [^ ]+|write /[^:]*|(?:read|write) tcp [^ ]+): `)
	forbidden = regexp.MustCompile(`\bdo not (?:\w+, )*\w+ or \w+`)
)

// begins returns where the parts of an advice begin in a text.
func begins(text string) (all []int) {
	never := forbidden.FindAllStringIndex(text, -1)
	for from := 0; from < len(text); {
		at := advised.FindStringSubmatchIndex(text[from:])
		if at == nil || from > 0 && at[0] == 0 && at[2] == 0 { // not the beginning of the text
			return all
		}
		b := from + at[2]
		if !operation.MatchString(text[b:]) && !slices.ContainsFunc(never, func(f []int) bool { return f[0] <= b && b < f[1] }) {
			all = append(all, b)
		}
		from += at[3] - 1
	}
	return all
}

// A Test is what Check demands.
type Test struct {
	Tables [][]Fault
	Texts  []sources.Text // of the sources
	Least  int            // how many of the Texts have advice, at least: fewer were not found

	// Unfollowed is advice that no fault of the tables meets, each with the reason. Parts of an advice that is met may stand
	// there, too.
	Unfollowed map[string]string
}

// Check meets the faults and follows their advice. Each part of an advice needs a way, and each advice of the sources
// needs a fault.
func Check(t *testing.T, c Test) {
	t.Helper()
	said := map[string]string{} // advice of the sources, and where it is
	for _, s := range c.Texts {
		if strings.Contains(s.Text, " ") && len(begins(s.Text)) > 0 {
			said[s.Text] = s.Where
		}
	}
	if len(said) < c.Least {
		t.Errorf("the sources have %d texts with advice: they were not found", len(said))
	}
	followed := map[string]bool{}
	for _, table := range c.Tables {
		for _, f := range table {
			t.Run(strings.ReplaceAll(f.Name, "/", "|"), func(t *testing.T) {
				text := f.Meet(t)
				led := f.follow(t, text)
				for _, b := range begins(text) {
					by := sayers(said, text, b)
					if !led[b] && !excused(by, text[b:], c.Unfollowed) {
						t.Errorf("no way follows\n\t%s\nof\n\t%s", text[b:], text)
					}
					for _, advice := range by {
						followed[advice] = followed[advice] || led[b]
					}
				}
			})
		}
	}
	if t.Failed() {
		return // a part of the errors
	}
	for advice, at := range said {
		if _, ok := c.Unfollowed[advice]; !ok && !followed[advice] {
			t.Errorf("%s: nothing follows the advice\n\t%s", at, advice)
		} else if ok && followed[advice] {
			t.Errorf("%s: a fault follows the advice, so the table need not have\n\t%s", at, advice)
		}
	}
	for advice, reason := range c.Unfollowed {
		stands := said[advice] != ""
		for text := range said {
			stands = stands || strings.Contains(text, advice)
		}
		if !stands || reason == "" {
			t.Errorf("no text has the advice, or the table has no reason\n\t%s", advice)
		}
	}
}

// follow goes the ways of a fault, and returns the parts of the advice that they begin with or have.
func (f *Fault) follow(t *testing.T, text string) (led map[int]bool) {
	t.Helper()
	led = map[int]bool{}
	parts := slices.SortedFunc(maps.Keys(f.Ways), func(a, b string) int {
		return cmp.Compare(strings.Index(text, a), strings.Index(text, b))
	})
	for _, says := range parts {
		at := strings.Index(text, says)
		if at < 0 || says == "" {
			t.Errorf("the error\n\t%s\ndoes not say\n\t%s", text, says)
			continue
		}
		for _, b := range begins(text) {
			led[b] = led[b] || at <= b && b < at+len(says)
		}
		if err := f.Ways[says](t); err != nil {
			t.Errorf("the advice\n\t%s\nof\n\t%s\nleads to\n\t%v", says, text, err)
		}
	}
	return led
}

// excused reports whether the table of advice that is not followed has a part of an advice.
func excused(by []string, rest string, unfollowed map[string]string) bool {
	for _, advice := range by {
		if unfollowed[advice] != "" {
			return true
		}
	}
	for advice := range unfollowed {
		if strings.HasPrefix(rest, advice) {
			return true
		}
	}
	return false
}

// sayers returns the texts of the sources that may have printed the part of an advice at a place of a text: those with
// the most bytes beside their verbs.
func sayers(said map[string]string, text string, at int) (by []string) {
	most := 0
	for advice := range said {
		n := sources.Fixed(advice)
		if n < most || !prints(advice, text, at) {
			continue
		}
		if n > most {
			by, most = nil, n
		}
		by = append(by, advice)
	}
	return by
}

// prints reports whether a text of the sources may have printed the part of an advice at a place of a text.
func prints(advice, text string, at int) bool {
	for _, b := range begins(advice) {
		from, to := sources.Segment(advice, b)
		if part := advice[from:to]; at >= b-from && strings.HasPrefix(text[at-(b-from):], strings.TrimRightFunc(part, unicode.IsSpace)) {
			return sources.Pattern(strings.TrimSpace(advice)).MatchString(text)
		}
	}
	return false
}
