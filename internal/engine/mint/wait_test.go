package mint

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/testing/testkit"
)

// Each tick serves the queue in order, until the tick is exhausted.
func TestLineOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHands(1)
		m := h.mint(h.config())
		for range 4 {
			mustTry(t, m)
		}
		const callers = 11
		got := make([]uint64, callers)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				word, err := m.Next(t.Context())
				if err != nil {
					t.Error(err)
				}
				got[i] = word
			})
			synctest.Wait() // the caller stands in the queue; the first caller leads
		}
		for tick := int64(2); tick < 5; tick++ {
			testkit.Call(m.TryNext()).Fails(t, iderr.ErrExhausted)
			h.set(tick)
			time.Sleep(5 * time.Millisecond)
		}
		wg.Wait()
		for i, word := range got {
			if want := wordAt(uint(2+i/4), uint(i%4), 2); word != want {
				t.Errorf("caller %d got %#x, want %#x", i, word, want)
			}
		}
		if m.queue.Len() > 0 {
			t.Error("the queue is still there")
		}
	})
}

// Callers of TryNext arrive first at each new tick. The callers in the queue must be served all the
// same: each tick serves the first of them. The leader of the queue sleeps in the bubble's time, so
// only the test's calls of TryNext come between the start of a tick and the leader.
func TestLineIsServedBesideTryNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHands(1)
		c := h.config()
		c.Bits = 0 // one word a tick
		m := h.mint(c)
		mustTry(t, m)
		const callers = 100
		var all sync.WaitGroup
		defer all.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var served atomic.Int64
		for range callers {
			all.Go(func() {
				if _, err := m.Next(ctx); err == nil {
					served.Add(1)
				}
			})
		}
		synctest.Wait() // the callers stand in the queue
		taken := 0
		for tick := range int64(callers) {
			h.set(2 + tick)
			for range 3 {
				if _, err := m.TryNext(); err == nil {
					taken++
				}
			}
			time.Sleep(clock.Longest)
			synctest.Wait()
		}
		if n := served.Load(); n != callers || taken > 0 {
			t.Errorf("in %d ticks, %d callers in the queue were served, and %d callers of TryNext", callers, n, taken)
		}
	})
}

func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHands(1)
		m := h.mint(h.config())
		for range 4 {
			mustTry(t, m)
		}
		leader, stopLeader := context.WithCancel(t.Context())
		first, stopFirst := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer stopFirst()
		var wg sync.WaitGroup
		var got [3]error
		var word uint64
		for i, ctx := range []context.Context{leader, first, t.Context()} {
			wg.Go(func() {
				w, err := m.Next(ctx)
				got[i] = err
				if i == 2 {
					word = w
				}
			})
			synctest.Wait() // the caller stands in the queue
		}
		time.Sleep(10 * time.Millisecond)
		stopLeader() // the next in the queue leads
		time.Sleep(20 * time.Millisecond)
		testkit.Same(t, m.queue.Len(), 1)
		h.set(2) // the last caller is served
		wg.Wait()
		if !errors.Is(got[0], context.Canceled) || !errors.Is(got[1], context.DeadlineExceeded) || got[2] != nil {
			t.Errorf("errors are %v", got)
		}
		testkit.Same(t, word, wordAt(2, 0, 2))
	})
}

// In a bubble of testing/synctest only sleeps pass time. There, a wait takes exactly the rest of
// the tick.
func TestBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(Mint)
		m.Init(Config{Format: "test", Epoch: epoch, Last: 1 << 41, Bits: 2})
		time.Sleep(300 * time.Microsecond)
		start := time.Now()
		for range 4*10 + 1 {
			if _, err := m.Next(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		testkit.Same(t, time.Since(start), 9700*time.Microsecond)
	})
}

// In a bubble time stands still while a goroutine runs. Callers that spin on an exhausted tick get
// no word. The field has room for just as many callers. The next tick is not affected, also if the
// sequence continues from tick to tick.
func TestStandingTime(t *testing.T) {
	for _, continues := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const bits, field, callers = 2, 4, 12
			m := new(Mint)
			m.Init(Config{Format: "test", Epoch: epoch, Last: 1 << 41, Bits: bits, Field: field, Continue: continues})
			for range 3 {
				now := m.tickOf(time.Now())
				var made [callers]int
				var all sync.WaitGroup
				for i := range callers {
					all.Go(func() {
						for range 2000 {
							word, ok := m.Fast()
							if !ok {
								var err error
								if word, err = m.TryNext(); errors.Is(err, iderr.ErrExhausted) {
									continue
								} else if err != nil {
									t.Error(err)
									return
								}
							}
							if made[i]++; word>>field != now || word&m.mask >= m.limit {
								t.Errorf("%#x at %#x", word, now<<field)
								return
							}
						}
					})
				}
				all.Wait()
				sum := 0
				for _, n := range made {
					sum += n
				}
				if sum != 1<<bits {
					t.Errorf("%d words of tick %#x", sum, now)
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
}
