package tests

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// advisesCommand is the scripts' command "advises TEXT...": the last program has written the texts, in this order, to
// stderr or to stdout. What varies is between two texts. Line breaks count as spaces, since notes are wrapped.
func advisesCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: advises TEXT...")
	}
	for _, name := range []string{"stderr", "stdout"} {
		rest, found := oneLine(ts.ReadFile(name)), true
		for _, text := range args {
			if found {
				_, rest, found = strings.Cut(rest, oneLine(text))
			}
		}
		if found {
			return
		}
	}
	ts.Fatalf("neither stderr nor stdout has %q", args)
}

// oneLine returns a text in which one space stands for each run of spaces and line breaks.
func oneLine(text string) string { return regexp.MustCompile(`\s+`).ReplaceAllString(text, " ") }

// followCommand is the scripts' command "follow COMMAND [WORD...]". The last program has printed a command that begins
// with COMMAND. A shell runs this command as printed, with the words at the end.
func followCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: follow COMMAND [WORD...]")
	}
	begins := regexp.MustCompile(`(?:^|[^a-z])(` + regexp.QuoteMeta(args[0]) + `(?:'[^']*'|\\.|[^'"\\();?\n])*)`)
	var lines []string
	for _, name := range []string{"stderr", "stdout"} {
		for _, found := range begins.FindAllStringSubmatch(ts.ReadFile(name), -1) {
			if line := strings.TrimRight(found[1], " .:,\r"); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) == 2 && strings.HasSuffix(lines[1], " --help") { // the last line of an error of usage
		lines = lines[:1]
	}
	if len(lines) != 1 {
		ts.Fatalf("the last program has not printed one command that begins with %q, but %q", args[0], lines)
	}
	line := strings.Join(append(lines, args[1:]...), " ")
	ts.Check(ts.Exec("sh", "-c", "exec "+line))
}
