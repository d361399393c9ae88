package spill

import (
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

// A Temp is a temporary file, which has no name where the system can remove an open file.
type Temp struct {
	file  *os.File
	dir   string
	named bool // the file still has a name
}

// removeOpen removes the name of an open file, where the system can. Tests replace the function.
var removeOpen = os.Remove

// NewTemp makes a temporary file in a directory; "" is [os.TempDir].
func NewTemp(dir string) (*Temp, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := os.CreateTemp(dir, "firn-")
	if err != nil {
		return nil, failure(dir, err)
	}
	t := &Temp{file: f, dir: dir}
	if err := removeOpen(f.Name()); err != nil {
		t.named = true
		remember(f)
	}
	return t, nil
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
func (t *Temp) Close() error {
	err := t.file.Close()
	if t.named {
		err = errors.Join(err, os.Remove(t.file.Name()))
		forget(t.file)
	}
	return err
}

// A run is sorted records in a temporary file.
type run[R Record] struct {
	*Temp
	size int   // of a record, in bytes
	n    int64 // records
}

func closeRuns[R Record](runs []*run[R]) {
	for _, r := range runs {
		r.Close()
	}
}

// A writer writes a run.
type writer[R Record] struct {
	run *run[R]
	buf []byte
}

// create makes a run whose records have a size, with a buffer.
func create[R Record](dir string, size, buffer int) (*writer[R], error) {
	t, err := NewTemp(dir)
	if err != nil {
		return nil, err
	}
	return &writer[R]{&run[R]{Temp: t, size: size}, make([]byte, 0, max(buffer, slack))}, nil
}

const wordSize = 8

// add writes records to the run.
func (w *writer[R]) add(records []R) error {
	size := w.run.size
	for i := range records {
		n := len(w.buf)
		if cap(w.buf)-n < slack {
			if err := w.flush(); err != nil {
				return err
			}
			n = 0
		}
		b := w.buf[n : n+slack]
		for word := range len(records[i]) { // the bytes after the size are written over
			binary.BigEndian.PutUint64(b[word*wordSize:], records[i][word])
		}
		w.buf = w.buf[:n+size]
	}
	w.run.n += int64(len(records))
	return nil
}

func (w *writer[R]) flush() error {
	_, err := w.run.Write(w.buf)
	w.buf = w.buf[:0]
	return err
}
