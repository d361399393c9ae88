package main

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestPages: each command has a page with all its flags and examples, and the sections are in order.
func TestPages(t *testing.T) {
	firn := commandLine()
	made := make(map[string]string)
	for _, p := range pages(firn, "v1.2.3", "2026-01-02") {
		made[p.name] = string(p.roff())
	}
	order := []string{
		"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO",
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		text, ok := made[name]
		if !ok {
			t.Errorf("%s has no page", cmd.CommandPath())
			return
		}
		if want := `.TH "` + strings.ToUpper(name) + `" "1" "2026-01-02" "firn v1.2.3" "Firn"`; !strings.Contains(text, want) {
			t.Errorf("%s: no %s in:\n%s", name, want, text[:min(len(text), 200)])
		}
		var sections []string
		for _, m := range regexp.MustCompile(`(?m)^\.SH (.*)$`).FindAllStringSubmatch(text, -1) {
			sections = append(sections, m[1])
		}
		place := func(s string) int { return slices.Index(order, s) }
		if !slices.IsSortedFunc(sections, func(a, b string) int { return place(a) - place(b) }) || len(sections) < 7 || place(sections[0]) != 0 {
			t.Errorf("%s: sections %q", name, sections)
		}
		plain := strings.NewReplacer(`\\`, `\`, `\-`, "-", `\[la]`, "<", `\[ra]`, ">", `\&`, "", `\[rs]`, `\`, `\(aq`, "'").Replace(text)
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, `\fB`+strings.ReplaceAll("--"+f.Name, "-", `\-`)+`\fP`) {
				t.Errorf("%s: no --%s", name, f.Name)
			}
		})
		for line := range strings.Lines(cmd.Example) {
			if !strings.Contains(plain, strings.TrimSpace(line)) {
				t.Errorf("%s: no %q", name, line)
			}
		}
		for _, c := range cmd.Commands() {
			if c.Name() != "help" && !c.Hidden {
				visit(c)
			}
		}
	}
	visit(firn)
}

// TestDocument: docs/commands.md has each command and each flag. The step generated compares the rest.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/commands.md")
	if err != nil {
		t.Fatal(err)
	}
	var visit func(cmd *cobra.Command)
	visit = func(cmd *cobra.Command) {
		_, section, found := strings.Cut(string(text), "\n## "+cmd.CommandPath()+"\n")
		section, _, _ = strings.Cut(section, "\n## ")
		if !found {
			t.Errorf("docs/commands.md is without %s: run go generate ./cmd/firn/internal/manpages", cmd.CommandPath())
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if found && !f.Hidden && !strings.Contains(section, "--"+f.Name) {
				t.Errorf("docs/commands.md is without --%s of %s", f.Name, cmd.CommandPath())
			}
		})
		for _, c := range cmd.Commands() {
			if documented(c) {
				visit(c)
			}
		}
	}
	visit(commandLine())
}
