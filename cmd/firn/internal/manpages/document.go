package main

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/helptext"
)

// documentStyle is the Markdown of documents.
var documentStyle = helptext.Style{
	Term: func(text string) string { return "`" + text + "`" },
	List: func(terms []helptext.Term) string {
		var list strings.Builder
		for _, t := range terms {
			fmt.Fprintf(&list, "- %s: %s\n", t.Name, t.Text)
		}
		return list.String()
	},
}

// documentOf returns a document with the help of a command and of all commands below.
func documentOf(cmd *cobra.Command) []byte {
	var d bytes.Buffer
	d.WriteString("# The commands of firn\n\nThe program prints these texts, too: `firn help`, `firn help new` and so on. " +
		"The Debian package has the texts as manual pages.\n\n" +
		"Output is on stdout, and everything else on stderr. The exit code is 0, 1 for a failed operation or an invalid ID, " +
		"and 2 for wrong usage.\n\n<!-- go generate ./cmd/firn/internal/manpages writes this document. -->\n\n")
	d.WriteString("| command | what it does |\n|---|---|\n")
	each(cmd, func(c *cobra.Command) {
		fmt.Fprintf(&d, "| [`%s`](#%s) | %s |\n", c.CommandPath(), nameOf(c), helptext.Escape(c.Short))
	})
	each(cmd, func(c *cobra.Command) { chapter(&d, c) })
	return append(bytes.TrimRight(d.Bytes(), "\n"), '\n')
}

// each calls f for a command and the commands below.
func each(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		if documented(c) {
			each(c, f)
		}
	}
}

// chapter writes the chapter of a command.
func chapter(d *bytes.Buffer, cmd *cobra.Command) {
	cmd.InitDefaultHelpFlag()
	cmd.InitDefaultVersionFlag()
	use := strings.TrimSuffix(cmd.UseLine(), " [flags]")
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(d, "\n## %s\n\n%s\n", cmd.CommandPath(), helptext.Code([]string{use}))
	d.WriteString(strings.TrimRight(documentStyle.Markdown(cmp.Or(cmd.Long, cmd.Short)), "\n") + "\n")
	if flags := flagRows(cmd); flags != "" {
		d.WriteString("\n| flag | |\n|---|---|\n" + flags)
	}
	if cmd.Example != "" {
		d.WriteString("\n" + helptext.Code(strings.Split(helptext.Dedent(cmd.Example), "\n")))
	}
}

// flagRows returns the flags of a command as rows of a table. The flags of firn itself are in its own table.
func flagRows(cmd *cobra.Command) string {
	var rows strings.Builder
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" || f.Name == "help" && cmd.HasParent() {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		flag := "--" + f.Name
		if f.Shorthand != "" {
			flag = "-" + f.Shorthand + ", " + flag
		}
		if value != "" {
			flag += " " + value
		}
		fmt.Fprintf(&rows, "| `%s` | %s |\n", flag, helptext.Escape(usage+defaultOf(f, usage)))
	})
	return rows.String()
}
