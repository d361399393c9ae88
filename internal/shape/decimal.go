package shape

import (
	"math/bits"
	"strconv"
)

// Append appends the decimal value of a field of up to 128 bits.
func (f Field) Append(dst, binary []byte) []byte {
	const most = 56 // bits, for Of
	if f.Bits <= most {
		return strconv.AppendUint(dst, f.Of(binary), 10)
	}
	low := Field{Bits: min(f.Bits, 32), Shift: f.Shift}
	var parts [4]uint64 // of 32 bits each, the lowest first
	for i := 0; i < len(parts) && 32*i < f.Bits; i++ {
		low.Bits, low.Shift = min(f.Bits-32*i, 32), f.Shift+32*i
		parts[i] = low.Of(binary)
	}
	high, rest := parts[3]<<32|parts[2], parts[1]<<32|parts[0]
	if high == 0 {
		return strconv.AppendUint(dst, rest, 10)
	}
	const unit, digits = 1e19, 19 // the greatest power of ten in 64 bits
	middle, last := bits.Div64(high%unit, rest, unit)
	top, middle := bits.Div64(high/unit, middle, unit)
	if top == 0 {
		dst = strconv.AppendUint(dst, middle, 10)
	} else {
		dst = appendPadded(strconv.AppendUint(dst, top, 10), middle, digits)
	}
	return appendPadded(dst, last, digits)
}

// appendPadded appends a number with leading zeros.
func appendPadded(dst []byte, v uint64, width int) []byte {
	var b [20]byte
	text := strconv.AppendUint(b[:0], v, 10)
	for range width - len(text) {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}
