package natslease

import (
	"strings"

	"github.com/firn-id/firn/lease/driver"
)

// A key's names are the tokens of a subject, which '.' separates. The characters that tokens of keys in a bucket
// do not have, or not everywhere, are written as '=' and their code; '_' since keys that begin with _kv are reserved.
var (
	encoder = strings.NewReplacer("/", ".", ".", "=2e", "@", "=40", "_", "=5f")
	decoder = strings.NewReplacer(".", "/", "=2e", ".", "=40", "@", "=5f", "_")
)

// encode returns the bucket's key for an entry's.
func encode(key string) string { return encoder.Replace(key) }

// decode returns the entry's key for a bucket's, if it is one.
func decode(key string) (string, bool) {
	made := decoder.Replace(key)
	return made, driver.CheckKey(made) == nil && encode(made) == key
}

// pattern returns what all keys of the bucket match whose entries' keys have a prefix, and others too if it does not
// end between names.
func pattern(prefix string) string {
	return encode(prefix[:strings.LastIndexByte(prefix, '/')+1]) + ">"
}
