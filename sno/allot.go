package sno

import (
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
)

// Allot lets a generator that was made with Config.Allotted mint with the partition in the
// whole time units of [from, until). Leases call it, again and again; a program need not.
// What was allotted before stays so, and a time before its end is left out, on both settings
// of the tick-tock bit. It returns a *[ConfigError] for a partition out of range, and for a
// generator that is not allotted its times.
func (g *Generator) Allot(partition int, from, until time.Time) error {
	if partition < 0 || partition > MaxPartition {
		return iderr.BadConfig(format, "Partition", partition, "in 0 to "+strconv.Itoa(MaxPartition))
	}
	if !g.allotted {
		return iderr.NotAllotted(format)
	}
	lo, _ := unitOf(from)
	if timeOf(lo).Before(from) { // also of a time that is past the last unit
		lo++
	}
	hi, ok := unitOf(until)
	if !ok && hi == MaxTimestamp {
		hi++
	}
	g.fence.Extend((*allotment)(g), uint64(partition), max(lo, 1), hi)
	return nil
}

// Refuse sets the error that callers get where nothing is allotted, until more is. Without
// one, Next and Fill wait there, and TryNext returns [ErrFenced]. Before an interval that begins
// later, Next and Fill wait for up to Config.MaxBackward; an interval that begins later still is
// an *[EarlyError], as TryNext returns it before any.
func (g *Generator) Refuse(err error) { g.fence.Refuse(err) }

// Withdraw takes back what was allotted beyond a gap, if no ID of it was asked for, and returns
// the first time that is not allotted any more. Leases call it when those times turn out to be
// far ahead of the clock.
func (g *Generator) Withdraw() time.Time { return timeOf(g.fence.Withdraw()) }

// Seal ends the generator, for good: callers get an error that wraps err, and those of New
// the zero ID. It returns the first time from which on the generator has minted nothing.
func (g *Generator) Seal(err error) time.Time {
	return timeOf(g.fence.Seal((*allotment)(g), err))
}

// allotment is the generator as its fence sees it, in time units.
type allotment Generator

// PassTo leaves the units before from out on both time lines.
func (a *allotment) PassTo(from uint64) {
	a.mu.Lock() // the tick-tock bit does not change
	defer a.mu.Unlock()
	a.word.Pass((from-1)<<unitShift | a.word.Last()&tickTock | a.max + 1)
	a.safe = max(a.safe, from-1)
}

func (a *allotment) RaiseTo(until uint64) { a.word.Raise(until << unitShift) }

func (a *allotment) SealTick() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return max(unitIn(a.word.Seal(sealMark)), a.safe) + 1
}
