package files

import (
	"encoding/binary"
	"encoding/hex"
	"strconv"

	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
)

// A form writes an ID in binary form as a line has it.
type form func(dst, id []byte) ([]byte, error)

// forms returns the form of each way to write an ID.
func forms(f formats.Format) (all [intake.AsUUID + 1]form) {
	d := f.Descriptor()
	all[intake.AsText] = d.Writer()
	all[intake.AsInt] = func(dst, id []byte) ([]byte, error) {
		return strconv.AppendUint(dst, binary.BigEndian.Uint64(id), 10), nil
	}
	all[intake.AsHex] = func(dst, id []byte) ([]byte, error) { return hex.AppendEncode(dst, id), nil }
	all[intake.AsUUID] = d.AppendUUID
	return all
}
