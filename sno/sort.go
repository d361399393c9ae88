package sno

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Sort performs an in-place lexicographic sort of a slice of IDs.
//
// Sort is a radix sort, several times as fast as a sort by comparisons. It allocates 10 bytes an
// ID, for a copy of the slice. Up to 32 IDs, and IDs in ascending or descending order, need no
// copy. No other goroutine may use the slice meanwhile.
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
	few = 32 // IDs: insertion sorts fewer IDs faster than digits do

	// Bits of a digit. The ends of 512 buckets stay in the nearest cache; more buckets would be
	// slower to fill in turn. With fewer IDs than near, all memory of the buckets stays in a cache.
	narrow = 9
	wide   = 11
	near   = 1 << 14 // IDs
)

// sortByDigits sorts the IDs of a, into b if toB is set and otherwise in a. It uses the memory of
// both.
//
// sortByDigits distributes the IDs to buckets by a digit, the first bits in which the IDs differ,
// and then sorts each bucket in the same way. IDs of one day or of one partition thus take no
// longer than random IDs, and a million IDs of one generator are in order after two moves of each
// ID. A call reads its IDs four times, and each digit leaves at least one bit less to sort by: no
// input takes very much longer than others.
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

// sortMany and sortWide are functions of their own because of the size of their frames.
func sortMany(a, b []ID, toB bool) {
	var at [1 << narrow]int
	distribute(a, b, toB, at[:], narrow)
}

func sortWide(a, b []ID, toB bool, width int) {
	var at [1 << wide]uint16
	distribute(a, b, toB, at[:], width)
}

// A place is an index of an ID. The nearest cache has room for more buckets of a smaller type.
type place interface{ uint16 | int }

// distribute does the work of sortByDigits with digits of at most width bits. at has a zero for
// each digit.
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
	// Now at has the beginnings of the buckets.
	move(b, a, at, d.high, d.tail)
	// Now at has the ends of the buckets.
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

// move moves each ID to the place of its digit, and moves the place on.
func move[P place](dst, src []ID, at []P, high, tail bitRun) {
	for i := range src {
		id := &src[i]
		to := &at[digitOf(id, high, tail)]
		dst[*to] = *id
		*to++
	}
}

// sortFew sorts the IDs of src into dst by insertion. dst is src or other memory. IDs near their
// places take little time.
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

// ascends reports whether no ID is less than the ID before.
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

// descends reports whether no ID is greater than the ID before.
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

// A digit is up to two runs of bits of an ID: a run of the first 64 bits, and a run of the last 64
// bits.
type digit struct {
	high, tail bitRun
	width      int  // the bits of both
	left       bool // IDs with the same digit can differ
}

// A bitRun says how to take bits from a word.
type bitRun struct {
	turn int // rotation of the word to the left, to the place of the bits in the digit
	mask uint64
}

// newDigit returns the digit of the first bits in which the IDs differ, at most width bits.
func newDigit(s []ID, width int) digit {
	// The bits that differ are the same in any order of bytes.
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

// digitFor is newDigit for the differing bits of the first 64 bits and of the last 16 bits.
func digitFor(high uint64, low uint16, width int) (d digit) {
	first, after := firstRun(high, width)
	high &= 1<<after - 1
	d.high.turn = -after

	// A second run that is not within the last 64 bits is left to the next digit.
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

// firstRun returns the length of the first run of ones in a word, at most most, and the number of
// bits after the run.
func firstRun(w uint64, most int) (ones, after int) {
	zeros := bits.LeadingZeros64(w)
	ones = min(bits.LeadingZeros64(^(w << zeros)), most)
	return ones, 64 - zeros - ones
}

// digitOf returns the digit of an ID.
func digitOf(id *ID, high, tail bitRun) uint64 {
	return bits.RotateLeft64(id.high(), high.turn)&high.mask | bits.RotateLeft64(id.tail(), tail.turn)&tail.mask
}
