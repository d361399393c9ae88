// Package shell writes words that a user copies from an error or a page into a shell.
package shell

import "strings"

// Word returns a word as a POSIX shell reads it: in single quotes, if the word needs quotes.
func Word(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-:@,%+=", r)
	}
	if s != "" && strings.TrimLeftFunc(s, plain) == "" && s[0] != '=' { // zsh has a meaning for a leading =
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
