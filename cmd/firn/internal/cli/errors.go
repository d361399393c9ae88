package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/firn-id/firn/lease/driver"
)

const (
	ExitOK     = 0
	ExitFailed = 1 // a failed operation or an invalid ID
	ExitUsage  = 2 // wrong usage: nothing was done
)

// ErrReported ends a command that failed and has already written the reason.
var ErrReported = errors.New("already reported")

// A UsageError is wrong usage.
type UsageError struct{ error }

func (e UsageError) Unwrap() error { return e.error }

// Usage returns err as a UsageError.
func Usage(err error) error { return UsageError{err} }

// Usagef returns a UsageError with a text.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// BadFlag is the error for a flag's value, "--worker 1024: is not in 0 to 1023".
func BadFlag(flag, value, reason string) error {
	return Usagef("--%s %s: %s", flag, Plain(value), reason)
}

// FlagError returns the error of parsing the flags of cmd in the words of BadFlag. For an unknown
// flag, the error names the nearest flag, or says how to write an argument that begins with a hyphen.
func FlagError(cmd *cobra.Command, err error) error {
	var invalid *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &unknown):
		if words := cmd.Flags().Args(); cmd.HasSubCommands() && len(words) > 0 { // flags behind a misspelt command
			return cmd.ValidateArgs(words)
		}
		name := unknown.GetSpecifiedShortnames()
		if name == "" {
			name = unknown.GetSpecifiedName()
		}
		name, _, _ = strings.Cut(name, "=")
		if near := nearFlags(cmd.Flags(), name); near != "" {
			return Usagef("%w: did you mean %s?", err, near)
		}
		if len(unknown.GetSpecifiedShortnames()) > 1 { // some kinds of IDs begin with a hyphen
			return Usagef("%w: write -- before an argument that begins with a hyphen", err)
		}
		return Usage(err)
	case !errors.As(err, &invalid):
		return Usage(err)
	}
	reason := errors.Unwrap(invalid).Error()
	if invalid.GetFlag().Value.Type() == "bool" {
		reason = "is not true or false"
	}
	return BadFlag(invalid.GetFlag().Name, invalid.GetValue(), reason)
}

// report writes the error of cmd, if any, and returns the exit code.
func report(w io.Writer, cmd *cobra.Command, err error) int {
	var wrong UsageError
	switch {
	case err == nil:
		return ExitOK
	case errors.Is(err, ErrReported):
		return ExitFailed
	case errors.As(err, &wrong):
		Complain(w, WithHints(errors.New(withoutAddresses(err.Error())), func() []string { return Hints(err) }))
		fmt.Fprintf(w, "Try \"%s --help\".\n", cmd.CommandPath())
		return ExitUsage
	}
	Complain(w, err)
	return ExitFailed
}

// withoutAddresses hides the addresses of stores in a text: an address may contain a password, and
// parsers of command lines quote arguments that they do not know.
func withoutAddresses(s string) string {
	hide := func(word, by string) { // whole, and as parsers quote the value of a flag
		quoted := strconv.Quote(word)
		s = strings.ReplaceAll(s, quoted[1:len(quoted)-1], by)
		s = strings.ReplaceAll(s, word, by)
	}
	for i, arg := range os.Args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		scheme, _, isAddress := strings.Cut(arg, "://")
		switch {
		case strings.TrimLeft(name, "-") == "store" && value != "":
			s = strings.ReplaceAll(s, value, "…")
		case strings.TrimLeft(name, "-") == "state" && driver.IsAddress(value):
			hide(value, "…")
		case strings.TrimLeft(os.Args[i], "-") == "state" && driver.IsAddress(arg):
			hide(arg, "…")
		case isAddress:
			hide(arg, scheme+"://…")
			if strings.Contains(value, "://") {
				hide(value, scheme+"://…")
			}
		case mistyped.MatchString(arg):
			hide(arg, "…")
			if mistyped.MatchString(value) {
				hide(value, "…")
			}
		}
	}
	return s
}

// mistyped finds what may be a password in an address with a mistake.
var mistyped = regexp.MustCompile(`(?is)[:;].*(@|%40)|(pass\w*|pwd|token|secret)=`)

// Complain writes an error on one line, and its hints below. Control characters are left out: errors of
// libraries may have some.
func Complain(w io.Writer, err error) {
	text := "firn: " + Printable(err.Error()) + "\n"
	for _, hint := range Hints(err) {
		text += "  " + Printable(hint) + "\n"
	}
	io.WriteString(w, text)
}

// Report writes errors after the output, if there are any. The error that it returns ends the command.
func (s *Streams) Report(errs []error) error {
	if len(errs) == 0 {
		return nil
	}
	if err := s.Out.Flush(); err != nil {
		return err
	}
	for _, err := range errs {
		Complain(s.Err, err)
	}
	return ErrReported
}

// A hinted error has hints for the user, which are found when they are printed.
type hinted struct {
	error
	hints func() []string
}

func (e hinted) Unwrap() error { return e.error }

// WithHints returns an error with hints: what to do next, a line each. Hints of an inner error are not printed.
func WithHints(err error, hints func() []string) error { return hinted{err, hints} }

// Hints returns the hints of an error.
func Hints(err error) []string {
	var e hinted
	if !errors.As(err, &e) {
		return nil
	}
	return e.hints()
}
