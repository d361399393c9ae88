// Package tick holds the one word that every generator draws from.
//
// The word is a time in its high bits and a sequence in its low bits. Both must
// agree, so both live in one atomic value: with a time and a sequence in two
// atomics, a caller can pair the old time with the new sequence and hand out an
// ID twice. An ordered word also makes order a property of integers: each word
// issued is greater than all before it, whatever the clocks of the callers said.
//
// The package knows no layout, no unit and no clock. How many low bits are the
// sequence, what an hour is and what to do when a tick is spent are the business
// of its callers, who pass times in as words.
package tick

import "sync/atomic"

// Verdict says what became of a request for a word.
type Verdict uint8

const (
	// Issued: the word is the caller's, and was never issued before.
	Issued Verdict = iota
	// Spent: the next word would be at or above the ceiling that the caller
	// allows. The tick has no sequence left, or the word is ahead of the clock.
	Spent
	// Fenced: the next word would be at or above the fence.
	Fenced
	// Lost: the last word was no longer the one that the caller had seen.
	Lost
)

// Word issues strictly increasing 64-bit words. It is safe for concurrent use
// and lock-free: a caller whose swap fails has lost to one that succeeded.
//
// The zero Word has its fence at 0 and so issues nothing; Open lifts the fence.
type Word struct {
	_ [64]byte // nothing else on the line that all callers write

	// state is the last word issued, 0 before the first.
	//
	//	bits   time : sequence, split where the caller says
	//	writer any caller, by compare-and-swap from the value it read, or by adding
	//	       to whatever is there
	//	holds  every word issued is greater than the ones before (Replace excepted),
	//	       so no word is issued twice; the state falls only by Trim, from
	//	       sequences that are no words to the last one that is
	state atomic.Uint64

	_ [56]byte

	// fence is the first word that may not be issued.
	//
	//	writer whoever owns the right to mint (a lease), between calls or
	//	       during them; it only rises, until Seal takes it down for good
	//	holds  a word is compared with a fence read after the state it follows, and
	//	       a word that was added with one read after that; a fence that
	//	       rises in between is seen late, which is safe, and one that is
	//	       taken down is followed by a change of the state
	fence atomic.Uint64

	_ [56]byte
}

// Open lets the word issue anything: no fence.
func (w *Word) Open() { w.fence.Store(^uint64(0)) }

// Raise moves the fence up to f, the first word that may not be issued. A fence
// never comes down: a lower f changes nothing, and Raise reports false.
func (w *Word) Raise(f uint64) bool {
	for {
		old := w.fence.Load()
		if f <= old {
			return false
		}
		if w.fence.CompareAndSwap(old, f) {
			return true
		}
	}
}

// Allows reports whether word is below the fence.
func (w *Word) Allows(word uint64) bool { return word < w.fence.Load() }

// Pass leaves out the words below floor: none of them is issued any more.
func (w *Word) Pass(floor uint64) {
	for {
		last := w.state.Load()
		if last >= floor-1 {
			return
		}
		if w.state.CompareAndSwap(last, floor-1) {
			return
		}
	}
}

// Seal ends the word, and returns the last one that was issued or passed: nothing is
// issued any more, not even by a call that has looked at the fence already. Such a call
// has looked at the state before, and mark changes that, to a value that is no word's:
// its swap fails. Whoever raises the fence must not do so during or after Seal.
//
// If Step and Trim are used, mark must be a bit above the time, which is 0 in all words. Trim
// can take a smaller mark back, and so restore the state that the call has seen.
func (w *Word) Seal(mark uint64) uint64 {
	w.fence.Store(0)
	for {
		last := w.state.Load()
		if w.state.CompareAndSwap(last, last+mark) {
			return last
		}
	}
}

// Last returns the last word issued or passed, 0 if none was.
func (w *Word) Last() uint64 { return w.state.Load() }

// Advance issues the next word, if that is below ceil and below the fence.
//
// With the last word at or above floor (it belongs to the caller's tick, or to
// a later one) the next word is last+step. Below floor, a tick begins: the next
// word is floor|start, with the bits under keep taken from last+step, for a
// sequence that goes on counting from tick to tick; bits that would be at or above
// ceil are a sequence that has run over, and begins anew.
//
// It returns the word and Issued, or the last word issued and the reason why
// there is no next. step must be at least 1, and ceil+step must not overflow.
func (w *Word) Advance(floor, start, keep, step, ceil uint64) (uint64, Verdict) {
	for {
		last := w.state.Load()
		next := last + step
		if last < floor {
			if next = floor | start | next&keep; next >= ceil {
				next = floor | start
			}
		}
		if next >= w.fence.Load() {
			return last, Fenced
		}
		if next >= ceil {
			return last, Spent
		}
		if w.state.CompareAndSwap(last, next) {
			return next, Issued
		}
	}
}

// Reserve issues a run of up to n consecutive words, one apart, in one step. It
// works like Advance with a step of 1, and returns the first word of the run and
// its length: less than n where the ceiling or the fence cuts it, and 0, with
// the last word issued and the reason, where there is none. n must be positive.
func (w *Word) Reserve(floor, start, keep, ceil uint64, n int) (uint64, int, Verdict) {
	for {
		last := w.state.Load()
		next := last + 1
		if last < floor {
			if next = floor | start | next&keep; next >= ceil {
				next = floor | start
			}
		}
		fence := w.fence.Load()
		if next >= fence {
			return last, 0, Fenced
		}
		if next >= ceil {
			return last, 0, Spent
		}
		run := min(uint64(n), min(ceil, fence)-next)
		if w.state.CompareAndSwap(last, next+(run-1)) {
			return next, int(run), Issued
		}
	}
}

// Step issues the word after the last one, in one addition: callers who come at the same
// time wait for each other's turn at the memory, but none of them has to look or try again.
//
// The sequence is the bits in mask, of which those below limit are words. The rest is room.
// If the tick is exhausted or the word is at the fence, Step returns false, and has added all the
// same. Then the caller must call Trim before it calls Step again.
//
// Each caller between a failed Step and the end of its Trim has added once. The sequence is never
// further beyond limit-1 than the number of these callers. If the room is at least as wide as
// there are callers, no addition carries into the time. Neither the number of calls nor the length
// of the tick matters, nor how long a caller is held up before or after its Step.
//
// The time of the word is whatever it was last set to by Advance or Reserve: it is for
// the caller to know that this is the present one.
func (w *Word) Step(limit, mask uint64) (uint64, bool) {
	next := w.state.Add(1)
	// The fence is looked at after the addition. Seal takes it down before it looks at the
	// state, so either it has seen this word, or this look sees no fence.
	return next, next&mask < limit && next < w.fence.Load()
}

// Trim takes back what failed Steps have added beyond limit: the sequence becomes limit-1,
// that of the last word which the tick has. The tick stays exhausted.
//
// During each Trim there is a moment at which the sequence is below limit. Additions beyond limit
// that follow this moment belong to callers who have not ended their own Trim.
func (w *Word) Trim(limit, mask uint64) {
	for {
		last := w.state.Load()
		if last&mask < limit {
			return
		}
		if w.state.CompareAndSwap(last, last&^mask+limit-1) {
			return
		}
	}
}

// Replace issues next after last, if last still is the last word and next is below the
// fence. It is Advance in one try, for a format whose words do not only increase, who
// answers for their never coming again.
func (w *Word) Replace(last, next uint64) Verdict {
	if next >= w.fence.Load() {
		return Fenced
	}
	if w.state.CompareAndSwap(last, next) {
		return Issued
	}
	return Lost
}
