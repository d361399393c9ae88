package files

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/inspect"
)

// Convert returns the command firn convert.
func Convert(s *cli.Streams) *cobra.Command {
	var (
		f  intake.Flags
		to formats.Form
	)
	cmd := &cobra.Command{
		Use:   "convert FORMAT --as FORM --to FORM",
		Short: "Convert IDs between string, integer, hex and UUID",
		Example: `  firn new nanoflake -n 10 | firn convert nanoflake --to int
  firn new sno -n 10 --as hex | firn convert sno --as hex --to text
  firn new sno -n 10 | firn convert sno --to uuid`,
		ValidArgsFunction: formats.CompleteFormat,
		Args:              intake.Args,
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := f.Of(args[0])
			if err != nil {
				return err
			}
			if !to.Given {
				return cli.Usagef("no form given: add --to %s", to.List(from.Format))
			}
			if err := to.Refuse(from.Format); err != nil {
				return err
			}
			return convert(s, from, from.Format.Writer(to.Form))
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	to.AddFlagTo(cmd, "to", "write IDs as text, int, hex or uuid",
		[]inspect.Form{inspect.Text, inspect.Int, inspect.Hex, inspect.UUID})
	flags.Lookup("to").DefValue = ""
	f.AddTo(cmd)
	return cmd
}

// convert writes the IDs of stdin in a form.
func convert(s *cli.Streams, from intake.Source, write func(dst, id []byte) ([]byte, error)) error {
	in := stdin(s, from, "convert")
	var line []byte
	for {
		id, _, err := in.next(nil)
		if err == io.EOF {
			return in.result()
		}
		if err == nil {
			line, err = write(line[:0], id)
		}
		if err != nil {
			return err
		}
		if _, err := s.Out.Write(append(line, '\n')); err != nil {
			return err
		}
	}
}
