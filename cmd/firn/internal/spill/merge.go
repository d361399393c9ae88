package spill

import (
	"bufio"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"io"
)

// compare compares records as numbers.
func compare[R Record](a, b R) int {
	for i := range len(a) {
		if a[i] != b[i] {
			return cmp.Compare(a[i], b[i])
		}
	}
	return 0
}

// merge calls f with the records of sorted runs and of sorted records in memory, in order, a batch at a
// time.
func (s *Sorter[R]) merge(ctx context.Context, runs []*run[R], memory []R, f func(batch []R) error) error {
	buffer := int(min(s.c.Memory*bufferPart/16/int64(len(runs)+1), 1<<20))
	sources := []*source[R]{{memory: memory}}
	for _, r := range runs {
		sources = append(sources, &source[R]{file: bufio.NewReaderSize(io.NewSectionReader(r, 0, r.n*width[R]()), buffer)})
	}
	var left heads[R]
	for _, from := range sources {
		switch err := from.next(); err {
		case nil:
			left = append(left, from)
		case io.EOF:
		default:
			return err
		}
	}
	heap.Init(&left)
	batch := make([]R, 0, batchSize)
	for len(left) > 0 {
		batch = append(batch, left[0].head)
		switch err := left[0].next(); err {
		case nil:
			heap.Fix(&left, 0)
		case io.EOF:
			heap.Pop(&left)
		default:
			return err
		}
		if len(batch) == batchSize || len(left) == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := f(batch); err != nil {
				return err
			}
			batch = batch[:0]
		}
	}
	return nil
}

// A source is the sorted records of a run, or sorted records in memory.
type source[R Record] struct {
	head   R // the next record
	memory []R
	file   *bufio.Reader // nil for records in memory
}

// next reads the head. At the end the error is io.EOF.
func (s *source[R]) next() error {
	if s.file == nil {
		if len(s.memory) == 0 {
			return io.EOF
		}
		s.head, s.memory = s.memory[0], s.memory[1:]
		return nil
	}
	b, err := s.file.Peek(int(width[R]()))
	if err != nil {
		return err
	}
	for i := range len(s.head) {
		s.head[i] = binary.BigEndian.Uint64(b[wordSize*i:])
	}
	_, err = s.file.Discard(len(b))
	return err
}

// heads is a heap of sources, by their heads.
type heads[R Record] []*source[R]

func (h heads[R]) Len() int           { return len(h) }
func (h heads[R]) Less(i, j int) bool { return compare(h[i].head, h[j].head) < 0 }
func (h heads[R]) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *heads[R]) Push(x any)        { *h = append(*h, x.(*source[R])) }

func (h *heads[R]) Pop() any {
	last := len(*h) - 1
	s := (*h)[last]
	*h = (*h)[:last]
	return s
}
