package files

import (
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
	"github.com/firn-id/firn/cmd/firn/internal/formats"
	"github.com/firn-id/firn/cmd/firn/internal/intake"
)

// mergeFlags are the flags of firn merge.
type mergeFlags struct {
	intake.Flags
	output outputName
}

// Merge returns the command firn merge.
func Merge(s *cli.Streams) *cobra.Command {
	var f mergeFlags
	cmd := &cobra.Command{
		Use:   "merge FORMAT FILE...",
		Short: "Merge sorted files of IDs into one",
		Long: `Merge files of sorted IDs, a line each, into one. Equal IDs stay. The file - is stdin.

A file that is not in the order of firn sort is an error. firn merge needs little memory,
however long the files are.

` + badLines,
		Example: `  firn new nanoflake -n 10 > a
  firn new nanoflake -n 10 > b
  firn merge nanoflake a b -o merged
  firn new nanoflake | firn merge nanoflake a -`,
		ValidArgsFunction: func(cmd *cobra.Command, args []string, toComplete string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveDefault // files
			}
			return formats.CompleteFormat(cmd, args, toComplete)
		},
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				if _, err := formats.Named(args[0]); err != nil {
					return err
				}
				return cli.Usagef("no file given: name sorted files of IDs, or - for stdin")
			}
			if i := slices.Index(args, "-"); i >= 0 && slices.Contains(args[i+1:], "-") {
				return cli.Usagef("- given twice: stdin can be read once only")
			}
			return formats.OneFormat(cmd, args[:min(len(args), 1)])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			from, err := f.Of(args[0])
			if err != nil {
				return err
			}
			m := merger{s: s, write: forms(from.Format)}
			defer m.close()
			for _, name := range args[1:] {
				if err := m.add(from, name); err != nil {
					return err
				}
			}
			out, err := f.output.open(s)
			if err != nil {
				return err
			}
			m.out, m.progress = out, cli.NewProgress(s, "merge", m.size(), f.output == "")
			defer m.progress.End()
			return out.commit(m.run())
		},
	}
	cmd.Flags().SortFlags = false
	f.output.addTo(cmd)
	f.Flags.AddTo(cmd)
	return cmd
}

// A merger merges sorted files. The files are a heap by their next IDs.
type merger struct {
	s        *cli.Streams
	files    []*sortedFile
	open     []*os.File
	write    [intake.AsUUID + 1]form
	out      *output
	progress *cli.Progress
}

// A sortedFile is a file and its next ID.
type sortedFile struct {
	in   *input
	file io.Reader
	id   []byte
	line int64
}

// add opens a file.
func (m *merger) add(from intake.Source, name string) error {
	r, file := m.s.Input(), m.s.In
	if name == "-" {
		name = "stdin"
	} else {
		f, err := os.Open(name)
		if errors.Is(err, syscall.EMFILE) {
			return fmt.Errorf("%w: merge fewer files at once, and then the results", err)
		}
		if err != nil {
			return err
		}
		m.open = append(m.open, f)
		r, file = f, f
	}
	m.files = append(m.files, &sortedFile{in: &input{s: m.s, detect: from.Detect, name: cli.Plain(name), reader: from.Open(r)}, file: file})
	return nil
}

func (m *merger) close() {
	for _, f := range m.open {
		f.Close()
	}
}

// size returns the size of all files, or -1 if one of them has no size.
func (m *merger) size() (all int64) {
	for _, f := range m.files {
		n := cli.SizeOf(f.file)
		if n < 0 {
			return -1
		}
		all += n
	}
	return all
}

// run writes all IDs in order.
func (m *merger) run() error {
	all := m.files
	m.files = m.files[:0:0]
	for _, f := range all {
		ok, err := f.next()
		if err != nil {
			return err
		}
		if ok {
			m.files = append(m.files, f)
		}
	}
	heap.Init(m)
	var text []byte
	for n := 1; len(m.files) > 0; n++ {
		f := m.files[0]
		var err error
		if text, err = m.write[f.in.reader.Written()](text[:0], f.id); err != nil {
			return err
		}
		if _, err := m.out.Write(append(text, '\n')); err != nil {
			return err
		}
		if n%perShow == 0 {
			m.show(all)
		}
		ok, err := f.next()
		switch {
		case err != nil:
			return err
		case ok:
			heap.Fix(m, 0)
		default:
			heap.Pop(m)
		}
	}
	m.progress.End()
	var result error
	for _, f := range all {
		if err := f.in.result(); err != nil {
			result = err
		}
	}
	return result
}

// show shows the progress.
func (m *merger) show(all []*sortedFile) {
	if m.progress == nil {
		return
	}
	sum := int64(0)
	for _, f := range all {
		sum += f.in.reader.Bytes()
	}
	m.progress.Set(sum)
}

// next reads the next ID of a file. ok is false at the end.
func (f *sortedFile) next() (ok bool, err error) {
	id, line, err := f.in.next(nil)
	if err == io.EOF {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if f.line > 0 && bytes.Compare(id, f.id) < 0 {
		return false, fmt.Errorf("%s: line %d: smaller than the ID of line %d: sort the file by firn sort, and merge the result", f.in.name, line, f.line)
	}
	f.id, f.line = append(f.id[:0], id...), line
	return true, nil
}

// Len, Less, Swap, Push and Pop are the methods of heap.Interface.
func (m *merger) Len() int           { return len(m.files) }
func (m *merger) Less(i, j int) bool { return bytes.Compare(m.files[i].id, m.files[j].id) < 0 }
func (m *merger) Swap(i, j int)      { m.files[i], m.files[j] = m.files[j], m.files[i] }
func (m *merger) Push(any)           { panic("no file comes later") }

func (m *merger) Pop() any {
	n := len(m.files) - 1
	m.files = m.files[:n]
	return nil
}
