package consullease

import (
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
)

// The name of a key begins as the names of all beginnings of the key do: a list of a prefix is one
// request.
func FuzzKey(f *testing.F) {
	takes := func(key, name string) bool {
		for i := range key {
			if !strings.HasPrefix(name, escape.Replace(key[:i])) {
				return false
			}
		}
		return !strings.ContainsFunc(name, func(r rune) bool { return r != '/' && r != ',' && foreign(r) || r == '.' })
	}
	storetest.Names(f, escape.Replace, keyOf, takes, "a", "a.b", "a@b", "a../b", "a.json", "a/b/c", "p", ",p", "a,p", "nanoflake/workers/00001")
}
