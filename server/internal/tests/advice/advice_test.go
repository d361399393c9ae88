// Package advice follows the advice of the server's errors. Tables have a fault for each advice in the sources of module
// server: what meets the error, and what a reader of the advice does next. The next step has to succeed.
package advice

import (
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/sources"
	"github.com/firn-id/firn/server/internal/reason"
)

// A fault is an error with advice.
type fault struct {
	name string
	meet func(t *testing.T) string // returns the error as the server prints the error
	ways []way
}

// A way is a part of an advice, and what a reader of the part does next.
type way struct {
	says   string
	follow func(t *testing.T) error
}

// unfollowed is advice that no fault of the tables meets, each with the reason.
var unfollowed = map[string]string{
	"clients are slow to read %d large answers: ask again, or for fewer IDs at a time": "server/internal/resp TestBusy follows it",
	"listen on %v: %v": "says what the server has tried",
}

// advised matches the beginning of an advice in a text.
var advised = regexp.MustCompile(`(?:^|: |; |, |\. |\bor |\band )((?:accept|add|ask|call|change|check|chmod|choose|close|connect|create|did you mean|` +
	`end|for more|free|give|keep|leave|let|listen on|look|lower|make|mend|move|(?:n|as) must be|name|pass|put|raise|read|remove|renew|restart|run|see|send|set|` +
	`speak|start|stop|take|try|turn|use|wait|want|write)(?:[ ,]|$))`)

// begins returns where the parts of an advice begin in a text.
func begins(text string) (all []int) {
	for from := 0; from < len(text); {
		at := advised.FindStringSubmatchIndex(text[from:])
		if at == nil || from > 0 && at[0] == 0 && at[2] == 0 { // not the beginning of the text
			return all
		}
		all = append(all, from+at[2])
		from += at[3] - 1
	}
	return all
}

// TestAdvice meets the faults and follows their advice. Each part of an advice needs a way, and each advice of the
// sources needs a fault.
func TestAdvice(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the shell and the modes of files are those of Unix")
	}
	var printed []string
	for _, table := range [][]fault{files(t), secrets(t), requests(t), calls(t)} {
		for _, f := range table {
			t.Run(strings.ReplaceAll(f.name, "/", "|"), func(t *testing.T) {
				text := f.meet(t)
				printed = append(printed, text)
				led := map[int]bool{}
				for _, w := range f.ways {
					at := strings.Index(text, w.says)
					if at < 0 || w.says == "" {
						t.Errorf("the error\n\t%s\ndoes not say\n\t%s", text, w.says)
						continue
					}
					for _, b := range begins(text) {
						led[b] = led[b] || at <= b && b < at+len(w.says)
					}
					if err := w.follow(t); err != nil {
						t.Errorf("the advice\n\t%s\nof\n\t%s\nleads to\n\t%v", w.says, text, err)
					}
				}
				for _, b := range begins(text) {
					if !led[b] {
						t.Errorf("no way follows\n\t%s\nof\n\t%s", text[b:], text)
					}
				}
			})
		}
	}
	if t.Failed() {
		return // a part of the errors
	}
	complete(t, printed)
}

// complete demands that each advice of the sources was printed, or stands in the table of advice that is not followed.
func complete(t *testing.T, printed []string) {
	remedies := map[string]bool{} // in documents alone
	for _, r := range reason.All() {
		remedies[r.Remedy] = true
	}
	where := map[string]string{}
	for _, s := range sources.Texts(t, filepath.Join("..", "..", ".."), "tests", "firnv1") {
		if strings.Contains(s.Text, " ") && advised.MatchString(s.Text) && !remedies[s.Text] {
			where[s.Text] = s.Where
		}
	}
	if len(where) < 80 {
		t.Errorf("the sources have %d texts with advice: they were not found", len(where))
	}
	followed := map[string]bool{}
	for _, text := range printed {
		var by []string // the texts that may have printed the error
		most := 0
		for advice := range where {
			if n := sources.Fixed(advice); n >= most && sources.Pattern(strings.TrimSpace(advice)).MatchString(text) {
				if n > most {
					by, most = nil, n
				}
				by = append(by, advice)
			}
		}
		for _, advice := range by {
			followed[advice] = true
		}
	}
	for advice, at := range where {
		if _, ok := unfollowed[advice]; !ok && !followed[advice] {
			t.Errorf("%s: nothing follows the advice\n\t%s", at, advice)
		} else if ok && followed[advice] {
			t.Errorf("%s: a fault follows the advice, so the table need not have\n\t%s", at, advice)
		}
	}
	for advice := range unfollowed {
		if where[advice] == "" {
			t.Errorf("no text has the advice\n\t%s", advice)
		}
	}
}

// TestBegins: the check sees the parts of an advice, and no others.
func TestBegins(t *testing.T) {
	for text, want := range map[string]int{
		"order: count: n is 0: want 1 to 10": 1,
		"use INCR":                           1,
		"is empty: leave out the setting, or give a value; see --help": 3,
		"add --tls-cert FILE, or listen on a loopback address":         2,
		"unknown format \"nanoflak\": did you mean nanoflake?":         1,
		"name: the use of addresses, names and tokens; form-action":    0,
		"": 0,
	} {
		if got := begins(text); len(got) != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
