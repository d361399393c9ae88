package formats

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/scru160"
	"github.com/firn-id/firn/snowflakesi"
	"github.com/firn-id/firn/ulidflake"
)

// Making says how to make IDs of some formats. A reader of the IDs need not know.
type Making struct {
	IncrementBits int                  // of the Ulid-Flakes; 0 means the default
	Sequence      snowflakesi.Sequence // where a millisecond starts
	Start         scru160.Start        // of the counter
	Meta          byte                 // of sno

	// SequenceMin and SequenceMax are the bounds of sno's sequence, for a generator without a lease. Zeros
	// mean the whole sequence.
	SequenceMin, SequenceMax uint16
}

// MakingFlags are the flags for a Making.
type MakingFlags struct {
	incrementBits, startBits, meta, sequenceMin, sequenceMax cli.Number

	reset bool
}

// AddTo adds the flags to cmd.
func (m *MakingFlags) AddTo(cmd *cobra.Command) {
	number(cmd, &m.incrementBits, "increment-bits", "bits of the random increment, 8 by default (ulidflake)")
	cmd.Flags().BoolVar(&m.reset, "reset", false, "begin the sequence at 0 in each millisecond (snowflakesi)")
	number(cmd, &m.startBits, "start-bits", "random bits of the counter's start (scru160)")
	number(cmd, &m.meta, "meta", "metabyte, 0 to 255 (sno)")
	number(cmd, &m.sequenceMin, "sequence-min", "smallest sequence, without a lease (sno)")
	number(cmd, &m.sequenceMax, "sequence-max", "largest sequence, without a lease (sno)")
}

// Making returns how to make IDs of a format that has the flags set, or an error of usage. leased says
// that a lease gives the worker.
func (m *MakingFlags) Making(f Format, leased bool) (Making, error) {
	made := Making{Meta: byte(m.meta.Value)}
	if most := incrementBits[f.name]; m.incrementBits.Given && (m.incrementBits.Value < 1 || m.incrementBits.Value > most) {
		return made, outside("increment-bits", m.incrementBits, 1, most)
	}
	if m.meta.Value < 0 || m.meta.Value > math.MaxUint8 {
		return made, outside("meta", m.meta, 0, math.MaxUint8)
	}
	made.IncrementBits = m.incrementBits.Value
	if m.reset {
		made.Sequence = snowflakesi.SequenceResets
	}
	if m.startBits.Given {
		made.Start = scru160.StartBits(m.startBits.Value)
	}
	return made, m.bounds(&made, leased)
}

// incrementBits are the most bits of an increment, which are those of the randomness.
var incrementBits = map[string]int{
	"ulidflake":          bits.Len(ulidflake.MaxRandomness),
	"ulidflake-scalable": bits.Len(ulidflake.MaxRandomness) - bits.Len(ulidflake.MaxScalability),
}

// bounds sets the bounds of sno's sequence. In a snapshot, two zeros are the whole sequence.
func (m *MakingFlags) bounds(made *Making, leased bool) error {
	const least = 4 // sequences
	low, high := 0, math.MaxUint16
	if m.sequenceMin.Given {
		low = m.sequenceMin.Value
	}
	if m.sequenceMax.Given {
		high = m.sequenceMax.Value
	}
	switch {
	case !m.sequenceMin.Given && !m.sequenceMax.Given:
		return nil
	case leased && m.sequenceMin.Given:
		return cli.Usagef("--sequence-min: firn leases a partition with its whole sequence: leave out --sequence-min")
	case leased:
		return cli.Usagef("--sequence-max: firn leases a partition with its whole sequence: leave out --sequence-max")
	case low < 0 || low > math.MaxUint16-least+1:
		return outside("sequence-min", m.sequenceMin, 0, math.MaxUint16-least+1)
	case high < low+least-1 || high > math.MaxUint16:
		return cli.BadFlag("sequence-max", strconv.Itoa(high), "is not in "+strconv.Itoa(low+least-1)+" to "+strconv.Itoa(math.MaxUint16)+": the sequence has at least "+strconv.Itoa(least)+" numbers")
	}
	made.SequenceMin, made.SequenceMax = uint16(low), uint16(high)
	return nil
}
