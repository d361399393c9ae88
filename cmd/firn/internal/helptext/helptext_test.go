package helptext

import (
	"strings"
	"testing"
	"unicode/utf8"
)

// TestWrap: each kind of part fits the columns, words stay whole, and a shell reads commands as before.
func TestWrap(t *testing.T) {
	for _, v := range []struct {
		name    string
		columns int
		help    string
		want    string
	}{
		{"paragraphs", 20, "One two three\nfour five.\n\nSix.", "One two three four\nfive.\n\nSix.\n"},
		{"a measure", 200, strings.Repeat("word ", 40), strings.TrimSpace(strings.Repeat("word ", 18)) + "\n" + strings.TrimSpace(strings.Repeat("word ", 18)) + "\nword word word word\n"},
		{"terms", 40, "Is:\n  a    one two three four five six seven\n  b c  two,\n       three\nEnd.",
			"Is:\n  a    one two three four five six seven\n  b c  two, three\nEnd.\n"},
		{"terms in less room", 32, "  a    one two three four five six seven", "  a  one two three four five six\n     seven\n"},
		{"terms above their texts", 24, "  a word  one two three four", "  a word\n      one two three four\n"},
		{"steps", 20, "  1. this and that and\n     more\n  2. less", "  1. this and that\n     and more\n  2. less\n"},
		{"JSON", 24, "  {\"a\":\"b\",\"c\":\"d\",\"e\":[1,2]}", "  {\"a\":\"b\",\"c\":\"d\",\n   \"e\":[1,2]}\n"},
		{"JSON in two lines", 40, "  {\"a\":\"b\",\n   \"c\":\"d\"}\n  {\"e\":1}", "  {\"a\":\"b\",\"c\":\"d\"}\n  {\"e\":1}\n"},
		{"a command", 30, "  firn new sno --meta 7 --as 'x y' > ids", "  firn new sno --meta 7 \\\n      --as 'x y' > ids\n"},
		{"an input", 26, "  echo 1 | firn at sno --epoch 2020", "  echo 1 | firn at sno \\\n      --epoch 2020\n"},
		{"a long word", 10, "  redis://user@host:6379/0", "  redis://user@host:6379/0\n"},
		{"a heading and a tab", 40, "#### Linux:\n\n\tfirn a", "Linux:\n\n  firn a\n"},
	} {
		got := Wrap(v.help, v.columns)
		if got != v.want {
			t.Errorf("%s: %q\nwant %q", v.name, got, v.want)
		}
		for line := range strings.Lines(got) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > v.columns && strings.Contains(strings.TrimSpace(line), " ") {
				t.Errorf("%s: %d columns: %q", v.name, n, line)
			}
		}
	}
}
