package testkit

import (
	"fmt"
	"math"
)

// A fair source breaks the bounds of this file once in a million runs. A stuck bit always breaks
// the bounds.

// Random returns how values of a number of bits differ from uniformly random values, in words, or
// "". Random needs about ten thousand values.
func Random(values []uint64, bits int) string {
	n := float64(len(values))
	if n < 4096 {
		return "too few values"
	}
	ones := make([]float64, bits)
	equal := make([]float64, bits) // how often a bit equals the bit above
	for _, v := range values {
		if bits < 64 && v>>bits != 0 {
			return fmt.Sprintf("%d has more than %d bits", v, bits)
		}
		for b := range bits {
			ones[b] += float64(v >> b & 1)
			if b+1 < bits && v>>b&1 == v>>(b+1)&1 {
				equal[b]++
			}
		}
	}
	sigma := math.Sqrt(n) / 2
	for b := range bits {
		if math.Abs(ones[b]-n/2) > 6*sigma {
			return fmt.Sprintf("bit %d is set in %v of %v", b, ones[b], n)
		}
		if b+1 < bits && math.Abs(equal[b]-n/2) > 6*sigma {
			return fmt.Sprintf("bits %d and %d are equal in %v of %v", b, b+1, equal[b], n)
		}
	}
	// Chi-square of the low and of the high bits, 64 classes.
	low := min(bits, 6)
	for _, shift := range []int{0, bits - low} {
		classes := make([]int, 1<<low)
		for _, v := range values {
			classes[v>>shift&(1<<low-1)]++
		}
		if fault := Uniform(classes); fault != "" {
			return fmt.Sprintf("bits %d to %d: %s", shift, shift+low-1, fault)
		}
	}
	// Successive values must not repeat more often than by chance.
	repeats := 0
	for i := range values[1:] {
		if values[i] == values[i+1] {
			repeats++
		}
	}
	if expect := n / math.Exp2(float64(bits)); float64(repeats) > expect+6*math.Sqrt(expect)+3 {
		return fmt.Sprintf("%d of %v values repeat the one before, expected %.1f", repeats, n, expect)
	}
	return ""
}

// Uniform returns how the counts of classes differ from a uniform source by chi-square, in words,
// or "".
func Uniform(classes []int) string {
	n := 0
	for _, c := range classes {
		n += c
	}
	expect := float64(n) / float64(len(classes))
	chi := 0.0
	for _, c := range classes {
		d := float64(c) - expect
		chi += d * d / expect
	}
	degrees := float64(len(classes) - 1)
	if chi > degrees+6*math.Sqrt(2*degrees)+12 {
		return fmt.Sprintf("chi-square is %.0f with %.0f degrees of freedom", chi, degrees)
	}
	return ""
}

// Spread returns how values fail to spread evenly over the residues modulo m, in words, or "". The
// fullest class may have far too many values, or too many classes may be empty.
func Spread(values []uint64, m int) string {
	classes := make([]int, m)
	for _, v := range values {
		classes[v%uint64(m)]++
	}
	expect := float64(len(values)) / float64(m)
	most, empty := 0, 0
	for _, c := range classes {
		most = max(most, c)
		if c == 0 {
			empty++
		}
	}
	// A fair source leaves a class empty with probability exp(-expect).
	if bound := float64(m)*math.Exp(-expect)*2 + 8; float64(empty) > bound {
		return fmt.Sprintf("modulo %d, %d residues have none of %d values", m, empty, len(values))
	}
	if bound := expect + 7*math.Sqrt(expect) + 4; float64(most) > bound {
		return fmt.Sprintf("modulo %d, a residue has %d of %d values", m, most, len(values))
	}
	return ""
}
