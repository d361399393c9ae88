package driver

import (
	"fmt"
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
