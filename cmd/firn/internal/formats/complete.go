package formats

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
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

// formatsOf annotates a flag with the names of the formats that have the flag.
const formatsOf = "firn_formats"

// Only marks flags as flags of some formats only, for NarrowCompletion.
func Only(cmd *cobra.Command, has func(Format) bool, flags ...string) {
	var all []string
	for _, name := range Names() {
		if f, _ := Lookup(name); has(f) {
			all = append(all, name)
		}
	}
	for _, flag := range flags {
		if err := cmd.Flags().SetAnnotation(flag, formatsOf, all); err != nil {
			panic(err) // no such flag
		}
	}
}

// NarrowCompletion hides flags from a shell that completes a command line. If the command line
// names a format, NarrowCompletion hides the flags of all other formats.
func NarrowCompletion(root *cobra.Command, args []string) {
	if len(args) < 2 || args[0] != cobra.ShellCompRequestCmd && args[0] != cobra.ShellCompNoDescRequestCmd {
		return
	}
	cmd, words, err := root.Find(args[1 : len(args)-1])
	if err != nil {
		return
	}
	format, ok := formatAmong(cmd.Flags(), words)
	if !ok {
		return
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if names, some := flag.Annotations[formatsOf]; some && !slices.Contains(names, format.Name()) {
			flag.Hidden = true
		}
	})
}

// formatAmong returns the format in the words of a command line: the value of --format if the
// command has that flag, otherwise the first argument.
func formatAmong(flags *pflag.FlagSet, words []string) (format Format, ok bool) {
	byFlag := flags.Lookup("format") != nil
	for i := 0; i < len(words) && !ok; i++ {
		if !strings.HasPrefix(words[i], "-") {
			if !byFlag {
				return Lookup(words[i])
			}
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(words[i], "-"), "=")
		if flag := flags.Lookup(name); flag != nil && !given && flag.NoOptDefVal == "" && i+1 < len(words) {
			i++
			value = words[i]
		}
		if name == "format" {
			format, ok = Lookup(value)
		}
	}
	return format, ok
}
