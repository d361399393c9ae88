package files

import (
	"context"
	"io"
	"math"
	"time"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
)

// verifyFlags are the flags of firn verify.
type verifyFlags struct {
	intake.Flags
	memory  size
	ordered bool
	json    bool
	lines   cli.Count
	given   bool // --lines
}

// Verify returns the command firn verify.
func Verify(s *cli.Streams) *cobra.Command {
	f := verifyFlags{memory: defaultMemory, lines: 10}
	cmd := &cobra.Command{
		Use:   "verify FORMAT",
		Short: "Find duplicate and malformed IDs in a file",
		Example: `  firn new nanoflake -n 1000 | firn verify nanoflake --ordered
  firn new sno -n 1000 | firn verify sno --json
  echo "order $(firn new scru160) shipped" | firn verify scru160 --match`,
		ValidArgsFunction: formats.CompleteFormat,
		Args:              intake.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := f.Of(args[0])
			if err != nil {
				return err
			}
			f.given = cmd.Flags().Changed("lines")
			return f.run(cmd.Context(), s, from)
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.BoolVar(&f.ordered, "ordered", false, "lines out of order fail the command")
	flags.BoolVar(&f.json, "json", false, "write one JSON object")
	flags.Var(&f.lines, "lines", "say this many lines of each kind of fault")
	cli.Complete(cmd, "lines")
	f.AddMatchTo(cmd)
	f.memory.addTo(cmd)
	f.Flags.AddTo(cmd)
	return cmd
}

// run verifies the IDs of stdin.
func (f *verifyFlags) run(ctx context.Context, s *cli.Streams, from intake.Source) error {
	v := newVerifier(from, int64(f.memory))
	defer v.Close()
	for _, kind := range v.kinds() {
		kind.most = int64(f.lines)
		if fails := kind == &v.duplicates || kind == &v.malformed || kind == &v.disorder && f.ordered; f.json && fails && !f.given {
			kind.most = math.MaxInt64
		}
	}
	began := time.Now()
	in := stdin(s, from, "verify")
	if err := v.read(in); err != nil {
		return err
	}
	in.warn()
	took := time.Since(began)
	if err := v.finish(ctx); err != nil {
		return err
	}
	r := report{verifier: v, w: s.Out, took: took, bytes: in.reader.Bytes()}
	write := r.text
	if f.json {
		write = r.json
	}
	if err := write(); err != nil {
		return err
	}
	if v.duplicates.n > 0 || v.malformed.n > 0 || v.disorder.n > 0 && f.ordered {
		return cli.ErrReported
	}
	return nil
}

// allowance is how far ahead of the clock an ID may be: the clocks of two machines differ a little, and
// generators run ahead of a clock that was set back.
const allowance = 10 * time.Second

// A verifier counts the faults of IDs.
type verifier struct {
	from intake.Source
	keys *keys

	ids         int64
	duplicates  faults
	malformed   faults
	disorder    faults
	regressions faults
	future      faults

	newest uint64 // the last timestamp that is not of the future, when the clock was last read
	clock  func() time.Time

	least, most uint64 // timestamps
	repeated    tape   // the IDs of the duplicates whose lines are kept
}

func newVerifier(from intake.Source, memory int64) *verifier {
	size := from.Format.Descriptor().Size
	v := &verifier{from: from, keys: newKeys(from.Shape, size, memory), clock: time.Now, least: 1<<64 - 1}
	v.look()
	return v
}

// look reads the clock.
func (v *verifier) look() {
	if ts, _ := v.from.Shape.Timestamp(v.clock().Add(allowance)); ts > 0 {
		v.newest = uint64(ts)
	}
}

// read reads all IDs.
func (v *verifier) read(in *input) error {
	for {
		id, line, err := in.next(v.malformed.add)
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = v.add(id, line)
		}
		if err != nil {
			return err
		}
	}
}

// add notes the ID of a line.
func (v *verifier) add(id []byte, line int64) error {
	ts, odd, err := v.keys.add(id, line)
	v.ids++
	v.least, v.most = min(v.least, ts), max(v.most, ts)
	if err != nil || odd == 0 && ts <= v.newest {
		return err
	}
	return v.note(odd, ts, line)
}

// note notes an ID that may be a fault.
func (v *verifier) note(odd order, timestamp uint64, line int64) error {
	if odd&disorder != 0 {
		if err := v.disorder.add(line); err != nil {
			return err
		}
	}
	if odd&regression != 0 {
		if err := v.regressions.add(line); err != nil {
			return err
		}
	}
	if timestamp > v.newest {
		if v.look(); timestamp > v.newest {
			return v.future.add(line)
		}
	}
	return nil
}

// finish finds the duplicates.
func (v *verifier) finish(ctx context.Context) error {
	return v.keys.repeated(ctx, func(line int64, id []byte) error {
		if v.duplicates.n < v.duplicates.most {
			v.repeated.memory = faultsMemory
			if _, err := v.repeated.add(id); err != nil {
				return err
			}
		}
		return v.duplicates.add(line)
	})
}

func (v *verifier) Close() {
	v.keys.Close()
	v.repeated.Close()
	for _, f := range v.kinds() {
		f.lines.Close()
	}
}

// kinds returns the kinds of faults.
func (v *verifier) kinds() []*faults {
	return []*faults{&v.duplicates, &v.malformed, &v.disorder, &v.regressions, &v.future}
}

// worker reports whether IDs say which generator has made them.
func (v *verifier) worker() bool {
	s := v.from.Shape
	return s.Worker > 0 && s.Fields[s.Worker].Bits > 0
}

// at returns the time of a timestamp.
func (v *verifier) at(timestamp uint64) time.Time {
	s := v.from.Shape
	return time.UnixMilli(s.Epoch + int64(timestamp)*s.Unit.Milliseconds()).UTC()
}
