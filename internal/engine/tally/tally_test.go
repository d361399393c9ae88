package tally

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
)

// A generator makes words. Its ticks have 100 words, and 10 ticks a second.
type generator struct {
	Tally
	word atomic.Uint64
}

const shift = 10

func newGenerator() *generator {
	g := new(generator)
	g.Init(Config{Shift: shift, Most: 99, PerSecond: 10, Capacity: 1000}, 0)
	return g
}

// make makes n words of a tick. The tick starts at a sequence.
func (g *generator) make(tick, start, n uint64) {
	last := g.word.Load()
	first := tick<<shift + start
	if !g.Changed(first, last) {
		g.word.Store(last + n)
		return
	}
	g.Drop(start)
	g.word.Store(first + n - 1)
	g.Turn(last, first, start)
}

func (g *generator) want(t *testing.T, tick, ids uint64, second, worst float64) {
	t.Helper()
	u := g.Read(tick, g.word.Load)
	if u.IDs != ids || u.Second != second || u.Worst != worst {
		t.Errorf("at tick %d: %+v, want %d IDs, shares of %v and at worst %v", tick, u, ids, second, worst)
	}
}

// Shares are of whole seconds. Ticks without words count as unused.
func TestShares(t *testing.T) {
	g := newGenerator()
	g.want(t, 1000, 0, 0, 0)
	g.make(1003, 0, 50)
	g.make(1007, 20, 30) // the sequence starts at 20
	g.want(t, 1008, 80, 0, 0.08)
	g.want(t, 1010, 80, 0.08, 0.08) // nothing was made in the second that runs
	g.make(1011, 0, 100)
	g.make(1012, 0, 100)
	g.want(t, 1019, 280, 0.08, 0.2)
	g.want(t, 1025, 280, 0.2, 0.2)
	g.want(t, 1030, 280, 0, 0.2)
	g.make(1055, 0, 1)
	g.want(t, 1055, 281, 0, 0.2)
	g.make(1001, 0, 10) // the clock went back
	g.want(t, 1001, 291, 0, 0.2)
	g.want(t, 1010, 291, 0.01, 0.2)
}

// Tick 0 can be any tick of its second.
func TestOffset(t *testing.T) {
	g := new(generator)
	g.Init(Config{Shift: shift, Most: 99, PerSecond: 10, Offset: 7, Capacity: 1000}, 0)
	g.make(1, 0, 10)
	g.make(2, 0, 20)
	g.want(t, 2, 30, 0, 0.03)
	g.make(3, 0, 40)
	g.want(t, 12, 70, 0.03, 0.04)
	g.want(t, 13, 70, 0.04, 0.04)
}

// A tick counts to its end, even if callers have added to its last word. Words that are left out do not
// count, and neither does a change of the word that seals it.
func TestWhatCounts(t *testing.T) {
	g := newGenerator()
	g.make(5, 0, 130)
	g.want(t, 5, 100, 0, 0.1)
	g.make(6, 0, 1)
	g.want(t, 6, 101, 0, 0.101)

	g.Drop(100)
	g.word.Store(20<<shift + 99)
	g.Turn(6<<shift, 20<<shift+99, 100)
	g.want(t, 20, 101, 0, 0.101)
	g.make(21, 0, 2)
	g.want(t, 21, 103, 0, 0.101)

	g.Sealing()
	g.word.Store(1 << 63)
	g.want(t, 21, 103, 0, 0.101)
	g.Sealed(21<<shift + 1)
	g.want(t, 21, 103, 0, 0.101)
}

// A generator that no constructor has made has used nothing.
func TestZero(t *testing.T) {
	var g generator
	g.want(t, 7, 0, 0, 0)
}

// Exhausted ticks and steps of the clock count once, also if a late caller comes back to the tick before.
func TestOnce(t *testing.T) {
	g := newGenerator()
	for _, tick := range []uint64{7, 7, 8, 7, 8, 9, 8, 3, 3, 1 << 40} {
		g.Exhausted(tick)
		g.Behind(tick<<shift + 5)
	}
	g.Wait()
	if u := g.Read(9, g.word.Load); u.Exhausted != 5 || u.ClockSteps != 5 || u.Waits != 1 {
		t.Errorf("%+v", u)
	}
	if !g.KnowsBehind(1<<40<<shift) || g.KnowsBehind(3<<shift) {
		t.Error("the last step is not known, or another one is")
	}
}

// Readers never see a number fall, and the last number is exact.
func TestReaders(t *testing.T) {
	g := newGenerator()
	var made, ended atomic.Uint64
	var readers sync.WaitGroup
	for range 2 {
		readers.Go(func() {
			for last := uint64(0); ended.Load() == 0; {
				u := g.Read(0, g.word.Load)
				if most := made.Load(); u.IDs < last || u.IDs > most {
					t.Errorf("%d after %d, and at most %d were made", u.IDs, last, most)
				}
				last = u.IDs
			}
		})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for tick := uint64(1); tick < 20_000; tick++ {
		n := 1 + r.Uint64N(50)
		made.Add(n)
		g.make(tick, r.Uint64N(50), n)
	}
	ended.Store(1)
	readers.Wait()
	if u := g.Read(0, g.word.Load); u.IDs != made.Load() {
		t.Errorf("%d words, and %d were made", u.IDs, made.Load())
	}
}
