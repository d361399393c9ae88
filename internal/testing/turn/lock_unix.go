//go:build unix && !solaris && !illumos && !aix

package turn

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// lock takes the lock of one of as many files as the machine has processors. All tests of a user lock them. Children do not
// inherit the files.
func lock() (unlock func(), err error) {
	for {
		for n := range runtime.NumCPU() {
			f, err := os.OpenFile(filepath.Join(os.TempDir(), fmt.Sprintf("firn-test-turn-%d-%d", os.Getuid(), n)), os.O_CREATE|os.O_RDWR, 0o600)
			if err != nil {
				return nil, err
			}
			err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
			if err == nil {
				return func() { f.Close() }, nil
			}
			f.Close()
			if err != syscall.EWOULDBLOCK && err != syscall.EINTR {
				return nil, &os.PathError{Op: "flock", Path: f.Name(), Err: err}
			}
		}
		time.Sleep(20 * time.Millisecond)
	}
}
