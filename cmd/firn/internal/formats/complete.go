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

// Narrow hides the flags of other formats if the words of a command line name a format.
func Narrow(cmd *cobra.Command, words []string) {
	format, ok := formatAmong(cmd.Flags(), words)
	if !ok {
		return
	}
	cmd.Flags().VisitAll(func(flag *pflag.Flag) {
		if !format.Has(flag.Name) {
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
		flag := flags.Lookup(name)
		if len(name) == 1 {
			flag = flags.ShorthandLookup(name)
		}
		if flag != nil && !given && flag.NoOptDefVal == "" && i+1 < len(words) {
			i++
			value = words[i]
		}
		if name == "format" {
			format, ok = Lookup(value)
		}
	}
	return format, ok
}
