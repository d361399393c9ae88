package stats

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// checkPicture returns an error if no file of that name can be written. The IDs may take long to read.
func checkPicture(name string) error {
	switch info, err := os.Stat(name); {
	case err == nil && info.IsDir():
		return cli.BadFlag("svg", name, "is a directory: name a file")
	case err == nil && !info.Mode().IsRegular():
		return nil // a device or a pipe, which is written as it is
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := createBeside(name)
	if err != nil {
		return fmt.Errorf("--svg %s: cannot write there: %w", cli.Plain(name), err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// createBeside creates a file for what is to have the name in the end.
func createBeside(name string) (*os.File, error) {
	const mode = 0o666 // less the umask
	unfinished := "." + filepath.Base(name) + "." + strconv.FormatUint(rand.Uint64(), 36) + ".partial"
	return os.OpenFile(filepath.Join(filepath.Dir(name), unfinished), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// writePicture writes a report as a picture to a file. A file of that name is replaced by the whole picture or
// not at all.
func writePicture(s *cli.Streams, name string, r *report) error {
	var content bytes.Buffer
	if err := writeSVG(&content, r); err != nil {
		return err
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // a link stays a link
	}
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() {
		return os.WriteFile(name, content.Bytes(), 0) // exists
	}
	f, err := createBeside(name)
	if err != nil {
		return err
	}
	remove := func() { os.Remove(f.Name()) }
	s.Cleanup.Set(remove)
	defer s.Cleanup.Set(nil)
	if info != nil {
		os.Chmod(f.Name(), info.Mode().Perm()) // the new file is as open to others as the old one
	}
	_, err = f.Write(content.Bytes())
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		remove()
	}
	return err
}
