package snowflakesi

import (
	"fmt"

	"github.com/firn-id/firn/internal/engine/mint"
	"github.com/firn-id/firn/lease/grant"
)

// ForLease returns the methods that a lease calls. Pass the generator to lease.Start. A program
// calls ForLease only for the Pool, to create the pool by itself.
func (g *Generator) ForLease() grant.Grantee {
	clock, machine, sequence := g.layout.Widths()
	name, usual := format, DefaultLayout()
	if clock != usual.ClockBits || machine != usual.MachineBits {
		name = fmt.Sprintf("%s-%d-%d", format, clock, machine)
	}
	return mint.Leased{Mint: &g.mint, Name: name, Widths: []int{clock, machine, sequence}, Workers: g.layout.MaxMachineID() + 1,
		Epoch: DefaultEpochMilli, Field: "MachineID", Shift: g.layout.sequenceBits()}
}
