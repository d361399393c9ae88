// Package prefix knows the prefixes of IDs, such as order in order_0549x5l2itvr4.
package prefix

import "strings"

// Valid reports whether s can be a prefix: 1 to 63 lower-case letters, digits and underscores, with a
// letter first and no underscore last.
func Valid(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z':
		case i > 0 && '0' <= c && c <= '9':
		case i > 0 && i < len(s)-1 && c == '_':
		default:
			return false
		}
	}
	return 0 < len(s) && len(s) <= 63
}

// Cut returns the prefix and the text behind it. ok is false if s has no prefix. The texts of IDs have no
// underscore.
func Cut(s string) (prefix, text string, ok bool) {
	i := strings.LastIndexByte(s, '_')
	if i < 0 || !Valid(s[:i]) {
		return "", s, false
	}
	return s[:i], s[i+1:], true
}
