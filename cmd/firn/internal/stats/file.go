package stats

import (
	"bytes"
	"os"

	"github.com/firn-id/firn/cmd/firn/internal/cli"
)

// svgFlag is the name of the flag for a picture.
const svgFlag = "svg"

// checkPicture returns an error if no file of that name can be written. The IDs may take long to read.
func checkPicture(name string) error {
	if info, err := os.Stat(name); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil // to open a pipe twice would end the input of its reader
	}
	f, err := cli.CreateFile(svgFlag, name)
	if err != nil {
		return err
	}
	f.Discard()
	return nil
}

// writePicture writes a report as a picture to a file. A file of that name is replaced by the whole picture or
// not at all.
func writePicture(s *cli.Streams, name string, r *report) error {
	var content bytes.Buffer
	if err := writeSVG(&content, r); err != nil {
		return err
	}
	f, err := cli.CreateFile(svgFlag, name)
	if err != nil {
		return err
	}
	s.Cleanup.Set(f.Remove)
	defer s.Cleanup.Set(nil)
	if _, err := f.Write(content.Bytes()); err != nil {
		f.Discard()
		return err
	}
	return f.Commit()
}
