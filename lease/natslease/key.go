package natslease

import (
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// The names of a key become the tokens of a subject, joined by '.'. Characters that tokens of a
// bucket cannot have everywhere become '=' and the code of the character. The character '_' does
// too, because keys that begin with _kv are reserved.
var (
	encoder = strings.NewReplacer("/", ".", ".", "=2e", "@", "=40", "_", "=5f")
	decoder = strings.NewReplacer(".", "/", "=2e", ".", "=40", "@", "=5f", "_")
)

// encode returns the bucket's key for the key of an entry.
func encode(key string) string { return encoder.Replace(key) }

// decode returns the key of an entry for a key of the bucket. It returns false if the key names no
// entry.
func decode(key string) (string, bool) {
	made := decoder.Replace(key)
	return made, driver.CheckKey(made) == nil && encode(made) == key
}

// pattern returns a pattern for the keys of the bucket whose entries have a prefix. If the prefix
// ends within a name, other keys match as well.
func pattern(prefix string) string {
	return encode(prefix[:strings.LastIndexByte(prefix, '/')+1]) + ">"
}
