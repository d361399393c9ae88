package sources

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestTexts(t *testing.T) {
	dir := t.TempDir()
	for name, code := range map[string]string{
		"a.go":           "package a\n\nimport \"fmt\"\n\nvar A = \"one \" + fmt.Sprint(`two`) + (\" three\" +\n\t\" four\")\n",
		"a_test.go":      "package a\n\nvar B = \"of a test\"\n",
		"testdata/b.go":  "package b\n\nvar B = \"of data\"\n",
		"without/c.go":   "package c\n\nvar C = \"left out\"\n",
		"below/d/doc.go": "package d\n\nvar D = 'x' + \"five\"[0]\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	all := Texts(t, dir, "without")
	want := []Text{
		{filepath.Join(dir, "a.go") + ":3", "fmt"}, {filepath.Join(dir, "a.go") + ":5", "one %v three four"}, {filepath.Join(dir, "a.go") + ":5", "two"},
		{filepath.Join(dir, "below/d/doc.go") + ":3", "five"},
	}
	if !slices.Equal(all, want) {
		t.Errorf("got  %q\nwant %q", all, want)
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		text, printed string
		want          bool
	}{
		{"%s is %.40q: use %d%%", `n is "x": use 7%`, true},
		{"%s is %.40q: use %d%%", `n is "x": take 7%`, false},
		{"a (b) %[1]v c", "before a (b) x c behind", true},
		{"a (b) %[1]v c", "a b x c", false},
		{"has %d bytes", "has -7 bytes", true},
		{"has %d bytes", "has many bytes", false},
		{"%q is no ID", "x is no ID", false},
	} {
		if got := Pattern(c.text).MatchString(c.printed); got != c.want {
			t.Errorf("%q of %q: %v", c.text, c.printed, got)
		}
	}
}

func TestFixed(t *testing.T) {
	if n := Fixed("%-5s is %.40q: use %d%%"); n != len(" is : use ") {
		t.Error(n)
	}
}

func TestSegment(t *testing.T) {
	const text = "%s: use %d of %q"
	for at, want := range map[int]string{4: ": use ", 12: " of "} {
		if from, to := Segment(text, at); text[from:to] != want {
			t.Errorf("%d: %q, want %q", at, text[from:to], want)
		}
	}
	if from, to := Segment("no verb", 3); from != 0 || to != 7 {
		t.Error(from, to)
	}
}
