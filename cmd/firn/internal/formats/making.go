package formats

import (
	"math"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/internal/shape"
)

// MakingFlags are the flags that say how to make IDs of some formats. A reader of the IDs need not
// know.
type MakingFlags struct {
	Fenced bool // --fenced, of a command that leases

	incrementBits, startBits, meta, sequenceMin, sequenceMax cli.Number

	reset bool
}

// AddTo adds the flags to cmd.
func (m *MakingFlags) AddTo(cmd *cobra.Command) {
	number(cmd, &m.incrementBits, "increment-bits", "random increment bits (ulidflake, default 8)")
	cmd.Flags().BoolVar(&m.reset, "reset", false, "begin each millisecond at 0 (snowflakesi)")
	cli.Group(cmd, groupTitle, "reset")
	number(cmd, &m.startBits, "start-bits", "random bits of the counter's start (scru160)")
	AddMeta(cmd, &m.meta)
	number(cmd, &m.sequenceMin, "sequence-min", "smallest sequence, without a lease (sno)")
	number(cmd, &m.sequenceMax, "sequence-max", "largest sequence, without a lease (sno)")
}

// AddMeta adds --meta to cmd.
func AddMeta(cmd *cobra.Command, meta *cli.Number) {
	number(cmd, meta, "meta", "metabyte, 0 to 255 (sno)")
}

// Recipe returns how to make the IDs of a format, for the flags of o and m, or an error of usage.
func (m *MakingFlags) Recipe(o *Options, f Format) (r shape.Recipe, err error) {
	if err := o.Refuse(f); err != nil {
		return r, err
	}
	s := o.set()
	s.Reset, s.Fenced = m.reset, m.Fenced
	give(s, map[string]cli.Number{"increment-bits": m.incrementBits, "start-bits": m.startBits, "meta": m.meta})
	if r, err = s.Recipe(f.Descriptor()); err != nil {
		return r, o.wrong(err)
	}
	return r, m.bound(&r)
}

// bound sets the bounds of sno's sequence. In a snapshot, two zeros are the whole sequence.
func (m *MakingFlags) bound(r *shape.Recipe) error {
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
	case low < 0 || low > math.MaxUint16-least+1:
		return cli.BadFlag("sequence-min", m.sequenceMin.Text, "is not in 0 to "+strconv.Itoa(math.MaxUint16-least+1))
	case high < low+least-1 || high > math.MaxUint16:
		return cli.BadFlag("sequence-max", strconv.Itoa(high), "is not in "+strconv.Itoa(low+least-1)+" to "+strconv.Itoa(math.MaxUint16)+": the sequence has at least "+strconv.Itoa(least)+" numbers")
	}
	r.SequenceMin, r.SequenceMax = uint16(low), uint16(high)
	return nil
}

// A Worker is the flag --worker.
type Worker struct{ cli.Number }

// AddTo adds the flag to cmd. The text says what the default is.
func (w *Worker) AddTo(cmd *cobra.Command, def string) {
	number(cmd, &w.Number, "worker", "worker number (default: "+def+")")
}

// Check returns an error of usage for a worker that IDs of the shape do not have.
func (w *Worker) Check(f Format, s *shape.Shape) error {
	last, ok := s.LastWorker()
	switch {
	case !w.Given, ok && w.Value >= 0 && w.Value <= last:
		return nil
	case ok:
		return cli.BadFlag("worker", w.Text, "is not in 0 to "+strconv.Itoa(last))
	case f.Has("node-bits"):
		return cli.Usagef("--worker: %s has no worker number without --node-bits: leave out --worker", f.Name())
	}
	return cli.Usagef("--worker: %s has no worker number: leave out --worker", f.Name())
}
