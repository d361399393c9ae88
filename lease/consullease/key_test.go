package consullease

import (
	"strings"
	"testing"

	"github.com/firn-id/firn/lease/driver"
)

// Each key has a name of its own that Consul takes, and each name at most one key.
func FuzzKey(f *testing.F) {
	for _, key := range []string{"a", "a.b", "a@b", "a../b", "a.json", "a/b/c", "p", ",p", "a,p", "nanoflake/workers/00001"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if key, ok := keyOf(s); ok && (escape.Replace(key) != s || driver.CheckKey(key) != nil) {
			t.Fatalf("%q is the name of %q, whose name is %q", s, key, escape.Replace(key))
		}
		if driver.CheckKey(s) != nil {
			return
		}
		name := escape.Replace(s)
		if key, ok := keyOf(name); !ok || key != s {
			t.Fatalf("%q has the name %q, which is that of %q, %v", s, name, key, ok)
		}
		if strings.ContainsFunc(name, func(r rune) bool { return r != '/' && r != ',' && foreign(r) }) || strings.Contains(name, ".") {
			t.Fatalf("%q has the name %q, which Consul does not take", s, name)
		}
		for i := range s {
			if !strings.HasPrefix(name, escape.Replace(s[:i])) {
				t.Fatalf("the name of %q does not begin as that of %q", s, s[:i])
			}
		}
	})
}
