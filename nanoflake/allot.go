package nanoflake

import (
	"time"

	"github.com/firn-id/firn/iderr"
)

// Allot lets a generator that was made with Config.Allotted mint in the whole
// milliseconds of [from, until) as the generator ID. Leases call it, again and again; a
// program need not. What was allotted before stays so, and a time before its end is left out:
// the IDs still only increase. It returns a *[ConfigError] for a generator ID out of range, or a
// generator that is not allotted its times.
func (g *Generator) Allot(generatorID int, from, until time.Time) error {
	if generatorID < 0 || generatorID > MaxGeneratorID {
		return badGeneratorID(generatorID)
	}
	if !g.allotted {
		return iderr.NotAllotted(format)
	}
	g.mint.Allot(uint64(generatorID)<<generatorShift, from, until)
	return nil
}

// Refuse sets the error that callers get where nothing is allotted, until more is. Without
// one, Next and Fill wait there, and TryNext returns [ErrFenced]. Before an interval that begins
// later, Next and Fill wait for up to Config.MaxBackward; an interval that begins later still is
// an *[EarlyError], as TryNext returns it before any.
func (g *Generator) Refuse(err error) { g.mint.Refuse(err) }

// Withdraw takes back what was allotted beyond a gap, if no ID of it was asked for, and returns
// the first time that is not allotted any more. Leases call it when those times turn out to be
// far ahead of the clock.
func (g *Generator) Withdraw() time.Time { return g.mint.Withdraw() }

// Seal ends the generator, for good: callers get an error that wraps err. It returns the first
// time from which on the generator has minted nothing.
func (g *Generator) Seal(err error) time.Time { return g.mint.Seal(err) }
