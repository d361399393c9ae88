package consullease

import (
	"fmt"
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// Newer versions of Consul take only keys of letters, digits and ,-_./ without "../" and without an
// ending like the name of a file, such as ".json". The store therefore escapes each '.' and '@'
// separately: the name of a key with a prefix begins with the escaped prefix.
var (
	escape   = strings.NewReplacer(".", ",p", "@", ",a")
	unescape = strings.NewReplacer(",p", ".", ",a", "@")
)

// keyOf returns the key for a name below the prefix. ok is false if no key has the name.
func keyOf(name string) (key string, ok bool) {
	key = unescape.Replace(name)
	return key, driver.CheckKey(key) == nil && escape.Replace(key) == name
}

// checkPrefix returns an error unless all versions of Consul take the prefix.
func checkPrefix(prefix string) error {
	for name := range strings.SplitSeq(prefix, "/") {
		if name == "" || strings.Contains(name, "..") || strings.ContainsFunc(name, foreign) {
			return fmt.Errorf("%w: the prefix %.100q is not names of letters, digits, '-', '_', '.' and ',' joined by '/'", driver.ErrAddress, prefix)
		}
	}
	return nil
}

func foreign(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.,", r)
}
