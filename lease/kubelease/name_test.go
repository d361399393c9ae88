package kubelease

import (
	"regexp"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/storetest"
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

func FuzzName(f *testing.F) {
	takes := func(key, name string) bool {
		return subdomain.MatchString(name) && strings.Count(name, ".") == strings.Count(key, "/")
	}
	storetest.Names(f, encode, decode, takes, "a", "a-b/c", "-", "z@._-", "zd", "azd.zz", "nanoflake/workers/00001")
}
