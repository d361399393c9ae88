package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Group gives flags of cmd a title of their own in the help.
func Group(cmd *cobra.Command, title string, flags ...string) {
	for _, name := range flags {
		if err := cmd.Flags().SetAnnotation(name, groupOf, []string{title}); err != nil {
			panic(err) // no such flag
		}
	}
}

const (
	groupOf = "firn_group"    // annotates a flag with the title of its group
	seeAlso = "firn_see_also" // annotates a command with a line for each thing to read
	pages   = "https://github.com/firn-id/firn/blob/main/docs/"
)

// SeeAlso names the commands and pages that the help of cmd ends with.
func SeeAlso(cmd *cobra.Command, names ...string) {
	var list strings.Builder
	for _, name := range names {
		if strings.Contains(name, ".md") {
			name = pages + name
		}
		list.WriteString("  " + name + "\n")
	}
	cmd.Annotations = map[string]string{seeAlso: list.String()}
}

// Help writes the help of a command: what it does, its usage, its commands by group, examples, its flags by group, and
// what to read.
func (s *Streams) Help(cmd *cobra.Command) {
	use := cmd.UseLine()
	if cmd.HasAvailableSubCommands() {
		use = cmd.CommandPath() + " COMMAND"
	}
	fmt.Fprintf(s.Out, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(cmp.Or(cmd.Long, cmd.Short)), use)
	for _, g := range append(slices.Clip(cmd.Groups()), &cobra.Group{Title: "Commands"}) {
		var list strings.Builder
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.GroupID == g.ID {
				fmt.Fprintf(&list, "  %-*s  %s\n", c.NamePadding(), c.Name(), c.Short)
			}
		}
		s.section(g.Title, list.String())
	}
	var examples strings.Builder
	for line := range strings.Lines(cmd.Example) {
		examples.WriteString("  " + strings.TrimSpace(line) + "\n")
	}
	s.section("Examples", examples.String())
	var titles []string
	groups := make(map[string]*pflag.FlagSet)
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		title := "Flags"
		if of := f.Annotations[groupOf]; of != nil {
			title = of[0]
		}
		if groups[title] == nil {
			titles = append(titles, title)
			groups[title] = pflag.NewFlagSet("", pflag.ContinueOnError)
			groups[title].SortFlags = false
		}
		groups[title].AddFlag(f)
	})
	for _, title := range titles {
		s.section(title, groups[title].FlagUsagesWrapped(s.Width))
	}
	s.section("Global flags", cmd.InheritedFlags().FlagUsagesWrapped(s.Width))
	s.section("See also", cmd.Annotations[seeAlso])
}

// section writes a part of the help, unless it is empty.
func (s *Streams) section(title, text string) {
	if text != "" {
		fmt.Fprintf(s.Out, "\n%s:\n%s", title, text)
	}
}
