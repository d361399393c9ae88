package files

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/firn-id/firn/internal/shape"
)

// windows are the first and the last 64 bits of an ID. They overlap, or are the same. IDs compare as their
// windows do.
type windows [2]uint64

// windowsOf returns the windows of an ID of 8 to 16 bytes.
func windowsOf(id []byte) windows {
	last := binary.BigEndian.Uint64(id[len(id)-wordBytes:])
	first := last
	// A processor waits for the stores of the ID before it loads a word across two of them. Loads of single bytes
	// do not wait.
	if above := len(id) - wordBytes; above > 0 {
		bits := 8 * uint(above)
		first >>= bits
		for i, b := range id[:above] {
			first |= uint64(b) << (56 - 8*uint(i))
		}
	}
	return windows{first, last}
}

// less reports whether w is of the smaller ID.
func (w windows) less(than windows) bool {
	return w[0] < than[0] || w[0] == than[0] && w[1] < than[1]
}

// A move takes bits of an ID to a place of a key.
type move struct {
	window uint8 // 0 or 1
	shift  uint8 // the number of bits below, in the window
	to     uint8 // the number of bits below, in the key
	mask   uint64

	from int // the number of bits below, in the ID
}

// of returns the bits at the low end.
func (m *move) of(w *windows) uint64 { return w[m.window&1] >> (m.shift & 63) & m.mask }

// A plan says how to take an ID apart into the number of its generator and a key. The two together are all
// bits of the ID, in another order.
//
// In the key, the timestamp is first, then the sequence, then the rest. The IDs of one generator therefore
// have rising keys, and the keys of a tick differ by step, whatever metabytes the IDs have.
type plan struct {
	worker move
	moves  []move
	step   uint64
	shift  uint // of the timestamp in the key
	size   int  // of an ID, in bytes
}

const (
	workerBits = 16 // of the number of a generator, at most
	keyBits    = 64
)

// newPlan returns the plan for IDs of a shape. ok is false if a key would be too long.
func newPlan(s shape.Shape, size int) (p plan, ok bool) {
	p.size = size
	fields := slices.Clone(s.Fields)
	if s.Worker > 0 {
		f := &fields[s.Worker]
		n := min(f.Bits, workerBits)
		p.worker = p.inWindow(move{from: f.Shift + f.Bits - n, mask: 1<<n - 1})
		f.Bits -= n // the rest, if any, is a part of the key
	}
	order := []int{0}
	if s.Micro > 0 {
		order = append(order, s.Micro)
	}
	order = append(order, s.Sequence)
	lowest := len(order) // of the fields in order, those that a step does not change
	for i := range fields {
		if !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	to := 0
	for i, n := range slices.Backward(order) {
		f := fields[n]
		if i == lowest-1 {
			p.step = 1 << to
		}
		if i == 0 {
			p.shift = uint(to)
		}
		if f.Bits > 0 {
			p.moves = append(p.moves, move{from: f.Shift, to: uint8(to), mask: 1<<f.Bits - 1})
		}
		to += f.Bits
		if to > keyBits {
			return p, false
		}
	}
	if size < wordBytes || size > 2*wordBytes {
		return p, false
	}
	slices.Reverse(p.moves)
	p.join()
	for i := range p.moves {
		p.moves[i] = p.inWindow(p.moves[i])
	}
	return p, true
}

// join makes one move of neighbours that stay neighbours. A move does not cross bit 64, so it is in a window.
func (p *plan) join() {
	var joined []move
	for _, m := range p.moves {
		if n := len(joined); n > 0 {
			above := &joined[n-1]
			below := above.from - m.from
			if below > 0 && int(above.to)-int(m.to) == below && m.mask == 1<<below-1 {
				*above = move{from: m.from, to: m.to, mask: above.mask<<below | m.mask}
				continue
			}
		}
		joined = append(joined, m)
	}
	p.moves = nil
	for _, m := range joined {
		if cut := keyBits - m.from; !p.fits(m) && cut > 0 {
			p.moves = append(p.moves, move{from: keyBits, to: m.to + uint8(cut), mask: m.mask >> cut})
			m.mask &= 1<<cut - 1
		}
		p.moves = append(p.moves, m)
	}
}

// fits reports whether the bits of a move are in one window.
func (p *plan) fits(m move) bool {
	return m.from+bits.Len64(m.mask) <= keyBits || m.from >= 8*p.size-keyBits
}

// inWindow sets the window of a move.
func (p *plan) inWindow(m move) move {
	if above := 8*p.size - keyBits; m.from >= above {
		m.shift = uint8(m.from - above)
	} else {
		m.window, m.shift = 1, uint8(m.from)
	}
	return m
}

// split returns the generator and the key of an ID.
func (p *plan) split(w *windows) (worker uint16, key uint64) {
	for i := range p.moves {
		m := &p.moves[i]
		key |= m.of(w) << (m.to & 63)
	}
	return uint16(p.worker.of(w)), key
}

// appendID appends the ID of a generator and a key, in binary form.
func (p *plan) appendID(dst []byte, worker uint16, key uint64) []byte {
	var id [2 * wordBytes]byte
	put := func(m move, v uint64) {
		low := v << m.from
		high := v >> (keyBits - m.from)
		if m.from >= keyBits {
			low, high = 0, v<<(m.from-keyBits)
		}
		binary.BigEndian.PutUint64(id[:], binary.BigEndian.Uint64(id[:])|high)
		binary.BigEndian.PutUint64(id[wordBytes:], binary.BigEndian.Uint64(id[wordBytes:])|low)
	}
	put(p.worker, uint64(worker))
	for _, m := range p.moves {
		put(m, key>>m.to&m.mask)
	}
	return append(dst, id[len(id)-p.size:]...)
}
