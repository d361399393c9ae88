package spill

import (
	"context"
	"encoding/binary"
	"io"
)

// merge calls f with the records of sorted runs and of sorted records in memory, in order, a batch at a
// time.
func (s *Sorter[R]) merge(ctx context.Context, runs []*run[R], memory []R, f func(batch []R) error) error {
	buffer := s.c.Memory * bufferPart / 16 / int64(len(runs)+1)
	sources := []source[R]{{memory: memory}}
	for _, r := range runs {
		sources = append(sources, source[R]{run: r, left: r.n, room: newRoom(int(min(buffer, 1<<20)), r.size)})
	}
	m, err := newMerger(sources, s.c.Size)
	if err != nil {
		return err
	}
	for batch := make([]R, batchSize); m.left > 0; {
		n := int(min(m.left, batchSize))
		if err := m.take(batch[:n]); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := f(batch[:n]); err != nil {
			return err
		}
	}
	return nil
}

// A source is the sorted records of a run, or sorted records in memory.
type source[R Record] struct {
	memory []R

	buf  []byte // the records that are read and not used, and slack bytes
	room []byte // of buf
	run  *run[R]
	off  int64 // of the next read
	left int64 // records to read
}

// slack is how many bytes of a buffer are behind the records. Each record is read in whole words, all words of
// the widest record.
const slack = 4 * wordSize

// fill reads whole records. At the end of the run, fill reads none.
func (s *source[R]) fill() error {
	if s.run == nil || s.left == 0 {
		s.buf = nil
		return nil
	}
	room := s.room[:len(s.room)-slack]
	records := min(int64(len(room)/s.run.size), s.left)
	n := records * int64(s.run.size)
	_, err := s.run.ReadAt(room[:n], s.off)
	if err != nil && err != io.EOF {
		return err
	}
	s.off += n
	s.left -= records
	s.buf = s.room[:n+slack]
	return nil
}

// A player is a source with its next record.
type player[R Record] struct {
	head R
	from int
}

// A merger is a tree of losers: each inner node has the player that lost there, and node 0 the player with the
// least record. A source without further records has the largest record as its head. The source then wins
// only against equal records, and the merger counts the records.
type merger[R Record] struct {
	sources []source[R]
	tree    []player[R]
	size    int   // of a record in a file
	mask    R     // of the bits that a file has
	end     R     // the largest record
	left    int64 // records
}

// newRoom returns a buffer of a source.
func newRoom(buffer, size int) []byte { return make([]byte, max(buffer, size)+slack) }

// maskOf returns the bits of the first bytes of a record.
func maskOf[R Record](size int) (mask R) {
	for i := range len(mask) {
		switch rest := size - i*wordSize; {
		case rest >= wordSize:
			mask[i] = 1<<64 - 1
		case rest > 0:
			mask[i] = ^uint64(0) << (8 * uint(wordSize-rest))
		}
	}
	return mask
}

// newMerger returns a merger of sources, whose records have a size in files.
func newMerger[R Record](sources []source[R], size int) (*merger[R], error) {
	m := &merger[R]{sources: sources, size: size, mask: maskOf[R](size)}
	for i := range sources {
		m.left += sources[i].left + int64(len(sources[i].memory))
	}
	for i := range len(m.end) {
		m.end[i] = 1<<64 - 1
	}
	k := len(m.sources)
	players := make([]player[R], k)
	for i := range players {
		head, err := m.next(i)
		if err != nil {
			return nil, err
		}
		players[i] = player[R]{head, i}
	}
	m.tree = make([]player[R], k)
	m.tree[0] = m.play(1, players)
	return m, nil
}

// play returns the winner at a node, and notes the losers below. Leaf i is node i + the number of sources.
func (m *merger[R]) play(node int, players []player[R]) player[R] {
	if k := len(players); node >= k {
		return players[node-k]
	}
	a, b := m.play(2*node, players), m.play(2*node+1, players)
	if less(&b.head, &a.head) {
		a, b = b, a
	}
	m.tree[node] = b
	return a
}

// next returns the next record of a source.
func (m *merger[R]) next(i int) (r R, err error) {
	s := &m.sources[i]
	if len(s.memory) > 0 {
		r, s.memory = s.memory[0], s.memory[1:]
		return r, nil
	}
	if len(s.buf) <= slack {
		if err := s.fill(); err != nil {
			return r, err
		}
		if len(s.buf) <= slack {
			return m.end, nil
		}
	}
	return m.decode(s), nil
}

// decode returns the first record of the buffer.
func (m *merger[R]) decode(s *source[R]) (r R) {
	b := s.buf[:slack]
	for i := range len(r) {
		r[i] = binary.BigEndian.Uint64(b[i*wordSize:]) & m.mask[i]
	}
	s.buf = s.buf[m.size:]
	return r
}

// take fills dst with the next records. There are so many.
func (m *merger[R]) take(dst []R) error {
	winner := m.tree[0]
	k := len(m.sources)
	for i := range dst {
		dst[i] = winner.head
		s := &m.sources[winner.from]
		if len(s.buf) > slack {
			winner.head = m.decode(s)
		} else {
			var err error
			if winner.head, err = m.next(winner.from); err != nil {
				return err
			}
		}
		for node := (winner.from + k) / 2; node > 0; node /= 2 {
			if p := &m.tree[node]; less(&p.head, &winner.head) {
				*p, winner = winner, *p
			}
		}
	}
	m.tree[0] = winner
	m.left -= int64(len(dst))
	return nil
}
