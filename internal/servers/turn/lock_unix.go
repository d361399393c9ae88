//go:build unix && !solaris && !illumos && !aix

package turn

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// lock takes the lock of all tests of a user. Children do not inherit the file.
func lock() (unlock func(), err error) {
	path := filepath.Join(os.TempDir(), fmt.Sprintf("firn-test-turn-%d", os.Getuid()))
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
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
			return nil, &os.PathError{Op: "flock", Path: path, Err: err}
		}
	}
}
