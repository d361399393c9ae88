package words

import (
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// The layout of most tests: 8 bits of sequence.
const (
	bits = 8
	full = 1 << bits
)

func wordAt(time, seq uint64) uint64 { return time<<bits | seq }

func opened() *Word {
	w := new(Word)
	w.Open()
	return w
}

// next issues a word of the tick, as a format with no special settings does.
func next(w *Word, time uint64) (uint64, Verdict) {
	word, _, v := w.Advance(wordAt(time, 0), 0, 1, wordAt(time+1, 0))
	return word, v
}

func want(t *testing.T, what string, got uint64, v Verdict, word uint64, verdict Verdict) {
	t.Helper()
	if got != word || v != verdict {
		t.Errorf("%s: %#x, verdict %d; want %#x, verdict %d", what, got, v, word, verdict)
	}
}

func TestZeroWordIssuesNothing(t *testing.T) {
	var w Word
	got, v := next(&w, 1)
	want(t, "Advance", got, v, 0, Fenced)
	if got, run, _, v := w.Reserve(wordAt(1, 0), 0, wordAt(2, 0), 5); got != 0 || run != 0 || v != Fenced {
		t.Errorf("Reserve: %#x, %d words, verdict %d", got, run, v)
	}
	w.Open()
	got, v = next(&w, 1)
	want(t, "Advance after Open", got, v, wordAt(1, 0), Issued)
}

func TestAdvance(t *testing.T) {
	w := opened()
	for _, c := range []struct {
		what    string
		time    uint64
		word    uint64
		verdict Verdict
	}{
		{"a tick begins", 5, wordAt(5, 0), Issued},
		{"it goes on", 5, wordAt(5, 1), Issued},
		{"the clock skips", 9, wordAt(9, 0), Issued},
		{"the clock is behind", 8, wordAt(9, 0), Exhausted},
		{"the clock is back", 9, wordAt(9, 1), Issued},
	} {
		got, v := next(w, c.time)
		want(t, c.what, got, v, c.word, c.verdict)
		if w.Last() != c.word {
			t.Errorf("%s: Last is %#x", c.what, w.Last())
		}
	}
}

func TestTickIsSpentAfterItsLastSequence(t *testing.T) {
	w := opened()
	for seq := range uint64(full) {
		got, v := next(w, 3)
		want(t, "within the tick", got, v, wordAt(3, seq), Issued)
	}
	got, v := next(w, 3)
	want(t, "the tick is exhausted", got, v, wordAt(3, full-1), Exhausted)
	got, v = next(w, 4)
	want(t, "the next tick", got, v, wordAt(4, 0), Issued)
}

// With a ceiling beyond the tick the sequence carries into the time.
func TestSequenceCarriesIntoTime(t *testing.T) {
	w := opened()
	w.Advance(wordAt(3, 0), full-1, 1, wordAt(9, 0))
	got, _, v := w.Advance(wordAt(3, 0), 0, 1, wordAt(9, 0))
	want(t, "carried", got, v, wordAt(4, 0), Issued)
	got, v = next(w, 3)
	want(t, "a caller that may not carry", got, v, wordAt(4, 0), Exhausted)
	got, v = next(w, 4)
	want(t, "a caller of the tick carried into", got, v, wordAt(4, 1), Issued)
}

func TestStartAndStep(t *testing.T) {
	w := opened()
	got, _, v := w.Advance(wordAt(3, 0), 100, 7, wordAt(4, 0))
	want(t, "a tick starts at init", got, v, wordAt(3, 100), Issued)
	got, _, v = w.Advance(wordAt(3, 0), 55, 7, wordAt(4, 0))
	want(t, "it goes on by step, init or not", got, v, wordAt(3, 107), Issued)
	got, _, v = w.Advance(wordAt(3, 0), 0, full-107, wordAt(4, 0))
	want(t, "a step to the ceiling", got, v, wordAt(3, 107), Exhausted)
	got, _, v = w.Advance(wordAt(3, 0), 0, full-108, wordAt(4, 0))
	want(t, "a step to below the ceiling", got, v, wordAt(3, full-1), Issued)
}

func TestReserve(t *testing.T) {
	w := opened()
	reserve := func(time uint64, n int) (uint64, int, Verdict) {
		first, run, _, v := w.Reserve(wordAt(time, 0), 0, wordAt(time+1, 0), n)
		return first, run, v
	}
	for _, c := range []struct {
		what    string
		time    uint64
		n       int
		word    uint64
		run     int
		verdict Verdict
	}{
		{"a run begins a tick", 3, 10, wordAt(3, 0), 10, Issued},
		{"a run follows", 3, 1, wordAt(3, 10), 1, Issued},
		{"the tick cuts a run", 3, full, wordAt(3, 11), full - 11, Issued},
		{"the tick is exhausted", 3, 1, wordAt(3, full-1), 0, Exhausted},
		{"a whole tick", 4, full, wordAt(4, 0), full, Issued},
		{"more than a tick", 5, math.MaxInt, wordAt(5, 0), full, Issued},
		{"the clock is behind", 4, 2, wordAt(5, full-1), 0, Exhausted},
	} {
		got, run, v := reserve(c.time, c.n)
		want(t, c.what, got, v, c.word, c.verdict)
		if run != c.run {
			t.Errorf("%s: %d words; want %d", c.what, run, c.run)
		}
		if v == Issued && w.Last() != got+uint64(run)-1 {
			t.Errorf("%s: Last is %#x, not the last word of the run", c.what, w.Last())
		}
	}
	got, v := next(w, 6)
	want(t, "Advance after runs", got, v, wordAt(6, 0), Issued)
}

func TestFence(t *testing.T) {
	var w Word
	if !w.Raise(wordAt(3, 5)) {
		t.Error("the fence did not rise")
	}
	if w.Raise(wordAt(3, 5)) || w.Raise(wordAt(3, 4)) || w.Raise(0) {
		t.Error("the fence came down, or rose to where it was")
	}
	got, run, _, v := w.Reserve(wordAt(3, 0), 0, wordAt(4, 0), full)
	want(t, "the fence cuts a run", got, v, wordAt(3, 0), Issued)
	testkit.Same(t, run, 5)
	got, v = next(&w, 3)
	want(t, "at the fence", got, v, wordAt(3, 4), Fenced)
	got, run, _, v = w.Reserve(wordAt(3, 0), 0, wordAt(4, 0), 1)
	want(t, "a run at the fence", got, v, wordAt(3, 4), Fenced)
	testkit.Same(t, run, 0)
	got, v = next(&w, 8)
	want(t, "beyond the fence", got, v, wordAt(3, 4), Fenced)

	w.Raise(wordAt(3, 6))
	got, v = next(&w, 3)
	want(t, "the fence has risen by one", got, v, wordAt(3, 5), Issued)
	got, v = next(&w, 3)
	want(t, "at the fence again", got, v, wordAt(3, 5), Fenced)
	w.Open()
	if w.Raise(^uint64(0)) {
		t.Error("an open word's fence rose")
	}
	got, v = next(&w, 8)
	want(t, "open", got, v, wordAt(8, 0), Issued)
}

// A word that is both above the ceiling and at the fence is Fenced: waiting for the clock does not
// help.
func TestFencedComesBeforeSpent(t *testing.T) {
	var w Word
	w.Raise(wordAt(4, 0))
	w.Advance(wordAt(3, 0), full-1, 1, wordAt(4, 0))
	got, v := next(&w, 3)
	want(t, "exhausted and fenced", got, v, wordAt(3, full-1), Fenced)
}

func TestReplace(t *testing.T) {
	w := opened()
	next(w, 9)
	testkit.Same(t, w.Replace(wordAt(8, 0), wordAt(1, 0)), Lost)
	testkit.Same(t, w.Replace(wordAt(9, 0), wordAt(4, 0)-1), Issued)
	got, v := next(w, 4)
	want(t, "after going back", got, v, wordAt(4, 0), Issued)

	var f Word
	f.Raise(wordAt(4, 0))
	if v := f.Replace(0, wordAt(4, 0)); v != Fenced || f.Last() != 0 {
		t.Errorf("the word was replaced by one at the fence: %v", v)
	}
}

// Sno's layout has 39 bits of time, 1 tick-tock bit that changes when the clock goes back, and 16
// bits of sequence. A partition bounds the sequence from below and above. Time and tick-tock bit
// are the time of the word. The bounds are start and ceil.
func TestSnoLayout(t *testing.T) {
	const (
		timeShift = 17
		tockShift = 16
		lowest    = 100
		highest   = 65535
	)
	advance := func(w *Word, time, tock uint64) (uint64, Verdict) {
		floor := time<<timeShift | tock<<tockShift
		word, _, v := w.Advance(floor, lowest, 1, floor+highest+1)
		return word, v
	}
	word := func(time, tock, seq uint64) uint64 { return time<<timeShift | tock<<tockShift | seq }

	const last = 1<<39 - 1
	for _, time := range []uint64{1, last - 1} {
		for tock := range uint64(2) {
			w := opened()
			for seq := uint64(lowest); seq <= highest; seq++ {
				if got, v := advance(w, time, tock); got != word(time, tock, seq) || v != Issued {
					t.Fatalf("time %d, tock %d: %#x, verdict %d; want sequence %d", time, tock, got, v, seq)
				}
			}
			got, v := advance(w, time, tock)
			want(t, "the last of the sequence", got, v, word(time, tock, highest), Exhausted)
			got, v = advance(w, time+1, tock)
			want(t, "the next time", got, v, word(time+1, tock, lowest), Issued)
		}
	}

	// The clock goes back. The same time with the other tick-tock bit is a later word. Callers with
	// the old bit get no earlier word.
	w := opened()
	advance(w, 50, 0)
	got, v := advance(w, 50, 1)
	want(t, "after the clock went back", got, v, word(50, 1, lowest), Issued)
	got, v = advance(w, 50, 0)
	want(t, "before it was noticed", got, v, word(50, 1, lowest), Exhausted)
}

// Callers have their own clocks, which go forward and back. All words are distinct, and each
// caller's words increase.
func TestConcurrentCallersGetDistinctWords(t *testing.T) {
	const (
		callers = 8
		each    = 20_000
	)
	w := new(Word)
	w.Raise(wordAt(1, 0))
	words := make([][]uint64, callers)
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			got := make([]uint64, 0, each+full)
			for i := uint64(c); len(got) < each; i++ {
				now := w.Last()>>bits + i%3 // at most 2 ahead of the last word
				if i%5 == 0 && now > 1 {
					now--
				}
				if i%2 == 0 {
					if word, v := next(w, now); v == Issued {
						got = append(got, word)
					}
				} else if first, run, _, v := w.Reserve(wordAt(now, 0), 0, wordAt(now+1, 0), 3); v == Issued {
					for i := range uint64(run) {
						got = append(got, first+i)
					}
				}
				w.Raise(wordAt(now+1, i%full))
			}
			words[c] = got
		})
	}
	all.Wait()

	var union []uint64
	for c, got := range words {
		for i := 1; i < len(got); i++ {
			if got[i] <= got[i-1] {
				t.Fatalf("caller %d got %#x after %#x", c, got[i], got[i-1])
			}
		}
		union = append(union, got...)
	}
	slices.Sort(union)
	for i := 1; i < len(union); i++ {
		if union[i] == union[i-1] {
			t.Fatalf("%#x was issued twice", union[i])
		}
	}
}

func TestZeroAllocations(t *testing.T) {
	w := opened()
	time := uint64(0)
	if n := testing.AllocsPerRun(1000, func() {
		time++
		next(w, time)
		next(w, time-1)
		w.Reserve(wordAt(time, 0), 0, wordAt(time+1, 0), 10)
		w.Raise(wordAt(time, 0))
		w.Replace(w.Last(), wordAt(time, 0))
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestPass(t *testing.T) {
	w := opened()
	next(w, 3)
	w.Pass(wordAt(5, 0))
	got, v := next(w, 4)
	want(t, "a tick that is left out", got, v, wordAt(4, full-1), Exhausted)
	got, v = next(w, 5)
	want(t, "the first that is not", got, v, wordAt(5, 0), Issued)
	w.Pass(wordAt(5, 1))
	w.Pass(wordAt(2, 0))
	got, v = next(w, 5)
	want(t, "after passing what is behind", got, v, wordAt(5, 1), Issued)
}

func TestSeal(t *testing.T) {
	w := new(Word)
	w.Raise(wordAt(9, 0))
	next(w, 3)
	testkit.Same(t, w.Seal(1), wordAt(3, 0))
	for _, time := range []uint64{3, 4, 8, 9} {
		if got, v := next(w, time); v != Fenced {
			t.Errorf("a sealed word: %#x, verdict %d", got, v)
		}
		if got, n, _, v := w.Reserve(wordAt(time, 0), 0, wordAt(time+1, 0), 3); v != Fenced {
			t.Errorf("a sealed word: %d from %#x, verdict %d", n, got, v)
		}
	}
	testkit.Same(t, w.Replace(w.Last(), wordAt(5, 0)), Fenced)
}
