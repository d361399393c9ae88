package files

import (
	"encoding/binary"

	"github.com/firn-id/firn/cmd/firn/internal/spill"
)

// A tape holds bytes in the order of their arrival: the first bytes in memory, the rest in a temporary file.
type tape struct {
	memory int64    // the most bytes in memory
	pieces [][]byte // the bytes in memory, pieceSize each
	size   int64
	file   *spill.Temp
	tail   []byte // bytes at the end that are not in the file yet
}

const pieceSize = 64 << 10

// add appends bytes, and returns their place.
func (t *tape) add(p []byte) (off int64, err error) {
	off = t.size
	for len(p) > 0 && t.size < t.memory {
		if t.size%pieceSize == 0 {
			t.pieces = append(t.pieces, make([]byte, 0, pieceSize))
		}
		last := &t.pieces[len(t.pieces)-1]
		n := int(min(int64(pieceSize-len(*last)), t.memory-t.size, int64(len(p))))
		*last = append(*last, p[:n]...)
		t.size += int64(n)
		p = p[n:]
	}
	if len(p) == 0 {
		return off, nil
	}
	t.size += int64(len(p))
	t.tail = append(t.tail, p...)
	if len(t.tail) >= pieceSize {
		err = t.flush()
	}
	return off, err
}

func (t *tape) flush() (err error) {
	if t.file == nil {
		if t.file, err = spill.NewTemp(""); err != nil {
			return err
		}
	}
	_, err = t.file.Write(t.tail)
	t.tail = t.tail[:0]
	return err
}

// ReadAt fills p with the bytes at a place, all of which the tape has.
func (t *tape) ReadAt(p []byte, off int64) (read int, err error) {
	for read < len(p) && off < t.inMemory() {
		n := copy(p[read:], t.pieces[off/pieceSize][off%pieceSize:])
		read, off = read+n, off+int64(n)
	}
	if read == len(p) {
		return read, nil
	}
	if len(t.tail) > 0 {
		if err := t.flush(); err != nil {
			return read, err
		}
	}
	n, err := t.file.ReadAt(p[read:], off-t.inMemory())
	return read + n, err
}

// inMemory returns the number of bytes in memory.
func (t *tape) inMemory() int64 { return min(t.size, t.memory) }

func (t *tape) Close() error {
	if t.file == nil {
		return nil
	}
	return t.file.Close()
}

// A chain is the blocks of one generator on a tape. Each block begins with the place of the block before. The
// memory of a chain therefore does not grow with the number of blocks.
type chain struct {
	block []byte // the block that is being filled, after its head
	last  int64  // the place of the last block on the tape, plus 1; 0 if there is none
}

// The head of a block: the field last of the chain, and the number of bytes after the head.
const headSize = 8 + 4

// flush moves the block to the tape.
func (c *chain) flush(t *tape) error {
	var head [headSize]byte
	binary.BigEndian.PutUint64(head[:], uint64(c.last))
	binary.BigEndian.PutUint32(head[8:], uint32(len(c.block)))
	off, err := t.add(head[:])
	if err != nil {
		return err
	}
	if _, err := t.add(c.block); err != nil {
		return err
	}
	c.block, c.last = c.block[:0], off+1
	return nil
}

// A rewind reads the blocks of a chain, the last first.
type rewind struct {
	from  *tape
	begun bool
	chain chain
	buf   []byte
}

// next returns the block before. ok is false at the beginning of the chain. The block is valid until the next call.
func (w *rewind) next() (block []byte, ok bool, err error) {
	if !w.begun {
		w.begun = true
		if len(w.chain.block) > 0 {
			return w.chain.block, true, nil
		}
	}
	if w.chain.last == 0 {
		return nil, false, nil
	}
	var head [headSize]byte
	off := w.chain.last - 1
	if _, err := w.from.ReadAt(head[:], off); err != nil {
		return nil, false, err
	}
	w.chain.last = int64(binary.BigEndian.Uint64(head[:]))
	n := int(binary.BigEndian.Uint32(head[8:]))
	if cap(w.buf) < n {
		w.buf = make([]byte, n)
	}
	w.buf = w.buf[:n]
	_, err = w.from.ReadAt(w.buf, off+headSize)
	return w.buf, true, err
}
