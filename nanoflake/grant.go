package nanoflake

import (
	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/lease/grant"
)

// ForLease returns the methods that a lease calls. Pass the generator to lease.Start. A program
// calls ForLease only for the Pool, to create the pool by itself.
func (g *Generator) ForLease() grant.Grantee {
	return mint.Leased{Mint: &g.mint, Name: format, Widths: []int{timestampBits, generatorBits, sequenceBits},
		Workers: MaxGeneratorID + 1, Epoch: DefaultEpochMilli, Field: "GeneratorID", Shift: generatorShift}
}
