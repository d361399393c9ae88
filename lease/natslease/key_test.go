package natslease

import (
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
)

// taken is what JetStream takes for a key, less the names that it keeps for itself.
var taken = regexp.MustCompile(`^[-/_=.a-zA-Z0-9]+$`)

func takes(_, name string) bool {
	return taken.MatchString(name) && !strings.HasPrefix(name, ".") && !strings.HasSuffix(name, ".") && !strings.Contains(name, "..") &&
		!strings.HasPrefix(name, "_kv")
}

func TestKey(t *testing.T) {
	for key, want := range map[string]string{
		"a": "a", "nanoflake/workers/00007": "nanoflake.workers.00007", "a.b@c_d-e": "a=2eb=40c=5fd-e", "a.": "a=2e", "_kv": "=5fkv",
	} {
		if got := encode(key); got != want {
			t.Errorf("%s becomes %s, want %s", key, got, want)
		}
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
	storetest.Names(f, encode, decode, takes, "a/b.c@d_e", "=2e=40=5f", "a", "nanoflake/workers/00007", "a.", "_kv")
}
