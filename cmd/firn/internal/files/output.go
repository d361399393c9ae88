package files

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
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

// outputName is the value of the flag -o.
type outputName string

func (o *outputName) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVarP((*string)(o), "output", "o", "", "write to this `FILE`, which appears when it is whole")
	if err := cmd.MarkFlagFilename("output"); err != nil {
		panic(err) // no such flag
	}
}

// An output is where IDs go: stdout, or a file that gets its name in the end.
type output struct {
	*bufio.Writer
	file         *os.File // nil for stdout
	partial, end string   // names; partial is "" for a pipe or a device
}

const bufferSize = 256 << 10

// open opens the output. A file of the same name keeps its content until commit.
func (o outputName) open(s *cli.Streams) (*output, error) {
	s.Cleanup.Set(spill.RemoveAll)
	if o == "" {
		return &output{Writer: s.Out}, nil
	}
	name := string(o)
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // a link stays a link
	}
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		return nil, fmt.Errorf("--output %s: is a directory: name a file", cli.Plain(name))
	case err == nil && !info.Mode().IsRegular(): // a pipe, a device
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		return &output{bufio.NewWriterSize(f, bufferSize), f, "", name}, err
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	partial := filepath.Join(filepath.Dir(name), "."+filepath.Base(name)+"."+strconv.FormatUint(rand.Uint64(), 36)+".partial")
	const mode = 0o666 // less the umask
	f, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, err
	}
	s.Cleanup.Set(func() {
		spill.RemoveAll()
		os.Remove(partial)
	})
	return &output{bufio.NewWriterSize(f, bufferSize), f, partial, name}, nil
}

// commit gives the file its name. After an error of the command, or one of commit, the file is removed.
func (o *output) commit(err error) error {
	if o.file == nil {
		return err
	}
	// Malformed lines are reported, and the file has the IDs of the other lines.
	whole := err == nil || errors.Is(err, cli.ErrReported)
	if whole {
		if bad := o.Flush(); bad != nil {
			err, whole = bad, false
		}
	}
	if bad := o.file.Close(); bad != nil && whole {
		err, whole = bad, false
	}
	if o.partial == "" {
		return err
	}
	if whole {
		if info, bad := os.Stat(o.end); bad == nil {
			os.Chmod(o.partial, info.Mode().Perm()) // the new file is as open to others as the old one
		}
		if bad := os.Rename(o.partial, o.end); bad != nil {
			err, whole = bad, false
		}
	}
	if !whole {
		os.Remove(o.partial)
	}
	return err
}
