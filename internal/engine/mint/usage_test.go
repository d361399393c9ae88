package mint

import (
	"errors"
	"testing"

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
