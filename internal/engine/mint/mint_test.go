package mint

import (
	"context"
	"errors"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/testing/wait"
)

// epoch is the epoch of the tests. It is before 2000, when the bubbles of testing/synctest begin.
const epoch = 900_000_000_000

// hands is a clock for tests to set.
type hands struct{ ms atomic.Int64 }

func (h *hands) set(tick int64)       { h.ms.Store(epoch + tick) }
func (h *hands) read() time.Time      { return time.UnixMilli(h.ms.Load()) }
func wordAt(tick, seq, b uint) uint64 { return uint64(tick)<<b | uint64(seq) }
func newHands(tick int64) *hands      { h := new(hands); h.set(tick); return h }
func (h *hands) config() Config {
	return Config{Format: "test", Epoch: epoch, Last: 1 << 40, Bits: 2, Clock: h.read}
}
func (h *hands) mint(c Config) *Mint { m := new(Mint); m.Init(c); return m }

func mustTry(t *testing.T, m *Mint) uint64 {
	t.Helper()
	word, err := m.TryNext()
	if err != nil {
		t.Fatal(err)
	}
	return word
}

func wantBackwards(t *testing.T, err error, by time.Duration) {
	t.Helper()
	var back *iderr.ClockError
	if !errors.As(err, &back) || !errors.Is(err, iderr.ErrClockBackwards) || back.By != by {
		t.Fatalf("error is %v, want a clock %v behind", err, by)
	}
}

func TestTick(t *testing.T) {
	h := newHands(7)
	m := h.mint(h.config())
	for seq := range uint(4) {
		if got := mustTry(t, m); got != wordAt(7, seq, 2) {
			t.Fatalf("word %d of the tick is %#x", seq, got)
		}
	}
	for range 3 {
		if _, err := m.TryNext(); !errors.Is(err, iderr.ErrExhausted) {
			t.Fatalf("spent tick: %v", err)
		}
	}
	h.set(9)
	if got := mustTry(t, m); got != wordAt(9, 0, 2) {
		t.Fatalf("first word of tick 9 is %#x", got)
	}
}

func TestContinue(t *testing.T) {
	h := newHands(7)
	c := h.config()
	c.Continue = true
	m := h.mint(c)
	for tick, seq := range []uint{0, 1, 0, 1, 0} { // the lower half of 4 numbers
		h.set(7 + int64(tick))
		if got, want := mustTry(t, m), wordAt(7+uint(tick), seq, 2); got != want {
			t.Fatalf("tick %d begins with %#x, want %#x", 7+tick, got, want)
		}
	}
	for n, v := range []struct{ words, next uint }{{1, 1}, {1, 0}, {2, 0}, {3, 0}, {4, 0}} { // words of a tick, and the start of the next
		for range v.words - 1 {
			mustTry(t, m)
		}
		tick := uint(20 + n)
		h.set(int64(tick))
		if got, want := mustTry(t, m), wordAt(tick, v.next, 2); got != want {
			t.Fatalf("tick %d begins with %#x, want %#x", tick, got, want)
		}
	}
}

// A caller that was held up after its reading of the clock can find a word ahead of the reading.
// The clock did not go back then.
func TestStaleReading(t *testing.T) {
	h := newHands(10)
	m := h.mint(h.config())
	mustTry(t, m)
	readings := []int64{9, 10} // the first reading, and the reading that decides
	m.clock = clock.New(func() time.Time {
		tick := readings[0]
		readings = readings[1:]
		return time.UnixMilli(epoch + tick)
	})
	if got := mustTry(t, m); got != wordAt(10, 1, 2) {
		t.Fatalf("got %#x", got)
	}
	if len(readings) > 0 {
		t.Fatalf("%d readings were not taken", len(readings))
	}
}

func TestBackwards(t *testing.T) {
	h := newHands(100_000)
	m := h.mint(h.config())
	last := mustTry(t, m)
	for _, back := range []int64{1, 20, 5000, 90_000} {
		h.set(100_000 - back)
		_, err := m.TryNext()
		wantBackwards(t, err, time.Duration(back)*time.Millisecond)
	}
	_, err := m.Next(t.Context()) // Next does not wait for 90 s
	wantBackwards(t, err, 90*time.Second)
	if _, _, err = m.NextRun(t.Context(), 3); !errors.Is(err, iderr.ErrClockBackwards) {
		t.Fatal(err)
	}
	h.set(100_000)
	if got := mustTry(t, m); got != last+1 {
		t.Fatalf("with the clock back again: %#x after %#x", got, last)
	}
}

func TestNextWaitsForClock(t *testing.T) {
	for name, c := range map[string]struct {
		max   time.Duration
		back  int64
		waits bool
	}{
		"default, at its end": {0, 5000, true},
		"default, beyond":     {0, 5001, false},
		"a second":            {time.Second, 1000, true},
		"beyond a second":     {time.Second, 1001, false},
		"never":               {-1, 1, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var offset atomic.Int64
				h := newHands(0)
				config := h.config()
				config.Clock = func() time.Time { return time.Now().Add(time.Duration(offset.Load())) }
				config.MaxBackward = c.max
				m := h.mint(config)
				start := time.Now()
				last := mustTry(t, m)
				offset.Store(-c.back * int64(time.Millisecond))
				got, err := m.Next(t.Context())
				if !c.waits {
					wantBackwards(t, err, time.Duration(c.back)*time.Millisecond)
					return
				}
				if err != nil || got != last+1 {
					t.Fatalf("%#x, %v after %#x", got, err, last)
				}
				if waited := time.Since(start); waited != time.Duration(c.back)*time.Millisecond {
					t.Fatalf("waited %v", waited)
				}
			})
		})
	}
}

func TestTimeRange(t *testing.T) {
	h := newHands(5)
	c := h.config()
	c.Last = 9
	m := h.mint(c)
	for _, tick := range []int64{-1000, -1, 0, 10, 1000} {
		h.set(tick)
		for name, err := range map[string]error{
			"TryNext": second(m.TryNext()), "Next": second(m.Next(t.Context())), "CheckNow": m.CheckNow(),
		} {
			var out *iderr.TimeError
			if !errors.As(err, &out) || !errors.Is(err, iderr.ErrTimeRange) {
				t.Fatalf("%s at tick %d: %v", name, tick, err)
			}
			if first, last := out.First.UnixMilli(), out.Last.UnixMilli(); first != epoch+1 || last != epoch+9 {
				t.Errorf("range is %d to %d", first, last)
			}
		}
	}
	for _, tick := range []int64{1, 9} {
		h.set(tick)
		mustTry(t, m)
	}
	if got := m.ExpiresAt().UnixMilli(); got != epoch+10 {
		t.Errorf("expires at %d", got)
	}
}

func second[T any](_ T, err error) error { return err }

func TestHold(t *testing.T) {
	h := newHands(10_000)
	c := h.config()
	c.Hold = true
	m := h.mint(c)
	last := mustTry(t, m)
	h.set(5000)
	for range 3 {
		if got := mustTry(t, m); got != last+1 {
			t.Fatalf("%#x after %#x", got, last)
		}
		last++
	}
	_, err := m.TryNext() // the held tick is exhausted
	wantBackwards(t, err, 5*time.Second)

	h.set(10_001)
	last = mustTry(t, m)
	h.set(5000)
	_, err = m.TryNext()
	wantBackwards(t, err, 5001*time.Millisecond)
	if got := m.word.Last(); got != last {
		t.Fatalf("a refusal moved the word to %#x", got)
	}
}

// If the clock is behind a held tick with sequence left, nobody waits, and TryNext does not refuse.
func TestHoldBesideNext(t *testing.T) {
	h := newHands(10)
	c := h.config()
	c.Bits, c.Hold = 20, true
	m := h.mint(c)
	mustTry(t, m)
	h.set(9)
	const calls = 100_000
	var wg sync.WaitGroup
	wg.Go(func() {
		for range calls {
			if _, err := m.Next(t.Context()); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range calls {
		if _, err := m.TryNext(); err != nil {
			t.Error(err)
			break
		}
	}
	wg.Wait()
}

func TestRewind(t *testing.T) {
	h := newHands(10_000)
	c := h.config()
	c.Hold, c.Rewind = true, true
	m := h.mint(c)
	last := mustTry(t, m)
	h.set(6000)
	if got := mustTry(t, m); got != last+1 {
		t.Fatalf("4 s behind: %#x after %#x", got, last)
	}
	h.set(1000)
	last = mustTry(t, m)
	if last != wordAt(1000, 0, 2) {
		t.Fatalf("9 s behind: %#x", last)
	}
	m.startAfresh(1000) // as a second caller does that saw the old word
	if got := m.word.Last(); got != last {
		t.Fatalf("a word issued after starting afresh was forgotten: %#x", got)
	}
}

// ms returns the start of a tick, and a duration later.
func ms(tick int64, later time.Duration) time.Time {
	return time.UnixMilli(epoch + tick).Add(later)
}

func TestGrant(t *testing.T) {
	h := newHands(5)
	c := h.config()
	c.Leased = true
	m := h.mint(c)
	wantFenced := func(what string, why error) {
		t.Helper()
		for name, err := range map[string]error{"TryNext": second(m.TryNext()), "Next": second(m.Next(t.Context()))} {
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
		if got := m.Worker(word); got != want {
			t.Fatalf("word %#x is of worker %d, not %d", word, got, want)
		}
	}
	m.Grant(71, ms(10, 0), ms(24, 0)) // nothing new
	m.Grant(72, ms(10, 0), ms(23, 0))
	if m.Worker(after) != 71 {
		t.Fatal("a worker was changed by times that had passed")
	}

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
		if _, err := m.TryNext(); !errors.Is(err, iderr.ErrFenced) {
			t.Fatal(err)
		}
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
			t.Fatalf("beside a caller who waits: %v", err)
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
					t.Errorf("beside a caller who waits: %v", err)
				}
				if err := <-got; err != nil || !time.Now().Equal(begins) {
					t.Fatalf("%v, %v after the interval began", err, time.Since(begins))
				}
			})
		})
	}
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
					runtime.Gosched() // to those who have a word to take, and to the test
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

func TestZeroMint(t *testing.T) {
	var m Mint
	for name, err := range map[string]error{"TryNext": second(m.TryNext()), "Next": second(m.Next(t.Context()))} {
		if !errors.Is(err, iderr.ErrNotReady) {
			t.Fatalf("%s: %v", name, err)
		}
	}
}

func TestDraw(t *testing.T) {
	h := newHands(0)
	c := h.config()
	c.Bits, c.Field, c.StepBits, c.Rand = 15, 20, 3, new(entropy.Source)
	m := h.mint(c)
	starts, steps := map[uint64]int{}, map[uint64]int{}
	const ticks, per = 4000, 8
	drawn := 0
	for now := range int64(ticks) {
		h.set(now + 1)
		last := mustTry(t, m)
		start := last & (1<<20 - 1)
		if start >= 1<<15 {
			t.Fatalf("start %#x has more than 15 bits", start)
		}
		starts[start>>12]++
		for range per {
			next, err := m.TryNext()
			if errors.Is(err, iderr.ErrExhausted) && last&(1<<20-1)+7 >= 1<<15 {
				break // a step can pass the top
			}
			if err != nil {
				t.Fatal(err)
			}
			drawn++
			steps[next-last]++
			last = next
		}
	}
	// Eight classes of starts and seven steps are equally likely. With 6 standard deviations, one
	// test in 10^8 fails by chance.
	uniform(t, "start", starts, 8, ticks)
	uniform(t, "step", steps, 7, drawn)
	if steps[0] > 0 {
		t.Error("a step of 0")
	}
}

func uniform(t *testing.T, what string, count map[uint64]int, classes, total int) {
	t.Helper()
	if len(count) != classes {
		t.Errorf("%s: %d classes, want %d", what, len(count), classes)
	}
	want := float64(total) / float64(classes)
	for class, n := range count {
		if d := float64(n) - want; d*d > 36*want {
			t.Errorf("%s %d occurs %d times, want about %.0f", what, class, n, want)
		}
	}
}

func TestRun(t *testing.T) {
	h := newHands(5)
	c := h.config()
	c.Bits = 4
	m := h.mint(c)
	mustTry(t, m)
	word, n, err := m.NextRun(t.Context(), 100)
	if word != wordAt(5, 1, 4) || n != 15 || err != nil {
		t.Fatalf("%#x, %d, %v", word, n, err)
	}
	h.set(6)
	if word, n, err = m.NextRun(t.Context(), 3); word != wordAt(6, 0, 4) || n != 3 || err != nil {
		t.Fatalf("%#x, %d, %v", word, n, err)
	}
}

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
			if _, err := m.TryNext(); !errors.Is(err, iderr.ErrExhausted) {
				t.Fatalf("a caller who does not stand in the queue: %v", err)
			}
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

// Of few words, each of many callers gets its share. In a bubble, all callers are back in the queue
// before the next tick begins, however busy the machine is. Only the words of the first tick go to
// any callers, since nobody stands in the queue yet.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := new(Mint)
		m.Init(Config{Format: "test", Epoch: epoch, Last: 1 << 41, Bits: 2})
		const callers, total, first = 64, 64 * 40, 1 << 2
		var left atomic.Int64
		left.Store(total)
		share := make([]int, callers)
		var wg sync.WaitGroup
		for i := range callers {
			wg.Go(func() {
				for left.Add(-1) >= 0 {
					if _, err := m.Next(context.Background()); err != nil {
						t.Error(err)
					}
					share[i]++
				}
			})
		}
		wg.Wait()
		for i, n := range share {
			if n < 40-first || n > 40+first {
				t.Errorf("caller %d got %d of %d words, a fair share is 40", i, n, total)
			}
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
		if n := m.queue.Len(); n != 1 {
			t.Errorf("%d in the queue", n)
		}
		h.set(2) // the last caller is served
		wg.Wait()
		if !errors.Is(got[0], context.Canceled) || !errors.Is(got[1], context.DeadlineExceeded) || got[2] != nil {
			t.Errorf("errors are %v", got)
		}
		if word != wordAt(2, 0, 2) {
			t.Errorf("word is %#x", word)
		}
	})
}

// A caller in the queue whose context ends returns, and the leader stays.
func TestFollowerContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHands(1)
		m := h.mint(h.config())
		for range 4 {
			mustTry(t, m)
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			if _, err := m.Next(t.Context()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		var ended atomic.Int64
		for i := range 5 {
			wg.Go(func() {
				ctx, stop := context.WithTimeout(t.Context(), time.Duration(10*(i+1))*time.Millisecond)
				defer stop()
				if _, err := m.Next(ctx); errors.Is(err, context.DeadlineExceeded) {
					ended.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(35 * time.Millisecond)
		if n := m.queue.Len(); n != 3 || ended.Load() != 3 {
			t.Errorf("%d in the queue, %d ended", n, ended.Load())
		}
		h.set(2)
		wg.Wait()
		if ended.Load() != 3 {
			t.Errorf("%d ended", ended.Load())
		}
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
		if took := time.Since(start); took != 9700*time.Microsecond {
			t.Errorf("took %v", took)
		}
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

// A word is of the tick of the call, whether the mint reads the clock or uses a deadline.
func TestWordsAreOfTheirTime(t *testing.T) {
	for name, c := range map[string]Config{
		"added":   {Bits: 12, Field: 22},
		"swapped": {Bits: 20},
		"started": {Bits: 15, Field: 20, StartBits: 15, Rand: new(entropy.Source)},
		"stepped": {Bits: 20, StepBits: 3, Rand: new(entropy.Source)},
		"micro":   {Bits: 6, Micro: true},
	} {
		c.Format, c.Last = "test", math.MaxInt64>>max(c.Bits, c.Field)
		m := new(Mint)
		m.Init(c)
		fast := 0 // words that came the fast way
		ticks := make(map[uint64]bool)
		try := func() {
			before := m.tickOf(time.Now())
			var words []uint64
			if word, ok := m.Fast(); ok {
				words = append(words, word)
				fast++
			}
			if word, err := m.TryNext(); err == nil {
				words = append(words, word)
			}
			if word, _, err := m.NextRun(t.Context(), 3); err == nil {
				words = append(words, word)
			}
			after := m.tickOf(time.Now())
			for _, word := range words {
				at := word >> m.bits
				if at < before || at > after {
					t.Fatalf("%s: a word of tick %d between ticks %d and %d", name, at, before, after)
				}
				ticks[at] = true
			}
		}
		wait.Until(t, "words of many ticks come, and come the fast way: "+name, func() bool {
			for range 1000 {
				try()
			}
			return len(ticks) >= 50 && (fast >= 1000 || c.Micro)
		})
	}
}

// After the clock is set, the mint follows the clock from the next tick of the counters on.
func TestClockIsSet(t *testing.T) {
	var by atomic.Int64
	set := func(t time.Time) time.Time { return t.Add(time.Duration(by.Load())) }
	clock.Set.Store(&set)
	defer clock.Set.Store(nil)
	m := new(Mint)
	m.Init(Config{Format: "test", Last: 1 << 41, Bits: 12, Field: 22})
	// next issues a word as formats do. noticed reports whether the tick was over by the counters
	// before the call. The mint then must follow the clock.
	next := func() (word uint64, noticed bool, err error) {
		noticed = !clock.Deadline(m.deadline.Load()).Ahead()
		word, ok := m.Fast()
		if !ok {
			word, err = m.TryNext()
		}
		return word, noticed, err
	}
	for range 20 {
		by.Add(int64(time.Hour))
		set := m.tickOf(time.Now().Add(time.Duration(by.Load())))
		wait.Until(t, "a clock that was set forward is followed", func() bool {
			word, noticed, err := next()
			switch {
			case errors.Is(err, iderr.ErrExhausted):
				return false
			case err != nil:
				t.Fatal(err)
			case noticed && word>>m.bits < set:
				t.Fatalf("a word of tick %d after the clock was set to %d", word>>m.bits, set)
			}
			return word>>m.bits >= set
		})
	}
	by.Add(-int64(time.Hour))
	wait.Until(t, "it is noticed that the clock was set back", func() bool {
		_, noticed, err := next()
		if noticed && !errors.Is(err, iderr.ErrClockBackwards) {
			t.Fatalf("after the clock was set back: %v", err)
		}
		return err != nil
	})
}

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
