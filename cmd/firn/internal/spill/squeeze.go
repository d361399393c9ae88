package spill

import (
	"math/bits"
	"unsafe"
)

// A squeeze takes the bits in which records differ into one word, and back. IDs made at nearly the same time share
// most bits, and so a radix sort of the words has few passes.
type squeeze[R Record] struct {
	common R
	pieces []piece
	bits   int
	passes int
	digit  uint // the bits of a digit
}

// A piece is neighbouring bits of a word of records, and their place in the squeezed word.
type piece struct {
	word     int
	from, to uint
	mask     uint64
}

const (
	mostDigit  = 11 // bits: the places that a pass writes to are near enough for the caches
	mostPasses = (64 + mostDigit - 1) / mostDigit
	mostPieces = 8
)

// newSqueeze returns the squeeze for records that differ from the record first in some bits. If the bits do not fit
// a word, ok is false.
func newSqueeze[R Record](first, differ R) (s squeeze[R], ok bool) {
	for w := range len(differ) {
		s.common[w] = first[w] &^ differ[w]
		for d := differ[w]; d != 0; {
			top := 64 - bits.LeadingZeros64(d)
			low := top - bits.LeadingZeros64(^(d << (64 - top)))
			d &= 1<<low - 1
			s.pieces = append(s.pieces, piece{word: w, from: uint(low), mask: 1<<(top-low) - 1})
		}
	}
	for len(s.pieces) > mostPieces {
		if !s.join() {
			return s, false
		}
	}
	for i := len(s.pieces) - 1; i >= 0; i-- {
		p := &s.pieces[i]
		s.common[p.word] &^= p.mask << p.from
		p.to = uint(s.bits)
		s.bits += bits.Len64(p.mask)
	}
	if s.bits > 64 {
		return s, false
	}
	s.passes = (s.bits + mostDigit - 1) / mostDigit
	if s.passes > 0 {
		s.digit = uint((s.bits + s.passes - 1) / s.passes)
	}
	return s, true
}

// join makes one piece of the two of a word that are nearest.
func (s *squeeze[R]) join() bool {
	best, gap := 0, uint(64)
	for i := 1; i < len(s.pieces); i++ {
		above, below := s.pieces[i-1], s.pieces[i]
		if between := above.from - below.from - uint(bits.Len64(below.mask)); above.word == below.word && between < gap {
			best, gap = i, between
		}
	}
	if best == 0 {
		return false
	}
	above, below := s.pieces[best-1], s.pieces[best]
	below.mask |= above.mask << (above.from - below.from)
	below.mask = 1<<bits.Len64(below.mask) - 1
	s.pieces = append(s.pieces[:best-1], s.pieces[best:]...)
	s.pieces[best-1] = below
	return true
}

// pack returns the bits in which a record differs.
func (s *squeeze[R]) pack(r *R) (v uint64) {
	for i := range s.pieces {
		p := &s.pieces[i]
		v |= (*r)[p.word] >> (p.from & 63) & p.mask << (p.to & 63)
	}
	return v
}

// unpack returns the record.
func (s *squeeze[R]) unpack(v uint64) R {
	r := s.common
	for i := range s.pieces {
		p := &s.pieces[i]
		r[p.word] |= v >> (p.to & 63) & p.mask << (p.from & 63)
	}
	return r
}

// sort sorts records in place. The squeezed words are at the beginning of the records' memory or at its end, and
// each pass of the radix sort takes them to the other place.
func (s *squeeze[R]) sort(a []R) {
	n := len(a)
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&a[0])), n*len(a[0]))
	here, there := words[:n], words[len(words)-n:]
	var counts [mostPasses][1 << mostDigit]uint32
	const mask = 1<<mostDigit - 1 // the compiler sees that a digit is in range
	digit, last := s.digit, uint64(1)<<s.digit-1
	for i := range a { // word i is in a record that was read, or in record i
		v := s.pack(&a[i])
		here[i] = v
		for pass := range s.passes {
			counts[pass][v&last&mask]++
			v >>= digit & 63
		}
	}
	swapped := false
	for pass := range s.passes {
		next := &counts[pass]
		sum := uint32(0)
		for d, n := range next[:last+1] {
			next[d] = sum
			sum += n
		}
		shift := uint(pass) * digit & 63
		for _, v := range here {
			d := v >> shift & last & mask
			there[next[d]] = v
			next[d]++
		}
		here, there = there, here
		swapped = !swapped
	}
	if swapped { // the words are behind the records that are written
		for i := range a {
			a[i] = s.unpack(here[i])
		}
		return
	}
	for i := n - 1; i >= 0; i-- {
		a[i] = s.unpack(here[i])
	}
}
