package spill

import (
	"context"
	"encoding/binary"
	"io"
)

// merge calls f with the records of sorted runs and of sorted records in memory, in order, a batch at a
// time.
func (s *Sorter[R]) merge(ctx context.Context, runs []*run, memory []R, f func(batch []R) error) error {
	buffer := s.c.Memory * bufferPart / 16 / int64(len(runs)+1)
	m, err := newMerger(runs, memory, int(min(buffer, 1<<20)))
	if err != nil {
		return err
	}
	batch := make([]R, 0, batchSize)
	for !m.ended() {
		if len(batch) == batchSize {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := f(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
		batch = append(batch, m.heads[m.first()])
		if err := m.advance(); err != nil {
			return err
		}
	}
	if len(batch) == 0 {
		return nil
	}
	return f(batch)
}

// A source is sorted records that are read one by one: those of a run, or those in memory.
type source[R Record] struct {
	memory []R

	run  *run
	off  int64 // of the next read
	left int64 // records
	buf  []byte
	room []byte // of buf
}

// next returns the next record. ok is false at the end.
func (s *source[R]) next() (r R, ok bool, err error) {
	if s.run == nil {
		if len(s.memory) == 0 {
			return r, false, nil
		}
		r, s.memory = s.memory[0], s.memory[1:]
		return r, true, nil
	}
	if s.left == 0 {
		return r, false, nil
	}
	if len(s.buf) < s.run.size {
		if err := s.fill(); err != nil {
			return r, false, err
		}
	}
	b := s.buf
	size := s.run.size
	i := 0
	for ; i < size/wordSize; i++ {
		r[i] = binary.BigEndian.Uint64(b[i*wordSize:])
	}
	if rest := uint(size % wordSize); rest > 0 {
		// The room has a word more than the bytes read.
		v := binary.BigEndian.Uint64(b[i*wordSize : i*wordSize+wordSize : i*wordSize+wordSize])
		r[i] = v &^ (1<<(64-8*rest) - 1)
	}
	s.buf = b[size:]
	s.left--
	return r, true, nil
}

// fill reads whole records.
func (s *source[R]) fill() error {
	room := s.room[:len(s.room)-wordSize]
	n := min(int64(len(room)/s.run.size), s.left) * int64(s.run.size)
	_, err := s.run.ReadAt(room[:n], s.off)
	if err != nil && err != io.EOF {
		return err
	}
	s.off += n
	s.buf = s.room[:n:len(s.room)]
	return nil
}

// A merger is a tree of losers: each inner node has the source that lost there, and node 0 the source of the
// least record.
type merger[R Record] struct {
	sources []source[R]
	heads   []R    // the next record of each source
	over    []bool // the source has ended
	tree    []int32
}

// newMerger returns a merger of runs, each with a buffer, and of records in memory.
func newMerger[R Record](runs []*run, memory []R, buffer int) (*merger[R], error) {
	m := new(merger[R])
	for _, r := range runs {
		m.sources = append(m.sources, source[R]{run: r, left: r.n, room: make([]byte, max(buffer, r.size)+wordSize)})
	}
	if len(memory) > 0 {
		m.sources = append(m.sources, source[R]{memory: memory})
	}
	k := len(m.sources)
	m.heads, m.over, m.tree = make([]R, k), make([]bool, k), make([]int32, max(k, 1))
	if k == 0 {
		return m, nil
	}
	for i := range k {
		if err := m.read(i); err != nil {
			return nil, err
		}
	}
	m.tree[0] = m.play(1)
	return m, nil
}

// play returns the winner at a node, and notes the losers below. Leaf i is node i + the number of sources.
func (m *merger[R]) play(node int) int32 {
	k := len(m.sources)
	if node >= k {
		return int32(node - k)
	}
	a, b := m.play(2*node), m.play(2*node+1)
	if m.before(b, a) {
		a, b = b, a
	}
	m.tree[node] = b
	return a
}

// before reports whether the head of source a comes before the head of source b.
func (m *merger[R]) before(a, b int32) bool {
	if m.over[a] || m.over[b] {
		return !m.over[a]
	}
	return less(&m.heads[a], &m.heads[b])
}

func (m *merger[R]) first() int32 { return m.tree[0] }

// ended reports whether no record is left.
func (m *merger[R]) ended() bool { return len(m.sources) == 0 || m.over[m.first()] }

// read reads the next head of a source.
func (m *merger[R]) read(i int) error {
	r, ok, err := m.sources[i].next()
	m.heads[i], m.over[i] = r, !ok
	return err
}

// advance goes on to the next record.
func (m *merger[R]) advance() error {
	winner := m.tree[0]
	if err := m.read(int(winner)); err != nil {
		return err
	}
	for node := (int(winner) + len(m.sources)) / 2; node > 0; node /= 2 {
		if m.before(m.tree[node], winner) {
			m.tree[node], winner = winner, m.tree[node]
		}
	}
	m.tree[0] = winner
	return nil
}
