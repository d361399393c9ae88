package stats

import (
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/firn-id/firn/internal/shape"
)

// A spread counts the IDs of partitions, chosen in two ways.
type spread struct {
	low  []uint64 // by the low bits of the ID
	hash []uint64 // by the low bits of xxHash64 of the binary form
}

// newSpread returns a spread over a number of partitions, a power of two up to mostPartitions.
func newSpread(partitions int) *spread {
	return &spread{low: make([]uint64, partitions), hash: make([]uint64, partitions)}
}

// mostPartitions is the most partitions of a spread: the low two bytes of an ID tell them apart.
const mostPartitions = 1 << 16

// add counts an ID in its binary form.
func (s *spread) add(id []byte) {
	n := len(id)
	s.low[(int(id[n-2])<<8|int(id[n-1]))&(len(s.low)-1)]++
	s.hash[int(xxhash.Sum64(id)&uint64(len(s.hash)-1))]++
}

// A verdict says how evenly IDs spread over partitions.
type verdict string

const (
	even     verdict = "even"
	uneven   verdict = "slightly skewed"
	skewed   verdict = "skewed"
	tooFew   verdict = "too few IDs"
	atLeast          = 5     // IDs of a partition on average, for the chi-square test
	chance           = 0.001 // the spread is not even if chance gives such a spread more rarely
	slightly         = 0.05  // a difference from the average that a verdict may call even
	greatly          = 0.25  // a difference from the average that a verdict calls skewed
)

// An evenness is the numbers of a spread, and the verdict.
type evenness struct {
	verdict     verdict
	chi, p      float64 // the chi-square statistic, and how often chance gives a greater one
	least, most uint64  // IDs of a partition
	fullest     int     // the partition with the most IDs
	mean        float64 // IDs of a partition
	difference  float64 // the greatest difference of a partition from the mean, as a part of the mean
}

// judge returns the evenness of partitions.
func judge(ids []uint64) (e evenness) {
	var all uint64
	e.least = math.MaxUint64
	for i, n := range ids {
		all += n
		e.least = min(e.least, n)
		if n > e.most {
			e.most, e.fullest = n, i
		}
	}
	e.mean = float64(all) / float64(len(ids))
	if all == 0 {
		e.verdict = tooFew
		return e
	}
	for _, n := range ids {
		e.chi += (float64(n) - e.mean) * (float64(n) - e.mean) / e.mean
	}
	e.p = tail(float64(len(ids)-1), e.chi)
	e.difference = max(float64(e.most)/e.mean-1, 1-float64(e.least)/e.mean)
	switch {
	case e.mean < atLeast:
		e.verdict = tooFew
	case e.p >= chance || e.difference <= slightly:
		e.verdict = even
	case e.difference <= greatly:
		e.verdict = uneven
	default:
		e.verdict = skewed
	}
	return e
}

// tail returns how often chance gives a chi-square statistic greater than chi, by the approximation of Wilson and
// Hilferty: the cube root of the statistic has nearly a normal distribution. The library with the exact function
// is a hundred times as large.
func tail(freedom, chi float64) float64 {
	variance := 2 / (9 * freedom)
	return math.Erfc((math.Cbrt(chi/freedom)-1+variance)/math.Sqrt(2*variance)) / 2
}

// lowFields returns the fields of the low bits, from the least significant.
func lowFields(s shape.Shape, bits int) (fields []int) {
	for i := len(s.Fields) - 1; i >= 0; i-- {
		if f := s.Fields[i]; f.Bits > 0 && f.Shift < bits {
			fields = append(fields, i)
		}
	}
	return fields
}
