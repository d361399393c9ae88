// Package near finds the names that a misspelt word means.
package near

import (
	"math"
	"strings"
)

// Names returns the names that a misspelt word means: those that the fewest edits turn the word into. A name is at most one
// edit away, or two if it has six letters or more, or it begins with the word. If the word may be something else, most is 1:
// a name is then one edit away. Hyphens, underscores and the case of letters do not count. The caller passes the function
// that counts edits, since the root module requires no library.
func Names(word string, names []string, most int, edits func(a, b string) int) (near []string) {
	const shortest = 3 // letters of a beginning
	plain := func(s string) string { return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(s)) }
	word = plain(word)
	fewest := math.MaxInt
	for _, name := range names {
		bare := plain(name)
		n := edits(word, bare)
		begins := most > 1 && len(word) >= shortest && strings.HasPrefix(bare, word)
		switch {
		case word == "", !begins && n > max(1, min(most, len(bare)/3)), n > fewest:
		case n < fewest:
			near, fewest = []string{name}, n
		default:
			near = append(near, name)
		}
	}
	return near
}
