package clock

import (
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/internal/testing/wait"
)

func TestAfter(t *testing.T) {
	const d Deadline = 1 << 40
	for _, c := range []struct {
		count uint64
		want  bool
	}{
		{1<<40 - 1, true}, {1<<40 - maxAhead, true}, {1<<40 - maxAhead - 1, false}, // further off than any tick
		{1 << 40, false}, {1<<40 + 1, false}, {1 << 50, false}, {math.MaxUint64, false},
		{0, false}, {1000, false}, // a counter that has started again
	} {
		testkit.Same(t, d.after(c.count), c.want)
	}
	if Deadline(0).Ahead() || Deadline(bySystem).Ahead() {
		t.Error("a moment of the past is ahead")
	}
	if _, m := New(time.Now).Mark(); m.In(time.Hour).Ahead() {
		t.Error("a deadline by a clock that has no counter")
	}
}

// A deadline that is ahead after a reading of the clock is later than the reading. A deadline is
// ahead for most of its time. Both counters are tried.
//
// The test counts the deadlines of each counter that it has followed to the end: the deadline was
// ahead in the last hundredth of its time. A busy machine stops the test between two looks, and
// then the deadline does not count.
func TestDeadlinesComeEarly(t *testing.T) {
	var c Clock
	random := rand.New(rand.NewPCG(1, 1))
	followed := map[Deadline]int{} // by bySystem
	follow := func() {
		left := time.Duration(random.Int64N(int64(time.Millisecond)))
		from, m := c.Mark()
		if random.IntN(2) == 0 {
			m.cycles = 0
		}
		d := m.In(left)
		toTheEnd := false
		for {
			now := time.Now()
			if !d.Ahead() {
				break
			}
			late := now.Sub(from) - left
			if late >= 0 {
				t.Fatalf("a deadline after %v is ahead %v after that (%d)", left, late, d&bySystem)
			}
			toTheEnd = late > -left/100
		}
		if toTheEnd {
			followed[d&bySystem]++
		}
	}
	wait.Until(t, "deadlines of both counters were followed to the end", func() bool {
		for range 20 {
			follow()
		}
		const enough = 200
		return followed[bySystem] >= enough && (!haveCycles || !trusted() || followed[0] >= enough)
	})
}

// The counters are read before the clock. Otherwise the mark of a caller that is held up in between
// is later than the reading.
func TestMarkIsNotLater(t *testing.T) {
	wait.Until(t, "the mark is before the reading", func() bool {
		now, m := Clock{}.Mark()
		return m.system < now.Sub(start)
	})
}

// In a bubble, deadlines pass with the bubble's time.
func TestDeadlineInBubble(t *testing.T) {
	var c Clock
	wait.Until(t, "the pace is known outside", func() bool {
		c.Mark()
		return !haveCycles || !trusted() || processor.rate.Load() != 0
	})
	synctest.Test(t, func(t *testing.T) {
		for range 100 {
			_, m := c.Mark()
			d := m.In(time.Millisecond)
			if !d.Ahead() {
				t.Fatal("not ahead")
			}
			time.Sleep(time.Millisecond - 2*time.Nanosecond)
			if !d.Ahead() {
				t.Fatal("not ahead to the end")
			}
			time.Sleep(2 * time.Nanosecond)
			if d.Ahead() {
				t.Fatal("ahead after the end")
			}
			time.Sleep(time.Hour)
		}
	})
}

// A machine has a simulated counter and clock.
type machine struct {
	pace   pace
	cycles float64
	clock  time.Duration
	speed  float64 // cycles in a nanosecond of the clock
	trust  bool
}

func (m *machine) run(d time.Duration) {
	m.clock += d
	m.cycles += float64(d) * m.speed
}

// look compares the counters, as a caller does that is held up for a while between the readings.
func (m *machine) look(held time.Duration) {
	if m.clock < time.Duration(m.pace.due.Load()) {
		return
	}
	before := uint64(m.cycles)
	now := m.clock + held/3
	m.run(held)
	m.pace.look(before, now, uint64(m.cycles), func() bool { return m.trust })
}

// late returns how much too late a deadline after d comes; negative if the deadline comes early.
func (m *machine) late(d time.Duration) time.Duration {
	rate := float64(m.pace.rate.Load()) / (1 << rateShift)
	return time.Duration(float64(d)*rate/m.speed) - d
}

func newMachine() *machine {
	return &machine{cycles: 1e12, clock: time.Second, speed: 2.6, trust: true}
}

func (m *machine) wantUsed(t *testing.T, what string, want bool) {
	t.Helper()
	if got := m.pace.rate.Load() != 0; got != want {
		t.Errorf("%s: the counter is used: %t", what, got)
	}
}

func TestPace(t *testing.T) {
	m := newMachine()
	m.look(100)
	m.wantUsed(t, "after one look", false)
	m.run(2 * lookEvery)
	m.look(100)
	m.wantUsed(t, "after two", true)
	if late := m.late(time.Millisecond); late > -time.Microsecond || late < -6*time.Microsecond {
		t.Errorf("a deadline after 1ms comes %v late", late)
	}
	random := rand.New(rand.NewPCG(3, 3))
	for range 10_000 { // slewed as far as systems do; some callers are held up
		m.speed = 2.6 * (1 + (random.Float64()-0.5)/1000)
		m.run(lookEvery + time.Duration(random.Int64N(int64(lookEvery))))
		held := time.Duration(100)
		if random.IntN(5) == 0 {
			held = time.Duration(random.Int64N(int64(3 * time.Millisecond)))
		}
		m.look(held)
		m.wantUsed(t, "slewed", true)
		m.speed = 2.6 * (1 + (random.Float64()-0.5)/1000)
		if late := m.late(4 * time.Millisecond); late >= 0 || late < -30*time.Microsecond {
			t.Fatalf("slewed: a deadline after 4ms comes %v late", late)
		}
	}
}

func TestPaceIsNotTrustedForEver(t *testing.T) {
	ready := func() *machine {
		m := newMachine()
		for range 3 {
			m.look(100)
			m.run(lookEvery)
		}
		return m
	}
	for what, happens := range map[string]func(*machine){
		"another host":               func(m *machine) { m.speed = 2.1 },
		"a clock that runs faster":   func(m *machine) { m.speed *= 0.9 },
		"a counter that stood still": func(m *machine) { m.clock += time.Minute },
		"a counter that began again": func(m *machine) { m.cycles = 5 },
		"a counter that went on":     func(m *machine) { m.cycles += 1e11 },
		"a long rest":                func(m *machine) { m.run(2 * time.Hour) },
	} {
		m := ready()
		m.wantUsed(t, what+", before", true)
		happens(m)
		m.run(lookEvery)
		m.look(100)
		m.wantUsed(t, what, false)
		for range 3 {
			m.run(lookEvery)
			m.look(100)
		}
		m.wantUsed(t, what+", after a while", true)
		if late := m.late(time.Millisecond); late >= 0 {
			t.Errorf("%s: a deadline comes %v late", what, late)
		}
	}

	m := ready()
	m.trust = false
	m.run(confirmEvery)
	m.look(100)
	m.wantUsed(t, "the system does not trust it", false)
	m.run(confirmEvery)
	m.look(100)
	m.wantUsed(t, "the system still does not", false)
	m.trust = true
	for range 2 {
		m.run(confirmEvery)
		m.look(100)
	}
	m.wantUsed(t, "the system does again", true)

	m = newMachine()
	m.speed = 1e6 // nonsense
	for range 4 {
		m.look(0)
		m.run(lookEvery)
	}
	if rate := m.pace.rate.Load(); rate > 1<<40 {
		t.Errorf("a rate of %d", rate)
	}
}
