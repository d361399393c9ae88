package mint

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

func TestGrant(t *testing.T) {
	h := newHands(5)
	c := h.config()
	c.Leased = true
	m := h.mint(c)
	wantFenced := func(what string, why error) {
		t.Helper()
		for name, err := range map[string]error{"TryNext": second(m.TryNext()), "Next": second(m.Next(t.Context())), "TryRun": third(m.TryRun(2))} {
			if !errors.Is(err, why) {
				t.Fatalf("%s: %s: %v, not %v", what, name, err, why)
			}
		}
	}
	wantFenced("nothing granted", iderr.ErrFenced)

	m.Grant(70, ms(4, 1), ms(6, 999_999)) // tick 5 is the only whole tick
	first := mustTry(t, m)
	if first != wordAt(5, 0, 2) || m.Worker(first) != 70 {
		t.Fatalf("first word %#x of worker %d", first, m.Worker(first))
	}
	h.set(4)
	wantBackwards(t, second(m.TryNext()), time.Millisecond)
	h.set(6)
	why := errors.New("why")
	m.Refuse(why)
	wantFenced("past the end", why)

	m.Grant(70, ms(6, 0), ms(7, 0)) // continues the ticks before
	if got := mustTry(t, m); got != wordAt(6, 0, 2) || m.Worker(got) != 70 {
		t.Fatalf("after a renewal: %#x of worker %d", got, m.Worker(got))
	}
	m.Grant(70, ms(20, 0), ms(22, 0)) // leaves a gap
	h.set(18)
	if err := second(m.TryNext()); !errors.Is(err, iderr.ErrFenced) || errors.Is(err, iderr.ErrClockBackwards) {
		t.Fatalf("before the ticks that were left out end: %v", err)
	}
	h.set(20)
	before := mustTry(t, m)
	m.Grant(71, ms(10, 0), ms(24, 0)) // another worker, from the end of the ticks before
	h.set(21)
	between := mustTry(t, m)
	h.set(22)
	after := mustTry(t, m)
	if between != wordAt(21, 0, 2) || after != wordAt(22, 0, 2) {
		t.Fatalf("words %#x and %#x", between, after)
	}
	for word, want := range map[uint64]uint64{first: 70, before: 70, between: 70, after: 71} {
		testkit.Same(t, m.Worker(word), want)
	}
	m.Grant(71, ms(10, 0), ms(24, 0)) // nothing new
	m.Grant(72, ms(10, 0), ms(23, 0))
	testkit.Same(t, m.Worker(after), 71)

	if got := m.Seal(why); !got.Equal(ms(23, 0)) {
		t.Fatalf("sealed after %v", got)
	}
	m.Grant(73, ms(30, 0), ms(40, 0))
	m.Refuse(iderr.ErrFenced)
	for _, tick := range []int64{22, 23, 30, 39, -5, 1 << 41} { // also times without a timestamp
		h.set(tick)
		wantFenced("sealed", why)
	}
	if got := m.Seal(iderr.ErrFenced); !got.Equal(ms(23, 0)) {
		t.Fatalf("sealed again: %v", got)
	}
}

// A caller of Next waits at the fence for more ticks or a refusal.
func TestNextWaitsAtTheFence(t *testing.T) {
	why := errors.New("why")
	for _, refused := range []bool{false, true} {
		h := newHands(5)
		c := h.config()
		c.Leased = true
		m := h.mint(c)
		m.Grant(1, ms(5, 0), ms(6, 0))
		h.set(6)
		testkit.Call(m.TryNext()).Fails(t, iderr.ErrFenced)
		got := make(chan error)
		var word uint64
		go func() {
			var err error
			word, err = m.Next(t.Context())
			got <- err
		}()
		wait.Until(t, "the caller stands in the queue", m.queue.Busy)
		// TryNext gets no word of the tick either.
		if err := second(m.TryNext()); !errors.Is(err, iderr.ErrFenced) || errors.Is(err, iderr.ErrExhausted) {
			t.Fatalf("beside a waiting caller: %v", err)
		}
		if refused {
			m.Refuse(why)
			if err := <-got; !errors.Is(err, why) {
				t.Fatal(err)
			}
		} else {
			m.Grant(1, ms(6, 0), ms(7, 0))
			if err := <-got; err != nil || word != wordAt(6, 0, 2) {
				t.Fatal(word, err)
			}
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := m.Next(ctx); refused && !errors.Is(err, why) {
			t.Fatal(err)
		}
	}
}

// A caller of Next waits for an interval that begins soon, as for a clock that is behind. Meanwhile
// TryNext returns that the tick is fenced.
func TestNextWaitsForTheInterval(t *testing.T) {
	for name, c := range map[string]struct {
		max   time.Duration
		ahead time.Duration
		waits bool
	}{
		"default, at its end": {0, 5 * time.Second, true},
		"default, beyond":     {0, 5001 * time.Millisecond, false},
		"beyond a second":     {time.Second, 1001 * time.Millisecond, false},
		"never":               {-1, 2 * time.Millisecond, false},
		"the next tick":       {-1, time.Millisecond, true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := new(Mint)
				m.Init(Config{Format: "test", Epoch: epoch, Last: 1 << 40, Bits: 2, MaxBackward: c.max, Leased: true})
				begins := time.Now().Add(c.ahead)
				m.Grant(1, begins, begins.Add(time.Second))
				fenced := func(err error) bool {
					return errors.Is(err, iderr.ErrFenced) && !errors.Is(err, iderr.ErrClockBackwards) && !errors.Is(err, iderr.ErrExhausted)
				}
				if !c.waits {
					if err := second(m.Next(t.Context())); !fenced(err) || time.Until(begins) != c.ahead {
						t.Fatalf("%v, %v before the interval", err, time.Until(begins))
					}
					return
				}
				got := make(chan error)
				go func() { got <- second(m.Next(t.Context())) }()
				synctest.Wait()
				if err := second(m.TryNext()); !fenced(err) {
					t.Errorf("beside a waiting caller: %v", err)
				}
				if err := <-got; err != nil || !time.Now().Equal(begins) {
					t.Fatalf("%v, %v after the interval began", err, time.Since(begins))
				}
			})
		})
	}
}

// Callers of Next wait for the first grant, however long it takes and whatever MaxBackward is. TryNext
// returns why there is no grant, and so does Next when its context ends.
func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(Mint)
		m.Init(Config{Format: "test", Epoch: epoch, Last: 1 << 40, Bits: 12, MaxBackward: -1, Leased: true})
		first, why := errors.New("first"), errors.New("why")
		m.Delay(first)
		impatient, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		begins := time.Now().Add(time.Hour)
		var all sync.WaitGroup
		for i := range 6 {
			all.Go(func() {
				ctx := t.Context()
				if i%2 > 0 {
					ctx = impatient
				}
				err, waited := second(m.Next(ctx)), time.Since(begins.Add(-time.Hour))
				switch {
				case i%2 == 0 && (err != nil || waited < time.Hour || waited > time.Hour+10*time.Millisecond):
					t.Errorf("a caller after %v: %v", waited, err)
				case i%2 > 0 && (!errors.Is(err, why) || !errors.Is(err, context.DeadlineExceeded) || waited > time.Minute+20*time.Millisecond):
					t.Errorf("a caller whose context ends, after %v: %v", waited, err)
				}
			})
		}
		testkit.Is(t, second(m.TryNext()), first, "TryNext")
		m.Delay(why)
		time.Sleep(30 * time.Minute)
		testkit.Is(t, second(m.TryNext()), why, "TryNext")
		time.Sleep(30 * time.Minute)
		m.Grant(1, begins, begins.Add(time.Second))
		all.Wait()

		end := errors.New("end")
		m = new(Mint)
		m.Init(Config{Format: "test", Epoch: epoch, Last: 1 << 40, Bits: 12, Leased: true})
		m.Delay(why)
		all.Go(func() { testkit.Is(t, second(m.Next(t.Context())), end, "sealed") })
		time.Sleep(time.Hour)
		m.Seal(end)
		all.Wait()
	})
}

// At the end of the last granted tick, the error is about the clock, not about the fence.
func TestEndOfTheLastTickGranted(t *testing.T) {
	h := newHands(5)
	c := h.config()
	c.Leased = true // without room above the sequence, the next word is at the fence
	m := h.mint(c)
	m.Grant(1, ms(4, 0), ms(6, 0))
	for range 4 {
		mustTry(t, m)
	}
	if err := second(m.TryNext()); !errors.Is(err, iderr.ErrExhausted) {
		t.Errorf("in the last tick: %v", err)
	}
	h.set(4)
	wantBackwards(t, second(m.TryNext()), time.Millisecond)
	h.set(6)
	if err := second(m.TryNext()); !errors.Is(err, iderr.ErrFenced) {
		t.Errorf("after the last tick: %v", err)
	}
}

// Callers mint as fast as they can while the fence rises tick by tick, workers change and the mint
// is sealed. Each word is of a granted tick and of the tick's worker. No word comes after the
// seal.
func TestGrantWhileMinting(t *testing.T) {
	h := newHands(1)
	c := h.config()
	c.Leased, c.Bits = true, 12
	m := h.mint(c)
	type minted struct{ word, worker uint64 }
	got := make([][]minted, 4)
	var count atomic.Int64
	var wg sync.WaitGroup
	for i := range got {
		wg.Go(func() {
			for {
				word, err := m.TryNext()
				switch {
				case err == nil:
					got[i] = append(got[i], minted{word, m.Worker(word)})
					count.Add(1)
				case errors.Is(err, errOver):
					return
				default:
					runtime.Gosched() // to callers with a word to take, and to the test
				}
			}
		})
	}
	owner := make(map[uint64]uint64)
	for tick := int64(1); tick < 400; tick += 2 {
		worker := uint64(tick / 20)
		m.Grant(worker, ms(tick, 0), ms(tick+1, 0)) // every other tick has no worker
		owner[uint64(tick)] = worker
		before := count.Load()
		h.set(tick)
		if runtime.Gosched(); tick%20 == 1 { // a busy machine may not run the callers
			wait.Until(t, "a word of the tick is minted", func() bool { return count.Load() > before })
		}
		h.set(tick + 1)
	}
	end := m.Seal(errOver)
	wg.Wait()
	for _, words := range got {
		for _, w := range words {
			tick := w.word >> c.Bits
			if worker, ok := owner[tick]; !ok || worker != w.worker {
				t.Fatalf("tick %d was minted by worker %d, and granted to %d (%t)", tick, w.worker, worker, ok)
			}
			if !ms(int64(tick), 0).Before(end) {
				t.Fatalf("tick %d was minted, and sealed from %v on", tick, end)
			}
		}
	}
}

var errOver = errors.New("over")

// The tick of a later interval does not begin before the clock reaches the tick. This holds even
// for a caller that is about to take the next word while another caller enters the interval.
func TestGrantedLater(t *testing.T) {
	set := func(time.Time) time.Time { return ms(5, 0) }
	clock.Set.Store(&set)
	defer clock.Set.Store(nil)
	tried := 0 // times that the tick lasted to the end of the try
	try := func() {
		m := new(Mint)
		m.Init(Config{Format: "test", Epoch: epoch, Last: 1 << 40, Bits: 2, Field: 10, Leased: true})
		m.Grant(1, ms(5, 0), ms(6, 0))
		mustTry(t, m)
		m.Grant(2, ms(20, 0), ms(30, 0))
		if word, err := m.TryNext(); err != nil || word>>m.bits != 5 {
			t.Fatalf("word %#x, %v: tick 5 is granted as before", word, err)
		}
		if _, again := m.fence.Enter((*behindFence)(m), 20); !again {
			t.Fatal("tick 20 is not entered")
		}
		word, ok := m.Fast()
		if ok {
			t.Fatalf("word %#x of tick %d", word, word>>m.bits)
		}
		if clock.Deadline(m.deadline.Load()).Ahead() {
			tried++
		}
	}
	wait.Until(t, "ticks last to the end of a try", func() bool {
		for range 100 {
			try()
		}
		return tried >= 100
	})
}
