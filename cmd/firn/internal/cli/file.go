package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
)

// A File is a file that gets its name when the file is whole. A file that had the name keeps its content until
// then. Writes to a pipe or a device take effect at once.
type File struct {
	*os.File
	name    string
	partial string // the name until Commit; "" for a pipe or a device
}

// CreateFile creates the file that a flag names. The caller must call Commit or Discard.
func CreateFile(flag, name string) (*File, error) {
	f := &File{name: target(name)}
	const mode = 0o666 // less the umask
	switch info, err := os.Stat(f.name); {
	case err == nil && info.IsDir():
		return nil, BadFlag(flag, name, "is a directory: name a file")
	case err == nil && !info.Mode().IsRegular():
		f.File, err = os.OpenFile(f.name, os.O_WRONLY, 0)
		return f, cannotWrite(flag, name, err)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, cannotWrite(flag, name, err)
	}
	f.partial = filepath.Join(filepath.Dir(f.name), "."+filepath.Base(f.name)+"."+strconv.FormatUint(rand.Uint64(), 36)+".partial")
	var err error
	f.File, err = os.OpenFile(f.partial, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	return f, cannotWrite(flag, name, err)
}

// target returns the name that a link leads to, so a link stays a link. The file may be missing.
func target(name string) string {
	if end, err := filepath.EvalSymlinks(name); err == nil {
		return end
	}
	end, err := os.Readlink(name)
	switch {
	case err != nil:
		return name
	case filepath.IsAbs(end):
		return end
	}
	return filepath.Join(filepath.Dir(name), end)
}

// cannotWrite returns the error of a file with the name that the user knows, or nil.
func cannotWrite(flag, name string, err error) error {
	if err == nil {
		return nil
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return fmt.Errorf("--%s %s: cannot write there: %w", flag, Plain(name), err)
}

// Commit closes the file and gives the file its name. After an error the file is removed.
func (f *File) Commit() error {
	if err := f.Close(); err != nil || f.partial == "" {
		f.Remove()
		return err
	}
	if info, err := os.Stat(f.name); err == nil {
		os.Chmod(f.partial, info.Mode().Perm()) // the new file is as open to others as the old one
	}
	err := os.Rename(f.partial, f.name)
	if err != nil {
		f.Remove()
	}
	return err
}

// Discard closes and removes the file. A pipe or a device stays.
func (f *File) Discard() {
	f.Close()
	f.Remove()
}

// Remove removes a file that has not got its name. Remove may be called from any goroutine.
func (f *File) Remove() {
	if f.partial != "" {
		os.Remove(f.partial)
	}
}
