package mint

import (
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
)

// A mint has the worker of its configuration. A mint with a lease has the worker of the latest grant,
// before the first word, too.
func TestLatest(t *testing.T) {
	h := newHands(5)
	c := h.config()
	c.Worker = 7
	testkit.Same(t, h.mint(c).Latest(), 7)
	testkit.Same(t, new(Mint).Latest(), 0)

	c.Worker, c.Leased = 0, true
	m := h.mint(c)
	tick := func(n int64) time.Time { return time.UnixMilli(epoch + n) }
	want := func(when string, worker uint64) {
		t.Helper()
		if got := m.Latest(); got != worker {
			t.Errorf("%s: worker %d, want %d", when, got, worker)
		}
	}
	want("before the first grant", 0)
	m.Grant(70, tick(1), tick(6))
	want("after the first grant", 70)
	mustTry(t, m)
	want("after a word", 70)
	m.Grant(71, tick(6), tick(8))
	want("after another worker's grant", 71)
	m.Grant(72, tick(20), tick(30))
	want("after a grant that begins later", 72)
	m.Withdraw()
	want("after that grant was withdrawn", 71)
	m.Grant(72, tick(20), tick(30))
	h.set(25)
	mustTry(t, m)
	want("after that grant has begun", 72)
	m.Seal(nil)
	want("sealed", 72)
}

func TestEpoch(t *testing.T) {
	h := newHands(5)
	testkit.Same(t, h.mint(h.config()).Epoch(), time.UnixMilli(epoch).UTC())
	c := h.config()
	c.Micro, c.Epoch, c.Last = true, 1_000_000, 1<<60
	testkit.Same(t, h.mint(c).Epoch(), time.Unix(1, 0).UTC())
}
