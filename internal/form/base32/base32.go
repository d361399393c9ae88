// Package base32 writes and reads base-32 in the alphabets of the formats: five bits a character,
// most significant first, without padding. It knows no format. A decoder reports whether a text is
// valid, and [Foreign] returns the offset of the first foreign character.
//
//	tables    for every processor                        base32.go
//	vectors   a whole text at once, on amd64 with AVX2   vector_amd64.go, vector_amd64.s
//
// Each vector function has a twin with tables, for processors without AVX2. The build tag purego
// leaves vectors out. The race detector and the memory sanitizers use the twin too, because they do
// not see the memory accesses of assembly.
package base32

import "encoding/binary"

// A Codec holds the tables of an alphabet.
type Codec struct {
	digits [32]byte    // characters, by value; the assembly depends on this offset
	rows   [4][16]byte // see row; the assembly depends on this offset

	pairs  [1024][2]byte // pairs of characters, by value
	values [256]int8     // values, by character; foreign for other characters
}

// foreign is the value of a character outside the alphabet. After sign extension and a shift,
// foreign sets all bits above those of a valid value: see bits40.
const foreign = -1

// row returns the table of a character's value, by the high half of the character. Table 0 has the
// digits (row 3 of ASCII), table 1 the letters up to O (rows 4 and 6), table 2 the letters from P
// on (rows 5 and 7). The low half is the index in the table. The fourth table has the high half as
// its index: noValue means that the alphabet has no character in this row of ASCII.
func row(char byte) int {
	switch char >> 4 {
	case 3:
		return 0
	case 4, 6:
		return 1
	case 5, 7:
		return 2
	}
	panic("base32: neither a digit nor a letter")
}

const (
	rowTable = 3    // the fourth table
	noValue  = 0x80 // the top bit: no character of the alphabet
)

// NewCodec returns the codec of 32 characters, in the order of their values: digits and ASCII
// letters of one case. If fold is true, the codec reads letters of both cases.
func NewCodec(digits string, fold bool) *Codec {
	c := &Codec{digits: [32]byte([]byte(digits))}
	for i := range c.values {
		c.values[i] = foreign
	}
	for i := range c.rows {
		for low := range c.rows[i] {
			c.rows[i][low] = noValue
		}
	}
	for v, char := range c.digits {
		c.add(char, v)
		if fold && 'A' <= char && char <= 'Z' {
			c.add(char-'A'+'a', v)
		}
	}
	for i := range c.pairs {
		c.pairs[i] = [2]byte{c.digits[i>>5], c.digits[i&31]}
	}
	return c
}

func (c *Codec) add(char byte, v int) {
	held := &c.rows[row(char)][char&15]
	if *held != noValue && *held != byte(v) {
		panic("base32: letters of two cases")
	}
	*held = byte(v)
	c.rows[rowTable][char>>4] = 0
	c.values[char] = int8(v)
}

// The characters of the alphabets that formats use, in the order of their values.
const (
	CrockfordDigits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
	HexDigits       = "0123456789ABCDEFGHIJKLMNOPQRSTUV"
)

// The alphabets that formats use.
var (
	// Crockford leaves out I, L, O and U.
	Crockford = NewCodec(CrockfordDigits, true)
	// Hex is base32hex of RFC 4648, section 7.
	Hex = NewCodec(HexDigits, true)
)

const (
	Len63  = 13 // characters of an integer of 63 bits
	Len80  = 16 // characters of 10 bytes
	Len160 = 32 // characters of 20 bytes
)

// blank makes room at the end of a slice. An append costs nothing in the compiler's inlining
// budget. The compiler therefore inlines the functions below, and a format's AppendText with them.
// This saves a call, which takes as long as the encoding itself.
const blank = "................................"

// Append63 appends the 13 characters of v, which is below 2^63.
func (c *Codec) Append63(dst []byte, v uint64) []byte {
	dst = append(dst, blank[:Len63]...)
	encode63(c, dst, v)
	return dst
}

// Append80 appends the 16 characters of src.
func (c *Codec) Append80(dst []byte, src *[10]byte) []byte {
	dst = append(dst, blank[:Len80]...)
	encode80(c, dst, src)
	return dst
}

// Append160 appends the 32 characters of src.
func (c *Codec) Append160(dst []byte, src *[20]byte) []byte {
	dst = append(dst, blank[:Len160]...)
	encode160(c, dst, src)
	return dst
}

// Decode63 reads 13 characters. It returns -1 if the text is invalid or its value is 2^63 or more.
func (c *Codec) Decode63(s string) int64      { return decode63(c, s) }
func (c *Codec) Decode63Bytes(s []byte) int64 { return decode63Bytes(c, s) }

// Decode80 reads 16 characters into dst. If the text is invalid, Decode80 leaves dst unchanged and
// returns false.
func (c *Codec) Decode80(dst *[10]byte, s string) bool      { return decode80(c, dst, s) }
func (c *Codec) Decode80Bytes(dst *[10]byte, s []byte) bool { return decode80Bytes(c, dst, s) }

// Decode160 reads 32 characters into dst. If the text is invalid, Decode160 leaves dst unchanged
// and returns false.
func (c *Codec) Decode160(dst *[20]byte, s string) bool      { return decode160(c, dst, s) }
func (c *Codec) Decode160Bytes(dst *[20]byte, s []byte) bool { return decode160Bytes(c, dst, s) }

// The functions for runs work on slices of IDs. This package does not know the type of the IDs, so
// a pointer to the first ID and a number stand for the slice. Runs use vectors only, and return the
// number of IDs done: 0 without vectors. The caller does the other IDs one by one.

// EncodeRun63 writes the n integers from first on to dst, with sep after each. It stops at a
// negative integer or if dst has no room.
func (c *Codec) EncodeRun63(dst []byte, first *int64, n int, sep byte) int {
	return encodeRun63(c, dst, first, min(n, len(dst)/(Len63+1)), sep)
}

// EncodeRun80 is EncodeRun63 for n values of 10 bytes.
func (c *Codec) EncodeRun80(dst []byte, first *[10]byte, n int, sep byte) int {
	return encodeRun80(c, dst, first, min(n, len(dst)/(Len80+1)), sep)
}

// EncodeRun160 is EncodeRun63 for n values of 20 bytes.
func (c *Codec) EncodeRun160(dst []byte, first *[20]byte, n int, sep byte) int {
	return encodeRun160(c, dst, first, min(n, len(dst)/(Len160+1)), sep)
}

// DecodeRun63 reads up to n integers from text, each followed by sep, into the integers from first
// on. It stops at an invalid text. It reads nothing if sep is a character of the alphabet.
func (c *Codec) DecodeRun63(first *int64, n int, text []byte, sep byte) int {
	if c.values[sep] >= 0 {
		return 0
	}
	return decodeRun63(c, first, min(n, len(text)/(Len63+1)), text, sep)
}

// DecodeRun80 is DecodeRun63 for n values of 10 bytes.
func (c *Codec) DecodeRun80(first *[10]byte, n int, text []byte, sep byte) int {
	if c.values[sep] >= 0 {
		return 0
	}
	return decodeRun80(c, first, min(n, len(text)/(Len80+1)), text, sep)
}

// DecodeRun160 is DecodeRun63 for n values of 20 bytes.
func (c *Codec) DecodeRun160(first *[20]byte, n int, text []byte, sep byte) int {
	if c.values[sep] >= 0 {
		return 0
	}
	return decodeRun160(c, first, min(n, len(text)/(Len160+1)), text, sep)
}

// Foreign returns the offset of the first character outside the alphabet, or -1.
func Foreign[S string | []byte](c *Codec, s S) int {
	for i := range len(s) {
		if c.values[s[i]] < 0 {
			return i
		}
	}
	return -1
}

// Digit returns the value of a character. ok is false if the character is not in the alphabet.
func (c *Codec) Digit(char byte) (v byte, ok bool) {
	return byte(c.values[char]), c.values[char] >= 0
}

// The twins of the encoders write over the end of dst.

func twinEncode63(c *Codec, dst []byte, v uint64) {
	p := (*[Len63]byte)(dst[len(dst)-Len63:])
	p[0] = c.digits[v>>60]
	c.encode20((*[4]byte)(p[1:]), v>>40)
	c.encode20((*[4]byte)(p[5:]), v>>20)
	c.encode20((*[4]byte)(p[9:]), v)
}

func twinEncode80(c *Codec, dst []byte, src *[10]byte) {
	p := (*[Len80]byte)(dst[len(dst)-Len80:])
	c.encode80(p, src)
}

func twinEncode160(c *Codec, dst []byte, src *[20]byte) {
	p := (*[Len160]byte)(dst[len(dst)-Len160:])
	c.encode80((*[16]byte)(p[:16]), (*[10]byte)(src[:10]))
	c.encode80((*[16]byte)(p[16:]), (*[10]byte)(src[10:]))
}

func (c *Codec) encode80(p *[16]byte, src *[10]byte) {
	high, low := binary.BigEndian.Uint64(src[:8]), binary.BigEndian.Uint64(src[2:])
	c.encode20((*[4]byte)(p[0:]), high>>44)
	c.encode20((*[4]byte)(p[4:]), high>>24)
	c.encode20((*[4]byte)(p[8:]), low>>20)
	c.encode20((*[4]byte)(p[12:]), low)
}

// encode20 writes the low 20 bits of v.
func (c *Codec) encode20(p *[4]byte, v uint64) {
	*(*[2]byte)(p[:2]) = c.pairs[v>>10&1023]
	*(*[2]byte)(p[2:]) = c.pairs[v&1023]
}

// The twins of the decoders are not generic. If another package calls a generic function through an
// inlined function, the compiler assumes that the arguments escape, and moves them to the heap.

func twin63(c *Codec, s string) int64 {
	if len(s) != Len63 {
		return -1
	}
	return value63(bits40(c, s[:8]), bits40(c, s[5:]))
}

func twin63Bytes(c *Codec, s []byte) int64 {
	if len(s) != Len63 {
		return -1
	}
	return value63(bits40(c, s[:8]), bits40(c, s[5:]))
}

func twin80(c *Codec, dst *[10]byte, s string) bool {
	return len(s) == Len80 && put80(dst, bits40(c, s[:8]), bits40(c, s[8:]))
}

func twin80Bytes(c *Codec, dst *[10]byte, s []byte) bool {
	return len(s) == Len80 && put80(dst, bits40(c, s[:8]), bits40(c, s[8:]))
}

func twin160(c *Codec, dst *[20]byte, s string) bool {
	var v [20]byte
	ok := len(s) == Len160 && put80((*[10]byte)(v[:]), bits40(c, s[:8]), bits40(c, s[8:16])) &&
		put80((*[10]byte)(v[10:]), bits40(c, s[16:24]), bits40(c, s[24:]))
	if ok {
		*dst = v
	}
	return ok
}

func twin160Bytes(c *Codec, dst *[20]byte, s []byte) bool {
	var v [20]byte
	ok := len(s) == Len160 && put80((*[10]byte)(v[:]), bits40(c, s[:8]), bits40(c, s[8:16])) &&
		put80((*[10]byte)(v[10:]), bits40(c, s[16:24]), bits40(c, s[24:]))
	if ok {
		*dst = v
	}
	return ok
}

// bits40 returns the value of 8 characters. Bits above the low 40 are set if a character is
// foreign.
func bits40[S string | []byte](c *Codec, s S) uint64 {
	_ = s[7]
	return uint64(c.values[s[0]])<<35 | uint64(c.values[s[1]])<<30 | uint64(c.values[s[2]])<<25 |
		uint64(c.values[s[3]])<<20 | uint64(c.values[s[4]])<<15 | uint64(c.values[s[5]])<<10 |
		uint64(c.values[s[6]])<<5 | uint64(c.values[s[7]])
}

// value63 joins the values of the first 8 and the last 8 of 13 characters, which overlap by 3.
func value63(first, last uint64) int64 {
	if first>>38|last>>40 != 0 {
		return -1
	}
	return int64(first<<25 | last)
}

// put80 writes twice 40 bits to dst. It returns false if a value has bits above its low 40.
func put80(dst *[10]byte, high, low uint64) bool {
	if (high|low)>>40 != 0 {
		return false
	}
	binary.BigEndian.PutUint64(dst[:8], high<<24|low>>16)
	binary.BigEndian.PutUint16(dst[8:], uint16(low))
	return true
}
