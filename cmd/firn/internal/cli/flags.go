package cli

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A Number is the value of a flag: a whole number. The library checks the range.
type Number struct {
	Value int
	Text  string
	Given bool
}

var _ pflag.Value = (*Number)(nil)

func (n *Number) Type() string { return "N" }

func (n *Number) String() string { return n.Text }

// Set accepts decimal digits only. A number too large for an int becomes the largest int, which is
// out of every range too.
func (n *Number) Set(s string) error {
	v, err := strconv.ParseInt(s, 10, strconv.IntSize)
	if errors.Is(err, strconv.ErrSyntax) || s[0] == '+' {
		return errors.New("is not a whole number")
	}
	*n = Number{Value: int(v), Text: s, Given: true}
	return nil
}

// valueNames are the names that help has for values of the library's types.
var valueNames = map[string]string{"duration": "DURATION", "int": "N", "uint": "N", "uint64": "N", "string": "TEXT"}

// NameValues gives the values of the flags of cmd and of the commands below the names that help shows. The
// name is the word between backquotes in the text of a flag, as in the library. The text loses its
// backquotes, which shells would show.
func NameValues(cmd *cobra.Command) {
	name := func(f *pflag.Flag) {
		name, usage := pflag.UnquoteUsage(f)
		if usage == f.Usage {
			name = valueNames[name]
		}
		if name != "" {
			f.Usage, f.Value = usage, named{f.Value, name}
		}
	}
	cmd.PersistentFlags().VisitAll(name)
	cmd.LocalNonPersistentFlags().VisitAll(name)
	for _, c := range cmd.Commands() {
		NameValues(c)
	}
}

// named is a value with another name.
type named struct {
	pflag.Value
	name string
}

func (n named) Type() string { return n.name }

// Set reads a duration as [Span] does, so that all durations of the command line have the same units and errors.
func (n named) Set(s string) error {
	if n.Value.Type() != "duration" {
		return n.Value.Set(s)
	}
	d, err := parseDuration(s)
	if err != nil {
		return err
	}
	return n.Value.Set(d.String())
}

// A Count is the value of a flag: how many.
type Count int64

func (c *Count) Type() string { return "COUNT" }

func (c *Count) String() string { return strconv.FormatInt(int64(*c), 10) }

func (c *Count) Set(s string) error {
	v, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return errors.New("is not a whole number from 0 to 9223372036854775807")
	}
	*c = Count(v)
	return nil
}
