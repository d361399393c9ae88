package spill

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// An Error is a failure of temporary files.
type Error struct {
	Dir  string // of the temporary files
	Err  error
	Full bool // the file system has no room
}

// Error returns the fault, the directory and the remedy.
func (e *Error) Error() string {
	if e.Full {
		return fmt.Sprintf("temporary files in %s: %v: set TMPDIR to a directory with more room", e.Dir, e.Err)
	}
	return fmt.Sprintf("temporary files in %s: %v: set TMPDIR to a directory for temporary files", e.Dir, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// failure returns err as an Error, without the name of the file.
func failure(dir string, err error) error {
	var path *os.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	full := errors.Is(err, syscall.ENOSPC)
	for _, other := range alsoFull {
		full = full || errors.Is(err, other)
	}
	return &Error{Dir: dir, Err: err, Full: full}
}

// A Temp is a temporary file. The system removes the file when it is closed, and when the process ends.
type Temp struct {
	file *os.File
	dir  string
}

// NewTemp makes a temporary file in a directory; "" is [os.TempDir].
func NewTemp(dir string) (*Temp, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := openTemp(dir)
	if err != nil {
		return nil, failure(dir, err)
	}
	return &Temp{f, dir}, nil
}

func (t *Temp) Write(p []byte) (int, error) {
	n, err := t.file.Write(p)
	if err != nil {
		err = failure(t.dir, err)
	}
	return n, err
}

func (t *Temp) ReadAt(p []byte, off int64) (int, error) {
	n, err := t.file.ReadAt(p, off)
	if err != nil && err != io.EOF {
		err = failure(t.dir, err)
	}
	return n, err
}

// Close removes the file.
func (t *Temp) Close() error { return t.file.Close() }

// A run is sorted records in a temporary file.
type run[R Record] struct {
	*Temp
	n int64 // records
}

func closeRuns[R Record](runs []*run[R]) {
	for _, r := range runs {
		r.Close()
	}
}

// A writer writes a run.
type writer[R Record] struct {
	run *run[R]
	*bufio.Writer
}

// create makes a run, with a buffer.
func create[R Record](dir string, buffer int) (*writer[R], error) {
	t, err := NewTemp(dir)
	if err != nil {
		return nil, err
	}
	return &writer[R]{&run[R]{Temp: t}, bufio.NewWriterSize(t, buffer)}, nil
}

const wordSize = 8

// width returns the bytes of a record.
func width[R Record]() int64 {
	var r R
	return int64(len(r) * wordSize)
}

// add writes records to the run.
func (w *writer[R]) add(records []R) error {
	for _, r := range records {
		b := w.AvailableBuffer()
		for i := range len(r) {
			b = binary.BigEndian.AppendUint64(b, r[i])
		}
		if _, err := w.Write(b); err != nil {
			return err
		}
	}
	w.run.n += int64(len(records))
	return nil
}
