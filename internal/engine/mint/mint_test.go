package mint

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/engine/clock"
	"github.com/firn-id/firn/internal/engine/entropy"
	"github.com/firn-id/firn/internal/testing/testkit"
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
	word := testkit.Must(m.TryNext())
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
		testkit.Call(m.TryNext()).Fails(t, iderr.ErrExhausted)
	}
	h.set(9)
	testkit.Same(t, mustTry(t, m), wordAt(9, 0, 2))
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
	testkit.Same(t, mustTry(t, m), wordAt(10, 1, 2))
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
		wantBackwards(t, second(m.TryNext()), time.Duration(back)*time.Millisecond)
		wantBackwards(t, third(m.TryRun(3)), time.Duration(back)*time.Millisecond)
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
				testkit.Same(t, time.Since(start), time.Duration(c.back)*time.Millisecond)
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
			"TryNext": second(m.TryNext()), "Next": second(m.Next(t.Context())), "TryRun": third(m.TryRun(2)), "CheckNow": m.CheckNow(),
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
	testkit.Same(t, m.ExpiresAt().UnixMilli(), epoch+10)
}

func second[T any](_ T, err error) error { return err }

func third[T, U any](_ T, _ U, err error) error { return err }

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
	testkit.Same(t, m.word.Last(), last)
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
	testkit.Same(t, last, wordAt(1000, 0, 2))
	m.startAfresh(1000) // as a second caller does that saw the old word
	testkit.Same(t, m.word.Last(), last)
}

// ms returns the start of a tick, and a duration later.
func ms(tick int64, later time.Duration) time.Time {
	return time.UnixMilli(epoch + tick).Add(later)
}

func TestZeroMint(t *testing.T) {
	var m Mint
	for name, err := range map[string]error{"TryNext": second(m.TryNext()), "Next": second(m.Next(t.Context())), "TryRun": third(m.TryRun(2))} {
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
	if word, n, err = m.TryRun(100); word != wordAt(6, 3, 4) || n != 13 || err != nil {
		t.Fatalf("%#x, %d, %v", word, n, err)
	}
	if word, n, err = m.TryRun(3); word != 0 || n != 0 || !errors.Is(err, iderr.ErrExhausted) {
		t.Fatalf("%#x, %d, %v", word, n, err)
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
