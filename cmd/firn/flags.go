package main

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn"
	"github.com/firn-id/firn/iderr"
	"github.com/firn-id/firn/snowflakesi"
)

// options are the flags by which all commands know which IDs of a format are meant.
type options struct {
	epoch       epoch
	clockBits   number
	machineBits number

	flags *pflag.FlagSet
}

func (o *options) addTo(cmd *cobra.Command) {
	flags := cmd.Flags()
	o.flags = flags
	flags.Var(&o.epoch, "epoch", "time of timestamp 0: RFC 3339 or Unix milliseconds\n(not scru160 and sno; default: the format's own)")
	flags.Var(&o.clockBits, "clock-bits", "bits of the timestamp: 40 or 41 (snowflakesi; default 40)")
	flags.Var(&o.machineBits, "machine-bits", "bits of the machine ID: 0 to 13, with\n41 clock bits to 12 (snowflakesi; default 5)")
	complete(cmd, "epoch")
	complete(cmd, "clock-bits", "40", "41")
	complete(cmd, "machine-bits")
}

// refuse returns an error if there are options that the format does not have.
func (o *options) refuse(f format) error {
	switch {
	case o.epoch.set && f.fixedEpoch != "":
		return usagef("--epoch: the epoch of %s is fixed: %s", f.name, f.fixedEpoch)
	case o.clockBits.set && !f.layouts:
		return usagef("--clock-bits: the widths of %s are fixed", f.name)
	case o.machineBits.set && !f.layouts:
		return usagef("--machine-bits: the widths of %s are fixed", f.name)
	}
	return nil
}

// settings returns what the options say. They may come without a format, to be applied
// to those that have them.
func (o *options) settings() (firn.Settings, error) {
	layout := snowflakesi.DefaultLayout()
	if o.clockBits.set {
		if o.clockBits.value == 0 { // in a Layout it stands for the default, here for nothing
			return firn.Settings{}, badFlag("clock-bits", o.clockBits.text, "is not 40 or 41")
		}
		layout.ClockBits = o.clockBits.value
	}
	if o.machineBits.set {
		layout.MachineBits = o.machineBits.value
	}
	return firn.Settings{Epoch: o.epoch.time, Layout: layout}, o.explain(layout.Check())
}

// explain returns the errors of the library that are about a flag in the words of the
// command line.
func (o *options) explain(err error) error {
	var (
		config  *iderr.ConfigError
		outside *iderr.TimeError
	)
	switch {
	case errors.As(err, &outside) && o.epoch.set:
		if outside.Time.Before(outside.First) {
			return badFlag("epoch", o.epoch.text, "is not in the past")
		}
		return badFlag("epoch", o.epoch.text, "is too long ago: its timestamps ended at "+timeText(outside.Last))
	case errors.As(err, &config):
		name := flagOf(config.Field)
		if config.Field == "Partition" && o.flags.Changed("partition") {
			name = "partition"
		}
		if f := o.flags.Lookup(name); f != nil {
			return badFlag(f.Name, f.Value.String(), "is not "+config.Want)
		}
	}
	return err
}

// flagOf returns the flag that sets a field of the formats' Config.
func flagOf(field string) string {
	switch field {
	case "GeneratorID", "MachineID", "Scalability", "Partition":
		return "worker"
	case "Epoch":
		return "epoch"
	case "ClockBits":
		return "clock-bits"
	case "MachineBits":
		return "machine-bits"
	}
	return ""
}

// A number is a flag's value that is a whole number, within what the library says.
type number struct {
	value int
	text  string
	set   bool
}

var _ pflag.Value = (*number)(nil)

func (n *number) Type() string   { return "N" }
func (n *number) String() string { return n.text }

// Set takes decimal digits alone. A number too large for an int becomes the largest,
// which is out of every range too.
func (n *number) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, strconv.IntSize)
	if errors.Is(err, strconv.ErrSyntax) || s[0] == '+' {
		return errors.New("is not a whole number")
	}
	*n = number{value: int(v), text: s, set: true}
	return nil
}

// A count is a flag's value that says how many.
type count int64

func (c *count) Type() string   { return "COUNT" }
func (c *count) String() string { return strconv.FormatInt(int64(*c), 10) }

func (c *count) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return errors.New("is not a whole number from 0 to 9223372036854775807")
	}
	*c = count(v)
	return nil
}

// An epoch is a flag's value that is a time.
type epoch struct {
	time time.Time
	text string
	set  bool
}

func (e *epoch) Type() string   { return "TIME" }
func (e *epoch) String() string { return e.text }

func (e *epoch) Set(s string) error {
	t, err := time.Parse(time.RFC3339, s) // takes fractions of a second too
	if ms, bad := strconv.ParseInt(s, 10, 64); bad == nil && s[0] != '+' {
		t, err = time.UnixMilli(ms), nil
	}
	switch {
	case err != nil:
		return errors.New("is not a time in RFC 3339 or Unix milliseconds")
	case !t.After(time.Time{}) || t.UTC().Year() > 9999: // the zero time stands for no epoch
		return errors.New("is not between the years 1 and 9999")
	case !t.Equal(t.Truncate(time.Millisecond)):
		return errors.New("is not a time in whole milliseconds")
	}
	*e = epoch{time: t.UTC(), text: s, set: true}
	return nil
}

// A form is a flag's value that is a way to write an ID.
type form struct {
	firn.Form
	set    bool
	choice []firn.Form // what it may be
}

func (f *form) Type() string { return "FORM" }

func (f *form) Set(s string) error {
	v, err := firn.ParseForm(s)
	if err != nil || !slices.Contains(f.choice, v) {
		return errors.New("is not " + list(formNames(f.choice), "or"))
	}
	f.Form, f.set = v, true
	return nil
}

func (f *form) addTo(cmd *cobra.Command, use string, choice []firn.Form) {
	f.choice = choice
	cmd.Flags().Var(f, "as", use)
	complete(cmd, "as", formNames(choice)...)
}

// refuse returns an error if the format does not have the form.
func (f *form) refuse(in format) error {
	if slices.Contains(in.Forms(), f.Form) {
		return nil
	}
	return badFlag("as", f.String(), in.name+" has no such form: want "+list(formNames(in.Forms()), "or"))
}

var (
	writtenForms = []firn.Form{firn.Text, firn.Int, firn.Hex}
	readForms    = append(writtenForms[:len(writtenForms):len(writtenForms)], firn.Base36)
)

func formNames(forms []firn.Form) []string {
	var all []string
	for _, f := range forms {
		all = append(all, f.String())
	}
	return all
}

// complete makes shells complete a flag with these values, or with nothing.
func complete(cmd *cobra.Command, flag string, values ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // no such flag, or twice
	}
}

// completeFormat completes the first argument with the formats' names.
func completeFormat(_ *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
	var found []string
	for _, name := range names() {
		if len(args) == 0 && strings.HasPrefix(name, toComplete) {
			found = append(found, name)
		}
	}
	return found, cobra.ShellCompDirectiveNoFileComp
}
