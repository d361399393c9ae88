package formats

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
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

// ofSome are the flags that some formats have and others have not: the formats, and the error of every
// other format.
var ofSome = map[string]struct {
	formats []string
	refusal string // %s is the format
}{
	"epoch":          {[]string{"nanoflake", "ulidflake", "ulidflake-scalable", "snowflakesi"}, "the epoch of %s is fixed"},
	"increment-bits": {[]string{"ulidflake", "ulidflake-scalable"}, "%s has no random increments"},
	"clock-bits":     {[]string{"snowflakesi"}, "the widths of %s are fixed"},
	"machine-bits":   {[]string{"snowflakesi"}, "the widths of %s are fixed"},
	"reset":          {[]string{"snowflakesi"}, "the sequence of %s has one way to begin"},
	"micro":          {[]string{"scru160"}, "%s counts in no microseconds"},
	"start-bits":     {[]string{"scru160"}, "%s has no choice of random bits"},
	"counter-bits":   {[]string{"scru160"}, "%s has no counter"},
	"node-bits":      {[]string{"scru160"}, "%s has no node ID"},
	"partition":      {[]string{"sno"}, "%s has no partition"},
	"meta":           {[]string{"sno"}, "%s has no metabyte"},
	"sequence-min":   {[]string{"sno"}, "the sequence of %s has no bounds"},
	"sequence-max":   {[]string{"sno"}, "the sequence of %s has no bounds"},

	// firn new refuses these by itself.
	"worker":   {formats: []string{"nanoflake", "ulidflake-scalable", "snowflakesi", "scru160", "sno"}},
	"no-state": {formats: []string{"nanoflake", "ulidflake-scalable", "snowflakesi", "scru160", "sno"}},
	"fenced":   {formats: []string{"ulidflake", "scru160"}},
}

// Has reports whether the format has the flag.
func (m maker) Has(flag string) bool {
	some, ok := ofSome[flag]
	return !ok || slices.Contains(some.formats, m.name)
}

// refuse returns an error if a flag is set that the format does not have.
func refuse(flags *pflag.FlagSet, f Format) (err error) {
	flags.Visit(func(flag *pflag.Flag) {
		text := ofSome[flag.Name].refusal
		switch {
		case err != nil || text == "" || f.Has(flag.Name):
		case flag.Name == "epoch":
			err = cli.Usagef("--epoch: "+text+": %s", f.Name(), f.fixedEpoch)
		default:
			err = cli.Usagef("--"+flag.Name+": "+text, f.Name())
		}
	})
	return err
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
