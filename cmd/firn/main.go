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
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

// streams are where a command reads and writes.
//
// All of stdout goes through one buffer, so that a write that fails is noticed wherever
// it happens: the buffer keeps the error until the last Flush, in run.
type streams struct {
	in     io.Reader
	out    *bufio.Writer
	err    io.Writer
	colour bool // out is for eyes that see it
	last   last // what remains to be done if the process is about to end
}

// outSize is the size of stdout's buffer, and about that of its writes in bulk.
const outSize = 64 << 10

// run does what main does, up to the exit code.
func run(args []string, stdin, stdout, stderr *os.File) int {
	s := &streams{in: stdin, err: stderr, colour: wantsColour(stdout)}
	s.out = bufio.NewWriterSize(output{stdout, &s.last}, outSize)
	root := newRoot(s)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(context.Background())
	if flushErr := s.out.Flush(); err == nil {
		err = flushErr
	}
	var sig interrupted
	if errors.As(err, &sig) {
		sig.raise()
	}
	return report(stderr, cmd, err)
}

// wantsColour tells whether output to f is coloured: on a terminal that knows colours,
// unless its user said no.
func wantsColour(f *os.File) bool {
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))
}

// newRoot returns the command firn with all that is below it.
func newRoot(s *streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "firn",
		Short: "Make time-ordered unique IDs, and take them apart",
		Long: `Make time-ordered unique IDs, and take them apart.

Formats: ` + list(names(), "and") + `.

Exit codes: 0; 1 for a failed operation or an invalid ID; 2 for wrong usage.
Colour is used on a terminal only, and never if NO_COLOR is set and not empty.`,
		Example: `  firn new nanoflake -n 1000 > ids
  firn inspect nanoflake < ids
  firn inspect 05TTUP1HNCPNA1QHTDHRTCU3V32PD7C6
  firn pool doctor`,
		Version: version(),
		Args:    unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return usagef("no command given: want %s", list(commandNames(cmd), "or"))
		},
		SilenceErrors:              true, // report writes them
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
	}
	root.SetIn(s.in)
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return flagError(err) })
	root.AddCommand(newNew(s), newInspect(s), newPool(s), newTorture(s))
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
			return usage(err)
		}
		return unknownCommand(found, rest)
	}
}

// strictCompletion makes the library's completion command take wrong usage as such.
func strictCompletion(completion *cobra.Command) {
	completion.Example = "  source <(firn completion bash)\n  firn completion fish > ~/.config/fish/completions/firn.fish"
	completion.Args = unknownCommand
	completion.RunE = func(cmd *cobra.Command, _ []string) error {
		return usagef("no shell given: want %s", list(commandNames(cmd), "or"))
	}
	for _, shell := range completion.Commands() {
		shell.Args = unknownCommand
	}
}

// unknownCommand returns the error for words that should be a subcommand of cmd and are
// none, nil if there are no words.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		return usagef("unknown command %q: did you mean %s?", args[0], list(near, "or"))
	}
	return usagef("unknown command %q", args[0])
}

func commandNames(cmd *cobra.Command) []string {
	var found []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			found = append(found, c.Name())
		}
	}
	return found
}

// list writes words as a list in a sentence.
func list(words []string, last string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " " + last + " " + words[n-1]
	}
	return strings.Join(words, "")
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
