package formats

import (
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// MakingFlags are the flags that say how to make IDs of some formats. A reader of the IDs need not
// know.
type MakingFlags struct {
	incrementBits, startBits, meta, sequenceMin, sequenceMax cli.Number

	reset bool
}

// AddTo adds the flags to cmd.
func (m *MakingFlags) AddTo(cmd *cobra.Command) {
	number(cmd, &m.incrementBits, "increment-bits", "random increment bits (ulidflake, default 8)")
	cmd.Flags().BoolVar(&m.reset, "reset", false, "begin each millisecond at 0 (snowflakesi)")
	cli.Group(cmd, groupTitle, "reset")
	number(cmd, &m.startBits, "start-bits", "random bits of the counter's start (scru160)")
	number(cmd, &m.meta, "meta", "metabyte, 0 to 255 (sno)")
	number(cmd, &m.sequenceMin, "sequence-min", "smallest sequence, without a lease (sno)")
	number(cmd, &m.sequenceMax, "sequence-max", "largest sequence, without a lease (sno)")
}

// Set sets how a recipe makes the IDs of a format that has the flags set, or returns an error of usage.
func (m *MakingFlags) Set(r *Recipe) error {
	r.Meta, r.IncrementBits, r.Reset = byte(m.meta.Value), m.incrementBits.Value, m.reset
	if m.incrementBits.Given { // the most bits are those of the randomness
		s, err := r.Format.Descriptor().Of(r.Settings)
		if err != nil {
			return err
		}
		if most := s.Fields[s.Sequence].Bits; m.incrementBits.Value < 1 || m.incrementBits.Value > most {
			return outside("increment-bits", m.incrementBits, 1, most)
		}
	}
	if m.meta.Value < 0 || m.meta.Value > math.MaxUint8 {
		return outside("meta", m.meta, 0, math.MaxUint8)
	}
	if m.startBits.Given {
		r.StartBits = &m.startBits.Value
	}
	return m.bounds(r)
}

// bounds sets the bounds of sno's sequence. In a snapshot, two zeros are the whole sequence.
func (m *MakingFlags) bounds(r *Recipe) error {
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
	case r.Leased && m.sequenceMin.Given:
		return cli.Usagef("--sequence-min: firn leases a partition with its whole sequence: leave out --sequence-min")
	case r.Leased:
		return cli.Usagef("--sequence-max: firn leases a partition with its whole sequence: leave out --sequence-max")
	case low < 0 || low > math.MaxUint16-least+1:
		return outside("sequence-min", m.sequenceMin, 0, math.MaxUint16-least+1)
	case high < low+least-1 || high > math.MaxUint16:
		return cli.BadFlag("sequence-max", strconv.Itoa(high), "is not in "+strconv.Itoa(low+least-1)+" to "+strconv.Itoa(math.MaxUint16)+": the sequence has at least "+strconv.Itoa(least)+" numbers")
	}
	r.SequenceMin, r.SequenceMax = uint16(low), uint16(high)
	return nil
}
