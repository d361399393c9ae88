package files

import (
	"encoding/binary"
	"slices"

	"github.com/firn-id/firn/internal/shape"
)

// A value is the number that an ID is, in 128 bits.
type value struct{ high, low uint64 }

// valueOf returns the value of an ID of 8 to 16 bytes.
func valueOf(id []byte) value {
	n := len(id)
	v := value{low: binary.BigEndian.Uint64(id[n-8:])}
	if n > 8 {
		v.high = binary.BigEndian.Uint64(id[:8]) >> (8 * uint(16-n))
	}
	return v
}

// A move takes bits of an ID to a place of a key.
type move struct {
	from uint // the number of bits below, in the ID
	to   uint // the number of bits below, in the key
	mask uint64
}

// of returns the bits at the low end.
func (m move) of(v value) uint64 {
	return (v.low>>m.from | v.high<<(64-m.from) | v.high>>(m.from-64)) & m.mask
}

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
	fields := slices.Clone(s.Fields)
	p.size = size
	if s.Worker > 0 {
		f := &fields[s.Worker]
		n := min(f.Bits, workerBits)
		p.worker = move{from: uint(f.Shift + f.Bits - n), mask: 1<<n - 1}
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
			p.moves = append(p.moves, move{from: uint(f.Shift), to: uint(to), mask: 1<<f.Bits - 1})
		}
		to += f.Bits
		if to > keyBits {
			return p, false
		}
	}
	slices.Reverse(p.moves)
	p.join()
	return p, size >= 8 && size <= 16
}

// join makes one move of neighbours that stay neighbours.
func (p *plan) join() {
	var joined []move
	for _, m := range p.moves {
		if n := len(joined); n > 0 {
			above := &joined[n-1]
			if below := above.from - m.from; above.from > m.from && above.to-m.to == below && m.mask == 1<<below-1 {
				*above = move{from: m.from, to: m.to, mask: above.mask<<below | m.mask}
				continue
			}
		}
		joined = append(joined, m)
	}
	p.moves = joined
}

// split returns the generator and the key of an ID.
func (p *plan) split(v value) (worker uint16, key uint64) {
	for i := range p.moves {
		m := &p.moves[i]
		key |= m.of(v) << (m.to & 63)
	}
	return uint16(p.worker.of(v)), key
}

// appendID appends the ID of a generator and a key, in binary form.
func (p *plan) appendID(dst []byte, worker uint16, key uint64) []byte {
	v := p.worker.back(uint64(worker))
	for _, m := range p.moves {
		part := m.back(key >> m.to & m.mask)
		v.high |= part.high
		v.low |= part.low
	}
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], v.high)
	binary.BigEndian.PutUint64(id[8:], v.low)
	return append(dst, id[16-p.size:]...)
}

// back returns the bits in their place of the ID.
func (m move) back(bits uint64) value {
	return value{high: bits>>(64-m.from) | bits<<(m.from-64), low: bits << m.from}
}
