package steps_test

import (
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/engine/steps"
	"github.com/firn-id/firn/internal/engine/words"
	"github.com/firn-id/firn/internal/testing/testkit"
)

const field = 20

func mask(bits uint) uint64 { return 1<<bits - 1 }

// value asks for the value of a word as a mint does.
func value(s *steps.Steps, look steps.Look, word uint64) (uint64, words.Verdict) {
	if v, ok := s.At(look, word); ok {
		return v, words.Issued
	}
	return s.Find(word)
}

// A caller alone gets a value for each word, until the next step can pass the top. From then on the
// tick has no values. The first value is random.
func TestTicksOfOneCaller(t *testing.T) {
	var source entropy.Source
	for _, v := range []struct{ value, step uint }{{20, 2}, {20, 3}, {20, 8}, {20, 9}, {20, 13}, {20, 20}, {15, 2}, {15, 8}, {15, 15}, {2, 2}} {
		s := new(steps.Steps)
		s.Init(field, v.value, v.step, source.Read64)
		var low, high bool // some ticks start in the lower half of the values, and some in the upper half
		for now := range uint64(40) {
			last, ended := uint64(0), false
			for at := range mask(field) + 1 {
				got, verdict := value(s, s.Look(), (now+1)<<field|at)
				switch {
				case verdict == words.Issued && (ended || got > mask(v.value) || at > 0 && got-last-1 >= mask(v.step)):
					t.Fatalf("%+v: %d after %d, ended: %t", v, got, last, ended)
				case verdict == words.Exhausted && last+mask(v.step) <= mask(v.value):
					t.Fatalf("%+v: the values end at %d", v, last)
				case verdict == words.Lost:
					t.Fatalf("%+v: word %d of a caller alone is lost", v, at)
				}
				if at == 0 && got > mask(v.value)/2 {
					high = true
				} else if at == 0 {
					low = true
				}
				if verdict == words.Issued {
					last = got
				} else if ended = true; at > 100 && at%97 == 0 {
					break // and not in all words to come
				}
			}
		}
		if !low || !high {
			t.Errorf("%+v: all ticks start in one half of the values", v)
		}
	}
}

// No random number gives steps twice, whatever the number of steps of 0 that are drawn again. Each
// number is its place in the row of all numbers, in 7 bits of its first two steps.
func TestNumbersServeOnce(t *testing.T) {
	for zeros := range 9 { // of 10 numbers
		s := new(steps.Steps)
		place := uint64(0)
		number := func() uint64 {
			place++
			if place%10 < uint64(zeros) {
				return 0x01000000 // other steps are 0
			}
			return place&127 + 1 | (place>>7&127+1)<<8 | 0x01010000
		}
		s.Init(field, field, 8, func(p []uint64) {
			for i := range p {
				p[i] = number() | number()<<32
			}
		})
		// The start is far below the top: its number begins with zeros.
		last, before := uint64(0), uint64(0)
		var steps [4]uint64
		for at := range uint64(2000) {
			v, verdict := s.Find(1<<field | at)
			if verdict != words.Issued {
				t.Fatalf("word %d: verdict %d", at, verdict)
			}
			steps[at%4], last = v-last, v
			if at%4 == 3 && at > 3 {
				place := steps[0] - 1 | (steps[1]-1)<<7
				if steps[0]-1 > 127 || steps[1]-1 > 127 || steps[2] != 1 || steps[3] != 1 || place <= before {
					t.Fatalf("%d zeros, word %d: steps %d, of number %d after number %d", zeros, at, steps, place, before)
				}
				before = place
			}
		}
	}
}

// A later word gives the earlier words of its block their values. Words of the blocks before are lost.
func TestWordsAreLeftOut(t *testing.T) {
	s := new(steps.Steps)
	s.Init(field, field, 2, func(p []uint64) {
		for i := range p {
			p[i] = 0x1b1b1b1b1b1b1b1b // a start far below the top
		}
	})
	late, verdict := s.Find(1<<field | 1000)
	testkit.Same(t, verdict, words.Issued)
	if v, verdict := s.Find(1<<field | 999); verdict != words.Issued || v >= late {
		t.Errorf("word 999 has the value %d, and word 1000 %d: verdict %d", v, late, verdict)
	}
	if _, verdict := s.Find(1<<field | 500); verdict != words.Lost {
		t.Errorf("word 500 after word 1000: verdict %d", verdict)
	}
	if _, verdict := s.Find(2 << field); verdict != words.Issued {
		t.Errorf("the next tick: verdict %d", verdict)
	}
	if _, verdict := s.Find(1<<field | 1001); verdict != words.Lost {
		t.Errorf("a word of the tick before: verdict %d", verdict)
	}
}

// Many callers take words from one counter, which now and then begins a tick. In the order of the
// words, the values of a tick rise, and nearly all words have one.
func TestManyCallers(t *testing.T) {
	var (
		source entropy.Source
		next   atomic.Uint64
		s      = new(steps.Steps)
		wg     sync.WaitGroup
	)
	const callers, each, top = 8, 20_000, 1<<field - 1
	s.Init(field, field, 8, source.Read64)
	next.Store(1 << field)
	got := make([]map[uint64]uint64, callers)
	for c := range callers {
		got[c] = make(map[uint64]uint64, each)
		wg.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(c)))
			for range each {
				look := s.Look()
				word := next.Add(1)
				switch v, verdict := value(s, look, word); {
				case verdict == words.Issued:
					got[c][word] = v
				case verdict == words.Exhausted || r.IntN(500) == 0:
					next.CompareAndSwap(word, (word|top)+1)
				}
			}
		})
	}
	wg.Wait()
	all := make(map[uint64]uint64)
	for _, words := range got {
		maps.Copy(all, words)
	}
	if len(all) < callers*each/2 {
		t.Errorf("only %d of %d words have a value", len(all), callers*each)
	}
	var before, last uint64
	for _, word := range slices.Sorted(maps.Keys(all)) {
		v := all[word]
		if word>>field == before>>field && v <= last || v > top {
			t.Fatalf("word %#x has the value %d, after %d of word %#x", word, v, last, before)
		}
		before, last = word, v
	}
}

func TestAllocations(t *testing.T) {
	s := new(steps.Steps)
	var source entropy.Source
	s.Init(field, field, 8, source.Read64)
	word := uint64(1) << field
	if n := testing.AllocsPerRun(100, func() {
		for range 1000 {
			s.Find(word)
			word++
		}
		word = (word | (1<<field - 1)) + 1
	}); n > 0 {
		t.Errorf("1000 values: %v allocations", n)
	}
}
