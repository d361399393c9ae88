package tests

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// followCommand is the scripts' command "follow COMMAND [WORD...]". The last program has printed a command that begins
// with COMMAND. A shell runs this command as printed, with the words at the end.
func followCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: follow COMMAND [WORD...]")
	}
	begins := regexp.MustCompile(`  (` + regexp.QuoteMeta(args[0]) + `.*)`)
	var lines []string
	for _, name := range []string{"stderr", "stdout"} {
		for _, found := range begins.FindAllStringSubmatch(ts.ReadFile(name), -1) {
			if line := strings.TrimRight(found[1], "\r"); !slices.Contains(lines, line) {
				lines = append(lines, line)
			}
		}
	}
	if len(lines) != 1 {
		ts.Fatalf("the last program has not printed one command that begins with %q, but %q", args[0], lines)
	}
	line := strings.Join(append(lines, args[1:]...), " ")
	ts.Check(ts.Exec("sh", "-c", "exec "+line))
}
