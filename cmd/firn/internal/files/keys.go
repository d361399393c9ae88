package files

import (
	"context"
	"encoding/binary"
	"math/bits"

	"github.com/firn-id/firn/cmd/firn/internal/spill"
	"github.com/firn-id/firn/internal/shape"
)

// A keys finds repeated IDs exactly, however many IDs there are.
//
// An ID above all earlier IDs of its generator cannot repeat an ID. Most IDs of a log are above, and many are
// adjacent: keys stores adjacent IDs as one run. Every other ID is an exception, and keys stores the exception
// with its line. In the end keys sorts the exceptions, and looks up each exception in the runs of its generator
// and among the exceptions of earlier lines. A repeated ID is always an exception. The search therefore finds
// every repeated ID, and its line.
//
// Temporary files hold the runs and exceptions beyond the memory.
type keys struct {
	size       int         // of an ID, in bytes
	time       shape.Field // the timestamp
	worker     shape.Field // of no bits if there is no worker
	before     number      // the ID before
	all        []*runs     // by worker
	generators int
	tape       tape
	blocks     int64 // memory for blocks that are being filled
	exceptions *spill.Sorter[[4]uint64]
	answers    *spill.Sorter[[4]uint64]
}

// An order is what is odd about the place of an ID.
type order uint8

const (
	disorder   order = 1 << iota // the ID is smaller than the ID before
	regression                   // the timestamp is smaller than that of the generator's ID before
)

// A number is an ID of up to 24 bytes, as a number.
type number [3]uint64

const wordBytes = 8

func numberOf(id []byte) (n number) {
	i := len(n) - 1
	for ; len(id) >= wordBytes; i-- {
		n[i] = binary.BigEndian.Uint64(id[len(id)-wordBytes:])
		id = id[:len(id)-wordBytes]
	}
	for _, b := range id {
		n[i] = n[i]<<8 | uint64(b)
	}
	return n
}

// appendTo appends the last size bytes of a number.
func (n number) appendTo(dst []byte, size int) []byte {
	var all [len(n) * wordBytes]byte
	for i, word := range n {
		binary.BigEndian.PutUint64(all[i*wordBytes:], word)
	}
	return append(dst, all[len(all)-size:]...)
}

func (n number) less(than number) bool {
	for i := range n {
		if n[i] != than[i] {
			return n[i] < than[i]
		}
	}
	return false
}

func (n number) plus(m number) (sum number) {
	var carry uint64
	for i := len(n) - 1; i >= 0; i-- {
		sum[i], carry = bits.Add64(n[i], m[i], carry)
	}
	return sum
}

func (n number) minus(m number) (rest number) {
	var borrow uint64
	for i := len(n) - 1; i >= 0; i-- {
		rest[i], borrow = bits.Sub64(n[i], m[i], borrow)
	}
	return rest
}

// length returns the number of bytes without the zeros at the beginning.
func (n number) length() int {
	for i, word := range n {
		if word != 0 {
			return (len(n)-i-1)*wordBytes + (bits.Len64(word)+7)/8
		}
	}
	return 0
}

// The records of exceptions and answers have the number of a worker and of a line beside an ID.
const (
	workerBits = 16
	lineBits   = 48
)

// newKeys returns keys for IDs of a shape and of a size in bytes.
func newKeys(s shape.Shape, size int, memory int64) *keys {
	memory = max(memory, spill.LeastMemory)
	k := &keys{size: size, time: s.Fields[0], tape: tape{memory: memory / 8}, blocks: memory / 8,
		exceptions: spill.New[[4]uint64](spill.Config{Memory: memory / 2}), answers: spill.New[[4]uint64](spill.Config{Memory: memory / 8})}
	if s.Worker > 0 {
		k.worker = s.Fields[s.Worker]
		if more := k.worker.Bits - workerBits; more > 0 {
			k.worker.Bits, k.worker.Shift = workerBits, k.worker.Shift+more
		}
	}
	k.all = make([]*runs, 1<<k.worker.Bits)
	return k
}

// runs are the IDs of a generator that are not exceptions. The block has the runs before the present one: the
// distance of a run from the end of the run before, and how many IDs more it has.
type runs struct {
	last       uint64 // timestamp
	start, end number // of the present run
	before     number // the end of the run before, in the block
	chain
}

// add adds an ID, and returns the timestamp, and what is odd about the order.
func (k *keys) add(id []byte, line int64) (timestamp uint64, odd order, err error) {
	timestamp = k.time.Of(id)
	n := numberOf(id)
	if n.less(k.before) {
		odd = disorder
	}
	k.before = n
	worker := uint64(0)
	if k.worker.Bits > 0 {
		worker = k.worker.Of(id)
	}
	r := k.all[worker]
	if r == nil {
		k.generators++
		k.all[worker] = &runs{last: timestamp, start: n, end: n}
		return timestamp, odd, nil
	}
	if timestamp < r.last {
		odd |= regression
	}
	r.last = timestamp
	switch {
	case !r.end.less(n):
		err = k.exceptions.Add([4]uint64{worker<<lineBits | ^n[0]>>workerBits, ^n[0]<<lineBits | ^n[1]>>workerBits,
			^n[1]<<lineBits | ^n[2]>>workerBits, ^n[2]<<lineBits | uint64(line)})
	case n == r.end.plus(number{2: 1}):
		r.end = n
	default:
		err = k.end(r)
		r.start, r.end = n, n
	}
	return timestamp, odd, err
}

// end moves the present run to the block.
func (k *keys) end(r *runs) error {
	if len(r.block) == 0 {
		r.before = number{}
	}
	distance := r.start.minus(r.before)
	length := distance.length()
	r.block = distance.appendTo(append(r.block, byte(length)), length)
	r.block = binary.AppendUvarint(r.block, r.end[2]-r.start[2])
	r.before = r.end
	const least, most = 128, 16 << 10
	if int64(len(r.block)) < min(max(k.blocks/int64(k.generators), least), most) {
		return nil
	}
	return r.flush(&k.tape)
}

func (k *keys) Close() error {
	k.exceptions.Close()
	k.answers.Close()
	return k.tape.Close()
}

// repeated calls f for each ID that is there before, in the order of lines.
func (k *keys) repeated(ctx context.Context, f func(line int64, id []byte) error) error {
	if k.exceptions.Len() > 0 {
		if err := k.search(ctx); err != nil {
			return err
		}
	}
	var id []byte
	return k.answers.Each(ctx, func(batch [][4]uint64) error {
		for _, r := range batch {
			id = number(r[1:]).appendTo(id[:0], k.size)
			if err := f(int64(r[0]), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// search looks up the exceptions, by generator, and from the greatest ID.
func (k *keys) search(ctx context.Context) error {
	var at search
	var last number
	begun := false
	err := k.exceptions.Each(ctx, func(batch [][4]uint64) error {
		for _, r := range batch {
			worker := r[0] >> lineBits
			var n number
			for i := range n {
				n[i] = ^(r[i]<<workerBits | r[i+1]>>lineBits)
			}
			again := begun && worker == at.worker && n == last
			if !again {
				if !begun || worker != at.worker {
					of := k.all[worker]
					at = search{worker: worker, runs: append(at.runs[:0], run{of.start, of.end}), rewind: rewind{from: &k.tape, chain: of.chain, buf: at.buf}}
				}
				var err error
				if again, err = at.has(n); err != nil {
					return err
				}
			}
			begun, last = true, n
			if !again {
				continue
			}
			if err := k.answers.Add([4]uint64{r[3] & (1<<lineBits - 1), n[0], n[1], n[2]}); err != nil {
				return err
			}
		}
		return nil
	})
	k.exceptions.Close()
	return err
}

// A search looks up falling IDs in the runs of a generator.
type search struct {
	worker uint64
	runs   []run // of a block, those that may have the ID
	rewind
}

// A run is the IDs from start to end.
type run struct{ start, end number }

// has reports whether a run has the ID.
func (s *search) has(n number) (bool, error) {
	for {
		for len(s.runs) > 0 {
			r := s.runs[len(s.runs)-1]
			if !n.less(r.start) {
				return !r.end.less(n), nil
			}
			s.runs = s.runs[:len(s.runs)-1]
		}
		block, ok, err := s.next()
		if !ok || err != nil {
			return false, err
		}
		var end number
		for len(block) > 0 {
			length := 1 + int(block[0])
			start := end.plus(numberOf(block[1:length]))
			more, n := binary.Uvarint(block[length:])
			block = block[length+n:]
			end = start.plus(number{2: more})
			s.runs = append(s.runs, run{start, end})
		}
	}
}
