package sno

import (
	"fmt"
	"strconv"
	"time"

	"github.com/firn-id/firn/allot"
	"github.com/firn-id/firn/iderr"
)

// ForLease returns the generator as its lease sees it. It is for lease.Start: a program has no use
// for it.
func (g *Generator) ForLease() allot.Generator { return (*leased)(g) }

// leased is a generator as its lease sees it.
type leased Generator

// Pool implements [allot.Generator].
func (g *leased) Pool() (allot.Pool, error) {
	switch {
	case g.max == 0:
		return allot.Pool{}, fmt.Errorf("%s: %w", format, iderr.ErrNotReady)
	case !g.leased:
		return allot.Pool{}, iderr.NotLeased(format)
	}
	return allot.Pool{Name: format, Layout: allot.Layout{Format: format, Epoch: timeOf(0), Unit: TimeUnit,
		Widths: []int{39, 1, 8, 16, 16}, Workers: MaxPartition + 1}}, nil
}

// Now implements [allot.Generator].
func (g *leased) Now() time.Time { return g.clock.Now() }

// Allot implements [allot.Generator]. The part of the interval that lies before the end of those
// that were allotted is ignored on both settings of the tick-tock bit.
func (g *leased) Allot(partition int, from, until time.Time) error {
	if partition < 0 || partition > MaxPartition {
		return iderr.BadConfig(format, "Partition", partition, "in 0 to "+strconv.Itoa(MaxPartition))
	}
	if !g.leased {
		return iderr.NotLeased(format)
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

// Withdraw implements [allot.Generator].
func (g *leased) Withdraw() time.Time { return timeOf(g.fence.Withdraw()) }

// Refuse implements [allot.Generator].
func (g *leased) Refuse(why error) { g.fence.Refuse(why) }

// Seal implements [allot.Generator]. Callers of New, who see no error, get the zero ID.
func (g *leased) Seal(why error) time.Time { return timeOf(g.fence.Seal((*allotment)(g), why)) }

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
