package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// nearestFlag returns the flag with the name nearest to name, or "" if no flag is near. A flag is
// near if two edits turn name into the flag's name, or if the flag's name begins with name.
func nearestFlag(flags *pflag.FlagSet, name string) string {
	const most = 2 // edits
	const shortest = 3
	nearest, best := "", most+1
	flags.VisitAll(func(f *pflag.Flag) {
		edits := Distance(name, f.Name)
		if len(name) >= shortest && strings.HasPrefix(f.Name, name) {
			edits = min(edits, 1)
		}
		if !f.Hidden && edits < min(best, len(name)) {
			nearest, best = f.Name, edits
		}
	})
	return nearest
}

// nearCommands returns the commands below cmd with names near to a word. A name is near if one edit turns
// the word into the name, or two edits if the name has more than four letters, and if the name begins
// with the word. A command's SuggestFor are other words for the command.
func nearCommands(cmd *cobra.Command, word string) (names []string) {
	word = strings.ToLower(word)
	const shortest = 2
	for _, c := range cmd.Commands() {
		edits := 1
		if len(c.Name()) > 4 {
			edits = 2
		}
		near := Distance(word, c.Name()) <= edits || len(word) >= shortest && strings.HasPrefix(c.Name(), word) || slices.Contains(c.SuggestFor, word)
		if near && c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// Distance returns the least number of edits that turn a into b. An edit adds, removes or replaces
// a byte, or swaps two neighbours.
func Distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		for j := range rows[i] {
			switch {
			case i == 0 || j == 0:
				rows[i][j] = i + j
			case a[i-1] == b[j-1]:
				rows[i][j] = rows[i-1][j-1]
			default:
				rows[i][j] = 1 + min(rows[i-1][j], rows[i][j-1], rows[i-1][j-1])
				if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
					rows[i][j] = min(rows[i][j], 1+rows[i-2][j-2])
				}
			}
		}
	}
	return rows[len(a)][len(b)]
}
