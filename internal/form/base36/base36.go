// Package base36 writes and reads unsigned integers in base-36: digits, then letters. It writes
// lower case and reads both cases.
package base36

const (
	// Len is the length of a padded 63-bit integer, and the most digits that Parse reads.
	Len = 13

	// Digits are the characters in the order of their values.
	Digits = "0123456789abcdefghijklmnopqrstuvwxyz"

	pow2 = 36 * 36 // count of numbers of two digits
	pow6 = pow2 * pow2 * pow2
)

// values holds the value of each character, and foreign for other characters.
var values = func() (v [256]int16) {
	for i := range v {
		v[i] = foreign
	}
	for i := range Digits {
		v[Digits[i]] = int16(i)
		if i >= 10 {
			v[Digits[i]-'a'+'A'] = int16(i)
		}
	}
	return v
}()

// foreign is so low that a number of two digits is negative if either digit is foreign.
const foreign = -pow2

// pairs holds the two digits of each number below pow2.
var pairs = func() (p [pow2][2]byte) {
	for i := range p {
		p[i] = [2]byte{Digits[i/36], Digits[i%36]}
	}
	return p
}()

// Append appends v in 13 digits, padded with zeros. v must be below 2^63.
func Append(dst []byte, v uint64) []byte {
	n := len(dst)
	dst = append(dst, "0000000000000"...)
	p := (*[Len]byte)(dst[n:])
	high := v / pow6
	first := high / pow6
	p[0] = Digits[first]
	put6((*[6]byte)(p[1:]), uint32(high-first*pow6))
	put6((*[6]byte)(p[7:]), uint32(v-high*pow6))
	return dst
}

// put6 writes v in 6 digits.
func put6(p *[6]byte, v uint32) {
	a, ab := v/(pow2*pow2), v/pow2
	*(*[2]byte)(p[0:]) = pairs[a]
	*(*[2]byte)(p[2:]) = pairs[ab-a*pow2]
	*(*[2]byte)(p[4:]) = pairs[v-ab*pow2]
}

// Parse reads 1 to 13 digits. bad is the offset of the first foreign character, or -1. ok reports
// whether the value fits 63 bits.
func Parse[S string | []byte](s S) (v uint64, bad int, ok bool) {
	if len(s) != Len {
		return parse(s)
	}
	first := int64(values[s[0]])
	a, b, c := pair(s, 1), pair(s, 3), pair(s, 5)
	d, e, f := pair(s, 7), pair(s, 9), pair(s, 11)
	v = uint64(first)*(pow6*pow6) + uint64((a*pow2+b)*pow2+c)*pow6 + uint64((d*pow2+e)*pow2+f)
	// With a first digit of 0 or 1 the sum fits 64 bits.
	if first|a|b|c|d|e|f < 0 || first > 1 || v > 1<<63-1 {
		return parse(s)
	}
	return v, -1, true
}

// pair returns the value of two digits, or a negative number if one is foreign.
func pair[S string | []byte](s S, pos int) int64 {
	return int64(values[s[pos]])*36 + int64(values[s[pos+1]])
}

// parse is Parse of any text, digit by digit.
func parse[S string | []byte](s S) (v uint64, bad int, ok bool) {
	const limit = 1<<63 - 1
	for i := range len(s) {
		d := values[s[i]]
		if d < 0 {
			return 0, i, false
		}
		if i == Len-1 && v > (limit-uint64(d))/36 { // 12 digits always fit
			return 0, -1, false
		}
		v = v*36 + uint64(d)
	}
	return v, -1, true
}
