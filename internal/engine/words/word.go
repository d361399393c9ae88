// Package words holds the word of a generator: a time in the high bits and a sequence in the low
// bits.
//
// Time and sequence must agree, so one atomic value holds both. With two atomics, a caller can pair
// the old time with the new sequence and hand out an ID twice. One value also makes order a
// property of integers: each word issued is greater than all words before, whatever the callers'
// clocks show.
//
// The package knows no layout, no unit and no clock. Callers choose the width of the sequence, pass
// times as words, and decide what to do in an exhausted tick.
package words

import "sync/atomic"

// Verdict is the result of a request for a word.
type Verdict uint8

const (
	// Issued: the word belongs to the caller, and was never issued before.
	Issued Verdict = iota
	// Exhausted: the next word would be at or above the caller's ceiling. The tick is exhausted, or the
	// word is ahead of the clock.
	Exhausted
	// Fenced: the next word would be at or above the fence.
	Fenced
	// Lost: the last word has changed since the caller's look.
	Lost
)

// Word issues strictly increasing 64-bit words. It is safe for concurrent use and lock-free: if a
// caller's swap fails, another caller's swap has succeeded.
//
// The fence of the zero Word is 0, so the zero Word issues nothing. Open lifts the fence.
type Word struct {
	_ [64]byte // all callers write the cache line of state, so state shares it with nothing

	// state is the last word issued, 0 before the first word.
	//
	//	bits   time : sequence, divided as the caller says
	//	writer any caller, by compare-and-swap from a value that it has read, or by addition
	//	holds  no word is issued twice. Except by Replace, every word issued is greater than all
	//	       words before, and only Trim lowers the state, from the room above the sequence
	//	       to the last word of the tick
	state atomic.Uint64

	_ [56]byte

	// fence is the first word that may not be issued.
	//
	//	writer the owner of the right to mint (a lease), at any time; the fence only rises,
	//	       until Seal takes the fence down for good
	//	holds  a caller that swaps reads the fence after the state; a caller that adds reads the
	//	       fence after the addition. A fence that rises in between is seen late, which is
	//	       safe. After Seal takes the fence down, Seal changes the state
	fence atomic.Uint64

	_ [56]byte
}

// Open removes the fence.
func (w *Word) Open() { w.fence.Store(^uint64(0)) }

// Raise moves the fence up to f, the first word that may not be issued. Raise never lowers the
// fence: it returns false if f is not above the fence.
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

// Pass leaves out all words below floor. From then on, only words from floor on are issued. Pass
// returns the last word from before, and reports whether Pass has left out any word.
func (w *Word) Pass(floor uint64) (last uint64, passed bool) {
	for {
		last := w.state.Load()
		if last >= floor-1 {
			return last, false
		}
		if w.state.CompareAndSwap(last, floor-1) {
			return last, true
		}
	}
}

// Seal ends the word, and returns the last word that was issued or passed. Nothing is issued from
// then on, not even by a call that has already looked at the fence. This call has looked at the
// state before. Seal adds mark to the state, which is then not a word, and the swap of the call
// fails. Do not call Raise during or after Seal.
//
// If Step and Trim are used, mark must be a bit above the time, 0 in all words. Trim could take a
// smaller mark back, and restore the state that the call has seen.
func (w *Word) Seal(mark uint64) uint64 {
	w.fence.Store(0)
	for {
		last := w.state.Load()
		if w.state.CompareAndSwap(last, last+mark) {
			return last
		}
	}
}

// Last returns the last word issued or passed, or 0 before the first word.
func (w *Word) Last() uint64 { return w.state.Load() }

// Advance issues the next word if the word is below ceil and below the fence.
//
// If the last word is at or above floor, the last word is of the caller's tick or of a later tick.
// The next word is last+step. If the last word is below floor, a tick begins, and the next word is
// floor|start.
//
// Advance returns the word, the word that it has replaced, and Issued. Without a word, Advance returns
// the last word twice, and the reason. step must be at least 1, and ceil+step must not overflow.
func (w *Word) Advance(floor, start, step, ceil uint64) (next, last uint64, v Verdict) {
	for {
		last := w.state.Load()
		next := last + step
		if last < floor {
			next = floor | start
		}
		if next >= w.fence.Load() {
			return last, last, Fenced
		}
		if next >= ceil {
			return last, last, Exhausted
		}
		if w.state.CompareAndSwap(last, next) {
			return next, last, Issued
		}
	}
}

// Reserve issues a run of up to n consecutive words in one swap. It works like Advance with a step
// of 1. Reserve returns the first word, the length of the run, and the word that the run has
// replaced. The run is shorter than n if the ceiling or the fence cuts it. If no word is free, Reserve
// returns the last word as both words, 0 and the reason. n must be positive.
func (w *Word) Reserve(floor, start, ceil uint64, n int) (first uint64, run int, last uint64, v Verdict) {
	for {
		last := w.state.Load()
		next := last + 1
		if last < floor {
			next = floor | start
		}
		fence := w.fence.Load()
		if next >= fence {
			return last, 0, last, Fenced
		}
		if next >= ceil {
			return last, 0, last, Exhausted
		}
		run := min(uint64(n), min(ceil, fence)-next)
		if w.state.CompareAndSwap(last, next+(run-1)) {
			return next, int(run), last, Issued
		}
	}
}

// Step issues the word after the last word, in one addition. Callers that add at the same time take
// turns at the memory, and no caller has to try again.
//
// The sequence is the bits in mask. Sequences below limit are words, and the rest is room. If the
// tick is exhausted or the word is at the fence, Step returns false, but has added. The caller must
// then call Trim before its next Step.
//
// Each caller between a failed Step and the end of its Trim has added once. The sequence is beyond
// limit-1 by at most the number of these callers. If the room is at least as wide as the number of
// callers, no addition carries into the time. Neither the number of calls nor the length of the
// tick matters, nor how long a caller is held up before or after its Step.
//
// The time of the word is the time of the last Advance or Reserve. The caller must know that this
// time is the present time.
func (w *Word) Step(limit, mask uint64) (uint64, bool) {
	next := w.state.Add(1)
	// The caller looks at the fence after the addition. Seal takes the fence down before it looks
	// at the state. So either Seal has seen this word, or the caller sees that the fence is down.
	return next, next&mask < limit && next < w.fence.Load()
}

// Trim takes back the additions of failed Steps. The sequence becomes limit-1, the sequence of the
// last word in the tick. The tick stays exhausted.
//
// During each Trim there is a moment at which the sequence is below limit. Later additions beyond
// limit belong to callers that have not ended their own Trim.
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

// Replace issues next if last is still the last word and next is below the fence. It tries once.
// Replace is for formats whose words do not only increase. The format must ensure that no word is
// issued twice.
func (w *Word) Replace(last, next uint64) Verdict {
	if next >= w.fence.Load() {
		return Fenced
	}
	if w.state.CompareAndSwap(last, next) {
		return Issued
	}
	return Lost
}
