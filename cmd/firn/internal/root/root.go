// Package root puts the command line together: the command firn, with all commands below it.
package root

import (
	"context"
	"os"
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
		Short: "Make time-ordered unique IDs, and take them apart",
		Long: `Make time-ordered unique IDs, and take them apart.

Formats: ` + cli.List(formats.Names(), "and") + `.

Exit codes: 0; 1 for a failed operation or an invalid ID; 2 for wrong usage.
Colour appears on terminals only. --color, $NO_COLOR and $CLICOLOR_FORCE decide otherwise.`,
		Example: `  firn new nanoflake -n 1000 > ids
  firn inspect nanoflake < ids
  firn inspect 05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6
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
	firn.AddCommand(ids.New(s), ids.Inspect(s))
	firn.AddCommand(files.Verify(s), files.Convert(s), stats.New(s))
	firn.AddCommand(times.Range(s), times.At(s), facts.Explain(s), facts.Selftest(s))
	firn.AddCommand(pools.New(s), serve.New(s), sql, command.New(s), version.Command(s))
	for _, cmd := range firn.Commands() {
		cmd.SuggestFor = otherWords[cmd.Name()]
	}
	plainUse(firn)
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

// plainUse leaves "[flags]" out of the lines of usage: each command has flags.
func plainUse(cmd *cobra.Command) {
	cmd.DisableFlagsInUseLine = true
	for _, c := range cmd.Commands() {
		plainUse(c)
	}
}

// strictHelp makes the library's help command refuse unknown commands. The library would print the
// help of the command above.
func strictHelp(help *cobra.Command) {
	help.Example = "  firn help new"
	help.Args = func(cmd *cobra.Command, args []string) error {
		found, rest, err := cmd.Root().Find(args)
		if err != nil {
			return cli.Usage(err)
		}
		return cli.UnknownCommand(found, rest)
	}
}

// shellExamples are examples for the library's commands, by the names of shells.
var shellExamples = map[string]string{
	"bash":       "  source <(firn completion bash)",
	"fish":       "  firn completion fish > ~/.config/fish/completions/firn.fish",
	"powershell": "  firn completion powershell > firn.ps1",
	"zsh":        "  firn completion zsh > _firn",
}

// strictCompletion makes wrong usage of the library's completion command an error.
func strictCompletion(completion *cobra.Command) {
	completion.Example = "  source <(firn completion bash)\n  firn completion fish > ~/.config/fish/completions/firn.fish"
	cli.NeedsCommand(completion, "shell")
	for _, shell := range completion.Commands() {
		shell.Args = cli.UnknownCommand
		shell.DisableFlagsInUseLine = true
		shell.Example = shellExamples[shell.Name()]
	}
}
