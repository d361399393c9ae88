// Package intake reads IDs in bulk: a line each, or wherever IDs stand in lines.
package intake

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/inspect"
	"github.com/firn-id/firn/internal/shape"
)

// Flags are the flags that say where IDs stand, and how they are written.
type Flags struct {
	formats.Options
	as    formats.Form
	match bool
}

// AddTo adds --as and the options of formats to cmd.
func (f *Flags) AddTo(cmd *cobra.Command) {
	f.as.AddTo(cmd, "read IDs as text, int, hex or base36", formats.ReadForms)
	cmd.Flags().Lookup("as").DefValue = "" // without --as the form is detected
	f.Options.AddTo(cmd)
}

// AddMatchTo adds --match to cmd.
func (f *Flags) AddMatchTo(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.match, "match", false, "find IDs anywhere in lines, such as those of a log")
}

// MatchHelp says in the help of a command what --match finds.
const MatchHelp = `With --match, IDs stand anywhere in lines: in a log, in a dump. A word of letters and digits
is an ID if the format reads the word as a text, or in the form of --as, and if the time
of the ID is in the last 20 years, 30 days or more after the format's own epoch, or in
the next year. Other words are no IDs, so no line is malformed.`

// Args returns an error unless the arguments of cmd are a format, and perhaps - for stdin.
func Args(cmd *cobra.Command, args []string) error {
	if len(args) > 1 && args[1] != "-" {
		return cli.Usagef("too many arguments: %q: firn %s reads stdin: firn %[2]s %s < FILE", args[1], cmd.Name(), args[0])
	}
	if len(args) > 1 {
		args = append(args[:1:1], args[2:]...)
	}
	return formats.OneFormat(cmd, args)
}

// Of returns the source of a command's IDs. The name is the format's.
func (f *Flags) Of(name string) (Source, error) {
	format, err := formats.Named(name)
	if err != nil {
		return Source{}, err
	}
	if err := f.Refuse(format); err != nil {
		return Source{}, err
	}
	if err := f.as.Refuse(format); err != nil {
		return Source{}, err
	}
	set, err := f.Settings()
	if err != nil {
		return Source{}, err
	}
	s, err := format.Descriptor().Of(set)
	if err != nil {
		return Source{}, f.Explain(err)
	}
	return Source{Format: format, Settings: set, Shape: s, Form: f.as.Form, Detect: !f.as.Given, Match: f.match}, nil
}

// A Source says which IDs an input has, and how they are written.
type Source struct {
	Format   formats.Format
	Settings shape.Settings
	Shape    shape.Shape // of the settings
	Form     inspect.Form
	Detect   bool // the form is not known
	Match    bool // IDs stand anywhere in lines
}

// BadLine is the error for a line that is no ID.
type BadLine struct {
	Line int64 // from 1
	Err  error
}

func (b *BadLine) Error() string {
	return "line " + strconv.FormatInt(b.Line, 10) + ": " + b.Err.Error()
}

func (b *BadLine) Unwrap() error { return b.Err }
