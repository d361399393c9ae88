package sno

import (
	"fmt"
	"strconv"
	"time"

	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/internal/form/wrong"
	"github.com/firn-id/firn/lease/grant"
)

// ForLease returns the methods that a lease calls. Pass the generator to lease.Start. A program
// calls ForLease only for the Pool, to create the pool by itself.
func (g *Generator) ForLease() grant.Grantee { return (*leased)(g) }

// leased has the methods that a lease calls.
type leased Generator

// Pool implements [grant.Grantee].
func (g *leased) Pool() (grant.Spec, error) {
	switch {
	case g.max == 0:
		return grant.Spec{}, fmt.Errorf("%s: %w", format, iderr.ErrNotReady)
	case !g.leased:
		return grant.Spec{}, wrong.NotLeased(format)
	case g.fence.Sealed():
		return grant.Spec{}, g.fence.Err(format)
	}
	s := descriptor.Default()
	return grant.Spec{Name: s.Pool, Layout: s.Layout(format), ExpiresAt: (*Generator)(g).ExpiresAt()}, nil
}

// Now implements [grant.Grantee].
func (g *leased) Now() time.Time { return g.clock.Now() }

// Grant implements [grant.Grantee]. On both time lines, Grant ignores the part of the interval
// before the end of the latest grant.
func (g *leased) Grant(partition int, from, until time.Time) error {
	if partition < 0 || partition > MaxPartition {
		return wrong.Config(format, "Partition", partition, "in 0 to "+strconv.Itoa(MaxPartition))
	}
	if !g.leased {
		return wrong.NotLeased(format)
	}
	lo, _ := unitOf(from)
	if timeOf(lo).Before(from) { // also if from is after the last unit
		lo++
	}
	hi, ok := unitOf(until)
	if !ok && hi == MaxTimestamp {
		hi++
	}
	g.fence.Extend((*behindFence)(g), uint64(partition), max(lo, 1), hi)
	return nil
}

// Withdraw implements [grant.Grantee].
func (g *leased) Withdraw() time.Time { return timeOf(g.fence.Withdraw()) }

// Refuse implements [grant.Grantee].
func (g *leased) Refuse(why error) { g.fence.Refuse(why) }

// Delay implements [grant.Grantee].
func (g *leased) Delay(why error) { g.fence.Delay(why) }

// Seal implements [grant.Grantee]. Calls of New panic, for lack of an error.
func (g *leased) Seal(why error) time.Time { return timeOf(g.fence.Seal((*behindFence)(g), why)) }

// behindFence has the methods that the fence calls. Its times are time units.
type behindFence Generator

// PassTo skips the units before from, on both time lines.
func (a *behindFence) PassTo(from uint64) {
	a.mu.Lock() // the tick-tock bit does not change
	defer a.mu.Unlock()
	a.tally.Pass((from-1)<<unitShift|a.word.Last()&tickTock|a.max+1, a.word.Pass)
	a.safe = max(a.safe, from-1)
}

func (a *behindFence) RaiseTo(until uint64) { a.word.Raise(until << unitShift) }

func (a *behindFence) SealTick() uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tally.Sealing()
	last := a.word.Seal(sealMark)
	a.tally.Sealed(last)
	return max(unitIn(last), a.safe) + 1
}
