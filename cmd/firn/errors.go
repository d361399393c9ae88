package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

const (
	exitOK     = 0
	exitFailed = 1 // a failed operation or an invalid ID
	exitUsage  = 2 // wrong usage: nothing was done
)

// errReported ends a command that failed and has said why.
var errReported = errors.New("already reported")

// A usageError is wrong usage.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(err error) error { return usageError{err} }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// badFlag is the error for a flag's value, "--worker 1024: is not in 0 to 1023".
func badFlag(flag, value, reason string) error {
	return usagef("--%s %s: %s", flag, plain(value), reason)
}

// flagError returns the error of parsing flags in the words of badFlag.
func flagError(err error) error {
	var invalid *pflag.InvalidValueError
	if !errors.As(err, &invalid) {
		return usage(err)
	}
	reason := errors.Unwrap(invalid).Error()
	if invalid.GetFlag().Value.Type() == "bool" {
		reason = "is not true or false"
	}
	return badFlag(invalid.GetFlag().Name, invalid.GetValue(), reason)
}

// plain returns a word of the command line as it is if that is readable, else quoted.
func plain(s string) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' || r == '"' || r == unicode.ReplacementChar }
	if s == "" || strings.ContainsFunc(s, odd) {
		return strconv.Quote(s)
	}
	return s
}

// report writes the error that cmd ended with, if any, and returns the exit code.
func report(w io.Writer, cmd *cobra.Command, err error) int {
	var wrong usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, errReported):
		return exitFailed
	case errors.As(err, &wrong):
		complain(w, errors.New(withoutAddresses(err.Error())))
		fmt.Fprintf(w, "Try \"%s --help\".\n", cmd.CommandPath())
		return exitUsage
	}
	complain(w, err)
	return exitFailed
}

// withoutAddresses returns a text in which no word of the command line is shown that is an address,
// or should be: it may have a password in it. Those who parse command lines repeat what they do not
// know.
func withoutAddresses(s string) string {
	for _, arg := range os.Args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		scheme, _, isAddress := strings.Cut(arg, "://")
		switch {
		case strings.TrimLeft(name, "-") == "store" && value != "":
			s = strings.ReplaceAll(s, value, "…")
		case isAddress:
			for _, word := range []string{arg, value} { // as it is or, by those who take flags apart, without a name
				if _, _, ok := strings.Cut(word, "://"); ok {
					quoted := strconv.Quote(word)
					s = strings.ReplaceAll(s, quoted[1:len(quoted)-1], scheme+"://…")
					s = strings.ReplaceAll(s, word, scheme+"://…")
				}
			}
		}
	}
	return s
}

// complain writes an error in one line. Errors quote what a user wrote, mostly; those of
// libraries may not.
func complain(w io.Writer, err error) { io.WriteString(w, "firn: "+printable(err.Error())+"\n") }

// printable returns a text in one line: what is no text must not reach a terminal.
func printable(s string) string {
	var line []byte
	for _, r := range s {
		if unicode.IsPrint(r) {
			line = utf8.AppendRune(line, r)
		} else {
			quoted := strconv.QuoteRune(r)
			line = append(line, quoted[1:len(quoted)-1]...)
		}
	}
	return string(line)
}
