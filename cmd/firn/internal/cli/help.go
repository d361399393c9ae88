package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/helptext"
)

// Help writes the help of a command: usage first, then what the command does, its commands and flags, and
// examples. The lines fit the terminal.
func (s *Streams) Help(cmd *cobra.Command) {
	w, columns := s.Out, max(s.Width, leastWidth)
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(w, "Usage:\n%s\n%s", helptext.Line(use, columns), helptext.Wrap(cmp.Or(cmd.Long, cmd.Short), columns))
	var commands []helptext.Term
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			commands = append(commands, helptext.Term{Name: c.Name(), Text: c.Short})
		}
	}
	writeSection(w, "Commands", helptext.Table(commands, columns))
	writeSection(w, "Flags", cmd.LocalFlags().FlagUsagesWrapped(columns))
	writeSection(w, "Global flags", cmd.InheritedFlags().FlagUsagesWrapped(columns))
	var examples strings.Builder
	for line := range strings.Lines(cmd.Example) {
		examples.WriteString(helptext.Line(strings.TrimSpace(line), columns))
	}
	writeSection(w, "Examples", examples.String())
}

// leastWidth is the columns of the narrowest terminal that help fits.
const leastWidth = 40

func writeSection(w io.Writer, title, text string) {
	if text != "" {
		fmt.Fprintf(w, "\n%s:\n%s", title, text)
	}
}
