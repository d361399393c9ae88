package tally

import (
	"sync"
	"sync/atomic"

	"github.com/firn-id/firn/usage"
)

// A Tally counts what one generator does. It is safe for concurrent use.
type Tally struct {
	_ [64]byte // callers read what stands before for each ID, and write the counters once a tick

	Count

	// second is the first tick of the running second.
	//
	//	writer a caller that has changed the tick, with mu held
	//	holds  nothing: a late caller's words may count in the next second
	second atomic.Uint64

	waits, exhausted, steps atomic.Uint64
	exhaustedIn, behind     atomic.Uint64 // the last tick that was counted, plus 1

	// Init writes these once.

	perSecond uint64  // ticks of a second
	offset    uint64  // of tick 0 in its second
	capacity  float64 // words of a second

	mu    sync.Mutex
	began uint64  // the number of words at the start of the running second
	full  uint64  // the first tick of the last second with words that has ended
	share float64 // of the capacity, in that second
	worst float64

	_ [64]byte
}

// Config describes the words of a generator.
type Config struct {
	Shift       uint   // of the tick in a word; the bits below are the sequence
	Least, Most uint64 // of the sequence
	PerSecond   uint64 // how many ticks a second has
	Offset      uint64 // of tick 0 in its second, in ticks
	Capacity    uint64 // how many words a second has
}

// Init prepares t. word is the present word, of which nothing counts as issued. Call Init once, before
// any other method.
func (t *Tally) Init(c Config, word uint64) {
	t.Lay(c.Shift, c.Least, c.Most)
	t.perSecond, t.offset, t.capacity = c.PerSecond, c.Offset, float64(c.Capacity)
	t.second.Store(t.start(word >> c.Shift))
	t.Drop(t.Used(word))
}

// Turn notes that a caller has replaced last, the last word of a tick, by a word that begins a tick. The
// caller has dropped so many words of the new tick before.
func (t *Tally) Turn(last, word, dropped uint64) {
	t.Ended(last)
	if tick := word >> t.shift; tick-t.second.Load() >= t.perSecond {
		t.turnSecond(tick, dropped)
	}
}

// Pass leaves out words: pass is Pass of the word, or another call that makes the word before floor the
// last word. That word is the last of its tick.
func (t *Tally) Pass(floor uint64, pass func(floor uint64) (last uint64, passed bool)) {
	all := t.most - t.least + 1
	t.Drop(all)
	if last, passed := pass(floor); passed {
		t.Turn(last, floor-1, all)
	} else {
		t.Add(all)
	}
}

// turnSecond ends the running second. The tick is of another second, later or, if the clock went back,
// earlier.
func (t *Tally) turnSecond(tick, dropped uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	second := t.second.Load()
	if tick-second < t.perSecond {
		return // another caller has ended the second
	}
	made := t.made.Load() + dropped
	t.full, t.share = second, t.shareOf(made)
	t.worst = max(t.worst, t.share)
	t.began = made
	t.second.Store(t.start(tick))
}

// start returns the first tick of a tick's second. The first second can begin before tick 0.
func (t *Tally) start(tick uint64) uint64 { return tick - (tick+t.offset)%t.perSecond }

// shareOf returns the share of the running second. So many words were made in all.
func (t *Tally) shareOf(made uint64) float64 {
	return min(float64(max(int64(made-t.began), 0))/t.capacity, 1)
}

// Wait notes that a call waits.
func (t *Tally) Wait() { t.waits.Add(1) }

// Exhausted notes that a caller has found a tick exhausted.
func (t *Tally) Exhausted(tick uint64) { once(&t.exhausted, &t.exhaustedIn, tick) }

// Behind notes that the clock is behind a word.
func (t *Tally) Behind(word uint64) { once(&t.steps, &t.behind, word>>t.shift) }

// KnowsBehind reports whether Behind has noted a word of the tick.
func (t *Tally) KnowsBehind(word uint64) bool { return t.behind.Load() == word>>t.shift+1 }

// once adds 1 to n for each tick. A caller that is late by a tick does not count.
func once(n, counted *atomic.Uint64, tick uint64) {
	if last := counted.Load(); last-(tick+1) > 1 && counted.CompareAndSwap(last, tick+1) {
		n.Add(1)
	}
}

// Read returns the counters at the tick of the clock. last returns the last word.
func (t *Tally) Read(tick uint64, last func() uint64) (u usage.Usage) {
	if t.capacity == 0 {
		return u // the generator was not made by its constructor
	}
	u.IDs = t.Count.Read(last)
	u.Waits, u.Exhausted, u.ClockSteps = t.waits.Load(), t.exhausted.Load(), t.steps.Load()
	t.mu.Lock()
	defer t.mu.Unlock()
	running, second := t.shareOf(u.IDs), t.second.Load()
	t.worst = max(t.worst, running)
	u.Worst = t.worst
	switch t.start(tick) {
	case second + t.perSecond:
		u.Second = running
	case second:
		if t.full+t.perSecond == second {
			u.Second = t.share
		}
	}
	return u
}
