package files

import (
	"encoding/binary"
)

// faultsMemory is the memory for the lines of one kind of fault.
const faultsMemory = 1 << 20

// faults are the lines with a kind of fault, in order.
type faults struct {
	n     int64
	most  int64 // how many lines are kept
	lines tape  // the difference of each line that is kept from the one before
	last  int64 // line
	piece [binary.MaxVarintLen64]byte
}

// add notes a line.
func (f *faults) add(line int64) error {
	if f.n++; f.n > f.most {
		return nil
	}
	f.lines.memory = faultsMemory
	n := binary.PutUvarint(f.piece[:], uint64(line-f.last))
	f.last = line
	_, err := f.lines.add(f.piece[:n])
	return err
}

// each calls f with the lines that are kept.
func (f *faults) each(do func(line int64) error) error {
	var room [pieceSize]byte
	line, buf := int64(0), room[:0]
	for off := int64(0); off < f.lines.size || len(buf) > 0; {
		if len(buf) < binary.MaxVarintLen64 && off < f.lines.size {
			kept := copy(room[:], buf)
			n := int(min(int64(len(room)-kept), f.lines.size-off))
			buf = room[:kept+n]
			if err := f.lines.read(buf[kept:], off); err != nil {
				return err
			}
			off += int64(n)
		}
		more, n := binary.Uvarint(buf)
		buf = buf[n:]
		line += int64(more)
		if err := do(line); err != nil {
			return err
		}
	}
	return nil
}
