package main

import (
	"flag"
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

var update = flag.Bool("update", false, "write docs/commands.md")

// TestDocument: docs/commands.md has today's help texts.
func TestDocument(t *testing.T) {
	const path = "../../../../docs/commands.md"
	made := documentOf(commandLine())
	if *update {
		if err := os.WriteFile(path, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const advice = "run go test ./cmd/firn/internal/manpages -update"
	committed, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v: %s", err, advice)
	}
	want, got := strings.Split(string(made), "\n"), strings.Split(string(committed), "\n")
	for i, line := range want {
		if i >= len(got) || got[i] != line {
			t.Fatalf("docs/commands.md is old in line %d: %s\n%s", i+1, advice, line)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("docs/commands.md is old at its end: %s", advice)
	}
}

// TestMarkdown: lists and lines to type stay what they are, and no character is markup by accident.
func TestMarkdown(t *testing.T) {
	for _, v := range []struct{ name, help, want string }{
		{"paragraphs", "One,\ntwo.\n\nThree.", "One,\ntwo.\n\nThree.\n\n"},
		{"characters", "a_b *c* <d> [e] `f` #1", "a\\_b \\*c\\* \\<d\\> \\[e\\] \\`f\\` \\#1\n\n"},
		{"terms below a line", "Is:\n  a    one\n  b c  two,\n       three\nEnd.",
			"Is:\n\n**a**\n:   one\n\n**b c**\n:   two, three\n\n\nEnd.\n\n"},
		{"steps", "Do:\n\n  1. this,\n     and that\n  2. more", "Do:\n\n1. this,\n   and that\n2. more\n\n"},
		{"lines", "Type:\n\n  firn new\n    more  words\n\nEnd.", "Type:\n\n```\nfirn new\n  more  words\n```\n\nEnd.\n\n"},
		{"lines with an empty line", "  a\n\n  b", "```\na\n\nb\n```\n\n"},
		{"lines behind a tab", "Type:\n\n\tfirn new\n", "Type:\n\n```\nfirn new\n```\n\n"},
		{"words in no column", "  a   b\n  aa  b\n  a  b", "```\na   b\naa  b\na  b\n```\n\n"},
		{"a heading", "#### Linux:\n\n\ta", "**Linux:**\n\n```\na\n```\n\n"},
	} {
		if got := style.Markdown(v.help); got != v.want {
			t.Errorf("%s: %q\nwant %q", v.name, got, v.want)
		}
	}
}
