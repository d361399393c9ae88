package scru160

import (
	"fmt"
	"math/bits"

	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/lease/grant"
)

// ForLease returns the methods that a lease calls. Pass the generator to lease.Start. A program
// calls ForLease only for the Pool, to create the pool by itself.
func (g *Generator) ForLease() grant.Grantee {
	name, field := format, ""
	if g.extra != 0 || g.nodeBits != 0 {
		name = fmt.Sprintf("%s-%d-%d", format, g.extra, g.nodeBits)
	}
	if g.perUnit > 1 {
		name += "-us"
	}
	if g.nodeBits != 0 {
		field = "NodeID"
	}
	return mint.Leased{Mint: &g.mint, Name: name, Widths: []int{48, counterBits + int(g.extra), int(g.nodeBits)}, Workers: 1 << g.nodeBits,
		Field: field, Shift: uint(bits.Len32(g.noise) - random16Bits)}
}
