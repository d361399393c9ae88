package formats

import (
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
	"github.com/firn-id/firn/lease/grant"
	"github.com/firn-id/firn/snowflakesi"
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

// Refuse returns an error if a flag is set that the format does not have.
func (o *Options) Refuse(f Format) error { return refuse(o.Flags, f) }

// Settings returns the epoch and the widths. If no format is known, Settings holds for every format
// that has the setting.
func (o *Options) Settings() (shape.Settings, error) {
	layout := snowflakesi.DefaultLayout()
	if o.clockBits.Given {
		if o.clockBits.Value == 0 { // 0 is the default in a Layout, but a mistake here
			return shape.Settings{}, cli.BadFlag("clock-bits", o.clockBits.Text, "is not 40 or 41")
		}
		layout.ClockBits = o.clockBits.Value
	}
	if err := layout.Check(); err != nil {
		return shape.Settings{}, o.Explain(err)
	}
	if o.machineBits.Given {
		layout = layoutOfBits(layout.ClockBits, 0)
		if _, _, most := layout.Widths(); o.machineBits.Value < 0 || o.machineBits.Value > most {
			return shape.Settings{}, outside("machine-bits", o.machineBits, 0, most)
		}
		layout = layoutOfBits(layout.ClockBits, o.machineBits.Value)
	}
	const random16 = 16 // bits
	if n := o.counterBits.Value; n < 0 || n > random16 {
		return shape.Settings{}, outside("counter-bits", o.counterBits, 0, random16)
	}
	if n, most := o.nodeBits.Value, random16-o.counterBits.Value; n < 0 || n > most {
		return shape.Settings{}, outside("node-bits", o.nodeBits, 0, most)
	}
	return shape.Settings{Epoch: o.epoch.time, ClockBits: layout.ClockBits, MachineBits: layout.MachineBits,
		CounterBits: o.counterBits.Value, NodeBits: o.nodeBits.Value, Microseconds: o.micro}, nil
}

// outside returns the error of a flag whose value is out of range.
func outside(flag string, n cli.Number, least, most int) error {
	return cli.BadFlag(flag, n.Text, "is not in "+strconv.Itoa(least)+" to "+strconv.Itoa(most))
}

// layoutOfBits returns the layout of these widths: 0 bits of machine ID are none.
func layoutOfBits(clock, machine int) snowflakesi.Layout {
	if machine == 0 {
		machine = snowflakesi.NoMachineBits
	}
	return snowflakesi.Layout{ClockBits: clock, MachineBits: machine}
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
func (o *Options) Explain(err error) error {
	var (
		config  *iderr.ConfigError
		outside *iderr.TimeError
	)
	switch {
	case errors.As(err, &outside) && o.epoch.given:
		if outside.Time.Before(outside.First) {
			return cli.BadFlag("epoch", o.epoch.text, "is not in the past")
		}
		return cli.BadFlag("epoch", o.epoch.text, "is too long ago: its timestamps ended at "+cli.TimeText(outside.Last))
	case errors.As(err, &config):
		name := flagOf(config.Field)
		if config.Field == "Partition" && o.Flags.Changed("partition") {
			name = "partition"
		}
		if f := o.Flags.Lookup(name); f != nil {
			return cli.BadFlag(f.Name, f.Value.String(), "is not "+config.Want)
		}
	}
	return err
}

// flagOf returns the flag for a field of a format's Config.
func flagOf(field string) string {
	switch field {
	case "Epoch":
		return "epoch"
	case "ClockBits":
		return "clock-bits"
	case "MachineBits":
		return "machine-bits"
	case "IncrementBits":
		return "increment-bits"
	case "Start":
		return "start-bits"
	}
	if slices.ContainsFunc(All(), func(f Format) bool { return field != "" && f.Descriptor().Field == field }) {
		return "worker"
	}
	return ""
}

// An epoch is the value of a flag: a time.
type epoch struct {
	time  time.Time
	text  string
	given bool
}

func (e *epoch) Type() string { return "TIME" }

func (e *epoch) String() string { return e.text }

func (e *epoch) Set(s string) error {
	t, err := cli.ParseTime(s)
	switch {
	case err != nil:
		return err
	case t.IsZero(): // means no epoch
		return errors.New("is not between the years 1 and 9999")
	case !t.Equal(t.Truncate(time.Millisecond)):
		return errors.New("is not a time in whole milliseconds")
	}
	*e = epoch{time: t, text: s, given: true}
	return nil
}

// A Form is the value of a flag: a way to write an ID.
type Form struct {
	inspect.Form
	Given  bool
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
	f.choice = choice
	cmd.Flags().Var(f, "as", use)
	complete := func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		forms := choice
		if len(args) > 0 {
			if in, ok := Lookup(args[0]); ok {
				forms = f.of(in)
			}
		}
		return formNames(forms), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc("as", complete); err != nil {
		panic(err) // no such flag, or twice
	}
}

// Refuse returns an error if the format does not have the form.
func (f *Form) Refuse(in Format) error {
	if slices.Contains(in.Forms(), f.Form) {
		return nil
	}
	return cli.BadFlag("as", f.String(), in.Name()+" has no such form: want "+cli.List(formNames(f.of(in)), "or"))
}

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
