// Package root puts the command line together: the command firn, with all commands below it.
package root

import (
	"context"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/facts"
	"github.com/firn-id/firn/cmd/firn/internal/files"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/ids"
	"github.com/firn-id/firn/cmd/firn/internal/pools"
	"github.com/firn-id/firn/cmd/firn/internal/serve"
	"github.com/firn-id/firn/cmd/firn/internal/sqlgen"
	"github.com/firn-id/firn/cmd/firn/internal/sqlscripts"
	"github.com/firn-id/firn/cmd/firn/internal/stats"
	"github.com/firn-id/firn/cmd/firn/internal/times"
	"github.com/firn-id/firn/cmd/firn/internal/torture/command"
	"github.com/firn-id/firn/cmd/firn/internal/version"
	"github.com/firn-id/firn/inspect"
)

// Run runs the program with arguments and returns the exit code.
func Run(args []string, stdin, stdout, stderr *os.File) int {
	s := cli.NewStreams(stdin, stdout, stderr)
	firn := New(s)
	firn.SetArgs(args)
	formats.NarrowCompletion(firn, args)
	defer s.Guard()()
	cmd, err := firn.ExecuteContextC(context.Background())
	return s.End(cmd, err)
}

// New returns the command firn with all commands below.
func New(s *cli.Streams) *cobra.Command {
	firn := &cobra.Command{
		Use:   "firn",
		Short: "Generate and inspect time-ordered unique IDs",
		Long: `Generate and inspect time-ordered unique IDs.

Formats: ` + cli.List(formats.Names(), "and") + `.
Exit codes: 0; 1 for a failed operation or an invalid ID; 2 for wrong usage.`,
		Example: `  firn new nanoflake -n 1000 > ids
  firn inspect nanoflake < ids
  firn pool doctor`,
		Version:       version.Read().String(),
		Args:          unknownCommand,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
		SilenceErrors: true, // Streams.End writes them
		SilenceUsage:  true,
	}
	firn.SetIn(s.In)
	firn.SetOut(s.Out)
	firn.SetErr(s.Err)
	firn.SetFlagErrorFunc(cli.FlagError)
	firn.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if _, words, err := firn.Find(args); err == nil {
			formats.Narrow(cmd, words)
		}
		s.Help(cmd)
	})
	s.AddColour(firn)
	sql := sqlscripts.New(s)
	sql.AddCommand(sqlgen.Generator(s), sqlgen.Feed(s))
	for _, g := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"IDs", []*cobra.Command{ids.New(s), ids.Inspect(s), times.At(s), times.Range(s), facts.Explain(s)}},
		{"Files", []*cobra.Command{files.Verify(s), files.Convert(s), stats.New(s)}},
		{"Pools", []*cobra.Command{pools.New(s), command.New(s)}},
		{"Databases", []*cobra.Command{sql}},
		{"Server", []*cobra.Command{serve.New(s)}},
		{"Other", []*cobra.Command{facts.Selftest(s), version.Command(s)}},
	} {
		firn.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID, cmd.SuggestFor = g.title, otherWords[cmd.Name()]
			firn.AddCommand(cmd)
		}
	}
	firn.SetCompletionCommandGroupID("Other")
	cli.NameValues(firn)
	firn.InitDefaultHelpCmd()
	firn.InitDefaultCompletionCmd()
	for _, cmd := range firn.Commands() {
		switch cmd.Name() {
		case "help":
			strictHelp(cmd)
		case "completion":
			strictCompletion(cmd)
		}
	}
	finish(firn)
	return firn
}

// otherWords are words of other programs for the commands.
var otherWords = map[string][]string{
	"new":     {"create", "gen", "generate", "make"},
	"inspect": {"decode", "id", "info", "parse", "show"},
	"verify":  {"check", "duplicates", "validate"},
	"convert": {"encode", "transcode"},
	"range":   {"between", "where"},
	"explain": {"describe", "format", "formats"},
	"pool":    {"pools", "workers"},
	"serve":   {"server", "daemon", "listen"},
}

// unknownCommand is [cli.UnknownCommand] for the first word after firn, which may be a format or an ID.
func unknownCommand(firn *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	word := args[0]
	if f, ok := formats.Lookup(word); ok {
		return cli.Usagef("unknown command %q: did you mean firn new %s?", word, f.Name())
	}
	if len(inspect.Candidates(word, inspect.Settings{}, time.Now())) > 0 {
		return cli.Usagef("unknown command %q: did you mean firn inspect %s?", word, word)
	}
	return cli.UnknownCommand(firn, args)
}

// finish sets what all commands have: pages to read, and lines of usage without "[flags]", since each command has flags.
func finish(cmd *cobra.Command) {
	cmd.DisableFlagsInUseLine = true
	cli.SeeAlso(cmd, pages[strings.TrimPrefix(cmd.CommandPath(), "firn ")]...)
	for _, c := range cmd.Commands() {
		finish(c)
	}
}

// pages are what to read about the commands: other commands, and pages of docs.
var pages = map[string][]string{
	"firn":             {"https://github.com/firn-id/firn", "commands.md"},
	"new":              {"firn explain --help", "formats.md", "command-line.md#generating-ids"},
	"inspect":          {"firn pool who --help", "inspect.md"},
	"at":               {"command-line.md#ids-for-existing-rows"},
	"range":            {"sql-functions.md#ranges-of-times", "command-line.md#ids-of-a-time-range"},
	"explain":          {"formats.md"},
	"selftest":         {"command-line.md#testing-a-machine"},
	"verify":           {"files.md"},
	"convert":          {"files.md"},
	"stats":            {"files.md#statistics"},
	"pool":             {"leases.md", "stores.md"},
	"pool create":      {"stores.md#a-pool-is-created-once"},
	"pool list":        {"command-line.md#pools-as-json"},
	"pool show":        {"command-line.md#pools-as-json", "monitoring.md"},
	"pool who":         {"leases.md#who-made-an-id", "command-line.md#pools-as-json"},
	"pool doctor":      {"runbook.md", "command-line.md#findings-of-doctor"},
	"pool recover":     {"stores.md#recovery", "runbook.md"},
	"pool permissions": {"stores.md#permissions"},
	"torture":          {"command-line.md#testing-a-machine"},
	"serve":            {"server.md", "server-configuration.md", "deploy.md#firn-serve"},
	"sql":              {"sql-functions.md", "sql-generator.md"},
	"sql postgres":     {"sql-functions.md#postgresql"},
	"sql mysql":        {"sql-functions.md#mariadb-and-mysql"},
	"sql sqlite":       {"sql-functions.md#sqlite"},
	"sql generator":    {"firn sql feed --help", "sql-generator.md"},
	"sql feed":         {"firn sql generator --help", "sql-generator.md"},
}

// strictHelp makes the library's help command refuse unknown commands. The library would print the
// help of the command above.
func strictHelp(help *cobra.Command) {
	help.Args = func(cmd *cobra.Command, args []string) error {
		found, rest, err := cmd.Root().Find(args)
		if err != nil {
			return cli.Usage(err)
		}
		return cli.UnknownCommand(found, rest)
	}
}

// strictCompletion makes wrong usage of the library's completion command an error.
func strictCompletion(completion *cobra.Command) {
	cli.NeedsCommand(completion, "shell")
	for _, shell := range completion.Commands() {
		shell.Args = cli.UnknownCommand
	}
}
