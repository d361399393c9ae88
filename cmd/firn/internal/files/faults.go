package files

import (
	"bufio"
	"encoding/binary"
	"io"
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
	kept := bufio.NewReaderSize(io.NewSectionReader(&f.lines, 0, f.lines.size), pieceSize)
	for line := int64(0); ; {
		more, err := binary.ReadUvarint(kept)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line += int64(more)
		if err := do(line); err != nil {
			return err
		}
	}
}
