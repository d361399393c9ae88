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

	"github.com/firn-id/firn/internal/tick"
)

const (
	blocks   = 8             // number of blocks: a power of two that divides blockLen
	cells    = 32            // number of cells of a block
	lanes    = 3             // number of entries of a cell
	laneBits = 21            // width of an entry
	blockLen = lanes * cells // number of words of a block
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

	// cells hold the entries. The entry of a word is its value plus 1, or 0 if the tick has no value
	// left for the word.
	cells [cells]atomic.Uint64

	random [lanes*cells/8 + 1]uint64 // for the owner
}

// Init prepares s for words with a sequence field of a number of bits. Values have valueBits bits, at
// most 20. Steps are uniform in [1, 2^stepBits), for 2 bits or more. The function rand fills a slice
// with random bits. Call Init once, before any other method.
func (s *Steps) Init(field, valueBits, stepBits uint, rand func([]uint64)) {
	s.mask, s.top = 1<<field-1, 1<<valueBits
	s.topBits, s.stepBits, s.rand = valueBits, stepBits, rand
	s.blocks[0].held.Store(1)
}

// Now returns a name of the present block, for At.
func (s *Steps) Now() uint64 { return s.now.Load() }

// At returns the value of a word if the word has a value in the present block. The caller calls Now
// before it takes the word, which is faster than afterwards. At is Find for nearly all words.
func (s *Steps) At(now, word uint64) (value uint64, ok bool) {
	at := word - now&^(blocks-1)
	entry := s.blocks[now%blocks].entry(at)
	return entry - 1, at < blockLen && entry != 0 && s.now.Load() == now
}

// Find returns the value of a word and Issued. Values rise with the words of a tick. The verdict is
// Exhausted if the values of the word's tick have ended before the word, and Lost if the present block
// has only later words. A word that is Lost has no value from then on, and its caller drops the word.
func (s *Steps) Find(word uint64) (value uint64, verdict tick.Verdict) {
	for {
		now := s.now.Load()
		first := now &^ (blocks - 1)
		switch {
		case word < first:
			return 0, tick.Lost
		case (word^first)&^s.mask != 0:
			s.fill(now, word&^s.mask, 0)
			continue
		}
		at := min(word-first, blockLen-1)
		entry := s.blocks[now%blocks].entry(at)
		switch {
		case s.now.Load() != now: // the entry may be of other words
		case entry == 0:
			return 0, tick.Exhausted
		case at == word-first:
			return entry - 1, tick.Issued
		default:
			s.fill(now, first+blockLen, entry)
		}
	}
}

func (b *block) entry(at uint64) uint64 {
	return b.cells[at%cells].Load() >> (at / cells * laneBits) & (1<<laneBits - 1)
}

// fill makes a block of the words from first on the present block, unless now changes. The entry of
// the word before first is last, or 0 if first begins a tick.
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
// likely, since a step of 0 is rolled again. So are the 2^topBits first entries of a tick.
func (s *Steps) roll(b *block, last uint64) {
	const room = 32 // a random number has up to 32 steps, which may go beyond the block
	var entries [blockLen + room]uint32
	made, used := 0, 0
	s.rand(b.random[:])
	if last == 0 {
		last = 1 + b.random[0]>>(64-s.topBits)
		entries[0] = uint32(last)
		made, used = 1, 1
	}
	bits := s.stepBits & 63
	mask, each := uint64(1)<<bits-1, 64/bits
	for made < blockLen {
		if used == len(b.random) {
			s.rand(b.random[:])
			used = 0
		}
		random := b.random[used]
		used++
		for range each {
			step := random & mask
			random >>= bits
			last += step
			entries[made] = uint32(last)
			made += int((step + mask) >> bits) // 0 for a step of 0: the next entry takes the place
		}
	}
	for i := blockLen - 1; i >= 0 && uint64(entries[i]) > s.top; i-- {
		entries[i] = 0
	}
	for i := range b.cells {
		var cell uint64
		for lane := range lanes {
			cell |= uint64(entries[i+lane*cells]) << (lane * laneBits)
		}
		b.cells[i].Store(cell)
	}
}
