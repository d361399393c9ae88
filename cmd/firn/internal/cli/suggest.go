package cli

import (
	"strings"

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
