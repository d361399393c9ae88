package files

import (
	"context"
	"encoding/binary"

	"github.com/firn-id/firn/cmd/firn/internal/spill"
	"github.com/firn-id/firn/internal/shape"
)

// A wideID is an ID of up to 24 bytes, from the most significant bit of the first word.
type wideID [3]uint64

const wordBytes = 8

// wideOf returns an ID.
func wideOf(id []byte) (w wideID) {
	i := 0
	for ; len(id) >= wordBytes; id = id[wordBytes:] {
		w[i] = binary.BigEndian.Uint64(id)
		i++
	}
	for j, b := range id {
		w[i] |= uint64(b) << (56 - 8*j)
	}
	return w
}

// appendTo appends the first n bytes of an ID.
func (w wideID) appendTo(dst []byte, n int) []byte {
	end := len(dst) + n
	for _, word := range w {
		dst = binary.BigEndian.AppendUint64(dst, word)
	}
	return dst[:end]
}

// less reports whether w is the smaller number.
func (w wideID) less(than wideID) bool {
	for i := range w {
		if w[i] != than[i] {
			return w[i] < than[i]
		}
	}
	return false
}

// A wide is keys of IDs longer than a word. The key is the whole ID. Long IDs have random bits, and each run is
// one ID.
type wide struct {
	size   int
	time   shape.Field
	worker shape.Field // of no bits if there is no worker
	before wideID      // the ID before
	blocks
	all        []*wideRuns
	exceptions *spill.Sorter[[4]uint64]
	answers    *spill.Sorter[[4]uint64]
}

// wideRuns are the IDs of a generator that are not exceptions.
type wideRuns struct {
	last uint64 // timestamp
	end  wideID // the greatest ID
	chain
}

func (w *wide) add(id []byte, line int64) (timestamp uint64, odd order, err error) {
	timestamp = w.time.Of(id)
	key := wideOf(id)
	if key.less(w.before) {
		odd = disorder
	}
	w.before = key
	worker := uint64(0)
	if w.worker.Bits > 0 {
		worker = w.worker.Of(id)
	}
	r := w.all[worker]
	if r == nil {
		w.count++
		r = &wideRuns{last: timestamp}
		w.all[worker] = r
	} else if !r.end.less(key) {
		err = w.exceptions.Add([4]uint64{worker<<lineBits | ^key[0]>>workerBits, ^key[0]<<lineBits | ^key[1]>>workerBits,
			^key[1]<<lineBits | ^key[2]>>workerBits, ^key[2]<<lineBits | uint64(line)})
		if timestamp < r.last {
			odd |= regression
		}
		r.last = timestamp
		return timestamp, odd, err
	}
	if timestamp < r.last {
		odd |= regression
	}
	r.last, r.end = timestamp, key
	r.block = append(r.block, id...)
	if r.full(w.blocks.size()) {
		err = r.flush(&w.tape)
	}
	return timestamp, odd, err
}

func (w *wide) generators() int { return w.count }

func (w *wide) Close() error {
	w.exceptions.Close()
	w.answers.Close()
	return w.tape.Close()
}

func (w *wide) repeated(ctx context.Context, f func(line int64, id []byte) error) error {
	if w.exceptions.Len() > 0 {
		if err := w.search(ctx); err != nil {
			return err
		}
	}
	var id []byte
	return w.answers.Each(ctx, func(batch [][4]uint64) error {
		for _, r := range batch {
			id = wideID(r[1:]).appendTo(id[:0], w.size)
			if err := f(int64(r[0]), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// search looks up the exceptions, by generator, and from the greatest ID.
func (w *wide) search(ctx context.Context) error {
	var at wideSearch
	var last wideID
	begun := false
	err := w.exceptions.Each(ctx, func(batch [][4]uint64) error {
		for _, r := range batch {
			worker := int(r[0] >> lineBits)
			var key wideID
			for i := range key {
				key[i] = ^(r[i]<<workerBits | r[i+1]>>lineBits)
			}
			again := begun && worker == at.worker && key == last
			if !again {
				if !begun || worker != at.worker {
					at = wideSearch{worker: worker, size: w.size, rewind: rewind{from: &w.tape, chain: w.all[worker].chain, buf: at.buf}}
				}
				var err error
				if again, err = at.has(key); err != nil {
					return err
				}
			}
			begun, last = true, key
			if !again {
				continue
			}
			if err := w.answers.Add([4]uint64{r[3] & (1<<lineBits - 1), key[0], key[1], key[2]}); err != nil {
				return err
			}
		}
		return nil
	})
	w.exceptions.Close()
	return err
}

// A wideSearch looks up falling IDs among those of a generator.
type wideSearch struct {
	worker, size int
	block        []byte // IDs that may be the one
	rewind
}

// has reports whether the ID is there.
func (s *wideSearch) has(key wideID) (bool, error) {
	for {
		for len(s.block) > 0 {
			at := len(s.block) - s.size
			id := wideOf(s.block[at:])
			if !key.less(id) {
				return id == key, nil
			}
			s.block = s.block[:at]
		}
		block, ok, err := s.next()
		if !ok || err != nil {
			return false, err
		}
		s.block = block
	}
}
