package foreign

import (
	"strconv"
	"strings"
	"time"

	"github.com/firn-id/firn/internal/form/object"
)

const (
	decimalDigits = "0123456789"
	hexDigits     = decimalDigits + "abcdefABCDEF"
	lowerLetters  = "abcdefghijklmnopqrstuvwxyz"
	upperLetters  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	pushDigits    = "-" + decimalDigits + upperLetters + "_" + lowerLetters // of Firebase, in the order of their values
)

var (
	pushIDKind = Kind{Name: "firebase", Parts: []object.Part{{Name: "timestamp", To: 8}, {Name: "randomness", From: 8, To: 20}}}
	cuidKind   = Kind{Name: "cuid", Parts: []object.Part{{Name: "timestamp", From: 1, To: 9}, {Name: "counter", From: 9, To: 13},
		{Name: "fingerprint", From: 13, To: 17}, {Name: "random", From: 17, To: 25}}}
	cuid2Kind  = Kind{Name: "cuid2", Weak: "24 lower-case letters and digits, a letter first"}
	nanoidKind = Kind{Name: "nanoid", Weak: "21 letters, digits, hyphens and underscores"}
)

// appendUsual appends an ID of a kind that only its characters and its time tell from other texts. The kinds are
// younger than the year 2005, and an ID of the years after 2100 is none.
func appendUsual(ids []ID, id ID) []ID {
	if year := id.Time.Year(); year < 2005 || year > 2100 {
		return ids
	}
	return append(ids, id)
}

// pushIDs reads the push ID of a Firebase database: eight characters of the time in Unix milliseconds, and
// twelve of randomness.
func pushIDs(ids []ID, s string) []ID {
	if !consists(s, pushDigits) {
		return ids
	}
	var ms int64
	for _, c := range []byte(s[:8]) {
		ms = ms<<6 | int64(strings.IndexByte(pushDigits, c))
	}
	return appendUsual(ids, ID{Kind: &pushIDKind, Text: s, Timed: true, Time: time.UnixMilli(ms).UTC()})
}

// cuids reads a cuid of the first version: c, and behind it the time in Unix milliseconds in base 36.
func cuids(ids []ID, s string) []ID {
	if s[0] != 'c' || !consists(s, decimalDigits+lowerLetters) {
		return ids
	}
	ms, err := strconv.ParseInt(s[1:9], 36, 64)
	if err != nil {
		return ids
	}
	return appendUsual(ids, ID{Kind: &cuidKind, Text: s, Timed: true, Time: time.UnixMilli(ms).UTC()})
}

// cuid2s reads a cuid2 of the usual length.
func cuid2s(ids []ID, s string) []ID {
	if !consists(s[:1], lowerLetters) || !consists(s, decimalDigits+lowerLetters) {
		return ids
	}
	return append(ids, ID{Kind: &cuid2Kind, Text: s})
}

// nanoids reads a NanoID of the usual length.
func nanoids(ids []ID, s string) []ID {
	if !consists(s, pushDigits) { // the same characters in another order
		return ids
	}
	return append(ids, ID{Kind: &nanoidKind, Text: s})
}

// consists reports whether s consists of the characters.
func consists(s, characters string) bool {
	for _, c := range []byte(s) {
		if strings.IndexByte(characters, c) < 0 {
			return false
		}
	}
	return true
}
