// Package tally counts what a generator does, without any work on the path of an ID.
//
// The sequence of a word is the number of used words of the tick. So nothing counts single words: the
// caller that replaces the last word of a tick adds the used words of the tick. A tick ends once, and
// the last word of a tick is replaced once, so each word counts once.
//
//	count.go   the number of words, and readings that never go back
//	tally.go   shares of the capacity by seconds, and rare events
package tally

import "sync/atomic"

// A Count is the number of words that a generator has issued. The count is exact while no call is
// under way. A reading is never above the count, except for words that a caller takes and then drops.
type Count struct {
	// made is the number of used words of the ticks that have ended, less the words that were left
	// out. The number can be below zero, since callers leave out words in advance.
	//
	//	writer a caller that changes the tick of the word: Drop before the change, and Ended after it
	//	holds  made and the used words of the present tick are together never above the number of
	//	       issued words, if made was read while the tick was the present tick: a caller between
	//	       its two calls makes made too small
	made atomic.Uint64

	// shown is the greatest reading.
	shown atomic.Uint64

	// sealed is 0, then begun before the word is sealed, then ended once final has the last word.
	sealed, final atomic.Uint64

	// Lay writes everything below once.

	mask, least, most uint64 // of the sequence
	shift             uint   // of the tick
}

const (
	begun = 1 + iota
	ended
)

// Lay sets the layout of the words: the bits below shift are the sequence, whose values are in
// [least, most]. Larger values count as most.
func (c *Count) Lay(shift uint, least, most uint64) {
	c.shift, c.mask, c.least, c.most = shift, 1<<shift-1, least, most
}

// Used returns how many words of its tick a word has used: the word itself and the words before it.
func (c *Count) Used(word uint64) uint64 { return max(min(word&c.mask, c.most)+1, c.least) - c.least }

// Changed reports whether two words are of different ticks.
func (c *Count) Changed(word, last uint64) bool { return (word^last)>>c.shift != 0 }

// Drop counts n words as left out. Call Drop before the word begins a tick with a later word than the
// first: the words before count as used, and were never issued. If the word does not change, take Drop
// back by Add.
func (c *Count) Drop(n uint64) { c.made.Add(-n) }

// Add counts n more words. n may be a negative number, wrapped.
func (c *Count) Add(n uint64) { c.made.Add(n) }

// Missed is for a caller whose addition to the word has failed. Either the tick is exhausted, or the word
// is being sealed: then the word of the caller looks like an issued word, and does not count.
func (c *Count) Missed(word uint64) {
	const sealed = 1 << 63 // words of additions are sealed by this bit
	if word&c.mask <= c.most && word < sealed {
		c.Drop(1)
	}
}

// Ended counts the words of a tick that has ended. The word last was its last word.
func (c *Count) Ended(last uint64) { c.made.Add(c.Used(last)) }

// Sealing is for a caller that is about to seal the word, which changes the word.
func (c *Count) Sealing() { c.sealed.Store(begun) }

// Sealed notes the last word, which Seal of the word has returned.
func (c *Count) Sealed(last uint64) {
	c.final.Store(last)
	c.sealed.Store(ended)
}

// Read returns the number of words. A reading is not less than the readings before. last returns the
// last word.
func (c *Count) Read(last func() uint64) uint64 {
	const tries = 64 // a tick is hardly ever as short as a try
	for range tries {
		before := last()
		made := c.made.Load()
		word := last()
		switch c.sealed.Load() { // after the look at the word, which may be sealed
		case begun:
			return c.shown.Load()
		case ended:
			return c.show(c.made.Load() + c.Used(c.final.Load()))
		}
		if !c.Changed(word, before) {
			// The words used before: a caller may have left out the rest of the tick meanwhile.
			return c.show(made + c.Used(before))
		}
	}
	return c.shown.Load()
}

// show makes n the greatest reading, unless it is less, and returns the greatest reading.
func (c *Count) show(n uint64) uint64 {
	for {
		shown := c.shown.Load()
		if int64(n-shown) <= 0 {
			return shown
		}
		if c.shown.CompareAndSwap(shown, n) {
			return n
		}
	}
}
