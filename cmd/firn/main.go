// Command firn makes IDs and takes them apart, in all of Firn's formats.
//
//	firn new nanoflake     make an ID, with a worker that no other process has
//	firn inspect 05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6
//	firn pool doctor       check the clock, the files and the workers
//	firn torture           show that leases survive faults
//
// The program writes data to stdout and everything else to stderr. The exit code is 0, 1 for a
// failed operation or an invalid ID, or 2 for wrong usage.
package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/ids"
	"github.com/firn-id/firn/cmd/firn/internal/pools"
	"github.com/firn-id/firn/cmd/firn/internal/torture/command"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// run runs the program, and returns the exit code.
func run(args []string, stdin, stdout, stderr *os.File) int {
	s := cli.NewStreams(stdin, stdout, stderr)
	root := newRoot(s)
	root.SetArgs(args)
	formats.NarrowCompletion(root, args)
	cmd, err := root.ExecuteContextC(context.Background())
	return s.End(cmd, err)
}

// newRoot returns the command firn with all commands below.
func newRoot(s *cli.Streams) *cobra.Command {
	root := &cobra.Command{
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
		Version: version(),
		Args:    cli.UnknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cli.Usagef("no command given: want %s", cli.List(cli.CommandNames(cmd), "or"))
		},
		SilenceErrors:              true, // Streams.End writes them
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(cli.FlagError)
	root.SetHelpFunc(cli.Help)
	s.AddColour(root)
	root.AddCommand(ids.New(s), ids.Inspect(s), pools.New(s), command.New(s), newVersion(s))
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

// strictCompletion makes wrong usage of the library's completion command an error.
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

// newVersion returns the command firn version.
func newVersion(s *cli.Streams) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of this program",
		Long: `Print the version of this program and of the Go that built it.

--json writes an object. The last three members are of the commit, if it is known:

  {"version":"v1.2.3","go":"go1.26.0","os":"linux","arch":"amd64",
   "revision":"…","time":"…","modified":false}`,
		Example:               "  firn version\n  firn version --json",
		DisableFlagsInUseLine: true,
		Args:                  cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return cli.WriteJSON(s.Out, readBuild())
			}
			_, err := fmt.Fprintf(s.Out, "firn version %s\n", version())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "write a JSON object")
	return cmd
}

// A build is what the Go toolchain noted about the build.
type build struct {
	Version  string `json:"version"` // of the module or the commit
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
	Revision string `json:"revision,omitempty"`
	Time     string `json:"time,omitempty"`
	Modified *bool  `json:"modified,omitempty"`
}

func readBuild() build {
	b := build{Version: "unknown", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	b.Version = cmp.Or(info.Main.Version, "(devel)")
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Revision = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			modified := s.Value == "true"
			b.Modified = &modified
		}
	}
	return b
}

// version returns the version of this program and of Go.
func version() string {
	b := readBuild()
	return b.Version + " " + b.Go
}
