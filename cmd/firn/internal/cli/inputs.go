package cli

import (
	"fmt"
	"io"
	"strings"
)

// Inputs are IDs for a command to answer one by one.
type Inputs struct {
	*Streams
	JSON bool // an invalid input has an object on stdout, too

	// Answer answers an input. The error invalid reports that the input is invalid. The error err ends
	// the command.
	Answer func(input string) (invalid, err error)

	refused bool // an input was invalid
}

// Each answers each argument. For "-", and without arguments, Each answers the lines of stdin. The
// error is an invalid input, an error of Answer, or a failure of stdin or stdout.
func (in *Inputs) Each(args []string) error {
	if len(args) == 0 {
		args = []string{"-"}
	}
	for n, arg := range args {
		var err error
		if arg == "-" {
			err = in.lines()
		} else {
			err = in.one(arg, "argument", n+1)
		}
		if err != nil {
			return err
		}
	}
	if in.refused {
		return ErrReported
	}
	return nil
}

// lines answers each line of stdin.
func (in *Inputs) lines() error {
	lines := in.Lines()
	for n := 1; ; n++ {
		line, err := lines.Next()
		switch {
		case err == io.EOF:
			return nil
		case err == ErrLongLine:
			err = in.refuse(line, "line", n, err)
		case err == nil && strings.TrimSpace(line) != "":
			err = in.one(strings.TrimSpace(line), "line", n)
		}
		if err != nil {
			return err
		}
	}
}

// one answers the input at a place: argument n or line n.
func (in *Inputs) one(input, place string, n int) error {
	invalid, err := in.Answer(input)
	if invalid != nil {
		return in.refuse(input, place, n, invalid)
	}
	return err
}

// refuse reports an invalid input on stderr, and in JSON on stdout too.
func (in *Inputs) refuse(input, place string, n int, invalid error) error {
	in.refused = true
	if in.JSON {
		object := struct {
			Input string `json:"input"`
			Error string `json:"error"`
		}{input, Printable(invalid.Error())}
		if err := WriteJSON(in.Out, object); err != nil {
			return err
		}
	}
	if err := in.Out.Flush(); err != nil { // answers to earlier inputs come before the error
		return err
	}
	Complain(in.Err, fmt.Errorf("%s %d: %w", place, n, invalid))
	return nil
}
