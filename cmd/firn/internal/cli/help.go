package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// Help writes the help of a command: usage first, then what the command does, its commands and flags, and
// examples.
func Help(cmd *cobra.Command, _ []string) {
	w := cmd.OutOrStdout()
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(w, "Usage:\n  %s\n\n%s\n", use, strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)))
	if cmd.HasAvailableSubCommands() {
		fmt.Fprint(w, "\nCommands:\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() {
				fmt.Fprintf(w, "  %-*s %s\n", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	writeSection(w, "Flags", cmd.LocalFlags().FlagUsages())
	writeSection(w, "Global flags", cmd.InheritedFlags().FlagUsages())
	if cmd.Example != "" {
		writeSection(w, "Examples", cmd.Example+"\n")
	}
}

func writeSection(w io.Writer, title, text string) {
	if text != "" {
		fmt.Fprintf(w, "\n%s:\n%s", title, text)
	}
}
