package driver

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckPlace returns an error unless a text can name a place, or a part of one: an address, a user, a directory. A text with a
// character that nobody sees, or with a blank at an end, looks like the name of another place: a file with Windows line ends
// makes "ids\r" of "ids". The error is [ErrAddress], and shows only that character, since an address may have a secret.
func CheckPlace(text string) error {
	if !utf8.ValidString(text) {
		return fmt.Errorf("%w: it is not UTF-8", ErrAddress)
	}
	for i, r := range text {
		if !invisible(r) {
			continue
		}
		where := "inside"
		switch {
		case strings.TrimLeftFunc(text[i:], invisible) == "":
			where = "at the end"
		case strings.TrimRightFunc(text[:i], invisible) == "":
			where = "at the beginning"
		case r == ' ':
			continue
		}
		if r == ' ' {
			return fmt.Errorf("%w: it has a blank %s", ErrAddress, where)
		}
		return fmt.Errorf("%w: it has the invisible character %U %s", ErrAddress, r, where)
	}
	return nil
}

// CheckPath is CheckPlace for each name of a path with slashes: a listing shows names one by one.
func CheckPath(path string) error {
	for name := range strings.SplitSeq(path, "/") {
		if err := CheckPlace(name); err != nil {
			return err
		}
	}
	return nil
}

// invisible reports whether readers may see nothing, or a blank, where a text has the character. Fonts decide how characters for
// private use look, and characters that Unicode has not assigned.
func invisible(r rune) bool {
	return r == ' ' || !unicode.IsPrint(r) ||
		unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blank)
}

// blank has the characters that are blank although Unicode counts them among letters and symbols: of Braille, music, Khitan and
// Egyptian.
var blank = &unicode.RangeTable{
	R16: []unicode.Range16{{Lo: 0x2800, Hi: 0x2800, Stride: 1}},
	R32: []unicode.Range32{
		{Lo: 0x13441, Hi: 0x13442, Stride: 1}, {Lo: 0x16fe4, Hi: 0x16fe4, Stride: 1}, {Lo: 0x1d159, Hi: 0x1d159, Stride: 1},
	},
}

// SplitAddress returns the scheme of an address of a store, in lower case, and the rest after "://". An absolute path is an address
// of files: /my?ids is file:///my%3Fids. The scheme postgresql is postgres. The errors are [ErrAddress], and show nothing of the
// address, which may have a secret. All code that reads addresses decides here what an address is.
func SplitAddress(address string) (scheme, rest string, err error) {
	if err := CheckPlace(address); err != nil {
		return "", "", err
	}
	path := filepath.ToSlash(address)
	if filepath.VolumeName(address) != "" && filepath.IsAbs(address) { // C:\ids
		path = "/" + path
	}
	scheme, rest, ok := strings.Cut(address, "://")
	scheme = strings.ToLower(scheme)
	switch {
	case ok && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789+-.") == "":
		if scheme == "postgresql" {
			scheme = "postgres"
		}
		return scheme, rest, nil
	case ok:
	case strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "//"):
		return "file", strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(path), nil
	case strings.HasPrefix(path, "./"), strings.HasPrefix(path, "../"):
		return "", "", fmt.Errorf("%w: it is a relative path, not an absolute one", ErrAddress)
	}
	return "", "", fmt.Errorf("%w: neither an absolute path nor scheme://…", ErrAddress)
}

// IsAddress reports whether the text for a directory looks like an address of a server, perhaps a mistyped one: postgres://db/ids,
// postgres:/db/ids, postgres//db/ids, db:5432/ids, postgres/user@db/ids, host=db, db/ids?table=x. As a directory, it would be a store
// of its own in each working directory. After ./ or / the same text is a directory.
func IsAddress(dir string) bool {
	path := filepath.ToSlash(dir[len(filepath.VolumeName(dir)):])
	first, rest, _ := strings.Cut(path, "/")
	switch {
	case strings.Contains(path, "://"):
		return true
	case first == "." || first == "..":
		return false
	}
	return strings.HasPrefix(rest, "/") || first != "" && strings.ContainsAny(path, ":@=?")
}
