package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/root"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// TestPages: each command has a page, with its version, its date and all its flags.
func TestPages(t *testing.T) {
	dir := t.TempDir()
	testkit.OK(t, write(dir, "v1.2.3", "2026-01-02"))
	each(func(cmd *cobra.Command) {
		name := strings.ReplaceAll(cmd.CommandPath(), " ", "-")
		page, err := os.ReadFile(filepath.Join(dir, name+".1"))
		if err != nil {
			t.Error(err)
		}
		text := strings.ReplaceAll(string(page), `\-`, "-")
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden && !strings.Contains(text, "--"+f.Name) {
				t.Errorf("%s: no --%s", name, f.Name)
			}
		})
		for _, want := range []string{"Jan 2026", "firn v1.2.3", cmd.Short} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q", name, want)
			}
		}
	})
}

// TestDocument: docs/commands.md is what the program would write.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/commands.md")
	testkit.OK(t, err)
	if string(text) != string(documentOf()) {
		t.Error("docs/commands.md is old: run go generate ./cmd/firn/internal/manpages")
	}
}

// each calls f for all commands.
func each(f func(*cobra.Command)) {
	var visit func(*cobra.Command)
	visit = func(cmd *cobra.Command) {
		f(cmd)
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				visit(c)
			}
		}
	}
	visit(root.New(cli.NewStreams(os.Stdin, os.Stdout, os.Stderr)))
}
