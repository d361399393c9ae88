package words

import (
	"slices"
	"sync"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// The layout of words for Step: the sequence has 8 bits of a field of 12 bits.
const (
	room = 12
	mask = 1<<room - 1
)

func begun(time uint64) *Word {
	w := opened()
	w.Advance(time<<room, 0, 1, time<<room+full)
	return w
}

func TestStep(t *testing.T) {
	w := begun(5)
	for seq := uint64(1); seq < full; seq++ {
		if got, ok := w.Step(full, mask); got != 5<<room+seq || !ok {
			t.Fatalf("%#x, %t after %d", got, ok, seq)
		}
	}
	for range 3 {
		if got, ok := w.Step(full, mask); ok {
			t.Fatalf("%#x of an exhausted tick", got)
		}
	}
	got, _, v := w.Advance(5<<room, 0, 1, 5<<room+full)
	want(t, "a tick that is overdrawn", got, v, 5<<room+full+2, Exhausted)
	for range 2 {
		w.Trim(full, mask)
		testkit.Same(t, w.Last(), 5<<room+full-1)
	}
	got, _, v = w.Advance(5<<room, 0, 1, 5<<room+full)
	want(t, "a tick that is trimmed", got, v, 5<<room+full-1, Exhausted)
	w.Step(full, mask)
	got, _, v = w.Advance(6<<room, 0, 1, 6<<room+full)
	want(t, "the next tick", got, v, 6<<room, Issued)
	for range full {
		w.Step(full, mask)
	}
	if got, run, _, v := w.Reserve(7<<room, 0, 7<<room+full, 4); got != 7<<room || run != 4 || v != Issued {
		t.Errorf("a run after that: %#x, %d, %d", got, run, v)
	}
}

func TestStepAtTheFence(t *testing.T) {
	var w Word
	w.Raise(5<<room + 2)
	w.Advance(5<<room, 0, 1, 5<<room+full)
	if got, ok := w.Step(full, mask); got != 5<<room+1 || !ok {
		t.Errorf("%#x, %t below the fence", got, ok)
	}
	for range 3 {
		if got, ok := w.Step(full, mask); ok {
			t.Errorf("%#x at the fence", got)
		}
	}
	w.Raise(6 << room)
	if got, ok := w.Step(full, mask); got != 5<<room+5 || !ok {
		t.Errorf("%#x, %t after the fence was raised", got, ok)
	}
	last := w.Seal(1)
	if got, ok := w.Step(full, mask); last != 5<<room+5 || ok {
		t.Errorf("sealed at %#x, then %#x, %t", last, got, ok)
	}
}

// Some callers add while other callers begin ticks. No word is issued twice, and no word of a tick
// is lost.
func TestStepTogether(t *testing.T) {
	const callers, ticks = 4, 300
	w := begun(1)
	got := make([][]uint64, callers)
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			for tick := uint64(1); tick < ticks; {
				if word, ok := w.Step(full, mask); ok {
					got[i] = append(got[i], word)
					continue
				}
				w.Trim(full, mask)
				last := w.Last()
				if last&mask+1 < full {
					continue // another caller has begun a tick meanwhile
				}
				if tick = last>>room + 1; tick == ticks {
					break
				}
				if word, _, v := w.Advance(tick<<room, 0, 1, tick<<room+full); v == Issued {
					got[i] = append(got[i], word)
				}
			}
		})
	}
	wg.Wait()
	var all []uint64
	for i, words := range got {
		if !slices.IsSorted(words) {
			t.Errorf("caller %d got a word that is less than one before", i)
		}
		all = append(all, words...)
	}
	slices.Sort(all)
	want := uint64(1<<room + 1)
	for _, word := range all {
		if word&mask >= full {
			t.Fatalf("%#x is past the end of its tick", word)
		}
		testkit.Same(t, word, want)
		if want++; want&mask == full {
			want = (want>>room + 1) << room
		}
	}
	testkit.Same(t, len(all), (ticks-1)*full-1)
}
