//go:build unix

package spill

import (
	"os"
	"syscall"
)

// alsoFull are the errors of file systems without room for the user, beside ENOSPC.
var alsoFull = []error{syscall.EDQUOT}

// openTemp makes a file without a name, so a killed process leaves none.
func openTemp(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "firn-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}
