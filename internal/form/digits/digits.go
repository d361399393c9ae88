// Package digits reads decimal and hexadecimal numbers strictly: digits only, without sign, space,
// prefix or underscore. It knows no format. A decoder returns the offset of the first character
// that is not a digit.
package digits

import (
	"encoding/binary"
	"math/bits"
)

// Decimal reads decimal digits. bad is the offset of the first character that is not a digit, or
// -1. ok reports whether the value fits 64 bits.
func Decimal[S string | []byte](s S) (v uint64, bad int, ok bool) {
	pos := 0
	for ; pos < len(s)-7 && pos < safeDigits; pos += 8 {
		x := load8(s[pos : pos+8])
		if !digits8(x) {
			break // the loop below finds the character
		}
		v = v*1e8 + value8(x)
	}
	ok = true
	for i := pos; i < len(s); i++ {
		d := s[i] - '0'
		if d > 9 {
			return 0, i, false
		}
		hi, lo := bits.Mul64(v, 10)
		sum, carry := bits.Add64(lo, uint64(d), 0)
		if hi != 0 || carry != 0 {
			ok = false // continue: a foreign character further right makes a better message
		}
		v = sum
	}
	return v, -1, ok
}

// safeDigits is how many digits always fit 64 bits, in whole groups of 8.
const safeDigits = 16

// load8 returns 8 characters, the first in the lowest byte. The compiler turns load8 into one load.
func load8[S string | []byte](s S) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// ones has 1 in each byte. A product with ones has the factor in each byte.
const ones = 0x0101010101010101

// digits8 reports whether 8 characters are decimal digits. The high half of a digit is 3. It is
// still 3 after the addition of 6, since the low half of a digit is at most 9. Only a byte whose
// high half is not 3 can carry into the next byte.
func digits8(x uint64) bool {
	return ((x^'0'*ones)|((x+6*ones)^'0'*ones))&(0xf0*ones) == 0
}

// value8 returns the value of 8 decimal digits. Each step joins neighbours into numbers of twice as
// many digits. The lower neighbour has the higher weight.
func value8(x uint64) uint64 {
	x &= 0x0f * ones
	x = (x*10 + x>>8) & 0x00ff00ff00ff00ff
	x = (x*100 + x>>16) & 0x0000ffff0000ffff
	return (x*10000 + x>>32) & 0xffffffff
}

// In the functions below, each byte of an integer holds a nibble (a hexadecimal digit). The first
// nibble is in the highest byte.

// letters returns 1 in each byte whose nibble is above 9.
func letters(nibbles uint64) uint64 { return (nibbles + 6*ones) >> 4 & ones }

// characters returns the digits of nibbles, in lower case.
func characters(nibbles uint64) uint64 {
	return nibbles + '0'*ones + letters(nibbles)*('a'-'0'-10)
}

// AppendHex appends src in lower-case hexadecimal.
func AppendHex(dst, src []byte) []byte {
	for ; len(src) >= 4; src = src[4:] {
		x := uint64(binary.BigEndian.Uint32(src))
		x = (x | x<<16) & 0x0000ffff0000ffff
		x = (x | x<<8) & 0x00ff00ff00ff00ff
		x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f
		dst = binary.BigEndian.AppendUint64(dst, characters(x))
	}
	for _, b := range src {
		dst = binary.BigEndian.AppendUint16(dst, uint16(characters(uint64(b>>4)<<8|uint64(b&15))))
	}
	return dst
}

// Hex reads 2*len(dst) hexadecimal digits into dst. The length of s must be 2*len(dst). Hex returns
// the offset of the first character that is not a digit, or -1.
func Hex[S string | []byte](dst []byte, s S) int {
	pos := 0
	for ; len(dst)-pos >= 4; pos += 4 {
		x, ok := nibbles8(bits.ReverseBytes64(load8(s[2*pos : 2*pos+8])))
		if !ok {
			break // the loop below finds the character
		}
		x = (x | x>>4) & 0x00ff00ff00ff00ff
		x = (x | x>>8) & 0x0000ffff0000ffff
		x |= x >> 16
		p := (*[4]byte)(dst[pos:])
		p[0], p[1], p[2], p[3] = byte(x>>24), byte(x>>16), byte(x>>8), byte(x)
	}
	for i := pos; i < len(dst); i++ {
		high, ok := nibble(s[2*i])
		if !ok {
			return 2 * i
		}
		low, ok := nibble(s[2*i+1])
		if !ok {
			return 2*i + 1
		}
		dst[i] = high<<4 | low
	}
	return -1
}

// nibbles8 returns the nibbles of 8 characters. ok reports whether all characters are digits. For
// the check, nibbles8 writes the nibbles as characters again and compares. Any other character
// gives a value above 15, or a nibble with another character.
func nibbles8(text uint64) (x uint64, ok bool) {
	letter := text >> 6 & ones
	x = text&(0x0f*ones) + letter*9
	return x, x&(0xf0*ones)|(text|letter<<5)^characters(x) == 0
}

func nibble(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return c | 0x20 - 'a' + 10, true
	}
	return 0, false
}
