//go:build unix && !solaris && !illumos && !aix

package turn

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// open opens the file that all tests of a user lock. Children do not inherit the file.
func open() (*os.File, error) {
	return os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("firn-test-turn-%d", os.Getuid())), os.O_CREATE|os.O_RDWR, 0o600)
}

// lock takes the lock of the file.
func lock() (unlock func(), err error) {
	f, err := open()
	if err != nil {
		return nil, err
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if err != syscall.EINTR {
			f.Close()
			return nil, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
		}
	}
}
