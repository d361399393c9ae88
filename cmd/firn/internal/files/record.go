package files

import (
	"encoding/binary"

	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/cmd/firn/internal/spill"
)

// A packer makes records of IDs of 8 to 24 bytes: the binary form and, if tagged, a byte for the way the ID was written.
type packer[R spill.Record] struct {
	size   int // of an ID
	tagged bool
}

// pack returns the record of an ID.
func (p packer[R]) pack(id []byte, as intake.Written) (r R) {
	n := len(id)
	if n <= 2*wordBytes {
		w := windowsOf(id)
		r[0], r[1] = w[0], w[1]<<(8*uint(2*wordBytes-n))
	} else {
		for i, word := range wideOf(id) {
			r[i] = word
		}
	}
	if p.tagged {
		r[n/wordBytes] |= uint64(as) << (56 - 8*uint(n%wordBytes))
	}
	return r
}

// unpack appends the ID of a record, and returns the form. An untagged record has the form as.
func (p packer[R]) unpack(dst []byte, r *R, as intake.Written) ([]byte, intake.Written) {
	end := len(dst) + p.size
	for i := range len(*r) {
		dst = binary.BigEndian.AppendUint64(dst, (*r)[i])
	}
	if p.tagged {
		as = intake.Written(dst[end])
	}
	return dst[:end], as
}
