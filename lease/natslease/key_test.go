package natslease

import (
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/lease/driver"
)

// taken is what JetStream takes for a key, less the names that it keeps for itself.
var taken = regexp.MustCompile(`^[-/_=.a-zA-Z0-9]+$`)

func checkKey(t *testing.T, key string) {
	made := encode(key)
	if !taken.MatchString(made) || strings.HasPrefix(made, ".") || strings.HasSuffix(made, ".") || strings.Contains(made, "..") || strings.HasPrefix(made, "_kv") {
		t.Errorf("%s becomes %s, which is no key of a bucket", key, made)
	}
	if back, ok := decode(made); back != key || !ok {
		t.Errorf("%s becomes %s, and that %s, %v", key, made, back, ok)
	}
}

func TestKey(t *testing.T) {
	for key, want := range map[string]string{
		"a": "a", "nanoflake/workers/00007": "nanoflake.workers.00007", "a.b@c_d-e": "a=2eb=40c=5fd-e", "a.": "a=2e", "_kv": "=5fkv",
	} {
		if got := encode(key); got != want {
			t.Errorf("%s becomes %s, want %s", key, got, want)
		}
		checkKey(t, key)
	}
	for _, foreign := range []string{"", "A", "a=", "a=2", "a=2E", "a=61", "a_b", "a/b", "=2ea", "a..b", "a.", ".a", "a*", ">"} {
		if key, ok := decode(foreign); ok {
			t.Errorf("%s is taken for the entry %s", foreign, key)
		}
	}
}

// The subjects that a pattern matches are at least those of the prefix.
func TestPattern(t *testing.T) {
	for prefix, want := range map[string]string{"": ">", "a": ">", "a/": "a.>", "a/b": "a.>", "a.b/c_/": "a=2eb.c=5f.>"} {
		if got := pattern(prefix); got != want {
			t.Errorf("%s has the pattern %s, want %s", prefix, got, want)
		}
	}
}

func FuzzKey(f *testing.F) {
	f.Add("a/b.c@d_e")
	f.Add("=2e=40=5f")
	f.Fuzz(func(t *testing.T, s string) {
		if driver.CheckKey(s) == nil {
			checkKey(t, s)
		}
		if key, ok := decode(s); ok && encode(key) != s {
			t.Errorf("%q is %q, which becomes %q", s, key, encode(key))
		}
	})
}
