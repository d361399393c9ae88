package files

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
	"github.com/firn-id/firn/cmd/firn/internal/spill"
)

// A form writes an ID in binary form as a line has it.
type form func(dst, id []byte) ([]byte, error)

// forms returns the form of each way to write an ID.
func forms(f formats.Format) (all [intake.AsUUID + 1]form) {
	d := f.Descriptor()
	all[intake.AsText] = d.Writer()
	all[intake.AsInt] = func(dst, id []byte) ([]byte, error) {
		return strconv.AppendUint(dst, binary.BigEndian.Uint64(id), 10), nil
	}
	all[intake.AsHex] = func(dst, id []byte) ([]byte, error) { return hex.AppendEncode(dst, id), nil }
	all[intake.AsUUID] = d.AppendUUID
	return all
}

// outputFlag is the name of the flag -o.
const outputFlag = "output"

// outputName is the value of the flag -o.
type outputName string

func (o *outputName) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVarP((*string)(o), outputFlag, "o", "", "write to this `FILE`, which appears when it is whole")
	if err := cmd.MarkFlagFilename(outputFlag); err != nil {
		panic(err) // no such flag
	}
}

// An output is where IDs go: stdout, or a file that gets its name in the end.
type output struct {
	*bufio.Writer
	file *cli.File // nil for stdout
}

const bufferSize = 256 << 10

// open opens the output. A file of the same name keeps its content until commit.
func (o outputName) open(s *cli.Streams) (*output, error) {
	s.Cleanup.Set(spill.RemoveAll)
	if o == "" {
		return &output{Writer: s.Out}, nil
	}
	f, err := cli.CreateFile(outputFlag, string(o))
	if err != nil {
		return nil, err
	}
	s.Cleanup.Set(func() {
		spill.RemoveAll()
		f.Remove()
	})
	return &output{bufio.NewWriterSize(f, bufferSize), f}, nil
}

// commit gives the file its name. After an error of the command, or one of commit, the file is removed.
func (o *output) commit(err error) error {
	if o.file == nil {
		return err
	}
	// Malformed lines are reported, and the file has the IDs of the other lines.
	if err != nil && !errors.Is(err, cli.ErrReported) {
		o.file.Discard()
		return err
	}
	if bad := o.Flush(); bad != nil {
		o.file.Discard()
		return bad
	}
	return cmp.Or(o.file.Commit(), err)
}
