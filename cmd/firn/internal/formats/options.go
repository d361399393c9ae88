package formats

import (
	"errors"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/options"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
)

// Options are the flags that a reader of IDs has to know: the epoch and the widths. The flags are also
// the layout of a pool.
type Options struct {
	epoch       epoch
	clockBits   cli.Number
	machineBits cli.Number
	micro       bool
	counterBits cli.Number
	nodeBits    cli.Number

	Flags *pflag.FlagSet
	names []string // of the flags, in the order of help
}

// AddTo adds all flags to cmd.
func (o *Options) AddTo(cmd *cobra.Command) {
	o.AddWidthsTo(cmd)
	number(cmd, &o.counterBits, "counter-bits", "bits of random16 for the counter, 0 to 16 (scru160)")
	number(cmd, &o.nodeBits, "node-bits", "bits of random16 for a node ID, 0 to 16 (scru160)")
	cmd.Flags().BoolVar(&o.micro, "micro", false, "the counter counts in microseconds (scru160)")
	o.names = append(o.names, "counter-bits", "node-bits", "micro")
	cli.Group(cmd, groupTitle, "micro")
}

// AddWidthsTo adds the flags for the epoch and for the widths of Snowflake-SI.
func (o *Options) AddWidthsTo(cmd *cobra.Command) {
	o.AddEpochTo(cmd)
	number(cmd, &o.clockBits, "clock-bits", "bits of the timestamp, 40 or 41 (snowflakesi)", "40", "41")
	number(cmd, &o.machineBits, "machine-bits", "bits of the machine ID, 0 to 13 (snowflakesi)")
	o.names = append(o.names, "clock-bits", "machine-bits")
}

// AddEpochTo adds only the flag for the epoch to cmd.
func (o *Options) AddEpochTo(cmd *cobra.Command) {
	o.Flags = cmd.Flags()
	o.Flags.Var(&o.epoch, "epoch", "time of timestamp 0: RFC 3339, a date, or Unix ms")
	cli.Complete(cmd, "epoch")
	cli.Group(cmd, groupTitle, "epoch")
	o.names = append(o.names, "epoch")
}

// groupTitle is the title of the flags about a format in the help.
const groupTitle = "Format"

// number adds a flag for a number of the format. values are for completion.
func number(cmd *cobra.Command, n *cli.Number, name, use string, values ...string) {
	cmd.Flags().Var(n, name, use)
	cli.Group(cmd, groupTitle, name)
	cli.Complete(cmd, name, values...)
}

// Given returns the flags that are set, as words of a command line.
func (o *Options) Given() (words []string) {
	for _, name := range o.names {
		switch f := o.Flags.Lookup(name); {
		case !f.Changed || f.Value.String() == "false":
		case f.Value.String() == "true":
			words = append(words, "--"+name)
		default:
			words = append(words, "--"+name, cli.Plain(f.Value.String()))
		}
	}
	return words
}

// Refuse returns an error of usage if a flag is set that the format does not have.
func (o *Options) Refuse(f Format) (err error) {
	o.Flags.Visit(func(flag *pflag.Flag) {
		if err == nil && !f.Has(flag.Name) {
			err = o.wrong(options.Refuse(f.Descriptor(), flag.Name))
		}
	})
	return err
}

// set returns the options that are given.
func (o *Options) set() *options.Set {
	s := &options.Set{Epoch: o.epoch.Value, Micro: o.micro, Numbers: map[string]int{}}
	give(s, map[string]cli.Number{"clock-bits": o.clockBits, "machine-bits": o.machineBits,
		"counter-bits": o.counterBits, "node-bits": o.nodeBits})
	return s
}

// give adds the numbers that are given to a set.
func give(s *options.Set, numbers map[string]cli.Number) {
	for name, n := range numbers {
		if n.Given {
			s.Numbers[name] = n.Value
		}
	}
}

// Settings returns the epoch and the widths. They hold for every format that has the setting.
func (o *Options) Settings() (set shape.Settings, err error) {
	s := o.set()
	for _, f := range All() {
		if set, err = s.Settings(f.Descriptor()); err != nil {
			break
		}
	}
	return set, o.wrong(err)
}

// Pool returns the pool of a format and the flags, under its default name.
func (o *Options) Pool(name string) (grant.Spec, error) {
	format, err := Named(name)
	if err != nil {
		return grant.Spec{}, err
	}
	if err := o.Refuse(format); err != nil {
		return grant.Spec{}, err
	}
	set, err := o.Settings()
	if err != nil {
		return grant.Spec{}, err
	}
	p, err := Recipe{Recipe: shape.Recipe{Settings: set}, Format: format}.Pool()
	return p, o.Explain(err) // an epoch that no generator takes
}

// Explain rewords errors of the library that are about a flag.
func (o *Options) Explain(err error) error { return o.wrong(o.set().Explain(err)) }

// wrong returns an error about an option as wrong usage of its flag.
func (o *Options) wrong(err error) error {
	bad, ok := errors.AsType[*options.Error](err)
	switch {
	case !ok:
		return err
	case bad.Value == "":
		return cli.Usagef("--%w", bad)
	}
	return cli.BadFlag(bad.Option, o.Flags.Lookup(bad.Option).Value.String(), bad.Reason)
}

// An epoch is the value of a flag: a time in whole milliseconds.
type epoch struct{ cli.Time }

func (e *epoch) Set(s string) error {
	err := e.Time.Set(s)
	switch {
	case err != nil:
		return err
	case e.Value.IsZero(): // means no epoch
		return errors.New("is not between the years 1 and 9999")
	case !e.Value.Equal(e.Value.Truncate(time.Millisecond)):
		return errors.New("is not a time in whole milliseconds")
	}
	return nil
}

// A Form is the value of a flag: a way to write an ID.
type Form struct {
	inspect.Form
	Given  bool
	flag   string
	choice []inspect.Form // allowed values
}

func (f *Form) Type() string { return "FORM" }

func (f *Form) Set(s string) error {
	v, err := inspect.ParseForm(s)
	if err != nil || !slices.Contains(f.choice, v) {
		return errors.New("is not " + cli.List(formNames(f.choice), "or"))
	}
	f.Form, f.Given = v, true
	return nil
}

// AddTo adds --as to cmd.
func (f *Form) AddTo(cmd *cobra.Command, use string, choice []inspect.Form) {
	f.AddFlagTo(cmd, "as", use, choice)
}

// AddFlagTo adds a flag of any name to cmd.
func (f *Form) AddFlagTo(cmd *cobra.Command, flag, use string, choice []inspect.Form) {
	f.flag, f.choice = flag, choice
	cmd.Flags().Var(f, flag, use)
	complete := func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		forms := choice
		if len(args) > 0 {
			if in, ok := Lookup(args[0]); ok {
				forms = f.of(in)
			}
		}
		return formNames(forms), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // no such flag, or twice
	}
}

// Refuse returns an error if the format does not have the form.
func (f *Form) Refuse(in Format) error {
	if slices.Contains(in.Forms(), f.Form) {
		return nil
	}
	return cli.BadFlag(f.flag, f.String(), in.Name()+" has no such form: want "+f.List(in))
}

// List lists the allowed values that the format has.
func (f *Form) List(in Format) string { return cli.List(formNames(f.of(in)), "or") }

// of returns the allowed values that the format has.
func (f *Form) of(in Format) []inspect.Form {
	return slices.DeleteFunc(slices.Clone(f.choice), func(form inspect.Form) bool { return !slices.Contains(in.Forms(), form) })
}

// The forms that IDs can be written in, and read in.
var (
	WrittenForms = []inspect.Form{inspect.Text, inspect.Int, inspect.Hex}
	ReadForms    = append(WrittenForms[:len(WrittenForms):len(WrittenForms)], inspect.Base36)
)

func formNames(forms []inspect.Form) []string {
	var all []string
	for _, f := range forms {
		all = append(all, f.String())
	}
	return all
}

// OneFormat returns an error unless there is one argument, a format.
func OneFormat(_ *cobra.Command, args []string) error {
	switch len(args) {
	case 0:
		return cli.Usagef("no format given: want %s", cli.List(Names(), "or"))
	case 1:
		return nil
	}
	return cli.Usagef("too many arguments: %q after the format", args[1])
}
