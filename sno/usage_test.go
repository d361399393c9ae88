package sno_test

import (
	"errors"
	"testing"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
	"github.com/firn-id/firn/usage"
)

// Usage counts the IDs of both time lines, from a snapshot on. A second has 250 units of 4 IDs here.
func TestUsage(t *testing.T) {
	h := newHands(1000)
	g := h.generator(t, sno.GeneratorSnapshot{SequenceMin: 5, SequenceMax: 8, WallHi: 1000, Now: 1000, Sequence: 6})
	wantUsage := func(want usage.Usage) {
		t.Helper()
		testkit.Same(t, g.Usage(), want)
	}
	wantUsage(usage.Usage{})
	mustTry(t, g)
	mustTry(t, g)
	for range 3 {
		_, err := g.TryNext(0)
		testkit.Is(t, err, sno.ErrExhausted, "an exhausted unit")
	}
	wantUsage(usage.Usage{IDs: 2, Worst: 2. / 1000, Exhausted: 1})
	h.set(1251)
	wantUsage(usage.Usage{IDs: 2, Second: 2. / 1000, Worst: 2. / 1000, Exhausted: 1})
	for range 3 {
		mustTry(t, g)
	}
	h.set(1240) // the clock goes back, to the other time line
	mustTry(t, g)
	wantUsage(usage.Usage{IDs: 6, Worst: 3. / 1000, Exhausted: 1, ClockSteps: 1})
	h.set(1230) // and into a time of both
	for range 3 {
		_, err := g.TryNext(0)
		testkit.Is(t, err, sno.ErrClockBackwards, "a time of both lines")
	}
	g.NewWithTime(0, at(1300)) // is no ID of the generator's own
	wantUsage(usage.Usage{IDs: 6, Worst: 3. / 1000, Exhausted: 1, ClockSteps: 2})

	testkit.Same(t, new(sno.Generator).Usage(), usage.Usage{})
}

// A gap between the grants of a lease counts as unused, and the end of a lease changes nothing.
func TestUsageOfLease(t *testing.T) {
	h := newHands(1000)
	g := newGenerator(t, sno.Config{Leased: true, Clock: h.read})
	l := g.ForLease()
	testkit.OK(t, l.Grant(1, at(1000), at(1010)))
	mustTry(t, g)
	testkit.OK(t, l.Grant(2, at(1020), at(1030)))
	h.set(1020)
	mustTry(t, g)
	testkit.Same(t, g.Usage().IDs, 2)
	l.Seal(errors.New("the end"))
	testkit.Same(t, g.Usage().IDs, 2)
}
