package files

import (
	"errors"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/inspect"
)

// convertFlags are the flags of firn convert.
type convertFlags struct {
	intake.Flags
	to target
}

// A target is the value of --to.
type target struct{ intake.Written }

// targets are the values of --to.
var targets = [...]string{intake.AsText: "text", intake.AsInt: "int", intake.AsHex: "hex", intake.AsUUID: "uuid"}

func (t *target) Type() string   { return "FORM" }
func (t *target) String() string { return targets[t.Written] }

func (t *target) Set(s string) error {
	i := slices.Index(targets[:], s)
	if i < 0 {
		return errors.New("is not " + cli.List(targets[:], "or"))
	}
	t.Written = intake.Written(i)
	return nil
}

// of returns the forms that a format has.
func (*target) of(f formats.Format) []string {
	var all []string
	for as, name := range targets {
		if as := intake.Written(as); as == intake.AsText || as == intake.AsHex || as == intake.AsInt && slices.Contains(f.Forms(), inspect.Int) ||
			as == intake.AsUUID && f.Descriptor().AppendUUID != nil {
			all = append(all, name)
		}
	}
	return all
}

// refuse returns an error if the format does not have the form.
func (t *target) refuse(f formats.Format) error {
	if all := t.of(f); !slices.Contains(all, t.String()) {
		return cli.BadFlag("to", t.String(), f.Name()+" has no such form: want "+cli.List(all, "or"))
	}
	return nil
}

// complete completes --to by the forms of the format.
func (t *target) complete(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	all := targets[:]
	if len(args) > 0 {
		if f, ok := formats.Lookup(args[0]); ok {
			all = t.of(f)
		}
	}
	return all, cobra.ShellCompDirectiveNoFileComp
}

// Convert returns the command firn convert.
func Convert(s *cli.Streams) *cobra.Command {
	var f convertFlags
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
			if !cmd.Flags().Changed("to") {
				return cli.Usagef("no form given: add --to %s", cli.List(f.to.of(from.Format), "or"))
			}
			if err := f.to.refuse(from.Format); err != nil {
				return err
			}
			return convert(s, from, forms(from.Format)[f.to.Written])
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&f.to, "to", "write IDs as text, int, hex or uuid")
	flags.Lookup("to").DefValue = ""
	if err := cmd.RegisterFlagCompletionFunc("to", f.to.complete); err != nil {
		panic(err) // no such flag, or twice
	}
	f.Flags.AddTo(cmd)
	return cmd
}

// convert writes the IDs of stdin in a form.
func convert(s *cli.Streams, from intake.Source, write form) error {
	in := stdin(s, from, "convert", true)
	defer in.progress.End()
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
