package kubelease

import (
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// maxObject is the longest name of an object, in bytes.
const maxObject = 253

// The name of an object is names of lower-case letters, digits and '-' joined by '.', none of which begins or
// ends with '-'. A key's '/' is a '.', and 'z' begins an escape: "zz" is 'z', and "za", "zp" and "zu"
// are '@', '.' and '_'. A '-' stays as it is inside of a name, and is "zd" at an end.
//
// Keys have no empty names, so every key has one name, and no name is that of two keys.

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

// decode returns the key of a name that encode makes.
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

// isLabel tells whether a prefix or a namespace is one: lower-case letters, digits, and '-' inside, at most 63 bytes.
func isLabel(s string) bool {
	return s != "" && len(s) <= 63 && s[0] != '-' && s[len(s)-1] != '-' &&
		!strings.ContainsFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' })
}
