package files

import (
	"context"
	"encoding/binary"

	"github.com/firn-id/firn/cmd/firn/internal/spill"
	"github.com/firn-id/firn/internal/shape"
)

// A keys finds repeated IDs exactly, however many IDs there are.
//
// An ID above all earlier IDs of its generator cannot repeat an ID. Most IDs of a log are above, and adjacent:
// keys stores adjacent IDs as one run. Every other ID is an exception, and keys stores the exception with its
// line. In the end keys sorts the exceptions, and looks up each exception in the runs of its generator and
// among the exceptions of earlier lines. A repeated ID is always an exception. The search therefore finds
// every repeated ID, and its line.
//
// Temporary files hold the runs and exceptions beyond the memory.
type keys interface {
	// add adds an ID, and returns the timestamp, and what is odd about the order.
	add(id []byte, line int64) (timestamp uint64, odd order, err error)

	// repeated calls f for each ID that is there before, in the order of lines.
	repeated(ctx context.Context, f func(line int64, id []byte) error) error

	generators() int
	Close() error
}

// An order is what is odd about the place of an ID.
type order uint8

const (
	disorder   order = 1 << iota // the ID is smaller than the ID before
	regression                   // the timestamp is smaller than that of the generator's ID before
)

// lineBits are the bits of a line's number in a record.
const lineBits = 48

// The parts of the memory for keys.
const (
	exceptionsPart = 2 // 1/2
	tapePart       = 8
	blocksPart     = 8
	answersPart    = 8
)

// newKeys returns keys for IDs of a shape and of a size in bytes.
func newKeys(s shape.Shape, size int, memory int64) keys {
	memory = max(memory, spill.LeastMemory)
	if p, ok := newPlan(s, size); ok {
		return &narrow{plan: p, all: make([]*narrowRuns, int(p.worker.mask)+1), blocks: blocks{memory: memory / blocksPart, tape: tape{memory: memory / tapePart}},
			exceptions: spill.New[[2]uint64](spill.Config{Memory: memory / exceptionsPart}), answers: spill.New[[2]uint64](spill.Config{Memory: memory / answersPart})}
	}
	w := &wide{size: size, time: s.Fields[0], blocks: blocks{memory: memory / blocksPart, tape: tape{memory: memory / tapePart}},
		exceptions: spill.New[[4]uint64](spill.Config{Memory: memory / exceptionsPart}), answers: spill.New[[4]uint64](spill.Config{Memory: memory / answersPart})}
	workers := 1
	if s.Worker > 0 {
		w.worker = s.Fields[s.Worker]
		if more := w.worker.Bits - workerBits; more > 0 {
			w.worker.Bits, w.worker.Shift = workerBits, w.worker.Shift+more
		}
		workers = 1 << w.worker.Bits
	}
	w.all = make([]*wideRuns, workers)
	return w
}

// blocks keeps the runs of all generators.
type blocks struct {
	tape   tape
	memory int64 // for blocks that are being filled
	count  int   // generators
}

// size returns the size of a block.
func (b *blocks) size() int {
	const least, most = 128, 16 << 10
	return int(min(max(b.memory/int64(max(b.count, 1)), least), most))
}

// A narrow is keys of IDs whose key is one word.
type narrow struct {
	plan
	blocks
	before     windows       // of the ID before
	all        []*narrowRuns // by generator
	exceptions *spill.Sorter[[2]uint64]
	answers    *spill.Sorter[[2]uint64]
}

// narrowRuns are the runs of a generator.
type narrowRuns struct {
	last       uint64 // timestamp
	start, end uint64 // the keys of the present run
	before     uint64 // the end of the run before, in the block
	chain
}

func (n *narrow) add(id []byte, line int64) (timestamp uint64, odd order, err error) {
	w := windowsOf(id)
	if w.less(n.before) {
		odd = disorder
	}
	n.before = w
	worker, key := n.split(&w)
	timestamp = key >> (n.shift & 63)
	r := n.all[worker]
	if r == nil {
		n.count++
		n.all[worker] = &narrowRuns{last: timestamp, start: key, end: key}
		return timestamp, odd, nil
	}
	if timestamp < r.last {
		odd |= regression
	}
	r.last = timestamp
	switch {
	case key <= r.end:
		err = n.exceptions.Add([2]uint64{uint64(worker)<<lineBits | ^key>>workerBits, ^key<<lineBits | uint64(line)})
	case key-r.end == n.step:
		r.end = key
	default:
		err = n.end(r)
		r.start, r.end = key, key
	}
	return timestamp, odd, err
}

// end moves the present run to the block.
func (n *narrow) end(r *narrowRuns) error {
	if len(r.block) == 0 {
		r.before = 0
	}
	r.block = binary.AppendUvarint(r.block, r.start-r.before)
	r.block = binary.AppendUvarint(r.block, (r.end-r.start)/n.step)
	r.before = r.end
	if r.full(n.blocks.size()) {
		return r.flush(&n.tape)
	}
	return nil
}

func (n *narrow) generators() int { return n.count }

func (n *narrow) Close() error {
	n.exceptions.Close()
	n.answers.Close()
	return n.tape.Close()
}

func (n *narrow) repeated(ctx context.Context, f func(line int64, id []byte) error) error {
	if n.exceptions.Len() > 0 {
		if err := n.search(ctx); err != nil {
			return err
		}
	}
	var id []byte
	return n.answers.Each(ctx, func(batch [][2]uint64) error {
		for _, r := range batch {
			id = n.appendID(id[:0], uint16(r[0]), r[1])
			if err := f(int64(r[0]>>workerBits), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// search looks up the exceptions, by generator, and from the greatest key.
func (n *narrow) search(ctx context.Context) error {
	var at narrowSearch
	var last [2]uint64
	begun := false
	err := n.exceptions.Each(ctx, func(batch [][2]uint64) error {
		for _, r := range batch {
			worker, key := uint16(r[0]>>lineBits), ^(r[0]<<workerBits | r[1]>>lineBits)
			line := r[1] & (1<<lineBits - 1)
			again := begun && last[0] == r[0] && last[1]>>lineBits == r[1]>>lineBits
			if !again {
				if !begun || worker != at.worker {
					at = narrowSearch{worker: worker, step: n.step, runs: at.runs[:0]}
					at.begin(n.all[worker], &n.tape, at.buf)
				}
				var err error
				if again, err = at.has(key); err != nil {
					return err
				}
			}
			begun, last = true, r
			if !again {
				continue
			}
			if err := n.answers.Add([2]uint64{line<<workerBits | uint64(worker), key}); err != nil {
				return err
			}
		}
		return nil
	})
	n.exceptions.Close()
	return err
}

// A narrowSearch looks up falling keys in the runs of a generator.
type narrowSearch struct {
	worker uint16
	step   uint64
	runs   []narrowRun // of a block, those that may have the key
	rewind
}

type narrowRun struct{ start, steps uint64 }

// begin begins at the present run of a generator.
func (s *narrowSearch) begin(r *narrowRuns, t *tape, buf []byte) {
	s.rewind = rewind{from: t, chain: r.chain, buf: buf}
	s.runs = append(s.runs, narrowRun{r.start, (r.end - r.start) / s.step})
}

// has reports whether a run has the key.
func (s *narrowSearch) has(key uint64) (bool, error) {
	for {
		for len(s.runs) > 0 {
			r := s.runs[len(s.runs)-1]
			if key >= r.start {
				return (key-r.start)%s.step == 0 && (key-r.start)/s.step <= r.steps, nil
			}
			s.runs = s.runs[:len(s.runs)-1]
		}
		block, ok, err := s.next()
		if !ok || err != nil {
			return false, err
		}
		end := uint64(0)
		for len(block) > 0 {
			delta, n := binary.Uvarint(block)
			steps, m := binary.Uvarint(block[n:])
			block = block[n+m:]
			s.runs = append(s.runs, narrowRun{end + delta, steps})
			end += delta + steps*s.step
		}
	}
}
