// Package base32 writes and reads base-32 in the alphabets of the formats, five
// bits a character, most significant first, without padding. It knows no format: a
// decoder says whether a text is good, and [Foreign] which character is not.
//
//	tables    for every processor                        base32.go
//	vectors   a whole text at once, on amd64 with AVX2   vector_amd64.go, vector_amd64.s
//
// A vector function goes to its twin among the tables if the processor lacks AVX2. The build tag purego leaves vectors out, and so do the detectors of races and
// of bad memory, which do not see what assembly does.
package base32

import "encoding/binary"

// A Codec is an alphabet as encoders and decoders need it.
type Codec struct {
	digits [32]byte    // characters, by value; the assembly knows that it is here
	rows   [4][16]byte // likewise; see row

	pairs  [1024][2]byte // two characters at a time, by value
	values [256]int8     // by character; foreign for those that have none
}

// foreign is the value of a character that is none of the alphabet's. Widened and shifted, it
// sets all bits above those that a value can have: see bits40.
const foreign = -1

// The low half of an ASCII character tells the digits apart, in row 3 of ASCII's table; the
// letters up to O, in row 4 or, the small ones, 6; and those from P on, in row 5 or 7. Of these
// three there is a table of values each, by the low half, where the top bit says that
// there is none. The fourth table is by the high half: the top bit says that the alphabet has
// nothing in that row.
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
	noValue  = 0x80 // what it and the others hold for nothing
)

// NewCodec returns the codec of those 32 characters in the order of their values: digits and
// ASCII letters of one case, read in any case where fold is set.
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

// The alphabets that formats use.
var (
	// Crockford leaves out I, L, O and U.
	Crockford = NewCodec("0123456789ABCDEFGHJKMNPQRSTVWXYZ", true)
	// Hex is base32hex of RFC 4648, section 7.
	Hex = NewCodec("0123456789ABCDEFGHIJKLMNOPQRSTUV", true)
)

const (
	Len63  = 13 // characters of an integer of 63 bits
	Len80  = 16 // characters of 10 bytes
	Len160 = 32 // characters of 20 bytes
)

// blank makes room at the end of a slice. An append costs nothing in the compiler's
// reckoning, so the functions below are inlined, and a format's AppendText with them: a call
// less, which is as long as the work.
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

// Decode63 reads 13 characters. It returns -1 if the text is not that, or its value not
// below 2^63.
func (c *Codec) Decode63(s string) int64      { return decode63(c, s) }
func (c *Codec) Decode63Bytes(s []byte) int64 { return decode63Bytes(c, s) }

// Decode80 reads 16 characters into dst, which it leaves alone if the text is not that.
func (c *Codec) Decode80(dst *[10]byte, s string) bool      { return decode80(c, dst, s) }
func (c *Codec) Decode80Bytes(dst *[10]byte, s []byte) bool { return decode80Bytes(c, dst, s) }

// Decode160 reads 32 characters into dst, which it leaves alone if the text is not that.
func (c *Codec) Decode160(dst *[20]byte, s string) bool      { return decode160(c, dst, s) }
func (c *Codec) Decode160Bytes(dst *[20]byte, s []byte) bool { return decode160Bytes(c, dst, s) }

// Runs are for slices of IDs, whose types are not known here: a pointer to the first of
// n stands for them. A run goes by vectors or not at all: it returns how far it went, and
// the caller goes on, one by one, from what a run does not do.

// EncodeRun63 writes the n integers from first on to dst, sep after each, as far as they are
// not negative and dst has room.
func (c *Codec) EncodeRun63(dst []byte, first *int64, n int, sep byte) int {
	return encodeRun63(c, dst, first, min(n, len(dst)/(Len63+1)), sep)
}

// EncodeRun80 does likewise for n values of 10 bytes.
func (c *Codec) EncodeRun80(dst []byte, first *[10]byte, n int, sep byte) int {
	return encodeRun80(c, dst, first, min(n, len(dst)/(Len80+1)), sep)
}

// EncodeRun160 does likewise for n values of 20 bytes.
func (c *Codec) EncodeRun160(dst []byte, first *[20]byte, n int, sep byte) int {
	return encodeRun160(c, dst, first, min(n, len(dst)/(Len160+1)), sep)
}

// DecodeRun63 reads up to n integers from text, into those from first on, as far as they are
// good and sep follows. A sep of the alphabet separates nothing.
func (c *Codec) DecodeRun63(first *int64, n int, text []byte, sep byte) int {
	if c.values[sep] >= 0 {
		return 0
	}
	return decodeRun63(c, first, min(n, len(text)/(Len63+1)), text, sep)
}

// DecodeRun80 does likewise for n values of 10 bytes.
func (c *Codec) DecodeRun80(first *[10]byte, n int, text []byte, sep byte) int {
	if c.values[sep] >= 0 {
		return 0
	}
	return decodeRun80(c, first, min(n, len(text)/(Len80+1)), text, sep)
}

// DecodeRun160 does likewise for n values of 20 bytes.
func (c *Codec) DecodeRun160(first *[20]byte, n int, text []byte, sep byte) int {
	if c.values[sep] >= 0 {
		return 0
	}
	return decodeRun160(c, first, min(n, len(text)/(Len160+1)), text, sep)
}

// Foreign returns the offset of the first character that is not in the alphabet,
// -1 if all are.
func Foreign[S string | []byte](c *Codec, s S) int {
	for i := range len(s) {
		if c.values[s[i]] < 0 {
			return i
		}
	}
	return -1
}

// Digit returns the value of one character; ok tells whether it has one.
func (c *Codec) Digit(char byte) (v byte, ok bool) {
	return byte(c.values[char]), c.values[char] >= 0
}

// The twins of the encoders, which write over the end of dst.

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

// The twins of the decoders. They are not generic: called from another package by way of an
// inlined function, what is generic is taken to keep its arguments, which then go to the heap.

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

// bits40 returns the value of 8 characters, with bits above the 40 set if one is foreign.
func bits40[S string | []byte](c *Codec, s S) uint64 {
	_ = s[7]
	return uint64(c.values[s[0]])<<35 | uint64(c.values[s[1]])<<30 | uint64(c.values[s[2]])<<25 |
		uint64(c.values[s[3]])<<20 | uint64(c.values[s[4]])<<15 | uint64(c.values[s[5]])<<10 |
		uint64(c.values[s[6]])<<5 | uint64(c.values[s[7]])
}

// value63 puts together the first 8 characters of 13 and the last 8, which share three.
func value63(first, last uint64) int64 {
	if first>>38|last>>40 != 0 {
		return -1
	}
	return int64(first<<25 | last)
}

// put80 writes two times 40 bits, unless one has others above.
func put80(dst *[10]byte, high, low uint64) bool {
	if (high|low)>>40 != 0 {
		return false
	}
	binary.BigEndian.PutUint64(dst[:8], high<<24|low>>16)
	binary.BigEndian.PutUint16(dst[8:], uint16(low))
	return true
}
