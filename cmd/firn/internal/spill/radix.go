package spill

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

const (
	// few is the most records that are sorted by insertion.
	few = 40

	// many is the fewest records that are worth goroutines.
	many = 1 << 15
)

// less reports whether a sorts before b.
func less[R Record](a, b *R) bool {
	for i := range len(*a) {
		if (*a)[i] != (*b)[i] {
			return (*a)[i] < (*b)[i]
		}
	}
	return false
}

// A digit is the place of a byte of records.
type digit struct {
	word  int
	shift uint
}

// sortRecords sorts records in place.
func sortRecords[R Record](a []R) {
	if len(a) <= few {
		insert(a)
		return
	}
	differ := differing(a)
	if s, ok := newSqueeze(a[0], differ); ok && uint64(len(a)) <= math.MaxUint32 {
		s.sort(a)
		return
	}
	digits := digitsOf(differ)
	if len(a) < many {
		sortFrom(a, digits)
		return
	}
	ends := deal(a, digits[0])
	var next atomic.Int64
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(ends) {
					return
				}
				begin := 0
				if i > 0 {
					begin = ends[i-1]
				}
				sortFrom(a[begin:ends[i]], digits[1:])
			}
		})
	}
	wg.Wait()
}

// differing returns the bits in which records differ.
func differing[R Record](a []R) (differ R) {
	for i := range a {
		for w := range len(differ) {
			differ[w] |= a[i][w] ^ a[0][w]
		}
	}
	return differ
}

// digitsOf returns the bytes of some bits, from the most significant.
func digitsOf[R Record](differ R) (digits []digit) {
	const byteBits, wordBits = 8, 64
	for w := range len(differ) {
		for shift := wordBits - byteBits; shift >= 0; shift -= byteBits {
			if differ[w]>>shift&0xff != 0 {
				digits = append(digits, digit{w, uint(shift)})
			}
		}
	}
	return digits
}

// sortFrom sorts records that differ in no byte but the digits.
func sortFrom[R Record](a []R, digits []digit) {
	if len(digits) == 0 {
		return
	}
	if len(a) <= few {
		insert(a)
		return
	}
	ends := deal(a, digits[0])
	begin := 0
	for _, end := range ends {
		if end-begin > 1 {
			sortFrom(a[begin:end], digits[1:])
		}
		begin = end
	}
}

// deal moves records into the order of a digit, and returns the end of each value of the digit.
func deal[R Record](a []R, d digit) (ends [256]int) {
	var next [256]int
	for i := range a {
		next[uint8(a[i][d.word]>>(d.shift&63))]++
	}
	sum := 0
	for v, n := range next {
		next[v] = sum
		sum += n
		ends[v] = sum
	}
	for v := range ends {
		for next[v] < ends[v] {
			r := a[next[v]]
			to := uint8(r[d.word] >> (d.shift & 63))
			for int(to) != v { // r goes to its place, and what was there becomes r
				a[next[to]], r = r, a[next[to]]
				next[to]++
				to = uint8(r[d.word] >> (d.shift & 63))
			}
			a[next[v]] = r
			next[v]++
		}
	}
	return ends
}

// insert sorts few records.
func insert[R Record](a []R) {
	for i := 1; i < len(a); i++ {
		r := a[i]
		j := i
		for j > 0 && less(&r, &a[j-1]) {
			a[j] = a[j-1]
			j--
		}
		a[j] = r
	}
}
