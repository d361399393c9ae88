package scru160_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/scru160"
)

// Texts in any mix of cases sort as the IDs do, in either encoding.
func TestCompareText(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	mixed := func(s string) string {
		return strings.Map(func(r rune) rune {
			if random.IntN(2) == 0 {
				return []rune(strings.ToLower(string(r)))[0]
			}
			return []rune(strings.ToUpper(string(r)))[0]
		}, s)
	}
	ids := make([]scru160.ID, 300)
	for i := range ids {
		for j := range ids[i] {
			ids[i][j] = byte(random.Uint32())
		}
		if i%3 == 1 { // which differs late, or not at all
			ids[i] = ids[i-1]
			ids[i][random.IntN(scru160.Size)] ^= byte(random.IntN(4))
		}
	}
	for name, text := range map[string]func(scru160.ID) string{"base32hex": scru160.ID.String, "hex": scru160.ID.Hex} {
		texts := make([]string, len(ids))
		for i, id := range ids {
			texts[i] = mixed(text(id))
		}
		for i, a := range ids {
			for j, b := range ids {
				if got := scru160.CompareText(texts[i], texts[j]); got != a.Compare(b) {
					t.Fatalf("%s: CompareText(%s, %s) = %d, want %d", name, texts[i], texts[j], got, a.Compare(b))
				}
			}
		}
		slices.SortFunc(texts, scru160.CompareText)
		if slices.IsSorted(texts) {
			t.Errorf("%s: a sort by bytes does the same, so this test shows little", name)
		}
	}
	for _, v := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "0", -1}, {"0a", "0A0", -1}, {"[", "a", 1}, {"`", "A", 1}, {"é", "É", 1}} {
		testkit.Same(t, scru160.CompareText(v.a, v.b), v.want)
		testkit.Same(t, scru160.CompareText(v.b, v.a), -v.want)
	}
}
