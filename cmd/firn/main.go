// Command firn makes IDs and takes them apart, in all of Firn's formats.
//
//	firn new nanoflake     make an ID, as a worker that nobody else is at that time
//	firn inspect 05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6
//	firn pool doctor       see whether the clock, the files and the workers are well
//	firn torture           see what they endure
//
// It writes data to stdout and everything else to stderr, and exits with 0, with 1 for
// a failed operation or an invalid ID, with 2 for wrong usage.
package main

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/ids"
	"github.com/firn-id/firn/cmd/firn/internal/pools"
	"github.com/firn-id/firn/cmd/firn/internal/torture/command"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run does what main does, up to the exit code.
func run(args []string, stdin, stdout, stderr *os.File) int {
	s := cli.NewStreams(stdin, stdout, stderr)
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(context.Background())
	return s.End(cmd, err)
}

// newRoot returns the command firn with all that is below it.
func newRoot(s *cli.Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "firn",
		Short: "Make time-ordered unique IDs, and take them apart",
		Long: `Make time-ordered unique IDs, and take them apart.

Formats: ` + cli.List(formats.Names(), "and") + `.

Exit codes: 0; 1 for a failed operation or an invalid ID; 2 for wrong usage.
Colour is used on a terminal only, and never if NO_COLOR is set and not empty.`,
		Example: `  firn new nanoflake -n 1000 > ids
  firn inspect nanoflake < ids
  firn inspect 05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6
  firn pool doctor`,
		Version: version(),
		Args:    cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Usagef("no command given: want %s", cli.List(cli.CommandNames(cmd), "or"))
		},
		SilenceErrors:              true, // report writes them
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.FlagError(err) })
	root.AddCommand(ids.New(s), ids.Inspect(s), pools.New(s), command.New(s))
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		switch cmd.Name() {
		case "help":
			strictHelp(cmd)
		case "completion":
			strictCompletion(cmd)
		}
	}
	return root
}

// strictHelp makes the library's help command refuse what it has no help for, which it
// would answer with the help of the command above.
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

// strictCompletion makes the library's completion command take wrong usage as such.
func strictCompletion(completion *cobra.Command) {
	completion.Example = "  source <(firn completion bash)\n  firn completion fish > ~/.config/fish/completions/firn.fish"
	completion.Args = cli.UnknownCommand
	completion.RunE = func(cmd *cobra.Command, _ []string) error {
		return cli.Usagef("no shell given: want %s", cli.List(cli.CommandNames(cmd), "or"))
	}
	for _, shell := range completion.Commands() {
		shell.Args = cli.UnknownCommand
	}
}

// version returns what the Go toolchain noted of the build: the module's version, or
// that of the commit.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	v := info.Main.Version
	if v == "" {
		v = "(devel)"
	}
	return v + " " + info.GoVersion
}
