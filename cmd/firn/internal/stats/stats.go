// Package stats has the command firn stats: what many IDs say together.
package stats

import (
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
)

// flags are the flags of firn stats.
type flags struct {
	intake.Flags
	top  cli.Count
	json bool
}

// New returns the command firn stats.
func New(s *cli.Streams) *cobra.Command {
	f := flags{top: 10}
	cmd := &cobra.Command{
		Use:   "stats FORMAT",
		Short: "Summarize many IDs: time, workers, bursts",
		Example: `  firn new nanoflake -n 1000 | firn stats nanoflake
  firn new sno -n 1000 | firn stats sno --json
  firn new scru160 -n 1000 | firn stats scru160 --match`,
		Args:              intake.Args,
		ValidArgsFunction: formats.CompleteFormat,
		RunE: func(_ *cobra.Command, args []string) error {
			source, err := f.Of(args[0])
			if err != nil {
				return err
			}
			return f.run(s, source)
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.Var(&f.top, "top", "how many workers to list")
	set.BoolVar(&f.json, "json", false, "write one JSON object")
	f.AddMatchTo(cmd)
	f.Flags.AddTo(cmd)
	cli.Complete(cmd, "top")
	return cmd
}

// run reads the IDs of stdin, and writes the report.
func (f *flags) run(s *cli.Streams, source intake.Source) error {
	c := newCounter(source.Shape)
	malformed, err := c.read(s, source.Open(s.Input()))
	if err != nil {
		return err
	}
	c.close()
	r := c.report(source.Format.Name(), source.Format.WorkerName(), malformed, int64(f.top))
	if err := f.write(s, c, r); err != nil {
		return err
	}
	if malformed > 0 {
		return cli.ErrReported
	}
	return nil
}

// perShow is how many IDs are read between two looks at the progress.
const perShow = 1 << 15

// read counts the IDs of a reader, and returns the number of malformed lines.
func (c *counter) read(s *cli.Streams, r *intake.Reader) (malformed uint64, err error) {
	progress := s.Reading("stats")
	for {
		id, _, err := r.Next()
		var bad *intake.BadLine
		switch {
		case err == nil:
			c.add(id)
			if c.ids%perShow == 0 {
				progress(r.Bytes())
			}
		case err == io.EOF:
			return malformed, nil
		case errors.As(err, &bad):
			malformed++
			cli.Complain(s.Err, bad)
		default:
			return malformed, err
		}
	}
}

// write writes the report as the flags say.
func (f *flags) write(s *cli.Streams, c *counter, r *report) error {
	if f.json {
		return cli.WriteJSON(s.Out, r)
	}
	p := newPage(s)
	p.write(r, c.timeReport(p.columns-len("    ")-len("999.9 k")))
	_, err := s.Out.Write(p.Bytes())
	return err
}
