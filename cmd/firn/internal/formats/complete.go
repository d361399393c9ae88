package formats

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/internal/options"
)

// CompleteFormat completes the first argument with the formats' names.
func CompleteFormat(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	var found []string
	for _, name := range Names() {
		if len(args) == 0 && strings.HasPrefix(name, strings.ToLower(toComplete)) {
			found = append(found, name)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}

// Has reports whether the format has the flag.
func (f Format) Has(flag string) bool {
	d := f.Descriptor()
	switch flag {
	case "worker", "no-state": // firn new refuses these by itself, and --fenced
		return d.Field != ""
	case "fenced":
		return d.Worker == ""
	}
	return options.Refuse(d, flag) == nil
}

// NarrowCompletion is [Narrow] for a shell that completes a command line.
func NarrowCompletion(root *cobra.Command, args []string) {
	if len(args) < 2 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd {
		return
	}
	if cmd, words, err := root.Find(args[1 : len(args)-1]); err == nil {
		Narrow(cmd, words)
	}
}

// Narrow hides the flags of other formats if the words of a command line name a format: by --format if the command has
// that flag, otherwise as the first argument.
func Narrow(cmd *cobra.Command, words []string) {
	cmd.InitDefaultHelpFlag()
	cmd.ParseFlags(words) // words after an error do not count
	name := cmd.Flags().Arg(0)
	if flag := cmd.Flags().Lookup("format"); flag != nil {
		name = ""
		if flag.Changed {
			name = flag.Value.String()
		}
	}
	format, ok := Lookup(name)
	if !ok {
		return
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !format.Has(flag.Name) {
			flag.Hidden = true
		}
	})
}
