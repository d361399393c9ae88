package kubelease

import (
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// maxObject is the longest name of an object, in bytes.
const maxObject = 253

// Kubernetes takes names of lower-case letters, digits and '-', joined by '.'. No name begins or
// ends with '-'. The '/' of a key becomes '.', and 'z' begins an escape: "zz" means 'z', and "za",
// "zp" and "zu" mean '@', '.' and '_'. A '-' at the beginning or the end of a name becomes "zd";
// other '-' stay.
//
// Keys have no empty names, so every key has exactly one object name, and two keys never share an
// object name.

// encode returns the name for a key, without the prefix of the store.
func encode(key string) string {
	var b strings.Builder
	for i := range len(key) {
		switch c := key[i]; {
		case c == '/':
			b.WriteByte('.')
		case c == 'z':
			b.WriteString("zz")
		case c == '@':
			b.WriteString("za")
		case c == '.':
			b.WriteString("zp")
		case c == '_':
			b.WriteString("zu")
		case c == '-' && (i == 0 || key[i-1] == '/' || i == len(key)-1 || key[i+1] == '/'):
			b.WriteString("zd")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// decode returns the key for a name. ok is false if encode makes the name of no key.
func decode(name string) (key string, ok bool) {
	b := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch c {
		case '.':
			c = '/'
		case 'z':
			if i++; i == len(name) {
				return "", false
			}
			n := strings.IndexByte("zapud", name[i])
			if n < 0 {
				return "", false
			}
			c = "z@._-"[n]
		}
		b = append(b, c)
	}
	key = string(b)
	return key, driver.CheckKey(key) == nil && encode(key) == name
}

// isLabel reports whether a prefix or a namespace is a label: lower-case letters, digits, and '-'
// inside, at most 63 bytes.
func isLabel(s string) bool {
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-' &&
		!strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' })
}
