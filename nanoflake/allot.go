package nanoflake

import (
	"github.com/firn-id/firn/allot"
	"github.com/firn-id/firn/internal/mint"
)

// ForLease returns the generator as its lease sees it. It is for lease.Start: a program has no use
// for it.
func (g *Generator) ForLease() allot.Generator {
	return mint.Leased{Mint: &g.mint, Name: format, Widths: []int{timestampBits, generatorBits, sequenceBits},
		Workers: MaxGeneratorID + 1, Epoch: DefaultEpochMilli, Field: "GeneratorID", Shift: generatorShift}
}
