package sno

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Sort performs an in-place lexicographic sort of a slice of IDs.
//
// It is a radix sort, several times as fast as a sort by comparisons. It allocates 10
// bytes for each ID, one more copy of the slice; nothing for up to 32 IDs, or if they are
// in order already, or in the opposite one. Nobody else may use the slice meanwhile.
func Sort(s []ID) {
	switch {
	case len(s) <= few:
		sortFew(s, s)
	case ascends(s):
	case descends(s):
		slices.Reverse(s)
	default:
		sortByDigits(s, make([]ID, len(s)), false)
	}
}

const (
	few = 32 // IDs that insertion sorts faster than digits do

	// Bits of a digit. 512 buckets are as many as can be filled in turn at speed, as the
	// ends of all of them stay in the nearest cache. With fewer IDs, all of their memory is near.
	narrow = 9
	wide   = 11
	near   = 1 << 14 // IDs
)

// sortByDigits sorts the IDs of a. It leaves them in b if toB is set, else in a, and uses
// the other one's memory.
//
// It distributes the IDs to buckets by a digit, which is made of the first bits in which
// they differ, and then sorts each bucket in the same way. So IDs of one day or of one
// partition take no longer than random ones, and a million of one generator are in order
// once each was moved twice. A call sees its IDs four times, and a digit leaves at least
// one bit less to sort by: no IDs take very much longer than others.
func sortByDigits(a, b []ID, toB bool) {
	width := bits.Len(uint(len(a)))
	switch {
	case len(a) > math.MaxUint16:
		sortMany(a, b, toB)
	case narrow < width && len(a) <= near:
		sortWide(a, b, toB, min(width, wide))
	default:
		var at [1 << narrow]uint16
		distribute(a, b, toB, at[:], min(width, narrow))
	}
}

// sortMany and sortWide are apart because of their frames.
func sortMany(a, b []ID, toB bool) {
	var at [1 << narrow]int
	distribute(a, b, toB, at[:], narrow)
}

func sortWide(a, b []ID, toB bool, width int) {
	var at [1 << wide]uint16
	distribute(a, b, toB, at[:], width)
}

// A place is an index of as many IDs as a call has: the smaller, the more buckets in the
// nearest cache.
type place interface{ uint16 | int }

// distribute does the work of sortByDigits, with digits of the width at most. at are as
// many zeros as there are such digits.
func distribute[P place](a, b []ID, toB bool, at []P, width int) {
	d := newDigit(a, width)
	if d.width == 0 {
		if toB {
			copy(b, a)
		}
		return
	}
	at = at[:1<<d.width]
	count(a, at, d.high, d.tail)
	var start, most P
	for i, n := range at {
		at[i] = start
		start += n
		most = max(most, n)
	}
	// Now at is where a bucket begins.
	move(b, a, at, d.high, d.tail)
	// Now it is where a bucket ends.
	switch {
	case !d.left && !toB:
		copy(a, b)
	case !d.left:
	case most <= few && toB:
		sortFew(b, b)
	case most <= few:
		sortFew(a, b)
	default:
		start := 0
		for _, end := range at {
			end := int(end)
			switch {
			case end-start > few:
				sortByDigits(b[start:end], a[start:end], !toB)
			case toB:
				sortFew(b[start:end], b[start:end])
			default:
				sortFew(a[start:end], b[start:end])
			}
			start = end
		}
	}
}

// count counts the IDs of each digit.
func count[P place](s []ID, at []P, high, tail bitRun) {
	for i := range s {
		at[digitOf(&s[i], high, tail)]++
	}
}

// move moves IDs to the places of their digits, which it moves on.
func move[P place](dst, src []ID, at []P, high, tail bitRun) {
	for i := range src {
		id := &src[i]
		to := &at[digitOf(id, high, tail)]
		dst[*to] = *id
		*to++
	}
}

// sortFew sorts the IDs of src into dst, which is src or other memory, by insertion: in
// little time if none is far from its place.
func sortFew(dst, src []ID) {
	for i := range src {
		id := src[i]
		high, low := id.high(), id.low()
		j := i
		for ; j > 0; j-- {
			before := &dst[j-1]
			if h := before.high(); h < high || h == high && before.low() <= low {
				break
			}
			dst[j] = *before
		}
		dst[j] = id
	}
}

// ascends tells whether no ID is less than the one before it, and descends whether none is
// greater.
func ascends(s []ID) bool {
	high, low := s[0].high(), s[0].low()
	for i := range s {
		h, l := s[i].high(), s[i].low()
		if h < high || h == high && l < low {
			return false
		}
		high, low = h, l
	}
	return true
}

func descends(s []ID) bool {
	high, low := s[0].high(), s[0].low()
	for i := range s {
		h, l := s[i].high(), s[i].low()
		if h > high || h == high && l > low {
			return false
		}
		high, low = h, l
	}
	return true
}

// high, low and tail are the first 64 bits of an ID, the last 16, and the last 64.
func (id *ID) high() uint64 { return binary.BigEndian.Uint64(id[:8]) }
func (id *ID) low() uint64  { return uint64(binary.BigEndian.Uint16(id[8:])) }
func (id *ID) tail() uint64 { return binary.BigEndian.Uint64(id[2:]) }

// A digit is up to two runs of bits of an ID: one of the first 64 bits, and one of the last.
type digit struct {
	high, tail bitRun
	width      int  // the bits of both
	left       bool // IDs of one digit can differ
}

// A bitRun is how bits are taken from a word.
type bitRun struct {
	turn int // of the word to the left, so that they are in their place in the digit
	mask uint64
}

// newDigit returns the digit of the first bits in which not all IDs are the same, up to
// width of them.
func newDigit(s []ID, width int) digit {
	// Which bits differ can be seen in any order of bytes.
	high, low := binary.LittleEndian.Uint64(s[0][:]), binary.LittleEndian.Uint16(s[0][8:])
	var h uint64
	var l uint16
	for i := range s {
		id := &s[i]
		h |= binary.LittleEndian.Uint64(id[:]) ^ high
		l |= binary.LittleEndian.Uint16(id[8:]) ^ low
	}
	return digitFor(bits.ReverseBytes64(h), bits.ReverseBytes16(l), width)
}

// digitFor is newDigit, given the bits that differ of the first 64 and of the last 16.
func digitFor(high uint64, low uint16, width int) (d digit) {
	first, after := firstRun(high, width)
	high &= 1<<after - 1
	d.high.turn = -after

	// The next run is left to the next digit if it is not within the last 64 bits.
	if high>>48 == 0 {
		last, after := firstRun(high<<16|uint64(low), width-first)
		rest := (high<<16 | uint64(low)) & (1<<after - 1)
		high, low = rest>>16, uint16(rest)
		d.high.turn += last
		d.tail = bitRun{-after, 1<<last - 1}
		d.width = last
	}
	d.high.mask = (1<<first - 1) << d.width
	d.width += first
	d.left = high != 0 || low != 0
	return d
}

// firstRun returns how many ones the first run of ones in a word has, up to most, and how many
// bits are after it.
func firstRun(w uint64, most int) (ones, after int) {
	zeros := bits.LeadingZeros64(w)
	ones = min(bits.LeadingZeros64(^(w << zeros)), most)
	return ones, 64 - zeros - ones
}

// digitOf returns the digit of an ID.
func digitOf(id *ID, high, tail bitRun) uint64 {
	return bits.RotateLeft64(id.high(), high.turn)&high.mask | bits.RotateLeft64(id.tail(), tail.turn)&tail.mask
}
