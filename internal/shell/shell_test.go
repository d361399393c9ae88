package shell_test

import (
	"os/exec"
	"testing"

	"github.com/firn-id/firn/internal/shell"
)

// A shell reads back each word. A plain word stays as it is.
func TestWord(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no POSIX shell")
	}
	for s, want := range map[string]string{
		"": "''", "a": "a", "/var/lib/firn": "/var/lib/firn", "a@b:5432,c": "a@b:5432,c", "=a": "'=a'", "a=b": "a=b",
		"it's": `'it'\''s'`, "a b": "'a b'", "$HOME": "'$HOME'", "`id`": "'`id`'", "a?b&c": "'a?b&c'", "~": "'~'", "a\nb": "'a\nb'", "*": "'*'", `\`: `'\'`, "ä": "'ä'",
	} {
		word := shell.Word(s)
		if word != want {
			t.Errorf("Word(%q) = %s, want %s", s, word, want)
		}
		if out, err := exec.Command(sh, "-c", "printf %s "+word).Output(); err != nil || string(out) != s {
			t.Errorf("a shell reads %s as %q, %v; want %q", word, out, err, s)
		}
	}
}
