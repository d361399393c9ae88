package tests

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"
)

// TestFlags: a script runs each command with each of its flags.
func TestFlags(t *testing.T) {
	alone, err := filepath.Glob("testdata/*.txtar")
	check(t, err)
	onServers, err := filepath.Glob("testdata/servers/*.txtar")
	check(t, err)
	if len(alone) == 0 || len(onServers) == 0 {
		t.Fatal("no scripts")
	}
	var lines []string
	for _, name := range slices.Concat(alone, onServers) {
		text, err := os.ReadFile(name)
		check(t, err)
		lines = append(lines, strings.Split(string(text), "\n")...)
	}
	for path, cmd := range newTree(t).all() {
		if !cmd.Runnable() || cmd.HasAvailableSubCommands() {
			continue
		}
		command := regexp.MustCompile(`\bfirn ` + regexp.QuoteMeta(path) + `\b(.*)`)
		var used []string // what comes after the command
		for _, line := range lines {
			if found := command.FindStringSubmatch(line); found != nil {
				used = append(used, found[1])
			}
		}
		cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
			form := `--` + regexp.QuoteMeta(f.Name) + `\b`
			if f.Shorthand != "" {
				form += `|(^|\s)-` + f.Shorthand + `\b`
			}
			given := regexp.MustCompile(form)
			if slices.ContainsFunc(used, given.MatchString) {
				return
			}
			if !f.Hidden && f.Name != "help" {
				t.Errorf("no script runs firn %s --%s", path, f.Name)
			}
		})
	}
}
