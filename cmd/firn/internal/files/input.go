package files

import (
	"errors"
	"io"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
)

// An input reads the IDs of stdin.
type input struct {
	s        *cli.Streams
	detect   bool // the form of each line
	reader   *intake.Reader
	progress func(done int64)

	bad  int64 // malformed lines
	ways uint8 // a bit for each way in which IDs were written
	n    int64 // answers of next
}

// stdin returns stdin as an input of a command.
func stdin(s *cli.Streams, from intake.Source, command string) *input {
	return &input{s: s, detect: from.Detect, reader: from.Open(s.Input()), progress: s.Reading(command)}
}

// perShow is how many IDs are read between two looks at the progress.
const perShow = 1 << 15

// next returns the next ID and its line, as intake.Reader does. next reports malformed lines, and calls malformed,
// unless nil, with their numbers. At the end the error is io.EOF.
func (in *input) next(malformed func(line int64) error) (id []byte, line int64, err error) {
	if in.n++; in.n%perShow == 0 {
		in.progress(in.reader.Bytes())
	}
	id, line, err = in.reader.Next()
	for err != nil && err != io.EOF {
		if err := in.report(err, line, malformed); err != nil {
			return nil, line, err
		}
		id, line, err = in.reader.Next()
	}
	in.ways |= 1 << in.reader.Written()
	return id, line, err
}

// report writes the error of a malformed line to stderr, and returns every other error.
func (in *input) report(err error, line int64, malformed func(line int64) error) error {
	var bad *intake.BadLine
	if !errors.As(err, &bad) {
		return err
	}
	in.bad++
	if err := in.s.Out.Flush(); err != nil { // answers to earlier lines come before the error
		return err
	}
	cli.Complain(in.s.Err, bad)
	if malformed == nil {
		return nil
	}
	return malformed(line)
}

// warn warns of a file with decimals and hex. Hex of decimal digits alone is read as a decimal, unless the form is
// named.
func (in *input) warn() {
	const both = 1<<intake.AsInt | 1<<intake.AsHex
	if in.detect && in.ways&both == both {
		cli.Complain(in.s.Err, errors.New("warning: some lines were read as decimals and others as hex: add --as hex or --as int if all are one form"))
	}
}

// result returns the error of a command that has read the input.
func (in *input) result() error {
	in.warn()
	if in.bad > 0 {
		return cli.ErrReported
	}
	return nil
}
