package kubelease

import (
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/lease/driver"
)

var subdomain = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)

func TestNames(t *testing.T) {
	for key, want := range map[string]string{
		"a": "a", "nanoflake/workers/00001": "nanoflake.workers.00001", "a-b": "a-b", "-": "zd", "--": "zdzd", "-rf": "zdrf", "a/-": "a.zd", "-a-/-b-": "zdazd.zdbzd",
		"a--b": "a--b", "z": "zz", "size-7": "sizze-7", "a.": "azp", "a..b": "azpzpb", "@": "za", "_": "zu", "zd": "zzd", "a_b@c.d": "azubzaczpd", "a-/b": "azd.b",
	} {
		if got := encode(key); got != want || !subdomain.MatchString(got) {
			t.Errorf("encode(%s) = %s, want %s", key, got, want)
		}
	}
	for _, name := range []string{"", ".", "a.", ".a", "z", "zx", "az", "a..b", "A", "a_b", "-a", "a-", "azdb", "a zd", "zpa"} {
		if key, ok := decode(name); ok {
			t.Errorf("decode(%s) = %s", name, key)
		}
	}
}

// FuzzName: each key has a name of its own that the API takes, and each name at most one key.
func FuzzName(f *testing.F) {
	for _, s := range []string{"a", "a-b/c", "-", "z@._-", "zd", "azd.zz", "nanoflake/workers/00001"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if key, ok := decode(s); ok && (encode(key) != s || driver.CheckKey(key) != nil) {
			t.Fatalf("%q is the name of %q, whose name is %q", s, key, encode(key))
		}
		if driver.CheckKey(s) != nil {
			return
		}
		name := encode(s)
		if key, ok := decode(name); !ok || key != s {
			t.Fatalf("%q has the name %q, which is that of %q, %v", s, name, key, ok)
		}
		if !subdomain.MatchString(name) || strings.Count(name, ".") != strings.Count(s, "/") {
			t.Fatalf("%q has the name %q, which the API does not take", s, name)
		}
	})
}
