package cli

import (
	"slices"
	"strings"

	"github.com/hbollon/go-edlib"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/internal/near"
)

// Near returns the names that a misspelt word means, as in "orders or orders-eu", or "".
func Near(word string, names []string) string {
	return List(near.Names(word, names, 2, edlib.OSADamerauLevenshteinDistance), "or")
}

// Misspelt is Near for a word that may be something else than a name.
func Misspelt(word string, names []string) string {
	return List(near.Names(word, names, 1, edlib.OSADamerauLevenshteinDistance), "or")
}

// nearFlags returns the flags that a misspelt name means, or "".
func nearFlags(flags *pflag.FlagSet, name string) string {
	var names []string
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, "--"+f.Name)
		}
	})
	return Near("--"+name, names)
}

// nearCommands returns the commands below cmd that a word means: by another word for the command, or misspelt.
func nearCommands(cmd *cobra.Command, word string) string {
	for _, c := range cmd.Commands() {
		if slices.Contains(c.SuggestFor, strings.ToLower(word)) {
			return c.Name()
		}
	}
	return Near(word, CommandNames(cmd))
}
