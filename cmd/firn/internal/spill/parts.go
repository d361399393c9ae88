package spill

import (
	"context"
	"io"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"
)

// A part is the records from one bound to the next. The parts are merged at the same time, and their output is
// written in order.
type part[R Record] struct {
	begin, end *R // nil for the ends of the records

	out chan []byte // closed at the end of the part
	err error       // of the part, once out is closed
}

const (
	// piecesOfPart is how many pieces of output a part may have before they are written.
	piecesOfPart = 16

	mostPiece  = 256 << 10
	leastPiece = 4 << 10
)

// A mapping is the work of [Sorter.Write].
type mapping[R Record] struct {
	*Sorter[R]
	runs  []*run[R]
	parts []part[R]
	piece int         // the size of a piece of output
	room  int         // the most records of a part that are sorted again
	free  chan []byte // pieces
	next  atomic.Int64
	begun chan struct{} // has room for the parts that may be in work
}

// Write writes all records in order. Several goroutines call encode, and append batches of records to dst by the
// functions that encode returns. The caller's goroutine calls write with the bytes. An error of the functions,
// or the end of the context, ends Write. Add must not be called afterwards.
func (s *Sorter[R]) Write(ctx context.Context, encode func() func(dst []byte, batch []R) ([]byte, error), write func([]byte) error) error {
	runs, err := s.end()
	if err != nil {
		return err
	}
	workers := runtime.GOMAXPROCS(0)
	ahead := workers + 1
	m := mapping[R]{Sorter: s, runs: runs, begun: make(chan struct{}, ahead), free: make(chan []byte, ahead*(piecesOfPart+2))}
	m.piece = int(min(max(s.c.Memory*bufferPart/16/int64(cap(m.free)), leastPiece), mostPiece))
	m.divide()
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	for range min(workers, len(m.parts)) {
		wg.Go(func() { m.work(ctx, encode()) })
	}
	for i := range m.parts {
		p := &m.parts[i]
		for piece := range p.out {
			if err := write(piece); err != nil {
				return err
			}
			m.release(piece)
		}
		if p.err != nil {
			return p.err
		}
		<-m.begun
	}
	return nil
}

// divide divides the records into parts.
func (m *mapping[R]) divide() {
	const bytesOfLine = 20 // or so
	perPart := max(m.piece*piecesOfPart/bytesOfLine/2, 1)
	var bounds []R
	for _, r := range m.runs {
		bounds = append(bounds, r.index...)
	}
	for i := 0; i < len(m.chunk); i += indexStep {
		bounds = append(bounds, m.chunk[i])
	}
	sortRecords(bounds)
	m.room = perPart + (len(m.runs)+1)*indexStep // bounds are of the index
	m.parts = []part[R]{{}}
	for i := perPart / indexStep; i < len(bounds); i += max(perPart/indexStep, 1) {
		last := &m.parts[len(m.parts)-1]
		if last.begin != nil && !less(last.begin, &bounds[i]) {
			continue // many records are equal
		}
		last.end = &bounds[i]
		m.parts = append(m.parts, part[R]{begin: &bounds[i]})
	}
	for i := range m.parts {
		m.parts[i].out = make(chan []byte, piecesOfPart)
	}
}

// work merges parts until there are no more.
func (m *mapping[R]) work(ctx context.Context, encode func(dst []byte, batch []R) ([]byte, error)) {
	room := room[R]{reads: make([][]byte, len(m.runs)), records: make([]R, 0, m.room)}
	buffer := m.c.Memory * bufferPart / 16 / int64((len(m.runs)+1)*cap(m.begun))
	for i, r := range m.runs {
		room.reads[i] = newRoom(int(min(buffer, mostPiece)), r.size)
	}
	for {
		select {
		case m.begun <- struct{}{}:
		case <-ctx.Done():
		}
		i := int(m.next.Add(1)) - 1
		if i >= len(m.parts) {
			return
		}
		p := &m.parts[i]
		p.err = m.mergePart(ctx, p, &room, encode)
		close(p.out)
	}
}

// mergePart merges a part.
func (m *mapping[R]) mergePart(ctx context.Context, p *part[R], room *room[R], encode func(dst []byte, batch []R) ([]byte, error)) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	begin, end := place(p.begin, 0, m.chunk), place(p.end, len(m.chunk), m.chunk)
	sources := []source[R]{{memory: m.chunk[begin:end]}}
	for i, r := range m.runs {
		begin, err := r.place(p.begin, 0)
		if err != nil {
			return err
		}
		end, err := r.place(p.end, r.n)
		if err != nil {
			return err
		}
		if begin < end {
			sources = append(sources, source[R]{run: r, off: begin * int64(r.size), left: end - begin, room: room.reads[i]})
		}
	}
	batches, err := m.batches(sources, room)
	if err != nil {
		return err
	}
	out := m.take()
	for {
		batch, err := batches()
		if err != nil {
			return err
		}
		if len(batch) > 0 {
			if out, err = encode(out, batch); err != nil {
				return err
			}
			if len(out) < m.piece {
				continue
			}
		}
		select {
		case p.out <- out:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if len(batch) == 0 {
			return nil
		}
		out = m.take()
	}
}

// A room is the memory of a worker.
type room[R Record] struct {
	reads   [][]byte // of the runs
	records []R      // of a part
}

// batches returns a function that returns the records of sources in order, a batch at a time, and an empty batch
// at the end. The records of a part differ in few bits, so to sort the part again takes less time than to merge
// its sources. A part with many equal records may be too long for that.
func (m *mapping[R]) batches(sources []source[R], room *room[R]) (next func() ([]R, error), err error) {
	const few = 256 // records
	if t := mergerOf(sources, m.c.Size); t.left <= int64(cap(room.records)) {
		records, err := t.gather(room.records[:0])
		sortRecords(records)
		return func() (batch []R, err error) {
			n := min(len(records), few)
			batch, records = records[:n], records[n:]
			return batch, nil
		}, err
	}
	t, err := newMerger(sources, m.c.Size)
	if err != nil {
		return nil, err
	}
	var batch [few]R
	return func() ([]R, error) {
		n := int(min(t.left, few))
		return batch[:n], t.take(batch[:n])
	}, nil
}

// take returns an empty piece.
func (m *mapping[R]) take() []byte {
	select {
	case piece := <-m.free:
		return piece[:0]
	default:
		return make([]byte, 0, m.piece+leastPiece)
	}
}

// release makes a piece free.
func (m *mapping[R]) release(piece []byte) {
	select {
	case m.free <- piece:
	default:
	}
}

// place returns the number of records below a bound, or otherwise if the bound is nil.
func place[R Record](bound *R, otherwise int, records []R) int {
	if bound == nil {
		return otherwise
	}
	return sort.Search(len(records), func(i int) bool { return !less(&records[i], bound) })
}

// place returns the number of records below a bound, or otherwise if the bound is nil.
func (r *run[R]) place(bound *R, otherwise int64) (int64, error) {
	if bound == nil {
		return otherwise, nil
	}
	block := int64(place(bound, 0, r.index))
	if block == 0 {
		return 0, nil
	}
	low, high := (block-1)*indexStep+1, min(block*indexStep, r.n) // the first of the block is below
	var room [2 * slack]byte
	one := source[R]{run: r, room: room[:]}
	m := merger[R]{size: r.size, mask: maskOf[R](r.size)}
	for low < high {
		middle := low + (high-low)/2
		if _, err := r.ReadAt(room[:r.size], middle*int64(r.size)); err != nil && err != io.EOF {
			return 0, err
		}
		one.buf = room[:]
		if head := m.decode(&one); less(&head, bound) {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, nil
}
