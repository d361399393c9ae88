package sno_test

import (
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/firn-id/firn/internal/testing/testkit"
	"github.com/firn-id/firn/sno"
)

// epoch is the time of timestamp 0.
var epoch = time.Unix(sno.Epoch, 0).UTC()

// at returns the time at which a unit begins.
func at(unit int64) time.Time { return epoch.Add(time.Duration(unit) * sno.TimeUnit) }

// unit returns the time unit of an ID.
func unit(id sno.ID) int64 { return (id.Timestamp() - epoch.UnixNano()) / sno.TimeUnit }

// word returns the unit, tick-tock bit and sequence of an ID, which a generator must not repeat with another
// metabyte.
func word(id sno.ID) uint64 {
	return uint64(unit(id))<<17 | uint64(id.TickTock())<<16 | uint64(id.Sequence())
}

// hands is a clock that the test sets.
type hands struct{ ns atomic.Int64 }

func newHands(unit int64) *hands { h := new(hands); h.set(unit); return h }

func (h *hands) set(unit int64)      { h.ns.Store(at(unit).UnixNano()) }
func (h *hands) setTime(t time.Time) { h.ns.Store(t.UnixNano()) }
func (h *hands) read() time.Time     { return time.Unix(0, h.ns.Load()) }
func (h *hands) unit() int64         { return int64(h.read().Sub(epoch) / sno.TimeUnit) }
func (h *hands) generator(t testing.TB, s sno.GeneratorSnapshot) *sno.Generator {
	t.Helper()
	return newGenerator(t, sno.Config{Snapshot: &s, Clock: h.read})
}

func newGenerator(t testing.TB, c sno.Config) *sno.Generator {
	t.Helper()
	g := testkit.Must(sno.NewGeneratorWith(c))
	return g
}

// intoEpoch sleeps until unit 1000. A bubble of testing/synctest begins ten years before the epoch.
func intoEpoch() { time.Sleep(time.Until(at(1000))) }

// offsetClock is the clock of the bubble, plus an offset that the test sets.
type offsetClock struct{ offset atomic.Int64 }

func (c *offsetClock) now() time.Time { return time.Now().Add(time.Duration(c.offset.Load())) }

func mustTry(t testing.TB, g *sno.Generator) sno.ID {
	t.Helper()
	id := testkit.Must(g.TryNext(0))
	return id
}

func want(t testing.TB, id sno.ID, wantUnit int64, tickTock int, sequence uint16) {
	t.Helper()
	if unit(id) != wantUnit || id.TickTock() != tickTock || id.Sequence() != sequence {
		t.Fatalf("ID of unit %d, tick-tock %d, sequence %d; want %d, %d, %d",
			unit(id), id.TickTock(), id.Sequence(), wantUnit, tickTock, sequence)
	}
}

func wantBackwards(t testing.TB, err error, by time.Duration) {
	t.Helper()
	var back *sno.ClockError
	if !errors.As(err, &back) || !errors.Is(err, sno.ErrClockBackwards) || back.By != by || back.Format != "sno" {
		t.Fatalf("error is %v, want a clock %v behind", err, by)
	}
}
