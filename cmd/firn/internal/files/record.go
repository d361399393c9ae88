package files

import (
	"encoding/binary"

	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/cmd/firn/internal/spill"
)

// A packer makes records of IDs: the binary form and, if tagged, a byte for the way the ID was written.
type packer[R spill.Record] struct {
	size   int // of an ID
	tagged bool
}

// pack returns the record of an ID.
func (p packer[R]) pack(id []byte, as intake.Written) (r R) {
	i, n := 0, 0
	for ; n+wordBytes <= len(id); n += wordBytes {
		r[i] = binary.BigEndian.Uint64(id[n:])
		i++
	}
	for shift := uint(56); n < len(id); n++ {
		r[i] |= uint64(id[n]) << shift
		shift -= 8
	}
	if p.tagged {
		r[n/wordBytes] |= uint64(as) << (56 - 8*uint(n%wordBytes))
	}
	return r
}

// unpack appends the ID of a record, and returns the form. An untagged record has the form as.
func (p packer[R]) unpack(dst []byte, r *R, as intake.Written) ([]byte, intake.Written) {
	for i := range len(*r) {
		dst = binary.BigEndian.AppendUint64(dst, (*r)[i])
	}
	if p.tagged {
		as = intake.Written(dst[p.size])
	}
	return dst[:p.size], as
}
