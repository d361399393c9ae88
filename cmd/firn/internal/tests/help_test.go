package tests

import (
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestHelpFits: no line of a help text is wider than the terminal. A single word, such as
// an address, stays whole.
func TestHelpFits(t *testing.T) {
	for _, columns := range []int{60, 80, 120} {
		t.Run(strconv.Itoa(columns), func(t *testing.T) {
			w := newTree(t)
			w.streams.Width = columns
			for path := range w.all() {
				help, err := w.run(words(path, "--help")...)
				check(t, err)
				for line := range strings.Lines(help) {
					line = strings.TrimSuffix(line, "\n")
					if utf8.RuneCountInString(line) > columns && strings.Contains(strings.TrimLeft(line, " "), " ") {
						t.Errorf("firn %s: %d columns: %s", path, utf8.RuneCountInString(line), line)
					}
				}
			}
		})
	}
}

// TestHelpWhole: at each width, the help has the same words.
func TestHelpWhole(t *testing.T) {
	said := func(columns int) map[string]string {
		w := newTree(t)
		w.streams.Width = columns
		texts := make(map[string]string)
		for path := range w.all() {
			help, err := w.run(words(path, "--help")...)
			check(t, err)
			help = strings.ReplaceAll(help, " \\\n", "\n") // a command in two lines
			texts[path] = strings.Join(strings.Fields(help), "")
		}
		return texts
	}
	wide := said(400)
	for _, columns := range []int{1, 40, 60, 80, 120} {
		for path, text := range said(columns) {
			if text != wide[path] {
				t.Errorf("firn %s: other words at %d columns than at 400", path, columns)
			}
		}
	}
}

// TestShorts: the summary of a command fits a line of the help above, and begins with a verb in the
// imperative, without an end.
func TestShorts(t *testing.T) {
	for path, cmd := range newTree(t).all() {
		if n := len(cmd.Short); n == 0 || n > 68 || strings.HasSuffix(cmd.Short, ".") || cmd.Short[0] < 'A' || cmd.Short[0] > 'Z' {
			t.Errorf("firn %s: %q", path, cmd.Short)
		}
	}
}
