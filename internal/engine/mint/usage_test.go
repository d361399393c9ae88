package mint

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

// A word that a caller takes while the mint is being sealed does not count: the caller gets an error.
func TestSealedWordsDoNotCount(t *testing.T) {
	took := func() bool {
		m := new(Mint)
		m.Init(Config{Format: "test", Epoch: epoch, Last: 1 << 40, Bits: 12, Field: 22, Leased: true})
		m.Grant(1, ms(1, 0), m.clock.Now().AddDate(1, 0, 0))
		last := mustTry(t, m)
		m.word.Seal(0) // takes the fence down, as the first step of Seal
		if _, ok := m.Fast(); ok {
			t.Fatal("a word beyond the fence")
		}
		took := m.word.Last() != last
		m.Seal(errors.New("the end"))
		testkit.Same(t, m.Usage().IDs, 1)
		return took
	}
	wait.Until(t, "a call within the tick takes a word", took)
}

// A tick that random steps end early counts what callers have, also for a reader at that moment. A word
// that a caller drops counts until then.
func TestStepsThatEndATick(t *testing.T) {
	h := newHands(5)
	c := h.config()
	c.Bits, c.StepBits, c.Rand = 19, 17, new(entropy.Source)
	m := h.mint(c)
	var over atomic.Bool
	var reader sync.WaitGroup
	reader.Go(func() {
		for !over.Load() {
			m.Usage()
		}
	})
	made := uint64(0)
	for tick := int64(5); tick < 30_000; tick++ {
		h.set(tick)
		for testkit.Err(m.TryNext()) == nil {
			made++
		}
		if got := m.Usage().IDs; got < made || got > made+1 {
			t.Fatalf("%d words, and the caller has %d", got, made)
		}
	}
	over.Store(true)
	reader.Wait()
}

// A word that is past the ticks to leave out leaves out nothing.
func TestNothingToPass(t *testing.T) {
	h := newHands(5)
	m := h.mint(h.config())
	mustTry(t, m)
	(*behindFence)(m).PassTo(4)
	testkit.Same(t, m.Usage().IDs, 1)
	(*behindFence)(m).PassTo(9)
	testkit.Same(t, m.Usage().IDs, 1)
	h.set(9)
	mustTry(t, m)
	testkit.Same(t, m.Usage().IDs, 2)
}
