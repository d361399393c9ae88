// Package base32 writes and reads base-32 in the alphabets of the formats: five bits a character,
// most significant first, without padding. It knows no format. A decoder reports whether a text is
// valid, and [Foreign] returns the offset of the first foreign character.
//
//	tables to write, 64-bit words to read   for every processor   base32.go
//	vectors   IDs of 10 and of 20 bytes, on amd64 with AVX2       encode_amd64.s, decode_amd64.s
//
// The vector functions have twins with tables, for processors without AVX2. The build tag purego
// leaves vectors out. The race detector and the memory sanitizers use the twins too, because they do
// not see the memory accesses of assembly.
package base32

import "encoding/binary"

// A Codec holds the tables of an alphabet.
type Codec struct {
	digits [32]byte    // characters, by value; the assembly depends on this offset
	rows   [4][16]byte // see row; the assembly depends on this offset

	pairs  [1024][2]byte // pairs of characters, by value
	values [256]uint64   // values, by character; foreign for other characters
}

// foreign is the value of a character outside the alphabet. After a shift, foreign sets all bits
// above those of a valid value: see bits40.
const foreign = ^uint64(0)

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
	c.values[char] = uint64(v)
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

// Append80 appends the 16 characters of id.
func (c *Codec) Append80(dst []byte, id *[10]byte) []byte {
	dst = append(dst, blank[:Len80]...)
	encode(c, dst, id[:])
	return dst
}

// Append160 appends the 32 characters of id.
func (c *Codec) Append160(dst []byte, id *[20]byte) []byte {
	dst = append(dst, blank[:Len160]...)
	encode(c, dst, id[:])
	return dst
}

// Decode63 reads 13 characters. It returns -1 if the text is invalid or its value is 2^63 or more.
func (c *Codec) Decode63(s string) int64      { return decode63String(c, s) }
func (c *Codec) Decode63Bytes(s []byte) int64 { return decode63Bytes(c, s) }

// Decode reads the characters of an ID of 10 or 20 bytes. If the text is invalid, Decode leaves id
// unchanged and returns false.
func (c *Codec) Decode(id []byte, s string) bool {
	return len(s) == textLen(id) && decodeString(c, id, s)
}

// DecodeBytes is Decode for a text in bytes.
func (c *Codec) DecodeBytes(id, s []byte) bool {
	return len(s) == textLen(id) && decode(c, id, s)
}

// textLen returns the number of characters of an ID of 10 or 20 bytes.
func textLen(id []byte) int { return len(id) / 5 * 8 }

// The functions for runs work on slices of IDs. This package does not know the type of the IDs, so
// the first ID and a number stand for the slice. Runs use vectors only, which hold 20 bytes: they do
// nothing without vectors, and an even number of IDs of 10 bytes. Each returns the number of IDs done.
// The caller does the other IDs one by one.

// EncodeRun writes up to n IDs of 10 or 20 bytes to dst, with sep after each, while dst has room.
func (c *Codec) EncodeRun(dst, first []byte, n int, sep byte) int {
	each := 20 / len(first) // IDs in a vector
	pairs := min(n, len(dst)/(textLen(first)+1)) / each
	if !vectors || pairs == 0 {
		return 0
	}
	encodeRun(c, dst, first, pairs, sep)
	return pairs * each
}

// DecodeRun reads up to n IDs of 10 or 20 bytes from text, each followed by sep, until a text is
// invalid. It reads nothing if sep is a character of the alphabet.
func (c *Codec) DecodeRun(first []byte, n int, text []byte, sep byte) int {
	each := 20 / len(first)
	pairs := min(n, len(text)/(textLen(first)+1)) / each
	if !vectors || pairs == 0 || c.values[sep] != foreign {
		return 0
	}
	return decodeRun(c, first, text, pairs, sep) * each
}

// Foreign returns the offset of the first character outside the alphabet, or -1.
func Foreign[S string | []byte](c *Codec, s S) int {
	for i := range len(s) {
		if c.values[s[i]] == foreign {
			return i
		}
	}
	return -1
}

// Digit returns the value of a character. ok is false if the character is not in the alphabet.
func (c *Codec) Digit(char byte) (v byte, ok bool) {
	return byte(c.values[char]), c.values[char] != foreign
}

// The encoders write over the end of dst.

func encode63(c *Codec, dst []byte, v uint64) {
	p := (*[Len63]byte)(dst[len(dst)-Len63:])
	p[0] = c.digits[v>>60]
	c.encode20((*[4]byte)(p[1:]), v>>40)
	c.encode20((*[4]byte)(p[5:]), v>>20)
	c.encode20((*[4]byte)(p[9:]), v)
}

func twinEncode(c *Codec, dst, id []byte) {
	if len(id) == 20 {
		c.encode80((*[16]byte)(dst[len(dst)-32:]), (*[10]byte)(id))
		id = id[10:]
	}
	c.encode80((*[16]byte)(dst[len(dst)-16:]), (*[10]byte)(id))
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

// The decoders that Decode and its like call are not generic. If another package calls a generic
// function through an inlined function, the compiler assumes that the arguments escape, and moves
// them to the heap.

func decode63String(c *Codec, s string) int64 { return decode63(c, s) }
func decode63Bytes(c *Codec, s []byte) int64  { return decode63(c, s) }

func decode63[S string | []byte](c *Codec, s S) int64 {
	if len(s) != Len63 {
		return -1
	}
	return value63(bits40(&c.values, s[:8]), bits40(&c.values, s[5:]))
}

func twinDecode(c *Codec, id, s []byte) bool              { return decodeOne(c, id, s) }
func twinDecodeString(c *Codec, id []byte, s string) bool { return decodeOne(c, id, s) }

func decodeOne[S string | []byte](c *Codec, id []byte, s S) bool {
	high, low := bits40(&c.values, s[:8]), bits40(&c.values, s[8:])
	foreign := high | low
	if len(id) == 20 {
		a, b := bits40(&c.values, s[16:]), bits40(&c.values, s[24:])
		if foreign |= a | b; foreign>>40 == 0 {
			put80((*[10]byte)(id[10:]), a, b)
		}
	}
	if foreign>>40 != 0 {
		return false
	}
	put80((*[10]byte)(id), high, low)
	return true
}

// bits40 returns the value of 8 characters, by the values of a Codec. Bits above the low 40 are set
// if a character is foreign. The compiler inlines it.
func bits40[S string | []byte](v *[256]uint64, s S) uint64 {
	_ = s[7]
	return v[s[0]]<<35 | v[s[1]]<<30 | v[s[2]]<<25 | v[s[3]]<<20 |
		v[s[4]]<<15 | v[s[5]]<<10 | v[s[6]]<<5 | v[s[7]]
}

// value63 joins the values of the first 8 and the last 8 of 13 characters, which overlap by 3.
func value63(first, last uint64) int64 {
	if first>>38|last>>40 != 0 {
		return -1
	}
	return int64(first<<25 | last)
}

// put80 writes twice 40 bits to dst.
func put80(dst *[10]byte, high, low uint64) {
	binary.BigEndian.PutUint64(dst[:8], high<<24|low>>16)
	binary.BigEndian.PutUint16(dst[8:], uint16(low))
}
