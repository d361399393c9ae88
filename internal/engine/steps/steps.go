// Package steps gives random values to the words of a generator.
//
// In each tick, values start at a random number and rise by random steps. The sequence of a word only
// counts the words of its tick. One addition therefore makes a word, as without random values, and a
// draw of random bits serves many words.
//
// Values are made in blocks. One number names the present block and the words with values in the
// block, and the number only rises. If two looks at the number are equal, the number was the same in
// between, and so were the values of the block. The values of a tick are therefore the same for all
// callers: one row that only rises.
package steps

import (
	"runtime"
	"sync/atomic"

	"github.com/firn-id/firn/internal/engine/words"
)

const (
	blocks   = 8                // number of blocks: a power of two that divides the number of words of a block
	cells    = 32               // number of cells of a block
	lanes    = 4                // number of words of a cell, if steps are narrow, and else 1
	laneBits = 10               // width of lanes-1 narrow steps together
	baseAt   = lanes * laneBits // the bit above the lanes of a cell
	narrow   = 8                // greatest width of a narrow step
	none     = ^uint64(0)       // in place of the entry before the first entry of a tick
	numbers  = cells + 4        // random numbers of 32 bits: one for a start, one for each cell, and some more
)

// Steps has the values of the words of one generator. Steps is safe for concurrent use and does not
// allocate. A caller that needs the next block fills a free block, and yields the processor if other
// callers hold all blocks but the present one.
type Steps struct {
	// now is the first word of the present block, with the index of the block in the low bits. The
	// first now is of tick 0, which has no words.
	//
	//	writer a caller that has filled a block, by compare-and-swap
	//	holds  now only rises: the block after now has later words of the tick, or words of a later
	//	       tick. No word has values in two blocks that have both been the present block
	now atomic.Uint64

	_ [56]byte // callers read now for each word, and write blocks less often

	blocks [blocks]block

	// Init writes everything below once.

	mask     uint64 // the bits of the sequence's field in a word
	top      uint64 // the greatest entry
	length   uint64 // number of words of a block
	shift    uint   // a cell has 1<<shift words
	topBits  uint
	stepBits uint
	rand     func([]uint64)
}

// A block has the values of consecutive words.
type block struct {
	// held is 1 while the block is the present block or a caller fills the block, else 0.
	//
	//	writer the caller that sets held, by compare-and-swap, owns the block. If the block becomes
	//	       the present block, the caller clears held of the present block before
	//	holds  only the owner writes the block. The present block has no owner
	held atomic.Uint64

	// cells hold the entries. The entry of a word is its value, or above top if the tick has no value
	// left for the word. A cell has its first entry above the lanes. Each lane has what is to be
	// added to it for the word of the lane.
	cells [cells]atomic.Uint64

	// The owner uses the rest while it fills the block.

	random [numbers / 2]uint64
	made   [cells]uint64 // cells to store
}

// Init prepares s for words with a sequence field of a number of bits. Values have valueBits bits, at
// most 20. Steps are uniform in [1, 2^stepBits), for 2 bits or more. The function rand fills a slice
// with random bits. Call Init once, before any other method.
func (s *Steps) Init(field, valueBits, stepBits uint, rand func([]uint64)) {
	s.mask, s.top = 1<<field-1, 1<<valueBits-1
	s.topBits, s.stepBits, s.rand = valueBits, stepBits, rand
	s.length, s.shift = cells*lanes, 2
	if stepBits > narrow {
		s.length, s.shift = cells, 0
	}
	s.blocks[0].held.Store(1)
}

// A Look is what a caller has seen of the present block.
type Look struct {
	now   uint64
	block *block
}

// Look returns a look at the present block, for At.
func (s *Steps) Look() Look {
	now := s.now.Load()
	return Look{now, &s.blocks[now%blocks]}
}

// At returns the value of a word if the word has a value in the block of a look. The caller looks
// before it takes the word, which is faster than afterwards. At is Find for nearly all words.
func (s *Steps) At(l Look, word uint64) (value uint64, ok bool) {
	at := word - l.now&^(blocks-1)
	if at < s.length {
		if entry := l.block.entry(at, s.shift); entry <= s.top {
			return entry, s.now.Load() == l.now
		}
	}
	return 0, false
}

// Find returns the value of a word and Issued. Values rise with the words of a tick. The verdict is
// Exhausted if the values of the word's tick have ended before the word, and Lost if the present block
// has only later words. A word that is Lost has no value from then on, and its caller drops the word.
func (s *Steps) Find(word uint64) (value uint64, verdict words.Verdict) {
	for {
		now := s.now.Load()
		first := now &^ (blocks - 1)
		switch {
		case word < first:
			return 0, words.Lost
		case (word^first)&^s.mask != 0:
			s.fill(now, word&^s.mask, none)
			continue
		}
		at := min(word-first, s.length-1)
		entry := s.blocks[now%blocks].entry(at, s.shift)
		switch {
		case s.now.Load() != now: // the entry may be of other words
		case entry > s.top:
			return 0, words.Exhausted
		case at == word-first:
			return entry, words.Issued
		default:
			s.fill(now, first+s.length, entry)
		}
	}
}

func (b *block) entry(at uint64, shift uint) uint64 {
	cell := b.cells[at>>(shift&63)%cells].Load()
	return cell>>baseAt + cell>>(at%lanes*laneBits)&(1<<laneBits-1)
}

// fill makes a block of the words from first on the present block, unless now changes. The entry of
// the word before first is last, or none if first begins a tick.
func (s *Steps) fill(now, first, last uint64) {
	at, ok := s.take(now)
	if !ok {
		runtime.Gosched() // owners are held up
		return
	}
	b := &s.blocks[at]
	s.roll(b, last)
	if s.now.CompareAndSwap(now, first|at) {
		b = &s.blocks[now%blocks]
	}
	b.held.Store(0)
}

// take makes the caller the owner of a block, if a block is free.
func (s *Steps) take(now uint64) (at uint64, ok bool) {
	for i := range uint64(blocks - 1) {
		at = (now + 1 + i) % blocks
		if s.blocks[at].held.CompareAndSwap(0, 1) {
			return at, true
		}
	}
	return 0, false
}

// roll writes random entries after the entry last. The steps of the 2^stepBits-1 sizes are equally
// likely, since a step of 0 is drawn again. So are the 2^topBits first entries of a tick.
func (s *Steps) roll(b *block, last uint64) {
	s.rand(b.random[:])
	start := b.number(0) >> (32 - s.topBits)
	if s.shift > 0 {
		s.rollNarrow(b, last, start)
	} else {
		s.rollWide(b, last, start)
	}
	for i := range b.cells { // in a loop of its own: each store waits for all loads before
		b.cells[i].Store(b.made[i])
	}
}

// rollNarrow makes cells of four words. A number has the steps of a cell, in 8 bits each.
func (s *Steps) rollNarrow(b *block, last, start uint64) {
	const each, low = 0x01010101, 0xff
	mask := each<<(s.stepBits&63) - uint64(each)
	for made, used := 0, 1; made < cells; used++ {
		if used == numbers {
			s.rand(b.random[:])
			used = 0
		}
		steps := b.number(used) & mask
		if (steps-each)&^steps&(each<<7) != 0 {
			continue // a step is 0
		}
		first := last + steps&low
		if last == none {
			first = start
		}
		second := steps >> 8 & low
		third := second + steps>>16&low
		fourth := third + steps>>24
		b.made[made] = first<<baseAt | fourth<<(3*laneBits) | third<<(2*laneBits) | second<<laneBits
		last = first + fourth
		made++
	}
}

// rollWide makes cells of one word.
func (s *Steps) rollWide(b *block, last, start uint64) {
	mask := uint64(1)<<s.stepBits - 1
	for made, used := 0, 1; made < cells; used++ {
		if used == numbers {
			s.rand(b.random[:])
			used = 0
		}
		step := b.number(used) & mask
		if step == 0 {
			continue
		}
		if last == none {
			last = start
		} else {
			last = min(last+step, s.top+1) // more than that has no room
		}
		b.made[made] = last << baseAt
		made++
	}
}

func (b *block) number(i int) uint64 { return b.random[i/2] >> (i % 2 * 32) & (1<<32 - 1) }
