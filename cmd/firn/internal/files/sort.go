package files

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/cmd/firn/internal/spill"
)

// sortFlags are the flags of firn sort.
type sortFlags struct {
	intake.Flags
	memory size
	output outputName
}

// Sort returns the command firn sort.
func Sort(s *cli.Streams) *cobra.Command {
	f := sortFlags{memory: defaultMemory}
	cmd := &cobra.Command{
		Use:   "sort FORMAT",
		Short: "Sort IDs, also more than fit in memory",
		Long: `Sort the IDs of stdin, a line each. Equal IDs stay.

The order is the order of the numbers that IDs are. Texts of a fixed length and hex
come in the order of LC_ALL=C sort. Each ID is written in the form in which firn read
the ID: as text, int, hex or UUID. Texts are canonical ones.

More IDs than fit in --memory go to temporary files in $TMPDIR, or in the system's
directory for temporary files. The files need up to 32 bytes an ID. firn removes them.

` + badLines,
		Example: `  firn new nanoflake -n 1000 | firn sort nanoflake
  firn new sno -n 1000 | firn sort sno --memory 64M -o sorted
  firn new snowflakesi -n 1000 --as hex | firn sort snowflakesi --as hex`,
		ValidArgsFunction: formats.CompleteFormat,
		Args:              intake.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := f.Of(args[0])
			if err != nil {
				return err
			}
			return f.run(cmd.Context(), s, from)
		},
	}
	cmd.Flags().SortFlags = false
	f.output.addTo(cmd)
	f.memory.addTo(cmd)
	f.Flags.AddTo(cmd)
	return cmd
}

// badLines says in help texts what a command does with lines that are no IDs.
const badLines = `firn names each line that is no ID by its number on stderr, leaves the line out, and
exits with 1 in the end.`

// run sorts. IDs whose form may change from line to line have the form in a byte of the record.
func (f *sortFlags) run(ctx context.Context, s *cli.Streams, from intake.Source) error {
	n := from.Format.Descriptor().Size
	if from.Detect {
		n++
	}
	if n <= 2*wordBytes {
		return sortWith[[2]uint64](ctx, s, f, from, n)
	}
	return sortWith[[4]uint64](ctx, s, f, from, n)
}

// sortWith sorts IDs in records of n bytes.
func sortWith[R spill.Record](ctx context.Context, s *cli.Streams, f *sortFlags, from intake.Source, n int) error {
	sorter := spill.New[R](spill.Config{Memory: int64(f.memory), Size: n})
	defer sorter.Close()
	out, err := f.output.open(s)
	if err != nil {
		return err
	}
	return out.commit(sortTo(ctx, s, sorter, from, out))
}

// sortTo sorts the IDs of stdin.
func sortTo[R spill.Record](ctx context.Context, s *cli.Streams, sorter *spill.Sorter[R], from intake.Source, out *output) error {
	in := stdin(s, from, "sort", false)
	defer in.progress.End()
	record := packer[R]{size: from.Format.Descriptor().Size, tagged: from.Detect}
	for {
		id, _, err := in.next(nil)
		if err == io.EOF {
			break
		}
		if err == nil {
			err = sorter.Add(record.pack(id, in.reader.Written()))
		}
		if err != nil {
			return err
		}
	}
	in.progress.End()
	written := in.reader.Written() // of the only form, if there is one
	encode := func() func(dst []byte, batch []R) ([]byte, error) {
		write, ids, ways := forms(from.Format), []byte(nil), []intake.Written(nil)
		return func(dst []byte, batch []R) (_ []byte, err error) {
			// First all IDs, then all texts: a processor waits if it loads what it has just stored in other pieces.
			ids, ways = ids[:0], ways[:0]
			for i := range batch {
				as := written
				ids, as = record.unpack(ids, &batch[i], as)
				ways = append(ways, as)
			}
			for i, as := range ways {
				if dst, err = write[as](dst, ids[i*record.size:(i+1)*record.size]); err != nil {
					return dst, err
				}
				dst = append(dst, '\n')
			}
			return dst, nil
		}
	}
	err := sorter.Write(ctx, encode, func(lines []byte) error {
		_, err := out.Write(lines)
		return err
	})
	if err != nil {
		return err
	}
	return in.result()
}
