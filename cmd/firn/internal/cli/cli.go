// Package cli has streams, errors, flags and texts for all commands.
package cli

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Plain returns a readable word of the command line unchanged, and quotes other words.
func Plain(s string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' || r == '"' || r == unicode.ReplacementChar }
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

// Printable returns a text in one line, with control characters escaped.
func Printable(s string) string {
	var line []byte
	for _, r := range s {
		if unicode.IsPrint(r) {
			line = utf8.AppendRune(line, r)
		} else {
			quoted := strconv.QuoteRune(r)
			line = append(line, quoted[1:len(quoted)-1]...)
		}
	}
	return string(line)
}

// Complete makes shells complete a flag with the values. Without values, shells complete nothing.
func Complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag, or twice
	}
}

// UnknownCommand returns the error for arguments in the place of a subcommand of cmd. Without
// arguments the error is nil.
func UnknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := nearCommands(cmd, args[0]); near != "" {
		return Usagef("unknown command %q: did you mean %s?", args[0], near)
	}
	return Usagef("unknown command %q", args[0])
}

// NeedsCommand makes cmd a family, which does nothing without a command below: wrong usage then lists the
// commands. The error calls a command what, such as "command".
func NeedsCommand(cmd *cobra.Command, what string) {
	cmd.Args = UnknownCommand
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		return Usagef("no %s given: want %s", what, List(CommandNames(cmd), "or"))
	}
	cmd.SuggestionsMinimumDistance = 2
}

// CommandNames returns the names of the subcommands of cmd.
func CommandNames(cmd *cobra.Command) []string {
	var found []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			found = append(found, c.Name())
		}
	}
	return found
}

// NoArguments returns an error if there are arguments.
func NoArguments(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return Usagef("too many arguments: %q", args[0])
	}
	return nil
}
